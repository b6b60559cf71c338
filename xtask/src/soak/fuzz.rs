//! `cargo xtask fuzz`: runs the readers of outside input under libFuzzer.
//!
//! The targets are `fuzz/`, a package of its own: everything in it is built
//! with coverage counters and AddressSanitizer, by cargo-fuzz. The corpus, which
//! grows from run to run, is in this tool's part of `target/`.

use std::fs::{self, File};
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, thread};

use anyhow::{Context, Result, bail};
use itertools::Itertools;
use regex::Regex;

use crate::qemu::stream::Owned;
use crate::setup::progress::{Progress, say};
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, process};

/// The targets, each of which is a file in `fuzz/fuzz_targets`.
pub const TARGETS: [&str; 7] = [
    "fip",
    "device_tree",
    "user_tree",
    "uart_log",
    "board_toml",
    "image",
    "lab",
];

/// The limits for each input. Inputs have some KiB: a reader that exceeds a limit
/// trusts a number in the input.
const LIMITS: [&str; 3] = ["-timeout=10", "-rss_limit_mb=512", "-malloc_limit_mb=64"];
/// Freed memory that AddressSanitizer keeps counts as used; by default that is half of
/// the limit. The check for symbols that are defined twice is for C++, and cargo-fuzz
/// turns that off, too.
const ASAN_OPTIONS: &str = "quarantine_size_mb=32:detect_odr_violation=0";
/// The longest time that a target can be given, in seconds: a week.
pub const SECONDS_MAX: i64 = 7 * 24 * 60 * 60;

/// Builds the targets and runs the `wished` ones, or all if none is named: each for
/// `seconds`, and `jobs` of them in parallel, by default one for each CPU.
///
/// Returns true if nothing was found.
pub fn run(wished: &[String], seconds: u32, jobs: Option<u16>) -> Result<bool> {
    let workspace = Workspace::find()?;
    setup::ensure(&workspace, &[Need::CxxCompiler, Need::CargoFuzz])?;
    let programs = build(&workspace)?;
    let jobs = match jobs {
        Some(jobs) => usize::from(jobs),
        None => thread::available_parallelism().map_or(1, usize::from),
    };
    let fuzzers = TARGETS
        .into_iter()
        .filter(|name| wished.is_empty() || wished.iter().any(|wish| wish == name))
        .map(|name| Fuzzer::new(&workspace, &programs, name))
        .collect::<Result<Vec<_>>>()?;
    let ends = run_all(&fuzzers, seconds, jobs)?;
    let reports = fuzzers.iter().zip(&ends);
    let out = reports.map(|(fuzzer, end)| fuzzer.report(&workspace, end));
    let out: String = out.collect();
    // Without a reader of stdout, the exit code is enough.
    let _ = stdout().write_all(out.as_bytes());
    Ok(ends.iter().all(|end| end.finding.is_none()))
}

fn build(workspace: &Workspace) -> Result<PathBuf> {
    let package = workspace.root.join("fuzz");
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["--print", "host-tuple"]);
    let host = process::output(rustc.current_dir(&workspace.root))?;
    let host = host.trim();
    // cargo-fuzz has no option that leaves Cargo.lock as it is.
    let mut fetch = process::cargo();
    fetch.args(["fetch", "--quiet", "--locked", "--target", host]);
    fetch.arg("--manifest-path").arg(package.join("Cargo.toml"));
    fetch.current_dir(&workspace.root);
    let state = workspace.state().join("fuzz");
    let (log, target) = (state.join("build.log"), state.join("build"));
    process::step("fetching what the fuzzers use", &mut fetch, &log)?;

    let program = setup::cargo_fuzz(workspace).context("cargo-fuzz was there and has gone")?;
    let mut command = Command::new(program);
    command.args(["build", "--target", host]);
    command.arg("--fuzz-dir").arg(&package);
    command.arg("--target-dir").arg(&target);
    command.current_dir(&workspace.root);
    // Sanitizers are unstable. This variable makes the stable compiler accept their flag,
    // so that no nightly one is needed.
    command.env("RUSTC_BOOTSTRAP", "1");
    // This variable would override the flags that cargo-fuzz passes to cargo.
    command.env_remove("CARGO_ENCODED_RUSTFLAGS");
    process::step("building the fuzzers", &mut command, &log)?;
    Ok(target.join(host).join("release"))
}

/// A target with the paths of its files.
struct Fuzzer {
    name: &'static str,
    program: PathBuf,
    seeds: PathBuf,
    dictionary: Option<PathBuf>,
    corpus: PathBuf,
    artifacts: PathBuf,
    log: PathBuf,
}

impl Fuzzer {
    fn new(workspace: &Workspace, programs: &Path, name: &'static str) -> Result<Self> {
        let package = workspace.root.join("fuzz");
        let state = workspace.state().join("fuzz");
        let dictionary = package.join("dictionaries").join(name);
        let fuzzer = Self {
            name,
            program: programs.join(name),
            seeds: package.join("seeds").join(name),
            dictionary: dictionary.is_file().then_some(dictionary),
            corpus: state.join("corpus").join(name),
            artifacts: state.join("artifacts").join(name),
            log: state.join(format!("{name}.log")),
        };
        for dir in [&fuzzer.corpus, &fuzzer.artifacts] {
            fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        }
        Ok(fuzzer)
    }

    /// Runs the target for `seconds`, or until a finding.
    fn run(&self, seconds: u32) -> Result<End> {
        let log_is = || self.log.display().to_string();
        let log = File::create(&self.log).with_context(log_is)?;
        let mut command = Command::new(&self.program);
        // libFuzzer writes new inputs to the first folder.
        command.arg(&self.corpus).arg(&self.seeds);
        command.arg(format!("-max_total_time={seconds}"));
        command.args(LIMITS);
        // The leak check needs ptrace, which containers may lack; safe code rarely leaks.
        command.arg("-detect_leaks=0");
        command.arg("-print_final_stats=1");
        // A prefix, not a folder: the slash has to be there.
        command.arg(option("-artifact_prefix=", &self.artifacts.join("")));
        if let Some(dictionary) = &self.dictionary {
            command.arg(option("-dict=", dictionary));
        }
        command.env("ASAN_OPTIONS", ASAN_OPTIONS);
        // Otherwise anyhow takes a backtrace for each error, which is slower than the
        // code under test.
        command.env("RUST_LIB_BACKTRACE", "0");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.stderr(log).spawn();
        let child = child.with_context(|| format!("cannot run {}", self.program.display()))?;
        let status = process::wait(&mut Owned(child).0, None)?;
        let log = fs::read(&self.log).with_context(log_is)?;
        let log = String::from_utf8_lossy(&log);
        let finding = Finding::of(&log).filter(|_| !status.success());
        if finding.is_none() && !status.success() {
            bail!("{} ended early ({status}), see {}", self.name, log_is());
        }
        let figures = figures(&log);
        Ok(End { figures, finding })
    }

    /// Returns a line of figures; for a finding also the commands to repeat it.
    fn report(&self, workspace: &Workspace, end: &End) -> String {
        let (name, figures) = (self.name, &end.figures);
        let Some(Finding { file, reason }) = &end.finding else {
            return format!("{name:<11}  {figures}, clean\n");
        };
        let paths = [file, &self.log, &self.program].map(|path| workspace.short(path).display());
        let ([file, log, program], limits) = (paths, LIMITS.join(" "));
        format!(
            "{name:<11}  {figures}, FOUND {file}\n  {reason}\n  log:   {log}\n  \
             again: {program} {limits} {file}\n"
        )
    }
}

fn option(name: &str, path: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(name);
    option.push(path);
    option
}

/// Runs all of `fuzzers`, `jobs` at a time. A finding ends only its own fuzzer.
fn run_all(fuzzers: &[Fuzzer], seconds: u32, jobs: usize) -> Result<Vec<End>> {
    let count = fuzzers.len();
    let jobs = jobs.min(count);
    let names = fuzzers.iter().map(|fuzzer| fuzzer.name).join(", ");
    let what = format!("fuzzing for {seconds} s each, {jobs} at a time: {names}");
    let progress = Progress::start(&what);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let ends: Vec<OnceLock<Result<End>>> = fuzzers.iter().map(|_| OnceLock::new()).collect();
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let nth = next.fetch_add(1, Ordering::Relaxed)
                    && let (Some(fuzzer), Some(end)) = (fuzzers.get(nth), ends.get(nth))
                {
                    let _ = end.set(fuzzer.run(seconds));
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    say(&format!("{} has ended, {done} of {count}", fuzzer.name));
                    progress.percent(100.0 * done as f32 / count as f32);
                }
            });
        }
    });
    ends.into_iter().filter_map(OnceLock::into_inner).collect()
}

/// The end of a target's run, in the words of the report.
struct End {
    figures: String,
    finding: Option<Finding>,
}

/// An input that crashed the target or exceeded a limit.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    file: PathBuf,
    reason: String,
}

impl Finding {
    /// Returns the finding with which libFuzzer's `log` ends.
    fn of(log: &str) -> Option<Self> {
        // Earlier inputs in the log were only slow.
        let file = last(log, r"Test unit written to (.*)")?.into();
        // A panic's message is on the line after its place.
        let panic = last(log, r"(.* panicked at .*\n.*)").map(|it| it.replace('\n', " "));
        let summary = || last(log, r"SUMMARY: (.*)").map(str::to_owned);
        let reason = panic.or_else(summary).unwrap_or_default();
        Some(Self { file, reason })
    }
}

/// Returns what the group of `pattern` matches in `log` the last time.
fn last<'l>(log: &'l str, pattern: &str) -> Option<&'l str> {
    let pattern = Regex::new(pattern).expect("a pattern");
    let found = pattern.captures_iter(log).last()?.get(1)?;
    Some(found.as_str())
}

/// Returns the figures in libFuzzer's `log`, which ends with statistics.
fn figures(log: &str) -> String {
    let last = |pattern| last(log, pattern).unwrap_or("?");
    format!(
        "{:>9} executions, {:>6}/s, coverage {:>5}, corpus {:>4} with {:>4} new",
        last(r"number_of_executed_units: *(\d+)"),
        last(r"average_exec_per_sec: *(\d+)"),
        last(r"cov: (\d+)"),
        last(r"corp: (\d+)"),
        last(r"new_units_added: *(\d+)"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_has_the_input_and_the_reason() {
        let log = "#2048\tpulse  cov: 412 ft: 950 corp: 21/4100b lim: 4096 rss: 46Mb\n";
        assert_eq!(Finding::of(log), None);
        let figures = figures(log);
        assert!(figures.ends_with("coverage   412, corpus   21 with    ? new"));
        let written = "artifact_prefix='/a/'; Test unit written to /a/crash-1\n";
        let panic = "thread '<unnamed>' (7) panicked at src/plan.rs:1:2:\nattempt to add\n";
        let found = Finding::of(&format!("{log}{panic}SUMMARY: libFuzzer: x\n{written}"));
        let found = found.expect("a finding");
        assert_eq!(found.file, Path::new("/a/crash-1"));
        assert!(found.reason.ends_with("src/plan.rs:1:2: attempt to add"));
        let found = Finding::of(&format!("{log}SUMMARY: libFuzzer: timeout\n{written}"));
        assert_eq!(found.expect("a finding").reason, "libFuzzer: timeout");
    }

    #[test]
    fn every_target_has_a_file_and_seeds() {
        let workspace = Workspace::find().expect("the repository");
        let package = workspace.root.join("fuzz");
        for name in TARGETS {
            let file = package.join("fuzz_targets").join(format!("{name}.rs"));
            assert!(file.is_file(), "{}", file.display());
            let seeds = fs::read_dir(package.join("seeds").join(name)).expect("seeds");
            assert!(seeds.count() > 0, "{name}");
        }
        let files = fs::read_dir(package.join("fuzz_targets")).expect("targets");
        assert_eq!(files.count(), TARGETS.len());
    }
}
