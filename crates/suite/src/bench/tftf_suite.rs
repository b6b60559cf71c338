//! Measures the scenarios in TFTF's suite, each with every helper placement.

use alloc::vec::Vec;
use core::fmt;

use hardware::board::CpuIndex;

use crate::measure::Action;
use crate::model::{Cell, Conditions, Scenario, ScenarioKey, Status};
use crate::plan::{ActiveCpus, RunSize, ScenarioId};

use super::bench::{Bench, BenchRoom, StepRounds};
use super::measure::{Request, Setting};
use super::memory::{PRINTING, bench_bytes, suite_bytes};
use super::off::measure_off;
use super::parallel::measure_parallel;
use super::serial::measure_serial;
use super::wake_trials::PLACEMENTS;

/// Returns the heap that a scenario needs if it is measured with this number of placements.
pub(crate) fn heap(size: &RunSize<'_>, placements: usize) -> usize {
    let bench = bench_bytes(size.cpus, size.plan.iterations as usize, 0);
    bench + suite_bytes(size.plan, size.cpus) * placements + PRINTING
}

/// Measures a scenario in TFTF's suite.
///
/// # Errors
/// Never returns an error, because nothing is printed.
pub(crate) fn measure(request: Request<'_>) -> Result<Vec<Scenario>, fmt::Error> {
    let (id, setting) = (request.key.id, request.setting);
    let state = setting.states.of(id);
    let timers_stop = id.is_parallel() && state.is_some_and(|state| state.timer_stops);
    let room = BenchRoom {
        outcomes: setting.plan.iterations as usize,
        figures: 0,
        cells: 0,
    };
    let mut bench = Bench::new(request, room);
    let placements = if id.has_queue() { PLACEMENTS } else { 1 };
    let mut group = Vec::with_capacity(placements);
    for index in 0..placements {
        // Choose the helper again for each placement, because it may have been lost.
        let Setting {
            wake_trials, cpus, ..
        } = setting;
        let Some(placement) = wake_trials.placements(bench.machine, cpus, timers_stop)[index]
        else {
            break;
        };
        group.push(measure_once(&mut bench, id, placement.helper()));
        if bench.trials == 0 {
            break;
        }
    }
    Ok(group)
}

/// Measures a scenario with one helper placement.
fn measure_once(bench: &mut Bench<'_>, id: ScenarioId, helper: Option<CpuIndex>) -> Scenario {
    let (plan, states) = (bench.setting.plan, bench.setting.states);
    let wake_trials = bench.setting.wake_trials;
    let state = states.of(id);
    let why = wake_trials
        .skip(state)
        .map(|skip| states.explain_for(id, skip));
    let cpus = id.descriptor().cpus;
    let step = StepRounds {
        helper,
        turns_off: id.only_lead_suspends(),
        ..match state.filter(|_| why.is_none()) {
            Some(state) => StepRounds::to_state(cpus, state),
            None => StepRounds::new(cpus, Action::Version),
        }
    };
    bench.begin_step(step);
    let needs_state = id.is_suspend() && !step.turns_off;
    let status = match why {
        Some(skip) if needs_state => {
            let fault = wake_trials.fault(skip);
            fault.map_or(Status::Skipped(skip), Status::Failed)
        }
        _ => {
            if step.turns_off {
                // Only the lead needs a state.
                let lead = bench.lead();
                bench.cells[lead.index()].cell.skipped = why;
            }
            let measured = measure_step(bench);
            name_helpers(bench);
            measured
        }
    };
    let cells = if status.skip().is_some() {
        Vec::new()
    } else {
        finished_cells(bench, id.is_parallel())
    };
    Scenario {
        status,
        conditions: Some(Conditions {
            pmf: bench.pmf,
            power_state: state.map(|state| state.power_state),
            wake_source: wake_trials.source(step.timers_stop),
            requested_samples: plan.iterations,
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

/// Returns the cells of all CPUs except the helper, which is not measured.
fn finished_cells(bench: &mut Bench<'_>, is_parallel: bool) -> Vec<Cell> {
    let (pmf, has_samples) = (bench.pmf, bench.setting.plan.sends_samples());
    let helper = bench.step.helper;
    let mut cells = Vec::with_capacity(bench.cells.len());
    for state in &mut bench.cells {
        if helper != Some(state.cell.cpu) {
            cells.push(state.finish(is_parallel, pmf, has_samples, &mut bench.column));
        }
    }
    cells
}

/// Runs the rounds of the current step.
pub(crate) fn measure_step(bench: &mut Bench<'_>) -> Status {
    let measured = if bench.step.turns_off {
        measure_off(bench)
    } else if bench.step.cpus == ActiveCpus::All {
        measure_parallel(bench)
    } else {
        measure_serial(bench)
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
        let is_suspended = !bench.step.turns_off || cpu == lead;
        let helper = bench.waker_of(cpu).helper();
        let state = &mut bench.cells[cpu.index()];
        let has_samples = is_suspended && state.valid() > 0;
        state.cell.helper = helper.filter(|_| has_samples);
    }
}
