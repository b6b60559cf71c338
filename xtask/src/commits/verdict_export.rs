//! Writes verdict ledgers in all formats.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;
use hardware::text::plural::many;
use report::export::{Block, Table, write_blocks, write_page};
use suite::model::Function;

use super::ledger_export::{LedgerFormat, merged_text, step_kind};
use super::verdict_ledger::{VerdictChange, VerdictEntry, VerdictLedger};
use super::verdicts::FunctionVerdict;
use crate::build::checkout::Commit;

/// The explanation at the end of the page.
const NOTES: &str =
    "A function fails if any of its checks fails. docs/fitness.md lists the checks.";

/// Writes `ledger`.
pub fn write(format: LedgerFormat, ledger: &VerdictLedger, out: &mut dyn Write) -> Result<()> {
    match format {
        LedgerFormat::Text => write_blocks(document(ledger), out),
        LedgerFormat::Html => write_page(&title(ledger), NOTES, document(ledger), out),
        LedgerFormat::Csv => write_csv(ledger, out),
        LedgerFormat::Json => Ok(serde_json::to_writer(out, ledger)?),
    }
}

fn write_csv(ledger: &VerdictLedger, out: &mut dyn Write) -> Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["commit", "title", "function", "verdict", "failure"])?;
    for entry in &ledger.entries {
        let Commit { id, title, .. } = &entry.commit;
        if let Some(failure) = &entry.failure {
            csv.write_record([id, title, "", "", failure])?;
        }
        for (function, verdict) in &entry.verdicts.0 {
            let failures = sentences(verdict).join(" ");
            csv.write_record([id, title, function.name(), verdict.word(), &failures])?;
        }
    }
    Ok(csv.flush()?)
}

fn title(ledger: &VerdictLedger) -> String {
    format!("PSCI functions of TF-A {}, commit by commit", ledger.range)
}

fn document(ledger: &VerdictLedger) -> Vec<Block<'static>> {
    let failed = ledger.entries.iter().filter(|it| it.failure.is_some());
    let failed = failed.count();
    let measured = ledger.entries.len() - failed;
    let definitions = vec![
        ("Commits", format!("{measured} checked, {failed} skipped")),
        ("Steps", ledger.main_steps().count().to_string()),
    ];
    let mut all = vec![Block::Title(title(ledger)), Block::Definitions(definitions)];
    all.extend(commit_table(ledger).map(Block::Table));
    all.extend(function_table(ledger).map(Block::Table));
    for step in &ledger.steps {
        let (id, title) = (step.commit.name(), &step.commit.title);
        all.push(Block::Heading(format!("{id} {title}")));
        let (since, merged) = (step.since.name(), merged_text(step.merged_by.as_ref()));
        all.push(Block::Paragraph(format!("Against {since}{merged}.")));
        all.push(Block::Remarks(
            step.changes.iter().flat_map(remarks).collect(),
        ));
    }
    all
}

fn commit_table(ledger: &VerdictLedger) -> Option<Table> {
    let mut table = Table::titled("Commits");
    table.words(["Commit", "Title", "Result"]);
    for it in &ledger.entries {
        let (id, title) = (it.commit.name().to_owned(), it.commit.title.clone());
        table.rows.push(vec![id, title, result(ledger, it)]);
    }
    table.finished()
}

/// Returns a commit's result: the verdict on the selected function, or the number of functions that
/// fail.
fn result(ledger: &VerdictLedger, entry: &VerdictEntry) -> String {
    if let Some(failure) = &entry.failure {
        return format!("skipped: {failure}");
    }
    let verdicts = &entry.verdicts.0;
    let result = match ledger.selected {
        Some(function) => verdict_word(verdicts.get(&function)).to_owned(),
        None => {
            let failed = verdicts.values().filter(|it| !it.works()).count();
            format!("{} of {} work", verdicts.len() - failed, verdicts.len())
        }
    };
    let mut steps = ledger.steps.iter();
    if steps.any(|step| step.commit.id == entry.commit.id) {
        return format!("step: {result}");
    }
    match &entry.same_as {
        Some(same) => format!("{result}, same firmware as {}", same.short()),
        None => result,
    }
}

/// Returns the verdicts on each function at both ends of the range.
fn function_table(ledger: &VerdictLedger) -> Option<Table> {
    let mut table = Table::titled("Functions");
    table.words(["Function", "First commit", "Last commit"]);
    let ends = [ledger.entries.first()?, ledger.entries.last()?];
    let functions = ends.iter().flat_map(|it| it.verdicts.0.keys());
    let is_selected = |it: &&Function| ledger.selected.is_none_or(|selected| selected == **it);
    let functions: BTreeSet<&Function> = functions.filter(is_selected).collect();
    for function in functions {
        let word = |entry: &VerdictEntry| verdict_word(entry.verdicts.0.get(function)).to_owned();
        let [first, last] = ends.map(word);
        table
            .rows
            .push(vec![function.name().to_owned(), first, last]);
    }
    table.finished()
}

fn verdict_word(verdict: Option<&FunctionVerdict>) -> &'static str {
    verdict.map_or("not checked", FunctionVerdict::word)
}

fn sentences(verdict: &FunctionVerdict) -> &[String] {
    match verdict {
        FunctionVerdict::Works => &[],
        FunctionVerdict::Fails(sentences) => sentences,
    }
}

fn remarks(change: &VerdictChange) -> Vec<String> {
    let function = change.function.name();
    match &change.new {
        FunctionVerdict::Works => vec![format!("{function} works again.")],
        FunctionVerdict::Fails(sentences) => sentences.clone(),
    }
}

fn change_text(change: &VerdictChange) -> String {
    let function = change.function.name();
    format!("{function} {} -> {}", change.old.word(), change.new.word())
}

/// Returns the lines of the ledger's conclusion.
pub fn conclusion(ledger: &VerdictLedger) -> Vec<String> {
    let step_lines = ledger.steps.iter().map(|step| {
        let (id, title) = (step.commit.name(), &step.commit.title);
        let changed = match &step.changes[..] {
            [change] => change_text(change),
            changes => many(changes.len(), "function"),
        };
        let kind = step_kind(step.merged_by.as_ref());
        format!("{kind}: {id} {title}: {changed}")
    });
    let mut lines: Vec<String> = step_lines.collect();
    if lines.is_empty() {
        lines.push("no step".to_owned());
    }
    let whole = ledger.whole.iter();
    lines.extend(whole.map(|it| format!("whole range: {}", change_text(it))));
    lines.extend(ledger.lack());
    lines
}
