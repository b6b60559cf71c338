//! `html`: one page that needs nothing else: no network, no script.
//!
//! The page is well-formed XML, too, so that any strict reader can check it.
//! The policy of the page forbids all that is not in it. Each chart has a title and a
//! description, and every figure in it is in a table as well.

use std::io::Write;

use anyhow::Result;
use itertools::Itertools as _;
use minijinja::context;
use minijinja::value::Serde;
use serde::{Serialize, Serializer};

use super::{queue, spread, sweep, timeline};
use crate::report::export::document::Charts;
use crate::report::export::escape::xml;
use crate::report::export::report_data::Report;
use crate::report::export::report_document::{board, document};
use crate::report::export::template::render;

pub(crate) fn write(report: &Report, out: &mut dyn Write) -> Result<()> {
    let boards = report.runs.iter().map(board);
    let page = context! {
        title => format!("PSCI latencies of {}", boards.dedup().join(", ")),
        style => include_str!("style.css"),
        blocks => Serde(document(report)),
    };
    let page = render(include_str!("page.html"), page, xml)?;
    out.write_all(page.as_bytes())?;
    Ok(())
}

impl Serialize for Charts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let line = timeline::figure(self)
            .into_iter()
            .chain(queue::figure(self));
        let all = line.chain(spread::figures(self));
        serializer.collect_seq(all.chain(sweep::figures(self)))
    }
}
