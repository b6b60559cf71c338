//! The patterns that LAVA finds in the UART's output.
//!
//! LAVA goes through the output once. A job has a row of *monitors*, one after
//! the other: each waits for its `start`, takes what matches its `pattern`, and
//! ends where `end` matches. A result comes of a pattern's named groups, and a
//! group holds a piece of the output: so a measurement is one number with its
//! unit beside it, and everything that it is called by.
//!
//! An `RT_INSTR` line has three numbers, and what they are called by is there
//! once. So a monitor for each of them goes over the same line: its pattern
//! *looks ahead* at the line, and takes no more of it than tells the next
//! monitor that it is its turn:
//!
//! ```text
//! <RT_INSTR:test_rt_instr_cpu_susp_serial  0  1  814  512  120/>
//! ^^^^^^^^^^ powerdown takes this, and sees all of the line
//!           ^^^^^ wakeup takes this
//!                ^^^ cache-flush takes this
//! ```
//!
//! The metric is the name of the monitor, which LAVA makes a test suite of. The
//! unit is `ns`, as these lines have it, of which the tag has the letters.
//!
//! A monitor that finds nothing to its liking must not wait until time is up:
//! each start also matches at whatever comes next. So a scenario that is
//! skipped costs nothing, and a run that ends early comes to its verdict.
//!
//! Expressions are Python's, and searched for in the last 4,000 characters
//! alone: that is how LAVA's dispatcher sets pexpect up.

use psci_bench::plan::{Method, Plan, ScenarioId};
use serde::Serialize;

/// The most CPUs whose rows are in one piece with what is around them: LAVA
/// searches 4,000 characters, of which up to 2,000 may be what came behind, as
/// much as it reads of QEMU at once. Of a board's serial port it reads up to
/// 4,092: where it falls behind by so much it loses results, which the report
/// finds by the log.
pub const CPUS_MAX: u32 = 24;

/// The end of the payload: the end of the frame, or a last line that comes early.
const STOP: &str = r"Exiting tests\.|psci-bench: INCOMPLETE";
/// The words after the rows.
const COMPLETE: &str = "  TEST COMPLETE";
/// The beginning of a scenario.
const EXECUTING: &str = "> Executing '";
/// A tag, without what all of them begin with, cluster and core.
const LABEL: &str = r"\w+\t\d+\t\d+";
/// The words of results, and what they are to LAVA.
const RESULTS: &str = "Passed: pass, Failed: fail, Crashed: fail, Skipped: skip, \
                      PASS: pass, FAIL: fail, INCOMPLETE: fail";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Monitor {
    /// A scenario's name and result.
    Case,
    /// The first number of a row of three.
    Powerdown,
    /// The second.
    Wakeup,
    /// The third.
    CacheFlush,
    /// The only number of a row of one.
    Latency,
    /// The last line.
    Verdict,
    /// The last line, of which the result is `skipped` where a PASS counts a
    /// scenario or a row that is: only the end of the line tells.
    StrictVerdict,
}

impl Monitor {
    /// Returns the YAML anchor by which a job repeats this monitor.
    fn anchor(self) -> &'static str {
        match self {
            Self::Case => "case",
            Self::Powerdown => "powerdown",
            Self::Wakeup => "wakeup",
            Self::CacheFlush => "cache-flush",
            Self::Latency => "latency",
            Self::Verdict | Self::StrictVerdict => "verdict",
        }
    }

    /// Returns the test suite that LAVA keeps its results in.
    fn suite(self) -> &'static str {
        match self {
            Self::Case | Self::Verdict | Self::StrictVerdict => "psci-bench",
            other => other.anchor(),
        }
    }

    /// `start`, `end` and `pattern`.
    fn expressions(self) -> [String; 3] {
        match self {
            Self::Case => [
                format!("(?={EXECUTING}|{STOP})"),
                // Once the pattern has taken the name, a line's end is what is
                // left of it; behind that firmware may have said something.
                format!(r"\A[\r\n](?s:.*?)(?=<RT_INSTR:|{COMPLETE})|(?={STOP})"),
                format!(
                    r"{EXECUTING}(?P<test_case_id>[^'\r\n]+)'(?=(?s:.*?){COMPLETE}\s+(?P<result>Skipped|Passed|Failed|Crashed))"
                ),
            ],
            Self::Powerdown => row("<RT_INSTR:", "test_rt_", "", r"\t"),
            Self::Wakeup => row("test_", "rt_", r"\d+\t", r"\t"),
            Self::CacheFlush => row("rt_", "instr_", r"\d+\t\d+\t", "/>"),
            Self::Latency => row("<RT_INSTR:", "test_rt_", "", "/>"),
            Self::Verdict => [
                format!("(?={STOP})"),
                r"\A(?:PASS|FAIL|INCOMPLETE)\b".to_owned(),
                r"(?P<test_case_id>psci-bench): (?=(?P<result>PASS|FAIL|INCOMPLETE)\b)".to_owned(),
            ],
            Self::StrictVerdict => {
                let [start, end, _] = Self::Verdict.expressions();
                let pattern = r"(?P<test_case_id>psci-bench): (?=[^\r\n]*[\r\n])(?=(?:PASS [^\r\n]* [1-9]\d* (?:rows )?)?(?P<result>skipped|PASS|FAIL|INCOMPLETE)\b)";
                [start, end, pattern.to_owned()]
            }
        }
    }

    /// Returns the words of its results, and what they are to LAVA.
    fn results(self) -> Option<String> {
        match self {
            Self::Case | Self::Verdict => Some(RESULTS.to_owned()),
            Self::StrictVerdict => Some(format!("{RESULTS}, skipped: fail")),
            _ => None,
        }
    }
}

/// A monitor as a job has it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Listed {
    anchor: &'static str,
    /// True if an earlier monitor of the job defines the anchor.
    is_repeated: bool,
    suite: &'static str,
    start: String,
    end: String,
    pattern: String,
    results: Option<String>,
}

/// Returns the monitor that takes `eats` of a row, of which `left` is then the
/// beginning. Its number comes `behind` others and is `closed` by what comes next:
/// without, a number could be taken of which the end is yet to come.
fn row(eats: &str, left: &str, behind: &str, closed: &str) -> [String; 3] {
    let next = format!("{COMPLETE}|{EXECUTING}|{STOP}");
    [
        format!("(?={eats}{left}|{next})"),
        format!(r"\A(?={left})|(?={next})"),
        format!(
            r"{eats}(?=(?:test_)?(?:rt_)?i(?P<units>ns)tr_(?P<test_case_id>{LABEL})\t{behind}(?P<measurement>\d+){closed})"
        ),
    ]
}

/// Returns the monitors for what `plan` prints on `cpus` CPUs, in their order.
fn sequence(plan: &Plan, cpus: u32, deny_skipped: bool) -> Vec<Monitor> {
    let mut all = Vec::new();
    let framed = plan.methods.iter().any(|method| method == Method::Tftf);
    for scenario in plan.scenarios.suite().iter().filter(|_| framed) {
        let numbers: &[Monitor] = match scenario {
            ScenarioId::PsciVersionParallel => &[Monitor::Latency],
            _ => &[Monitor::Powerdown, Monitor::Wakeup, Monitor::CacheFlush],
        };
        all.push(Monitor::Case);
        for _ in 0..cpus {
            all.extend(numbers);
        }
    }
    all.push(if deny_skipped {
        Monitor::StrictVerdict
    } else {
        Monitor::Verdict
    });
    all
}

/// Returns the monitors of a job. With `deny_skipped` the verdict fails where
/// something is skipped.
pub(super) fn list(plan: &Plan, cpus: u32, deny_skipped: bool) -> Vec<Listed> {
    let mut seen = Vec::new();
    let listed = |monitor: Monitor| {
        let [start, end, pattern] = monitor.expressions();
        let is_repeated = seen.contains(&monitor);
        seen.push(monitor);
        Listed {
            anchor: monitor.anchor(),
            is_repeated,
            suite: monitor.suite(),
            start,
            end,
            pattern,
            results: monitor.results(),
        }
    };
    let all = sequence(plan, cpus, deny_skipped).into_iter();
    all.map(listed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fancy_regex::Regex;

    fn found(monitor: Monitor, text: &str) -> Option<(String, Vec<Option<String>>)> {
        let [start, end, pattern] = monitor.expressions();
        for sound in [start, end] {
            Regex::new(&sound).expect("a sound expression");
        }
        let pattern = Regex::new(&pattern).expect("a sound expression");
        let found = pattern.captures(text).expect("no blow-up")?;
        let groups = ["test_case_id", "measurement", "units", "result"];
        let group = |name: &&str| found.name(name).map(|it| it.as_str().to_owned());
        let rest = found.get(0).map_or("", |it| &text[it.end()..]);
        Some((rest.to_owned(), groups.iter().map(group).collect()))
    }

    #[test]
    fn three_numbers_of_one_line() {
        let text = "<RT_INSTR:test_rt_instr_cpu_off_serial\t1\t0\t814\t512\t07/>\r\n";
        let mut text = text.to_owned();
        for (monitor, number) in [
            (Monitor::Powerdown, "814"),
            (Monitor::Wakeup, "512"),
            (Monitor::CacheFlush, "07"),
        ] {
            let (rest, groups) = found(monitor, &text).expect("a number");
            let groups: Vec<&str> = groups.iter().flatten().map(String::as_str).collect();
            assert_eq!(groups, ["cpu_off_serial\t1\t0", number, "ns"]);
            // No monitor finds a row that another one has taken.
            assert!(found(monitor, &rest).is_none());
            // Nor a number that is not there to its end.
            let end = text.find(number).expect("there") + number.len();
            assert!(found(monitor, &text[..end]).is_none());
            text = rest;
        }
        let one = "<RT_INSTR:test_rt_instr_psci_version_parallel\t0\t3\t88/>";
        assert!(found(Monitor::Powerdown, one).is_none());
        let (_, groups) = found(Monitor::Latency, one).expect("a number");
        assert_eq!(groups[1].as_deref(), Some("88"));
    }

    #[test]
    fn cases_and_the_last_line() {
        let executing = "> Executing 'PSCI version call'";
        let text = format!("{executing}\r\n<RT_INSTR:x/>\r\n  TEST COMPLETE    Failed\r\n");
        let text = &*text;
        let (rest, groups) = found(Monitor::Case, text).expect("a case");
        assert_eq!(groups[0].as_deref(), Some("PSCI version call"));
        assert_eq!(groups[3].as_deref(), Some("Failed"));
        assert!(rest.starts_with("\r\n<RT_INSTR:"), "{rest}");
        let end = |text: &str| {
            let [_, end, _] = Monitor::Case.expressions();
            let found = Regex::new(&end).expect("sound").find(text);
            found.expect("no blow-up").map(|it| it.end())
        };
        assert_eq!(end(&rest), Some(2));
        // What firmware says behind the name, before anything is measured.
        let noisy = format!("\r\nWARNING: late{rest}");
        assert_eq!(end(&noisy), Some(noisy.len() - rest.len() + 2));
        // Not before the case is taken.
        assert_eq!(end(text), None);
        // Half of it is none: what is left may still come.
        assert!(found(Monitor::Case, &text[..50]).is_none());
        for word in ["PASS", "FAIL", "INCOMPLETE"] {
            let line = format!("psci-bench: {word}: x");
            let (rest, groups) = found(Monitor::Verdict, &line).expect("a verdict");
            assert_eq!(groups[3].as_deref(), Some(word));
            assert!(rest.starts_with(word));
        }
    }

    #[test]
    fn a_strict_verdict_is_skipped_where_a_count_is() {
        let result = |line: &str| {
            let (_, groups) = found(Monitor::StrictVerdict, line)?;
            groups.last().cloned().flatten()
        };
        for (word, tests, rows, expected) in [
            ("PASS", 0, 0, "PASS"),
            ("PASS", 4, 0, "skipped"),
            ("PASS", 0, 120, "skipped"),
            ("FAIL", 1, 1, "FAIL"),
        ] {
            let line = format!(
                "psci-bench: {word} (6 passed, {tests} skipped, 10 failed; 960 samples, \
                 40 not counted, {rows} rows skipped, 0 CPUs lost)"
            );
            assert_eq!(result(&format!("{line}\r\n")).as_deref(), Some(expected));
            // The counts may be yet to come.
            assert_eq!(result(&line), None);
        }
        let stopped = "psci-bench: INCOMPLETE: 1 skipped\r\n";
        assert_eq!(result(stopped).as_deref(), Some("INCOMPLETE"));
        // LAVA would take a word that it does not know for a result of its own.
        let results = Monitor::StrictVerdict.results().expect("results");
        assert!(results.ends_with("INCOMPLETE: fail, skipped: fail"));
    }
}
