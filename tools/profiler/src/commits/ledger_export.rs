//! Writes ledgers in all formats, and the parts that all ledgers have in common.

use std::io::Write;

use anyhow::Result;
use report::export::{Block, Table, write_blocks, write_page};
use serde::Serialize;

use super::ledger::{CommitLedger, Comparison, LedgerEntry, LedgerJump};

/// A ledger format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LedgerFormat {
    /// Aligned tables for a terminal.
    Text,
    /// One page with tables and charts.
    Html,
    /// One line per value and commit.
    Csv,
    /// Everything, for programs.
    Json,
}

/// The text of a ledger. JSON contains its fields.
pub trait LedgerText: Serialize {
    /// The explanation at the end of the page.
    const NOTES: &'static str;

    /// Returns the title.
    fn title(&self) -> String;

    /// Returns the blocks of the text and of the page.
    fn document(&self) -> Vec<Block<'static>>;

    /// Writes the values as CSV.
    fn write_csv(&self, out: &mut dyn Write) -> Result<()>;

    /// Returns the lines that end the command's output.
    fn conclusion(&self) -> Vec<String>;
}

/// Writes `ledger`.
pub fn write<L: LedgerText>(format: LedgerFormat, ledger: &L, out: &mut dyn Write) -> Result<()> {
    match format {
        LedgerFormat::Text => write_blocks(ledger.document(), out),
        LedgerFormat::Html => write_page(&ledger.title(), L::NOTES, ledger.document(), out),
        LedgerFormat::Csv => ledger.write_csv(out),
        LedgerFormat::Json => Ok(serde_json::to_writer(out, ledger)?),
    }
}

/// Writes the values of all commits as CSV: the commit, the columns called `columns`, and the
/// failure. `rows` returns the entries of a commit that was measured, without the commit itself.
pub(super) fn write_csv_rows<C: Comparison>(
    ledger: &CommitLedger<C>,
    columns: &[&str],
    rows: impl Fn(&C::Record) -> Vec<Vec<String>>,
    out: &mut dyn Write,
) -> Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([&["commit", "title"], columns, &["failure"]].concat())?;
    for entry in &ledger.entries {
        let commit = [entry.commit.id.clone(), entry.commit.title.clone()];
        if let Some(failure) = &entry.failure {
            let empty = vec![String::new(); columns.len()];
            csv.write_record([&commit[..], &empty, std::slice::from_ref(failure)].concat())?;
        }
        for row in rows(&entry.record) {
            csv.write_record([&commit[..], &row].concat())?;
        }
    }
    Ok(csv.flush()?)
}

/// Returns the number of commits that were measured, for which the field uses the word `measured`,
/// and of those that were skipped.
pub(super) fn commit_counts<C: Comparison>(ledger: &CommitLedger<C>, measured: &str) -> String {
    let entries = ledger.entries.iter();
    let skipped = entries.filter(|entry| entry.failure.is_some()).count();
    let count = ledger.entries.len() - skipped;
    format!("{count} {measured}, {skipped} skipped")
}

/// Returns the table of commits. `result` returns the result of a commit that was measured, which
/// may be a jump.
pub(super) fn commit_table<C: Comparison>(
    ledger: &CommitLedger<C>,
    result: impl Fn(&LedgerEntry<C::Record>, Option<&LedgerJump<C::Change>>) -> String,
) -> Option<Table> {
    let mut table = Table::titled("Commits");
    table.words(["Commit", "Title", "Result"]);
    for entry in &ledger.entries {
        let commit = &entry.commit;
        let result = match &entry.failure {
            Some(failure) => format!("skipped: {failure}"),
            None => result(entry, ledger.jump_at(commit)),
        };
        let row = vec![commit.name().to_owned(), commit.title.clone(), result];
        table.rows.push(row);
    }
    table.finished()
}

/// Returns the heading of a jump, and the sentence about the commit it is compared with.
pub(super) fn jump_heading<C>(jump: &LedgerJump<C>) -> [Block<'static>; 2] {
    let (name, title) = (jump.commit.name(), &jump.commit.title);
    let since = jump.since.name();
    let merged = match &jump.merged_by {
        Some(merge) => format!(", on the branch merged by {}", merge.short()),
        None => String::new(),
    };
    let share = share_clause(jump.share_of_whole);
    [
        Block::Heading(format!("{name} {title}")),
        Block::Paragraph(format!("Against {since}{merged}{share}.")),
    ]
}

/// Returns the lines about the jumps in the conclusion. `changed` describes a jump's changes.
pub(super) fn jump_lines<C: Comparison>(
    ledger: &CommitLedger<C>,
    changed: impl Fn(&[C::Change]) -> String,
) -> Vec<String> {
    if ledger.jumps.is_empty() {
        return vec!["no jump".to_owned()];
    }
    let line = |jump: &LedgerJump<C::Change>| {
        let kind = match jump.merged_by {
            None => "jump",
            Some(_) => "  merged",
        };
        let (name, title) = (jump.commit.name(), &jump.commit.title);
        let changed = changed(&jump.changes);
        let share = share_clause(jump.share_of_whole);
        format!("{kind}: {name} {title}: {changed}{share}")
    };
    ledger.jumps.iter().map(line).collect()
}

/// Returns a clause that states a jump's share of the change over the range, if it is known.
pub(super) fn share_clause(share: Option<f64>) -> String {
    let Some(share) = share else {
        return String::new();
    };
    let opposite = match share < 0.0 {
        true => ", in the opposite direction",
        false => "",
    };
    let percent = 100.0 * share.abs();
    format!(": {percent:.1} % of the total change{opposite}")
}
