//! The monitors of a LAVA job: regular expressions that find results in the UART's
//! output.
//!
//! LAVA reads the output once. A job has a list of *monitors*, which run one after
//! the other. Each waits for its `start`, records what its `pattern` matches, and
//! ends where `end` matches. The named groups of a pattern make a result: test case,
//! measurement, unit.
//!
//! An `RT_INSTR` line has three numbers and one name. So three monitors read the same
//! line: the pattern of each *looks ahead* over the line, and consumes only as many
//! characters as let the next monitor start:
//!
//! ```text
//! <RT_INSTR:test_rt_instr_cpu_susp_serial  0  1  814  512  120/>
//! ^^^^^^^^^^ powerdown consumes this, and looks ahead over the rest
//!           ^^^^^ wakeup consumes this
//!                ^^^ cache-flush consumes this
//! ```
//!
//! The metric is the name of the monitor, from which LAVA makes a test suite. The unit
//! is `ns`; a group can only match text, so it matches these letters in `rt_instr`.
//!
//! A monitor without a match must not wait until the job's timeout: each `start` also
//! matches what follows the rows. So a skipped scenario takes no time, and the verdict
//! of a run that ends early is found.
//!
//! Expressions are Python's. LAVA's dispatcher lets pexpect search the last 4,000
//! characters only.

use psci_bench::plan::{Method, Plan, ScenarioId};
use serde::Serialize;

/// The most CPUs whose rows fit into the 4,000 characters that LAVA searches. Up to
/// 2,000 of these may be later output, as LAVA reads so many from QEMU at once. From a
/// board's serial port it reads up to 4,092 and can then lose results; the report finds
/// such a loss by the log.
pub const CPUS_MAX: u32 = 24;

/// The end of the payload: the end of TFTF's frame, or the last line of an early end.
const STOP: &str = r"Exiting tests\.|psci-bench: INCOMPLETE";
/// The words after a scenario's rows.
const COMPLETE: &str = "  TEST COMPLETE";
/// The beginning of a scenario.
const EXECUTING: &str = "> Executing '";
/// A tag without `test_rt_instr_`, then cluster and core.
const LABEL: &str = r"\w+\t\d+\t\d+";
/// The payload's words for results, with LAVA's.
const RESULTS: &str = "Passed: pass, Failed: fail, Crashed: fail, Skipped: skip, \
                      PASS: pass, FAIL: fail, INCOMPLETE: fail";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Monitor {
    /// A scenario's name and result.
    Case,
    /// The first number of a row with three.
    Powerdown,
    /// The second number of a row with three.
    Wakeup,
    /// The third number of a row with three.
    CacheFlush,
    /// The number of a row with one.
    Latency,
    /// The last line.
    Verdict,
    /// The last line; the result is `skipped` if a PASS counts skipped scenarios or
    /// rows. Those counts are at the end of the line.
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

    /// Returns the test suite in which LAVA keeps the monitor's results.
    fn suite(self) -> &'static str {
        match self {
            Self::Case | Self::Verdict | Self::StrictVerdict => "psci-bench",
            other => other.anchor(),
        }
    }

    /// Returns `start`, `end` and `pattern`.
    fn expressions(self) -> [String; 3] {
        match self {
            Self::Case => [
                format!("(?={EXECUTING}|{STOP})"),
                // The pattern consumes the name only. So the end begins at that line's
                // end; messages of the firmware may follow.
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

    /// Returns the words of the monitor's results with LAVA's, if it has results.
    fn results(self) -> Option<String> {
        match self {
            Self::Case | Self::Verdict => Some(RESULTS.to_owned()),
            Self::StrictVerdict => Some(format!("{RESULTS}, skipped: fail")),
            _ => None,
        }
    }
}

/// A monitor in the form that a job's template needs.
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

/// Returns `start`, `end` and `pattern` of the monitor that consumes `consumed` of a row;
/// the rest of the row begins with `left`. The number follows the numbers `before`, and
/// `closed` follows the number: otherwise a number could match before its last digit has
/// come.
fn row(consumed: &str, left: &str, before: &str, closed: &str) -> [String; 3] {
    let next = format!("{COMPLETE}|{EXECUTING}|{STOP}");
    [
        format!("(?={consumed}{left}|{next})"),
        format!(r"\A(?={left})|(?={next})"),
        format!(
            r"{consumed}(?=(?:test_)?(?:rt_)?i(?P<units>ns)tr_(?P<test_case_id>{LABEL})\t{before}(?P<measurement>\d+){closed})"
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

/// Returns the monitors of a job. With `deny_skipped` the verdict fails if anything was
/// skipped.
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
            // A monitor does not match a row that it has consumed already.
            assert!(found(monitor, &rest).is_none());
            // An incomplete number does not match.
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
        // A message of the firmware between the name and the first row.
        let noisy = format!("\r\nWARNING: late{rest}");
        assert_eq!(end(&noisy), Some(noisy.len() - rest.len() + 2));
        // The end does not match before the case is consumed.
        assert_eq!(end(text), None);
        // An incomplete case does not match.
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
            // Without the line's end, the counts may be incomplete.
            assert_eq!(result(&line), None);
        }
        let stopped = "psci-bench: INCOMPLETE: 1 skipped\r\n";
        assert_eq!(result(stopped).as_deref(), Some("INCOMPLETE"));
        // LAVA passes a word without a translation on as the result.
        let results = Monitor::StrictVerdict.results().expect("results");
        assert!(results.ends_with("INCOMPLETE: fail, skipped: fail"));
    }
}
