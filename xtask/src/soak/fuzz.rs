//! `cargo xtask fuzz`: runs the parsers of untrusted input under libFuzzer.
//!
//! The targets are in `fuzz/`, which cargo-fuzz builds with coverage counters and AddressSanitizer.
//! The corpus, which grows with each run, is in this tool's part of `target/`.

use std::fs::{self, File};
use std::io::{Write, stdout};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, thread};

use anyhow::{Context, Result, bail};
use host::process;
use host::progress::{StepProgress, above_steps};
use regex::Regex;

use super::workers::in_threads;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need};

/// The targets, each of which has a file in `fuzz/fuzz_targets`.
pub const TARGETS: [&str; 7] = [
    "fip",
    "device_tree",
    "user_tree",
    "acpi",
    "uart_log",
    "board_toml",
    "image",
];

/// The limits for each input. Inputs are only a few KiB long, so a parser that exceeds a limit must
/// have trusted a number in its input.
const LIMITS: [&str; 3] = ["-timeout=10", "-rss_limit_mb=512", "-malloc_limit_mb=64"];
/// Freed memory in AddressSanitizer's quarantine counts as used, and the default quarantine size is
/// half of the memory limit. The check for duplicate symbols is meant for C++, and cargo-fuzz also
/// turns it off.
const ASAN_OPTIONS: &str = "quarantine_size_mb=32:detect_odr_violation=0";
/// The maximum time for a target, in seconds: one week.
pub const SECONDS_MAX: i64 = 7 * 24 * 60 * 60;

/// Builds the targets and runs those in `selected`, or all of them if it is empty. Each target
/// runs for `seconds`. Up to `jobs` targets run in parallel, by default one per CPU.
///
/// Returns true if there were no findings.
pub fn run(selected: &[String], seconds: u32, jobs: Option<u16>) -> Result<bool> {
    let workspace = Workspace::find()?;
    setup::ensure(&workspace, &[Need::CxxCompiler, Need::CargoFuzz])?;
    let programs = build(&workspace)?;
    let jobs = match jobs {
        Some(jobs) => usize::from(jobs),
        None => thread::available_parallelism().map_or(1, usize::from),
    };
    let is_selected = |name: &&str| selected.is_empty() || selected.iter().any(|it| it == name);
    let names: Vec<&str> = TARGETS.into_iter().filter(is_selected).collect();
    let jobs = jobs.min(names.len());
    run_all(&workspace, &programs, &names, seconds, jobs)
}

fn build(workspace: &Workspace) -> Result<PathBuf> {
    let package = workspace.root.join("fuzz");
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["--print", "host-tuple"]);
    let host = process::output(rustc.current_dir(&workspace.root))?;
    let host = host.trim();
    let state = workspace.state().join("fuzz");
    let (log, target) = (state.join("build.log"), state.join("build"));

    let program =
        setup::cargo_fuzz(workspace).context("cargo-fuzz was installed but cannot be found")?;
    let mut command = Command::new(program);
    command.process_group(0);
    command.args(["build", "--features", "link", "--target", host]);
    command.arg("--fuzz-dir").arg(&package);
    command.arg("--target-dir").arg(&target);
    command.current_dir(&workspace.root);
    // Sanitizers are unstable. This variable makes the stable compiler accept the sanitizer flag,
    // so that no nightly compiler is needed.
    command.env("RUSTC_BOOTSTRAP", "1");
    // Further optimization would cost more build time than a short run would save.
    command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
    // This variable would override the flags that cargo-fuzz passes to cargo.
    command.env_remove("CARGO_ENCODED_RUSTFLAGS");
    process::run("building the fuzzers", &mut command, &log)?;
    Ok(target.join(host).join("release"))
}

/// Runs the `name` target for `seconds`, or until there is a finding. Returns whether the target
/// ran without a finding, and a line with its figures. If there is a finding, the line includes the
/// command that reproduces it.
fn run_target(
    workspace: &Workspace,
    program: &Path,
    name: &str,
    seconds: u32,
) -> Result<(bool, String)> {
    let (package, state) = (workspace.root.join("fuzz"), workspace.state().join("fuzz"));
    let [corpus, artifacts] = ["corpus", "artifacts"].map(|it| state.join(it).join(name));
    for dir in [&corpus, &artifacts] {
        fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    }
    let log = state.join(format!("{name}.log"));
    let log_is = || log.display().to_string();
    let file = File::create(&log).with_context(log_is)?;
    let mut command = Command::new(program);
    // libFuzzer writes new inputs to the first folder.
    command.arg(&corpus).arg(package.join("seeds").join(name));
    command
        .arg(format!("-max_total_time={seconds}"))
        .args(LIMITS);
    // The leak check needs ptrace, which containers may forbid, and safe code rarely leaks.
    command.args(["-detect_leaks=0", "-print_final_stats=1"]);
    // libFuzzer uses this as a file name prefix, so a folder must end with a slash.
    command.arg(format!("-artifact_prefix={}/", artifacts.display()));
    let dictionary = package.join("dictionaries").join(name);
    let dictionary = dictionary.is_file().then_some(dictionary);
    command.args(dictionary.map(|file| format!("-dict={}", file.display())));
    command.env("ASAN_OPTIONS", ASAN_OPTIONS);
    // Without this variable, anyhow captures a backtrace for each error, which is slower than the
    // code under test.
    command.env("RUST_LIB_BACKTRACE", "0");
    let status = process::status("", command.stdout(Stdio::null()).stderr(file))?;
    let text = fs::read(&log).with_context(log_is)?;
    let text = String::from_utf8_lossy(&text);
    let figures = figures(&text);
    if status.success() {
        return Ok((true, format!("{name:<11}  {figures}, clean\n")));
    }
    let Some((found, reason)) = finding(&text) else {
        bail!("{name} exited early ({status}); see {}", log_is());
    };
    let paths = [Path::new(found), &log, program].map(|path| workspace.short(path).display());
    let ([found, log, program], limits) = (paths, LIMITS.join(" "));
    let report = format!(
        "{name:<11}  {figures}, FOUND {found}\n  {reason}\n  log:   {log}\n  \
         again: {program} {limits} {found}\n"
    );
    Ok((false, report))
}

/// Runs all targets in `names`, `jobs` at a time, and prints a report on each. A finding stops only
/// the target that produced it. Returns true if there were no findings.
fn run_all(
    workspace: &Workspace,
    programs: &Path,
    names: &[&str],
    seconds: u32,
    jobs: usize,
) -> Result<bool> {
    let all = names.join(", ");
    let what = format!("fuzzing for {seconds} s each, {jobs} at a time: {all}");
    let _progress = StepProgress::start(&what);
    let (next, findings) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || -> Result<()> {
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (is_clean, report) = run_target(workspace, &programs.join(name), name, seconds)?;
            findings.fetch_add(usize::from(!is_clean), Ordering::Relaxed);
            // If stdout is closed, the exit code is enough.
            let _ = above_steps(|| stdout().write_all(report.as_bytes()));
        }
        Ok(())
    };
    in_threads(jobs, work)?;
    Ok(findings.into_inner() == 0)
}

/// Returns the file and the reason from the finding at the end of `log`, the libFuzzer log.
fn finding(log: &str) -> Option<(&str, String)> {
    // Inputs reported earlier in the log were only slow.
    let file = last(log, r"Test unit written to (.*)")?;
    // A panic message is on the line after its location.
    let panic = last(log, r"(.* panicked at .*\n.*)").map(|it| it.replace('\n', " "));
    let summary = || last(log, r"SUMMARY: (.*)").map(str::to_owned);
    Some((file, panic.or_else(summary).unwrap_or_default()))
}

/// Returns the text that the group in `pattern` captures in the last match in `log`.
fn last<'l>(log: &'l str, pattern: &str) -> Option<&'l str> {
    let pattern = Regex::new(pattern).expect("a pattern");
    let found = pattern.captures_iter(log).last()?.get(1)?;
    Some(found.as_str())
}

/// Returns the figures from `log`, the libFuzzer log, which ends with statistics.
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
    use run::record::{Claim, FORMAT, MARK, Record, pieces};

    use super::*;

    #[test]
    fn finding_has_the_input_and_the_reason() {
        let log = "#2048\tpulse  cov: 412 ft: 950 corp: 21/4100b lim: 4096 rss: 46Mb\n";
        assert_eq!(finding(log), None);
        assert!(figures(log).ends_with("coverage   412, corpus   21 with    ? new"));
        let written = "artifact_prefix='/a/'; Test unit written to /a/crash-1\n";
        let panic =
            "thread '<unnamed>' (7) panicked at crates/run/src/plan.rs:1:2:\nattempt to add\n";
        for (text, expected) in [
            (
                format!("{panic}SUMMARY: libFuzzer: x"),
                "crates/run/src/plan.rs:1:2: attempt to add",
            ),
            ("SUMMARY: libFuzzer: timeout".into(), "libFuzzer: timeout"),
        ] {
            let text = format!("{log}{text}\n{written}");
            let (file, reason) = finding(&text).expect("a finding");
            assert!(
                file == "/a/crash-1" && reason.ends_with(expected),
                "{file}: {reason}"
            );
        }
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

    /// A parser stops immediately at a record in a different format.
    #[test]
    fn records_in_seeds_are_of_the_format_that_is_read() {
        let workspace = Workspace::find().expect("the repository");
        for name in ["pass", "soak", "soak-absurd"] {
            let path = format!("fuzz/seeds/uart_log/{name}.log");
            let log = fs::read(workspace.root.join(path)).expect("a seed");
            let pieces = log.split(|byte| *byte == b'\n').flat_map(pieces);
            let sound = pieces.filter_map(Claim::of).filter(Claim::is_sound);
            let read: Vec<_> = sound.filter_map(|it| it.record()).collect();
            let marks = String::from_utf8_lossy(&log).matches(MARK).count();
            assert_eq!(read.len(), marks, "{name}");
            let is_head = |it: &Record| matches!(it, Record::Run(it) if it.format == FORMAT);
            assert!(is_head(&read[0]), "{name}");
        }
    }
}
