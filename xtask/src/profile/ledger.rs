//! A ledger: the figures of each commit of a range, and the commits that changed them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::slice;

use anyhow::{Context, Result, bail};
use host::files;
use host::interrupt;
use host::process;
use host::progress::say;
use itertools::Itertools as _;
use report::log::untrusted_text::plain;
use report::profile::difference::{InstructionScope, PhaseChange, PhaseSide, changes};
use report::profile::profile::{PhaseFigure, Profile, ProfilePhase};
use serde::Serialize;
use thiserror::Error;

use super::bisect::find_steps;
use super::checkout::{self, Commit};
use super::run::ProfiledRun;
use crate::qemu::run_result::RunResult;
use crate::qemu::run_spec::RunSpec;
use crate::setup::scratch::Scratch;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need};

/// A commit and its measurements.
#[derive(Debug, Default, Serialize)]
pub struct LedgerEntry {
    /// The commit.
    pub commit: Commit,
    /// Why it has no profile; None if it has one.
    pub failure: Option<String>,
    /// The earlier commit whose firmware is identical.
    pub same_as: Option<Commit>,
    /// The figures by name, `SCENARIO:PHASE`.
    pub figures: BTreeMap<String, PhaseFigure>,
    #[serde(skip)]
    profile: Option<Profile>,
}

impl LedgerEntry {
    fn measured(commit: Commit, same_as: Option<Commit>, mut profile: Profile) -> Self {
        // The phases of each CPU are kept in a file, not in memory for every commit.
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

/// Why a commit has no profile.
#[derive(Debug, Error)]
enum NoProfile {
    /// It cannot be built; contains the compiler's error line.
    #[error("{0}")]
    NotBuilt(String),
    /// Its run did not pass.
    #[error("{0}")]
    NotPassed(String),
    /// The record of its run is incomplete.
    #[error("{0}")]
    Damaged(String),
}

/// A commit that changed figures by more than the tolerance.
#[derive(Debug, Serialize)]
pub struct LedgerStep {
    /// The commit.
    pub commit: Commit,
    /// The last measured commit before it.
    pub since: Commit,
    /// The phases.
    pub changes: Vec<PhaseChange>,
    /// For a bisection: its share of the change over the whole range. The share is negative if the
    /// change goes in the opposite direction, and more than 1 if other commits partly reverse the
    /// change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_of_whole: Option<f64>,
}

/// The figure of a bisection, as given by the user: `SCENARIO:PHASE` for the CPU's own
/// instructions, `SCENARIO:PHASE:all` for those of all CPUs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Selected {
    /// The figure's name.
    pub figure: String,
    /// Whose instructions count.
    pub part: InstructionScope,
}

impl Selected {
    /// Parses a name.
    pub fn parse(name: &str) -> Self {
        let name = name.replace(' ', "-");
        let (figure, part) = match name.strip_suffix(":all") {
            Some(figure) => (figure, InstructionScope::All),
            None => (name.as_str(), InstructionScope::Own),
        };
        Self {
            figure: figure.to_owned(),
            part,
        }
    }

    fn of(&self, entry: &LedgerEntry) -> Option<f64> {
        self.part.of(*entry.figures.get(&self.figure)?)
    }
}

/// The figures over a range of commits.
#[derive(Debug, Serialize)]
pub struct CommitLedger {
    /// The range, as given by the user.
    pub range: String,
    /// The share of a figure up to which a difference is not a step.
    pub tolerance: f64,
    /// The figure of a bisection; None if all commits were measured.
    pub selected: Option<Selected>,
    /// The commits, in order; for a bisection, those that were measured.
    pub entries: Vec<LedgerEntry>,
    /// The steps.
    pub steps: Vec<LedgerStep>,
    /// The changes from the first commit to the last; empty if one of them was not measured.
    pub whole: Vec<PhaseChange>,
}

/// Measures commits of a checkout.
#[derive(Debug)]
pub struct LedgerBench {
    checkout: PathBuf,
    spec: RunSpec,
    commits: Vec<Commit>,
    workspace: Workspace,
    /// The first commit with each run identity.
    seen: BTreeMap<String, Commit>,
}

impl LedgerBench {
    /// Prepares for the commits in `range` of the checkout named by `spec`.
    pub fn new(spec: &RunSpec, range: &str, first_parent: bool) -> Result<Self> {
        let checkout = spec.tf_a.clone();
        let checkout = checkout.context("name the checkout of TF-A by --tf-a DIR")?;
        if !checkout.join(".git").exists() {
            let at = checkout.display();
            bail!("--tf-a {at}: this is no checkout: there is no .git in it");
        }
        if spec.variant.has("pmf=off") {
            bail!("--variant pmf=off: ledgers are of PMF's phases");
        }
        let commits = checkout::commits(&checkout, range, first_parent)?;
        if checkout::has_changes(&checkout)? {
            let at = checkout.display();
            say(&format!(
                "warning: --tf-a {at}: its uncommitted changes are not measured: ledgers are of commits"
            ));
        }
        let workspace = Workspace::find()?;
        // A later failure for a commit is then caused by that commit.
        setup::ensure(&workspace, &[Need::Qemu, Need::CrossCompiler, Need::Make])?;
        Ok(Self {
            commits,
            checkout,
            spec: spec.clone(),
            workspace,
            seen: BTreeMap::new(),
        })
    }

    /// Measures the commit at `place`. If it cannot be built or run, the entry says so.
    fn measure(&mut self, place: usize) -> Result<LedgerEntry> {
        let commit = self.commits[place].clone();
        let (number, all, id) = (place + 1, self.commits.len(), commit.short());
        say(&format!("{number}/{all} {id} {}", commit.title));
        let (identity, profile) = match self.profile(&commit)? {
            Ok(measured) => measured,
            Err(failure) => {
                say(&format!("  skipped: {failure}"));
                let failure = Some(failure.to_string());
                return Ok(LedgerEntry {
                    commit,
                    failure,
                    ..LedgerEntry::default()
                });
            }
        };
        let same_as = self.seen.get(&identity).cloned();
        self.seen.entry(identity).or_insert_with(|| commit.clone());
        Ok(LedgerEntry::measured(commit, same_as, profile))
    }

    /// Returns the identity of a commit's run and its profile, stored or measured, or the reason
    /// why this commit cannot be measured.
    fn profile(&self, commit: &Commit) -> Result<Result<(String, Profile), NoProfile>> {
        interrupt::check()?;
        let source = Scratch::new(&self.workspace)?;
        checkout::unpack(&self.checkout, commit, source.path())?;
        let mut spec = self.spec.clone();
        spec.tf_a = Some(source.path().to_path_buf());
        let run = match ProfiledRun::prepare(&spec, None) {
            Ok(run) => run,
            Err(error) => {
                interrupt::check()?;
                return failure_of_commit(error).map(Err);
            }
        };
        let identity = run.identity.clone();
        let folder = self.workspace.state().join("ledger");
        let place = folder.join(&identity).with_added_extension("json");
        // A stored profile in another format is measured again.
        let kept = fs::read(&place).ok();
        if let Some(profile) = kept.and_then(|it| Profile::from_json(&it).ok()) {
            return Ok(Ok((identity, profile)));
        }
        let (result, profile) = run.run(None)?;
        interrupt::check()?;
        let profile = match profile_of_run(&result, profile) {
            Ok(profile) => profile,
            Err(failure) => return Ok(Err(failure)),
        };
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let write = |out: &mut dyn io::Write| Ok(serde_json::to_writer(out, &profile)?);
        files::write_by(("the ledger's", &place), write)?;
        Ok(Ok((identity, profile)))
    }

    /// Measures all commits.
    pub fn ledger(mut self, range: &str, tolerance: f64) -> Result<CommitLedger> {
        let entries = (0..self.commits.len()).map(|place| self.measure(place));
        let entries: Vec<LedgerEntry> = entries.collect::<Result<_>>()?;
        let measured = entries.iter().filter(|it| it.profile.is_some());
        let mut steps: Vec<LedgerStep> = measured.tuple_windows().filter_map(step).collect();
        for step in &mut steps {
            step.changes
                .retain(|it| it.exceeds(&InstructionScope::BOTH, tolerance));
        }
        steps.retain(|it| !it.changes.is_empty());
        Ok(CommitLedger::new((range, tolerance), None, entries, steps))
    }

    /// Finds the commits at which a figure changes, by bisection.
    pub fn bisect(
        mut self,
        range: &str,
        tolerance: f64,
        selected: Selected,
    ) -> Result<CommitLedger> {
        let mut entries = BTreeMap::new();
        let places = find_steps(self.commits.len(), tolerance, |place| {
            let entry = self.measure(place)?;
            let figure = selected.of(&entry);
            if place == 0 && entry.failure.is_none() && figure.is_none() {
                let (name, known) = (&selected.figure, entry.figures.keys().join(", "));
                bail!("{name}: there is no such figure; there are {known}");
            }
            entries.insert(place, entry);
            Ok(figure)
        })?;
        let steps = places.iter();
        let steps = steps.filter_map(|(old, new)| step((&entries[old], &entries[new])));
        let steps = steps.collect();
        let entries = entries.into_values().collect();
        Ok(CommitLedger::new(
            (range, tolerance),
            Some(selected),
            entries,
            steps,
        ))
    }
}

impl CommitLedger {
    fn new(
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
                let shares = change(&step.changes).zip(change(&whole));
                step.share_of_whole = shares.filter(|it| it.1 != 0.0).map(|(own, all)| own / all);
            }
        }
        Self {
            range: range.to_owned(),
            tolerance,
            selected,
            entries,
            steps,
            whole,
        }
    }

    /// Returns the parts of the figures that count.
    pub fn parts(&self) -> &[InstructionScope] {
        match &self.selected {
            Some(selected) => slice::from_ref(&selected.part),
            None => &InstructionScope::BOTH,
        }
    }

    /// Returns why the first commit cannot be compared with the last.
    pub fn lack(&self) -> Option<String> {
        for (end, name) in [
            (self.entries.first(), "first"),
            (self.entries.last(), "last"),
        ] {
            if end.is_none_or(|it| it.profile.is_none()) {
                return Some(format!("the {name} commit cannot be measured: see above"));
            }
        }
        // A phase that calls no longer have was measured, unlike a scenario that was not.
        let is_gone = |it: &&PhaseChange| it.new == PhaseSide::NotMeasured;
        let is_lacking = |it: &&PhaseChange| self.selected.is_some() && it.new.figure().is_none();
        let mut whole = self.whole.iter();
        let gone = whole.find(|it| is_gone(it) || is_lacking(it))?;
        let figure = &gone.figure;
        Some(format!("the last commit has no figure of {figure}"))
    }

    /// Returns the figures that are larger at the end of the range than at its start.
    pub fn larger(&self) -> impl Iterator<Item = &PhaseChange> {
        let is_larger = |it: &&PhaseChange| it.is_larger(self.parts(), self.tolerance);
        self.whole.iter().filter(is_larger)
    }

    /// Returns true if a commit or the whole range increases a figure.
    pub fn is_worse(&self) -> bool {
        let mut changes = self.steps.iter().flat_map(|it| &it.changes);
        let is_larger = |it: &PhaseChange| it.is_larger(self.parts(), self.tolerance);
        changes.any(is_larger) || self.larger().next().is_some()
    }
}

/// Returns why a commit cannot be built.
///
/// # Errors
/// If the reason is a full disk, which is not the commit's fault.
fn failure_of_commit(error: anyhow::Error) -> Result<NoProfile> {
    if process::is_storage_full(&error) {
        return Err(error);
    }
    Ok(NoProfile::NotBuilt(short(&error)))
}

/// Returns the profile of a run that passed. Otherwise returns the reason why there is none, which
/// must be the same each time the commit is measured.
fn profile_of_run(
    result: &RunResult,
    profile: Option<Result<Profile>>,
) -> Result<Profile, NoProfile> {
    match profile {
        Some(profile) if result.exit_code() == 0 => {
            profile.map_err(|error| NoProfile::Damaged(short(&error)))
        }
        _ => Err(NoProfile::NotPassed(result.reason())),
    }
}

/// Returns the line with the compiler's error if there is one, otherwise the first line.
fn short(error: &anyhow::Error) -> String {
    let failure = format!("{error:#}");
    let of_compiler = failure.lines().find(|line| line.contains("error: "));
    let line = of_compiler.or(failure.lines().next());
    plain(line.unwrap_or(&failure).trim())
}

/// Returns the changes in all phases from one entry to another, if both were measured.
fn step((since, entry): (&LedgerEntry, &LedgerEntry)) -> Option<LedgerStep> {
    Some(LedgerStep {
        commit: entry.commit.clone(),
        since: since.commit.clone(),
        changes: changes(since.profile.as_ref()?, entry.profile.as_ref()?),
        share_of_whole: None,
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use anyhow::anyhow;
    use report::follow::stream::MachineEnding;
    use run::model::Verdict;

    use super::*;
    use crate::profile::ledger_export::{self, LedgerFormat, conclusion};

    /// Returns entries with the sums of two calls: own instructions, and those of all CPUs.
    fn entries(sums: &[(u64, u64)]) -> Vec<LedgerEntry> {
        let entries = sums.iter().enumerate().map(|(place, (own, all))| {
            let commit = Commit {
                id: format!("c{place}"),
                title: String::new(),
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
    fn full_disk_is_no_failure_of_a_commit() {
        let failed = |said: &str| {
            let mut command = Command::new("sh");
            command
                .args(["-c", "echo \"$SAID\" >&2; exit 1"])
                .env("SAID", said);
            let error = process::output(&mut command);
            failure_of_commit(error.expect_err("exit code 1").context("make"))
        };
        let of_commit = failed("making bl31\na.c:1:2: error: expected ';'").expect("a reason");
        assert_eq!(of_commit.to_string(), "a.c:1:2: error: expected ';'");
        let full = failed("cc1: error: a.o: No space left on device").expect_err("a full disk");
        assert_eq!(full.to_string(), "make");
        let own = io::Error::from(io::ErrorKind::StorageFull);
        let full = failure_of_commit(anyhow!(own).context("unpacking"));
        assert_eq!(full.expect_err("a full disk").to_string(), "unpacking");
    }

    #[test]
    fn failure_of_a_run_does_not_contain_its_time() {
        let run = |verdict, seconds| RunResult {
            log: Vec::new(),
            verdict,
            ending: MachineEnding::TimedOut,
            diagnosis: Some("no closing line within 7 s".to_owned()),
            positions: Vec::new(),
            elapsed: Duration::from_secs(seconds),
        };
        let failures = [7, 8].map(|seconds| {
            let hung = run(Verdict::Incomplete, seconds);
            profile_of_run(&hung, None)
                .expect_err("no verdict")
                .to_string()
        });
        assert_eq!(failures, ["INCOMPLETE: no closing line within 7 s"; 2]);
        let passed = run(Verdict::Pass, 1);
        let cut = profile_of_run(&passed, Some(Err(anyhow!("the record is cut"))));
        assert_eq!(
            cut.expect_err("no profile").to_string(),
            "the record is cut"
        );
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
        // Each single step is within the tolerance.
        let crept: Vec<(u64, u64)> = (0..5).map(|it| (2000 + 16 * it, 2000 + 16 * it)).collect();
        let crept = ledger(entries(&crept), None, Vec::new());
        assert!(crept.is_worse() && crept.lack().is_none());
        let said = "larger at the end of the range: s:entry";
        assert_eq!(conclusion(&crept), ["no step", said]);
        // Fewer own instructions, but more waiting.
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
            let said = "the last commit has no figure of s:entry";
            assert_eq!(other.lack().as_deref(), Some(said));
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
                "step: c2 : 1039 -> 1670 (+60.73 %): 164.3 % of the whole change",
                "whole range: s:entry, own instructions: 1286 -> 1670 (+29.86 %)",
                "largest increase: c2, by +631: 164.3 % of the whole change",
            ]
        );
        assert!(ledger.is_worse());
    }
}
