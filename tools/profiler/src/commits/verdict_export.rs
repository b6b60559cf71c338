//! Writes ledgers of verdicts.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;
use hardware::text::plural::many;
use report::export::{Block, Table};

use super::ledger::{self, CommitLedger};
use super::ledger_export::{
    LedgerText, commit_counts, commit_table, jump_heading, jump_lines, write_csv_rows,
};
use super::verdict_comparison::{CommitVerdicts, VerdictChange, VerdictComparison};
use super::verdicts::{CheckVerdict, Tested};

type Ledger = CommitLedger<VerdictComparison>;
type Entry = ledger::LedgerEntry<CommitVerdicts>;
type Jump = ledger::LedgerJump<VerdictChange>;

impl LedgerText for Ledger {
    const NOTES: &'static str =
        "A function fails if any of its checks fails. docs/fitness.md lists the checks.";

    fn title(&self) -> String {
        format!("PSCI functions of TF-A {}, commit by commit", self.range)
    }

    fn document(&self) -> Vec<Block<'static>> {
        let definitions = vec![
            ("Commits", commit_counts(self, "checked")),
            ("Jumps", self.main_jumps().count().to_string()),
        ];
        let mut all = vec![Block::Title(self.title()), Block::Definitions(definitions)];
        let selected = self.comparison.selected.as_ref();
        let result = |entry: &Entry, jump: Option<&Jump>| result(selected, entry, jump);
        all.extend(commit_table(self, result).map(Block::Table));
        all.extend(function_table(self).map(Block::Table));
        for jump in &self.jumps {
            all.extend(jump_heading(jump));
            let remarks = jump.changes.iter().flat_map(remarks);
            all.push(Block::Remarks(remarks.collect()));
        }
        all
    }

    fn write_csv(&self, out: &mut dyn Write) -> Result<()> {
        let rows = |record: &CommitVerdicts| {
            let verdicts = record.verdicts.0.iter();
            let rows = verdicts.map(|(tested, verdict)| {
                let [name, word] = [tested.name(), verdict.word()].map(str::to_owned);
                vec![name, word, sentences(verdict).join(" ")]
            });
            rows.collect()
        };
        write_csv_rows(self, &["name", "verdict"], rows, out)
    }

    fn conclusion(&self) -> Vec<String> {
        let mut lines = jump_lines(self, |changes| match changes {
            [change] => change_text(change),
            changes => many(changes.len(), "function"),
        });
        for change in &self.whole {
            lines.push(format!("whole range: {}", change_text(change)));
        }
        lines.extend(self.lack());
        lines
    }
}

/// Returns a commit's result in the table of commits: the selected verdict, or the
/// number of functions that work.
fn result(selected: Option<&Tested>, entry: &Entry, jump: Option<&Jump>) -> String {
    let verdicts = &entry.record.verdicts.0;
    let result = match selected {
        Some(selected) => verdict_word(verdicts.get(selected)).to_owned(),
        None => {
            let functions = || verdicts.iter().filter(|(tested, _)| tested.is_function());
            let working = functions().filter(|(_, verdict)| verdict.works()).count();
            format!("{working} of {} work", functions().count())
        }
    };
    match (jump, &entry.same_as) {
        (Some(_), _) => format!("jump: {result}"),
        (None, Some(same)) => format!("{result}, same firmware as {}", same.short()),
        (None, None) => result,
    }
}

/// Returns the verdicts on each function at both ends of the range.
fn function_table(ledger: &Ledger) -> Option<Table> {
    let mut table = Table::titled("Functions");
    table.words(["Function", "First commit", "Last commit"]);
    let ends = [ledger.entries.first()?, ledger.entries.last()?];
    let functions = ends.iter().flat_map(|entry| entry.record.verdicts.0.keys());
    let is_selected = |tested: &&Tested| ledger.comparison.is_about(tested);
    let functions: BTreeSet<&Tested> = functions.filter(is_selected).collect();
    for function in functions {
        let word = |entry: &Entry| verdict_word(entry.record.verdicts.0.get(function)).to_owned();
        let [first, last] = ends.map(word);
        table
            .rows
            .push(vec![function.name().to_owned(), first, last]);
    }
    table.finished()
}

fn verdict_word(verdict: Option<&CheckVerdict>) -> &'static str {
    verdict.map_or("not checked", CheckVerdict::word)
}

fn sentences(verdict: &CheckVerdict) -> &[String] {
    match verdict {
        CheckVerdict::Works | CheckVerdict::Tolerated => &[],
        CheckVerdict::Fails(sentences) => sentences,
    }
}

fn remarks(change: &VerdictChange) -> Vec<String> {
    let name = change.tested.name();
    match &change.new {
        CheckVerdict::Works => vec![format!("{name} works again.")],
        CheckVerdict::Tolerated => vec![format!("{name} is tolerated.")],
        CheckVerdict::Fails(sentences) => sentences.clone(),
    }
}

fn change_text(change: &VerdictChange) -> String {
    let name = change.tested.name();
    format!("{name} {} -> {}", change.old.word(), change.new.word())
}
