//! Sweeps, idle states and SYSTEM_SUSPEND against the fake machine.

use smccc::psci::SuspendMode;

use super::*;
use crate::measure::Waker;
use crate::model::{How, WakeSource};
use crate::scenario::fake::{CORE_LINES, QUEUE_STEP};

const CORE: u64 = STATES[0].power_state as u64;
const CLUSTER: u64 = STATES[1].power_state as u64;

/// Returns the states, of which the second stops the CPUs' own timers.
fn stopping() -> [IdleState<'static>; 2] {
    let mut states = STATES;
    states[1].local_timer_stop = true;
    states
}

/// Returns the reasons why states and OS-initiated mode were left out.
fn left_out(scenario: &Scenario) -> [Option<Skip>; 2] {
    let conditions = scenario.conditions.as_ref().expect("conditions");
    [conditions.states_left_out, conditions.mode_left_out]
}

#[test]
fn flush_by_dirty_bytes() {
    let mut fake = Fake::new(5);
    let args = "only=dirty_sweep dirty=0,16K,1M iterations=3 warmup=0";
    let ran = run(&mut fake, args, 5);
    assert_eq!(ran.counts(), [1, 0, 0]);
    // By two states on five CPUs and by CPU_OFF on four, in three steps, with
    // three figures each.
    assert_eq!(ran.points().count(), 3 * 3 * (5 + 5 + 4));
    for (bytes, lines) in [(0, 0), (16 << 10, 256), (1 << 20, 16384)] {
        let flush = |cpu, variant| ran.median(cpu, variant, bytes, Measure::CacheFlush);
        // A CPU alone in its cluster flushes all of it; the others keep to their core.
        let own = CORE_FLUSH + lines.min(CORE_LINES);
        for variant in [Variant::Deepest, Variant::Off] {
            assert_eq!(flush(4, variant), CLUSTER_FLUSH + lines, "{variant:?}");
            assert_eq!(flush(1, variant), own);
        }
        assert_eq!(flush(4, Variant::Core), own);
    }
    // The bytes are made dirty before each suspend and CPU_OFF.
    let asked = fake.asked.iter().filter(|round| round.dirty == 1 << 20);
    assert!(asked.count() > 3 * 14);
}

#[test]
fn the_steps_follow_from_the_cache() {
    let args = "only=dirty_sweep iterations=1 warmup=0 core=0x1010022";
    let ran = run(&mut Fake::new(1), args, 1);
    // 0, 16 KiB to 2 MiB; one state, and no CPU that could power off.
    assert_eq!(ran.points().count(), 3 * 9);
    assert_eq!(ran.points().last().and_then(|it| it.x), Some(2 << 20));
    let mut fake = Fake::new(2).with_facts(|facts| facts.outer_cache = None);
    let ran = run(&mut fake, args, 2);
    assert_eq!(ran.statuses(), [Status::Skipped(Skip::NoCacheSize)]);
}

#[test]
fn powerdown_by_cpus_that_go_down_together() {
    let mut fake = Fake::new(8);
    let args = "only=contend_sweep contend=1,4,7,9 iterations=8 warmup=0";
    let ran = run(&mut fake, args, 8);
    assert_eq!(ran.counts(), [1, 0, 0]);
    // The lead and the first of the others; there are no nine.
    assert_eq!(ran.points().count(), 2 * 3 * (1 + 4 + 7) + 1);
    let beyond = ran.points().last().expect("a point");
    assert_eq!(
        (beyond.variant, beyond.x, beyond.how),
        (Variant::LeftOut, Some(9), How::All)
    );
    assert_eq!(ran.totals.rows_skipped, 1);
    let longest = |count| {
        let points = ran.select(Variant::Core, count, Measure::Powerdown);
        points.iter().map(|it| it.figures.median).max()
    };
    assert!(longest(4) >= longest(1).map(|ticks| ticks + QUEUE_STEP));
    assert!(longest(7) >= longest(4).map(|ticks| ticks + QUEUE_STEP));
    for round in &fake.asked {
        assert!(matches!(round.who, Who::First(1 | 4 | 7)), "{round:?}");
    }
}

#[test]
fn a_step_that_lacks_a_cpu_is_left_out() {
    let run = |cpus: usize, args: &str| {
        let args = std::format!("only=contend_sweep iterations=2 warmup=0 {args}");
        run_with(&mut Fake::new(cpus), &args, cpus, &stopping())
    };
    // By default, too, one of the steps is of all CPUs, of which one stays awake.
    for args in ["contend=2,4", ""] {
        let ran = run(4, args);
        assert_eq!((ran.counts(), ran.totals.rows_skipped), ([1, 0, 0], 1));
        let left_out: Vec<_> = ran
            .points()
            .filter(|it| it.variant == Variant::LeftOut)
            .collect();
        assert_eq!((left_out.len(), left_out[0].x), (1, Some(4)));
        assert!(
            ran.select(Variant::Deepest, 4, Measure::Powerdown)
                .is_empty()
        );
        assert_eq!(ran.select(Variant::Core, 4, Measure::Powerdown).len(), 4);
    }
    // No step fits.
    for (cpus, args) in [(4, "contend=4 core=0x01010022"), (2, "contend=3")] {
        let ran = run(cpus, args);
        assert_eq!(ran.statuses(), [Status::Skipped(Skip::TooFewCpus)]);
        assert_eq!(ran.totals.rows_skipped, 0);
    }
}

const STANDBY: IdleState<'static> = IdleState {
    name: "core-standby",
    power_state: 1,
    level: Some(0),
    local_timer_stop: false,
};

#[test]
fn every_state_in_series_in_parallel_and_in_os_initiated_mode() {
    let states = [STANDBY, STATES[0], STATES[1]];
    let mut fake = Fake::new(5).with_modes().with_statistics();
    let args = "only=idle_states iterations=2 warmup=0";
    let ran = run_with(&mut fake, args, 5, &states);
    assert_eq!(ran.counts(), [1, 0, 0]);
    for (state, variants) in [(1, 2), (CORE, 2), (CLUSTER, 3)] {
        for (place, variant) in [Variant::Serial, Variant::Parallel, Variant::Osi]
            .into_iter()
            .enumerate()
        {
            let all = if place < variants { 5 } else { 0 };
            let count = |measure| ran.select(variant, state, measure).len();
            assert_eq!(count(Measure::Powerdown), all, "{variant:?} {state:#x}");
            assert_eq!(count(Measure::Count), all);
            assert_eq!(count(Measure::CacheFlush), if state == 1 { 0 } else { all });
        }
    }
    // The lead keeps its cluster up while it is awake.
    let count = |cpu, variant| ran.median(cpu, variant, CLUSTER, Measure::Count);
    assert_eq!(
        (count(1, Variant::Serial), count(4, Variant::Serial)),
        (0, 1)
    );
    assert_eq!(count(1, Variant::Parallel), 1);
    // The last of each cluster asks for it, and pays; the mode is set back.
    let flush = |cpu| ran.median(cpu, Variant::Osi, CLUSTER, Measure::CacheFlush);
    assert_eq!(
        [0, 2, 3, 4].map(flush),
        [CORE_FLUSH, CORE_FLUSH, CLUSTER_FLUSH, CLUSTER_FLUSH]
    );
    assert_eq!(fake.mode, SuspendMode::PlatformCoordinated);
}

#[test]
fn states_and_modes_that_are_left_out_have_a_reason() {
    let args = "only=idle_states iterations=1 warmup=0";
    let ran = run_with(&mut Fake::new(1), args, 1, &stopping());
    assert_eq!(ran.counts(), [1, 0, 0]);
    assert_eq!(
        ran.select(Variant::LeftOut, CLUSTER, Measure::Powerdown)
            .len(),
        1
    );
    let no_mode = Skip::NotSupported(PSCI_SET_SUSPEND_MODE);
    assert_eq!(
        left_out(&ran.scenarios[0]),
        [Some(Skip::NoHelper), Some(no_mode)]
    );
    // All of them: nothing is measured.
    for (mut fake, states, skip) in [
        (Fake::new(1), &stopping()[1..], Skip::NoHelper),
        (Fake::new(2).without_gic(), &stopping()[..], Skip::NoGic),
    ] {
        let ran = run_with(&mut fake, args, 1, states);
        assert_eq!(ran.statuses(), [Status::Skipped(skip)]);
    }
}

#[test]
fn points_name_what_woke_the_cpu() {
    let args = "iterations=1 warmup=0 dirty=0 contend=2 only=idle_states,contend_sweep,dirty_sweep";
    let by_lead = Waker::Helper(0);
    // The lead is woken by a CPU of another cluster, or by the frame.
    for (mut fake, source, of_lead, together) in [
        (Fake::new(5), WakeSource::Helper, Waker::Helper(4), by_lead),
        (
            Fake::new(5).with_frame(),
            WakeSource::Frame,
            Waker::Frame,
            Waker::Frame,
        ),
    ] {
        let ran = run_with(&mut fake, args, 5, &stopping());
        assert_eq!(ran.counts(), [3, 0, 0]);
        for scenario in &ran.scenarios {
            let conditions = scenario.conditions.as_ref();
            assert_eq!(conditions.map(|it| it.wake_source), Some(source));
        }
        for (cpu, variant, x, waker) in [
            (0, Variant::Serial, CLUSTER, of_lead),
            (1, Variant::Serial, CLUSTER, by_lead),
            (1, Variant::Parallel, CLUSTER, together),
            (1, Variant::Deepest, 0, by_lead),
            (1, Variant::Deepest, 2, together),
            // Timers go on.
            (1, Variant::Serial, CORE, Waker::OwnTimers),
            (1, Variant::Core, 0, Waker::OwnTimers),
            (1, Variant::Core, 2, Waker::OwnTimers),
            (1, Variant::Off, 0, Waker::OwnTimers),
        ] {
            let points = ran.select(variant, x, Measure::Powerdown);
            let point = points.iter().find(|it| it.cpu == cpu);
            assert_eq!(
                point.map(|it| it.waker),
                Some(waker),
                "{cpu} {variant:?} {x}"
            );
        }
    }
}

#[test]
fn a_mode_that_is_refused_is_left_out_and_one_that_stays_fails() {
    let args = "only=idle_states iterations=1 warmup=0";
    let mut fake = Fake::new(2).with_modes();
    fake.refuses = Some(SuspendMode::PlatformCoordinated);
    let ran = run(&mut fake, args, 2);
    assert_eq!(
        ran.failure(),
        Some(Failure::ModeStuck(Error::Denied.into()))
    );
    let mut fake = Fake::new(2).with_modes();
    fake.refuses = Some(SuspendMode::OsInitiated);
    let ran = run(&mut fake, args, 2);
    let refused = Some(Skip::ModeRefused(Error::Denied.into()));
    assert_eq!(
        (ran.counts(), left_out(&ran.scenarios[0])),
        ([1, 0, 0], [None, refused])
    );
}

#[test]
fn system_suspend_needs_the_function_a_wake_up_source_and_all_cpus() {
    let args = "only=system_suspend iterations=3";
    let mut fake = Fake::new(3).with_modes();
    let ran = run(&mut fake, args, 3);
    assert_eq!((ran.counts(), ran.points().count()), ([1, 0, 0], 3));
    let flush = ran.points().find(|it| it.measure == Measure::CacheFlush);
    let flush = flush.map(|it| (it.variant, it.x, it.figures.median));
    assert_eq!(flush, Some((Variant::System, None, CLUSTER_FLUSH)));
    assert!(fake.asked.iter().all(|round| round.who == Who::Only(0)));

    let stops = &stopping()[1..];
    for (mut fake, states, skip) in [
        (
            Fake::new(3),
            &STATES[..],
            Skip::NotSupported(PSCI_SYSTEM_SUSPEND_64),
        ),
        (
            Fake::new(3).with_modes().without_gic(),
            &STATES,
            Skip::NoGic,
        ),
        (
            Fake::new(3).with_modes(),
            stops,
            Skip::TimerStops(crate::board::NoFrame::NotInTree),
        ),
    ] {
        let ran = run_with(&mut fake, args, 3, states);
        assert_eq!(ran.statuses(), [Status::Skipped(skip)]);
    }
    let mut fake = Fake::new(3).with_modes().with_frame();
    let ran = run_with(&mut fake, args, 3, stops);
    assert_eq!(ran.counts(), [1, 0, 0]);
    let own = fake
        .asked
        .iter()
        .filter(|round| round.action == Action::SystemSuspend);
    assert!(own.clone().count() > 3 && own.clone().all(|round| round.waker == Waker::Frame));
    // A CPU that is lost may be on.
    let mut fake = Fake::new(3).with_modes().without(2, 0);
    let args = "only=susp_deep_serial,system_suspend iterations=3";
    assert_eq!(run(&mut fake, args, 3).statuses(), [lost(2); 2]);
    let plan = Plan::parse("only=all").expect("a group");
    assert!(!plan.scenarios.contains(ScenarioId::SystemSuspend));
}

#[test]
fn one_step_fails_and_the_others_are_measured() {
    // CPU 1 is never down with a lot to flush.
    let mut fake = Fake::new(2).with(|_, cpu, outcome| {
        if cpu == 1 && outcome.stamps.0[5] > outcome.stamps.0[4] + CORE_FLUSH + 100 {
            outcome.end = End::Returned;
        }
    });
    let args = "only=dirty_sweep dirty=0,64K iterations=2 warmup=0";
    let ran = run(&mut fake, args, 2);
    assert_eq!(ran.counts(), [0, 0, 1]);
    assert!(ran.median(1, Variant::Deepest, 0, Measure::CacheFlush) > 0);
    assert!(ran.median(0, Variant::Deepest, 64 << 10, Measure::CacheFlush) > 0);
    // Without a sample there is one point nevertheless.
    assert_eq!(
        ran.median(1, Variant::Deepest, 64 << 10, Measure::Powerdown),
        0
    );
}

#[test]
fn rejections_of_points_are_counted_by_reason() {
    let mut fake = Fake::new(2).with(|round, cpu, outcome| {
        if cpu == 1 && round % 5 == 4 {
            outcome.end = End::WrongContext;
        }
    });
    let args = "only=contend_sweep contend=2 iterations=9 warmup=0";
    let ran = run(&mut fake, args, 2);
    assert_eq!(ran.counts(), [1, 0, 0]);
    let counts = [(Reason::WrongContext, 4), (Reason::Companion, 4)];
    assert_eq!(ran.scenarios[0].rejected, counts);
    assert!(ran.points().any(|it| it.lost == 2));
}

#[test]
fn without_pmf_the_caller_has_figures() {
    let args = "only=dirty_sweep,contend_sweep,idle_states dirty=0 contend=2 iterations=2 warmup=0";
    let ran = run(&mut Fake::without_pmf(2), args, 2);
    assert_eq!(ran.counts(), [3, 0, 0]);
    assert_eq!(ran.totals.caller_side, 3);
    for (variant, x, measure) in [
        (Variant::Deepest, 0, Measure::Call),
        (Variant::Off, 0, Measure::TurnOn),
        (Variant::Deepest, 2, Measure::Wake),
        (Variant::Serial, CORE, Measure::Call),
    ] {
        assert!(ran.median(1, variant, x, measure) > 0, "{variant:?}");
    }
    assert!(ran.points().all(|it| it.measure != Measure::Powerdown));
}
