//! `tfa-docs`: the data files of TF-A's documentation since May 2026.
//!
//! `docs/perf/data/PLATFORM/{current,previous}/TEST.csv`: integer nanoseconds,
//! no header, every field quoted, lines end in LF. A figure that is not within
//! 2 % of the previous one's has the change behind it: `185700 (-30.51%)`.
//!
//! What is in `current` becomes `previous`, and is what the new figures are
//! compared with, a CPU with itself. The new files are complete before the old
//! ones are moved; where `current` has these very figures already, nothing is
//! touched, so that a second call does not lose the release before.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use csv::{QuoteStyle, ReaderBuilder, Terminator, WriterBuilder};
use psci_bench::plan::Method;

use super::super::model::{Report, Run, Test};
use super::{Exporter, Options, only_run};

/// The exporter.
pub(super) struct TfaDocs;

/// A change is told where it is more than this share of the larger figure.
const TOLERANCE_PERCENT: u64 = 2;

/// A CPU's figures in nanoseconds, by cluster and core.
type Figures = BTreeMap<(u64, u64), Vec<u64>>;

impl Exporter for TfaDocs {
    fn name(&self) -> &'static str {
        "tfa-docs"
    }

    fn about(&self) -> &'static str {
        "data files of TF-A's docs/perf, below the directory -o; --platform names the folder"
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
        let tests: Vec<(&Test, Figures)> = run
            .tests
            .iter()
            .filter(|test| test.method.is(Method::Tftf) && test.scenario.known().is_some())
            .map(|test| (test, figures(run, test)))
            .filter(|(_, figures)| !figures.is_empty())
            .collect();
        if tests.is_empty() {
            bail!(
                "{}: no figure for tfa-docs, which takes PMF's by method tftf: nothing was written",
                run.source.input
            );
        }
        let place = root.join("docs/perf/data").join(platform);
        write_all(&tests, &place)
    }
}

/// What TF-A's tables hold of a test: PMF's figures.
fn figures(run: &Run, test: &Test) -> Figures {
    if test.pmf == Some(false) {
        return Figures::new();
    }
    let rows = test.rows.iter().filter_map(|row| {
        let cpu = run.cpus.get(row.cpu)?;
        let ns = row.figures.iter().map(|figure| run.ns(figure.1));
        let mut ns: Vec<u64> = ns.collect::<Option<_>>()?;
        // Standby flushes nothing, and the table has a column for it.
        if ns.len() == 2 {
            ns.push(0);
        }
        let key = (u64::from(cpu.cluster), run.core_number(cpu));
        matches!(ns.len(), 1 | 3).then_some((key, ns))
    });
    rows.collect()
}

fn write_all(tests: &[(&Test, Figures)], place: &Path) -> Result<()> {
    let in_place = |name: &str| place.join(name);
    let (current, previous) = (in_place("current"), in_place("previous"));
    let (next, old) = (in_place("current.partial"), in_place("previous.partial"));
    for dir in [&next, &old] {
        if dir.exists() {
            fs::remove_dir_all(dir).with_context(|| dir.display().to_string())?;
        }
    }
    let mut files = Vec::new();
    for (test, figures) in tests {
        let name = format!("{}.csv", test.scenario.word());
        let before = read(&current.join(&name))?;
        files.push((name, figures, before));
    }
    if files.iter().all(|(_, figures, before)| *figures == before) {
        return Ok(());
    }
    fs::create_dir_all(&next).with_context(|| next.display().to_string())?;
    for (name, figures, before) in &files {
        write(&next.join(name), figures, before)?;
    }
    // From here on there is nothing to compute that could fail.
    let rename = |from: &Path, to: &Path| {
        fs::rename(from, to).with_context(|| format!("{} to {}", from.display(), to.display()))
    };
    if current.is_dir() {
        if previous.is_dir() {
            rename(&previous, &old)?;
        }
        rename(&current, &previous)?;
    }
    rename(&next, &current)?;
    if old.is_dir() {
        fs::remove_dir_all(&old).with_context(|| old.display().to_string())?;
    }
    Ok(())
}

/// The figures of a file; none where there is no file.
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

fn write(path: &Path, figures: &Figures, before: &Figures) -> Result<()> {
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
            cells.push(cell(*new, old.copied()));
        }
        out.write_record(&cells)?;
    }
    out.flush()?;
    Ok(())
}

/// A figure, and its change where there is one to tell. From zero there is no
/// change in percent.
fn cell(new: u64, old: Option<u64>) -> String {
    match old {
        Some(old) if old > 0 && !is_close(new, old) => {
            let change = (new as f64 - old as f64) / old as f64 * 100.0;
            format!("{new} ({change:+.2}%)")
        }
        _ => new.to_string(),
    }
}

fn is_close(a: u64, b: u64) -> bool {
    let (a, b) = (u128::from(a), u128::from(b));
    a.abs_diff(b) * 100 <= a.max(b) * u128::from(TOLERANCE_PERCENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes() {
        assert_eq!(cell(185_700, Some(267_220)), "185700 (-30.51%)");
        assert_eq!(cell(102, Some(100)), "102");
        assert_eq!(cell(103, Some(100)), "103 (+3.00%)");
        assert_eq!(cell(7, Some(0)), "7");
        assert_eq!(cell(0, Some(7)), "0 (-100.00%)");
        assert_eq!(cell(7, None), "7");
    }
}
