//! A ledger: the figures of each commit of a range, and the commits that changed them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::checkout::{self, Commit};
use super::difference::{PhaseChange, changes};
use super::profile::Profile;
use super::run::ProfiledRun;
use crate::qemu::run_spec::RunSpec;
use crate::qemu::screen::Screen;
use crate::setup::progress::{Progress, say};
use crate::setup::scratch::Scratch;
use crate::setup::workspace::Workspace;
use crate::setup::{files, interrupt};

/// A commit with what was measured of it.
#[derive(Debug, Serialize)]
pub struct Entry {
    /// The commit.
    pub commit: Commit,
    /// The reason why there is no profile of it; None where there is one.
    pub failure: Option<String>,
    /// The commit before whose firmware is the same.
    pub same_as: Option<String>,
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
    seen: BTreeMap<String, String>,
    interrupt: &'static AtomicBool,
}

impl Bench {
    /// Prepares for the commits `range` of the checkout that `spec` names.
    pub fn new(spec: &RunSpec, range: &str, first_parent: bool) -> Result<Self> {
        let checkout = spec.tf_a.clone();
        let checkout = checkout.context("name the checkout of TF-A by --tf-a DIR")?;
        if !checkout.join(".git").exists() {
            bail!(
                "--tf-a {}: this is no checkout: there is no .git in it",
                checkout.display()
            );
        }
        Ok(Self {
            commits: checkout::commits(&checkout, range, first_parent)?,
            checkout,
            spec: spec.clone(),
            workspace: Workspace::find()?,
            seen: BTreeMap::new(),
            interrupt: interrupt::watch()?,
        })
    }

    /// Measures the commit at `place`. Where it cannot be built or run, the entry says so.
    fn measure(&mut self, place: usize) -> Result<Entry> {
        interrupt::check()?;
        let commit = self.commits[place].clone();
        let (number, all) = (place + 1, self.commits.len());
        say(&format!(
            "{number}/{all} {} {}",
            commit.short(),
            commit.title
        ));
        let measured = self.profile(&commit);
        interrupt::check()?;
        let mut entry = Entry {
            commit,
            failure: None,
            same_as: None,
            figures: BTreeMap::new(),
            profile: None,
        };
        match measured {
            Ok((identity, profile)) => {
                let phases = profile.merged();
                let figures = phases
                    .iter()
                    .map(|it| (it.figure_name(), it.mean(it.own())));
                entry.figures = figures.collect();
                entry.profile = Some(profile);
                entry.same_as = self.seen.get(&identity).cloned();
                let id = entry.commit.id.clone();
                self.seen.entry(identity).or_insert(id);
            }
            Err(error) => {
                let failure = short(&format!("{error:#}"));
                say(&format!("  skipped: {failure}"));
                entry.failure = Some(failure);
            }
        }
        Ok(entry)
    }

    /// Returns the identity of a commit's run and its profile: as it was kept, or measured.
    fn profile(&self, commit: &Commit) -> Result<(String, Profile)> {
        let source = Scratch::new(&self.workspace)?;
        checkout::unpack(&self.checkout, commit, source.path())?;
        let tf_a = Some(source.path().to_path_buf());
        let run = ProfiledRun::prepare(
            &RunSpec {
                tf_a,
                ..self.spec.clone()
            },
            None,
        )?;
        let identity = run.identity()?;
        let folder = self.workspace.state().join("ledger");
        let kept = folder.join(&identity).with_added_extension("json");
        // One of another format is measured again.
        if let Some(profile) = fs::read(&kept)
            .ok()
            .and_then(|it| Profile::from_json(&it).ok())
        {
            return Ok((identity, profile));
        }
        let mut out = io::sink();
        let progress = Progress::on_terminal(&format!("measuring {}", commit.short()));
        let mut screen = Screen::new(None, &mut out, Some(progress));
        let (result, profile) = run.run(self.interrupt, &mut screen)?;
        drop(screen);
        let profile = profile.with_context(|| result.line())?;
        if result.exit_code() != 0 {
            bail!("{}", result.line());
        }
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        files::write_by(("the ledger's", &kept), |out| {
            Ok(serde_json::to_writer(out, &profile)?)
        })?;
        Ok((identity, profile))
    }

    /// Measures all commits.
    pub fn ledger(mut self, range: &str, tolerance: f64) -> Result<Ledger> {
        let entries = (0..self.commits.len()).map(|place| self.measure(place));
        let entries: Vec<Entry> = entries.collect::<Result<_>>()?;
        let measured: Vec<&Entry> = entries.iter().filter(|it| it.profile.is_some()).collect();
        let steps = measured
            .windows(2)
            .filter_map(|it| step(it[0], it[1], tolerance));
        let (range, steps) = (range.to_owned(), steps.collect());
        Ok(Ledger {
            range,
            tolerance,
            entries,
            steps,
        })
    }

    /// Finds the first commit at which `figure` differs from that of the first, by halves.
    pub fn bisect(mut self, range: &str, tolerance: f64, figure: &str) -> Result<Ledger> {
        let find = bisect(
            self.commits.len(),
            |place| self.measure(place),
            |first, entry| {
                let of = |entry: &Entry| entry.figures.get(figure).copied();
                let Some((old, new)) = of(first).zip(of(entry)) else {
                    let known = first.figures.keys().cloned().collect::<Vec<_>>().join(", ");
                    bail!("--bisect {figure}: there is no such figure; there are {known}");
                };
                Ok((new - old).abs() > tolerance * old)
            },
        );
        let (entries, found) = find?;
        let step = found.and_then(|(last, first)| {
            let entry = |place: usize| entries.get(&place);
            step(entry(last)?, entry(first)?, tolerance)
        });
        let (range, entries) = (range.to_owned(), entries.into_values().collect());
        Ok(Ledger {
            range,
            tolerance,
            entries,
            steps: step.into_iter().collect(),
        })
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
    let (mut changes, _) = changes(since.profile.as_ref()?, entry.profile.as_ref()?);
    changes.retain(|it| it.share().abs() > tolerance);
    let (commit, since) = (entry.commit.clone(), since.commit.clone());
    (!changes.is_empty()).then_some(Step {
        commit,
        since,
        changes,
    })
}

/// The entries that were measured, by place, and the step: the last place of the old figure
/// and the first of the new one.
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
    // Its own figure: refuses an unknown name before anything else is built.
    differs(&first, &first)?;
    let mut entries = BTreeMap::from([(0, first)]);
    let (mut old, mut new) = (0, count);
    while new - old > 1 {
        // The middle, or the nearest one that was not tried.
        let untried = (old + 1..new).filter(|it| !entries.contains_key(it));
        let Some(place) = untried.min_by_key(|it| it.abs_diff((old + new) / 2)) else {
            break;
        };
        let entry = measure(place)?;
        let is_measured = entry.failure.is_none();
        if is_measured {
            let is_new = differs(&entries[&0], &entry)?;
            (old, new) = if is_new { (old, place) } else { (place, new) };
        }
        entries.insert(place, entry);
    }
    Ok((entries, (new < count).then_some((old, new))))
}
