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
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use csv::{QuoteStyle, ReaderBuilder, Terminator, WriterBuilder};
use psci_bench::model::Scenario;
use psci_bench::plan::ScenarioId;

use super::exporter::{Exporter, Options, Report, Takes, only_run};
use crate::report::analysis::compare::{Comparison, Keyed, TOLERANCE_PPM, is_close};
use crate::report::log::LoggedRun;
use crate::setup::progress::say;

/// The exporter.
pub(super) struct TfaDocs;

/// A CPU's figures in nanoseconds, by cluster and core.
type Figures = BTreeMap<(u64, u64), Vec<u64>>;

impl Exporter for TfaDocs {
    fn name(&self) -> &'static str {
        "tfa-docs"
    }

    fn about(&self) -> &'static str {
        "data files of TF-A's docs/perf, below the directory -o; --platform names the folder"
    }

    fn takes(&self) -> Takes {
        Takes {
            comparisons: true,
            platform: true,
            ..Takes::default()
        }
    }

    fn is_tree(&self) -> bool {
        true
    }

    fn write(&self, _: &Report, _: &Options, _: &mut dyn Write) -> Result<()> {
        bail!("tfa-docs is a tree of files: name the directory by -o")
    }

    fn write_tree(&self, report: &Report, options: &Options, root: &Path) -> Result<()> {
        let run = only_run(report, "tfa-docs")?;
        let Some(platform) = &options.platform else {
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
        let framed = run.framed();
        let tests = framed.iter().map(|it| (it, figures(run, it)));
        let tests: Vec<(&Scenario, Figures)> = tests.filter(|it| !it.1.is_empty()).collect();
        if tests.is_empty() {
            bail!(
                "{input}: no figure for tfa-docs, which takes PMF's by method tftf: nothing was written"
            );
        }
        for scenario in ScenarioId::SUITE {
            let measured = tests.iter().find(|it| it.0.id == scenario);
            let cpus = measured.map_or(0, |it| it.1.len());
            if cpus < run.run.cpus.len() {
                say(&format!(
                    "{input}: {}.csv has {cpus} of {} CPUs: the run has no figure for the others",
                    scenario.tag(),
                    run.run.cpus.len()
                ));
            }
        }
        let place = root.join("docs/perf/data").join(platform);
        let comparison = report.comparisons.first();
        let baseline = comparison.map(baseline);
        let tolerance = comparison.map_or(TOLERANCE_PPM, |it| it.tolerance_ppm);
        let changed = write_all(&tests, baseline.as_ref(), tolerance, &place)?;
        say(&match changed {
            true => format!("{}: current is of {input} now", place.display()),
            false => format!(
                "{}: current is of these figures already: nothing was changed",
                place.display()
            ),
        });
        Ok(())
    }
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

/// The baseline's figures by file.
struct Baseline {
    files: BTreeMap<String, Figures>,
    /// Those that the figures may be compared with: not across methods unless
    /// that was asked for, and not where labels are ambiguous.
    comparable: Vec<String>,
}

fn baseline(comparison: &Comparison) -> Baseline {
    let run = &comparison.baseline;
    let framed = run.framed();
    let files = framed.iter().map(|test| (file(test), figures(run, test)));
    let compared = comparison.scenarios.iter();
    let compared = compared.filter(|_| comparison.keyed != Keyed::Ambiguous);
    Baseline {
        files: files.filter(|it| !it.1.is_empty()).collect(),
        comparable: compared.map(|it| format!("{}.csv", it.key.id)).collect(),
    }
}

/// Returns the name of a scenario's file.
fn file(scenario: &Scenario) -> String {
    format!("{}.csv", scenario.id)
}

fn write_all(
    tests: &[(&Scenario, Figures)],
    baseline: Option<&Baseline>,
    tolerance: u32,
    place: &Path,
) -> Result<bool> {
    let in_place = |name: &str| place.join(name);
    let (current, previous) = (in_place("current"), in_place("previous"));
    let (next, old) = (in_place("current.partial"), in_place("previous.partial"));
    let former = in_place("baseline.partial");
    remove([&next, &old, &former])?;
    let mut files = Vec::new();
    let mut is_there = true;
    for (test, figures) in tests {
        let name = file(test);
        let there = read(&current.join(&name))?;
        is_there &= *figures == there;
        let before = match baseline {
            None => there,
            Some(it) => match it.files.get(&name) {
                Some(before) if it.comparable.contains(&name) => before.clone(),
                _ => Figures::new(),
            },
        };
        files.push((name, figures, before));
    }
    // With a baseline that is not what is there it is another change that is
    // asked for.
    let same = |it: &(String, &Figures, Figures)| *it.1 == it.2;
    if is_there && (baseline.is_none() || files.iter().all(same)) {
        return Ok(false);
    }
    nothing_is_lost(tests, &current)?;
    fs::create_dir_all(&next).with_context(|| next.display().to_string())?;
    for (name, figures, before) in &files {
        write(&next.join(name), figures, before, tolerance)?;
    }
    if let Some(baseline) = baseline {
        fs::create_dir_all(&former).with_context(|| former.display().to_string())?;
        for (name, figures) in &baseline.files {
            write(&former.join(name), figures, &Figures::new(), tolerance)?;
        }
    }
    // From here on there is nothing to compute that could fail.
    let rename = |from: &Path, to: &Path| {
        fs::rename(from, to).with_context(|| format!("{} to {}", from.display(), to.display()))
    };
    if previous.is_dir() && (baseline.is_some() || current.is_dir()) {
        rename(&previous, &old)?;
    }
    match baseline {
        Some(_) => {
            rename(&former, &previous)?;
            if current.is_dir() {
                rename(&current, &former)?;
            }
        }
        None if current.is_dir() => rename(&current, &previous)?,
        None => {}
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
fn nothing_is_lost(tests: &[(&Scenario, Figures)], current: &Path) -> Result<()> {
    if !current.is_dir() {
        return Ok(());
    }
    let advice = "report a run that has it, or remove it first; nothing was written";
    for entry in fs::read_dir(current).with_context(|| current.display().to_string())? {
        let path = entry.with_context(|| current.display().to_string())?.path();
        if path.extension().is_none_or(|it| it != "csv") {
            continue;
        }
        let own = tests.iter().find(|it| {
            path.file_name()
                .is_some_and(|name| name == file(it.0).as_str())
        });
        let Some((_, figures)) = own else {
            bail!(
                "{}: the run has no figure for this file: {advice}",
                path.display()
            );
        };
        let there = read(&path)?;
        if let Some((cluster, core)) = there.keys().find(|cpu| !figures.contains_key(cpu)) {
            bail!(
                "{}: the run has no figure for CPU {cluster}.{core} of this file: {advice}",
                path.display()
            );
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

fn write(path: &Path, figures: &Figures, before: &Figures, tolerance: u32) -> Result<()> {
    let mut out = WriterBuilder::new()
        .quote_style(QuoteStyle::Always)
        .terminator(Terminator::Any(b'\n'))
        .from_path(path)
        .with_context(|| path.display().to_string())?;
    for (cpu, figures) in figures {
        let before = before.get(cpu);
        let mut cells = vec![cpu.0.to_string(), cpu.1.to_string()];
        for (column, new) in figures.iter().enumerate() {
            let old = before.and_then(|before| before.get(column));
            cells.push(cell(*new, old.copied(), tolerance));
        }
        out.write_record(&cells)?;
    }
    out.flush()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes() {
        let cell = |new, old| cell(new, old, TOLERANCE_PPM);
        assert_eq!(cell(185_700, Some(267_220)), "185700 (-30.51%)");
        assert_eq!(cell(102, Some(100)), "102");
        assert_eq!(cell(103, Some(100)), "103 (+3.00%)");
        assert_eq!(cell(7, Some(0)), "7");
        assert_eq!(cell(0, Some(7)), "0 (-100.00%)");
        assert_eq!(cell(7, None), "7");
    }
}
