//! A ledger: the figures of each commit of a range, and the commits that changed them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use itertools::Itertools as _;
use serde::Serialize;

use super::checkout::{self, Commit};
use super::difference::{PhaseChange, changes};
use super::profile::{Phase, Profile};
use super::run::ProfiledRun;
use crate::qemu::run_spec::RunSpec;
use crate::setup::progress::say;
use crate::setup::scratch::Scratch;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, files, interrupt};

/// A commit with what was measured of it.
#[derive(Debug, Default, Serialize)]
pub struct Entry {
    /// The commit.
    pub commit: Commit,
    /// The reason why there is no profile of it; None where there is one.
    pub failure: Option<String>,
    /// The commit before whose firmware is the same.
    pub same_as: Option<Commit>,
    /// Instructions of a mean call by `SCENARIO:PHASE`.
    pub figures: BTreeMap<String, f64>,
    #[serde(skip)]
    profile: Option<Profile>,
}

/// A commit by which figures changed by more than the tolerance.
#[derive(Debug, Serialize)]
pub struct Step {
    /// The commit.
    pub commit: Commit,
    /// The last one before it that was measured.
    pub since: Commit,
    /// The phases.
    pub changes: Vec<PhaseChange>,
}

/// The figures over a range of commits.
#[derive(Debug, Serialize)]
pub struct Ledger {
    /// The range as it was given.
    pub range: String,
    /// The share of a figure below which a difference is no step.
    pub tolerance: f64,
    /// The commits, in their order; those of a bisection are the ones that were measured.
    pub entries: Vec<Entry>,
    /// The steps.
    pub steps: Vec<Step>,
}

/// Measures commits of a checkout.
#[derive(Debug)]
pub struct Bench {
    checkout: PathBuf,
    spec: RunSpec,
    commits: Vec<Commit>,
    workspace: Workspace,
    /// The first commit of each identity of a run.
    seen: BTreeMap<String, Commit>,
}

impl Bench {
    /// Prepares for the commits `range` of the checkout that `spec` names.
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
        let workspace = Workspace::find()?;
        // What fails for a commit later is the commit's.
        setup::ensure(&workspace, &[Need::Qemu, Need::CrossCompiler, Need::Make])?;
        Ok(Self {
            commits: checkout::commits(&checkout, range, first_parent)?,
            checkout,
            spec: spec.clone(),
            workspace,
            seen: BTreeMap::new(),
        })
    }

    /// Measures the commit at `place`. Where it cannot be built or run, the entry says so.
    fn measure(&mut self, place: usize) -> Result<Entry> {
        let commit = self.commits[place].clone();
        let (number, all, id) = (place + 1, self.commits.len(), commit.short());
        say(&format!("{number}/{all} {id} {}", commit.title));
        let (identity, mut profile) = match self.profile(&commit)? {
            Ok(measured) => measured,
            Err(failure) => {
                say(&format!("  skipped: {failure}"));
                let failure = Some(failure);
                return Ok(Entry {
                    commit,
                    failure,
                    ..Entry::default()
                });
            }
        };
        let same_as = self.seen.get(&identity).cloned();
        self.seen.entry(identity).or_insert_with(|| commit.clone());
        // Those of each CPU are kept in a file, and not in memory for every commit.
        profile.phases = profile.merged();
        let figure = |it: &Phase| (it.figure_name(), it.mean(it.own()));
        Ok(Entry {
            commit,
            failure: None,
            same_as,
            figures: profile.phases.iter().map(figure).collect(),
            profile: Some(profile),
        })
    }

    /// Returns the identity of a commit's run and its profile, as it was kept or measured; or
    /// the reason why this commit cannot be measured.
    fn profile(&self, commit: &Commit) -> Result<Result<(String, Profile), String>> {
        interrupt::check()?;
        let source = Scratch::new(&self.workspace)?;
        checkout::unpack(&self.checkout, commit, source.path())?;
        let mut spec = self.spec.clone();
        spec.tf_a = Some(source.path().to_path_buf());
        let run = match ProfiledRun::prepare(&spec, None) {
            Ok(run) => run,
            Err(error) => {
                interrupt::check()?;
                let failure = format!("{error:#}");
                // Of the machine, and not of the commit.
                return match failure.contains("No space left") {
                    true => Err(error),
                    false => Ok(Err(short(&failure))),
                };
            }
        };
        let identity = run.identity.clone();
        let folder = self.workspace.state().join("ledger");
        let place = folder.join(&identity).with_added_extension("json");
        // One of another format is measured again.
        let kept = fs::read(&place).ok();
        if let Some(profile) = kept.and_then(|it| Profile::from_json(&it).ok()) {
            return Ok(Ok((identity, profile)));
        }
        let (result, profile) = run.run(None)?;
        interrupt::check()?;
        let profile = match profile {
            Some(profile) if result.exit_code() == 0 => profile,
            _ => return Ok(Err(result.line())),
        };
        let profile = match profile {
            Ok(profile) => profile,
            Err(error) => return Ok(Err(short(&format!("{error:#}")))),
        };
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let write = |out: &mut dyn io::Write| Ok(serde_json::to_writer(out, &profile)?);
        files::write_by(("the ledger's", &place), write)?;
        Ok(Ok((identity, profile)))
    }

    /// Measures all commits.
    pub fn ledger(mut self, range: &str, tolerance: f64) -> Result<Ledger> {
        let entries = (0..self.commits.len()).map(|place| self.measure(place));
        Ledger::new(range, tolerance, entries.collect::<Result<_>>()?)
    }

    /// Finds the first commit at which `figure` differs from that of the first, by halves.
    pub fn bisect(mut self, range: &str, tolerance: f64, figure: &str) -> Result<Ledger> {
        let differs = |first: &Entry, entry: &Entry| {
            let of = |entry: &Entry| entry.figures.get(figure).copied();
            let Some(old) = of(first) else {
                let known = first.figures.keys().join(", ");
                bail!("--bisect {figure}: there is no such figure; there are {known}");
            };
            Ok((of(entry).unwrap_or(0.0) - old).abs() > tolerance * old)
        };
        let count = self.commits.len();
        let (entries, found) = bisect(count, |place| self.measure(place), differs)?;
        let step = found.and_then(|(old, new)| step(&entries[&old], &entries[&new], 0.0));
        let mut ledger = Ledger::new(range, tolerance, entries.into_values().collect())?;
        ledger.steps = step.into_iter().collect();
        for step in &mut ledger.steps {
            step.changes.retain(|it| it.figure == figure);
        }
        Ok(ledger)
    }
}

impl Ledger {
    fn new(range: &str, tolerance: f64, entries: Vec<Entry>) -> Result<Self> {
        let measured = entries.iter().filter(|it| it.profile.is_some());
        let pairs = measured.tuple_windows();
        let steps = pairs
            .filter_map(|(since, entry)| step(since, entry, tolerance))
            .collect();
        let range = range.to_owned();
        Ok(Self {
            range,
            tolerance,
            entries,
            steps,
        })
    }

    /// Returns true if the first and the last commit were measured.
    pub fn is_complete(&self) -> bool {
        let ends = [self.entries.first(), self.entries.last()];
        ends.iter().flatten().all(|it| it.profile.is_some())
    }
}

/// Returns the line of a compiler's error, if there is one, else the first line.
fn short(failure: &str) -> String {
    let of_compiler = failure.lines().find(|line| line.contains("error: "));
    let line = of_compiler.or(failure.lines().next());
    line.unwrap_or_default().trim().to_owned()
}

/// Returns what changed from one entry to another; None without a step.
fn step(since: &Entry, entry: &Entry, tolerance: f64) -> Option<Step> {
    let mut changes = changes(since.profile.as_ref()?, entry.profile.as_ref()?);
    changes.retain(|it| it.share().abs() > tolerance);
    let (commit, since) = (entry.commit.clone(), since.commit.clone());
    (!changes.is_empty()).then_some(Step {
        commit,
        since,
        changes,
    })
}

/// The entries that were measured, by place, and the step: the places of the last one with the
/// old figure and of the first one with another.
type Found = (BTreeMap<usize, Entry>, Option<(usize, usize)>);

/// Finds the first of `count` entries that `differs` from the first of all. Entries that cannot
/// be measured are passed over.
fn bisect(
    count: usize,
    mut measure: impl FnMut(usize) -> Result<Entry>,
    differs: impl Fn(&Entry, &Entry) -> Result<bool>,
) -> Result<Found> {
    let first = measure(0)?;
    if let Some(failure) = &first.failure {
        bail!("the first commit cannot be measured: {failure}");
    }
    // Refuses an unknown figure before anything else is built.
    differs(&first, &first)?;
    let mut entries = BTreeMap::from([(0, first)]);
    let (mut old, mut new) = (0, count);
    loop {
        // The middle, or the nearest one that was not tried.
        let untried = (old + 1..new).filter(|it| !entries.contains_key(it));
        let Some(place) = untried.min_by_key(|it| it.abs_diff((old + new) / 2)) else {
            return Ok((entries, (new < count).then_some((old, new))));
        };
        let entry = measure(place)?;
        if entry.failure.is_none() {
            let is_new = differs(&entries[&0], &entry)?;
            *(if is_new { &mut new } else { &mut old }) = place;
        }
        entries.insert(place, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bisection_measures_five_of_sixteen() {
        // The first that differs, and those that cannot be measured.
        let whole = (1..16).map(|changed| (changed, 16..16));
        for (changed, broken) in whole.chain([(12, 4..12)]) {
            let measure = |place: usize| {
                let failure = broken.contains(&place).then(String::new);
                let figures = BTreeMap::from([((place < changed).to_string(), 0.0)]);
                Ok(Entry {
                    failure,
                    figures,
                    ..Entry::default()
                })
            };
            let found = bisect(16, measure, |first, entry| {
                Ok(first.figures != entry.figures)
            });
            let (found, step) = found.expect("a step");
            let last = if broken.contains(&(changed - 1)) {
                broken.start
            } else {
                changed
            };
            assert_eq!(step, Some((last - 1, changed)));
            assert!(
                found.len() - broken.len() <= 5,
                "{changed}: {:?}",
                found.keys()
            );
        }
    }
}
