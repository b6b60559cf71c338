//! `timer_latency` on the fake machine.

use crate::measure::{Task, Window};
use crate::model::TimerFault;
use hardware::board::{CpuIndex, IntId};
use hardware::spec::psci;

use super::*;

fn run_timers(fake: Fake, args: &str) -> Ran {
    run(fake, &std::format!("only=timer_latency {args}"))
}

/// Returns the measured and the requested time for each measurement.
fn ends(ran: &Ran) -> Vec<&str> {
    ran.printed
        .lines()
        .filter(|line| line.starts_with("RTS|"))
        .filter_map(|line| line.rsplit('|').next())
        .map(str::trim)
        .collect()
}

/// Returns the number of expiries in each series.
fn expiries(ran: &Ran) -> Vec<u32> {
    ran.series()
        .map(|cell_series| cell_series.series.summary.n)
        .collect()
}

#[test]
fn a_threshold_ends_it_and_fails() {
    let lateness = |cpu: CpuIndex, expiry| match (cpu.index(), expiry) {
        (1, 500) => 6_250,
        _ => 50,
    };
    let args = "duration=60 stress=idle threshold=100";
    let ran = run_timers(Fake::new(2).with_lateness(lateness), args);
    let (cpu, fault) = (CpuIndex::new(1), TimerFault::Late(6_270));
    assert_eq!(ran.failure(), Some(Failure::Timer { cpu, fault }));
    // The first CPU's measurement runs to the end; the second CPU's ends at the late expiry.
    assert_eq!(expiries(&ran), [60_000, 60_000, 501, 501]);
    assert_eq!(ends(&ran), ["00:01:00/00:01:00", "00:00:01/00:01:00"]);
    let last = ran.series().last().expect("a series").series.summary;
    assert_eq!((last.n, last.max), (501, 6_270));
}

#[test]
fn each_fault_of_a_timer_has_its_name() {
    let args = "duration=5 stress=idle timers=all";
    for fault in [
        TimerFault::Stray(IntId::new(40)),
        TimerFault::Silent,
        TimerFault::Spurious,
    ] {
        let ran = run_timers(Fake::new(2).with_fault(1.into(), 3, fault), args);
        assert_eq!(
            ran.failure(),
            Some(Failure::Timer {
                cpu: 1.into(),
                fault
            })
        );
        // Three windows were completed; the fault ended the fourth after three expiries.
        assert_eq!(expiries(&ran), [4_000, 4_000, 3_003, 3_003]);
        assert_eq!(ends(&ran), ["00:00:03/00:00:05"]);
        assert_eq!(ran.printed.matches("RTD|").count(), 4);
    }
    let fake = Fake::new(2).with(|round, cpu, outcome| {
        if (round, cpu.index()) == (0, 0) {
            outcome.end = ActionEnd::Pending;
        }
    });
    let (cpu, fault) = (CpuIndex::default(), TimerFault::Pending);
    let pending = Failure::Timer { cpu, fault };
    assert_eq!(run_timers(fake, args).failure(), Some(pending));
}

#[test]
fn a_lost_cpu_is_the_end_of_it() {
    let ran = run_timers(Fake::new(3).with(losing(2, 1)), "timers=all duration=9");
    assert_eq!(ran.statuses(), [lost(2)]);
    // The other CPUs keep their results.
    assert_eq!(ran.series().count(), 2 * 2);
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
        assert_eq!(ran.printed.contains("zero is skipped"), is_reported);
        let is_zero = |cell: &Cell| cell.step.variant == Variant::new("zero");
        assert!(!ran.cells().any(is_zero));
    }
}

/// The CPU whose timer is measured, and the only one that runs the load, in each window.
#[test]
fn the_load_runs_on_the_cpus_that_the_plan_selects() {
    let ran = run_timers(
        Fake::new(5),
        "stress=suspend timers=alone,all,near,far period=100000",
    );
    assert_eq!(ran.counts(), [1, 0, 0]);
    let cpus = |window: Window| {
        assert_eq!(window.power_state, CLUSTER);
        let Participants::Only(measured) = window.measured else {
            panic!("a CPU whose timer is measured does not suspend");
        };
        (measured.index(), window.loaded_cpu.map(CpuIndex::index))
    };
    let windows = ran
        .fake
        .requested_rounds
        .iter()
        .filter_map(|round| match round.task {
            Task::Expire(window) => Some(window),
            Task::Act(_) | Task::Interrupt(_) | Task::Stress(_) => None,
        });
    let alone = (0..5).map(|cpu| (cpu, None));
    // CPU 4 is alone in its cluster.
    let near = [(0, 1), (1, 2), (2, 3), (3, 0)];
    let far = [(0, 4), (1, 4), (2, 4), (3, 4), (4, 0)];
    let pairs = near.into_iter().chain(far);
    let expected = alone.chain(pairs.map(|(cpu, other)| (cpu, Some(other))));
    assert!(windows.map(cpus).eq(expected));
    let count = |active_cpus| {
        let cells = ran.cells();
        cells.filter(|cell| cell.step.cpus == active_cpus).count()
    };
    assert_eq!(ActiveCpus::ALL.map(count), [5, 0, 4, 5]);
}

#[test]
fn loads_that_no_cpu_can_run_are_skipped() {
    for (cpus, args, states, skip) in [
        (
            2,
            "stress=suspend timers=all",
            &STATES[..],
            Skip::NoNeighbor,
        ),
        (1, "stress=smc timers=near", &STATES, Skip::NoNeighbor),
        (2, "stress=smc timers=far", &STATES, Skip::NoNeighbor),
        (2, "stress=suspend", &[], Skip::NoIdleState),
    ] {
        let args = std::format!("only=timer_latency {args}");
        let ran = run_with(Fake::new(cpus), &args, states);
        assert_eq!(ran.statuses(), [Status::Skipped(skip)], "{args}");
    }
}

#[test]
fn a_refused_suspend_load_fails() {
    let fake = Fake::new(3).with(|round, cpu, outcome| {
        if (round, cpu.index()) == (0, 2) {
            outcome.end = ActionEnd::GaveUp;
            outcome.code = Some(-3);
        }
    });
    let ran = run_timers(fake, "stress=suspend timers=alone");
    let (cpu, fault) = (2.into(), TimerFault::Refused(psci::ReturnCode(-3)));
    assert_eq!(ran.failure(), Some(Failure::Timer { cpu, fault }));
}
