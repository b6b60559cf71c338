//! The monitors for a LAVA job: regular expressions that find results in the UART output.
//!
//! LAVA reads the output once. A job's *monitors* run one after another. Each waits for its
//! `start`, records every match of its `pattern`, and ends at a match of `end`. The named groups in
//! a pattern form a result: test case, measurement and unit.
//!
//! An `RT_INSTR` line has three numbers but only one name, so three monitors read each line. Each
//! pattern *looks ahead* over the line, but consumes only a few characters, so that the next
//! monitor can still start:
//!
//! ```text
//! <RT_INSTR:test_rt_instr_cpu_susp_serial  0  1  814  512  120/>
//! ^^^^^^^^^^ powerdown consumes this, and looks ahead over the rest
//!           ^^^^^ wakeup consumes this
//!                ^^^ cache-flush consumes this
//! ```
//!
//! The metric is the name of the monitor, which becomes a test suite in LAVA. The unit is `ns`. A
//! group can only match text in the output, so the group for the unit matches the letters `ns` in
//! `rt_instr`.
//!
//! A monitor without a match must not wait until the job times out, so each `start` also matches
//! the text after the rows. A skipped scenario therefore causes no delay, and the verdict is found
//! even if a run ends early.
//!
//! The expressions use Python syntax. The LAVA dispatcher lets pexpect search only the last 4,000
//! characters.

use serde::Serialize;
use suite::model::{Job, jobs};
use suite::plan::{Plan, ScenarioId};

/// The maximum number of CPUs whose rows fit in the 4,000 characters that LAVA searches. Up to
/// 2,000 of these characters may come after the rows, because LAVA reads that many from QEMU at
/// once. From a board's serial port, LAVA reads up to 4,092 characters at once, and may then lose
/// results.
pub const CPUS_MAX: u32 = 24;

const STOP: &str = r"Exiting tests\.|psci-bench: INCOMPLETE";
const COMPLETE: &str = "  TEST COMPLETE";
const EXECUTING: &str = "> Executing '";
/// A tag without `test_rt_instr_`, followed by the cluster and the core.
const LABEL: &str = r"\w+\t\d+\t\d+";
/// The payload's result keywords, and the corresponding LAVA keywords.
const RESULTS: &str = "Passed: pass, Failed: fail, Crashed: fail, Skipped: skip, \
                      PASS: pass, FAIL: fail, INCOMPLETE: fail";

/// A monitor in the form that a job template requires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Monitor {
    /// The YAML anchor that a job uses to repeat this monitor.
    anchor: &'static str,
    /// True if an earlier monitor in the job defines the anchor.
    is_repeated: bool,
    /// The test suite that LAVA adds the results to.
    suite: &'static str,
    start: String,
    end: String,
    pattern: String,
    /// The payload's result keywords and the corresponding LAVA keywords, if the monitor finds
    /// results.
    results: Option<String>,
}

/// Returns the monitor for the name and result of a scenario.
fn case() -> Monitor {
    Monitor {
        anchor: "case",
        is_repeated: false,
        suite: "psci-bench",
        start: format!("(?={EXECUTING}|{STOP})"),
        // The pattern consumes only the name, so `end` starts at the end of that line. Messages
        // from the firmware may follow.
        end: format!(r"\A[\r\n](?s:.*?)(?=<RT_INSTR:|{COMPLETE})|(?={STOP})"),
        pattern: format!(
            r"{EXECUTING}(?P<test_case_id>[^'\r\n]+)'(?=(?s:.*?){COMPLETE}\s+(?P<result>Skipped|Passed|Failed|Crashed))"
        ),
        results: Some(RESULTS.to_owned()),
    }
}

/// Returns the monitor for the payload's last line. With `deny_skipped`, the result is `skipped` if
/// the counts at the end of a PASS line include skipped scenarios or rows.
fn verdict(deny_skipped: bool) -> Monitor {
    let (pattern, more) = if deny_skipped {
        let strict = r"(?P<test_case_id>psci-bench): (?=[^\r\n]*[\r\n])(?=(?:PASS [^\r\n]* [1-9]\d* (?:rows? )?)?(?P<result>skipped|PASS|FAIL|INCOMPLETE)\b)";
        (strict, ", skipped: fail")
    } else {
        let lax = r"(?P<test_case_id>psci-bench): (?=(?P<result>PASS|FAIL|INCOMPLETE)\b)";
        (lax, "")
    };
    Monitor {
        anchor: "verdict",
        start: format!("(?={STOP})"),
        end: r"\A(?:PASS|FAIL|INCOMPLETE)\b".to_owned(),
        pattern: pattern.to_owned(),
        results: Some(format!("{RESULTS}{more}")),
        ..case()
    }
}

/// A number in a row, and how its monitor finds it.
struct RowNumber {
    metric: &'static str,
    /// The part of the row that the monitor consumes.
    consumed: &'static str,
    /// The part after that.
    left: &'static str,
    /// The numbers to skip.
    skipped: &'static str,
    /// The characters after the number. The monitor matches them too, because a match might
    /// otherwise end within the number.
    closed: &'static str,
}

/// The numbers in a row of most scenarios.
const THREE: [RowNumber; 3] = [
    RowNumber {
        metric: "powerdown",
        consumed: "<RT_INSTR:",
        left: "test_rt_",
        skipped: "",
        closed: r"\t",
    },
    RowNumber {
        metric: "wakeup",
        consumed: "test_",
        left: "rt_",
        skipped: r"\d+\t",
        closed: r"\t",
    },
    RowNumber {
        metric: "cache-flush",
        consumed: "rt_",
        left: "instr_",
        skipped: r"\d+\t\d+\t",
        closed: "/>",
    },
];
/// The number in a row of PSCI_VERSION.
const ONE: [RowNumber; 1] = [RowNumber {
    metric: "latency",
    consumed: "<RT_INSTR:",
    left: "test_rt_",
    skipped: "",
    closed: "/>",
}];

/// Returns the monitor for one number in a row.
fn number(row: &RowNumber) -> Monitor {
    let RowNumber {
        metric,
        consumed,
        left,
        skipped,
        closed,
    } = row;
    let next = format!("{COMPLETE}|{EXECUTING}|{STOP}");
    Monitor {
        anchor: metric,
        suite: metric,
        start: format!("(?={consumed}{left}|{next})"),
        end: format!(r"\A(?={left})|(?={next})"),
        pattern: format!(
            r"{consumed}(?=(?:test_)?(?:rt_)?i(?P<units>ns)tr_(?P<test_case_id>{LABEL})\t{skipped}(?P<measurement>\d+){closed})"
        ),
        results: None,
        ..case()
    }
}

/// Returns the suite's scenarios that use the plan's first method, in measurement order.
fn tftf_scenarios(plan: &Plan) -> impl Iterator<Item = ScenarioId> {
    let method = plan.first_method();
    jobs(plan).into_iter().filter_map(move |job| match job {
        Job::Measure(key) if key.id.is_suite() && key.method == method => Some(key.id),
        _ => None,
    })
}

/// Returns the monitors for the output of `plan` on `cpus` CPUs, in order. With `deny_skipped`, the
/// verdict is not `pass` if anything was skipped.
pub(super) fn list(plan: &Plan, cpus: u32, deny_skipped: bool) -> Vec<Monitor> {
    let mut all = Vec::new();
    for scenario in tftf_scenarios(plan) {
        let numbers: &[RowNumber] = match scenario.columns().len() {
            1 => &ONE,
            _ => &THREE,
        };
        all.push(case());
        for _ in 0..cpus {
            all.extend(numbers.iter().map(number));
        }
    }
    all.push(verdict(deny_skipped));
    let mut seen = Vec::new();
    for monitor in &mut all {
        monitor.is_repeated = seen.contains(&monitor.anchor);
        seen.push(monitor.anchor);
    }
    all
}

#[cfg(test)]
mod tests {
    use fancy_regex::Regex;
    use hardware::text::plural::Many;

    use super::*;

    /// Returns the rest of `text` after the match, and the groups.
    fn found(monitor: &Monitor, text: &str) -> Option<(String, Vec<Option<String>>)> {
        for sound in [&monitor.start, &monitor.end] {
            Regex::new(sound).expect("a valid expression");
        }
        let pattern = Regex::new(&monitor.pattern).expect("a valid expression");
        let found = pattern.captures(text).expect("no blow-up")?;
        let groups = ["test_case_id", "measurement", "units", "result"];
        let group = |name: &&str| found.name(name).map(|group| group.as_str().to_owned());
        let rest = found
            .get(0)
            .map_or("", |whole_match| &text[whole_match.end()..]);
        Some((rest.to_owned(), groups.iter().map(group).collect()))
    }

    #[test]
    fn three_numbers_of_one_line() {
        let mut text =
            "<RT_INSTR:test_rt_instr_cpu_off_serial\t1\t0\t814\t512\t07/>\r\n".to_owned();
        for (row, digits) in THREE.into_iter().zip(["814", "512", "07"]) {
            let monitor = &number(&row);
            let (rest, groups) = found(monitor, &text).expect("a number");
            let groups: Vec<&str> = groups.iter().flatten().map(String::as_str).collect();
            assert_eq!(groups, ["cpu_off_serial\t1\t0", digits, "ns"]);
            // A monitor does not match a row that it has already consumed.
            assert!(found(monitor, &rest).is_none());
            // An incomplete number must not match.
            let end = text.find(digits).expect("there") + digits.len();
            assert!(found(monitor, &text[..end]).is_none());
            text = rest;
        }
        let one = "<RT_INSTR:test_rt_instr_psci_version_parallel\t0\t3\t88/>";
        assert!(found(&number(&THREE[0]), one).is_none());
        let (_, groups) = found(&number(&ONE[0]), one).expect("a number");
        assert_eq!(groups[1].as_deref(), Some("88"));
    }

    #[test]
    fn a_strict_verdict_is_skipped_where_a_count_is() {
        let result = |line: &str| {
            let (_, groups) = found(&verdict(true), line)?;
            groups.last().cloned().flatten()
        };
        for (word, tests, rows, expected) in [
            ("PASS", 0, 0, "PASS"),
            ("PASS", 4, 0, "skipped"),
            ("PASS", 0, 120, "skipped"),
            ("PASS", 0, 1, "skipped"),
            ("FAIL", 1, 1, "FAIL"),
        ] {
            let rows = Many(rows, "row");
            let line = format!(
                "psci-bench: {word} (6 passed, {tests} skipped, 10 failed; {rows} skipped, 0 CPUs lost)"
            );
            assert_eq!(result(&format!("{line}\r\n")).as_deref(), Some(expected));
            // Without the line ending, the counts may be incomplete.
            assert_eq!(result(&line), None);
        }
        let stopped = "psci-bench: INCOMPLETE: 1 skipped\r\n";
        assert_eq!(result(stopped).as_deref(), Some("INCOMPLETE"));
        // If a keyword has no translation, LAVA uses the keyword itself as the result.
        let results = verdict(true).results.expect("results");
        assert!(results.ends_with("INCOMPLETE: fail, skipped: fail"));
    }
}
