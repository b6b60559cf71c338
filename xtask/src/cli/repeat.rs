//! `cargo xtask qemu --repeat`: repeats a run to find faults that occur only rarely.
//!
//! The log of a run that did not pass is kept. Each run adds a line to the summary. Tests replace
//! the machine with their own [`RunMachine`].

use std::fmt;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use follow::RunWatcher;
use follow::stream::MachineEnding;
use hardware::text::plural::many;
use host::interrupt;
use host::places::next_free;
use host::progress::{StepProgress, in_words, say};
use host::stdout::Out;
use runner::qemu::prepare;
use runner::qemu::run_result::RunResult;
use runner::setup::workspace::Workspace;
use suite::model::Verdict;

use super::qemu::QemuArguments;

const SUMMARY: &str = "summary.txt";

/// Runs the machine once more.
type RunMachine<'r> = dyn FnMut() -> Result<RunResult> + 'r;

/// Runs up to `count` times and returns the exit code of the worst run. Logs of runs that do not
/// pass are kept in `--keep`, which must be new or empty, or else in a new folder of the tool's own.
pub(super) fn run(arguments: &QemuArguments, count: u64) -> Result<u8> {
    let dir = arguments.keep.as_deref();
    dir.map(RepeatFolder::check).transpose()?;
    let spec = arguments.run.to_spec()?;
    let interrupt = interrupt::watch()?;
    let prepared = prepare::prepare(&spec)?;
    let mut folder = match dir {
        Some(dir) => RepeatFolder::at(dir)?,
        None => RepeatFolder::in_next(&Workspace::find()?.state().join("repeat"))?,
    };
    say(&format!("logs and summary: {}", folder.dir.display()));
    let mut run = || {
        let progress = StepProgress::on_terminal("starting QEMU");
        let mut watcher = RunWatcher::with_progress(progress);
        prepared.run(interrupt, &mut watcher)
    };
    let totals = repeat_by(&mut run, count, &mut folder, &mut Out::default())?;
    Ok(totals.exit_code())
}

/// Runs up to `count` times, until the user interrupts a run, or until a run rejects its input,
/// which the next run would reject too. Writes a line for each run, and the totals, to `out` and to
/// the summary.
fn repeat_by(
    run: &mut RunMachine<'_>,
    count: u64,
    folder: &mut RepeatFolder,
    out: &mut dyn Write,
) -> Result<Totals> {
    let (mut totals, started) = (Totals::default(), Instant::now());
    let ran = run_each(run, count, folder, out, &mut totals);
    let time = in_words(Duration::from_secs(started.elapsed().as_secs()));
    let (logs, dir) = (folder.logs, folder.dir.display());
    let text = format!("\n{totals}, in {time}\nlogs kept: {logs}, in {dir}");
    let written = write_both(&text, folder, out);
    ran.and(written).and(Ok(totals))
}

fn run_each(
    run: &mut RunMachine<'_>,
    count: u64,
    folder: &mut RepeatFolder,
    out: &mut dyn Write,
    totals: &mut Totals,
) -> Result<()> {
    for number in 1..=count {
        let result = run()?;
        if result.ending == MachineEnding::Interrupted {
            // An interrupt is not a result of the run.
            let line = format!("run {number}: interrupted, not counted");
            return write_both(&line, folder, out);
        }
        totals.add(result.verdict);
        let positions = result
            .positions
            .iter()
            .map(|position| format!("\n  {position}"));
        let line = format!(
            "run {number}: {}{}",
            result.line(),
            positions.collect::<String>()
        );
        write_both(&line, folder, out)?;
        if result.verdict != Verdict::Pass {
            folder.log(number, &result)?;
        }
        if result.verdict == Verdict::BadInput {
            return Ok(());
        }
    }
    Ok(())
}

/// Writes `text` to `out` and to the summary.
fn write_both(text: &str, folder: &mut RepeatFolder, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "{text}")?;
    out.flush()?;
    folder.note(text)
}

/// The number of runs by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    passed: u64,
    failed: u64,
    refused: u64,
    incomplete: u64,
}

impl Totals {
    fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Pass => self.passed += 1,
            Verdict::Fail => self.failed += 1,
            Verdict::BadInput => self.refused += 1,
            Verdict::Incomplete => self.incomplete += 1,
        }
    }

    fn runs(self) -> u64 {
        self.passed + self.failed + self.refused + self.incomplete
    }

    /// Returns the exit code of the worst run, or that of an incomplete run if there were no runs.
    fn exit_code(self) -> u8 {
        let verdict = match self {
            _ if self.failed > 0 => Verdict::Fail,
            _ if self.refused > 0 => Verdict::BadInput,
            _ if self.incomplete > 0 || self.passed == 0 => Verdict::Incomplete,
            _ => Verdict::Pass,
        };
        verdict.exit_code()
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = many(usize::try_from(self.runs()).unwrap_or(usize::MAX), "run");
        write!(
            f,
            "{runs}: {} PASS, {} FAIL, {} bad input, {} INCOMPLETE",
            self.passed, self.failed, self.refused, self.incomplete
        )
    }
}

/// The folder for the logs, and the summary in it.
#[derive(Debug)]
struct RepeatFolder {
    dir: PathBuf,
    summary: File,
    /// The number of logs.
    logs: u64,
}

impl RepeatFolder {
    /// Rejects a folder that is not empty.
    fn check(dir: &Path) -> Result<()> {
        let named = || format!("--keep {}", dir.display());
        if dir.exists() && fs::read_dir(dir).with_context(named)?.next().is_some() {
            bail!(
                "{}: this directory is not empty; specify a new one",
                named()
            );
        }
        Ok(())
    }

    /// Opens `dir`, creating it if it does not exist.
    fn at(dir: &Path) -> Result<Self> {
        Self::check(dir)?;
        fs::create_dir_all(dir).with_context(|| format!("--keep {}", dir.display()))?;
        Self::begin(dir.to_path_buf())
    }

    /// Creates a folder in `parent`, named after the next unused number.
    fn in_next(parent: &Path) -> Result<Self> {
        Self::begin(next_free(parent, "", fs::create_dir)?.0)
    }

    fn begin(dir: PathBuf) -> Result<Self> {
        let path = dir.join(SUMMARY);
        let summary = File::create(&path).with_context(|| path.display().to_string())?;
        let logs = 0;
        Ok(Self { dir, summary, logs })
    }

    /// Adds `text` to the summary.
    fn note(&mut self, text: &str) -> Result<()> {
        let written = writeln!(self.summary, "{text}");
        written.with_context(|| self.dir.join(SUMMARY).display().to_string())
    }

    /// Keeps the log of run `number`.
    fn log(&mut self, number: u64, result: &RunResult) -> Result<()> {
        let word = result.word().replace(' ', "-");
        let path = self.dir.join(format!("run-{number:04}-{word}.log"));
        fs::write(&path, &result.log).with_context(|| path.display().to_string())?;
        self.logs += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(verdict: Verdict) -> RunResult {
        RunResult {
            log: b"psci-bench 0.1.0\r\n".to_vec(),
            verdict,
            ending: MachineEnding::Exited { success: true },
            diagnosis: None,
            positions: Vec::new(),
            elapsed: Duration::from_secs(9),
        }
    }

    fn hung() -> RunResult {
        RunResult {
            ending: MachineEnding::TimedOut,
            diagnosis: Some("no closing line within 7 s".into()),
            positions: vec!["CPU 0: EL2 at 0x60000000: image offset 0x0".into()],
            elapsed: Duration::from_secs(12),
            ..ended(Verdict::Incomplete)
        }
    }

    /// The result of a repetition, what it wrote, and the files that it kept.
    struct Repeated {
        result: Result<Totals>,
        output: String,
        files: Vec<String>,
    }

    /// Repeats synthetic runs. A call after the last run fails.
    fn repeat_all(runs: Vec<RunResult>, count: u64) -> Repeated {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut folder = RepeatFolder::at(dir.path()).expect("an empty directory");
        let (mut runs, mut out) = (runs.into_iter(), Vec::new());
        let mut run = || runs.next().context("QEMU did not start");
        let result = repeat_by(&mut run, count, &mut folder, &mut out);
        let mut files = Vec::new();
        for entry in fs::read_dir(dir.path()).expect("there") {
            let name = entry.expect("readable").file_name();
            files.push(name.to_string_lossy().into_owned());
        }
        files.sort();
        let output = String::from_utf8(out).expect("text");
        let summary = fs::read_to_string(dir.path().join(SUMMARY)).expect("a summary");
        assert_eq!(summary, output);
        Repeated {
            result,
            output,
            files,
        }
    }

    #[test]
    fn runs_that_did_not_pass_are_kept_with_their_diagnosis() {
        let all = vec![ended(Verdict::Pass), hung(), ended(Verdict::Fail)];
        let repeated = repeat_all(all, 3);
        let totals = repeated.result.expect("three runs");
        assert_eq!((totals.runs(), totals.exit_code()), (3, 1));
        let files = ["run-0002-INCOMPLETE.log", "run-0003-FAIL.log", SUMMARY];
        assert_eq!(repeated.files, files);
        let (text, dir) = repeated
            .output
            .rsplit_once("logs kept: ")
            .expect("a last line");
        assert!(dir.starts_with("2, in "), "{dir}");
        assert_eq!(
            text,
            "\
run 1: PASS after 9.0 s
run 2: INCOMPLETE after 12.0 s: no closing line within 7 s
  CPU 0: EL2 at 0x60000000: image offset 0x0
run 3: FAIL after 9.0 s

3 runs: 1 PASS, 1 FAIL, 0 bad input, 1 INCOMPLETE, in 0 s
"
        );
    }

    #[test]
    fn repetition_ends_early_by_interruption_bad_input_and_error() {
        let (mut cut, mut refused) = (hung(), hung());
        cut.ending = MachineEnding::Interrupted;
        refused.verdict = Verdict::BadInput;
        let passed = || ended(Verdict::Pass);
        let log = "run-0001-bad-input.log";
        let cut_line = "run 2: interrupted, not counted\n\n";
        for (all, code, logs, output) in [
            (vec![passed(), cut.clone(), passed()], 0, &[][..], cut_line),
            (vec![cut], 3, &[], "\n0 runs"),
            (vec![refused, passed()], 2, &[log], "1 bad input"),
        ] {
            let repeated = repeat_all(all, 9);
            assert_eq!(repeated.result.expect("an end").exit_code(), code);
            assert_eq!(repeated.files, [logs, &[SUMMARY]].concat());
            assert!(repeated.output.contains(output), "{}", repeated.output);
        }
        let repeated = repeat_all(vec![passed()], 9);
        let error = repeated.result.expect_err("no second run");
        assert_eq!(error.to_string(), "QEMU did not start");
        assert!(repeated.output.contains("1 PASS"), "{}", repeated.output);
    }

    #[test]
    fn logs_of_two_repetitions_are_not_mixed() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let parent = dir.path().join("repeat");
        let first = RepeatFolder::in_next(&parent).expect("made");
        let second = RepeatFolder::in_next(&parent).expect("made");
        assert_eq!(first.dir, parent.join("1"));
        assert_eq!(second.dir, parent.join("2"));
        let fresh = dir.path().join("a").join("b");
        RepeatFolder::at(&fresh).expect("made");
        assert!(RepeatFolder::at(&fresh.join(SUMMARY)).is_err());
    }
}
