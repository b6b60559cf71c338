//! The scenarios in TFTF's suite. Each is measured with every helper placement.

use alloc::vec::Vec;
use core::fmt::Write;

use crate::measure::{Action, Machine};
use crate::model::{Conditions, Scenario, ScenarioKey, Status};
use crate::plan::{Procedure, ScenarioId, Turns};
use hardware::board::CpuIndex;

use super::bench::{Bench, BenchRoom, BenchStep, Rounds, Setting};
use super::off::measure_off;
use super::parallel::measure_parallel;
use super::serial::measure_serial;

/// The maximum number of times that a scenario is measured: once for each placement.
pub(crate) const PLACEMENTS: usize = 2;

/// Returns the maximum number of helper placements for a scenario. The helper has no cell in a
/// multi-CPU round.
pub(crate) const fn placements(id: ScenarioId) -> usize {
    match id.procedure() {
        Procedure::Suspend(_, Turns::Parallel) => PLACEMENTS,
        Procedure::Suspend(..)
        | Procedure::CpuOff
        | Procedure::Version
        | Procedure::Loop
        | Procedure::CpuOn
        | Procedure::Timers
        | Procedure::Steps
        | Procedure::Interrupts
        | Procedure::Checks => 1,
    }
}

pub(crate) fn measure(
    machine: &mut dyn Machine,
    setting: Setting<'_>,
    key: ScenarioKey,
    out: &mut dyn Write,
) -> Vec<Scenario> {
    let state = setting.states.of(key.id);
    let timers_stop = key.id.is_parallel() && state.is_some_and(|state| state.timer_stops);
    let room = BenchRoom {
        outcomes: setting.plan.iterations as usize,
        figures: 0,
        cells: 0,
    };
    let mut bench = Bench::new(machine, setting, key.method, out, room);
    let mut group = Vec::with_capacity(placements(key.id));
    for place in 0..placements(key.id) {
        // Choose the state again for each placement, because the helper may have been lost.
        let Setting { wakers, cpus, .. } = setting;
        let Some(helper) = wakers.placements(bench.machine, cpus, timers_stop)[place] else {
            break;
        };
        group.push(measure_once(&mut bench, key.id, helper));
        if bench.trials == 0 {
            break;
        }
    }
    group
}

/// Returns the kind of round used to measure a suite scenario.
fn rounds(id: ScenarioId) -> Rounds {
    match id.procedure() {
        Procedure::CpuOff => Rounds::Off,
        _ if id.is_parallel() => Rounds::Parallel,
        Procedure::Suspend(..)
        | Procedure::Version
        | Procedure::Loop
        | Procedure::CpuOn
        | Procedure::Timers
        | Procedure::Steps
        | Procedure::Interrupts
        | Procedure::Checks => Rounds::Serial,
    }
}

fn measure_once(bench: &mut Bench<'_>, id: ScenarioId, helper: Option<CpuIndex>) -> Scenario {
    let (plan, states) = (bench.setting.plan, bench.setting.states);
    let wakers = bench.setting.wakers;
    let state = states.of(id);
    let why = wakers.skip(state).map(|skip| states.explain_for(id, skip));
    let turns = rounds(id);
    let step = match state.filter(|_| why.is_none()) {
        Some(state) => BenchStep::to_state(turns, state),
        None => BenchStep::new(turns, Action::Version),
    };
    bench.begin(BenchStep { helper, ..step });
    let needs_state = matches!(id.procedure(), Procedure::Suspend(..));
    let status = match why {
        Some(skip) if needs_state => {
            let fault = wakers.fault(skip);
            fault.map_or(Status::Skipped(skip), Status::Failed)
        }
        _ => {
            if turns == Rounds::Off {
                // Only the lead needs a state.
                let lead = bench.lead();
                bench.cells[lead.place()].cell.skipped = why;
            }
            let status = measure_step(bench);
            name_helpers(bench);
            status
        }
    };
    let mut cells = Vec::new();
    if !matches!(status, Status::Skipped(_)) {
        cells.reserve_exact(bench.cells.len());
        for state in &mut bench.cells {
            // The helper is not measured.
            if helper != Some(state.cell.cpu) {
                let (pmf, samples) = (bench.pmf, plan.samples);
                cells.push(state.finish(id.is_parallel(), pmf, samples, &mut bench.column));
            }
        }
    }
    Scenario {
        status,
        conditions: Some(Conditions {
            pmf: bench.pmf,
            power_state: state.map(|state| state.power_state),
            wake_source: wakers.source(step.timers_stop),
            asked: plan.iterations,
            attempts: bench.attempts,
            trials: bench.trials,
            sleep: bench.sleep.now,
            skew: Some(bench.skew).filter(|skew| skew.n > 0),
            ..Conditions::default()
        }),
        cells,
        ..Scenario::new(ScenarioKey {
            id,
            method: bench.method,
            helper,
        })
    }
}

/// Runs the rounds of the current step.
pub(crate) fn measure_step(bench: &mut Bench<'_>) -> Status {
    let measured = match bench.step.turns {
        Rounds::Serial => measure_serial(bench),
        Rounds::Parallel => measure_parallel(bench),
        Rounds::Off => measure_off(bench),
    };
    bench.note_losses();
    measured.map_or_else(|status| status, |()| bench.status())
}

/// Records, in each cell, the helper that stayed awake to wake the cell's CPU.
fn name_helpers(bench: &mut Bench<'_>) {
    let lead = bench.lead();
    for cpu in CpuIndex::all(bench.cells.len()) {
        // Only the lead is suspended; the other CPUs are turned off and need CPU_ON, not an
        // interrupt.
        let is_suspended = bench.step.turns != Rounds::Off || cpu == lead;
        let helper = bench.waker_of(cpu).helper();
        let state = &mut bench.cells[cpu.place()];
        let has_samples = is_suspended && state.valid() > 0;
        state.cell.helper = helper.filter(|_| has_samples);
    }
}
