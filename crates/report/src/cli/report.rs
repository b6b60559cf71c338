//! `cargo xtask report`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::TypedValueParser;
use host::exit_code::{FAILED, INCOMPLETE};
use host::files;
use host::interrupt;
use host::log_file::LogFile;
use host::progress::say;
use host::read_file;
use itertools::Itertools as _;
use thiserror::Error;

use super::chosen_runs::{ChosenRuns, read_each};
use super::overhead;
use super::parse_share;
use super::report_verdict::{judge, judge_jobs, say_of};
use crate::analysis::audit::{self, AuditOutcome};
use crate::analysis::compare::{self, Across, RowIs};
use crate::analysis::merge::{merge, take_repeats};
use crate::analysis::typical::typical;
use crate::export::{self, Format, FormatWriter, Report, ReportPart, TreeWishes};
use crate::follow::explain_marks;
use crate::follow::serial;
use crate::follow::serial::TIMEOUT_MAX;
use crate::follow::stream::closing;
use crate::jobs;
use crate::jobs::matrix::matrix;
use crate::log::{LoggedRun, page, runs};
use crate::profile::beside;

const BAUD: u32 = 115_200;
/// The most bytes of a log whose boot is explained by its marks.
const BOOT_LOG_MAX: usize = 1 << 20;
/// Seconds to follow a run, unless an option gives them.
const TIMEOUT: u64 = 3600;

/// Turn UART logs into a report.
///
/// Reads logs of psci-bench, and of TFTF's runtime instrumentation, as
/// terminals and LAVA keep them: with time stamps, colors and any line
/// ends. A log may hold several runs. Figures come from records, which have
/// checksums. A log without any record, as TFTF's, has its figures in lines
/// without a checksum: they are marked.
#[derive(Args, Debug)]
pub struct ReportArguments {
    /// The logs, or published tables: a CSV file, a folder of them, or a page.
    /// - is stdin.
    #[arg(
        required_unless_present = "serial",
        conflicts_with = "serial",
        value_name = "LOG"
    )]
    pub logs: Vec<PathBuf>,
    /// The format.
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = parse_format)]
    pub format: &'static Format,
    /// The file to write, or the directory of a tree [default: stdout].
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Only this run of all that are in the logs, from 1.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..).map(|n| n as usize))]
    pub run: Option<usize>,
    /// Merge all runs, which have to be of one board, by MPIDR.
    #[arg(long, conflicts_with = "run")]
    pub merge: bool,
    /// Put the runs of all logs side by side, by board and firmware. Here LOG
    /// may also be what `cargo xtask lab` has written, with its results: LAVA's
    /// logs and result YAML, labgrid's logs and JUnit. A job or test case that
    /// failed is an error then.
    #[arg(long, conflicts_with_all = ["run", "merge", "baseline", "serial", "overhead"])]
    pub matrix: bool,
    /// Compare each change that a published page prints with what it should be,
    /// by the tables of its two newest releases: LOG is a page, such as TF-A's
    /// docs/perf/psci-performance-juno.rst.
    #[arg(long, conflicts_with_all = ["run", "merge", "matrix", "baseline", "serial", "overhead", "deny_skipped", "platform", "rows_are", "across"], group = "against")]
    pub audit: bool,
    /// Exit with 1 where a run has skipped a scenario or a CPU's row of one. What
    /// was skipped is named.
    #[arg(long, conflicts_with = "overhead")]
    pub deny_skipped: bool,
    /// The platform's name in TF-A's documentation, for --format tfa-docs.
    #[arg(long, value_name = "NAME")]
    pub platform: Option<String>,
    /// Write also the page that shows the figures, docs/perf/psci-performance-NAME.rst.
    /// Of a page that is there, only what is between its marks is written anew.
    #[arg(long)]
    pub page: bool,
    /// Compare with this log, or with these tables: a CSV file, a folder of
    /// them, or a page. Of several, with the typical run.
    #[arg(long, value_name = "PATH", conflicts_with = "merge", group = "against")]
    pub baseline: Vec<PathBuf>,
    /// Which run of the baseline's log, from 1.
    #[arg(long, value_name = "N", requires = "baseline", value_parser = clap::value_parser!(u64).range(1..).map(|n| n as usize))]
    pub baseline_run: Option<usize>,
    /// Tell what the firmware's instrumentation costs: LOG is a run under the
    /// build with PMF, and this one under the build without.
    #[arg(long, value_name = "PLAIN", conflicts_with_all = ["baseline", "merge", "format", "output", "serial", "run"])]
    pub overhead: Option<PathBuf>,
    /// Share of the larger figure below which a difference is no change, such as
    /// 0.02 or 2%; with --audit, below which one need not be printed.
    #[arg(long, value_name = "SHARE", requires = "against", default_value = "2%", allow_negative_numbers = true, value_parser = parse_share)]
    pub rtol: u32,
    /// Compare though this differs: methods, states (power_state), wakes
    /// (wake-up patterns), boards (also where one is not known); or though the run
    /// has fewer scenarios, or cpus, than the baseline; with commas between.
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',', value_parser = parse_across)]
    pub across: Vec<Across>,
    /// Which CPUs rows are, in their order: MPIDRs, or labels such as 1.0. On each
    /// side whose labels repeat, else in the baseline.
    #[arg(
        long,
        value_name = "MPIDR,…",
        requires = "baseline",
        value_delimiter = ','
    )]
    pub rows_are: Vec<RowIs>,
    /// Follow a run on this serial port, or on stdin (-), and report at its
    /// end.
    #[arg(long, value_name = "DEVICE")]
    pub serial: Option<PathBuf>,
    /// The serial port's speed [default: 115200].
    #[arg(long, value_name = "N", requires = "serial", value_parser = clap::value_parser!(u32).range(300..=12_000_000))]
    pub baud: Option<u32>,
    /// Write what the serial port says to this file.
    #[arg(short, long, value_name = "FILE", requires = "serial")]
    pub log: Option<PathBuf>,
    /// Most seconds to follow [default: 3600].
    #[arg(long, value_name = "SECONDS", requires = "serial", value_parser = clap::value_parser!(u64).range(1..=TIMEOUT_MAX))]
    pub timeout: Option<u64>,
}

/// Runs `report`. Returns its exit code.
///
/// # Errors
/// Bad input or use.
pub fn run(arguments: &ReportArguments) -> Result<u8> {
    if let Some(plain) = &arguments.overhead {
        return overhead::of_logs(&arguments.logs, plain);
    }
    let result = run_report(arguments);
    if !matches!(result, Ok(0 | FAILED)) {
        say_marks(&arguments.logs);
    }
    result
}

/// Says how far the boot came in each log that has marks and no end.
fn say_marks(logs: &[PathBuf]) {
    for log in logs.iter().filter(|log| log.is_file()) {
        // A log that cannot be read, or of more than a boot, has its own error.
        let bytes = read_file::read("", log, BOOT_LOG_MAX).unwrap_or_default();
        say_mark_of(&bytes);
    }
}

/// Says how far the boot came in a log, if it has marks and no end.
fn say_mark_of(log: &[u8]) {
    if closing(log).is_none()
        && let Some(explanation) = explain_marks(&String::from_utf8_lossy(log))
    {
        say(&explanation);
    }
}

fn run_report(arguments: &ReportArguments) -> Result<u8> {
    check_wishes(arguments)?;
    check_output(arguments)?;
    if arguments.audit {
        return audit(arguments);
    }
    // The baseline first: a run that is followed takes its time.
    let mut baseline = read_baseline(&arguments.baseline, arguments.baseline_run)?;
    let (mut report, log) = match &arguments.serial {
        Some(device) => follow(device, arguments)?,
        None if arguments.matrix => (read_jobs(arguments)?, None),
        None => {
            let mut chosen = ChosenRuns::new(arguments.run);
            read_each(&arguments.logs, |run| chosen.add(run))?;
            (chosen.end("--run", "the input")?.into(), None)
        }
    };
    if arguments.merge {
        take_repeats(&mut report.runs).iter().for_each(|it| say(it));
        report.merged = Some(merge(&report.runs)?);
    }
    if arguments.format.is_tree() && arguments.logs.len() > 1 {
        report.runs = vec![typical(&report.runs)?];
    }
    let options = options(arguments);
    if let Some(baseline) = &mut baseline {
        compare::name_rows(&mut report.runs, baseline, &arguments.rows_are)?;
        report.comparisons = compare::compare(&report.runs, baseline, &options)?;
        for comparison in &mut report.comparisons {
            let run = &report.runs[comparison.run].source.input;
            let sentences = beside::sentences(run.as_ref(), baseline.source.input.as_ref())?;
            sentences
                .into_iter()
                .for_each(|it| comparison.add_counted(it));
        }
    }
    write(&report, arguments, &options)?;
    log.map(LogFile::end).transpose()?;
    let mut code = judge(&report, baseline.as_ref());
    // A matrix names them by their jobs.
    for run in report
        .runs
        .iter()
        .filter(|_| arguments.deny_skipped && !arguments.matrix)
    {
        if let Some(denied) = run.denied() {
            code = code.max(FAILED);
            say_of(run, &denied);
        }
    }
    Ok(report
        .matrix
        .as_ref()
        .map_or(code, |matrix| judge_jobs(matrix).max(code)))
}

/// Compares what published pages print with their own tables.
fn audit(arguments: &ReportArguments) -> Result<u8> {
    if let Some(other) = arguments.logs.iter().find(|path| !page::is_at(path)) {
        bail!(
            "{}: --audit reads published pages only; name files that end in .rst",
            other.display()
        );
    }
    let pages = arguments.logs.iter().map(|path| page::read(path));
    let audits = pages.map_ok(|page| audit::audit(&page, arguments.rtol));
    let report = Report {
        audits: audits.collect::<Result<_>>()?,
        ..Report::default()
    };
    write(&report, arguments, &options(arguments))?;
    say(&audit::counts(&report.audits));
    let has = |judged| audit::count(&report.audits, judged) > 0;
    Ok(
        match (has(AuditOutcome::NotChecked), has(AuditOutcome::Wrong)) {
            (true, _) => INCOMPLETE,
            (_, true) => FAILED,
            _ => 0,
        },
    )
}

fn options(arguments: &ReportArguments) -> compare::Options {
    compare::Options {
        tolerance_ppm: arguments.rtol,
        across: arguments.across.clone(),
    }
}

fn read_jobs(arguments: &ReportArguments) -> Result<Report> {
    let found = jobs::find(&arguments.logs)?;
    // What was measured is not there a second time.
    if let Some(output) = &arguments.output {
        for input in found.inputs().chain(found.results()) {
            files::apart(("-o", output), ("--matrix", Some(&input)))?;
        }
    }
    let (jobs, runs) = jobs::read_all(&found, arguments.deny_skipped)?;
    Ok(Report {
        matrix: Some(matrix(jobs, &runs, found.unread)),
        runs,
        ..Report::default()
    })
}

/// Returns the run to compare with: of several files, the typical one.
fn read_baseline(paths: &[PathBuf], place: Option<usize>) -> Result<Option<LoggedRun>> {
    let mut chosen = ChosenRuns::new(place);
    read_each(paths, |run| chosen.add(run))?;
    let mut runs = chosen.end("--baseline-run", "the baseline")?;
    let count = runs.len();
    match place {
        Some(_) => Ok(runs.pop()),
        None if count > 1 && paths.len() == 1 => bail!(
            "--baseline {}: there are {count} runs: choose one by --baseline-run N",
            paths[0].display()
        ),
        None if runs.is_empty() => Ok(None),
        None => Ok(Some(typical(&runs)?)),
    }
}

fn follow(device: &Path, arguments: &ReportArguments) -> Result<(Report, Option<LogFile>)> {
    let interrupt = interrupt::watch()?;
    let timeout = Duration::from_secs(arguments.timeout.unwrap_or(TIMEOUT));
    let baud = arguments.baud.unwrap_or(BAUD);
    let mut log = arguments.log.as_deref().map(LogFile::at).transpose()?;
    let followed = serial::follow(device, baud, timeout, interrupt, log.as_mut())?;
    say(&followed.to_string());
    say_mark_of(&followed.log);
    let mut chosen = ChosenRuns::new(arguments.run);
    for run in runs(&device.display().to_string(), followed.log.as_slice()) {
        chosen.add(run?);
    }
    Ok((chosen.end("--run", "the input")?.into(), log))
}

/// Refuses what would be left undone without a word.
fn check_wishes(arguments: &ReportArguments) -> Result<()> {
    let format = arguments.format;
    for (option, is_given, part) in [
        ("--merge", arguments.merge, ReportPart::Merged),
        ("--matrix", arguments.matrix, ReportPart::Matrix),
        (
            "--baseline",
            !arguments.baseline.is_empty(),
            ReportPart::Comparisons,
        ),
        ("--audit", arguments.audit, ReportPart::Audits),
        ("--page", arguments.page, ReportPart::Page),
        (
            "--platform",
            arguments.platform.is_some(),
            ReportPart::Platform,
        ),
    ] {
        if is_given && !format.takes.contains(&part) {
            let able = export::ALL.iter().filter(|it| it.takes.contains(&part));
            let (name, able) = (format.name, able.map(|it| it.name).join(", "));
            bail!("--format {name} has no place for {option}; these have: {able}");
        }
    }
    if !arguments.across.is_empty() && arguments.baseline.is_empty() && !format.is_tree() {
        bail!("--across is for a comparison: name what to compare with by --baseline");
    }
    // clap waives what an option requires where that is in conflict with LOG.
    for (option, is_given) in [
        ("--log", arguments.log.is_some()),
        ("--baud", arguments.baud.is_some()),
        ("--timeout", arguments.timeout.is_some()),
    ] {
        if is_given && arguments.serial.is_none() {
            bail!("{option} is for a run that is followed: name its port by --serial");
        }
    }
    Ok(())
}

fn check_output(arguments: &ReportArguments) -> Result<()> {
    let format = arguments.format;
    let baselines = arguments.baseline.iter();
    let baselines: Vec<_> = baselines
        .map(|it| ("--baseline", Some(it.as_path())))
        .collect();
    if let Some(log) = &arguments.log {
        let serial = ("--serial", arguments.serial.as_deref());
        files::check(("--log", log), &[baselines.as_slice(), &[serial]].concat())?;
    }
    match &arguments.output {
        None if format.is_tree() => {
            let name = format.name;
            bail!("--format {name} writes a tree of files: name its directory by -o")
        }
        Some(path) if format.is_tree() && path.exists() && !path.is_dir() => {
            bail!("-o {}: this is no directory", path.display())
        }
        Some(path) if !format.is_tree() => {
            // The files of a matrix are known when its folders have been walked.
            let logs = arguments.logs.iter().filter(|_| !arguments.matrix);
            let logs = logs.map(|log| ("LOG", Some(log.as_path())));
            let others = baselines
                .into_iter()
                .chain([("--log", arguments.log.as_deref())]);
            files::check(("-o", path), &others.chain(logs).collect::<Vec<_>>())
        }
        _ => Ok(()),
    }
}

fn write(report: &Report, arguments: &ReportArguments, options: &compare::Options) -> Result<()> {
    let format = arguments.format;
    match (&format.writer, &arguments.output) {
        (FormatWriter::Tree(write_tree), Some(dir)) => {
            let wishes = TreeWishes {
                platform: arguments.platform.as_deref(),
                page: arguments.page,
                options,
            };
            write_tree(report, &wishes, dir)
        }
        (_, path) => files::write_or_print(path.as_deref(), |out| format.write(report, out)),
    }
}

/// A word that an option does not take.
#[derive(Debug, Error)]
enum WordError {
    #[error("expected methods, states, wakes, boards, scenarios or cpus")]
    Across,
    #[error("the formats are {}", export::ALL.iter().map(|it| it.name).join(", "))]
    Format,
}

fn parse_across(word: &str) -> Result<Across, WordError> {
    let found = Across::ALL.iter().find(|it| it.1 == word);
    found.map(|it| it.0).ok_or(WordError::Across)
}

/// Returns what `--help` says after the options: formats, exit codes, and examples of `program`.
pub fn after_help(program: &str) -> String {
    let formats = formats();
    format!(
        "\
Formats:
{formats}
Exit codes:
  0  done, and no regression
  1  done, and a figure is a regression against the baseline; with --matrix, a
     job, a test case or a verdict is not passed; with --deny-skipped, a
     scenario or a row is skipped; with --audit, a printed change is wrong
  2  bad input or use: no such file, no run in a log, runs that do not merge
     or cannot be compared
  3  done, but a run, the baseline, the comparison or a job of a matrix is
     incomplete, or something in it was not looked at: it is named on stderr
  Where several apply, the greatest: what is incomplete comes before what its
  figures say.

Examples:
  {program} report run.log
  {program} report run.log --format rst -o juno.rst
  {program} report monday.log tuesday.log --merge
  {program} report lava.yaml --format json | jq .runs[0].scenarios[0]
  {program} report --matrix lab --format md -o matrix.md
  {program} report run.log --format junit -o run.xml --deny-skipped
  {program} report run.log --baseline v2.12.log --rtol 0.01
  {program} report pmf.log --overhead plain.log
  {program} report juno/v2.13 --baseline juno/v2.12 --format rst
  {program} report --serial /dev/ttyUSB0 --log run.log
  {program} report run.log --format tfa-docs --platform juno --page -o ../trusted-firmware-a
  {program} report --audit docs/perf/psci-performance-juno.rst"
    )
}

fn formats() -> String {
    let line = |it: &Format| format!("  {:<13} {}\n", it.name, it.about);
    export::ALL.iter().map(line).collect()
}

fn parse_format(name: &str) -> Result<&'static Format, WordError> {
    export::by_name(name).ok_or(WordError::Format)
}
