//! Measures the scenarios in TFTF's suite, each with every helper placement.

use alloc::vec::Vec;
use core::fmt;

use hardware::board::CpuIndex;

use crate::measure::Action;
use crate::model::{Conditions, Scenario, ScenarioKey, Skip, Status};
use crate::plan::{ActiveCpus, RunSize, ScenarioId};

use super::bench::{Bench, BenchRoom};
use super::memory::{PRINTING, bench_bytes, suite_bytes};
use super::off::measure_off;
use super::parallel::measure_parallel;
use super::request::{Request, Setting};
use super::serial::measure_serial;
use super::step_rounds::StepRounds;
use super::wake_sources::PLACEMENTS;

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
    let state = setting.states.state_for(id);
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
            wake_sources,
            cpus,
            plan,
            ..
        } = setting;
        let placements = wake_sources.placements(bench.machine(), (cpus, plan), timers_stop);
        let Some(placement) = placements[index] else {
            break;
        };
        group.push(measure_once(&mut bench, id, placement.helper()));
        if bench.totals().trials == 0 {
            break;
        }
    }
    Ok(group)
}

/// Measures a scenario with one helper placement.
fn measure_once(bench: &mut Bench<'_>, id: ScenarioId, helper: Option<CpuIndex>) -> Scenario {
    let Setting {
        states,
        wake_sources,
        ..
    } = bench.setting();
    let state = states.state_for(id);
    let why = wake_sources
        .skip(state)
        .map(|skip| states.explain_for(id, skip));
    let cpus = id.descriptor().cpus;
    let step = StepRounds {
        helper,
        turns_off: id.only_lead_suspends(),
        ..match state {
            Some(state) if why.is_none() => StepRounds::to_state(cpus, state),
            _ => StepRounds::new(cpus, Action::Version),
        }
    };
    bench.begin_step(step);
    let status = match why {
        Some(skip) if id.is_suspend() && !step.turns_off => match wake_sources.fault(skip) {
            Some(failure) => Status::Failed(failure),
            None => Status::Skipped(skip),
        },
        _ => measure_with_helpers(bench, why),
    };
    let cells = if status.skip().is_some() {
        Vec::new()
    } else {
        bench.finish_cells(id.is_parallel())
    };
    let totals = bench.totals();
    Scenario {
        status,
        conditions: Some(Conditions {
            pmf: bench.has_pmf(),
            power_state: state.map(|state| state.power_state),
            wake_source: wake_sources.source(step.timers_stop),
            requested_samples: bench.plan().iterations,
            attempts: totals.attempts,
            trials: totals.trials,
            sleep: bench.waits.sleep(),
            skew: Some(totals.skew).filter(|skew| skew.n > 0),
            ..Conditions::default()
        }),
        cells,
        ..Scenario::new(ScenarioKey {
            id,
            method: bench.method(),
            helper,
        })
    }
}

/// Measures the current step, and records which CPUs were woken by a helper. `no_state` is the
/// reason why there is no state to suspend to.
fn measure_with_helpers(bench: &mut Bench<'_>, no_state: Option<Skip>) -> Status {
    if let Some(skip) = no_state
        && bench.step().turns_off
    {
        // Only the lead needs a state.
        bench.cell_mut(bench.lead()).skip(skip);
    }
    let status = measure_step(bench);
    name_helpers(bench);
    status
}

/// Runs the rounds of the current step.
pub(crate) fn measure_step(bench: &mut Bench<'_>) -> Status {
    let step = bench.step();
    let measured = if step.turns_off {
        measure_off(bench)
    } else if step.cpus == ActiveCpus::All {
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
    for cpu in CpuIndex::all(bench.cpu_count()) {
        // Only the lead is suspended; the other CPUs are turned off and need CPU_ON, not an
        // interrupt.
        let is_suspended = !bench.step().turns_off || cpu == lead;
        let has_samples = is_suspended && bench.cell(cpu).valid() > 0;
        let helper = if has_samples {
            bench.waker_of(cpu).helper()
        } else {
            None
        };
        bench.cell_mut(cpu).note_helper(helper);
    }
}
