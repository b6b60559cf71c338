//! `html`: one self-contained page, without network access. Only pages with flame graphs have a
//! script. Without it, they show the same figures.
//!
//! The page is also well-formed XML, so any strict parser can check it. Its content security policy
//! forbids external resources and all other scripts. Each chart has a title and a description, and
//! every figure in a chart also appears in a table.

use std::io::Write;

use anyhow::Result;
use itertools::Itertools as _;
use minijinja::context;
use minijinja::value::Serde;
use serde::{Serialize, Serializer};

use super::script::Script;
use super::{queue, race, spread, sweep, timeline};
use crate::export::document::{Block, Charts};
use crate::export::drawing::Chart;
use crate::export::escape::xml;
use crate::export::history_document::title as history_title;
use crate::export::report_data::Report;
use crate::export::report_document::{board, document, subject};
use crate::export::template::render;

const NOTES: &str = "\
For a parallel scenario, the table and the timeline show a single round, the one whose \
longest powerdown is the median, because the last man and the lock queue belong to one \
round. For a sequential scenario, the table shows each CPU's medians, and the timeline \
shows the sample whose first figure is the median. Spreads are computed over all \
counted samples: n is the sample count, p99 the 99th percentile, and MAD the median \
absolute deviation. A scenario's result and method are shown next to its name. In \
a comparison, the interval of a median is shown in brackets. A figure marked with ? is \
from a line without a checksum and is not verified.";

const HISTORY_NOTES: &str = "\
Each table has a column for each release and a row for each CPU. If CPUs wait for each \
other, or their labels repeat, figures are sorted by size, and each row shows a rank. n/a marks \
a gap: the release lacks this figure. Lines break at gaps, and between releases \
that are not comparable. Each figure is compared with the one from the most recent earlier \
release that has it; a change that exceeds both the tolerance and the noise is a step. \
A figure marked with ? is from a line without a checksum and is not verified.";

pub fn write(report: &Report, out: &mut dyn Write) -> Result<()> {
    if let Some(history) = &report.history {
        let title = history_title(history, &report.runs);
        return write_page(&title, HISTORY_NOTES, document(report).collect(), out);
    }
    let boards = report.runs.iter().map(board);
    let subject = report.runs.first().map_or("", subject);
    let title = format!("{subject} of {}", boards.dedup().join(", "));
    write_page(&title, NOTES, document(report).collect(), out)
}

/// Writes a document as a page. `notes` explain how to read the page.
pub fn write_page(
    title: &str,
    notes: &str,
    blocks: Vec<Block<'_>>,
    out: &mut dyn Write,
) -> Result<()> {
    let has_frames = |block: &Block<'_>| match block {
        Block::Drawings(charts) => charts.iter().any(Chart::has_frames),
        _ => false,
    };
    let context = context! {
        title,
        notes,
        style => include_str!("style.css"),
        script => Serde(blocks.iter().any(has_frames).then(Script::flame_graphs)),
        blocks => Serde(blocks),
    };
    let page = render(include_str!("page.html"), context, xml)?;
    out.write_all(page.as_bytes())?;
    Ok(())
}

impl Serialize for Charts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let figures = timeline::figure(self)
            .into_iter()
            .chain(queue::figure(self))
            .chain(spread::figures(self))
            .chain(sweep::figures(self))
            .chain(race::figures(self));
        serializer.collect_seq(figures)
    }
}
