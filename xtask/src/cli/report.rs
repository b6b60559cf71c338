//! `cargo xtask report`.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write, stdin};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::arguments::ReportArguments;
use super::{files, overhead};
use crate::lab::serial;
use crate::report::analysis::compare;
use crate::report::analysis::merge::{merge, take_repeats};
use crate::report::export::{self, Exporter, Options, Report, Takes};
use crate::report::jobs;
use crate::report::jobs::matrix::{Matrix, matrix};
use crate::report::jobs::outcome::{Outcome, outcome};
use crate::report::log::{Input, read, tables};
use crate::report::model::{Run, heading};
use crate::setup::plural::many;
use crate::setup::progress::say;
use crate::setup::stdout::Out;

/// Exit code when a log is incomplete or damaged beyond its second copy.
pub(super) const INCOMPLETE: u8 = 3;
/// Exit code when a figure is worse than the baseline's.
const REGRESSION: u8 = 1;
/// A serial port's speed, unless another is asked for.
const BAUD: u32 = 115_200;
/// How many seconds to follow a run, unless that is asked for.
const TIMEOUT: u64 = 3600;
/// Exit code when a job, a test case or a verdict is not passed, or when something
/// is skipped that must not be.
pub(super) const FAILED: u8 = 1;

pub(super) fn run(arguments: &ReportArguments) -> Result<u8> {
    if let Some(plain) = &arguments.overhead {
        return overhead::of_logs(arguments, plain);
    }
    let exporter = arguments.format;
    check_wishes(arguments, exporter)?;
    check_output(arguments, exporter)?;
    // The baseline first: a run that is followed takes its time.
    let baseline = arguments.baseline.as_deref();
    let baseline = baseline.map(|path| read_baseline(path, arguments.baseline_run));
    let baseline = baseline.transpose()?;
    let mut report = match &arguments.serial {
        Some(device) => follow(device, arguments)?,
        None if arguments.matrix => read_jobs(arguments)?,
        None => read_all(&arguments.logs)?,
    };
    if let Some(place) = arguments.run {
        let count = report.runs.len();
        if place > count {
            bail!("--run {place}: there are {count} runs");
        }
        report.runs = report.runs.drain(..).skip(place - 1).take(1).collect();
    }
    if arguments.merge {
        for (repeat, first) in take_repeats(&mut report.runs) {
            say(&format!(
                "{} (run {}) is {} (run {}) again, to the last tick: it is counted once",
                repeat.input, repeat.place, first.input, first.place
            ));
        }
        report.merged = Some(merge(&report.runs)?);
    }
    if let Some(baseline) = &baseline {
        let options = compare::Options {
            tolerance_ppm: arguments.rtol,
            across: arguments.across.clone(),
            rows_are: arguments.rows_are.clone(),
        };
        report.comparisons = compare::compare(&report.runs, baseline, &options)?;
    }
    let options = Options {
        platform: arguments.platform.clone(),
    };
    write(&report, exporter, &options, arguments.output.as_deref())?;
    let mut code = judge(&report, baseline.as_ref());
    // A matrix names them by their jobs.
    if arguments.deny_skipped && !arguments.matrix {
        for run in &report.runs {
            let Some(denied) = run.denied() else { continue };
            code = code.max(FAILED);
            let source = &run.source;
            say(&format!(
                "{} (run {}): {denied}",
                source.input, source.place
            ));
        }
    }
    Ok(match &report.matrix {
        Some(matrix) => judge_jobs(matrix, &report.runs).max(code),
        None => code,
    })
}

/// Jobs of lab engines, and the runs in their logs.
fn read_jobs(arguments: &ReportArguments) -> Result<Report> {
    let found = jobs::find(&arguments.logs)?;
    // What was measured is not there a second time.
    if let Some(output) = &arguments.output {
        for input in found.inputs() {
            files::apart(("-o", output), ("--matrix", Some(&input)))?;
        }
        for dir in found.results() {
            files::outside(("-o", output), &dir, "a cell's results")?;
        }
    }
    let (mut jobs, runs) = jobs::read_all(&found)?;
    for job in &mut jobs {
        job.deny_skipped |= arguments.deny_skipped;
    }
    let mut matrix = matrix(jobs, &runs);
    matrix.unread.extend(found.unread);
    matrix.notes.extend(found.notes);
    Ok(Report {
        matrix: Some(matrix),
        runs,
        ..Report::default()
    })
}

/// Says what is wrong with jobs, and the exit code for it.
fn judge_jobs(matrix: &Matrix, runs: &[Run]) -> u8 {
    let mut worst = 0;
    let of_jobs = matrix.jobs.iter().flat_map(|job| &job.notes);
    for note in matrix.notes.iter().chain(of_jobs) {
        say(note);
    }
    for what in &matrix.unread {
        worst = INCOMPLETE;
        say(what);
    }
    for job in &matrix.jobs {
        let (outcome, said) = outcome(job, runs);
        let code = match outcome {
            Outcome::Passed => continue,
            Outcome::Failed => FAILED,
            Outcome::Incomplete => INCOMPLETE,
        };
        worst = code.max(worst);
        let said = said.join("; ");
        let mark = if said.is_empty() { "" } else { ": " };
        say(&format!("{}: {}{mark}{said}", job.name, outcome.word()));
    }
    worst
}

/// The run to compare with.
fn read_baseline(path: &Path, place: Option<usize>) -> Result<Run> {
    let mut runs = if tables::are_at(path) {
        vec![tables::read(path)?]
    } else {
        read_all(&[path.to_owned()])?.runs
    };
    let count = runs.len();
    match place {
        Some(place) if place <= count => Ok(runs.swap_remove(place - 1)),
        Some(place) => bail!("--baseline-run {place}: there are {count} runs"),
        None if count == 1 => Ok(runs.swap_remove(0)),
        None => bail!(
            "--baseline {}: there are {count} runs: choose one by --baseline-run N",
            path.display()
        ),
    }
}

/// Follows a run, and reads what came.
fn follow(device: &Path, arguments: &ReportArguments) -> Result<Report> {
    let interrupt = super::main::interruption()?;
    let source = serial::Source {
        device,
        baud: arguments.baud.unwrap_or(BAUD),
    };
    let followed = serial::follow(
        &source,
        Duration::from_secs(arguments.timeout.unwrap_or(TIMEOUT)),
        &interrupt,
        arguments.log.as_deref(),
    )?;
    say(&followed.to_string());
    let runs = read([Input {
        name: device.display().to_string(),
        from: followed.log.as_slice(),
    }])?;
    Ok(runs.into())
}

/// Refuses what would be left undone without a word.
fn check_wishes(arguments: &ReportArguments, exporter: &dyn Exporter) -> Result<()> {
    type Has = fn(Takes) -> bool;
    let wishes: [(&str, bool, Has); 4] = [
        ("--merge", arguments.merge, |it| it.merged),
        ("--matrix", arguments.matrix, |it| it.matrix),
        ("--baseline", arguments.baseline.is_some(), |it| {
            it.comparisons
        }),
        ("--platform", arguments.platform.is_some(), |it| it.platform),
    ];
    let undone = wishes.iter().find(|it| it.1 && !it.2(exporter.takes()));
    if let Some((option, _, has)) = undone {
        let able = export::ALL.into_iter().filter(|it| has(it.takes()));
        let able: Vec<&str> = able.map(Exporter::name).collect();
        bail!(
            "--format {} has no place for {option}; these have: {}",
            exporter.name(),
            able.join(", ")
        );
    }
    // clap waives what an option requires where that is in conflict with LOG.
    let of_serial = [
        ("--log", arguments.log.is_some()),
        ("--baud", arguments.baud.is_some()),
        ("--timeout", arguments.timeout.is_some()),
    ];
    if let Some((option, _)) = of_serial.iter().find(|it| it.1)
        && arguments.serial.is_none()
    {
        bail!("{option} is for a run that is followed: name its port by --serial");
    }
    Ok(())
}

fn check_output(arguments: &ReportArguments, exporter: &dyn Exporter) -> Result<()> {
    if let Some(log) = &arguments.log {
        files::writable(("--log", log))?;
        files::apart(
            ("--log", log),
            ("--baseline", arguments.baseline.as_deref()),
        )?;
        if let Some(output) = &arguments.output {
            files::distinct(("--log", log), ("-o", output))?;
        }
    }
    let Some(path) = &arguments.output else {
        if exporter.is_tree() {
            bail!(
                "--format {} writes a tree of files: name its directory by -o",
                exporter.name()
            );
        }
        return Ok(());
    };
    if exporter.is_tree() {
        if path.exists() && !path.is_dir() {
            bail!("-o {}: this is no directory", path.display());
        }
        return Ok(());
    }
    files::writable(("-o", path))?;
    let named = [
        ("--baseline", &arguments.baseline),
        ("--log", &arguments.log),
    ];
    let logs = arguments
        .logs
        .iter()
        .map(|log| ("LOG", Some(log.as_path())));
    for file in named
        .map(|(name, file)| (name, file.as_deref()))
        .into_iter()
        .chain(logs)
    {
        files::apart(("-o", path), file)?;
    }
    Ok(())
}

pub(super) fn read_all(logs: &[PathBuf]) -> Result<Report> {
    let mut report = Report::default();
    for log in logs {
        if log == Path::new("-") {
            report.runs.extend(read_one("stdin", stdin().lock())?);
        } else if tables::are_at(log) {
            report.runs.push(tables::read(log)?);
        } else {
            let name = log.display().to_string();
            let file = File::open(log).with_context(|| name.clone())?;
            report.runs.extend(read_one(&name, file)?);
        }
    }
    Ok(report)
}

fn read_one(name: &str, from: impl Read) -> Result<Vec<Run>> {
    let name = name.to_owned();
    Ok(read([Input { name, from }])?)
}

fn write(
    report: &Report,
    exporter: &dyn Exporter,
    options: &Options,
    output: Option<&Path>,
) -> Result<()> {
    match output {
        Some(dir) if exporter.is_tree() => {
            fs::create_dir_all(dir).with_context(|| format!("-o {}", dir.display()))?;
            exporter.write_tree(report, options, dir)
        }
        Some(path) => files::write_by(("-o", path), |out| exporter.write(report, options, out)),
        None => {
            let mut out = BufWriter::new(Out::default());
            exporter.write(report, options, &mut out)?;
            Ok(out.flush()?)
        }
    }
}

/// Says what is wrong, and the exit code for it: a log that is incomplete has
/// figures that can not be relied on, and comes before what they say.
fn judge(report: &Report, baseline: Option<&Run>) -> u8 {
    let mut code = 0;
    for comparison in &report.comparisons {
        let points = comparison.point_regressions().count();
        let count = comparison.regressions().count() + points;
        if count == 0 {
            continue;
        }
        code = REGRESSION;
        let rows = comparison.regressions().map(|(test, change)| {
            let name = heading(&change.metric).to_owned();
            (name, test, change.percent())
        });
        let points = comparison
            .point_regressions()
            .map(|(test, change)| (change.point.key(), test, change.percent()));
        let far = |percent: Option<f64>| percent.unwrap_or(f64::INFINITY);
        let worst = rows
            .chain(points)
            .max_by(|a, b| far(a.2).total_cmp(&far(b.2)));
        let worst = worst.map_or(String::new(), |(name, test, percent)| {
            format!(
                "; the greatest is {name} in {}, {}",
                test.scenario.word(),
                percent.map_or("from zero".to_owned(), |it| format!("{it:+.2} %"))
            )
        });
        let count = many(count, "regression");
        let baseline = &comparison.baseline.source.input;
        say(&format!("{count} against {baseline}{worst}"));
    }
    for comparison in &report.comparisons {
        for lack in comparison.lacks() {
            code = INCOMPLETE;
            say(&format!(
                "the comparison with {} is incomplete: {lack}",
                comparison.baseline.source.input
            ));
        }
    }
    for run in report.runs.iter().chain(baseline) {
        let (input, place) = (&run.source.input, run.source.place);
        for doubt in run.doubts() {
            say(&format!("{input} (run {place}): {doubt}"));
        }
    }
    if !all_complete(report.runs.iter().chain(baseline)) {
        code = INCOMPLETE;
    }
    code
}

/// Whether all `runs` are there to their ends; says what lacks of which is not.
pub(super) fn all_complete<'r>(runs: impl IntoIterator<Item = &'r Run>) -> bool {
    let mut complete = true;
    for run in runs.into_iter().filter(|run| !run.is_complete()) {
        complete = false;
        let source = &run.source;
        say(&format!(
            "{} (run {}): {}",
            source.input,
            source.place,
            lacks(run)
        ));
    }
    complete
}

/// What an incomplete run lacks, and what to do.
fn lacks(run: &Run) -> String {
    let mut all = run.integrity.shortfalls();
    if run.integrity.records.is_none() && run.version.is_some() {
        all.push("no record".to_owned());
    }
    all.push(run.end_lacks());
    format!("incomplete: {}", all.join("; "))
}
