//! The output of test programs: a line for each, and the sum of all.

use std::io::{self, BufRead, Write, stderr};
use std::sync::LazyLock;
use std::time::Duration;

use itertools::Itertools as _;
use regex::Regex;

use crate::setup::plural::many;
use crate::setup::progress::{Progress, in_words, say};

/// The number of failed tests that the sum names.
const NAMED: usize = 10;

/// cargo's line before the output of a program, which names its file, or a package.
static PROGRAM: LazyLock<Regex> = LazyLock::new(|| {
    let file = r"Running (unittests )?.*[(/]([^/]+)-[0-9a-f]+\)";
    Regex::new(&format!(r"^ +(?:{file}|Doc-tests (.*))$")).expect("a pattern")
});

/// The last line of a program.
static RESULT: LazyLock<Regex> = LazyLock::new(|| {
    let counts = r"(\d+) passed; (\d+) failed; (\d+) ignored; \d+ measured; (\d+) filtered out";
    Regex::new(&format!(r"test result: \w+\. {counts}; finished in (\d+)")).expect("a pattern")
});

/// The result of all test programs.
#[derive(Default)]
pub(super) struct Sum {
    /// Tests that passed.
    pub(super) passed: u64,
    /// Tests that failed, and programs that ended before their last line.
    pub(super) failed: u64,
    /// Lines of cargo before the first program.
    pub(super) other: String,
    failures: Vec<String>,
    ignored: Vec<String>,
    filtered: u64,
}

/// The program that runs.
struct Program {
    name: String,
    /// The lines since the last result, without those of tests that passed.
    lines: String,
    done: u64,
    progress: Option<Progress>,
}

impl Sum {
    /// Reads both streams of `cargo test`. Shows all lines if it `is_loud`, else those of
    /// programs that fail, and on a terminal the progress.
    pub(super) fn read(
        mut from: impl BufRead,
        is_loud: bool,
        is_terminal: bool,
    ) -> io::Result<Self> {
        let (mut sum, mut program) = (Self::default(), None::<Program>);
        let mut bytes = Vec::new();
        while from.read_until(b'\n', &mut bytes)? > 0 {
            let line = String::from_utf8_lossy(&bytes).trim_end().to_owned() + "\n";
            bytes.clear();
            if is_loud {
                show(&line);
            }
            if let Some(words) = PROGRAM.captures(line.trim_end()) {
                sum.close(program.take());
                let name = [2, 3]
                    .map(|nth| words.get(nth).map_or("", |it| it.as_str()))
                    .concat();
                let is_units = words.get(1).is_some();
                let name = name + if is_units { " (units)" } else { "" };
                let is_shown = is_terminal && !is_loud;
                program = Some(Program {
                    progress: is_shown.then(|| Progress::start(&format!("testing {name}"))),
                    name,
                    lines: String::new(),
                    done: 0,
                });
            } else if let Some(program) = &mut program {
                program.lines += &line;
                sum.add(program, &line, is_loud);
            } else {
                sum.other += &line;
            }
        }
        sum.close(program);
        Ok(sum)
    }

    fn add(&mut self, program: &mut Program, line: &str, is_loud: bool) {
        if let Some(counts) = RESULT.captures(line) {
            let counts = counts.iter().skip(1).flatten();
            let counts = counts
                .filter_map(|it| it.as_str().parse().ok())
                .collect_vec();
            if let &[passed, failed, ignored, filtered, seconds] = &*counts {
                program.progress = None;
                self.passed += passed;
                self.failed += failed;
                self.filtered += filtered;
                let name = &program.name;
                // The names of options are those of the programs with ignored tests.
                let ignored = (ignored > 0).then(|| format!("{ignored} of --{name}"));
                self.ignored.extend(ignored);
                let time = in_words(Duration::from_secs(seconds));
                if failed > 0 {
                    let names = program
                        .lines
                        .rsplit("failures:\n")
                        .next()
                        .unwrap_or_default();
                    let names = names.lines().filter_map(|line| line.strip_prefix("    "));
                    self.failures
                        .extend(names.map(|test| format!("{name} {test}")));
                    if !is_loud {
                        show(&program.lines);
                    }
                    say(&format!(
                        "{name}: {failed} failed, {passed} passed in {time}"
                    ));
                } else if passed > 0 {
                    say(&format!("{name}: {passed} passed in {time}"));
                }
                program.lines.clear();
            }
        } else if let Some(test) = line.strip_prefix("test ")
            && (test.ends_with(" ... ok\n") || test.contains(" ... ignored"))
        {
            program.lines.truncate(program.lines.len() - line.len());
            program.done += 1;
            if let Some(progress) = &program.progress {
                progress.detail(&format!("{} done", many(program.done as usize, "test")));
            }
        }
    }

    /// Counts a program that ended before its last line.
    fn close(&mut self, program: Option<Program>) {
        if let Some(Program { name, lines, .. }) = program
            && lines.contains("process didn't exit successfully")
        {
            show(&lines);
            self.failed += 1;
            self.failures.push(format!("{name} ended early"));
        }
    }

    /// Returns the line that sums up, after `time`.
    pub(super) fn line(&self, time: Duration) -> String {
        let mut line = format!("{} passed in {}", self.passed, in_words(time));
        if self.failed > 0 {
            let names = self.failures.iter().take(NAMED).join(", ");
            line = format!("{} failed, {line}: {names}", self.failed);
            if let Some(more @ 1..) = self.failures.len().checked_sub(NAMED) {
                line += &format!(" and {more} more");
            }
        }
        let filtered = (self.filtered > 0).then(|| format!("{} filtered out", self.filtered));
        let not_run = self.ignored.iter().chain(&filtered).join(", ");
        match not_run.is_empty() {
            true => line,
            false => format!("{line}; not run: {not_run}"),
        }
    }
}

fn show(text: &str) {
    // A closed stderr does not stop the tests.
    let _ = stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        let sum = Sum::read(text.as_bytes(), false, false).expect("read");
        sum.line(Duration::from_secs(960))
    }

    #[test]
    fn sum_has_passes_failures_and_what_was_not_run() {
        const TAIL: &str = "ignored; 0 measured; 0 filtered out; finished in 7.12s";
        let good = format!(
            "   Compiling psci-bench\n     Running unittests src/lib.rs (target/deps/xtask-0af1)\n\
             running 2 tests\ntest a ... ok\ntest b - should panic ... ok\n\n\
             test result: ok. 2 passed; 0 failed; 0 {TAIL}\n\n     \
             Running tests/kvm.rs (/a b/deps/kvm-0af2)\ntest c ... ignored, slow\n\
             test result: ok. 0 passed; 0 failed; 9 {TAIL}\n"
        );
        assert_eq!(line(&good), "2 passed in 16 min; not run: 9 of --kvm");
        let bad = format!(
            "{good}     Running tests/payload/main.rs (deps/payload-1)\ntest x::y ... FAILED\n\
             failures:\n\n---- x::y stdout ----\n    indented\n\nfailures:\n    x::y\n\n\
             test result: FAILED. 3 passed; 1 failed; 0 {TAIL}\nerror: test failed\n     \
             Running tests/fip.rs (deps/fip-1)\nerror: test failed\nCaused by:\n  \
             process didn't exit successfully: `fip-1` (signal: 6)\n"
        );
        let sum =
            "2 failed, 5 passed in 16 min: payload x::y, fip ended early; not run: 9 of --kvm";
        assert_eq!(line(&bad), sum);
        let filtered = good.replace(" 0 filtered", " 3 filtered");
        assert!(line(&filtered).ends_with("not run: 9 of --kvm, 6 filtered out"));
    }
}
