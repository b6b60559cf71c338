//! States in which the CPUs' own timers stop, with and without a timer frame.

use crate::measure::order::OrderBook;
use crate::measure::{Cause, Loss};
use hardware::board::{CpuIndex, Mpidr, NoFrame};

use super::*;

/// Runs on CPUs whose timers stop in the deepest state.
fn run_stopping(fake: Fake, bootargs: &str) -> Ran {
    run_with(fake, bootargs, &stopping(1))
}

/// Returns the CPUs that suspend to the deepest state in each round, and what wakes them.
fn wakes(ran: &Ran) -> Vec<(Participants, Waker)> {
    ran.fake
        .requested_rounds
        .iter()
        .filter(|round| suspends(round.action(), CLUSTER))
        .map(|round| (round.participants, round.wake_up.waker))
        .collect()
}

#[test]
fn a_trial_that_fails_is_repeated_on_another_cpu() {
    let early = |cpus: core::ops::Range<usize>| {
        Fake::new(4).with(move |_, cpu, outcome| {
            if cpus.contains(&cpu.index()) && suspends(outcome.action, CLUSTER) {
                outcome.returned_at = shifted(outcome.due(), -1);
            }
        })
    };
    let one_fails = run_stopping(early(3..4), "iterations=2");
    assert_eq!(one_fails.wake_sources.woken, Some(2.into()));
    // If no CPU passes a trial, the scenario fails, just as it would if no state stopped timers.
    let args = "iterations=2 only=susp_deep_serial,cpu_off_serial";
    let ran = run_stopping(early(0..4), args);
    let Some(Failure::NotCalibrated { cpu, .. }) = ran.failure() else {
        panic!("{:?}", ran.failure());
    };
    assert_eq!(cpu, 1.into());
    let (mpidr, power_state) = (Mpidr::new(1), CLUSTER);
    let lead = &ran.of(ScenarioId::CPU_OFF_SERIAL).cells[0];
    assert_eq!(lead.skipped, Some(Skip::NotTried { mpidr, power_state }));
    assert!(ran.wake_sources.proven.is_empty());
}

#[test]
fn a_state_that_the_firmware_refuses_has_no_good_trial() {
    let fake = Fake::new(4).with(refusing(|_, state| state == CLUSTER, -2));
    let ran = run_stopping(fake, "iterations=2 only=susp_deep_parallel");
    // The scenario is measured once with the lead as helper, and once with CPU 1.
    let refused = [1, 0].map(|cpu| refused(cpu, Error::InvalidParameters));
    assert_eq!(ran.statuses(), refused);
    assert!(ran.wake_sources.proven.is_empty() && ran.wake_sources.woken.is_none());
}

#[test]
fn the_frame_is_used_after_it_has_woken_the_lead_in_a_trial() {
    for wake in ["together", "staggered", "chain"] {
        let args = std::format!("iterations=2 wake={wake}");
        let ran = run_stopping(Fake::new(4).with_frame(), &args);
        assert_eq!(ran.counts(), [6, 0, 0]);
        let wakes = wakes(&ran);
        let trials = [
            (only(3), Waker::Helper(0.into())),
            (only(0), Waker::FrameTrial(1.into())),
        ];
        assert_eq!(wakes[..2], trials);
        for (participants, waker) in &wakes[2..] {
            let expected = match participants {
                Participants::Only(cpu) if cpu.index() > 0 => Waker::Helper(0.into()),
                _ => Waker::Frame,
            };
            assert_eq!(*waker, expected);
        }
        let is_other = |round: &Round| !suspends(round.action(), CLUSTER);
        assert!(!ran.asks(|round| is_other(round) && round.wake_up.waker != Waker::OwnTimers));
        assert!(ran.wake_sources.frame.is_ok());
        let by_frame = ran
            .wake_sources()
            .filter(|source| *source == WakeSource::Frame);
        assert_eq!(by_frame.count(), 3);
    }
}

#[test]
fn the_planned_helper_wakes_the_lead_and_in_parallel_rounds() {
    let args = "iterations=2 helper=0x2 only=susp_deep_parallel,susp_deep_serial";
    let ran = run_stopping(Fake::new(8), args);
    assert_eq!(ran.counts(), [2, 0, 0]);
    assert_eq!(ran.wake_sources.woke_lead, Some(2.into()));
    let helped: Vec<_> = ran.scenarios.iter().filter_map(|one| one.helper).collect();
    assert_eq!(helped, [CpuIndex::new(2)]);
    let wakes = wakes(&ran);
    let mut of_lead = wakes.iter().filter(|(cpus, _)| *cpus == only(0));
    assert!(of_lead.clone().count() > 2);
    assert!(of_lead.all(|(_, waker)| waker.helper() == Some(2.into())));
}

#[test]
fn a_frame_that_fails_its_trial_is_not_used() {
    // In the frame's trial, which is the lead's first suspend, the helper's SGI wakes the lead.
    let mut is_first = true;
    let fake = Fake::new(4).with_frame().with(move |_, cpu, outcome| {
        if cpu.index() == 0 && suspends(outcome.action, CLUSTER) && core::mem::take(&mut is_first) {
            outcome.end = ActionEnd::WokenByFallback;
        }
    });
    let ran = run_stopping(fake, "iterations=2");
    assert_eq!((ran.counts(), ran.totals.rows_skipped), ([6, 0, 0], 0));
    assert_eq!(ran.wake_sources.frame, Err(NoFrame::DidNotWake));
    let wakes = wakes(&ran);
    assert!(wakes[2..].iter().all(|(_, waker)| waker.helper().is_some()));
}

#[test]
fn a_frame_whose_trial_is_unclear_is_not_used() {
    let fake = Fake::new(4).with_frame().with(|_, cpu, outcome| {
        if cpu.index() == 0 && suspends(outcome.action, CLUSTER) {
            outcome.returned_at = shifted(outcome.due(), -1);
        }
    });
    let ran = run_stopping(fake, "iterations=2 only=susp_deep_serial");
    assert_eq!(ran.wake_sources.frame, Err(NoFrame::NotTried));
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
        let helpers: Vec<_> = ran
            .cells()
            .map(|cell| cell.helper.map(CpuIndex::index))
            .collect();
        assert_eq!(helpers, [helper, None, None, None, None]);
    }
}

#[test]
fn a_state_that_the_tree_lacks_is_tried_where_another_one_stops_timers() {
    for (states, proven) in [(stopping(0), &[CORE, CLUSTER][..]), (STATES, &[])] {
        let args = "iterations=2 deepest=0x01010022";
        let ran = run_with(Fake::new(4), args, &states[..1]);
        assert_eq!(ran.counts(), [6, 0, 0]);
        assert_eq!(ran.wake_sources.proven, proven);
        let is_helped = !proven.is_empty();
        let mut wakes = wakes(&ran).into_iter();
        assert!(wakes.all(|(_, waker)| waker.helper().is_some() == is_helped));
    }
}

#[test]
fn a_lead_whose_helper_was_lost_before_has_no_row() {
    // Round 2 is the first one after both trials, and its state does not stop timers.
    let fake = Fake::new(2).with(losing(1, 2));
    let ran = run_stopping(fake, "iterations=2 only=cpu_susp_serial,cpu_off_serial");
    let skips: Vec<_> = ran
        .scenarios
        .iter()
        .map(|scenario| scenario.cells[0].skipped)
        .collect();
    assert_eq!(skips, [None, Some(Skip::NoHelper)]);
}

/// The lead's rounds without a helper do not count.
#[test]
fn a_lead_whose_helper_is_lost_meanwhile_has_no_sample() {
    // Round 4 is the first one after both trials and the CPUs' calibrations.
    let fake = Fake::new(2).with(losing(1, 4));
    let ran = run_stopping(fake, "iterations=2 warmup=0 only=susp_deep_serial");
    assert_eq!(ran.statuses(), [lost(1)]);
    let lead = &ran.scenarios[0].cells[0];
    assert_eq!((lead.valid(), lead.helper), (0, None));
    assert!(ran.asks(|round| round.wake_up.waker == Waker::NoHelper));
}

/// Returns an edit that makes a CPU's trials in `state` end with `end`.
fn in_trials(index: usize, state: u32, end: ActionEnd) -> impl FnMut(CpuIndex, &mut Outcome) {
    move |cpu, outcome| {
        if cpu.index() == index && suspends(outcome.action, state) {
            outcome.end = end;
        }
    }
}

/// Returns an edit that applies to the first `count` trials.
fn in_first_trials(mut count: u32, edit: fn(&mut Outcome)) -> impl FnMut(CpuIndex, &mut Outcome) {
    move |_, outcome| {
        if count > 0 {
            count -= 1;
            edit(outcome);
        }
    }
}

/// Returns the CPU and state for each trial of a CPU's own timer.
fn trials(ran: &Ran) -> Vec<(Participants, u32)> {
    let trial = |round: &Round| match round.action() {
        Action::Suspend { power_state, .. } => (round.participants, power_state),
        action => panic!("{action:?}"),
    };
    ran.fake.trials.iter().map(trial).collect()
}

/// Returns the CPU for each trial of a CPU's own timer.
fn tried_cpus(ran: &Ran) -> Vec<Participants> {
    trials(ran).into_iter().map(|(cpu, _)| cpu).collect()
}

#[test]
fn each_power_down_has_one_trial_with_the_last_cpu_after_psci_version() {
    let ran = run(Fake::new(4), "iterations=2");
    assert_eq!(ran.counts(), [6, 0, 0]);
    assert_eq!(trials(&ran), [(only(3), CORE), (only(3), CLUSTER)]);
    let ids: Vec<_> = ran.scenarios.iter().map(|scenario| scenario.id).collect();
    assert_eq!(ids[0], ScenarioId::PSCI_VERSION_PARALLEL);
    assert_eq!(ids[1..], ScenarioId::SUITE[..5]);
    let before = ran.fake.trials_began_at.expect("trials");
    let [earlier, later] = [
        &ran.fake.requested_rounds[..before],
        &ran.fake.requested_rounds[before..],
    ];
    let is_call = |round: &Round| round.action() == Action::Version;
    assert!(!earlier.is_empty() && earlier.iter().all(is_call));
    assert!(!later.iter().any(is_call));
    // Only measured states are tried, and only while another CPU is awake.
    let trials_of = |cpus, args| trials(&run(Fake::new(cpus), args));
    let core = [(only(3), CORE)];
    assert_eq!(trials_of(4, "iterations=2 only=cpu_susp_serial"), core);
    assert_eq!(trials_of(4, "iterations=2 only=psci_version_parallel"), []);
    assert_eq!(trials_of(1, "iterations=2"), []);
}

/// A successful trial takes at most 5 ms, including CPU_ON and CPU_OFF; a failed trial takes a
/// second.
#[test]
fn trials_are_short() {
    let ran = run(Fake::new(4), "iterations=2");
    let facts = ran.fake.facts();
    for round in ran.fake.trials.iter().copied() {
        assert!(round.spans.lead_in + round.spans.sleep + round.spans.quiet <= facts.ticks(3_000));
        let book = OrderBook {
            clock: facts.clock(),
            lead: 0.into(),
            cpus: &[Default::default(); 4],
            round,
            is_lost: &|_| false,
        };
        let rings = book.lead_fallback().expect("the lead rings");
        assert!(rings < book.last_return());
        // The lead checks on the CPU after sending the SGI.
        let most = book.finish_deadline(0, rings, facts.ticks(10_000_000));
        assert!(round.spans.lead_in + most <= facts.ticks(1_000_000));
        let order = book.order_for(3.into());
        assert!(order.expects_no_sgi());
        assert_eq!(order.times.fallback, round.spans.sleep);
    }
}

#[test]
fn a_trial_is_repeated_until_the_cpu_was_down_when_its_timer_was_due() {
    let delay_wake_up = |outcome: &mut Outcome| {
        let down = outcome.due().expect("a wake-up").number() + 1;
        set_stamp(outcome, Stamp::EnterHwLowPwr, down);
    };
    let fake = Fake::new(4).with_trials(in_first_trials(2, delay_wake_up));
    let ran = run(fake, "iterations=2 only=susp_deep_serial");
    assert_eq!(ran.counts(), [1, 0, 0]);
    let sleeps: Vec<_> = ran
        .fake
        .trials
        .iter()
        .map(|round| round.spans.sleep)
        .collect();
    assert_eq!(
        sleeps,
        [1, 2, 4].map(|times| times * ran.fake.facts().ticks(2_500))
    );
}

/// The lead will also wake up too soon on its own, so no helper is needed.
#[test]
fn a_state_from_which_cpus_wake_too_soon_is_measured() {
    let early = Fake::new(4).with_trials(|_, outcome| {
        outcome.returned_at = shifted(outcome.due(), -1);
    });
    let ran = run(early, "iterations=2 only=susp_deep_serial");
    assert_eq!(ran.counts(), [1, 0, 0]);
    let three_times_each = [3, 2, 1].map(|cpu| [only(cpu); 3]).concat();
    assert_eq!(tried_cpus(&ran), three_times_each);
}

#[test]
fn an_undeclared_state_that_stops_timers_is_measured_by_a_helper() {
    let fake = Fake::new(4).with_trials(in_trials(3, CLUSTER, ActionEnd::WokenByFallback));
    let ran = run(fake, "iterations=2");
    assert_eq!((ran.counts(), ran.totals.rows_skipped), ([6, 0, 0], 0));
    assert_eq!(ran.wake_sources.undeclared, [(CLUSTER, 3.into())]);
    assert_eq!(ran.wake_sources.proven, [CLUSTER]);
    let wakes = wakes(&ran);
    assert!(wakes.iter().all(|(_, waker)| waker.helper().is_some()));
    let is_by_timers =
        |round: &Round| suspends(round.action(), CORE) && round.wake_up.waker == Waker::OwnTimers;
    assert!(ran.asks(is_by_timers));
}

/// The CPU takes an exception while waking up.
#[test]
fn a_cpu_that_is_lost_in_a_trial_is_the_last_in_that_state() {
    let loss = Loss {
        cause: Cause::Exception,
        ..LOSS
    };
    let fake = Fake::new(4).with_trials(in_trials(3, CORE, ActionEnd::Lost(loss)));
    let ran = run(fake, "iterations=2 only=susp_deep_serial,cpu_susp_serial");
    assert!(!ran.asks(|round| suspends(round.action(), CORE)));
    assert!(!ran.asks(|round| suspends(round.action(), CLUSTER)));
    assert_eq!(trials(&ran), [(only(3), CORE)]);
    let failure = Failure::CpuLost {
        cpu: 3.into(),
        loss,
        others: 0,
    };
    assert_eq!(ran.statuses(), [Status::Failed(failure); 2]);
}

/// The return code shows that the firmware abandoned the power-down.
#[test]
fn a_power_down_that_is_given_up_is_no_good_trial() {
    let fake = Fake::new(4).with_trials(|_, outcome| outcome.end = ActionEnd::Returned);
    let ran = run(fake, "iterations=2 only=susp_deep_serial");
    let three_times_each = [3, 2, 1].map(|cpu| [only(cpu); 3]).concat();
    assert_eq!(tried_cpus(&ran), three_times_each);
}

/// There is no helper for the core state, but the deeper state does not need one.
#[test]
fn a_state_without_a_trial_bars_no_deeper_one() {
    let states = [
        IdleState {
            local_timer_stop: true,
            ..state("core", CORE, 0)
        },
        state("cluster", CLUSTER, 1),
    ];
    let args = "iterations=2 only=cpu_susp_serial,susp_deep_serial";
    let ran = run_with(Fake::new(1), args, &states);
    assert_eq!(ran.counts(), [1, 1, 0]);
    assert_eq!(ran.skipped(Skip::NoHelper), 1);
}

#[test]
fn one_late_wake_up_is_not_a_timer_that_stops() {
    let wake_by_fallback = |outcome: &mut Outcome| outcome.end = ActionEnd::WokenByFallback;
    let fake = Fake::new(4).with_trials(in_first_trials(1, wake_by_fallback));
    let ran = run(fake, "iterations=2 only=susp_deep_serial");
    assert_eq!(
        (ran.counts(), ran.wake_sources.undeclared.len()),
        ([1, 0, 0], 0)
    );
    assert_eq!(trials(&ran), [(only(3), CLUSTER); 2]);
}

#[test]
fn no_other_cpu_enters_a_state_from_which_nothing_wakes() {
    let suspending = "iterations=2 only=susp_deep_parallel,susp_deep_serial,cpu_susp_parallel,\
                      cpu_susp_serial,cpu_off_serial,psci_version_parallel,idle_states";
    for (state, cpu_ids) in [
        (CORE, &[][..]),
        (
            CLUSTER,
            &[
                ScenarioId::CPU_SUSPEND_PARALLEL,
                ScenarioId::CPU_SUSPEND_SERIAL,
            ],
        ),
    ] {
        let fake = Fake::new(4).with_trials(in_trials(3, state, ActionEnd::Lost(LOSS)));
        let ran = run(fake, suspending);
        assert!(!ran.asks(|round| suspends(round.action(), CLUSTER)));
        let uses_core = ran.asks(|round| suspends(round.action(), CORE));
        assert_eq!(uses_core, state == CLUSTER);
        let why = Skip::NothingWoke {
            mpidr: Mpidr::new(3),
            power_state: state,
        };
        // PSCI_VERSION was measured before the loss, and CPU_OFF has rows for the other CPUs.
        let version = ran.of(ScenarioId::PSCI_VERSION_PARALLEL);
        assert_eq!(version.status, Status::Passed);
        let is_complete = |cell: &&Cell| cell.valid() == 2;
        assert_eq!(version.cells.iter().filter(is_complete).count(), 4);
        let off = ran.of(ScenarioId::CPU_OFF_SERIAL);
        assert_eq!((off.status, off.cells[0].skipped), (lost(3), Some(why)));
        let valid: Vec<_> = off.cells[1..].iter().map(Cell::valid).collect();
        assert_eq!(valid, [2, 2, 0]);
        for id in [
            ScenarioId::SUSPEND_DEEP_PARALLEL,
            ScenarioId::SUSPEND_DEEP_SERIAL,
        ] {
            assert_eq!(ran.of(id).status, Status::Skipped(why));
        }
        for id in cpu_ids {
            let complete = ran.of(*id).cells.iter().filter(is_complete);
            assert_eq!(complete.count(), 3);
        }
    }
}
