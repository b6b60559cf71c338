//! States in which the CPUs' own timers stop, with a timer frame and without.

use super::*;
use crate::board::NoFrame;

/// Runs on CPUs whose timers stop in the deepest state.
fn run_stopping(fake: Fake, bootargs: &str) -> Ran {
    run_with(fake, bootargs, &stopping(1))
}

/// Returns the CPUs that suspend to the deepest state in each round, and what wakes them.
fn wakes(ran: &Ran) -> Vec<(Who, Waker)> {
    let rounds = ran.fake.asked.iter();
    let rounds = rounds.filter(|round| suspends(round.action, CLUSTER));
    rounds.map(|round| (round.who, round.waker)).collect()
}

#[test]
fn a_trial_that_fails_is_repeated_on_another_cpu() {
    let early = |cpus: core::ops::Range<usize>| {
        Fake::new(4).with(move |_, cpu, outcome| {
            if cpus.contains(&cpu) && suspends(outcome.action, CLUSTER) {
                outcome.after = outcome.due - 1;
            }
        })
    };
    let ran = run_stopping(early(1..2), "iterations=2");
    assert_eq!(ran.wakers.woken, Some(2));
    // If no CPU passes a trial, the scenario fails, as it does where no state stops timers.
    let args = "iterations=2 only=susp_deep_serial,cpu_off_serial";
    let ran = run_stopping(early(0..4), args);
    let found = ran.failure();
    assert!(matches!(found, Some(Failure::NotCalibrated { cpu: 3, .. })));
    let (mpidr, power_state) = (3, CLUSTER);
    let lead = &ran.of(ScenarioId::CpuOffSerial).rows[0];
    assert_eq!(lead.skipped, Some(Skip::NotTried { mpidr, power_state }));
    assert!(ran.wakers.proven.is_empty());
}

#[test]
fn a_state_that_the_firmware_refuses_has_no_good_trial() {
    let fake = Fake::new(4).with(refusing(|_, state| state == CLUSTER, -2));
    let ran = run_stopping(fake, "iterations=2 only=susp_deep_parallel");
    // Measured once with the lead as helper, and once with CPU 1.
    let refused = [1, 0].map(|cpu| refused(cpu, Error::InvalidParameters));
    assert_eq!(ran.statuses(), refused);
    assert!(ran.wakers.proven.is_empty() && ran.wakers.woken.is_none());
}

#[test]
fn the_frame_is_used_after_it_has_woken_the_lead_in_a_trial() {
    for wake in ["together", "staggered", "chain"] {
        let args = std::format!("iterations=2 wake={wake}");
        let ran = run_stopping(Fake::new(4).with_frame(), &args);
        assert_eq!(ran.counts(), [6, 0, 0]);
        let wakes = wakes(&ran);
        let trials = [
            (Who::Only(1), Waker::Helper(0)),
            (Who::Only(0), Waker::FrameTrial(1)),
        ];
        assert_eq!(wakes[..2], trials);
        for (who, waker) in &wakes[2..] {
            let expected = match who {
                Who::Only(1..) => Waker::Helper(0),
                _ => Waker::Frame,
            };
            assert_eq!(*waker, expected);
        }
        let is_other = |it: &Round| !suspends(it.action, CLUSTER);
        assert!(!ran.asks(|it| is_other(it) && it.waker != Waker::OwnTimers));
        assert!(ran.wakers.frame.is_ok());
        let framed = ran.wake_sources().filter(|it| *it == WakeSource::Frame);
        assert_eq!(framed.count(), 3);
    }
}

#[test]
fn a_frame_that_fails_its_trial_is_not_used() {
    // In round 1, the frame's trial, the helper's SGI and not the frame wakes the lead.
    let fake = Fake::new(4).with_frame().with(|round, cpu, outcome| {
        if (round, cpu) == (1, 0) {
            outcome.end = End::NotRung;
        }
    });
    let ran = run_stopping(fake, "iterations=2");
    assert_eq!((ran.counts(), ran.totals.rows_skipped), ([6, 0, 0], 0));
    assert_eq!(ran.wakers.frame, Err(NoFrame::DidNotWake));
    let wakes = wakes(&ran);
    assert!(wakes[2..].iter().all(|(_, waker)| waker.helper().is_some()));
    // The trial itself failed: it is not known whether the frame works.
    let fake = Fake::new(4).with_frame().with(|_, cpu, outcome| {
        if cpu == 0 && suspends(outcome.action, CLUSTER) {
            outcome.after = outcome.due - 1;
        }
    });
    let ran = run_stopping(fake, "iterations=2 only=susp_deep_serial");
    assert_eq!(ran.wakers.frame, Err(NoFrame::NotTried));
}

#[test]
fn in_cpu_off_serial_only_the_lead_is_woken() {
    for (fake, source, helper) in [
        (Fake::new(5), WakeSource::Helper, Some(4)),
        (Fake::new(5).with_frame(), WakeSource::Frame, None),
    ] {
        let ran = run_stopping(fake, "only=cpu_off_serial iterations=2");
        assert_eq!(ran.counts(), [1, 0, 0]);
        assert!(ran.wake_sources().eq([source]));
        let helpers: Vec<_> = ran.rows().map(|row| row.helper).collect();
        assert_eq!(helpers, [helper, None, None, None, None]);
    }
}

#[test]
fn a_state_that_the_tree_lacks_is_tried_where_another_one_stops_timers() {
    for (states, proven) in [(stopping(0), &[CORE, CLUSTER][..]), (STATES, &[])] {
        let args = "iterations=2 deepest=0x01010022";
        let ran = run_with(Fake::new(4), args, &states[..1]);
        assert_eq!(ran.counts(), [6, 0, 0]);
        assert_eq!(ran.wakers.proven, proven);
        let is_helped = !proven.is_empty();
        let mut wakes = wakes(&ran).into_iter();
        assert!(wakes.all(|it| it.1.helper().is_some() == is_helped));
    }
}

#[test]
fn a_lead_whose_helper_was_lost_before_has_no_row() {
    // Round 2 is the first after both trials, and its state does not stop timers.
    let fake = Fake::new(2).with(losing(1, 2));
    let ran = run_stopping(fake, "iterations=2 only=cpu_susp_serial,cpu_off_serial");
    let skips: Vec<_> = ran.scenarios.iter().map(|it| it.rows[0].skipped).collect();
    assert_eq!(skips, [None, Some(Skip::NoHelper)]);
}
