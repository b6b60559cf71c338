//! `timer_latency` against the fake machine.

use super::*;
use crate::measure::{Fault, Until};
use crate::model::{How, Spread};

/// Returns the number of points, and checks that each one to the handler has all its
/// samples in its spread.
fn check_spreads(ran: &Ran) -> usize {
    for point in ran.points() {
        let is_handler = point.measure == Measure::Handler;
        assert_eq!(point.spread.is_some(), is_handler);
        let Some(Spread { counts, .. }) = &point.spread else {
            continue;
        };
        assert_eq!(counts.iter().sum::<u32>(), point.figures.n);
        let ends = (counts.first(), counts.last());
        assert!(ends.0 != Some(&0) && ends.1 != Some(&0), "{ends:?}");
    }
    ran.points().count()
}

/// Returns the expiries that were measured and asked for, by stretch.
fn ends(ran: &Ran) -> Vec<(u32, u32)> {
    ran.log.ends.iter().map(|it| (it.done, it.total)).collect()
}

#[test]
fn each_timer_alone_and_all_at_once_under_each_load() {
    let mut fake = Fake::new(3);
    let args = "only=timer_latency duration=2 stress=write,idle period=1000";
    let ran = run(&mut fake, args, 3);
    assert_eq!(ran.counts(), [1, 0, 0]);
    // To the vector and to the handler, of three CPUs, alone and all.
    assert_eq!(check_spreads(&ran), 2 * 3 * 2 * 2);
    for point in ran.points() {
        assert_eq!((point.figures.n, point.per, point.lost), (2000, 1, 0));
    }
    let first = ran.points().next().expect("a point");
    let key = (first.cpu, first.how, first.variant, first.measure);
    assert_eq!(key, (0, How::Alone, Variant::Idle, Measure::Entry));
    let summary = first.figures;
    let all = (
        summary.min,
        summary.median,
        summary.p99,
        summary.max,
        summary.mad,
    );
    assert_eq!(all, (30, 32, Some(36), 36, 2));
    // Two windows of a second in each stretch.
    assert_eq!(ran.log.windows.len(), 2 * (3 + 1) * 2);
    assert_eq!(ends(&ran), [(2000, 2000); 2 * (3 + 1)]);
    // All were on all the time, and go off in the end.
    assert!(fake.asked.iter().all(|round| round.who == Who::All));
    let (last, others) = fake.asked.split_last().expect("rounds");
    assert_eq!((last.action, last.after), (Action::None, After::Off));
    let mut kinds = others.iter().map(|round| (round.action, round.after));
    assert!(kinds.all(|it| it == (Action::Expire, After::Stay)));
}

#[test]
fn overruns_are_counted_and_are_no_samples() {
    // 2.5 ms late once a window: two more are due by then.
    let late = |cpu, k| if (cpu, k) == (1, 100) { 156_250 } else { 50 };
    let args = "only=timer_latency duration=3 stress=idle";
    let ran = run(&mut Fake::new(2).with_lateness(late), args, 2);
    assert_eq!(ran.counts(), [1, 0, 0]);
    check_spreads(&ran);
    for point in ran.points() {
        let lost = if point.cpu == 1 { 6 } else { 0 };
        assert_eq!((point.figures.n, point.lost), (3000 - lost as u32, lost));
    }
    let overruns: Vec<_> = ran.log.ends.iter().map(|it| it.all.overruns).collect();
    assert_eq!(overruns, [0, 6, 6]);
}

#[test]
fn a_threshold_ends_it_and_fails() {
    let late = |cpu, k| if (cpu, k) == (1, 500) { 6_250 } else { 50 };
    let mut fake = Fake::new(2).with_lateness(late);
    let args = "only=timer_latency duration=60 stress=idle threshold=100";
    let ran = run(&mut fake, args, 2);
    let late = Failure::Timer {
        cpu: 1,
        fault: Fault::Late(6_270),
    };
    assert_eq!(ran.failure(), Some(late));
    // The first CPU alone to its end, the second up to there, no more.
    assert_eq!(ends(&ran), [(60_000, 60_000), (501, 60_000)]);
    check_spreads(&ran);
    let last = ran.points().last().expect("points");
    assert_eq!((last.figures.n, last.figures.max), (501, 6_270));
    let (last, _) = fake.asked.split_last().expect("rounds");
    assert_eq!((last.action, last.after), (Action::None, After::Off));
}

#[test]
fn each_fault_of_a_timer_has_its_name() {
    let args = "only=timer_latency duration=5 stress=idle timers=all";
    for fault in [Fault::Stray(40), Fault::Silent, Fault::Spurious] {
        let ran = run(&mut Fake::new(2).with_fault(1, 3, fault), args, 2);
        assert_eq!(ran.failure(), Some(Failure::Timer { cpu: 1, fault }));
        // Three windows, and three expiries: the fourth was not measured.
        assert_eq!(
            (ran.log.windows.len(), ends(&ran)),
            (4, std::vec![(3_003, 5_000)])
        );
        check_spreads(&ran);
    }
    let mut fake = Fake::new(2).with(|round, cpu, outcome| {
        if (round, cpu) == (0, 0) {
            outcome.end = End::Pending;
        }
    });
    let fault = Fault::Pending;
    let pending = Failure::Timer { cpu: 0, fault };
    assert_eq!(run(&mut fake, args, 2).failure(), Some(pending));
}

#[test]
fn a_lost_cpu_is_the_end_of_it() {
    let mut fake = Fake::new(3).with(losing(2, 1));
    let ran = run(&mut fake, "only=timer_latency timers=all duration=9", 3);
    assert_eq!(ran.statuses(), [lost(2)]);
    // The other CPUs keep their figures.
    assert_eq!(check_spreads(&ran), 2 * 2);
}

#[test]
fn without_dc_zva_zero_is_left_out() {
    for (stress, status, is_reported) in [
        ("idle,zero", Status::Passed, true),
        ("zero", Status::Skipped(Skip::NoZero), true),
        ("write", Status::Passed, false),
    ] {
        let mut fake = Fake::new(1).with_facts(|facts| facts.zero = false);
        let args = std::format!("only=timer_latency timers=all stress={stress}");
        let ran = run(&mut fake, &args, 1);
        assert_eq!(
            (ran.statuses(), ran.log.without_zero),
            (std::vec![status], is_reported)
        );
        assert!(ran.points().all(|it| it.variant != Variant::Zero));
    }
}

#[test]
fn a_lone_cpu_has_no_others_for_a_load() {
    let ran = run(&mut Fake::new(1), "only=timer_latency stress=idle,clean", 1);
    let handlers = ran.points().filter(|it| it.measure == Measure::Handler);
    let keys: Vec<_> = handlers.map(|it| (it.how, it.variant)).collect();
    let expected = [
        (How::Alone, Variant::Idle),
        (How::All, Variant::Idle),
        (How::All, Variant::Clean),
    ];
    assert_eq!(keys, expected);
}

#[test]
fn a_window_has_the_latencies_of_all_its_cpus() {
    let late = |cpu, _| if cpu == 0 { 50 } else { 70 };
    let args = "only=timer_latency duration=1 stress=idle timers=all";
    let ran = run(&mut Fake::new(2).with_lateness(late), args, 2);
    let entry = ran.log.windows[0].until(Until::Entry);
    assert_eq!((entry.n, entry.least(), entry.max), (2000, Some(50), 70));
}
