//! Converts an audit of a published page to blocks.

use std::slice;

use report::export::{Block, Headline, Table, Tone};
use suite::output::{ABSENT, text_or_absent};

use crate::page_audit::AuditOutcome::{Right, Wrong};
use crate::page_audit::{Audit, AuditedFigure, AuditedTable, count, counts};

/// Returns an audit's blocks.
pub(crate) fn audit_blocks<'r>(audit: &Audit) -> Vec<Block<'r>> {
    let [newer, former] = &audit.releases;
    let title = if former.is_empty() {
        format!("Audit of {}", audit.page)
    } else {
        format!("Audit of {}: {newer} against {former}", audit.page)
    };
    let audits = slice::from_ref(audit);
    let headline = Headline {
        text: counts(audits),
        tone: match (count(audits, Wrong), count(audits, Right)) {
            (0, 0) => Tone::Neutral,
            (0, _) => Tone::Good,
            _ => Tone::Bad,
        },
    };
    let mut blocks = vec![Block::Title(title), Block::Headline(headline)];
    for table in &audit.tables {
        let has_changes = table.figures.iter().any(|figure| figure.printed.is_some());
        if !has_changes && table.findings.is_empty() {
            continue;
        }
        blocks.push(Block::Heading(format!(
            "{}, line {}",
            table.id.name(),
            table.line
        )));
        blocks.extend(change_table(table).finished().map(Block::Table));
        if !table.findings.is_empty() {
            blocks.push(Block::Remarks(table.findings.clone()));
        }
    }
    if !audit.findings.is_empty() {
        blocks.push(Block::Heading("About the whole page".to_owned()));
        blocks.push(Block::Remarks(audit.findings.clone()));
    }
    blocks
}

/// Returns a table of the figures for which a change is printed.
fn change_table(audited: &AuditedTable) -> Table {
    let mut table = Table::titled("Printed changes and expected changes (us)");
    table.words(["Place", "CPU", "Figure"]);
    table.numbers(["New", "Printed", "By CPU"]);
    table.optional_numbers(&["By order"], ABSENT);
    table.numbers(["Implied old"]);
    table.words(["Judged"]);
    let figures = audited.figures.iter();
    let changed = figures.filter(|figure| figure.printed.is_some());
    table.rows = changed.map(row).collect();
    table
}

fn row(figure: &AuditedFigure) -> Vec<String> {
    let us = |ns: f64| format!("{:.2}", ns / 1000.0);
    let percent =
        |change: Option<f64>| text_or_absent(change.map(|percent| format!("{percent:+.2} %")));
    // The path is in the title above or in the directive title.
    let mut components = figure.position.rsplit('/');
    let position = components.next().expect("split yields a part");
    vec![
        position.to_owned(),
        format!("{}.{}", figure.label.0, figure.label.1),
        figure.metric.heading().to_owned(),
        us(figure.ns as f64),
        percent(figure.printed),
        percent(figure.by_cpu),
        percent(figure.by_order),
        text_or_absent(figure.implied_ns.map(us)),
        figure.judged.word().to_owned(),
    ]
}
