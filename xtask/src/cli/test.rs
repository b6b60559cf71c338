//! `cargo xtask setup` and `cargo xtask test`: run all tests after setting up everything that they
//! need, so that none are skipped.

use std::io::{self, BufRead, BufReader, Write, pipe, stderr};
use std::mem::take;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, thread};

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use hardware::text::plural::many;
use host::progress::{NOTE, StepProgress, in_words, say};
use host::{process, side_by_side};
use regex::Regex;
use runner::build::test_programs::TestPrograms;
use runner::build::{payload, tf_a};
use runner::setup::workspace::Workspace;
use runner::setup::{self, linux_trees};

/// The environment variable that sets how many tests run in parallel.
const THREADS: &str = "RUST_TEST_THREADS";

/// Set up anything that is missing, and run a test suite.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask test
  cargo xtask test -- fip        # tests with fip in their name
  cargo xtask test trees         # the device trees of all of Linux's boards

`trees` fetches Debian's arm64 kernel (90 MB) once.")]
pub struct TestArguments {
    /// Suite to run: all or trees.
    #[arg(value_name = "SUITE", value_enum, default_value_t = TestSuite::All)]
    #[arg(hide_possible_values = true)]
    pub suite: TestSuite,
    /// Parts of test names; test program options imply full output.
    #[arg(last = true)]
    pub filter: Vec<String>,
}

/// The tests to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TestSuite {
    /// All tests except those in the other suites.
    All,
    /// The device trees of all Linux boards.
    Trees,
}

/// Sets up everything that the `all` suite needs. Returns the TF-A source folder.
fn set_up(workspace: &Workspace) -> Result<PathBuf> {
    workspace.check_for_make()?;
    setup::ensure(workspace, &setup::all())?;
    tf_a::MBED_TLS.fetch(workspace)?;
    tf_a::OLDEST_TF_A.fetch(workspace)?;
    tf_a::TF_A.fetch(workspace)
}

/// Runs `cargo xtask setup`.
pub(super) fn run_setup() -> Result<u8> {
    let source = set_up(&Workspace::find()?)?;
    let (version, source) = (tf_a::TF_A.version, source.display());
    say("everything is installed");
    say(&format!("TF-A {version} is in {source}"));
    Ok(0)
}

/// Sets up everything that the selected tests need.
fn set_up_for(workspace: &Workspace, suite: TestSuite) -> Result<()> {
    match suite {
        TestSuite::All => {
            set_up(workspace)?;
            payload::build(workspace)?;
        }
        TestSuite::Trees => linux_trees::fetch(workspace).map(drop)?,
    }
    Ok(())
}

/// Returns the test programs of a suite.
fn programs(workspace: &Workspace, suite: TestSuite) -> Vec<TestPrograms> {
    let ignored = TestPrograms {
        packages: "",
        options: "--ignored --nocapture",
        environment: None,
        target: workspace.target.clone(),
    };
    match suite {
        TestSuite::All => {
            let all = TestPrograms {
                packages: "--workspace",
                options: "",
                ..ignored
            };
            vec![all, TestPrograms::loom(workspace)]
        }
        TestSuite::Trees => vec![TestPrograms {
            packages: "--workspace --test trees",
            // Without optimization, reading a thousand trees takes minutes.
            environment: Some(("CARGO_PROFILE_DEV_OPT_LEVEL", "1")),
            ..ignored
        }],
    }
}

/// Builds the test programs.
fn build(workspace: &Workspace, all: &[TestPrograms]) -> Result<()> {
    let log = workspace.state().join("tests.log");
    for programs in all {
        let mut build = programs.cargo_test(workspace);
        build.args(["--no-run", "--quiet"]);
        process::run_step("building the tests", &mut build, &log)?;
    }
    Ok(())
}

/// Runs a test suite, passing the filter to its programs.
pub(super) fn run(arguments: &TestArguments) -> Result<u8> {
    let workspace = Workspace::find()?;
    let (suite, filter) = (arguments.suite, &*arguments.filter);
    let all = programs(&workspace, suite);
    // Installation mostly waits for servers and single-threaded programs, so the tests are built at
    // the same time.
    side_by_side(|| set_up_for(&workspace, suite), || build(&workspace, &all))?;

    let started = Instant::now();
    let is_loud = suite != TestSuite::All || filter.iter().any(|word| word.starts_with('-'));
    let (mut results, mut is_success) = (TestResults::default(), true);
    for programs in &all {
        let mut command = programs.cargo_test(&workspace);
        // A failure does not stop the other tests from running.
        command.args(["--no-fail-fast", "--"]).args(filter);
        command.args(programs.options.split_whitespace());
        command.env("CARGO_TERM_COLOR", "never");
        if env::var_os(THREADS).is_none() {
            // A machine sleeps for part of its run, so run one more test than there are CPUs.
            let threads = thread::available_parallelism().map_or(1, usize::from) + 1;
            command.env(THREADS, threads.to_string());
        }
        is_success &= results.add_output(command, is_loud)?;
    }
    say(&results.line(started.elapsed(), is_success, filter)?);
    Ok(u8::from(!results.failures.is_empty()))
}

/// The results of all test programs.
#[derive(Default)]
struct TestResults {
    passed: u64,
    filtered: u64,
    /// Tests that failed, and programs that exited early.
    failures: Vec<String>,
    ignored: Vec<String>,
    /// The program that started last.
    program: String,
    /// The lines since the last result, except those of tests that passed.
    rest: String,
}

impl TestResults {
    /// Runs `cargo test` and adds its results. Returns false if `cargo test` failed.
    fn add_output(&mut self, mut command: Command, is_loud: bool) -> Result<bool> {
        let (output, input) = pipe()?;
        command.stdout(input.try_clone()?).stderr(input);
        thread::scope(|scope| {
            let reader = scope.spawn(|| self.read(BufReader::new(output), is_loud));
            let status = process::status(None, &mut command)?;
            // `command` holds the write end of the pipe open, and the reader stops only when it is
            // closed.
            drop(command);
            reader.join().expect("no panic in reader")?;
            Ok(status.success())
        })
    }

    /// Reads both streams of `cargo test`. Prints one line per program, all output of a program
    /// that fails, and everything if `is_loud` is true.
    fn read(&mut self, from: impl BufRead, is_loud: bool) -> io::Result<()> {
        let program = r"^ +(?:Running .*[(/]([^/]+?)(?:-[0-9a-f]+\))?|(Doc-tests .+))\n";
        let counts = r"(\d+) passed; (\d+) failed; (\d+) ignored; 0 measured; (\d+) filtered out";
        let result = &format!(r"test result: \w+\. {counts}; finished in (\d+)");
        let [program, result] =
            [program, result].map(|pattern| Regex::new(pattern).expect("a pattern"));
        let (mut progress, mut done) = (None, 0);
        for line in from.split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned() + "\n";
            if is_loud || line.starts_with(NOTE) {
                show(&line);
            }
            let found = program.captures(&line);
            if let Some(name) = found.and_then(|captures| captures.get(1).or(captures.get(2))) {
                self.note_early_end();
                self.rest.clear();
                self.program = name.as_str().to_owned();
                progress = (!is_loud).then(|| StepProgress::on_terminal(name.as_str()));
                done = 0;
            } else if let Some(counts) = result.captures(&line) {
                progress = None;
                let counts = counts.extract().1.map(|count| count.parse().unwrap_or(0));
                self.add(counts, is_loud);
            } else if line.ends_with(" ... ok\n") || line.contains(" ... ignored") {
                done += 1;
                let part = many(done, "test");
                progress
                    .iter()
                    .for_each(|step: &StepProgress| step.part(&part));
            } else {
                self.rest += &line;
            }
        }
        self.note_early_end();
        Ok(())
    }

    /// Adds the counts from the result of the current program.
    fn add(&mut self, [passed, failed, ignored, filtered, seconds]: [u64; 5], is_loud: bool) {
        let (name, rest) = (&self.program, take(&mut self.rest));
        self.passed += passed;
        self.filtered += filtered;
        let ignored = (ignored > 0).then(|| format!("{ignored} ignored in {name}"));
        self.ignored.extend(ignored);
        let mut line = format!(
            "{passed} passed in {}",
            in_words(Duration::from_secs(seconds))
        );
        if failed > 0 {
            line = format!("{failed} failed, {line}");
            let names = rest
                .rsplit_once("failures:\n")
                .map_or("", |(_, names)| names)
                .lines()
                .filter_map(|line| line.strip_prefix("    "))
                .map(|test| format!("{name} {test}"));
            self.failures.extend(names);
            show(if is_loud { "" } else { &rest });
        }
        if passed + failed > 0 {
            say(&format!("{name}: {line}"));
        }
    }

    /// Records that a program exited before printing its result.
    fn note_early_end(&mut self) {
        if self.rest.contains("process didn't exit successfully") {
            show(&take(&mut self.rest));
            self.failures.push(format!("{} ended early", self.program));
        }
    }

    /// Returns the summary line, which includes `time`. Returns an error if no tests were run.
    fn line(&self, time: Duration, is_success: bool, filter: &[String]) -> Result<String> {
        let failed = self.failures.len();
        if failed == 0 && !is_success {
            bail!("cargo test failed: {}", self.rest);
        }
        let is_list = filter.iter().any(|word| word == "--list");
        if self.passed == 0 && failed == 0 && !is_list {
            let words = filter.join(" ");
            bail!("no test matches -- {words}: `cargo xtask test -- --list` lists the tests");
        }
        let mut line = format!("{} passed in {}", self.passed, in_words(time));
        if failed > 0 {
            line = format!("{failed} failed, {line}: {}", self.failures.join(", "));
        }
        let mut not_run = self.ignored.clone();
        if self.filtered > 0 {
            not_run.push(format!("{} filtered out", self.filtered));
        }
        if !not_run.is_empty() {
            line += &format!("; not run: {}", not_run.join(", "));
        }
        Ok(line)
    }
}

fn show(text: &str) {
    // A closed stderr does not stop the tests.
    let _ = stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_has_passes_failures_and_what_was_not_run() {
        let good = "   Compiling psci-bench\n     Running unittests src/lib.rs (deps/xtask-0af1)\n\
            running 2 tests\ntest a ... ok\ntest b - should panic ... ok\n\n\
            test result: ok. 2 passed; 0 failed; 0 TAIL\n     Running tests/kvm.rs (/a b/kvm-0a)\n\
            test c ... ignored, slow\ntest result: ok. 0 passed; 0 failed; 9 TAIL\n";
        let bad = "     Running tests/payload/main.rs (deps/payload-1)\ntest x::y ... FAILED\n\
            failures:\n\n---- x::y stdout ----\n    indented\n\nfailures:\n    x::y\n\n\
            test result: FAILED. 3 passed; 1 failed; 0 TAIL\nerror: test failed\n     \
            Running tests/fip.rs (deps/fip-1)\nerror: test failed\nCaused by:\n  \
            process didn't exit successfully: `fip-1` (signal: 6)\n";
        let (all, x) = (format!("{good}{bad}"), "payload x::y, fip ended early");
        let none = "   Doc-tests xtask\ntest result: ok. 0 passed; 0 failed; 0 TAIL\n";
        let skipped = "; not run: 9 ignored in kvm";
        for (text, filtered, expected) in [
            (good, 0, format!("2 passed in 16 min{skipped}")),
            (
                good,
                3,
                format!("2 passed in 16 min{skipped}, 6 filtered out"),
            ),
            (
                &all,
                0,
                format!("2 failed, 5 passed in 16 min: {x}{skipped}"),
            ),
            (none, 9, "no test matches -- nosuchname: `cargo".into()),
            (
                "error: no network\n",
                0,
                "cargo test failed: error: no net".into(),
            ),
        ] {
            let tail = format!("ignored; 0 measured; {filtered} filtered out; finished in 7.12s");
            let mut results = TestResults::default();
            let output = text.replace("TAIL", &tail);
            results.read(output.as_bytes(), false).expect("read");
            let is_success = text == good || text == none;
            let line = results
                .line(Duration::from_secs(960), is_success, &["nosuchname".into()])
                .unwrap_or_else(|error| error.to_string());
            assert!(line.starts_with(&expected), "{line}");
        }
    }
}
