//! `dts`: the properties that an audit of idle states would change, ready to be appended to a
//! device tree source.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::{Result, bail};
use itertools::Itertools as _;

use super::audit_document::sentence;
use super::idle_report::IdleReport;
use crate::audit::{AuditedState, DeclaredBy, IdleAudit, PropertyChange, PropertyValue};

pub(super) fn write(report: &IdleReport, out: &mut dyn Write) -> Result<()> {
    let audit = changed_tree(report, "dts")?;
    let mut text = header(audit);
    for state in audit
        .states
        .iter()
        .filter(|state| !state.changes.is_empty())
    {
        text += &node(state);
    }
    out.write_all(text.as_bytes())?;
    Ok(())
}

/// Returns the only audit, for a `format` that changes a device tree source.
pub(super) fn changed_tree<'r>(report: &'r IdleReport, format: &str) -> Result<&'r IdleAudit> {
    let Some(audit) = report.only_audit() else {
        let count = report.audits.len() + report.unaudited_trees.len();
        bail!("--format {format} changes one tree, but there are {count}");
    };
    if audit.by != DeclaredBy::Tree {
        let by = audit.by.word();
        bail!("--format {format} changes a device tree, but the states are from {by}; use --tree");
    }
    Ok(audit)
}

/// Returns a property as a statement, without its indentation.
pub(super) fn statement(name: &str, value: Option<PropertyValue>) -> String {
    match value {
        Some(PropertyValue::Cell(us)) => format!("{name} = <{us}>;"),
        Some(PropertyValue::Present) => format!("{name};"),
        None => format!("/delete-property/ {name};"),
    }
}

/// Describes a change in words.
pub(super) fn change_text(change: &PropertyChange) -> String {
    let text = |value| match value {
        Some(PropertyValue::Cell(us)) => us.to_string(),
        Some(PropertyValue::Present) => "present".to_owned(),
        None => "absent".to_owned(),
    };
    format!(
        "{}, {} to {}: {}",
        change.name,
        text(change.old),
        text(change.new),
        change.evidence
    )
}

fn header(audit: &IdleAudit) -> String {
    let mut lines = vec![format!(
        "Idle states of {}, corrected by psci-bench.",
        audit.board
    )];
    lines.push(format!("Declared: {}", audit.source));
    if !audit.logs.is_empty() {
        lines.push(format!("Measured: {}", audit.logs.join(", ")));
        lines.push("A measured worst case is not an upper bound, so values have a margin.".into());
    }
    if audit.states.iter().all(|state| state.changes.is_empty()) {
        lines.push("No property needs to be changed.".to_owned());
    }
    for state in &audit.states {
        let rest = state.uncorrectable();
        lines
            .extend(rest.map(|judgement| format!("Not corrected: {}", sentence(state, judgement))));
    }
    comment_block(&lines)
}

/// Returns a comment with these lines, which may contain text from a log.
pub(super) fn comment_block(lines: &[String]) -> String {
    let body = lines.iter().format_with("", |line, f| {
        f(&format_args!(" * {}\n", comment_text(line)))
    });
    format!("/*\n{body} */\n")
}

/// Returns text that does not close a comment.
fn comment_text(text: &str) -> String {
    text.replace("*/", "* /")
}

fn node(state: &AuditedState) -> String {
    let mut text = format!("\n&{{{}}} {{\n", state.declared.path);
    for change in &state.changes {
        let description = comment_text(&change_text(change));
        let statement = statement(change.name, change.new);
        // Writing to a String cannot fail.
        let _ = write!(text, "\t/* {description} */\n\t{statement}\n");
    }
    text + "};\n"
}
