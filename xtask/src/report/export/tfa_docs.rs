//! `tfa-docs`: the data files of TF-A's documentation since May 2026.
//!
//! `docs/perf/data/PLATFORM/{current,previous}/TEST.csv`: integer nanoseconds,
//! no header, every field quoted, lines end in LF. A figure that is not within
//! 2 % of the previous one's has the change behind it: `185700 (-30.51%)`.
//!
//! `current` becomes `previous`, and the new figures are compared with it, a CPU with
//! itself; or a baseline that is given becomes `previous`, and they are compared with that.
//! The new files are complete before the old ones are moved; where `current` has these very
//! figures already, nothing is touched, so that a second call does not lose the release
//! before.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use csv::{QuoteStyle, ReaderBuilder, Terminator, WriterBuilder};
use itertools::Itertools as _;
use psci_bench::model::Scenario;
use psci_bench::plan::ScenarioId;

use super::report_data::Report;
use crate::report::analysis::compare::{Comparison, Keyed, TOLERANCE_PPM, is_close};
use crate::report::log::LoggedRun;
use crate::setup::progress::say;

/// A CPU's figures in nanoseconds, by cluster and core.
type Figures = BTreeMap<(u64, u64), Vec<u64>>;

/// The figures of files by their names.
type Files = BTreeMap<String, Figures>;

/// Writes the files of a report's only run below `root`.
pub(super) fn write_tree(report: &Report, platform: Option<&str>, root: &Path) -> Result<()> {
    let run = report.only_run("tfa-docs")?;
    let Some(platform) = platform else {
        bail!("tfa-docs needs --platform NAME, the folder's name, such as juno");
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if platform.is_empty() || platform.starts_with('.') || !platform.chars().all(plain) {
        bail!("--platform {platform:?}: expected letters, digits, '-', '_' and '.'");
    }
    let input = &run.source.input;
    if run.integrity.records.is_some() && !run.integrity.is_verified() {
        bail!(
            "{input}: records are missing, and the figures that stand in for them are from lines \
             without a checksum: nothing was written"
        );
    }
    let files = files(run);
    if files.is_empty() {
        bail!(
            "{input}: no figure for tfa-docs, which takes PMF's by method tftf: nothing was written"
        );
    }
    for scenario in ScenarioId::SUITE {
        let (file, all) = (file(scenario), run.run.cpus.len());
        let cpus = files.get(&file).map_or(0, BTreeMap::len);
        if cpus < all {
            say(&format!(
                "{input}: {file} has {cpus} of {all} CPUs: the run has no figure for the others"
            ));
        }
    }
    let place = root.join("docs/perf/data").join(platform);
    let end = match write_all(&files, report.comparisons.first(), &place)? {
        true => format!("current is of {input} now"),
        false => "current is of these figures already: nothing was changed".to_owned(),
    };
    say(&format!("{}: {end}", place.display()));
    Ok(())
}

/// Returns the figures of a run's files by their names.
fn files(run: &LoggedRun) -> Files {
    let framed = run.framed();
    let files = framed.iter().map(|it| (file(it.id), figures(run, it)));
    files.filter(|it| !it.1.is_empty()).collect()
}

/// Returns the name of a scenario's file.
fn file(id: ScenarioId) -> String {
    format!("{id}.csv")
}

/// Returns the columns of TF-A's tables: PMF's figures.
fn figures(run: &LoggedRun, scenario: &Scenario) -> Figures {
    if !scenario.has_pmf() {
        return Figures::new();
    }
    let rows = scenario.rows.iter().filter_map(|row| {
        let cpu = run.run.cpu(row.cpu);
        let it = row.figures;
        let ticks = [it.powerdown, it.wakeup, it.cache_flush]
            .into_iter()
            .flatten();
        let mut ns: Vec<u64> = ticks.map(|ticks| run.ns(ticks)).collect::<Option<_>>()?;
        // Standby flushes nothing, and the table has a column for it.
        if ns.len() == 2 {
            ns.push(0);
        }
        let key = (u64::from(cpu.cluster), run.run.core_number(&cpu));
        matches!(ns.len(), 1 | 3).then_some((key, ns))
    });
    rows.collect()
}

/// Returns the figures of the baseline that may stand beside those of a run: not across
/// methods unless that was asked for, and not where labels are ambiguous.
fn comparable(comparison: &Comparison, mut before: Files) -> Files {
    let compared = comparison.scenarios.iter().map(|it| file(it.key.id));
    let is_clear = comparison.keyed != Keyed::Ambiguous;
    before.retain(|name, _| is_clear && compared.clone().contains(name));
    before
}

/// Writes `files` as the new release, and returns false if that is there already.
fn write_all(files: &Files, comparison: Option<&Comparison>, place: &Path) -> Result<bool> {
    let [current, previous] = ["current", "previous"].map(|name| place.join(name));
    let there = read_folder(&current)?;
    let baseline = comparison.map(|it| self::files(&it.baseline));
    let before = match (comparison, &baseline) {
        (Some(comparison), Some(files)) => comparable(comparison, files.clone()),
        _ => there.clone(),
    };
    // With a baseline that is not what is there it is another change that is asked for.
    if *files == there && *files == before {
        return Ok(false);
    }
    refuse_losses(files, &there, &current)?;
    fs::create_dir_all(place).with_context(|| place.display().to_string())?;
    let staged = tempfile::tempdir_in(place).with_context(|| place.display().to_string())?;
    let [new, former, replaced, removed] =
        ["new", "former", "replaced", "removed"].map(|name| staged.path().join(name));
    let tolerance = comparison.map_or(TOLERANCE_PPM, |it| it.tolerance_ppm);
    write_folder(&new, files, &before, tolerance)?;
    if let Some(files) = &baseline {
        write_folder(&former, files, &Files::new(), tolerance)?;
    }
    // From here on there is nothing to compute that could fail, and a failure removes nothing.
    let staged = staged.keep();
    // A folder that is not there has no place to go to.
    let rename = |from: &Path, to: &Path| match from.is_dir() {
        true => fs::rename(from, to).with_context(|| format!("{from:?} to {to:?}")),
        false => Ok(()),
    };
    let former = baseline.map_or(&current, |_| &former);
    if former.is_dir() {
        rename(&previous, &replaced)?;
        rename(former, &previous)?;
    }
    rename(&current, &removed)?;
    rename(&new, &current)?;
    fs::remove_dir_all(&staged).with_context(|| staged.display().to_string())?;
    Ok(true)
}

/// Refuses to put in place of `current` what has less than it.
fn refuse_losses(files: &Files, there: &Files, current: &Path) -> Result<()> {
    let advice = "report a run that has it, or remove it first; nothing was written";
    for (name, there) in there {
        let path = current.join(name);
        let at = path.display();
        let Some(figures) = files.get(name) else {
            bail!("{at}: the run has no figure for this file: {advice}");
        };
        if let Some((cluster, core)) = there.keys().find(|cpu| !figures.contains_key(cpu)) {
            bail!("{at}: the run has no figure for CPU {cluster}.{core} of this file: {advice}");
        }
    }
    Ok(())
}

/// Returns the figures of a folder's files; none if there is no folder.
fn read_folder(folder: &Path) -> Result<Files> {
    let mut all = Files::new();
    if !folder.is_dir() {
        return Ok(all);
    }
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "csv") {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            all.insert(name.into_owned(), read(&path)?);
        }
    }
    Ok(all)
}

fn read(path: &Path) -> Result<Figures> {
    let mut all = Figures::new();
    let context = || path.display().to_string();
    let mut reader = ReaderBuilder::new();
    let reader = reader.has_headers(false).flexible(true).from_path(path);
    for record in reader.with_context(context)?.records() {
        let record = record.with_context(context)?;
        // `185700 (-30.51%)`: the change is the former release's.
        let number = |cell: &str| cell.split(' ').next().and_then(|it| it.parse().ok());
        let cells: Option<Vec<u64>> = record.iter().map(number).collect();
        match cells.as_deref() {
            Some([cluster, core, figures @ ..]) => {
                all.insert((*cluster, *core), figures.to_vec());
            }
            _ => {
                let line = record.position().map_or(0, csv::Position::line);
                let at = path.display();
                bail!("{at}: line {line}: expected cluster, core and nanoseconds");
            }
        }
    }
    Ok(all)
}

/// Writes files to `folder`, with the changes from those `before`.
fn write_folder(folder: &Path, files: &Files, before: &Files, tolerance: u32) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for (name, figures) in files {
        let path = folder.join(name);
        let mut out = WriterBuilder::new()
            .quote_style(QuoteStyle::Always)
            .terminator(Terminator::Any(b'\n'))
            .from_path(&path)
            .with_context(|| path.display().to_string())?;
        for (cpu, figures) in figures {
            let before = before.get(name).and_then(|before| before.get(cpu));
            let mut cells = vec![cpu.0.to_string(), cpu.1.to_string()];
            for (column, new) in figures.iter().enumerate() {
                let old = before.and_then(|before| before.get(column));
                cells.push(cell(*new, old.copied(), tolerance));
            }
            out.write_record(&cells)?;
        }
        out.flush()?;
    }
    Ok(())
}

/// Returns a figure with its change in percent, if it is beyond the tolerance; from
/// zero there is none.
fn cell(new: u64, old: Option<u64>, tolerance: u32) -> String {
    match old {
        Some(old) if old > 0 && !is_close(new as f64, old as f64, tolerance) => {
            let change = (new as f64 - old as f64) / old as f64 * 100.0;
            format!("{new} ({change:+.2}%)")
        }
        _ => new.to_string(),
    }
}
