//! Micro-benchmarks against the fake machine.

use std::string::String;

use super::*;

/// The records of a type, of the first copy, whole, without place and checksum.
pub(crate) fn records(text: &str, kind: &str) -> Vec<String> {
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
fn warm_up_is_in_the_time() {
    // Seven series share 30 s, of which one CPU has four: five batches of 100 ms
    // are more than a tenth of one's.
    let mut fake = Fake::new(1).with(|_, _, outcome| outcome.after += 6_250_000);
    let (text, verdict) = run(&mut fake, "only=null_call warmup=10000", 1);
    assert_eq!(verdict, Verdict::Pass);
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "Of 10000 batches for warm-up as few as 5 were done";
    assert!(plain.contains(said), "{text}");
    assert_eq!(fake.rounds, 3 + 4 * (5 + 100));
    // With loops= there is no limit.
    let mut fake = Fake::new(1).with(|_, _, outcome| outcome.after += 6_250_000);
    let (text, _) = run(&mut fake, "only=null_call warmup=100 loops=1", 1);
    assert!(!text.contains("for warm-up as few"), "{text}");
    assert_eq!(fake.rounds, 3 + 4 * (100 + 1));
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
        // A probe, one for warm-up, four, and the next probe.
        if calls == 7 {
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

#[test]
fn every_loop_by_its_number() {
    let mut fake = Fake::new(8);
    let (text, verdict) = run(&mut fake, "only=micro loops=4 batch=2 iterations=3", 8);
    assert_eq!(verdict, Verdict::Pass, "{text}");
    let points = records(&text, "point");
    let of = |begin: &str| {
        points
            .iter()
            .filter(|point| point.starts_with(begin))
            .count()
    };
    // On eight CPUs, alone and all at once, in ticks and cycles.
    let (once, on_lead) = (8 * 2 * 2, 2);
    let counts: Vec<usize> = (6..14).map(|t| of(&std::format!("t={t} "))).collect();
    let cpu_on = 7 * 3;
    let plain = once + on_lead;
    assert_eq!(
        counts,
        [0, 3 * once + on_lead, plain, plain, plain, cpu_on, once, 0]
    );
}

/// Who is first in his cluster depends on the lead, and on who came before.
#[test]
fn cpu_on_says_who_finds_the_cluster_up() {
    let mut fake = Fake::new(8);
    let (text, _) = run(&mut fake, "only=cpu_on iterations=2 warmup=0", 8);
    let points = records(&text, "point");
    let first: Vec<&str> = points
        .iter()
        .filter(|point| point.contains("var=first metric=turnon"))
        .filter_map(|point| point.split(" var=").next())
        .collect();
    let alone = (0..4).map(|core| std::format!("t=11 mpidr=0x10{core} how=alone"));
    let mut expected: Vec<String> = alone.collect();
    expected.push("t=11 mpidr=0x100 how=all".into());
    assert_eq!(first, expected);
    let one = "t=11 mpidr=0x103 how=alone var=first metric=turnoff per=1 n=2 min=900";
    assert!(
        points.iter().any(|point| point.starts_with(one)),
        "{points:#?}"
    );
    assert!(!points.iter().any(|point| point.contains("mpidr=0x0 ")));
}

#[test]
fn what_the_machine_lacks_is_skipped_by_name() {
    let mut fake = Fake::without_pmf(1).without_gic().without_pmu();
    let (text, verdict) = run(&mut fake, "only=micro loops=4", 1);
    assert_eq!(verdict, Verdict::Pass);
    for why in [
        "Skipped: no GIC, and so no SGI",
        "Skipped: the CPU has no performance monitors",
        "Skipped: PMF's timestamps can not be read",
        "Skipped: there is no other CPU to turn on",
    ] {
        assert!(text.contains(why), "{why}");
    }
    assert!(!text.contains("metric=cycles"));
    assert!(text.contains("(2 passed, 4 skipped, 0 failed;"), "{text}");
}

#[test]
fn an_sgi_that_does_not_come_ends_the_scenario() {
    let gone = |outcome: &mut Outcome| outcome.code = -1;
    let mut fake = Fake::new(2).with(move |_, _, outcome| gone(outcome));
    let (text, verdict) = run(&mut fake, "only=self_sgi", 2);
    assert_eq!((verdict, fake.rounds), (Verdict::Fail, 1));
    assert!(
        text.contains("Failed: sgi did not come on CPU 0.0"),
        "{text}"
    );
    // Each one that is missing costs seconds: a tenth of them is enough.
    let mut fake = Fake::new(1).with(move |round, _, outcome| {
        if round > 20 {
            gone(outcome);
        }
    });
    let (text, verdict) = run(&mut fake, "only=self_sgi loops=1000 batch=10", 1);
    assert_eq!((verdict, fake.rounds), (Verdict::Fail, 21 + 11));
    assert!(
        text.contains("CPU 0.0 has 18 valid samples of 29"),
        "{text}"
    );
}
