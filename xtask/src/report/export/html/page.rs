//! `html`: one page that needs nothing else: no network, no script.
//!
//! The page is well-formed XML, too, so that any strict reader can check it.
//! The policy of the page forbids all that is not in it. Each chart has a title and a
//! description, and every figure in it is in a table as well.

use std::io::Write;

use anyhow::Result;
use minijinja::value::Serde;
use minijinja::{Value, context};
use psci_bench::model::{Scenario, Status};

use super::chart::{Figure, escape};
use super::{latency, queue, spread, sweep, timeline};
use crate::report::analysis::compare::Outcome;
use crate::report::export::document::{Block, Remark};
use crate::report::export::report_data::Report;
use crate::report::export::report_document::document;
use crate::report::export::scenario_document::status_word;
use crate::report::export::template::environment;
use crate::report::log::LoggedRun;

pub(crate) fn write(report: &Report, out: &mut dyn Write) -> Result<()> {
    let mut templates = environment()?;
    templates.add_filter("e", |text: &str| escape(text));
    templates.add_filter("cell", |text: &str| cell(text));
    let boards = report.runs.iter().map(|run| run.board());
    let mut boards: Vec<&str> = boards
        .map(|it| it.unwrap_or("a board without a name"))
        .collect();
    boards.dedup();
    let mut page = 0;
    let blocks = document(report).into_iter().map(|block| {
        page += usize::from(matches!(block, Block::Title(_)));
        element(block, page)
    });
    let page = context! {
        title => format!("PSCI latencies of {}", boards.join(", ")),
        style => include_str!("style.css"),
        blocks => blocks.collect::<Vec<_>>(),
    };
    let page = templates.render_str(include_str!("page.html"), page)?;
    out.write_all(page.as_bytes())?;
    Ok(())
}

/// Returns a block for the template; `page` counts titles, below which are links to
/// scenarios.
fn element(block: Block<'_>, page: usize) -> Value {
    match block {
        Block::Title(text) => context! { kind => "title", text, page },
        Block::Heading(text) => context! { kind => "heading", text, page },
        Block::Scenario(text, scenario, place) => {
            let class = match scenario.status {
                Status::Passed => "good",
                Status::Skipped(_) => "neutral",
                _ => "bad",
            };
            let (status, method) = (status_word(scenario.status), scenario.method.word());
            context! { kind => "scenario", text, page, id => id(place), class, status, method }
        }
        Block::Definitions(lines) => context! { kind => "definitions", lines, page },
        Block::Warning(text) => context! { kind => "warning", text, page },
        Block::Paragraph(text) => context! { kind => "paragraph", text, page },
        Block::Table(table) => context! { kind => "table", table => Serde(table), page },
        Block::Remarks(all) => {
            let remarks: Vec<Value> = all.into_iter().map(remark).collect();
            context! { kind => "remarks", remarks, page }
        }
        Block::Charts(run, scenario, place) => {
            let figures = Serde(figures(run, scenario, &id(place)));
            context! { kind => "charts", figures, page }
        }
    }
}

fn id([run, scenario]: [usize; 2]) -> String {
    format!("run{run}-t{scenario}")
}

/// Returns a remark whose details open when asked.
fn remark(it: Remark) -> Value {
    let (text, mut details) = (it.text, it.each);
    let summary = match it.basis.is_empty() {
        true => "Each of them",
        false => {
            details.insert(0, it.basis);
            "Rests on"
        }
    };
    context! { text, summary, details }
}

/// Returns a cell: its mark if it is not verified, or a change that counts.
fn cell(cell: &str) -> String {
    match cell.strip_suffix(" ?") {
        Some(figure) => format!(
            "{} <abbr class=\"unverified\" title=\"not verified\">?</abbr>",
            escape(figure)
        ),
        _ if cell == Outcome::Worse.word() => format!("<b class=\"bad\">{cell}</b>"),
        _ if cell == Outcome::Better.word() => format!("<b class=\"good\">{cell}</b>"),
        _ => escape(cell),
    }
}

fn figures(run: &LoggedRun, scenario: &Scenario, id: &str) -> Vec<Figure> {
    let lines = timeline::figure(id, run, scenario).into_iter();
    lines
        .chain(queue::figure(id, run, scenario))
        .chain(spread::figures(id, run, scenario))
        .chain(sweep::figures(id, run, scenario))
        .chain(latency::figures(id, run, scenario))
        .collect()
}
