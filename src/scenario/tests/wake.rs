//! States in which the CPUs' own timers stop, with a timer frame and without.

use super::*;
use crate::board::NoFrame;
use crate::measure::{Loss, Step, Waker};
use crate::model::WakeSource;

const DEEPEST: u32 = 0x0101_0022;

/// Runs on CPUs whose timers stop in the deepest state.
fn run_stopping(fake: &mut Fake, bootargs: &str, cpus: usize) -> Ran {
    let mut states = STATES;
    states[1].local_timer_stop = true;
    run_with(fake, bootargs, cpus, &states)
}

/// Returns the states, each of which stops timers.
fn all_stop() -> [IdleState<'static>; 2] {
    STATES.map(|state| IdleState {
        local_timer_stop: true,
        ..state
    })
}

fn suspends(action: Action, state: u32) -> bool {
    matches!(action, Action::Suspend { power_state, .. } if power_state == state)
}

/// Returns the CPUs that suspend to a state in each round, and what wakes them.
fn wakes(fake: &Fake, state: u32) -> Vec<(Who, Waker)> {
    let rounds = fake.asked.iter();
    let rounds = rounds.filter(|round| suspends(round.action, state));
    rounds.map(|round| (round.who, round.waker)).collect()
}

fn wake_source(scenario: &Scenario) -> Option<WakeSource> {
    scenario.conditions.as_ref().map(|it| it.wake_source)
}

#[test]
fn without_a_frame_an_awake_cpu_wakes_the_others() {
    let mut fake = Fake::new(8).with_statistics();
    let ran = run_with(&mut fake, "iterations=2 warmup=0", 8, &all_stop());
    assert_eq!((ran.counts(), ran.totals.rows_skipped), ([6, 0, 0], 0));
    // Another CPU first, from each state the shallowest first, then the lead.
    let trials: Vec<_> = fake.asked[..4]
        .iter()
        .map(|r| (r.who, r.waker, r.action))
        .collect();
    let [core, deepest] = STATES.map(|state| Action::Suspend {
        power_state: state.power_state,
        powerdown: true,
    });
    let (other, lead) = (Who::Only(1), Who::Only(0));
    let expected = [
        (other, Waker::Helper(0), core),
        (other, Waker::Helper(0), deepest),
        (lead, Waker::Helper(4), core),
        (lead, Waker::Helper(4), deepest),
    ];
    assert_eq!(trials, expected);
    let Wakers {
        proven,
        woken,
        woke_lead,
        ..
    } = &ran.wakers;
    assert_eq!((*woken, *woke_lead), (Some(1), Some(4)));
    assert_eq!(*proven, STATES.map(|state| state.power_state));
    // In series each other CPU by the lead, the lead by a CPU of another cluster;
    // in parallel by the lead, and once more by a CPU of another cluster.
    for (who, waker) in wakes(&fake, DEEPEST) {
        let helpers: &[usize] = match who {
            Who::Only(0) => &[4],
            Who::Only(_) => &[0],
            _ => &[0, 4],
        };
        let helper = waker.helper();
        assert!(helper.is_some_and(|it| helpers.contains(&it)), "{who:?}");
    }
}

#[test]
fn each_placement_of_the_helper_has_its_rows() {
    let mut fake = Fake::new(8).with_statistics();
    let ran = run_with(&mut fake, "iterations=2 warmup=0", 8, &all_stop());
    let placements = |id| {
        let of = ran.scenarios.iter().filter(|it| it.id == id);
        of.map(|it| it.helper).collect::<Vec<_>>()
    };
    use ScenarioId::{CpuSuspendParallel, SuspendDeepParallel, SuspendDeepSerial};
    for id in [SuspendDeepParallel, CpuSuspendParallel] {
        assert_eq!(placements(id), [Some(0), Some(4)], "{id:?}");
        assert_eq!(wake_source(ran.of(id)), Some(WakeSource::Helper));
    }
    assert_eq!(placements(SuspendDeepSerial), [None]);
    for scenario in &ran.scenarios {
        // A helper has no row of its own, and each row names its helper.
        assert!(
            scenario
                .rows
                .iter()
                .all(|row| Some(row.cpu) != scenario.helper)
        );
        let rows = scenario.rows.len() + usize::from(scenario.helper.is_some());
        assert_eq!(rows, 8);
    }
    // The row that stands for a CPU is by a helper of another cluster.
    let cluster = |cpu: u16| cpu / 4;
    for cpu in 0..8 {
        let found = Scenario::row_of(&ran.scenarios[..2], cpu, &cluster);
        let helper = found.and_then(|(scenario, _)| scenario.helper);
        assert_eq!(helper.map(cluster), Some(1 - cluster(cpu)), "{cpu}");
    }
    let serial = &ran.of(SuspendDeepSerial).rows;
    assert_eq!(
        [0, 1].map(|cpu: usize| serial[cpu].helper),
        [Some(4), Some(0)]
    );
    // A cluster with an awake CPU in it stays on, and so does the system.
    for row in &ran.of(SuspendDeepParallel).rows {
        let state = if row.cpu < 4 { 0 } else { 1 };
        let reached = row.reached.and_then(|it| it.state);
        assert_eq!(reached, Some(STATES[state].power_state));
    }
}

#[test]
fn an_sgi_that_does_not_wake_costs_one_cpu_and_no_other() {
    let mut fake = Fake::new(4).with(|_, cpu, outcome| {
        if cpu == 1 && suspends(outcome.action, DEEPEST) {
            outcome.end = End::Lost(LOSS);
        }
    });
    let ran = run_stopping(&mut fake, "iterations=2", 4);
    let skip = Skip::SgiDidNotWake {
        mpidr: 1,
        power_state: DEEPEST,
    };
    let skipped = ran
        .statuses()
        .into_iter()
        .filter(|it| *it == Status::Skipped(skip));
    assert_eq!(skipped.count(), 2);
    assert_eq!((ran.totals.lost, wakes(&fake, DEEPEST).len()), (1, 1));
    // Where timers go on, the others are measured.
    let core = &ran.of(ScenarioId::CpuSuspendSerial).rows;
    let measured: Vec<_> = core.iter().filter(has_figures).map(|row| row.cpu).collect();
    assert_eq!(measured, [0, 2, 3]);
}

#[test]
fn a_cpu_that_never_arrives_is_not_one_that_an_sgi_did_not_wake() {
    let mut fake = Fake::new(4).with(|round, cpu, outcome| {
        if (round, cpu) == (0, 1) {
            outcome.end = End::Lost(Loss {
                step: Step::Arrive,
                ..LOSS
            });
        }
    });
    let ran = run_stopping(&mut fake, "iterations=2", 4);
    assert_eq!((ran.wakers.woken, ran.totals.lost), (Some(2), 1));
    assert_eq!(ran.wakers.proven, [DEEPEST]);
    assert_eq!(wakes(&fake, DEEPEST)[1].0, Who::Only(2));
    assert!(
        ran.rows()
            .filter(has_figures)
            .filter(|row| row.cpu == 3)
            .count()
            >= 4
    );
}

#[test]
fn a_trial_that_a_cpu_fails_is_made_of_another() {
    let early = |cpus: core::ops::Range<usize>| {
        move |_: u64, cpu: usize, outcome: &mut Outcome| {
            if cpus.contains(&cpu) && suspends(outcome.action, DEEPEST) {
                outcome.after = outcome.due - 1;
            }
        }
    };
    let mut fake = Fake::new(4).with(early(1..2));
    let ran = run_stopping(&mut fake, "iterations=2", 4);
    assert_eq!(ran.wakers.woken, Some(2));
    // No CPU had a good one: that is a failure, as where no timer stops.
    let mut fake = Fake::new(4).with(early(0..4));
    let ran = run_stopping(
        &mut fake,
        "iterations=2 only=susp_deep_serial,cpu_off_serial",
        4,
    );
    assert!(matches!(
        ran.failure(),
        Some(Failure::NotCalibrated { cpu: 3, .. })
    ));
    let not_tried = Skip::NotTried {
        mpidr: 3,
        power_state: DEEPEST,
    };
    let lead = &ran.of(ScenarioId::CpuOffSerial).rows[0];
    assert_eq!(lead.skipped, Some(not_tried));
    assert!(ran.wakers.proven.is_empty());
}

#[test]
fn a_state_that_the_firmware_refuses_has_no_good_trial() {
    let mut fake = Fake::new(4).with(|_, _, outcome| {
        if suspends(outcome.action, DEEPEST) {
            outcome.code = -2;
        }
    });
    let ran = run_stopping(&mut fake, "iterations=2 only=susp_deep_parallel", 4);
    let refused = |cpu| {
        Status::Failed(Failure::StateRefused {
            power_state: DEEPEST,
            error: Error::InvalidParameters.into(),
            cpu,
        })
    };
    // Once without the lead, and once without the first of the others.
    assert_eq!(ran.statuses(), [refused(1), refused(0)]);
    assert!(ran.wakers.proven.is_empty() && ran.wakers.woken.is_none());
}

#[test]
fn one_cpu_alone_is_not_suspended() {
    for mut fake in [Fake::new(1), Fake::new(1).with_frame()] {
        let ran = run_stopping(&mut fake, "iterations=2", 1);
        assert!(wakes(&fake, DEEPEST).is_empty());
        let skip = Status::Skipped(Skip::NoHelper);
        assert_eq!(ran.of(ScenarioId::SuspendDeepSerial).status, skip);
    }
}

#[test]
fn woken_by_the_frame_once_it_has_woken_the_lead() {
    for wake in ["together", "staggered", "chain"] {
        let mut fake = Fake::new(4).with_frame();
        let ran = run_stopping(&mut fake, &std::format!("iterations=2 wake={wake}"), 4);
        assert_eq!(ran.counts(), [6, 0, 0]);
        let wakes = wakes(&fake, DEEPEST);
        let trials = [
            (Who::Only(1), Waker::Helper(0)),
            (Who::Only(0), Waker::FrameTrial(1)),
        ];
        assert_eq!(wakes[..2], trials);
        for (who, waker) in &wakes[2..] {
            let by_lead = matches!(who, Who::Only(1..));
            let expected = if by_lead {
                Waker::Helper(0)
            } else {
                Waker::Frame
            };
            assert_eq!(*waker, expected);
        }
        let others = fake.asked.iter().filter(|it| !suspends(it.action, DEEPEST));
        assert!(others.clone().all(|round| round.waker == Waker::OwnTimers));
        assert!(ran.wakers.frame.is_ok());
        let framed = ran.scenarios.iter().map(wake_source);
        let framed = framed.filter(|it| *it == Some(WakeSource::Frame));
        assert_eq!(framed.count(), 3);
    }
}

#[test]
fn a_frame_that_fails_its_trial_is_not_used() {
    // The helper's SGI woke the lead.
    let mut fake = Fake::new(4).with_frame().with(|round, cpu, outcome| {
        if cpu == 0 && round == 1 {
            outcome.end = End::NotRung;
        }
    });
    let ran = run_stopping(&mut fake, "iterations=2", 4);
    assert_eq!((ran.counts(), ran.totals.rows_skipped), ([6, 0, 0], 0));
    assert_eq!(ran.wakers.frame, Err(NoFrame::DidNotWake));
    let wakes = wakes(&fake, DEEPEST);
    assert!(wakes[2..].iter().all(|(_, waker)| waker.helper().is_some()));
    // The trial itself failed: it is not known if the frame works.
    let mut fake = Fake::new(4).with_frame().with(|_, cpu, outcome| {
        if cpu == 0 && suspends(outcome.action, DEEPEST) {
            outcome.after = outcome.due - 1;
        }
    });
    let ran = run_stopping(&mut fake, "iterations=2 only=psci_version_parallel", 4);
    assert_eq!(ran.wakers.frame, Err(NoFrame::NotTried));
}

#[test]
fn no_trials_without_a_state_that_stops_timers() {
    let mut fake = Fake::new(4).with_frame();
    let ran = run(&mut fake, "iterations=2", 4);
    assert!(fake.asked.iter().all(|r| r.waker == Waker::OwnTimers));
    assert!(ran.wakers.proven.is_empty());
    assert_eq!(ran.wakers.frame, Err(NoFrame::NotTried));
}

#[test]
fn of_cpu_off_the_lead_alone_is_woken() {
    for (mut fake, source, helper) in [
        (Fake::new(5), WakeSource::Helper, Some(4)),
        (Fake::new(5).with_frame(), WakeSource::Frame, None),
    ] {
        let ran = run_stopping(&mut fake, "only=cpu_off_serial iterations=2", 5);
        assert_eq!(ran.counts(), [1, 0, 0]);
        assert_eq!(wake_source(&ran.scenarios[0]), Some(source));
        let helpers: Vec<_> = ran.rows().map(|row| row.helper).collect();
        assert_eq!(helpers, [helper, None, None, None, None]);
    }
}

#[test]
fn a_state_that_the_tree_lacks_is_tried_where_another_one_stops_timers() {
    let mut states = [STATES[0]];
    for stops in [true, false] {
        states[0].local_timer_stop = stops;
        let mut fake = Fake::new(4);
        let args = "iterations=2 deepest=0x01010022";
        let ran = run_with(&mut fake, args, 4, &states);
        assert_eq!(ran.counts(), [6, 0, 0]);
        let wakes = wakes(&fake, DEEPEST);
        assert!(
            wakes.iter().all(|it| it.1.helper().is_some() == stops),
            "{wakes:?}"
        );
        let proven = STATES.map(|state| state.power_state);
        assert_eq!(ran.wakers.proven, if stops { &proven[..] } else { &[] });
    }
}

#[test]
fn a_lead_that_only_its_own_timer_woke_is_no_sample() {
    // The frame was silent: the lead's own timer, set far later, woke it.
    let mut fake = Fake::new(4).with_frame().with(|_, cpu, outcome| {
        if cpu == 0 && outcome.end == End::Resumed {
            outcome.end = End::NotRung;
        }
    });
    let ran = run_stopping(&mut fake, "iterations=2 only=susp_deep_parallel", 4);
    assert_eq!(ran.counts(), [0, 0, 1]);
    let Some(Failure::NotCalibrated { cpu: 0, last, .. }) = ran.failure() else {
        panic!("{:?}", ran.failure());
    };
    assert_eq!(last.reason, Reason::NotRung);
}
