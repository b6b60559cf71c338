//! `tfa-docs`: the data files of TF-A's documentation since May 2026.
//!
//! `docs/perf/data/PLATFORM/{current,previous}/TEST.csv`: integer nanoseconds,
//! no header, every field quoted, lines end in LF. A figure that is not within
//! 2 % of the previous one's has the change behind it: `185700 (-30.51%)`.
//!
//! `current` becomes `previous`, and the new figures are compared with it, a CPU with
//! itself. Where a baseline is given, that becomes
//! `previous` and is what they are compared with. The new files are complete before the old
//! ones are moved; where `current` has these very figures already, nothing is
//! touched, so that a second call does not lose the release before.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use csv::{QuoteStyle, ReaderBuilder, Terminator, WriterBuilder};
use psci_bench::model::Scenario;
use psci_bench::plan::ScenarioId;

use super::report_data::Report;
use crate::report::analysis::compare::{Comparison, Keyed, TOLERANCE_PPM, is_close};
use crate::report::log::LoggedRun;
use crate::setup::progress::say;

/// A CPU's figures in nanoseconds, by cluster and core.
type Figures = BTreeMap<(u64, u64), Vec<u64>>;

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
fn files(run: &LoggedRun) -> BTreeMap<String, Figures> {
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
        let ns = [it.powerdown, it.wakeup, it.cache_flush]
            .into_iter()
            .flatten();
        let mut ns: Vec<u64> = ns.map(|ticks| run.ns(ticks)).collect::<Option<_>>()?;
        // Standby flushes nothing, and the table has a column for it.
        if ns.len() == 2 {
            ns.push(0);
        }
        let key = (u64::from(cpu.cluster), run.run.core_number(&cpu));
        matches!(ns.len(), 1 | 3).then_some((key, ns))
    });
    rows.collect()
}

/// Returns the figures of the baseline that may stand beside those of `file`: not across
/// methods unless that was asked for, and not where labels are ambiguous.
fn comparable(comparison: &Comparison, before: &BTreeMap<String, Figures>, file: &str) -> Figures {
    let mut compared = comparison.scenarios.iter();
    let is_compared = compared.any(|it| self::file(it.key.id) == file);
    let own = before.get(file).filter(|_| is_compared);
    own.filter(|_| comparison.keyed != Keyed::Ambiguous)
        .cloned()
        .unwrap_or_default()
}

/// Writes `files` as the new release, and returns false if that is there already.
fn write_all(
    files: &BTreeMap<String, Figures>,
    comparison: Option<&Comparison>,
    place: &Path,
) -> Result<bool> {
    let [current, previous, next, old, former] = [
        "current",
        "previous",
        "current.partial",
        "previous.partial",
        "baseline.partial",
    ]
    .map(|name| place.join(name));
    remove([&next, &old, &former])?;
    let tolerance = comparison.map_or(TOLERANCE_PPM, |it| it.tolerance_ppm);
    let baseline = comparison.map(|it| (it, self::files(&it.baseline)));
    let mut before = BTreeMap::new();
    let mut is_there = true;
    for (name, figures) in files {
        let there = read(&current.join(name))?;
        is_there &= *figures == there;
        let own = match &baseline {
            None => there,
            Some((comparison, before)) => comparable(comparison, before, name),
        };
        before.insert(name.clone(), own);
    }
    // With a baseline that is not what is there it is another change that is asked for.
    if is_there && (baseline.is_none() || *files == before) {
        return Ok(false);
    }
    refuse_losses(files, &current)?;
    write_folder(&next, files, &before, tolerance)?;
    if let Some((_, files)) = &baseline {
        write_folder(&former, files, &BTreeMap::new(), tolerance)?;
    }
    // From here on there is nothing to compute that could fail.
    let rename = |from: &Path, to: &Path| {
        fs::rename(from, to).with_context(|| format!("{} to {}", from.display(), to.display()))
    };
    let has_current = current.is_dir();
    if previous.is_dir() && (baseline.is_some() || has_current) {
        rename(&previous, &old)?;
    }
    if baseline.is_some() {
        rename(&former, &previous)?;
    }
    if has_current {
        let place = if baseline.is_some() {
            &former
        } else {
            &previous
        };
        rename(&current, place)?;
    }
    rename(&next, &current)?;
    remove([&old, &former])?;
    Ok(true)
}

/// Removes those of the folders that are there.
fn remove<const N: usize>(dirs: [&PathBuf; N]) -> Result<()> {
    for dir in dirs.into_iter().filter(|dir| dir.exists()) {
        fs::remove_dir_all(dir).with_context(|| dir.display().to_string())?;
    }
    Ok(())
}

/// Refuses to put in place of `current` what has less than it.
fn refuse_losses(files: &BTreeMap<String, Figures>, current: &Path) -> Result<()> {
    if !current.is_dir() {
        return Ok(());
    }
    let advice = "report a run that has it, or remove it first; nothing was written";
    for entry in fs::read_dir(current).with_context(|| current.display().to_string())? {
        let path = entry.with_context(|| current.display().to_string())?.path();
        if path.extension().is_none_or(|it| it != "csv") {
            continue;
        }
        let (name, at) = (path.file_name().unwrap_or_default(), path.display());
        let Some(figures) = name.to_str().and_then(|name| files.get(name)) else {
            bail!("{at}: the run has no figure for this file: {advice}");
        };
        let there = read(&path)?;
        if let Some((cluster, core)) = there.keys().find(|cpu| !figures.contains_key(cpu)) {
            bail!("{at}: the run has no figure for CPU {cluster}.{core} of this file: {advice}");
        }
    }
    Ok(())
}

/// Returns the figures of a file; none if there is no file.
fn read(path: &Path) -> Result<Figures> {
    let mut all = Figures::new();
    if !path.is_file() {
        return Ok(all);
    }
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
            _ => bail!(
                "{}: line {}: expected cluster, core and nanoseconds",
                path.display(),
                record.position().map_or(0, csv::Position::line)
            ),
        }
    }
    Ok(all)
}

/// Writes files to `folder`, with the changes from those `before`.
fn write_folder(
    folder: &Path,
    files: &BTreeMap<String, Figures>,
    before: &BTreeMap<String, Figures>,
    tolerance: u32,
) -> Result<()> {
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
