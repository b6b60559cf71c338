//! Writes the data files for the TF-A documentation in the format used since May 2026, along with a
//! board's page.
//!
//! The files `docs/perf/data/PLATFORM/{current,previous}/TEST.csv` contain integer nanoseconds.
//! These files have no header, every field is quoted, and lines end in LF. Figures that differ from
//! the previous ones are followed by the change: `185700 (-30.51%)`.
//!
//! The baseline is `current`, which becomes `previous`. If another baseline is given, it becomes
//! `previous` instead. All new files are written before the old ones are moved. If `current`
//! already contains exactly these figures, nothing is changed, so a second call does not lose the
//! previous release.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::slice;

use anyhow::{Context, Result, bail, ensure};
use csv::{QuoteStyle, Terminator, WriterBuilder};
use host::files as output_files;
use host::progress::say;
use itertools::Itertools as _;
use report::analysis::compare::{
    AllowedDifference, Change, ChangeList, ChangeOutcome, Comparison, Options, RowPairing, compare,
    percent,
};
use report::analysis::conditions::is_of_platform;
use report::log::{LoggedRun, tables};
use suite::measure::Metric;
use suite::model::{Cell, Scenario};
use suite::plan::{Method, ScenarioId};

use crate::published_page::{self, OnPage, PageFigures};

/// The lines of each file, by file name: cluster, core, and figures in nanoseconds.
type Files = BTreeMap<String, Vec<Vec<String>>>;

/// How to publish figures.
#[derive(Clone, Copy, Debug)]
pub struct Publication<'p> {
    /// The platform name used in paths.
    pub platform: &'p str,
    /// True if the page that shows the data files is also written.
    pub has_page: bool,
    /// The options for the comparison with the existing figures.
    pub options: &'p Options,
}

/// The figures to publish. Their platform's name has been checked against the run's board; whether
/// publishing them would lose older figures has not.
struct Release<'r> {
    logged: &'r LoggedRun,
    platform: &'r str,
    options: &'r Options,
    files: Files,
    /// The folder for the platform's figures.
    folder: PathBuf,
}

/// Publishes `logged` in `root`, a TF-A source tree. If `given` is provided, it is the comparison to
/// show, and its baseline becomes `previous`. Otherwise, the run is compared with the existing
/// figures.
///
/// # Errors
/// Returns an error if the run has no figures to publish or is from another board, if existing
/// figures would be lost, or if a file cannot be written. On error, nothing is changed, and no
/// directory is created.
pub fn publish(
    logged: &LoggedRun,
    given: Option<&Comparison>,
    publication: &Publication<'_>,
    root: &Path,
) -> Result<()> {
    let options = publication.options;
    let platform = check_platform(logged, publication.platform, options)?;
    let input = &logged.source.input;
    let release = Release {
        logged,
        platform,
        options,
        files: files(logged, None),
        folder: root.join("docs/perf/data").join(platform),
    };
    ensure!(
        !release.files.is_empty(),
        "{input}: no figures to publish; TF-A's tables need PMF figures from the tftf method; \
         nothing was written"
    );
    let [current, previous] = release_folders(&release.folder);
    let published = read_folder(&current)?;
    let with_published = match &published {
        Some(published) if given.is_none() => Some(compare_with(logged, published, options)?),
        _ => None,
    };
    let comparison = given.or(with_published.as_ref());
    let published_files = optional_files(published.as_ref());
    let baseline_files = optional_files(comparison.map(|comparison| &comparison.baseline));
    // Even if these figures already exist, a different baseline leads to different changes.
    let new = sorted(&release.files);
    let on_page = if new == sorted(&published_files) && new == sorted(&baseline_files) {
        OnPage::Own
    } else {
        OnPage::Previous
    };
    if on_page == OnPage::Previous {
        refuse_losses("the run", &release.files, &published_files, &current)?;
        if given.is_some() {
            // A truncated baseline must not replace published figures.
            let old_files = optional_files(read_folder(&previous)?.as_ref());
            refuse_losses("the baseline", &baseline_files, &old_files, &previous)?;
        }
    }
    let page = if publication.has_page {
        Some(release.page(root, comparison, on_page)?)
    } else {
        None
    };
    let folder = release.folder.display();
    if on_page == OnPage::Previous {
        note(&release, comparison);
        release.publish(comparison, given.map(|_| &baseline_files))?;
        say(&format!(
            "{folder}: current now has the figures from {input}"
        ));
    } else {
        say(&format!(
            "{folder}: current already has these figures; nothing was changed"
        ));
    }
    if let Some((path, text)) = page {
        published_page::write(&path, &text)?;
    }
    Ok(())
}

impl Release<'_> {
    /// Returns the path and the text of the page that shows the figures, if the page can be
    /// written.
    fn page(
        &self,
        root: &Path,
        comparison: Option<&Comparison>,
        on_page: OnPage,
    ) -> Result<(PathBuf, String)> {
        let [_, previous] = release_folders(&self.folder);
        // If these figures have already been published, they are compared with the previous
        // release.
        let with_previous = if on_page == OnPage::Own && previous.is_dir() {
            let published = tables::read(&previous)?;
            Some(compare_with(self.logged, &published, self.options)?)
        } else {
            None
        };
        let shown_comparison = match on_page {
            OnPage::Own => with_previous.as_ref(),
            OnPage::Previous => comparison,
        };
        let old_files = optional_files(shown_comparison.map(|comparison| &comparison.baseline));
        let platform = self.platform;
        let path = root.join(format!("docs/perf/psci-performance-{platform}.rst"));
        let shown = PageFigures {
            logged: self.logged,
            comparison: shown_comparison,
            files: [&self.files, &old_files].map(|files| files.keys().collect()),
            on_page,
        };
        let text = published_page::text(&path, platform, &shown)?;
        if path.parent().is_some_and(Path::is_dir) {
            output_files::check_output(("the page", &path), &[])?;
        }
        Ok((path, text))
    }

    /// Moves the figures into place. On failure, removes the folders that were left empty.
    fn publish(&self, comparison: Option<&Comparison>, former: Option<&Files>) -> Result<()> {
        let first = first_missing(&self.folder);
        let result = replace_release(&self.folder, &files(self.logged, comparison), former);
        if let (Err(_), Some(first)) = (&result, first) {
            remove_empty(&self.folder, &first);
        }
        result
    }
}

/// Returns the folders for the current and the previous release in a platform's folder.
fn release_folders(folder: &Path) -> [PathBuf; 2] {
    ["current", "previous"].map(|name| folder.join(name))
}

/// Returns the platform name, which must be a valid folder name and match the run's board.
fn check_platform<'p>(logged: &LoggedRun, platform: &'p str, options: &Options) -> Result<&'p str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    ensure!(
        !platform.is_empty() && !platform.starts_with('.') && platform.chars().all(is_plain),
        "--platform {platform:?}: expected letters, digits, '-', '_' and '.'"
    );
    let is_other = |board: &&str| !is_of_platform(board, platform);
    if let Some(board) = logged.board().filter(is_other)
        && !options
            .allowed_differences
            .contains(&AllowedDifference::Boards)
    {
        let input = &logged.source.input;
        bail!(
            "--platform {platform}: {input} is from the {board:?} board, whose name does not \
             contain the platform name; if it is the same board, use --across boards; nothing was \
             written"
        );
    }
    Ok(platform)
}

/// Compares the run with the existing figures. The folder is named after the platform, so the
/// figures belong to the run's board.
fn compare_with(
    logged: &LoggedRun,
    published: &LoggedRun,
    options: &Options,
) -> Result<Comparison> {
    let mut baseline = published.clone();
    baseline.header.board = logged.board().map(str::to_owned);
    let comparisons =
        compare(slice::from_ref(logged), &baseline, options).context("nothing was written")?;
    Ok(comparisons.into_iter().next().expect("one for each run"))
}

/// Prints notes on what the files do not show: missing figures, figures without a checksum, and the
/// meaning of the changes.
fn note(release: &Release<'_>, comparison: Option<&Comparison>) {
    let Release {
        logged,
        files,
        folder,
        ..
    } = release;
    let (input, cpu_count) = (&logged.source.input, logged.run.cpus.len());
    // A mistyped platform name would create a new folder. If the run names its board, a mistyped
    // name has already been rejected.
    if logged.board().is_none() && folder.parent().is_some_and(Path::is_dir) && !folder.is_dir() {
        let shown = folder.display();
        say(&format!(
            "{shown}: this folder is new, and {input} does not identify its board"
        ));
    }
    for name in ScenarioId::SUITE.map(file_name) {
        let row_count = files.get(&name).map_or(0, Vec::len);
        if row_count < cpu_count {
            say(&format!(
                "{input}: {name} has {row_count} of {cpu_count} CPUs: the run has no figures for \
                 the other CPUs"
            ));
        }
    }
    note_unverified(logged);
    if let Some(comparison) = comparison {
        note_unverified(&comparison.baseline);
        note_changes(files, comparison);
    }
}

/// Prints a note if a run's figures have no checksum.
fn note_unverified(logged: &LoggedRun) {
    if logged.integrity.records.is_none() && !logged.integrity.tables {
        say(&format!("{}: {}", logged.source.input, logged.integrity));
    }
}

/// Prints notes on which files show no changes, and which show changes by rank.
fn note_changes(files: &Files, comparison: &Comparison) {
    for refused in &comparison.refused {
        let name = file_name(refused.id);
        if files.contains_key(&name) {
            say(&format!("no changes are shown in {name}: {}", refused.why));
        }
    }
    let tags = comparison
        .scenarios
        .iter()
        .filter(|scenario| scenario.judged_by == ChangeList::Order)
        .map(|scenario| scenario.key.id.tag())
        .unique()
        .join(", ");
    if tags.is_empty() {
        return;
    }
    let advice = if comparison.row_pairing == RowPairing::Ambiguous {
        "; use --previous and --row-cpus MPIDR,... to identify CPUs whose labels repeat"
    } else {
        ""
    };
    say(&format!(
        "in {tags}, figures are compared by rank, not by CPU; see the compare verb{advice}"
    ));
}

fn file_name(id: ScenarioId) -> String {
    format!("{id}.csv")
}

/// Returns the lines of a run's files, including the changes from a comparison.
fn files(logged: &LoggedRun, comparison: Option<&Comparison>) -> Files {
    let mut files = Files::new();
    for scenario in logged
        .suite_tables()
        .iter()
        .filter(|scenario| scenario.has_pmf())
    {
        let cells = scenario.suite_cells().iter();
        let lines: Vec<Vec<String>> = cells
            .filter_map(|cell| line(logged, scenario, cell, comparison))
            .collect();
        if !lines.is_empty() {
            files.insert(file_name(scenario.id), lines);
        }
    }
    files
}

/// Returns the lines of a run's files without changes, or no files if there is no run.
fn optional_files(logged: Option<&LoggedRun>) -> Files {
    logged.map_or_else(Files::new, |logged| files(logged, None))
}

/// Returns the files with their lines sorted as text, because the row order does not matter.
fn sorted(files: &Files) -> Files {
    let mut sorted = files.clone();
    for lines in sorted.values_mut() {
        lines.sort();
    }
    sorted
}

/// Returns a row of the TF-A tables, or None if one of its PMF figures is missing.
fn line(
    logged: &LoggedRun,
    scenario: &Scenario,
    cell: &Cell,
    comparison: Option<&Comparison>,
) -> Option<Vec<String>> {
    let metrics = scenario.id.columns();
    let cpu = logged.run.cpu(cell.cpu);
    let mut texts = vec![
        cpu.cluster.to_string(),
        logged.run.core_number(&cpu).to_string(),
    ];
    for metric in metrics {
        let ns = figure_ns(logged, cell, *metric)?;
        // The printed change is computed from the figures in the tables, even if the comparison
        // covered all rounds.
        let percent = comparison.and_then(|comparison| {
            let change = change(comparison, scenario.id, cell, *metric)?;
            if !matches!(change.outcome, ChangeOutcome::Better | ChangeOutcome::Worse) {
                return None;
            }
            let baseline = &comparison.baseline;
            let old_scenario = baseline.scenario(scenario.id, Method::Tftf)?;
            let old_cell = old_scenario.cell(change.old_cpu)?;
            let old_ns = figure_ns(baseline, old_cell, *metric)?;
            percent(ns as f64, old_ns as f64)
        });
        texts.push(match percent {
            Some(percent) => format!("{ns} ({percent:+.2}%)"),
            None => ns.to_string(),
        });
    }
    Some(texts)
}

/// Returns a cell's figure in nanoseconds. Standby does not flush the cache, but the table has a
/// column for cache flushes, so a missing one counts as 0.
fn figure_ns(logged: &LoggedRun, cell: &Cell, metric: Metric) -> Option<u64> {
    let default = (metric == Metric::CacheFlush).then_some(0);
    logged.ns(cell.figure(metric).or(default)?)
}

/// Returns the change in one of a cell's figures, measured with TFTF's method. It is one of the
/// changes that determine the result of the comparison.
fn change<'c>(
    comparison: &'c Comparison,
    id: ScenarioId,
    cell: &Cell,
    metric: Metric,
) -> Option<&'c Change> {
    comparison.baseline.scenario(id, Method::Tftf)?;
    let mut scenarios = comparison.scenarios.iter();
    let scenario = scenarios.find(|scenario| {
        let key = scenario.key;
        let is_placement = key.helper.is_none() || key.helper == cell.helper;
        (key.id, key.method) == (id, Method::Tftf) && is_placement
    })?;
    let mut changes = scenario.changes().iter();
    changes.find(|change| change.cpu == cell.cpu && change.key.suite_metric() == Some(metric))
}

/// Returns the names of a folder's tables, or an empty list if the folder does not exist.
fn names(folder: &Path) -> Result<Vec<String>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .filter_ok(|name: &String| name.ends_with(".csv"))
        .collect()
}

/// Reads a folder's tables, or returns None if there are none.
fn read_folder(folder: &Path) -> Result<Option<LoggedRun>> {
    if names(folder)?.is_empty() {
        return Ok(None);
    }
    tables::read(folder).map(Some)
}

/// Returns an error if replacing a folder's tables with `files` from `whose` would lose rows or
/// figures.
fn refuse_losses(whose: &str, files: &Files, old_files: &Files, folder: &Path) -> Result<()> {
    for name in names(folder)? {
        let [new, old] =
            [files, old_files].map(|files| files.get(&name).map_or(&[][..], |lines| lines));
        if let Some(what) = lost(new, old) {
            bail!(
                "{}: {whose} has no figure for {what}; use a complete run, or remove the \
                 old figures first; nothing was written",
                folder.join(&name).display()
            );
        }
    }
    Ok(())
}

/// Describes the lines of a file that would be lost if `new` replaced them, or returns None if none
/// would be lost.
fn lost(new: &[Vec<String>], old: &[Vec<String>]) -> Option<String> {
    if new.is_empty() {
        return Some("this file".to_owned());
    }
    let labels = |lines: &[Vec<String>]| -> Vec<String> {
        lines.iter().map(|line| line[..2].join(".")).collect()
    };
    let (new_labels, old_labels) = (labels(new), labels(old));
    // If labels repeat, rows cannot be matched to CPUs.
    if !new_labels.iter().all_unique() || !old_labels.iter().all_unique() {
        let (count, old_count) = (new.len(), old.len());
        return (count < old_count)
            .then(|| format!("{} of the {old_count} rows in this file", old_count - count));
    }
    let mut gone = old_labels
        .iter()
        .filter(|label| !new_labels.contains(label));
    Some(format!("CPU {} in this file", gone.next()?))
}

/// Returns the outermost folder in `path` that does not exist.
fn first_missing(path: &Path) -> Option<PathBuf> {
    let folders = path.ancestors().take_while(|folder| !folder.exists());
    let missing = folders.filter(|folder| !folder.as_os_str().is_empty());
    missing.last().map(Path::to_path_buf)
}

/// Removes the empty folders from `path` up to `first`.
fn remove_empty(path: &Path, first: &Path) {
    let folders = path
        .ancestors()
        .take_while(|folder| folder.starts_with(first));
    // Stops at the first folder that is not empty.
    let _ = folders.map(fs::remove_dir).find(Result::is_err);
}

/// Replaces `current` in a platform's folder with `files`, and replaces `previous` with `former` or,
/// if that is None, with the old `current`.
fn replace_release(folder: &Path, files: &Files, former: Option<&Files>) -> Result<()> {
    let name = || folder.display().to_string();
    let [current, previous] = release_folders(folder);
    fs::create_dir_all(folder).with_context(name)?;
    let staging = tempfile::tempdir_in(folder).with_context(name)?;
    let [new, old, replaced, removed] =
        ["new", "former", "replaced", "removed"].map(|name| staging.path().join(name));
    write_folder(&new, files)?;
    if let Some(files) = former {
        write_folder(&old, files)?;
    }
    // Everything is prepared. From here on, folders are only moved, so a failure loses nothing.
    let staged = staging.keep();
    // A missing folder does not need to be moved.
    let rename = |source_path: &Path, target_path: &Path| {
        if source_path.is_dir() {
            fs::rename(source_path, target_path)
                .with_context(|| format!("{source_path:?} to {target_path:?}"))
        } else {
            Ok(())
        }
    };
    let new_previous = if former.is_some() { &old } else { &current };
    if new_previous.is_dir() {
        rename(&previous, &replaced)?;
        rename(new_previous, &previous)?;
    }
    rename(&current, &removed)?;
    rename(&new, &current)?;
    fs::remove_dir_all(&staged).with_context(|| staged.display().to_string())
}

fn write_folder(folder: &Path, files: &Files) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for (name, lines) in files {
        let path = folder.join(name);
        write_file(&path, lines).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn write_file(path: &Path, lines: &[Vec<String>]) -> Result<()> {
    let mut out = WriterBuilder::new()
        .quote_style(QuoteStyle::Always)
        .terminator(Terminator::Any(b'\n'))
        .from_path(path)?;
    for line in lines {
        out.write_record(line)?;
    }
    out.flush()?;
    Ok(())
}
