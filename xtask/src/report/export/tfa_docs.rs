//! `tfa-docs`: the data files of TF-A's documentation since May 2026.
//!
//! `docs/perf/data/PLATFORM/{current,previous}/TEST.csv`: integer nanoseconds,
//! no header, every field quoted, lines end in LF. A figure that the comparison with the
//! former one judges as changed has the change behind it: `185700 (-30.51%)`.
//!
//! `current` becomes `previous`, and is the baseline; or one that is given is, and becomes
//! `previous`. The new files are complete before the old ones are moved; where `current`
//! has these very figures already, nothing is touched, so that a second call does not lose
//! the release before.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::slice;

use anyhow::{Context, Result, bail, ensure};
use csv::{QuoteStyle, Terminator, WriterBuilder};
use itertools::Itertools as _;
use psci_bench::measure::Metric;
use psci_bench::model::{Row, Scenario};
use psci_bench::plan::{Method, ScenarioId};

use super::published_page;
use super::report_data::{Report, TreeWishes};
use crate::report::analysis::compare::{
    Across, Change, Comparison, Judged, Options, Outcome, compare, percent,
};
use crate::report::analysis::conditions::is_of_platform;
use crate::report::log::{LoggedRun, tables};
use crate::setup::files as output_files;
use crate::setup::progress::say;

/// The lines of files by the files' names: cluster, core, and figures in nanoseconds.
type Files = BTreeMap<String, Vec<Vec<String>>>;

pub(super) fn write_tree(report: &Report, wishes: &TreeWishes<'_>, root: &Path) -> Result<()> {
    let run = report.only_run("tfa-docs")?;
    let options = wishes.options;
    let platform = check_platform(run, wishes.platform, options)?;
    let input = &run.source.input;
    let plain = files(run, None);
    ensure!(
        !plain.is_empty(),
        "{input}: no figure for tfa-docs, which takes PMF's by method tftf: nothing was written"
    );
    let place = root.join("docs/perf/data").join(platform);
    let current = place.join("current");
    let names = names(&current)?;
    let there = (!names.is_empty()).then(|| tables::read(&current));
    let there = there.transpose()?;
    let given = report.comparisons.first();
    let own = there.as_ref().filter(|_| given.is_none());
    let own = own.map(|it| compare_with(run, it, options)).transpose()?;
    let comparison = given.or(own.as_ref());
    let [there, before] = [there.as_ref(), comparison.map(|it| &it.baseline)]
        .map(|it| it.map_or_else(Files::new, |it| files(it, None)));
    let mut end = "current is of these figures already: nothing was changed".to_owned();
    // With a baseline that is not what is there it is another change that is asked for.
    let is_new = sorted(&plain) != sorted(&there) || sorted(&plain) != sorted(&before);
    if is_new {
        refuse_losses(&plain, &there, &names, &current)?;
    }
    let page = wishes.page.then(|| {
        let previous = place.join("previous");
        // The release before these figures, which are there already.
        let was = (!is_new && previous.is_dir()).then(|| tables::read(&previous));
        let was = was.transpose()?.map(|it| compare_with(run, &it, options));
        let was = was.transpose()?;
        let comparison = was.as_ref().or(comparison.filter(|_| is_new));
        let old = comparison.map_or_else(Files::new, |it| files(&it.baseline, None));
        let path = root.join(format!("docs/perf/psci-performance-{platform}.rst"));
        let names = [&plain, &old].map(|it| it.keys().collect());
        let text = published_page::text(&path, platform, (run, comparison), &names)?;
        anyhow::Ok((path, text))
    });
    let page = page.transpose()?;
    if let Some((path, _)) = page
        .as_ref()
        .filter(|it| it.0.parent().is_some_and(Path::is_dir))
    {
        output_files::check(("--page", path), &[])?;
    }
    if is_new {
        note(run, &plain, comparison);
        let former = given.map(|_| &before);
        place_release(&place, &files(run, comparison), former)?;
        end = format!("current is of {input} now");
    }
    say(&format!("{}: {end}", place.display()));
    if let Some((path, text)) = page {
        published_page::write(&path, &text)?;
    }
    Ok(())
}

/// Returns the platform's name, which is that of a folder and of the run's board.
fn check_platform<'p>(
    run: &LoggedRun,
    platform: Option<&'p str>,
    options: &Options,
) -> Result<&'p str> {
    let Some(platform) = platform else {
        bail!("tfa-docs needs --platform NAME, the folder's name, such as juno");
    };
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
            "--platform {platform}: {input} is of the board {board:?}, whose name does not contain \
             that: --across boards, if it is the platform's; nothing was written"
        );
    }
    Ok(platform)
}

/// Compares with what is there, which is of the run's board, as the folder's name says.
fn compare_with(run: &LoggedRun, there: &LoggedRun, options: &Options) -> Result<Comparison> {
    let mut there = there.clone();
    there.header.board = run.board().map(str::to_owned);
    let compared = compare(slice::from_ref(run), &there, options);
    Ok(compared.context("nothing was written")?.remove(0))
}

/// Says what the files do not: figures that lack, that have no checksum, and the meaning of
/// changes.
fn note(run: &LoggedRun, files: &Files, comparison: Option<&Comparison>) {
    let (input, all) = (&run.source.input, run.run.cpus.len());
    for name in ScenarioId::SUITE.map(file) {
        let cpus = files.get(&name).map_or(0, Vec::len);
        if cpus < all {
            let of = format!("{input}: {name} has {cpus} of {all} CPUs");
            say(&format!("{of}: the run has no figure for the others"));
        }
    }
    for run in [Some(run), comparison.map(|it| &it.baseline)]
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
    let by_order = scenarios.filter(|it| it.judged == Judged::Order);
    let tags = by_order.map(|it| it.key.id.tag()).unique().join(", ");
    if !tags.is_empty() {
        say(&format!(
            "changes are of equal places in the order of size, and not of CPUs, in {tags}: \
             --baseline with another format explains them"
        ));
    }
}

fn file(id: ScenarioId) -> String {
    format!("{id}.csv")
}

/// Returns the lines of a run's files, with the changes of a comparison.
fn files(run: &LoggedRun, comparison: Option<&Comparison>) -> Files {
    let framed = run.framed().into_iter().filter(Scenario::has_pmf);
    let files = framed.map(|it| {
        let rows = it.rows.iter();
        let lines = rows.filter_map(|row| line(run, &it, row, comparison));
        (file(it.id), lines.collect::<Vec<_>>())
    });
    files.filter(|it| !it.1.is_empty()).collect()
}

/// Returns files whose lines are in the order of their texts: that of rows is no change.
fn sorted(files: &Files) -> Files {
    let mut files = files.clone();
    files.values_mut().for_each(|lines| lines.sort());
    files
}

/// Returns the columns of TF-A's tables: PMF's figures. None if one lacks.
fn line(
    run: &LoggedRun,
    scenario: &Scenario,
    row: &Row,
    comparison: Option<&Comparison>,
) -> Option<Vec<String>> {
    use Metric::{CacheFlush, Latency, Powerdown, Wakeup};
    let metrics = match scenario.id {
        ScenarioId::PsciVersionParallel => &[Latency][..],
        _ => &[Powerdown, Wakeup, CacheFlush],
    };
    let cpu = run.run.cpu(row.cpu);
    let mut cells = vec![
        cpu.cluster.to_string(),
        run.run.core_number(&cpu).to_string(),
    ];
    for metric in metrics {
        // Standby flushes nothing, and the table has a column for it.
        let none = (*metric == CacheFlush).then_some(0);
        let ns = run.ns(scenario.figure(row, *metric).or(none)?)?;
        let change = comparison.and_then(|it| change(it, scenario.id, row, *metric));
        let change = change.filter(|it| matches!(it.outcome, Outcome::Better | Outcome::Worse));
        // Of the figures that the tables show, also where rounds were compared together.
        let percent = change.and_then(|it| {
            let old = &comparison?.baseline;
            let its = old.scenario(scenario.id, Method::Tftf)?;
            let row = its.row(it.old_cpu)?;
            let before = old.ns(its.figure(row, *metric).or(none)?)?;
            percent(ns as f64, before as f64)
        });
        cells.push(match percent {
            Some(percent) => format!("{ns} ({percent:+.2}%)"),
            None => ns.to_string(),
        });
    }
    Some(cells)
}

/// Returns the change of a figure that the comparison judges, by one method.
fn change<'c>(
    comparison: &'c Comparison,
    id: ScenarioId,
    row: &Row,
    metric: Metric,
) -> Option<&'c Change> {
    comparison.baseline.scenario(id, Method::Tftf)?;
    let mut scenarios = comparison.scenarios.iter();
    let own = scenarios.find(|it| {
        let is_placement = it.key.helper.is_none() || it.key.helper == row.helper;
        (it.key.id, it.key.method) == (id, Method::Tftf) && is_placement
    });
    let mut changes = own?.changes().iter();
    changes.find(|it| it.cpu == row.cpu && it.key.metric() == Some(metric))
}

/// Returns the names of a folder's tables; none if there is no folder.
fn names(folder: &Path) -> Result<Vec<String>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let names = entries.map(|it| Ok(it?.file_name().to_string_lossy().into_owned()));
    let names = names.filter_ok(|it: &String| it.ends_with(".csv"));
    names.collect()
}

/// Refuses to put in place of `current` what has less than it.
fn refuse_losses(files: &Files, there: &Files, names: &[String], current: &Path) -> Result<()> {
    let none = Vec::new();
    for name in names {
        let label = |line: &Vec<String>| line[..2].join(".");
        let own = files.get(name).unwrap_or(&none).iter().map(label).counts();
        let old = there.get(name).unwrap_or(&none).iter().map(label).counts();
        let lost = old.iter().find(|it| own.get(it.0) < Some(it.1));
        let of = match lost.map(|it| it.0) {
            _ if own.is_empty() => "this file".to_owned(),
            Some(cpu) => format!("CPU {cpu} of this file"),
            None => continue,
        };
        bail!(
            "{}: the run has no figure for {of}: report a run that has it, or remove it first; \
             nothing was written",
            current.join(name).display()
        );
    }
    Ok(())
}

/// Puts `files` in place of `current`, and `former`, else what was there, in that of
/// `previous`.
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
    // From here on there is nothing to compute that could fail, and a failure removes nothing.
    let staged = staged.keep();
    // A folder that is not there has no place to go to.
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
        lines.iter().try_for_each(|line| out.write_record(line))?;
        out.flush()?;
    }
    Ok(())
}
