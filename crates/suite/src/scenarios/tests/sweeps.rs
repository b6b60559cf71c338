//! Sweeps, idle states and SYSTEM_SUSPEND on the fake machine.

use crate::measure::Metric;
use crate::testing::fake::{COLD_CALL, CORE_LINES, EVICTED_CALL, WARM_CALL};
use hardware::board::NoFrame;
use smccc::psci::SuspendMode;

use super::*;

const CORE: u64 = super::CORE as u64;
const CLUSTER: u64 = super::CLUSTER as u64;

#[test]
fn flush_by_dirty_bytes() {
    let args = "only=dirty_sweep dirty=0,16K,1M iterations=3 warmup=0";
    let ran = run(Fake::new(5), args);
    assert_eq!(ran.counts(), [1, 0, 0]);
    // Each of the three steps has three series for each of two states on five CPUs, and for CPU_OFF
    // on four CPUs.
    assert_eq!(ran.series().count(), 3 * 3 * (5 + 5 + 4));
    for (bytes, lines) in [(0, 0), (16 << 10, 256), (1 << 20, 16384)] {
        let flush = |cpu, variant| ran.median(cpu, variant, bytes, Metric::CacheFlush);
        // The only CPU in a cluster flushes the cluster's caches; any other CPU flushes only its
        // core's.
        let core_flush = CORE_FLUSH + lines.min(CORE_LINES);
        for variant in [Variant::new("deepest"), Variant::new("off")] {
            let flushes = [4, 1].map(|cpu| flush(cpu, variant));
            assert_eq!(flushes, [CLUSTER_FLUSH + lines, core_flush], "{variant:?}");
        }
        assert_eq!(flush(4, Variant::new("core")), core_flush);
    }
    // The bytes are dirtied before each suspend and each CPU_OFF.
    let dirtied = ran
        .fake
        .requested_rounds
        .iter()
        .filter(|round| round.dirty == 1 << 20);
    assert!(dirtied.count() > 3 * 14);
}

#[test]
fn a_sweep_without_a_step_is_skipped() {
    for (args, skip) in [
        ("only=dirty_sweep", Skip::NoCacheSize),
        ("only=contend_sweep contend=2", Skip::TooFewCpus),
    ] {
        let fake = Fake::new(2).with_facts(|facts| facts.outer_cache = None);
        let ran = run_with(fake, args, &stopping(0));
        assert_eq!(ran.statuses(), [Status::Skipped(skip)]);
        assert_eq!(ran.totals.rows_skipped, 0);
    }
}

/// A step without samples appears in the tables of the scenario's first metric.
#[test]
fn step_that_is_left_out_has_the_first_metric() {
    let args = "only=contend_sweep contend=1,3 iterations=1 warmup=0";
    for (fake, metric) in [
        (Fake::new(2), Metric::Powerdown),
        (Fake::without_pmf(2), Metric::Call),
    ] {
        let ran = run(fake, args);
        let left_out: Vec<_> = ran.cells().filter(|cell| cell.skipped.is_some()).collect();
        assert!(!left_out.is_empty());
        for cell in left_out {
            let metrics: Vec<Metric> = cell.series.iter().map(|series| series.metric).collect();
            assert_eq!((cell.step.value, metrics), (Some(3), [metric].into()));
        }
    }
}

#[test]
fn states_and_modes_that_are_left_out_have_a_reason() {
    let args = "only=idle_states iterations=1 warmup=0";
    let ran = run_with(Fake::new(1), args, &stopping(1));
    assert_eq!(ran.counts(), [1, 0, 0]);
    let no_mode = Skip::NotSupported(PSCI_SET_SUSPEND_MODE);
    assert_eq!(ran.conditions().states_left_out, Some(Skip::NoHelper));
    assert_eq!(ran.conditions().mode_left_out, Some(no_mode));
    // Every state is omitted, so nothing is measured.
    let states = stopping(1);
    for (fake, states, skip) in [
        (Fake::new(1), &states[1..], Skip::NoHelper),
        (Fake::new(2).without_gic(), &states, Skip::NoGic),
    ] {
        let statuses = run_with(fake, args, states).statuses();
        assert_eq!(statuses, [Status::Skipped(skip)]);
    }
    let refusing = |mode| {
        let mut fake = Fake::new(2).with_modes();
        fake.refuses = Some(mode);
        run(fake, args)
    };
    // This firmware stays in OS-initiated mode.
    let stuck = refusing(SuspendMode::PlatformCoordinated);
    let denied = Failure::ModeStuck(Error::Denied.into());
    assert_eq!(stuck.failure(), Some(denied));
    let refused = refusing(SuspendMode::OsInitiated);
    assert_eq!(refused.counts(), [1, 0, 0]);
    let why = Skip::ModeRefused(Error::Denied.into());
    assert_eq!(refused.conditions().mode_left_out, Some(why));
    assert_eq!(refused.conditions().states_left_out, None);
}

#[test]
fn cells_name_what_woke_the_cpu() {
    let args = "iterations=1 warmup=0 dirty=0 contend=2 only=idle_states,contend_sweep,dirty_sweep";
    let helper = |cpu: u16| Waker::Helper(cpu.into());
    let (by_lead, by_timer, by_frame) = (helper(0), Waker::OwnTimers, Waker::Frame);
    // A CPU in another cluster, or the frame, wakes the lead.
    for (fake, source, lead_waker, parallel_waker) in [
        (Fake::new(5), WakeSource::Helper, helper(4), by_lead),
        (
            Fake::new(5).with_frame(),
            WakeSource::Frame,
            by_frame,
            by_frame,
        ),
    ] {
        let ran = run_with(fake, args, &stopping(1));
        assert_eq!(ran.counts(), [3, 0, 0]);
        assert!(ran.wake_sources().eq([source; 3]));
        for (cpu, variant, value, waker) in [
            (0, Variant::new("serial"), CLUSTER, lead_waker),
            (1, Variant::new("serial"), CLUSTER, by_lead),
            (1, Variant::new("parallel"), CLUSTER, parallel_waker),
            (1, Variant::new("deepest"), 0, by_lead),
            (1, Variant::new("deepest"), 2, parallel_waker),
            // These states do not stop the timers.
            (1, Variant::new("serial"), CORE, by_timer),
            (1, Variant::new("core"), 0, by_timer),
            (1, Variant::new("core"), 2, by_timer),
            (1, Variant::new("off"), 0, by_timer),
        ] {
            let cell = ran.cell(CpuIndex::new(cpu), variant, Some(value));
            let Cell {
                wake_source,
                helper,
                ..
            } = cell.expect("a cell");
            let expected = (Some(waker.into()), waker.helper());
            assert_eq!(
                (*wake_source, *helper),
                expected,
                "{cpu} {variant:?} {value}"
            );
        }
    }
}

#[test]
fn a_call_is_cold_after_a_wake_up_and_warm_after_another_call() {
    let args = "only=cold_call iterations=3 warmup=1";
    let steps = [
        (Variant::new("version_warm"), None, 0),
        (Variant::new("version_evicted"), None, EVICTED_CALL),
        (Variant::new("stamp_warm"), None, 0),
        (Variant::new("stamp_evicted"), None, EVICTED_CALL),
        (Variant::new("version_woken"), Some(CORE), COLD_CALL),
        (Variant::new("stamp_woken"), Some(CORE), COLD_CALL),
        (Variant::new("version_woken"), Some(CLUSTER), COLD_CALL),
        (Variant::new("stamp_woken"), Some(CLUSTER), COLD_CALL),
    ];
    let is_of_stamp = |variant: Variant| variant.word().starts_with("stamp");
    for pmf in [true, false] {
        let fake = if pmf {
            Fake::new(5)
        } else {
            Fake::without_pmf(5)
        };
        let ran = run(fake, args);
        assert_eq!(ran.counts(), [1, 0, 0]);
        let expected = steps
            .iter()
            .filter(|(variant, ..)| pmf || !is_of_stamp(*variant));
        let mut cells = ran.cells();
        for (variant, value, more) in expected {
            for cpu in CpuIndex::all(5) {
                let cell = cells.next().expect("a cell for each CPU");
                assert_eq!(
                    (cell.cpu, cell.step.variant, cell.step.value),
                    (cpu, *variant, *value)
                );
                assert_eq!((cell.valid(), cell.power_state), (3, None));
                let metrics = if pmf && !is_of_stamp(*variant) {
                    &[Metric::Latency, Metric::Call][..]
                } else {
                    &[Metric::Call]
                };
                assert!(cell.series.iter().map(|series| &series.metric).eq(metrics));
                let around = if is_of_stamp(*variant) { 0 } else { 20 };
                let call = cell.summary(Metric::Call).map(|summary| summary.median);
                let expected_call = WARM_CALL + more + around;
                assert_eq!(call, Some(expected_call), "{variant:?} {value:?}");
            }
        }
        assert_eq!(cells.next(), None);
        // A PSCI_STAT call would come between the wake-up and the timed call.
        assert!(!ran.asks(|round| !round.ladder.is_empty()));
    }
}

#[test]
fn cold_calls_without_a_wake_up_are_counted_by_reason() {
    let fake = Fake::new(2).with(|round, cpu, outcome| {
        if cpu.index() == 1 && round % 3 == 0 && outcome.action.sleeps() {
            outcome.end = ActionEnd::Returned;
        }
    });
    let ran = run(fake, "only=cold_call iterations=9 warmup=0");
    assert_eq!(ran.counts(), [1, 0, 0]);
    let rejected = ran.scenarios[0].rejected().collect::<Vec<_>>();
    assert!(
        matches!(rejected[..], [(Reason::Abandoned, 1..)]),
        "{rejected:?}"
    );
    let has_rejections = |cell: &&Cell| {
        let counts = cell.counts.as_ref();
        counts.is_some_and(|counts| counts.rejected_total() > 0)
    };
    let mut with_rejections = ran.cells().filter(has_rejections);
    assert!(with_rejections.all(|cell| cell.step.value.is_some()));
}

#[test]
fn cold_calls_after_states_that_cannot_be_used_are_left_out() {
    let args = "only=cold_call iterations=1 warmup=0";
    for (fake, states, why, left_out) in [
        (Fake::new(2), &[][..], Skip::NoIdleState, 0),
        (Fake::new(2).without_gic(), &STATES, Skip::NoGic, 2),
        (Fake::new(1), &stopping(1), Skip::NoHelper, 1),
    ] {
        let ran = run_with(fake, args, states);
        assert_eq!(ran.counts(), [1, 0, 0]);
        assert_eq!(ran.conditions().states_left_out, Some(why));
        let skipped_cells = || ran.cells().filter(|cell| cell.skipped.is_some());
        assert_eq!(skipped_cells().count(), left_out, "{why:?}");
        assert!(skipped_cells().all(|cell| cell.series_of(Metric::Call).is_some()));
        let is_evicted = |cell: &Cell| cell.step.variant == Variant::new("stamp_evicted");
        assert!(ran.cells().any(is_evicted));
    }
}

#[test]
fn system_suspend_needs_the_function_a_wake_up_source_and_all_cpus() {
    let args = "only=system_suspend iterations=3";
    let fake_with_modes = || Fake::new(3).with_modes();
    let ran = run(fake_with_modes(), args);
    assert_eq!((ran.counts(), ran.series().count()), ([1, 0, 0], 3));
    let cell = ran.cells().next().expect("a cell");
    assert_eq!(
        (cell.step.variant, cell.step.value),
        (Variant::new("system"), None)
    );
    assert_eq!(cell.figure(Metric::CacheFlush), Some(CLUSTER_FLUSH));
    assert!(!ran.asks(|round| round.participants != only(0)));

    let stops = &stopping(1)[1..];
    let no_function = Skip::NotSupported(PSCI_SYSTEM_SUSPEND_64);
    let timer_stops = Skip::TimerStops(NoFrame::NotInTree);
    for (fake, states, skip) in [
        (Fake::new(3), &STATES[..], no_function),
        (fake_with_modes().without_gic(), &STATES, Skip::NoGic),
        (fake_with_modes(), stops, timer_stops),
    ] {
        let statuses = run_with(fake, args, states).statuses();
        assert_eq!(statuses, [Status::Skipped(skip)]);
    }
    let by_frame = run_with(fake_with_modes().with_frame(), args, stops);
    assert_eq!(by_frame.counts(), [1, 0, 0]);
    let is_system_suspend = |round: &Round| round.action() == Action::SystemSuspend;
    assert!(by_frame.asks(is_system_suspend));
    assert!(
        !by_frame.asks(|round| is_system_suspend(round) && round.wake_up.waker != Waker::Frame)
    );
    // A lost CPU may still be on, and SYSTEM_SUSPEND requires all other CPUs to be off.
    let after_loss = run(
        fake_with_modes().with(losing(2, 1)),
        "only=susp_deep_serial,system_suspend iterations=3",
    );
    assert_eq!(after_loss.statuses(), [lost(2); 2]);
    let plan = Plan::parse("only=all").expect("a group");
    assert!(!plan.scenarios.contains(ScenarioId::named("system_suspend")));
}

#[test]
fn rejections_are_counted_by_reason() {
    let fake = Fake::new(2).with(|round, cpu, outcome| {
        if cpu.index() == 1 && round % 5 == 4 {
            outcome.end = ActionEnd::WrongContext;
        }
    });
    let ran = run(fake, "only=contend_sweep contend=2 iterations=9 warmup=0");
    assert_eq!(ran.counts(), [1, 0, 0]);
    let expected = [(Reason::WrongContext, 4), (Reason::Companion, 4)];
    assert!(ran.scenarios[0].rejected().eq(expected));
    let counts = ran.cells().filter_map(|cell| cell.counts.as_ref());
    assert!(counts.map(Counts::rejected_total).any(|total| total == 2));
}
