//! `timer_latency` against the fake machine.

use super::*;
use crate::measure::Fault;
use crate::model::Spread;

fn run_timers(fake: Fake, args: &str) -> Ran {
    run(fake, &std::format!("only=timer_latency {args}"))
}

/// Returns the number of points, and checks that each one to the handler has all its
/// samples in its spread.
fn check_spreads(ran: &Ran) -> usize {
    for point in ran.points() {
        let is_handler = point.measure == Measure::Handler;
        assert_eq!(point.spread.is_some(), is_handler);
        if let Some(Spread { counts, .. }) = &point.spread {
            assert_eq!(counts.iter().sum::<u32>(), point.figures.n);
            let ends = (counts.first(), counts.last());
            assert!(ends.0 != Some(&0) && ends.1 != Some(&0), "{ends:?}");
        }
    }
    ran.points().count()
}

/// Returns the expiries that were measured and asked for, by stretch.
fn ends(ran: &Ran) -> Vec<(u32, u32)> {
    ran.log.ends.iter().map(|it| (it.done, it.total)).collect()
}

/// Returns true if all CPUs were on all the time, and went off in the end.
fn powers_off_last(ran: &Ran) -> bool {
    let asked = ran.fake.asked.iter().map(|it| (it.action, it.after));
    let windows = ran.log.windows.len();
    let expected = core::iter::repeat_n((Action::Expire, After::Stay), windows);
    let is_all = !ran.asks(|round| round.who != Who::All);
    is_all && asked.eq(expected.chain([(Action::None, After::Off)]))
}

#[test]
fn overruns_are_counted_and_are_no_samples() {
    // 2.5 ms late once a window: two more are due by then.
    let late = |cpu, k| if (cpu, k) == (1, 100) { 156_250 } else { 50 };
    let ran = run_timers(Fake::new(2).with_lateness(late), "duration=3 stress=idle");
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
    let args = "duration=60 stress=idle threshold=100";
    let ran = run_timers(Fake::new(2).with_lateness(late), args);
    let (cpu, fault) = (1, Fault::Late(6_270));
    assert_eq!(ran.failure(), Some(Failure::Timer { cpu, fault }));
    // The first CPU alone to its end, the second up to there, no more.
    assert_eq!(ends(&ran), [(60_000, 60_000), (501, 60_000)]);
    check_spreads(&ran);
    let last = ran.points().last().expect("points");
    assert_eq!((last.figures.n, last.figures.max), (501, 6_270));
    assert!(powers_off_last(&ran));
}

#[test]
fn each_fault_of_a_timer_has_its_name() {
    let args = "duration=5 stress=idle timers=all";
    for fault in [Fault::Stray(40), Fault::Silent, Fault::Spurious] {
        let ran = run_timers(Fake::new(2).with_fault(1, 3, fault), args);
        assert_eq!(ran.failure(), Some(Failure::Timer { cpu: 1, fault }));
        // Three windows, and three expiries: the fourth was not measured.
        assert_eq!(ends(&ran), [(3_003, 5_000)]);
        assert_eq!(ran.log.windows.len(), 4);
        check_spreads(&ran);
    }
    let fake = Fake::new(2).with(|round, cpu, outcome| {
        if (round, cpu) == (0, 0) {
            outcome.end = End::Pending;
        }
    });
    let (cpu, fault) = (0, Fault::Pending);
    let pending = Failure::Timer { cpu, fault };
    assert_eq!(run_timers(fake, args).failure(), Some(pending));
}

#[test]
fn a_lost_cpu_is_the_end_of_it() {
    let ran = run_timers(Fake::new(3).with(losing(2, 1)), "timers=all duration=9");
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
        let fake = Fake::new(1).with_facts(|facts| facts.zero = false);
        let ran = run_timers(fake, &std::format!("timers=all stress={stress}"));
        assert_eq!(ran.statuses(), [status]);
        assert_eq!(ran.log.without_zero, is_reported);
        assert!(ran.points().all(|it| it.variant != Variant::Zero));
    }
}

#[test]
fn a_lone_cpu_has_no_others_for_a_load() {
    let ran = run_timers(Fake::new(1), "stress=idle,clean");
    let handlers = ran.points().filter(|it| it.measure == Measure::Handler);
    let keys: Vec<_> = handlers.map(|it| (it.how, it.variant)).collect();
    let expected = [
        (How::Alone, Variant::Idle),
        (How::All, Variant::Idle),
        (How::All, Variant::Clean),
    ];
    assert_eq!(keys, expected);
}
