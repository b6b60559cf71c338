//! `html`: one page that needs nothing else: no network, no script.
//!
//! The page is well-formed XML, too, so that any strict reader can check it.
//! The policy of the page forbids all that is not in it. Each chart has a title and a
//! description, and every figure in it is in a table as well.

use std::io::Write;

use anyhow::Result;

use psci_bench::model::{Scenario, Status};

use super::markup::{definitions, escape, remarks, table};
use crate::report::export::document::Block;
use crate::report::export::report_data::Report;
use crate::report::export::report_document::document;
use crate::report::export::scenario_document::status_word;
use crate::report::log::LoggedRun;

const STYLE: &str = include_str!("style.css");

pub(crate) fn write(report: &Report, out: &mut dyn Write) -> Result<()> {
    let blocks = document(report);
    let title = escape(&page_title(report));
    writeln!(
        out,
        "<!DOCTYPE html>\n\
         <html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n\
         <meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>"
    )?;
    for (place, block) in blocks.iter().enumerate() {
        let rest = blocks.get(place + 1..).unwrap_or_default();
        out.write_all(element(block, rest).as_bytes())?;
    }
    writeln!(out, "{FOOTER}</main>\n</body>\n</html>")?;
    Ok(())
}

const FOOTER: &str = "\
<footer>
<h2>How to read this</h2>
<p>Of a scenario in parallel, table and time line show one whole round, the one whose longest \
powerdown is the median: who was last in a cluster, and who queued, is of one round. In sequence, \
the table shows each CPU's medians, and the time line its sample with the median of the first \
figure. Spreads are \
of all samples that count. A figure marked with <b class=\"unverified\">?</b> is from a line \
without a checksum and is not verified.</p>
</footer>
";

fn page_title(report: &Report) -> String {
    let boards = report.runs.iter().map(|run| run.board());
    let mut boards: Vec<&str> = boards
        .map(|it| it.unwrap_or("a board without a name"))
        .collect();
    boards.dedup();
    format!("PSCI latencies of {}", boards.join(", "))
}

/// Returns a block as elements; the blocks behind it are `rest`.
fn element(block: &Block<'_>, rest: &[Block<'_>]) -> String {
    match block {
        Block::Title(text) => format!("<h1>{}</h1>\n", escape(text)),
        Block::Heading(text) => format!("<h2>{}</h2>\n", escape(text)),
        Block::Scenario(name, scenario, place) => {
            let name = escape(name);
            let badges = badges(scenario);
            format!(
                "<h2 id=\"{}\" class=\"scenario\">{name} {badges}</h2>\n",
                id(*place)
            )
        }
        Block::Definitions(lines) => definitions(lines) + &contents(rest),
        Block::Warning(text) => format!(
            "<p class=\"warning\"><strong>Warning:</strong> {}.</p>\n",
            escape(text)
        ),
        Block::Paragraph(text) => format!("<p class=\"conditions\">{}</p>\n", escape(text)),
        Block::Table(it) => table(it),
        Block::Remarks(all) => remarks(all),
        Block::Charts(run, scenario, place) => charts(run, scenario, &id(*place)),
    }
}

fn id([run, scenario]: [usize; 2]) -> String {
    format!("run{run}-t{scenario}")
}

/// Returns links to the scenarios up to the next title; nothing of none.
fn contents(rest: &[Block<'_>]) -> String {
    let own = rest.iter().take_while(|it| !matches!(it, Block::Title(_)));
    let links = own.filter_map(|block| match block {
        Block::Scenario(name, scenario, place) => Some(format!(
            "<li><a href=\"#{}\">{}</a> {}</li>\n",
            id(*place),
            escape(name),
            badges(scenario)
        )),
        _ => None,
    });
    let links: String = links.collect();
    match links.is_empty() {
        true => links,
        false => format!("<nav aria-label=\"Scenarios\">\n<ol>\n{links}</ol>\n</nav>\n"),
    }
}

fn badges(scenario: &Scenario) -> String {
    let class = match scenario.status {
        Status::Passed => "good",
        Status::Skipped(_) => "neutral",
        _ => "bad",
    };
    let (status, method) = (status_word(scenario.status), scenario.method.word());
    format!(
        "<span class=\"badge {class}\">{status}</span> <span class=\"badge neutral\">{method}</span>"
    )
}

fn charts(run: &LoggedRun, scenario: &Scenario, id: &str) -> String {
    let figures = [
        super::timeline::figure(id, run, scenario),
        super::queue::figure(id, run, scenario),
    ];
    let figures = figures.into_iter().flatten();
    let figures = figures
        .chain(super::spread::figures(id, run, scenario))
        .chain(super::sweep::figures(id, run, scenario))
        .chain(super::latency::figures(id, run, scenario));
    figures.collect()
}
