//! Micro-benchmarks against the fake machine.

use super::*;
use crate::model::How;
use crate::plan::Method;

/// Makes each batch take 100 ms longer.
fn slow(_: u64, _: usize, outcome: &mut Outcome) {
    outcome.after += 6_250_000;
}

#[test]
fn a_point_for_each_kind_alone_and_all_at_once() {
    let ran = run(&mut Fake::new(2), "only=null_call loops=1024 warmup=0", 2);
    // Three calls on two CPUs, alone and at once, and the loop on the lead; in
    // ticks and in cycles.
    let points: Vec<&Point> = ran.points().collect();
    assert_eq!(points.len(), 2 * (3 * 2 * 2 + 1));
    let mut figures = crate::measure::Summary::of(&mut [30_720]);
    let ticks = Point {
        per: 1024,
        figures,
        ..Point::new(0, Variant::PsciVersion, Measure::Ticks)
    };
    assert_eq!(*points[0], ticks);
    figures = crate::measure::Summary::of(&mut [16 * 30_720]);
    let cycles = Point {
        measure: Measure::Cycles,
        figures,
        ..ticks
    };
    assert_eq!(*points[1], cycles);
    assert_eq!(points[4].how, How::All);
    let last = points[points.len() - 1];
    assert_eq!(
        (last.variant, last.measure),
        (Variant::Loop, Measure::Cycles)
    );
}

#[test]
fn without_loops_the_time_is_limited() {
    // 100 ms a batch: 1024 of them would take minutes.
    let least = |fake: &mut Fake| {
        let ran = run(fake, "only=null_call", 1);
        assert_eq!(ran.counts(), [1, 0, 0]);
        let calls = ran.points().filter(|it| it.variant != Variant::Loop);
        calls.map(|it| it.figures.n).min()
    };
    assert_eq!(least(&mut Fake::new(1).with(slow)), Some(100));
    assert_eq!(least(&mut Fake::new(1)), Some(1024));
}

#[test]
fn warm_up_is_in_the_time() {
    // Seven series share 30 s, of which one CPU has four: five batches of 100 ms
    // are more than a tenth of one's. With loops= there is no limit.
    for (args, warmed, rounds) in [
        ("warmup=10000", Some(5), 3 + 4 * (5 + 100)),
        ("warmup=100 loops=1", None, 3 + 4 * (100 + 1)),
    ] {
        let mut fake = Fake::new(1).with(slow);
        let ran = run(&mut fake, &std::format!("only=null_call {args}"), 1);
        assert_eq!(ran.counts(), [1, 0, 0]);
        let conditions = ran.scenarios[0].conditions.as_ref();
        assert_eq!(conditions.map(|it| it.warmed), Some(warmed));
        assert_eq!(fake.rounds, rounds);
    }
}

#[test]
fn a_wrong_answer_fails_by_name() {
    let mut fake = Fake::new(2).with(|_, cpu, outcome| {
        if cpu == 1 && outcome.code == -1 {
            outcome.code = 0;
        }
    });
    let ran = run(&mut fake, "only=null_call loops=10", 2);
    let wrong = Failure::WrongAnswer {
        variant: Variant::Unknown,
        answer: 0,
        cpu: 1,
    };
    assert_eq!(ran.failure(), Some(wrong));
}

#[test]
fn an_answer_that_changes_costs_its_batch() {
    let mut fake = Fake::new(2).with(|round, cpu, outcome| {
        if round == 25 && cpu == 1 {
            outcome.code = -5;
        }
    });
    let ran = run(&mut fake, "only=null_call loops=64 batch=4", 2);
    assert_eq!(ran.counts(), [1, 0, 0]);
    let lost: Vec<_> = ran.points().filter(|it| it.lost == 1).collect();
    assert_eq!((lost.len(), lost[0].cpu, lost[1].cpu), (2, 1, 1));
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
    let ran = run(&mut fake, "only=null_call loops=4 batch=1 warmup=1", 1);
    assert_eq!(ran.counts(), [1, 0, 0]);
    let has = |variant| ran.points().any(|it| it.variant == variant);
    assert!(!has(Variant::SmcccVersion) && has(Variant::Unknown));
}

#[test]
fn a_lost_cpu_ends_the_scenario() {
    let mut fake = Fake::new(4).with(losing(2, 9));
    let ran = run(&mut fake, "only=null_call loops=8 batch=4 warmup=0", 4);
    assert_eq!((ran.statuses(), ran.totals.lost), (std::vec![lost(2)], 1));
    assert_eq!(fake.rounds, 10);
}

#[test]
fn the_suite_is_measured_by_each_method_and_loops_once() {
    let args = "only=cpu_susp_serial,null_call method=tftf,warm iterations=2 loops=8";
    let ran = run(&mut Fake::new(2), args, 2);
    let keys: Vec<_> = ran.scenarios.iter().map(|it| (it.id, it.method)).collect();
    let suspend = ScenarioId::CpuSuspendSerial;
    let expected = [
        (suspend, Method::Tftf),
        (suspend, Method::Warm),
        (ScenarioId::NullCall, Method::Warm),
    ];
    assert_eq!(keys, expected);
}

#[test]
fn every_loop_has_its_points() {
    let args = "only=micro loops=4 batch=2 iterations=3";
    let ran = run(&mut Fake::new(8), args, 8);
    assert_eq!(ran.totals.failed, 0);
    // On eight CPUs, alone and all at once, in ticks and cycles.
    let (once, on_lead) = (8 * 2 * 2, 2);
    let counts: Vec<usize> = ran.scenarios.iter().map(|it| it.points.len()).collect();
    let plain = once + on_lead;
    assert_eq!(
        counts,
        [3 * once + on_lead, plain, plain, plain, 7 * 3, once]
    );
}

#[test]
fn cpu_on_names_the_first_of_a_cluster() {
    let ran = run(&mut Fake::new(8), "only=cpu_on iterations=2 warmup=0", 8);
    let first = ran.points().filter(|it| it.variant == Variant::First);
    let keys = first.map(|it| (it.cpu, it.how, it.measure));
    let alone = (4..8).flat_map(|cpu| {
        [Measure::TurnOn, Measure::TurnOff].map(|measure| (cpu, How::Alone, measure))
    });
    assert!(keys.eq(alone.chain([(4, How::All, Measure::TurnOn)])));
    for point in ran.points() {
        assert_ne!(point.cpu, 0, "the lead stays on");
        let ticks = match point.measure {
            Measure::TurnOn => 700,
            _ => 900,
        };
        assert_eq!((point.figures.n, point.figures.min), (2, ticks));
    }
}

#[test]
fn without_a_counter_of_cycles_there_are_no_points_of_it() {
    let mut fake = Fake::new(1).with_facts(|facts| facts.pmu = false);
    let ran = run(&mut fake, "only=empty loops=4", 1);
    assert!(ran.points().all(|it| it.measure == Measure::Ticks));
    assert_eq!(ran.points().count(), 1);
}

#[test]
fn an_sgi_that_does_not_come_ends_the_scenario() {
    let mut fake = Fake::new(2).with(|_, _, outcome| outcome.code = -1);
    let ran = run(&mut fake, "only=self_sgi", 2);
    let gave_up = Failure::GaveUp {
        variant: Variant::Sgi,
        cpu: 0,
    };
    assert_eq!((ran.failure(), fake.rounds), (Some(gave_up), 1));
    // Each one that is missing costs seconds: a tenth of them is enough.
    let mut fake = Fake::new(1).with(move |round, _, outcome| {
        if round > 20 {
            outcome.code = -1;
        }
    });
    let ran = run(&mut fake, "only=self_sgi loops=1000 batch=10", 1);
    let few = Failure::TooFewSamples {
        cpu: 0,
        valid: 18,
        asked: 29,
    };
    assert_eq!((ran.failure(), fake.rounds), (Some(few), 21 + 11));
}
