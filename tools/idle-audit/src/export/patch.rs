//! `patch`: a unified diff that corrects the idle states in a device tree source.

use std::io::Write;
use std::ops::Range;

use anyhow::{Context as _, Result, bail, ensure};

use super::audit_document::sentence;
use super::dts::{change_text, changed_tree, statement};
use super::dts_source::{SourceNode, SourceProperty, nodes};
use super::idle_report::{DtsSource, IdleReport};
use super::unified_diff::{TextEdit, unified_diff};
use crate::audit::{IdleAudit, PropertyChange, PropertyValue};

/// The property after which new properties are inserted.
const ANCHOR: &str = "arm,psci-suspend-param";

pub(super) fn write(report: &IdleReport, out: &mut dyn Write) -> Result<()> {
    let audit = changed_tree(report, "patch")?;
    let source = report
        .dts
        .as_ref()
        .context("--format patch needs the tree's source; specify it with --dts")?;
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
        for judgement in state.uncorrectable() {
            text += &format!("* Not corrected: {}\n", sentence(state, judgement));
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
        let bodies: Vec<&SourceNode> = nodes
            .iter()
            .filter(|node| node.path.as_ref() == Some(path))
            .collect();
        for change in &state.changes {
            ensure!(
                !bodies.is_empty(),
                "{name}: does not contain the node {path}; specify the file that does with --dts"
            );
            let edit = edit(&bodies, change, &source.text)
                .with_context(|| format!("{name}: {path} {}", change.name))?;
            edits.push(edit);
        }
    }
    Ok(edits)
}

/// Returns the edit for one change to a node, which has one or more bodies.
fn edit(bodies: &[&SourceNode], change: &PropertyChange, text: &str) -> Result<TextEdit> {
    let properties = bodies.iter().flat_map(|body| &body.properties);
    // Later statements override earlier ones.
    let old = properties
        .rev()
        .find(|property| property.name == change.name);
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
    let value = text[old.value.clone().context("expected a value")?].trim();
    let digits = value.trim_start_matches('<').trim_end_matches('>').trim();
    let number = match digits.strip_prefix("0x") {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok(),
        None => digits.parse().ok(),
    };
    if let Some(number) = number
        && change.old != Some(PropertyValue::Cell(number))
    {
        bail!(
            "{number} in the source, but not in the tree; specify the source of this tree with \
             --dts"
        );
    }
    Ok(())
}

/// Returns an edit that adds a property after the others of the node's last body.
fn insertion(bodies: &[&SourceNode], change: &PropertyChange, text: &str) -> TextEdit {
    let previous = bodies.iter().rev().find_map(|body| {
        let mut properties = body.properties.iter();
        let anchor = properties.find(|property| property.name == ANCHOR);
        anchor.or(body.properties.last())
    });
    let (start, end) = match previous {
        Some(property) => (property.statement.start, property.statement.end),
        None => (bodies[0].body, bodies[0].body),
    };
    let before = &text[line_start(text, start)..start];
    let indent = if before.is_empty() || !before.trim().is_empty() {
        "\t"
    } else {
        before
    };
    let statement = statement(change.name, change.new);
    TextEdit {
        at: end..end,
        new: format!("\n{indent}{statement}"),
    }
}

/// Returns the offset at which the line that contains `offset` starts.
fn line_start(text: &str, offset: usize) -> usize {
    text[..offset]
        .rfind('\n')
        .map_or(0, |line_end| line_end + 1)
}

/// Extends a range to whole lines if there is nothing else on them.
fn whole_lines(range: Range<usize>, text: &str) -> Range<usize> {
    let start = line_start(text, range.start);
    let rest = &text[range.end..];
    let end = match rest.find('\n') {
        Some(length) => range.end + length + 1,
        None => text.len(),
    };
    let (before, after) = (&text[start..range.start], &text[range.end..end]);
    if before.trim().is_empty() && after.trim().is_empty() {
        start..end
    } else {
        range
    }
}
