//! Checks a lab engine's measurements against the log of the same job.
//!
//! An engine extracts its numbers from the `RT_INSTR` lines, using the expressions in the cell's
//! files. If the engine starts reading too late, or if the results are from another job, numbers
//! are missing or differ. Such a job is incomplete, regardless of its test cases.

use hardware::text::plural::many;
use itertools::Itertools as _;
use run::measure::Metric;
use run::model::Scenario;
use run::plan::TAG_PREFIX;

use super::results::{CaseStatus, Results};
use crate::log::LoggedRun;

const SUITE: &str = "psci-bench/";
/// The name of the verdict's test case, as used by LAVA and by pytest.
const VERDICTS: [&str; 2] = ["psci-bench/psci_bench", "/test_verdict"];
/// The note for a job that did not use the cell's monitors.
pub(super) const OTHERS_MONITORS: &str = "LAVA's test cases are not from the cell's monitors, so \
    their counts are not compared with the log";

/// Returns true if a LAVA job used monitors other than the cell's, such as TF-A's.
pub(super) fn has_others_monitors(results: &Results) -> bool {
    let mut cases = results.cases.keys();
    !results.cases.is_empty()
        && results.measured.is_empty()
        && !cases.any(|case| case.starts_with(SUITE))
}

/// Returns a measurement's name: the metric, the end of the scenario's tag, the cluster and the
/// core.
pub(super) fn name(metric: &str, tag: &str, cpu: &str) -> String {
    format!("{metric}/{tag}_{cpu}")
}

/// Returns the differences between the logs and `results`, or nothing if the engine reports a
/// failure.
pub(super) fn lacks(results: &Results, runs: &[LoggedRun]) -> Vec<String> {
    let mut lacks = Vec::new();
    let failed = results.failure.is_some()
        || !results.faults.is_empty()
        || results.count(CaseStatus::Failed) > 0;
    if failed || runs.is_empty() {
        return lacks;
    }
    let is_verdict = |case: &String| VERDICTS.iter().any(|end| case.ends_with(end));
    if !results.cases.is_empty() && !results.cases.keys().any(is_verdict) {
        lacks.push("the engine has no test case for the verdict".to_owned());
    }
    // Removes each measurement in the log from the engine's measurements.
    let (mut left, mut missing, mut all) = (results.measured.clone(), Vec::new(), 0);
    let scenarios = runs
        .iter()
        .flat_map(|run| run.framed().into_iter().map(move |it| (run, it)));
    for (name, value) in scenarios.flat_map(|(run, it)| measurements(run, &it)) {
        all += 1;
        let kept = left.get_mut(&name).and_then(|kept| {
            let place = kept.iter().position(|it| *it == value)?;
            Some(kept.swap_remove(place))
        });
        missing.extend(kept.is_none().then_some(name));
    }
    let mut more = left.iter().filter(|it| !it.1.is_empty());
    if let Some(name) = missing.first() {
        let (kept, all) = (all - missing.len(), many(all, "measurement"));
        lacks.push(format!(
            "the engine has {kept} of the {all} in the log; {name} is missing or differs"
        ));
    } else if let Some((name, values)) = more.next() {
        let more = values.len() + more.map(|it| it.1.len()).sum::<usize>();
        let more = many(more, "measurement");
        let text = format!("the engine has {more} that the log does not contain, such as {name}");
        lacks.push(text);
    }
    lacks
}

fn measurements(run: &LoggedRun, scenario: &Scenario) -> Vec<(String, f64)> {
    let mut all = Vec::new();
    let tag = scenario.id.tag().strip_prefix(TAG_PREFIX);
    let Some(tag) = tag.filter(|_| scenario.has_pmf()) else {
        return all;
    };
    for (cell, metric) in scenario
        .suite_cells()
        .iter()
        .cartesian_product(scenario.columns())
    {
        let cpu = run.run.cpu(cell.cpu);
        let label = format!("{}_{}", cpu.cluster, run.run.core_number(&cpu));
        let word = match metric {
            Metric::Powerdown => "powerdown",
            Metric::Wakeup => "wakeup",
            Metric::CacheFlush => "cache-flush",
            Metric::Latency => "latency",
            Metric::Call
            | Metric::Wake
            | Metric::TurnOn
            | Metric::TurnOff
            | Metric::Time
            | Metric::Cycles
            | Metric::Entry
            | Metric::Handler
            | Metric::Masked
            | Metric::Until
            | Metric::Count
            | Metric::Residency => continue,
        };
        let ticks = cell.figure(metric);
        if let Some(ns) = ticks.and_then(|ticks| run.ns(ticks)) {
            all.push((name(word, tag, &label), ns as f64));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::read_bytes;

    fn run() -> LoggedRun {
        let log = "NOTICE:  Booting trusted firmware test framework\n\
                   > Executing 'CPU suspend on all cores in sequence'\n\
                   <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t106120\t17100\t5260/>\n\
                   <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t1\t106121\t17101\t5261/>\n  \
                   TEST COMPLETE                                                 Passed\n\
                   > Executing 'PSCI version call on all cores in parallel'\n\
                   <RT_INSTR:test_rt_instr_psci_version_parallel\t0\t0\t88/>\n  \
                   TEST COMPLETE                                                 Passed\n\
                   NOTICE:  Exiting tests.\n";
        read_bytes("log", log.as_bytes()).expect("a run").remove(0)
    }

    fn whole() -> Results {
        let mut results = Results::default();
        results.add("psci-bench/psci_bench".to_owned(), CaseStatus::Passed);
        let run = run();
        for (name, value) in run.framed().iter().flat_map(|it| measurements(&run, it)) {
            results.measured.insert(name, vec![value]);
        }
        results
    }

    #[test]
    fn each_number_of_the_log_is_the_engines() {
        let runs = [run()];
        assert_eq!(
            whole().measured["cache-flush/cpu_susp_serial_0_1"],
            [5261.0]
        );
        assert_eq!(lacks(&whole(), &runs), Vec::<String>::new());
        let version = "latency/psci_version_parallel_0_0";
        let fewer = "the engine has 6 of the 7 measurements in the log; ";
        let more = "the engine has 1 measurement that the log does not contain";
        for (name, values, expected) in [
            ("wakeup/cpu_susp_serial_0_1", vec![], fewer),
            (version, vec![1.0], fewer),
            (version, vec![f64::NAN], fewer),
            (version, vec![88.0, 88.0], more),
            ("wakeup/x_0_0", vec![1.0], more),
        ] {
            let mut other = whole();
            other.measured.insert(name.to_owned(), values);
            let said = lacks(&other, &runs);
            assert!(said.len() == 1 && said[0].starts_with(expected), "{said:?}");
            assert!(said[0].contains(name), "{said:?}");
        }
        let mut cut = whole();
        cut.cases.clear();
        cut.add("psci-bench/other".to_owned(), CaseStatus::Passed);
        let said = lacks(&cut, &runs);
        assert_eq!(said, ["the engine has no test case for the verdict"]);
        assert!(!has_others_monitors(&cut));
        let mut theirs = Results::default();
        assert!(!has_others_monitors(&theirs));
        theirs.add("TFTF/psci_version".to_owned(), CaseStatus::Passed);
        assert!(has_others_monitors(&theirs));
    }
}
