//! `patch`: a unified diff that corrects the idle states in a device tree source.

use std::io::Write;
use std::ops::Range;

use anyhow::{Context as _, Result, bail, ensure};

use super::dts::{change_text, changed_tree, statement};
use super::dts_source::{SourceNode, SourceProperty, nodes};
use super::idle_audit_document::sentence;
use super::report_data::{DtsSource, Report};
use super::unified_diff::{TextEdit, unified_diff};
use crate::analysis::idle_audit::{IdleAudit, PropertyChange, PropertyValue};

/// The property after which new properties are inserted.
const ANCHOR: &str = "arm,psci-suspend-param";

pub(super) fn write(report: &Report, out: &mut dyn Write) -> Result<()> {
    let audit = changed_tree(report, "patch")?;
    let source = report.dts.as_ref();
    let source = source.context("--format patch needs the tree's source; specify it with --dts")?;
    let edits = edits(audit, source)?;
    if edits.is_empty() {
        return Ok(());
    }
    let diff = unified_diff(&source.name, &source.text, edits);
    // Text before the diff is ignored by git and patch.
    let text = message(audit) + "\n" + &diff;
    out.write_all(text.as_bytes())?;
    Ok(())
}

fn message(audit: &IdleAudit) -> String {
    let mut text = format!("Correct the idle states of {}\n\n", audit.board);
    for state in &audit.states {
        for change in &state.changes {
            text += &format!("* {}, {}.\n", state.declared.name, change_text(change));
        }
    }
    for state in &audit.states {
        for it in state.uncorrectable() {
            text += &format!("* Not corrected: {}\n", sentence(state, it));
        }
    }
    if !audit.logs.is_empty() {
        text += &format!("\nMeasured by psci-bench: {}\n", audit.logs.join(", "));
    }
    text
}

/// Returns the edits to the source.
fn edits(audit: &IdleAudit, source: &DtsSource) -> Result<Vec<TextEdit>> {
    let name = &source.name;
    let nodes = nodes(&source.text).with_context(|| name.clone())?;
    let mut edits = Vec::new();
    for state in &audit.states {
        let path = &state.declared.path;
        let own: Vec<&SourceNode> = nodes
            .iter()
            .filter(|node| node.path.as_ref() == Some(path))
            .collect();
        for change in &state.changes {
            ensure!(
                !own.is_empty(),
                "{name}: does not contain the node {path}; specify the file that does with --dts"
            );
            let edit = edit(&own, change, &source.text);
            let edit = edit.with_context(|| format!("{name}: {path} {}", change.name))?;
            edits.push(edit);
        }
    }
    Ok(edits)
}

/// Returns the edit for one change to a node, which has one or more bodies.
fn edit(bodies: &[&SourceNode], change: &PropertyChange, text: &str) -> Result<TextEdit> {
    let properties = bodies.iter().flat_map(|body| &body.properties);
    // Later statements override earlier ones.
    let old = properties.rev().find(|it| it.name == change.name);
    match (old, change.new) {
        (Some(old), Some(PropertyValue::Cell(us))) => {
            check_old(old, change, text)?;
            let value = old.value.clone().context("expected a value")?;
            let new = format!(" <{us}>");
            Ok(TextEdit { at: value, new })
        }
        (Some(old), None) => Ok(TextEdit {
            at: whole_lines(old.statement.clone(), text),
            new: String::new(),
        }),
        (None, Some(_)) => Ok(insertion(bodies, change, text)),
        (Some(_), Some(PropertyValue::Present)) | (None, None) => {
            bail!("the source differs from the tree; specify the source of this tree with --dts")
        }
    }
}

/// Rejects a source whose value is a number other than the tree's.
fn check_old(old: &SourceProperty, change: &PropertyChange, text: &str) -> Result<()> {
    let value = &text[old.value.clone().context("expected a value")?];
    let value = value.trim().trim_start_matches('<').trim_end_matches('>');
    let number = match value.trim().strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => value.trim().parse().ok(),
    };
    let is_same = |number| change.old == Some(PropertyValue::Cell(number));
    if let Some(number) = number.filter(|number| !is_same(*number)) {
        bail!(
            "{number} in the source, but not in the tree; specify the source of this tree with \
             --dts"
        );
    }
    Ok(())
}

/// Returns an edit that adds a property after the others of the node's last body.
fn insertion(bodies: &[&SourceNode], change: &PropertyChange, text: &str) -> TextEdit {
    let with_anchor = bodies.iter().rev().find_map(|body| {
        let anchor = body.properties.iter().find(|it| it.name == ANCHOR);
        anchor.or(body.properties.last())
    });
    let at = with_anchor.map_or(bodies[0].body, |it| it.statement.end);
    let start = with_anchor.map_or(at, |it| it.statement.start);
    let line = text[..start].rfind('\n').map_or(0, |line| line + 1);
    let indent = &text[line..start];
    let indent = match indent.trim().is_empty() && !indent.is_empty() {
        true => indent,
        false => "\t",
    };
    let statement = statement(change.name, change.new);
    TextEdit {
        at: at..at,
        new: format!("\n{indent}{statement}"),
    }
}

/// Extends a range to whole lines if there is nothing else on them.
fn whole_lines(range: Range<usize>, text: &str) -> Range<usize> {
    let start = text[..range.start].rfind('\n').map_or(0, |line| line + 1);
    let end = text[range.end..].find('\n');
    let end = end.map_or(text.len(), |line| range.end + line + 1);
    let rest = [&text[start..range.start], &text[range.end..end]];
    match rest.iter().all(|part| part.trim().is_empty()) {
        true => start..end,
        false => range,
    }
}
