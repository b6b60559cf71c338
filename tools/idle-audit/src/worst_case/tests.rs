//! Worst cases of synthetic runs.

use hardware::board::CpuIndex;
use report::analysis::synthetic::{
    cell, cell_of, scenario, set_summary, step, with_steps, without_scenarios,
};
use report::log::LoggedRun;
use suite::measure::{Metric, Waker};
use suite::model::{Cell, CellStep, WakeSource};
use suite::plan::{ActiveCpus, ScenarioId, Variant};

use super::{Latency, TimerInState, idle_states};

/// Adds a metric's statistics and its very first sample.
fn add(cell: &mut Cell, metric: Metric, samples: &[u64], cold: u64) {
    set_summary(cell, metric, samples[0], samples);
    let mut series = cell.series.iter_mut();
    let added = series.find(|series| series.metric == metric);
    added.expect("it was added").cold = Some(cold);
}

/// Returns a run in which two CPUs suspend to the deepest level, one after the other.
fn suspends() -> LoggedRun {
    let mut made = without_scenarios(2);
    let cells = (0..2).map(|cpu| {
        let mut cell = cell(cpu, &[[100, 50, 10], [200, 60, 10]]);
        add(&mut cell, Metric::Wakeup, &[60, 70], 900 + u64::from(cpu));
        // The wake-up may have been due before the CPU was down.
        add(&mut cell, Metric::Wake, &[500, 800 + u64::from(cpu)], 5000);
        cell
    });
    let serial = scenario(ScenarioId::SUSPEND_DEEP_SERIAL, cells.collect());
    made.run.scenarios.push(serial);
    made
}

#[test]
fn worst_case_is_of_all_samples_and_cpus() {
    let mut made = suspends();
    let state = idle_states(&made).expect("states").remove(0);
    assert_eq!((state.power_state, state.is_deepest), (2, true));
    assert_eq!(state.timer, TimerInState::WakesCpu);
    let parts = |latency: Latency<'_>| (latency.ticks, latency.figure.cpu, latency.is_cold);
    // If samples are equal, the first one is returned.
    assert_eq!(parts(state.entry), (200, 0.into(), false));
    assert_eq!(parts(state.exit), (901, 1.into(), true));

    let serial = &mut made.run.scenarios[0];
    serial.cells.remove(0);
    let refusal = idle_states(&made).expect_err("a row is lost");
    let part = "has no sample from CPU 0.0, which may be the worst case";
    assert!(refusal.to_string().contains(part), "{refusal}");
    let mut caller = suspends();
    for cell in &mut caller.run.scenarios[0].cells {
        cell.series
            .retain(|series| series.metric != Metric::Powerdown);
    }
    let error = idle_states(&caller).expect_err("no timestamps").to_string();
    assert!(error.contains("ENABLE_RUNTIME_INSTRUMENTATION=1"));
}

/// One step of a sweep on one CPU: scenario, variant, Powerdown in ticks, and the worst-case
/// entry, which is None if no exit from the state was measured.
const STEPS: &[(ScenarioId, Variant, u64, Option<u64>)] = &[
    (
        ScenarioId::named("contend_sweep"),
        Variant::new("deepest"),
        242,
        Some(242),
    ),
    (
        ScenarioId::named("dirty_sweep"),
        Variant::new("deepest"),
        390,
        Some(390),
    ),
    (
        ScenarioId::named("dirty_sweep"),
        Variant::new("deepest"),
        90,
        Some(200),
    ),
    (
        ScenarioId::named("dirty_sweep"),
        Variant::new("off"),
        390,
        Some(200),
    ),
    (
        ScenarioId::named("contend_sweep"),
        Variant::new("core"),
        242,
        None,
    ),
];

#[test]
fn worst_case_is_of_sweeps_too() {
    for &(id, variant, ticks, expected) in STEPS {
        let mut made = suspends();
        let mut cell = cell_of(1, step(variant, Some(2)), Metric::Powerdown, &[1, ticks]);
        cell.power_state = match variant.word() {
            "deepest" => Some(2),
            "core" => Some(1),
            _ => None,
        };
        let sweep = with_steps(id, vec![cell]);
        made.run.scenarios.extend(sweep.run.scenarios);
        match idle_states(&made) {
            Ok(states) => assert_eq!(Some(states[0].entry.ticks), expected, "{id} {variant:?}"),
            Err(error) => {
                let part = "power_state 0x00000001: its exit latency was not measured";
                assert!(
                    expected.is_none() && error.to_string().contains(part),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn wake_counts_only_if_no_other_cpu_is_woken_before() {
    for (cpus, expected) in [(ActiveCpus::Alone, 9000), (ActiveCpus::All, 7)] {
        let step = CellStep {
            cpus,
            ..step(Variant::new("parallel"), Some(5))
        };
        let mut cell = cell_of(0, step, Metric::Powerdown, &[7]);
        set_summary(&mut cell, Metric::Wakeup, 7, &[7]);
        set_summary(&mut cell, Metric::Wake, 9000, &[9000]);
        cell.wake_source = Some(WakeSource::OwnTimers);
        cell.power_state = Some(5);
        let mut made = with_steps(ScenarioId::named("idle_states"), vec![cell]);
        made.run.cpus.truncate(1);
        let states = idle_states(&made).expect("a state");
        assert_eq!(states[0].exit.ticks, expected, "{cpus:?}");
    }
}

#[test]
fn each_placement_has_the_helper_of_the_other() {
    let mut made = suspends();
    let serial = &mut made.run.scenarios[0];
    serial.conditions.as_mut().expect("a record").wake_source = WakeSource::Helper;
    for helper in CpuIndex::all(2) {
        let mut parallel = made.run.scenarios[0].clone();
        (parallel.id, parallel.helper) = (ScenarioId::SUSPEND_DEEP_PARALLEL, Some(helper));
        parallel.cells.retain(|cell| cell.cpu != helper);
        made.run.scenarios.push(parallel);
    }
    let states = idle_states(&made).expect("all CPUs were measured");
    assert_eq!(states[0].timer, TimerInState::Stops);
    // No CPU wakes itself: Wake belongs to the CPU that was woken.
    assert_eq!(states[0].exit.ticks, 901);
    made.run.scenarios.pop();
    let error = idle_states(&made).expect_err("CPU 0.0 is only the helper");
    assert!(error.to_string().contains("CPU 0.0"), "{error}");
}

#[test]
fn timer_of_a_state_is_known_by_the_interrupts_of_steps() {
    use TimerInState::{NotMeasured, Stops, WakesCpu};
    let timer = |waker: Waker, cpus| {
        let step = CellStep {
            cpus,
            ..step(Variant::new("serial"), Some(5))
        };
        let mut cell = cell_of(0, step, Metric::Powerdown, &[7]);
        set_summary(&mut cell, Metric::Wakeup, 7, &[7]);
        cell.wake_source = Some(waker.into());
        cell.power_state = Some(5);
        let mut made = with_steps(ScenarioId::named("idle_states"), vec![cell]);
        made.run.cpus.truncate(1);
        idle_states(&made).expect("a state")[0].timer
    };
    for (waker, cpus, expected) in [
        (Waker::OwnTimers, ActiveCpus::Alone, WakesCpu),
        (Waker::OwnTimers, ActiveCpus::All, NotMeasured),
        (Waker::Helper(1.into()), ActiveCpus::Alone, Stops),
        (Waker::Frame, ActiveCpus::All, Stops),
    ] {
        assert_eq!(timer(waker, cpus), expected, "{waker:?} {cpus:?}");
    }
}
