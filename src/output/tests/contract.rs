//! The expressions by which other programs read the frame, followed by hand:
//! the payload's crate has no use for a regular expression engine.

use std::string::{String, ToString};
use std::vec::Vec;

use super::golden::print_scenario;
use crate::model::example::{self, edit_facts, good, made};
use crate::model::{Run, Scenario, Skip};
use crate::output::run as output;
use crate::output::summary::Summary;
use crate::plan::{Method, Methods, Records, ScenarioId};
use crate::record::Writer;

const SGI_DID_NOT_WAKE: Skip = Skip::SgiDidNotWake {
    mpidr: 1,
    power_state: 0x4000_0002,
};

pub(super) fn whole(run: &Run, all: &[Scenario]) -> String {
    let mut out = String::new();
    let mut summary = Summary::new(&run.plan.expect("there is a plan"));
    output::header(&mut out, run).expect("a String takes all");
    for group in all.chunks(1) {
        print_scenario(&mut out, run, &group[0]).expect("a String takes all");
        summary.add(group);
    }
    let mut records = Writer::new(Records::None);
    output::closing(&mut out, run, &summary, &mut records).expect("a String takes all");
    out
}

/// `<RT_INSTR:(\w+)\t(\d+)\t(\d+)\t(\d+)(?:\t(\d+))?(?:\t(\d+))?`, and `/>`.
fn rt_instr(line: &str) -> Option<(String, Vec<u64>)> {
    let inner = line.strip_prefix("<RT_INSTR:")?.strip_suffix("/>")?;
    let mut parts = inner.split('\t');
    let tag = parts.next()?;
    assert!(tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
    let numbers = parts.map(|p| p.parse().ok()).collect::<Option<Vec<_>>>()?;
    assert!((3..=5).contains(&numbers.len()), "{line}");
    Some((tag.into(), numbers))
}

/// `(?s)> Executing '(.+?(?='))'(.*)  TEST COMPLETE\s+(Skipped|Passed|...)`,
/// as the monitor applies it: to what came since its last match.
fn monitor(log: &str) -> Vec<(String, String)> {
    let from = log.find("Booting trusted firmware test framework");
    let to = log.find("Exiting tests.");
    let (Some(from), Some(to)) = (from, to) else {
        return Vec::new();
    };
    let mut rest = &log[from..to];
    let mut found = Vec::new();
    while let Some(start) = rest.find("> Executing '") {
        let case = &rest[start + 13..];
        let (name, after) = case.split_once('\'').expect("the name ends");
        let (_, result) = after.split_once("  TEST COMPLETE").expect("it completes");
        assert!(result.starts_with(' '));
        let word = result.split_whitespace().next().unwrap_or_default();
        found.push((name.into(), word.into()));
        rest = result;
    }
    found
}

#[test]
fn one_row_a_cpu_and_scenario_in_order() {
    let run = example::with_methods(example::run(8), Methods::Both);
    let log = whole(&run, &example::all(&run));
    let rows: Vec<_> = log.lines().filter_map(rt_instr).collect();
    assert_eq!(
        rows.len(),
        log.matches("RT_INSTR").count(),
        "no other line looks like one"
    );
    let mut expected = Vec::new();
    for id in ScenarioId::SUITE {
        for cpu in &run.cpus {
            expected.push((
                id.tag().to_string(),
                u64::from(cpu.cluster),
                u64::from(cpu.core),
            ));
        }
    }
    let labels: Vec<_> = rows.iter().map(|(t, n)| (t.clone(), n[0], n[1])).collect();
    assert_eq!(labels, expected);
    for (tag, numbers) in &rows {
        let version = tag == "test_rt_instr_psci_version_parallel";
        assert_eq!(numbers.len(), if version { 3 } else { 5 });
    }
    // 916, 1625 and 276 ticks of 16 ns.
    assert!(log.contains("<RT_INSTR:test_rt_instr_susp_deep_parallel\t0\t0\t14656\t26000\t4416/>"));
}

#[test]
fn short_numbers_have_two_digits() {
    let mut run = example::run(1);
    edit_facts(&mut run, |facts| facts.frequency = 1_000_000_000);
    let mut made = good(&run, ScenarioId::CpuSuspendSerial);
    made.rows[0].figures.cache_flush = Some(0);
    let log = whole(&run, &[made]);
    assert!(log.contains("_serial\t0\t0\t916\t1625\t00/>\n"), "{log}");
}

#[test]
fn a_skipped_row_has_no_line_and_is_counted() {
    let run = example::run(4);
    let mut made = good(&run, ScenarioId::SuspendDeepSerial);
    // Its figures stay, so that they would be seen in a line.
    made.rows[1].skipped = Some(SGI_DID_NOT_WAKE);
    let log = whole(&run, &[made]);
    let cores: Vec<_> = log.lines().filter_map(rt_instr).map(|r| r.1[1]).collect();
    assert_eq!(cores, [0, 2, 3]);
    assert!(log.contains("|       0 |    1 | Skipped   | Skipped | Skipped     |"));
    assert!(log.ends_with(" 0 not counted, 1 rows skipped, 0 CPUs lost)\n"));
}

#[test]
fn a_summary_names_what_was_skipped_and_why() {
    let run = example::with_methods(example::run(12), Methods::Both);
    let mut of_rows = good(&run, ScenarioId::SuspendDeepSerial);
    for (cpu, row) in of_rows.rows.iter_mut().enumerate().skip(1) {
        let why = [Skip::NoGic, SGI_DID_NOT_WAKE][cpu % 2];
        row.skipped = Some(why);
    }
    of_rows.rows[3].skipped = None;
    let whole_one = made(&run, ScenarioId::CpuSuspendSerial, Method::Warm);
    let log = whole(&run, &[of_rows, example::skipped(whole_one)]);
    let (_, end) = log
        .rsplit_once("Exiting tests.\n\n")
        .expect("the frame's end");
    let (summary, last) = end.split_once("\n\n").expect("a blank line");
    assert!(last.starts_with("psci-bench: PASS (1 passed, 1 skipped, "));
    let expected = "\
Skipped: test_rt_instr_susp_deep_serial, CPU 0.1, 1.1, 1.3, 2.1, 2.3: SGI did not wake CPU 0x1 from 0x40000002
Skipped: test_rt_instr_susp_deep_serial, CPU 0.2, 1.0, 1.2, 2.0, 2.2: no GIC: nothing could wake a suspended CPU
Skipped: test_rt_instr_cpu_susp_serial, method warm: the board names no idle state of this kind; deepest= or core= can
  give one";
    assert_eq!(summary, expected);
    assert!(
        summary
            .lines()
            .all(|line| line.len() <= crate::spec::prose::COLUMNS)
    );
}

#[test]
fn without_rows_a_test_is_skipped() {
    let without_pmf = example::without_pmf(example::run(4));
    let mut without_clock = example::run(4);
    edit_facts(&mut without_clock, |facts| facts.frequency = 12);
    for run in [without_pmf, without_clock] {
        let log = whole(&run, &example::all(&run));
        assert!(monitor(&log).iter().all(|(_, result)| result == "Skipped"));
        assert_eq!(monitor(&log).len(), 6);
        assert!(!log.contains("RT_INSTR"));
        assert!(log.contains("Tests Skipped : 6\nTests Passed  : 0\nTests Failed  : 0\n"));
        // The caller's side was measured all the same.
        assert!(log.contains("psci-bench: PASS (6 passed, 0 skipped, 0 failed; "));
    }
}

#[test]
fn the_warm_method_alone_has_no_frame() {
    let run = example::with_methods(example::run(4), Methods::Warm);
    let log = whole(&run, &example::all(&run));
    for frame in [
        "Booting trusted",
        "> Executing",
        "RT_INSTR",
        "Exiting tests",
        "Tests Failed",
    ] {
        assert!(!log.contains(frame), "{frame}");
    }
}

#[test]
fn threads_do_not_share_a_row() {
    let mut run = example::run(4);
    for (index, cpu) in run.cpus.iter_mut().enumerate() {
        (cpu.cluster, cpu.core, cpu.thread) = (0, index as u16 / 2, index as u16 % 2);
    }
    let made = good(&run, ScenarioId::PsciVersionParallel);
    let log = whole(&run, &[made]);
    let cores: Vec<_> = log.lines().filter_map(rt_instr).map(|r| r.1[1]).collect();
    assert_eq!(cores, [0, 1, 2, 3]);
    assert!(log.contains("| Cluster | Core | Thread | Latency |"));
}
