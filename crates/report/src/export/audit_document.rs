//! Converts an audit of a published page to blocks.

use std::slice;

use super::document::Block;
use crate::analysis::audit::{Audit, AuditedFigure, AuditedTable, counts};
use suite::output::Table;

/// Returns an audit's blocks.
pub(super) fn audit<'r>(audit: &Audit) -> Vec<Block<'r>> {
    let [newer, former] = &audit.releases;
    let title = match former.is_empty() {
        true => format!("Audit of {}", audit.page),
        false => format!("Audit of {}: {newer} against {former}", audit.page),
    };
    let mut all = vec![Block::Title(title)];
    for table in &audit.tables {
        let is_printed = table.figures.iter().any(|it| it.printed.is_some());
        if !is_printed && table.findings.is_empty() {
            continue;
        }
        all.push(Block::Heading(format!(
            "{}, line {}",
            table.id.name(),
            table.line
        )));
        all.extend(figures(table).finished().map(Block::Table));
        if !table.findings.is_empty() {
            all.push(Block::Remarks(table.findings.clone()));
        }
    }
    all.push(Block::Heading("About the whole page".to_owned()));
    let mut remarks = vec![counts(slice::from_ref(audit))];
    remarks.extend_from_slice(&audit.findings);
    all.push(Block::Remarks(remarks));
    all
}

/// Returns a table of the figures for which a change is printed.
fn figures(table: &AuditedTable) -> Table {
    let mut drawn = Table::titled("Printed changes and expected changes (us)");
    drawn.words(["Place", "CPU", "Figure"]);
    drawn.numbers(["New", "Printed", "By CPU"]);
    drawn.optional_numbers(&["By order"], "n/a");
    drawn.numbers(["Implied old"]);
    drawn.words(["Judged"]);
    let printed = table.figures.iter().filter(|it| it.printed.is_some());
    drawn.rows = printed.map(row).collect();
    drawn
}

fn row(it: &AuditedFigure) -> Vec<String> {
    let us = |ns: f64| format!("{:.2}", ns / 1000.0);
    let absent = || "n/a".to_owned();
    let percent = |of: Option<f64>| of.map_or_else(absent, |it| format!("{it:+.2} %"));
    // The path is in the title above or in the directive title.
    let place = it.place.rsplit('/').next().expect("split yields a part");
    vec![
        place.to_owned(),
        format!("{}.{}", it.label.0, it.label.1),
        it.metric.heading().to_owned(),
        us(it.ns as f64),
        percent(it.printed),
        percent(it.by_cpu),
        percent(it.by_order),
        it.implied_ns.map_or_else(absent, us),
        it.judged.word().to_owned(),
    ]
}
