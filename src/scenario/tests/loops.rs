//! Micro-benchmarks against the fake machine.

use std::string::String;

use super::*;

/// The records of a type, of the first copy, whole, without place and checksum.
pub(super) fn records(text: &str, kind: &str) -> Vec<String> {
    let begin = std::format!(" {kind} ");
    let first = text.split(" end records=").next().unwrap_or_default();
    let lines = first.lines().filter(|line| line.starts_with("@PB "));
    let mut whole: Vec<String> = Vec::new();
    for line in lines.filter_map(|line| Some(line.split_once(&begin)?.1)) {
        let line = line.rsplit_once(' ').map_or(line, |parts| parts.0);
        let metric = line.find("metric=").map_or(line.len(), |at| at + 8);
        let keys = line.find(' ').filter(|_| metric == line.len());
        let lead = keys.unwrap_or_else(|| line[metric..].find(' ').map_or(metric, |n| metric + n));
        match whole
            .last_mut()
            .filter(|last| kind == "point" && last.starts_with(&line[..lead]))
        {
            Some(last) => last.push_str(&line[lead..]),
            None => whole.push(line.into()),
        }
    }
    whole
}

#[test]
fn null_calls_byte_for_byte() {
    let mut fake = Fake::new(2);
    let (text, verdict) = run(&mut fake, "only=null_call loops=2000 batch=100", 2);
    assert_eq!(verdict, Verdict::Pass);
    assert_golden("null-call", &text);
}

#[test]
fn a_point_for_each_kind_alone_and_all_at_once() {
    let mut fake = Fake::new(2);
    let (text, _) = run(&mut fake, "only=null_call loops=1024 warmup=0", 2);
    let points = records(&text, "point");
    // Three calls on two CPUs, alone and at once, and the loop on the lead; in
    // ticks and in cycles.
    assert_eq!(points.len(), 2 * (3 * 2 * 2 + 1), "{points:#?}");
    let first = "t=7 mpidr=0x0 how=alone var=psci_version metric=ticks per=1024 n=1 min=30720 \
                 med=30720 max=30720 mad=0";
    assert_eq!(points[0], first);
    assert!(
        points
            .last()
            .is_some_and(|it| it.contains("var=loop metric=cycles per=1024"))
    );
    assert!(
        !text.contains("TEST COMPLETE") && !text.contains("NOTICE:"),
        "{text}"
    );
}

#[test]
fn without_loops_the_time_is_limited_and_it_says_so() {
    // 100 ms a batch: 1024 of them would take minutes.
    let mut fake = Fake::new(1).with(|_, _, outcome| outcome.after += 6_250_000);
    let (text, verdict) = run(&mut fake, "only=null_call", 1);
    assert_eq!(verdict, Verdict::Pass);
    assert!(
        text.contains("As few as 100 taken, as the time was up"),
        "{text}"
    );
    let mut fake = Fake::new(1);
    let (text, _) = run(&mut fake, "only=null_call", 1);
    assert!(!text.contains("As few as"), "{text}");
    assert!(text.contains("n=1024 "), "{text}");
}

#[test]
fn a_wrong_answer_fails_by_name() {
    let mut fake = Fake::new(2).with(|_, cpu, outcome| {
        if cpu == 1 && outcome.code == -1 {
            outcome.code = 0;
        }
    });
    let (text, verdict) = run(&mut fake, "only=null_call loops=10", 2);
    assert_eq!(verdict, Verdict::Fail);
    assert!(
        text.contains("Failed: unknown came back with 0 on CPU 0.1"),
        "{text}"
    );
    assert!(records(&text, "test")[0].contains("why=wrong-answer why_cpu=1 call=unknown answer=0"));
}

#[test]
fn an_answer_that_changes_costs_its_batch() {
    let mut fake = Fake::new(2).with(|round, cpu, outcome| {
        if round == 25 && cpu == 1 {
            outcome.code = -5;
        }
    });
    let (text, verdict) = run(&mut fake, "only=null_call loops=64 batch=4", 2);
    assert_eq!(verdict, Verdict::Pass, "{text}");
    let lost: Vec<_> = records(&text, "point");
    assert_eq!(
        lost.iter().filter(|p| p.contains(" lost=1")).count(),
        2,
        "{lost:#?}"
    );
}

#[test]
fn smccc_version_may_be_missing() {
    let mut calls = 0;
    let mut fake = Fake::new(1).with(move |_, _, outcome| {
        calls += 1;
        // The probe, and twice one for warm-up and four.
        if calls == 12 {
            outcome.code = -1;
        }
    });
    let (text, verdict) = run(&mut fake, "only=null_call loops=4 batch=1 warmup=1", 1);
    assert_eq!(verdict, Verdict::Pass, "{text}");
    assert!(text.contains("SMCCC_VERSION"), "{text}");
    assert!(
        !text.contains("var=smccc_version") && text.contains("var=unknown"),
        "{text}"
    );
}

#[test]
fn a_lost_cpu_ends_the_scenario() {
    let mut fake = Fake::new(4).with(|round, cpu, outcome| {
        if round == 9 && cpu == 2 {
            outcome.end = End::Lost(LOSS);
        }
    });
    let (text, verdict) = run(&mut fake, "only=null_call loops=8 batch=4 warmup=0", 4);
    assert_eq!(verdict, Verdict::Fail);
    assert!(text.contains("Failed: CPU 0.2 was lost"), "{text}");
    assert!(text.contains("1 CPUs lost"), "{text}");
}

#[test]
fn the_suite_and_a_loop_in_one_run() {
    let mut fake = Fake::new(2);
    let args = "only=cpu_susp_serial,null_call method=tftf,warm iterations=2 loops=8";
    let (text, verdict) = run(&mut fake, args, 2);
    assert_eq!(verdict, Verdict::Pass);
    let mut tests: Vec<String> = records(&text, "test")
        .iter()
        .map(|line| line.split_inclusive(' ').take(2).collect())
        .collect();
    tests.dedup();
    assert_eq!(tests, ["t=4 by=tftf ", "t=4 by=warm ", "t=7 by=warm "]);
    assert!(text.contains("Total tests   : 1"));
}
