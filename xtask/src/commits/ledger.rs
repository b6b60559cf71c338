//! A ledger: the figures of each commit in a range, and the commits that changed them.

use std::collections::BTreeMap;
use std::slice;

use hardware::text::words::Word as _;
use report::profile::difference::{InstructionScope, PhaseChange, PhaseSide, changes};
use report::profile::event::Event;
use report::profile::profile::{PhaseFigure, Profile, ProfilePhase};
use serde::Serialize;
use suite::plan::ScenarioId;

use crate::build::checkout::Commit;

/// A commit and its measurements.
#[derive(Debug, Default, Serialize)]
pub struct LedgerEntry {
    /// The commit.
    pub commit: Commit,
    /// The reason why the commit has no profile; None if it has one.
    pub failure: Option<String>,
    /// The earlier commit with identical firmware, if there is one.
    pub same_as: Option<Commit>,
    /// The figures by name, `SCENARIO:PHASE`.
    pub figures: BTreeMap<String, PhaseFigure>,
    #[serde(skip)]
    pub(super) profile: Option<Profile>,
}

impl LedgerEntry {
    pub(super) fn measured(commit: Commit, same_as: Option<Commit>, mut profile: Profile) -> Self {
        // Only the sums over all CPUs are kept in memory. The stored profile also has the phases of
        // each CPU.
        profile.phases = profile.merged();
        let figure = |it: &ProfilePhase| (it.figure_name(), it.figure());
        Self {
            commit,
            failure: None,
            same_as,
            figures: profile.phases.iter().map(figure).collect(),
            profile: Some(profile),
        }
    }
}

/// A commit that changed figures by more than the tolerance.
#[derive(Debug, Serialize)]
pub struct LedgerStep {
    /// The commit.
    pub commit: Commit,
    /// The last measured commit before this one.
    pub since: Commit,
    /// The merge in the range that merged this commit; None if the commit is in the range itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_by: Option<Commit>,
    /// The changed phases.
    pub changes: Vec<PhaseChange>,
    /// In a bisection, this commit's share of the change over the range. The share is negative if
    /// this change goes in the opposite direction, and more than 1 if other commits partly reverse
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_of_whole: Option<f64>,
}

/// The figure to bisect, as specified by the user: `SCENARIO:PHASE` for the CPU's own instructions,
/// `SCENARIO:PHASE:all` for instructions across all CPUs, `SCENARIO:PHASE:EVENT` for the CPU's own
/// events.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Selected {
    /// The figure name.
    pub figure: String,
    /// Whose instructions count.
    pub part: InstructionScope,
    /// The event to count instead of instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Event>,
}

impl Selected {
    /// Parses a name.
    pub fn parse(name: &str) -> Self {
        let name = name.replace(' ', "-");
        let (figure, last) = name.rsplit_once(':').unwrap_or((&name, ""));
        let selected = |figure: &str, part, unit| Self {
            figure: figure.to_owned(),
            part,
            unit,
        };
        match Event::from_word(last) {
            Some(event) => selected(figure, InstructionScope::Own, Some(event)),
            None if last == "all" => selected(figure, InstructionScope::All, None),
            None => selected(&name, InstructionScope::Own, None),
        }
    }

    /// Returns the scenario that measures the figure, if there is one of this name. A step, such as
    /// an idle state, follows the scenario's name after a slash.
    pub fn scenario(&self) -> Option<ScenarioId> {
        let (scenario, _) = self.figure.split_once(':')?;
        let tag = scenario.split_once('/').map_or(scenario, |(tag, _)| tag);
        ScenarioId::from_tag(tag)
    }

    pub(super) fn of(&self, entry: &LedgerEntry) -> Option<f64> {
        self.part.of(*entry.figures.get(&self.figure)?)
    }
}

/// The figures of all commits in a range.
#[derive(Debug, Serialize)]
pub struct CommitLedger {
    /// The range, as specified by the user.
    pub range: String,
    /// The largest difference that does not count as a step, as a fraction of the figure.
    pub tolerance: f64,
    /// The event that was counted instead of instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Event>,
    /// The figure to bisect; None if all commits were measured.
    pub selected: Option<Selected>,
    /// The commits, in order. In a bisection, this contains only measured commits.
    pub entries: Vec<LedgerEntry>,
    /// The steps.
    pub steps: Vec<LedgerStep>,
    /// The changes from the first commit to the last; empty if either was not measured.
    pub whole: Vec<PhaseChange>,
}

impl CommitLedger {
    pub(super) fn new(
        (range, tolerance): (&str, f64),
        selected: Option<Selected>,
        entries: Vec<LedgerEntry>,
        mut steps: Vec<LedgerStep>,
    ) -> Self {
        let ends = entries.first().zip(entries.last());
        let whole = ends.and_then(step);
        let mut whole = whole.map_or_else(Vec::new, |it| it.changes);
        if let Some(selected) = &selected {
            let is_it = |it: &PhaseChange| it.figure == selected.figure;
            whole.retain(is_it);
            let change = |it: &[PhaseChange]| {
                let [old, new] = it.first()?.both(selected.part)?;
                Some(new - old)
            };
            for step in &mut steps {
                step.changes.retain(is_it);
                if step.merged_by.is_some() {
                    continue;
                }
                let shares = change(&step.changes).zip(change(&whole));
                step.share_of_whole = shares.filter(|it| it.1 != 0.0).map(|(own, all)| own / all);
            }
        }
        Self {
            range: range.to_owned(),
            tolerance,
            unit: None,
            selected,
            entries,
            steps,
            whole,
        }
    }

    /// Returns the steps at commits in the range itself, without those at merged commits.
    pub fn main_steps(&self) -> impl Iterator<Item = &LedgerStep> {
        self.steps.iter().filter(|it| it.merged_by.is_none())
    }

    /// Returns the instruction scopes that this ledger compares: the selected one, or both.
    pub fn parts(&self) -> &[InstructionScope] {
        match &self.selected {
            Some(selected) => slice::from_ref(&selected.part),
            None => &InstructionScope::BOTH,
        }
    }

    /// Returns the reason why the first commit cannot be compared with the last.
    pub fn lack(&self) -> Option<String> {
        for (end, name) in [
            (self.entries.first(), "first"),
            (self.entries.last(), "last"),
        ] {
            if end.is_none_or(|it| it.profile.is_none()) {
                return Some(format!("the {name} commit cannot be measured: see above"));
            }
        }
        // A phase that no longer occurs in the calls is considered measured, but a phase in a
        // skipped scenario is not.
        let is_gone = |it: &&PhaseChange| it.new == PhaseSide::NotMeasured;
        let is_lacking = |it: &&PhaseChange| self.selected.is_some() && it.new.figure().is_none();
        let mut whole = self.whole.iter();
        let gone = whole.find(|it| is_gone(it) || is_lacking(it))?;
        let figure = &gone.figure;
        Some(format!("the last commit has no {figure} figure"))
    }

    /// Returns the figures that are larger at the end of the range than at the start.
    pub fn larger(&self) -> impl Iterator<Item = &PhaseChange> {
        let is_larger = |it: &&PhaseChange| it.is_larger(self.parts(), self.tolerance);
        self.whole.iter().filter(is_larger)
    }

    /// Returns true if a commit, or the range overall, increases a figure.
    pub fn is_worse(&self) -> bool {
        let mut changes = self.steps.iter().flat_map(|it| &it.changes);
        let is_larger = |it: &PhaseChange| it.is_larger(self.parts(), self.tolerance);
        changes.any(is_larger) || self.larger().next().is_some()
    }
}

/// Returns the changes in all phases between two entries, if both were measured.
pub(super) fn step((since, entry): (&LedgerEntry, &LedgerEntry)) -> Option<LedgerStep> {
    Some(LedgerStep {
        commit: entry.commit.clone(),
        since: since.commit.clone(),
        merged_by: None,
        changes: changes(since.profile.as_ref()?, entry.profile.as_ref()?),
        share_of_whole: None,
    })
}

#[cfg(test)]
mod tests {
    use itertools::Itertools as _;

    use super::*;
    use crate::commits::ledger_export::{self, LedgerFormat, conclusion};

    /// Returns an entry for each pair of sums over two calls: the CPU's own instructions, and the
    /// instructions of all CPUs.
    fn entries(sums: &[(u64, u64)]) -> Vec<LedgerEntry> {
        let entries = sums.iter().enumerate().map(|(place, (own, all))| {
            let commit = Commit {
                id: format!("c{place}"),
                title: String::new(),
                ..Commit::default()
            };
            let profile = Profile::made_up(&[("s", "entry", *own, *all)]);
            LedgerEntry::measured(commit, None, profile)
        });
        entries.collect()
    }

    fn ledger(
        entries: Vec<LedgerEntry>,
        selected: Option<&str>,
        steps: Vec<LedgerStep>,
    ) -> CommitLedger {
        CommitLedger::new(
            ("a..b", 0.01),
            selected.map(Selected::parse),
            entries,
            steps,
        )
    }

    #[test]
    fn tables_have_waiting_and_no_figure_of_what_was_not_measured() {
        let text = |entries: Vec<LedgerEntry>| {
            let mut text = Vec::new();
            let ledger = ledger(entries, None, Vec::new());
            ledger_export::write(LedgerFormat::Text, &ledger, &mut text).expect("written");
            String::from_utf8(text).expect("UTF-8")
        };
        let cells = |text: &str| {
            let mut lines = text.lines().map(str::trim_start);
            let row = lines.find(|line| line.starts_with("s:entry"));
            let words = row.expect("a row").split("  ").map(str::trim);
            words.filter(|it| !it.is_empty()).join(" | ")
        };
        let figures = [(2788, 63_434), (1544, 943_026)];
        let said = text(entries(&figures));
        let row = "s:entry | 1394 | 772 | 31717 | 471513 | +440418 | 0";
        assert_eq!(cells(&said), row, "{said}");
        let other = Profile::made_up(&[("t", "entry", 2000, 2000)]);
        let mut other = vec![LedgerEntry::measured(Commit::default(), None, other)];
        other.splice(0..0, entries(&figures));
        let said = text(other);
        let row = "s:entry | 1394 | not measured | 31717 | not measured | 0";
        assert_eq!(cells(&said), row, "{said}");
    }

    #[test]
    fn end_that_is_larger_is_never_well() {
        // Each individual step is within the tolerance.
        let crept: Vec<(u64, u64)> = (0..5).map(|it| (2000 + 16 * it, 2000 + 16 * it)).collect();
        let crept = ledger(entries(&crept), None, Vec::new());
        assert!(crept.is_worse() && crept.lack().is_none());
        let said = "larger at the end of the range: s:entry";
        assert_eq!(conclusion(&crept), ["no step", said]);
        // The CPU executes fewer instructions itself, but waits longer.
        for (figure, is_worse) in [("s:entry", false), ("s:entry:all", true)] {
            let waits = entries(&[(2788, 63_434), (1544, 943_026)]);
            let waits = ledger(waits, Some(figure), Vec::new());
            assert_eq!(waits.is_worse(), is_worse, "{figure}");
        }
        let waits = ledger(
            entries(&[(2788, 63_434), (1544, 943_026)]),
            None,
            Vec::new(),
        );
        assert!(waits.is_worse());
    }

    #[test]
    fn end_without_a_figure_is_never_well() {
        let mut lost = entries(&[(2000, 2000), (2000, 2000)]);
        lost[1].profile = None;
        let lack = ledger(lost, None, Vec::new()).lack();
        let said = "the last commit cannot be measured: see above";
        assert_eq!(lack.as_deref(), Some(said));
        for selected in [None, Some("s:entry")] {
            let mut other = entries(&[(2000, 2000)]);
            let profile = Profile::made_up(&[("t", "entry", 2000, 2000)]);
            other.push(LedgerEntry::measured(Commit::default(), None, profile));
            let other = ledger(other, selected, Vec::new());
            let said = "the last commit has no s:entry figure";
            assert_eq!(other.lack().as_deref(), Some(said));
        }
    }

    /// Returns the text of a bisection for the figure `s:entry`, counted in `unit`.
    fn bisection(sums: &[(u64, u64)], unit: Option<Event>) -> String {
        let mut entries = entries(sums);
        for entry in &mut entries {
            let other = PhaseFigure {
                own: Some(1.0),
                all: 1.0,
            };
            entry.figures.insert("s:other".to_owned(), other);
        }
        let steps = entries.iter().tuple_windows().filter_map(step).collect();
        let ledger = CommitLedger {
            unit,
            ..ledger(entries, Some("s:entry"), steps)
        };
        let mut text = Vec::new();
        ledger_export::write(LedgerFormat::Text, &ledger, &mut text).expect("written");
        String::from_utf8_lossy(&text).into_owned() + &conclusion(&ledger).join("\n")
    }

    #[test]
    fn range_that_falls_has_a_largest_decrease() {
        let said = bisection(&[(200, 200), (216, 216), (158, 158)], None);
        let decrease = "largest decrease: c2 (-29): 138.1 % of the total change";
        assert!(said.ends_with(decrease), "{said}");
        let opposite = "(+8.00 %): 38.1 % of the total change, in the opposite direction";
        assert!(said.contains(opposite), "{said}");
    }

    #[test]
    fn figure_that_is_not_bisected_is_not_searched() {
        let said = bisection(&[(200, 200), (216, 216), (158, 158)], None);
        let row = |name: &str| said.lines().find(|line| line.trim().starts_with(name));
        let [entry, other] = ["s:entry", "s:other"].map(|name| row(name).expect("a row"));
        assert!(
            entry.ends_with('2') && other.ends_with("not searched"),
            "{said}"
        );
    }

    #[test]
    fn tables_of_events_are_not_of_instructions() {
        let said = bisection(&[(200, 200), (216, 216)], Some(Event::Isb));
        assert!(
            said.contains("(a CPU's own ISB instructions, and all CPUs')"),
            "{said}"
        );
        assert!(!said.contains("PMF's ticks"), "{said}");
    }

    #[test]
    fn figure_names_its_scenario() {
        for (name, expected) in [
            ("susp_deep_serial:wake-up", Some("susp_deep_serial")),
            ("idle_states/0x00010002:wake-up:isb", Some("idle_states")),
            ("wake-up", None),
            ("nothing:wake-up", None),
        ] {
            let scenario = Selected::parse(name).scenario();
            let tag = scenario.map(|scenario| scenario.short_tag());
            assert_eq!(tag, expected, "{name}");
        }
    }

    #[test]
    fn step_has_its_share_of_the_whole_change() {
        let entries = entries(&[(2572, 2572), (2078, 2078), (3340, 3340)]);
        let steps = entries.iter().tuple_windows().filter_map(step).collect();
        let ledger = ledger(entries, Some("s:entry"), steps);
        let shares: Vec<_> = ledger.steps.iter().map(|it| it.share_of_whole).collect();
        assert_eq!(shares, [Some(-247.0 / 384.0), Some(631.0 / 384.0)]);
        let said = conclusion(&ledger);
        assert_eq!(
            said[1..],
            [
                "step: c2 : 1039 -> 1670 (+60.73 %): 164.3 % of the total change",
                "whole range: s:entry, own instructions: 1286 -> 1670 (+29.86 %)",
                "largest increase: c2 (+631): 164.3 % of the total change",
            ]
        );
        assert!(ledger.is_worse());
    }
}
