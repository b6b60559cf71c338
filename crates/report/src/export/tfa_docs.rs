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
use suite::measure::Metric;
use suite::model::{Cell, Scenario};
use suite::plan::{Method, ScenarioId};

use super::published_page::{self, OnPage, PageFigures};
use crate::analysis::compare::{
    Across, Change, ChangeList, ChangeOutcome, Comparison, Options, RowPairing, compare, percent,
};
use crate::analysis::conditions::is_of_platform;
use crate::log::{LoggedRun, tables};

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

/// The figures to publish.
struct Release<'r> {
    run: &'r LoggedRun,
    platform: &'r str,
    options: &'r Options,
    files: Files,
    /// The folder for the platform's figures.
    place: PathBuf,
}

/// Publishes `run` in `root`, a TF-A source tree. If `given` is provided, it is the comparison to
/// show, and its baseline becomes `previous`. Otherwise, the run is compared with the existing
/// figures.
///
/// # Errors
/// Returns an error if the run has no figures to publish or is from another board, if existing
/// figures would be lost, or if a file cannot be written. On error, nothing is changed, and no
/// directory is created.
pub fn publish(
    run: &LoggedRun,
    given: Option<&Comparison>,
    publication: &Publication<'_>,
    root: &Path,
) -> Result<()> {
    let options = publication.options;
    let platform = check_platform(run, publication.platform, options)?;
    let input = &run.source.input;
    let release = Release {
        run,
        platform,
        options,
        files: files(run, None),
        place: root.join("docs/perf/data").join(platform),
    };
    ensure!(
        !release.files.is_empty(),
        "{input}: no figures to publish; TF-A's tables need PMF figures from the tftf method; \
         nothing was written"
    );
    let [current, previous] = ["current", "previous"].map(|name| release.place.join(name));
    let there = read_folder(&current)?;
    let own = there.as_ref().filter(|_| given.is_none());
    let own = own.map(|it| compare_with(run, it, options)).transpose()?;
    let comparison = given.or(own.as_ref());
    let [there, before] = [there.as_ref(), comparison.map(|it| &it.baseline)]
        .map(|it| it.map_or_else(Files::new, |it| files(it, None)));
    // Even if these figures already exist, a different baseline leads to different changes.
    let new = sorted(&release.files);
    let on_page = match new != sorted(&there) || new != sorted(&before) {
        true => OnPage::Previous,
        false => OnPage::Own,
    };
    if on_page == OnPage::Previous {
        refuse_losses("the run", &release.files, &there, &current)?;
        if given.is_some() {
            // A truncated baseline must not replace published figures.
            refuse_losses("the baseline", &before, &read_files(&previous)?, &previous)?;
        }
    }
    let page = publication
        .has_page
        .then(|| release.page(root, comparison, on_page));
    let page = page.transpose()?;
    let shown = release.place.display();
    if on_page == OnPage::Previous {
        note(&release, comparison);
        release.put(comparison, given.map(|_| &before))?;
        say(&format!(
            "{shown}: current now has the figures from {input}"
        ));
    } else {
        say(&format!(
            "{shown}: current already has these figures; nothing was changed"
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
        let previous = self.place.join("previous");
        // These figures have already been published, so they are compared with the previous
        // release.
        let was = (on_page == OnPage::Own && previous.is_dir()).then(|| tables::read(&previous));
        let was = was.transpose()?;
        let was = was.map(|it| compare_with(self.run, &it, self.options));
        let was = was.transpose()?;
        let comparison = was
            .as_ref()
            .or(comparison.filter(|_| on_page == OnPage::Previous));
        let old = comparison.map_or_else(Files::new, |it| files(&it.baseline, None));
        let platform = self.platform;
        let path = root.join(format!("docs/perf/psci-performance-{platform}.rst"));
        let shown = PageFigures {
            run: self.run,
            comparison,
            files: [&self.files, &old].map(|it| it.keys().collect()),
            on_page,
        };
        let text = published_page::text(&path, platform, &shown)?;
        if path.parent().is_some_and(Path::is_dir) {
            output_files::check_output(("the page", &path), &[])?;
        }
        Ok((path, text))
    }

    /// Moves the figures into place. On failure, removes the folders that were left empty.
    fn put(&self, comparison: Option<&Comparison>, former: Option<&Files>) -> Result<()> {
        let first = first_missing(&self.place);
        let placed = place_release(&self.place, &files(self.run, comparison), former);
        if let (Err(_), Some(first)) = (&placed, first) {
            remove_empty(&self.place, &first);
        }
        placed
    }
}

/// Returns the platform name, which must be a valid folder name and match the run's board.
fn check_platform<'p>(run: &LoggedRun, platform: &'p str, options: &Options) -> Result<&'p str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    ensure!(
        !platform.is_empty() && !platform.starts_with('.') && platform.chars().all(plain),
        "--platform {platform:?}: expected letters, digits, '-', '_' and '.'"
    );
    let is_other = |board: &&str| !is_of_platform(board, platform);
    if let Some(board) = run.board().filter(is_other)
        && !options.across.contains(&Across::Boards)
    {
        let input = &run.source.input;
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
fn compare_with(run: &LoggedRun, there: &LoggedRun, options: &Options) -> Result<Comparison> {
    let mut there = there.clone();
    there.header.board = run.board().map(str::to_owned);
    let compared = compare(slice::from_ref(run), &there, options);
    Ok(compared.context("nothing was written")?.remove(0))
}

/// Prints notes on what the files do not show: missing figures, figures without a checksum, and the
/// meaning of the changes.
fn note(release: &Release<'_>, comparison: Option<&Comparison>) {
    let Release {
        run, files, place, ..
    } = release;
    // A mistyped platform name would create a new folder. If the run names its board, a mistyped
    // name has already been rejected.
    if run.board().is_none() && place.parent().is_some_and(Path::is_dir) && !place.is_dir() {
        let (at, input) = (place.display(), &run.source.input);
        say(&format!(
            "{at}: this folder is new, and {input} does not identify its board"
        ));
    }
    let (input, all) = (&run.source.input, run.run.cpus.len());
    for name in ScenarioId::SUITE.map(file) {
        let cpus = files.get(&name).map_or(0, Vec::len);
        if cpus < all {
            let of = format!("{input}: {name} has {cpus} of {all} CPUs");
            say(&format!("{of}: the run has no figures for the other CPUs"));
        }
    }
    for run in [Some(*run), comparison.map(|it| &it.baseline)]
        .into_iter()
        .flatten()
    {
        if run.integrity.records.is_none() && !run.integrity.tables {
            say(&format!("{}: {}", run.source.input, run.integrity));
        }
    }
    let refused = comparison.into_iter().flat_map(|it| &it.refused);
    for it in refused.filter(|it| files.contains_key(&file(it.id))) {
        let (file, why) = (file(it.id), &it.why);
        say(&format!("no changes are shown in {file}: {why}"));
    }
    let scenarios = comparison.into_iter().flat_map(|it| &it.scenarios);
    let by_order = scenarios.filter(|it| it.judged_by == ChangeList::Order);
    let tags = by_order.map(|it| it.key.id.tag()).unique().join(", ");
    let is_ambiguous = comparison.is_some_and(|it| it.row_pairing == RowPairing::Ambiguous);
    let named = match is_ambiguous {
        true => "; use --previous and --row-cpus MPIDR,... to identify CPUs whose labels repeat",
        false => "",
    };
    if !tags.is_empty() {
        say(&format!(
            "in {tags}, figures are compared by rank, not by CPU; see the compare verb{named}"
        ));
    }
}

fn file(id: ScenarioId) -> String {
    format!("{id}.csv")
}

/// Returns the lines of a run's files, including the changes from a comparison.
fn files(run: &LoggedRun, comparison: Option<&Comparison>) -> Files {
    let framed = run.suite_tables().into_iter().filter(Scenario::has_pmf);
    let files = framed.map(|it| {
        let cells = it.suite_cells().iter();
        let lines = cells.filter_map(|cell| line(run, &it, cell, comparison));
        (file(it.id), lines.collect::<Vec<_>>())
    });
    files.filter(|it| !it.1.is_empty()).collect()
}

/// Returns the files with their lines sorted as text, because the row order does not matter.
fn sorted(files: &Files) -> Files {
    let mut files = files.clone();
    files.values_mut().for_each(|lines| lines.sort());
    files
}

/// Returns a row of the TF-A tables, or None if one of its PMF figures is missing.
fn line(
    run: &LoggedRun,
    scenario: &Scenario,
    cell: &Cell,
    comparison: Option<&Comparison>,
) -> Option<Vec<String>> {
    let metrics = scenario.id.columns();
    let cpu = run.run.cpu(cell.cpu);
    let mut texts = vec![
        cpu.cluster.to_string(),
        run.run.core_number(&cpu).to_string(),
    ];
    for metric in metrics {
        // Standby does not flush the cache, but the table has a column for cache flushes.
        let none = (*metric == Metric::CacheFlush).then_some(0);
        let ns = run.ns(cell.figure(*metric).or(none)?)?;
        let change = comparison.and_then(|it| change(it, scenario.id, cell, *metric));
        let change =
            change.filter(|it| matches!(it.outcome, ChangeOutcome::Better | ChangeOutcome::Worse));
        // The printed change is computed from the figures in the tables, even if the comparison
        // covered all rounds.
        let percent = change.and_then(|it| {
            let old = &comparison?.baseline;
            let its = old.scenario(scenario.id, Method::Tftf)?;
            let own = its.cell(it.old_cpu)?;
            let before = old.ns(own.figure(*metric).or(none)?)?;
            percent(ns as f64, before as f64)
        });
        texts.push(match percent {
            Some(percent) => format!("{ns} ({percent:+.2}%)"),
            None => ns.to_string(),
        });
    }
    Some(texts)
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
    let own = scenarios.find(|it| {
        let is_placement = it.key.helper.is_none() || it.key.helper == cell.helper;
        (it.key.id, it.key.method) == (id, Method::Tftf) && is_placement
    });
    let mut changes = own?.changes().iter();
    changes.find(|it| it.cpu == cell.cpu && it.key.suite_metric() == Some(metric))
}

/// Returns the names of a folder's tables, or an empty list if the folder does not exist.
fn names(folder: &Path) -> Result<Vec<String>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let names = entries.map(|it| Ok(it?.file_name().to_string_lossy().into_owned()));
    let names = names.filter_ok(|it: &String| it.ends_with(".csv"));
    names.collect()
}

/// Reads a folder's tables, or returns None if there are none.
fn read_folder(folder: &Path) -> Result<Option<LoggedRun>> {
    let has_tables = !names(folder)?.is_empty();
    has_tables.then(|| tables::read(folder)).transpose()
}

fn read_files(folder: &Path) -> Result<Files> {
    let there = read_folder(folder)?;
    Ok(there.map_or_else(Files::new, |it| files(&it, None)))
}

/// Returns an error if replacing a folder's tables with `files` from `whose` would lose rows or
/// figures.
fn refuse_losses(whose: &str, files: &Files, there: &Files, folder: &Path) -> Result<()> {
    let none = Vec::new();
    for name in names(folder)? {
        let [own, old] = [files, there].map(|it| it.get(&name).unwrap_or(&none));
        if let Some(what) = lost(own, old) {
            bail!(
                "{}: {whose} has no figure for {what}; use a complete run, or remove the \
                 old figures first; nothing was written",
                folder.join(&name).display()
            );
        }
    }
    Ok(())
}

/// Describes the lines of a file that would be lost if `own` replaced them, or returns None if none
/// would be lost.
fn lost(own: &[Vec<String>], old: &[Vec<String>]) -> Option<String> {
    if own.is_empty() {
        return Some("this file".to_owned());
    }
    let label = |line: &Vec<String>| line[..2].join(".");
    let is_plain = |lines: &[Vec<String>]| lines.iter().map(label).all_unique();
    // If labels repeat, rows cannot be matched to CPUs.
    if !is_plain(own) || !is_plain(old) {
        let (count, all) = (own.len(), old.len());
        return (count < all).then(|| format!("{} of the {all} rows in this file", all - count));
    }
    let mut olds = old.iter().map(label);
    let own: Vec<String> = own.iter().map(label).collect();
    let gone = olds.find(|it| !own.contains(it))?;
    Some(format!("CPU {gone} in this file"))
}

/// Returns the outermost folder in `place` that does not exist.
fn first_missing(place: &Path) -> Option<PathBuf> {
    let missing = place.ancestors().take_while(|it| !it.exists());
    let first = missing.filter(|it| !it.as_os_str().is_empty()).last();
    first.map(Path::to_path_buf)
}

/// Removes the empty folders from `place` up to `first`.
fn remove_empty(place: &Path, first: &Path) {
    let folders = place.ancestors().take_while(|it| it.starts_with(first));
    // Stops at the first folder that is not empty.
    let _ = folders.map(fs::remove_dir).find(Result::is_err);
}

/// Replaces `current` with `files`, and replaces `previous` with `former` or, if that is None, with
/// the old `current`.
fn place_release(place: &Path, files: &Files, former: Option<&Files>) -> Result<()> {
    let [current, previous] = ["current", "previous"].map(|name| place.join(name));
    fs::create_dir_all(place).with_context(|| place.display().to_string())?;
    let staged = tempfile::tempdir_in(place).with_context(|| place.display().to_string())?;
    let [new, old, replaced, removed] =
        ["new", "former", "replaced", "removed"].map(|name| staged.path().join(name));
    write_folder(&new, files)?;
    if let Some(files) = former {
        write_folder(&old, files)?;
    }
    // Everything is prepared. From here on, folders are only moved, so a failure loses nothing.
    let staged = staged.keep();
    // A missing folder does not need to be moved.
    let rename = |from: &Path, to: &Path| match from.is_dir() {
        true => fs::rename(from, to).with_context(|| format!("{from:?} to {to:?}")),
        false => Ok(()),
    };
    let former = former.map_or(&current, |_| &old);
    if former.is_dir() {
        rename(&previous, &replaced)?;
        rename(former, &previous)?;
    }
    rename(&current, &removed)?;
    rename(&new, &current)?;
    fs::remove_dir_all(&staged).with_context(|| staged.display().to_string())
}

fn write_folder(folder: &Path, files: &Files) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for (name, lines) in files {
        let path = folder.join(name);
        let mut out = WriterBuilder::new()
            .quote_style(QuoteStyle::Always)
            .terminator(Terminator::Any(b'\n'))
            .from_path(&path)
            .with_context(|| path.display().to_string())?;
        let written = lines.iter().try_for_each(|line| out.write_record(line));
        let written = written.map_err(anyhow::Error::from);
        let written = written.and_then(|()| Ok(out.flush()?));
        written.with_context(|| path.display().to_string())?;
    }
    Ok(())
}
