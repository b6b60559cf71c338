//! Compares the figures of commits: the instructions that the phases of PSCI calls take.

use std::collections::BTreeMap;
use std::slice;

use anyhow::{Result, bail};
use hardware::text::keywords::Word as _;
use itertools::Itertools as _;
use serde::Serialize;
use suite::plan::ScenarioId;

use super::ledger::{CommitLedger, Comparison};
use crate::profile::difference::{InstructionScope, PhaseChange, PhaseSide, changes};
use crate::profile::event::Event;
use crate::profile::profile::{PhaseFigure, Profile};

/// The figures of a commit. Empty if it has no profile.
#[derive(Debug, Default, Serialize)]
pub struct CommitFigures {
    /// The figures by name, `SCENARIO:PHASE`.
    pub figures: BTreeMap<String, PhaseFigure>,
    #[serde(skip)]
    profile: Option<Profile>,
}

impl From<Profile> for CommitFigures {
    fn from(mut profile: Profile) -> Self {
        // Only the sums over all CPUs are kept in memory. The stored profile also has the phases of
        // each CPU.
        profile.phases = profile.merged();
        let mut figures = BTreeMap::new();
        for phase in &profile.phases {
            figures.insert(phase.figure_name(), phase.figure());
        }
        Self {
            figures,
            profile: Some(profile),
        }
    }
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
        let mut selected = Self {
            figure: name.clone(),
            part: InstructionScope::Own,
            unit: None,
        };
        if let Some((figure, last)) = name.rsplit_once(':') {
            selected.unit = Event::from_word(last);
            if last == "all" {
                selected.part = InstructionScope::All;
            }
            if last == "all" || selected.unit.is_some() {
                figure.clone_into(&mut selected.figure);
            }
        }
        selected
    }

    /// Returns the scenario that measures the figure, if there is one of this name. A step, such as
    /// an idle state, follows the scenario's name after a slash.
    pub fn scenario(&self) -> Option<ScenarioId> {
        let (scenario, _) = self.figure.split_once(':')?;
        let tag = scenario.split_once('/').map_or(scenario, |(tag, _)| tag);
        ScenarioId::from_tag(tag)
    }

    fn value_in(&self, commit: &CommitFigures) -> Option<f64> {
        self.part.select(*commit.figures.get(&self.figure)?)
    }
}

/// A comparison of all figures, or of one in a bisection.
#[derive(Clone, Debug, Serialize)]
pub struct FigureComparison {
    /// The largest difference that does not count as a jump, as a fraction of the figure.
    pub tolerance: f64,
    /// The event that is counted instead of instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Event>,
    /// The figure to bisect; None to compare all figures.
    pub selected: Option<Selected>,
}

impl FigureComparison {
    /// Compares all figures, which count `unit` instead of instructions if it is specified.
    pub fn all(tolerance: f64, unit: Option<Event>) -> Self {
        Self {
            tolerance,
            unit,
            selected: None,
        }
    }

    /// Compares one figure.
    pub fn one(tolerance: f64, selected: Selected) -> Self {
        Self {
            tolerance,
            unit: selected.unit,
            selected: Some(selected),
        }
    }

    /// Returns the instruction scopes that are compared: the selected one, or both.
    fn parts(&self) -> &[InstructionScope] {
        match &self.selected {
            Some(selected) => slice::from_ref(&selected.part),
            None => &InstructionScope::BOTH,
        }
    }
}

impl Comparison for FigureComparison {
    type Measurement = Profile;
    type Record = CommitFigures;
    type Change = PhaseChange;

    fn record(&self, profile: Profile) -> Result<CommitFigures> {
        let counted = match self.unit {
            Some(event) => profile.count_event(event)?,
            None => profile,
        };
        Ok(counted.into())
    }

    fn value(&self, commit: &CommitFigures) -> Option<f64> {
        self.selected.as_ref()?.value_in(commit)
    }

    fn tolerance(&self) -> f64 {
        self.tolerance
    }

    fn changes(&self, old: &CommitFigures, new: &CommitFigures) -> Vec<PhaseChange> {
        let (Some(old), Some(new)) = (&old.profile, &new.profile) else {
            return Vec::new();
        };
        let mut changes = changes(old, new);
        if let Some(selected) = &self.selected {
            changes.retain(|change| change.figure_name == selected.figure);
        }
        changes
    }

    /// The jumps of a bisection have already been found.
    fn is_jump(&self, change: &PhaseChange) -> bool {
        self.selected.is_some() || change.exceeds(&InstructionScope::BOTH, self.tolerance)
    }

    fn is_worse(&self, change: &PhaseChange) -> bool {
        change.is_larger(self.parts(), self.tolerance)
    }

    fn difference(&self, change: &PhaseChange) -> Option<f64> {
        let [old, new] = change.both(self.selected.as_ref()?.part)?;
        Some(new - old)
    }

    fn missing(&self, first: &CommitFigures, end: &CommitFigures) -> Option<String> {
        for change in self.changes(first, end) {
            // A phase that no longer occurs in the calls is considered measured, but a phase in a
            // skipped scenario is not.
            let is_missing = match self.selected {
                Some(_) => change.new.figure().is_none(),
                None => change.new == PhaseSide::NotMeasured,
            };
            if is_missing {
                return Some(format!("{} figure", change.figure_name));
            }
        }
        None
    }
}

impl CommitLedger<FigureComparison> {
    /// Returns the figures that are larger at the end of the range than at the start.
    pub fn larger(&self) -> impl Iterator<Item = &PhaseChange> {
        let changes = self.whole.iter();
        changes.filter(|change| self.comparison.is_worse(change))
    }

    /// Returns an error if the first commit was measured but does not have the selected figure.
    pub fn check_figure(&self) -> Result<()> {
        if let Some(selected) = &self.comparison.selected
            && let Some(first) = self.entries.first()
            && first.failure.is_none()
            && selected.value_in(&first.record).is_none()
        {
            bail!(
                "{}: unknown figure; the figures are {}",
                selected.figure,
                first.record.figures.keys().join(", ")
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commits::ledger::{LedgerEntry, compare_neighbors};
    use crate::commits::ledger_export::{self, LedgerFormat, LedgerText as _};
    use runner::build::checkout::Commit;

    type Entry = LedgerEntry<CommitFigures>;

    fn entry(commit: Commit, profile: Profile) -> Entry {
        Entry {
            commit,
            record: profile.into(),
            ..Entry::default()
        }
    }

    /// Returns an entry for each pair of sums over two calls: the CPU's own instructions, and the
    /// instructions of all CPUs.
    fn entries(sums: &[(u64, u64)]) -> Vec<Entry> {
        let entries = sums
            .iter()
            .enumerate()
            .map(|(place, (own_cost, total_cost))| {
                let commit = Commit {
                    id: format!("c{place}"),
                    ..Commit::default()
                };
                entry(
                    commit,
                    Profile::synthetic(&[("s", "entry", *own_cost, *total_cost)]),
                )
            });
        entries.collect()
    }

    fn comparison(selected: Option<&str>) -> FigureComparison {
        match selected {
            Some(name) => FigureComparison::one(0.01, Selected::parse(name)),
            None => FigureComparison::all(0.01, None),
        }
    }

    fn without_jumps(
        entries: Vec<Entry>,
        selected: Option<&str>,
    ) -> CommitLedger<FigureComparison> {
        CommitLedger::new("a..b", comparison(selected), entries, Vec::new())
    }

    fn with_jumps(
        entries: Vec<Entry>,
        comparison: FigureComparison,
    ) -> CommitLedger<FigureComparison> {
        let jumps = compare_neighbors(&comparison, &entries);
        CommitLedger::new("a..b", comparison, entries, jumps)
    }

    fn text(ledger: &CommitLedger<FigureComparison>) -> String {
        let mut text = Vec::new();
        ledger_export::write(LedgerFormat::Text, ledger, &mut text).expect("written");
        String::from_utf8(text).expect("UTF-8")
    }

    #[test]
    fn tables_have_waiting_and_no_figure_of_what_was_not_measured() {
        let text = |entries: Vec<Entry>| text(&without_jumps(entries, None));
        let cells = |text: &str| {
            let mut lines = text.lines().map(str::trim_start);
            let row = lines.find(|line| line.starts_with("s:entry"));
            let words = row.expect("a row").split("  ").map(str::trim);
            words.filter(|word| !word.is_empty()).join(" | ")
        };
        let figures = [(2788, 63_434), (1544, 943_026)];
        let table = text(entries(&figures));
        let row = "s:entry | 1394 | 772 | 31717 | 471513 | +440418 | 0";
        assert_eq!(cells(&table), row, "{table}");
        let other_scenario = Profile::synthetic(&[("t", "entry", 2000, 2000)]);
        let mut skipped = entries(&figures);
        skipped.push(entry(Commit::default(), other_scenario));
        let table = text(skipped);
        let row = "s:entry | 1394 | not measured | 31717 | not measured | 0";
        assert_eq!(cells(&table), row, "{table}");
    }

    #[test]
    fn end_that_is_larger_is_never_well() {
        // Each individual jump is within the tolerance.
        let sums: Vec<(u64, u64)> = (0..5)
            .map(|commit| (2000 + 16 * commit, 2000 + 16 * commit))
            .collect();
        let crept = without_jumps(entries(&sums), None);
        assert!(crept.is_worse() && crept.lack().is_none());
        let expected = "larger at the end of the range: s:entry";
        assert_eq!(crept.conclusion(), ["no jump", expected]);
        // The CPU executes fewer instructions itself, but waits longer.
        for (figure, is_worse) in [("s:entry", false), ("s:entry:all", true)] {
            let all = entries(&[(2788, 63_434), (1544, 943_026)]);
            let waits = without_jumps(all, Some(figure));
            assert_eq!(waits.is_worse(), is_worse, "{figure}");
        }
        let all = entries(&[(2788, 63_434), (1544, 943_026)]);
        let waits = without_jumps(all, None);
        assert!(waits.is_worse());
    }

    #[test]
    fn end_without_a_figure_is_never_well() {
        let mut lost = entries(&[(2000, 2000), (2000, 2000)]);
        lost[1].failure = Some("does not build".to_owned());
        let lack = without_jumps(lost, None).lack();
        let expected = "the last commit cannot be measured: see above";
        assert_eq!(lack.as_deref(), Some(expected));
        for selected in [None, Some("s:entry")] {
            let mut skipped = entries(&[(2000, 2000)]);
            let profile = Profile::synthetic(&[("t", "entry", 2000, 2000)]);
            skipped.push(entry(Commit::default(), profile));
            let ledger = without_jumps(skipped, selected);
            let expected = "the last commit has no s:entry figure";
            assert_eq!(ledger.lack().as_deref(), Some(expected));
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
            entry.record.figures.insert("s:other".to_owned(), other);
        }
        let comparison = FigureComparison {
            unit,
            ..comparison(Some("s:entry"))
        };
        let ledger = with_jumps(entries, comparison);
        text(&ledger) + &ledger.conclusion().join("\n")
    }

    #[test]
    fn range_that_falls_has_a_largest_decrease() {
        let text = bisection(&[(200, 200), (216, 216), (158, 158)], None);
        let decrease = "largest decrease: c2 (-29): 138.1 % of the total change";
        assert!(text.ends_with(decrease), "{text}");
        let opposite = "(+8.00 %): 38.1 % of the total change, in the opposite direction";
        assert!(text.contains(opposite), "{text}");
    }

    #[test]
    fn figure_that_is_not_bisected_is_not_searched() {
        let text = bisection(&[(200, 200), (216, 216), (158, 158)], None);
        let row = |name: &str| text.lines().find(|line| line.trim().starts_with(name));
        let [entry, other] = ["s:entry", "s:other"].map(|name| row(name).expect("a row"));
        assert!(
            entry.ends_with('2') && other.ends_with("not searched"),
            "{text}"
        );
    }

    #[test]
    fn tables_of_events_are_not_of_instructions() {
        let text = bisection(&[(200, 200), (216, 216)], Some(Event::Isb));
        assert!(
            text.contains("(a CPU's own ISB instructions, and all CPUs')"),
            "{text}"
        );
        assert!(!text.contains("PMF's ticks"), "{text}");
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
    fn jump_has_its_share_of_the_whole_change() {
        let entries = entries(&[(2572, 2572), (2078, 2078), (3340, 3340)]);
        let ledger = with_jumps(entries, comparison(Some("s:entry")));
        let shares: Vec<_> = ledger
            .jumps
            .iter()
            .map(|jump| jump.share_of_whole)
            .collect();
        assert_eq!(shares, [Some(-247.0 / 384.0), Some(631.0 / 384.0)]);
        let lines = ledger.conclusion();
        assert_eq!(
            lines[1..],
            [
                "jump: c2 : 1039 -> 1670 (+60.73 %): 164.3 % of the total change",
                "whole range: s:entry, own instructions: 1286 -> 1670 (+29.86 %)",
                "largest increase: c2 (+631): 164.3 % of the total change",
            ]
        );
        assert!(ledger.is_worse());
    }

    #[test]
    fn json_has_the_fields_of_the_comparison_and_of_the_figures() {
        let mut failed = entries(&[(200, 200)]);
        failed.push(Entry {
            failure: Some("does not build".to_owned()),
            ..Entry::default()
        });
        let ledger = without_jumps(failed, None);
        let mut json = Vec::new();
        ledger_export::write(LedgerFormat::Json, &ledger, &mut json).expect("written");
        let expected = r#"{"range":"a..b","tolerance":0.01,"selected":null,"entries":[{"commit":{"id":"c0","title":""},"failure":null,"same_as":null,"figures":{"s:entry":{"own":100.0,"all":100.0}}},{"commit":{"id":"","title":""},"failure":"does not build","same_as":null,"figures":{}}],"jumps":[],"whole":[]}"#;
        assert_eq!(String::from_utf8_lossy(&json), expected);
    }
}
