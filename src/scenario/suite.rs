//! The scenarios of TFTF's suite, each with each placement of its helper.

use alloc::vec::Vec;

use super::bench::{Bench, Setting, Stop, Target};
use super::off::measure_off;
use super::parallel::measure_parallel;
use super::serial::measure_serial;
use super::states::Chosen;
use crate::measure::{Action, Machine, Who};
use crate::model::{Conditions, Scenario, ScenarioKey, Status};
use crate::plan::{Method, ScenarioId};
use crate::spec::stat::Ladder;

/// Times that a scenario is measured at most: once for each placement.
pub(crate) const PLACEMENTS: usize = 2;

/// Returns the most placements of a scenario's helper, which has no row in a round of
/// several CPUs.
pub(crate) const fn placements(id: ScenarioId) -> usize {
    match id {
        ScenarioId::SuspendDeepParallel | ScenarioId::CpuSuspendParallel => PLACEMENTS,
        _ => 1,
    }
}

/// Measures one scenario by one method, with each placement of the helper.
pub(crate) fn measure<M: Machine>(
    machine: &mut M,
    setting: Setting<'_>,
    id: ScenarioId,
    method: Method,
) -> Vec<Scenario> {
    let state = setting.states.of(id);
    let timers_stop = id.is_parallel() && state.is_some_and(|state| state.timer_stops);
    let mut bench = Bench::new(machine, setting, method);
    let mut group = Vec::with_capacity(placements(id));
    for place in 0..placements(id) {
        // Chosen anew: the helper may have been lost since.
        let Setting { wakers, cpus, .. } = setting;
        let Some(helper) = wakers.placements(bench.machine, cpus, timers_stop)[place] else {
            break;
        };
        group.push(measure_once(&mut bench, id, helper));
        if bench.trials == 0 {
            break;
        }
    }
    group
}

fn measure_once<M: Machine>(
    bench: &mut Bench<'_, M>,
    id: ScenarioId,
    helper: Option<usize>,
) -> Scenario {
    let Setting {
        plan,
        states,
        wakers,
        ..
    } = bench.setting;
    let state = states.of(id);
    bench.begin(Target {
        helper,
        ..Target::ALL
    });
    let status = match wakers.skip(state).map(|skip| states.explain(skip)) {
        Some(skip) if needs_state(id) => {
            let fault = wakers.fault(skip);
            fault.map_or(Status::Skipped(skip), Status::Failed)
        }
        why => {
            if id == ScenarioId::CpuOffSerial {
                // The lead's part alone needs a state.
                let lead = bench.machine.facts().lead;
                bench.rows[lead].row.skipped = why;
            }
            measure_rows(bench, id, state.filter(|_| why.is_none()))
        }
    };
    let mut rows = Vec::new();
    if !matches!(status, Status::Skipped(_)) {
        rows.reserve_exact(bench.rows.len());
        for state in &mut bench.rows {
            // The helper has no figures.
            if helper != Some(state.row.cpu.into()) {
                rows.push(state.finish(bench.pmf, plan.samples, &mut bench.column));
            }
        }
    }
    Scenario {
        status,
        conditions: Some(Conditions {
            pmf: bench.pmf,
            power_state: state.map(|state| state.power_state),
            wake_source: wakers.source(bench.target.timers_stop),
            asked: plan.iterations,
            attempts: bench.attempts,
            trials: bench.trials,
            sleep: bench.sleep.now,
            skew: Some(bench.skew).filter(|skew| skew.n > 0),
            ..Conditions::default()
        }),
        rows,
        ..Scenario::new(ScenarioKey {
            id,
            method: bench.method,
            helper: helper.map(|cpu| cpu as u16),
        })
    }
}

/// Returns true if each row is one of suspends.
fn needs_state(id: ScenarioId) -> bool {
    !matches!(
        id,
        ScenarioId::CpuOffSerial | ScenarioId::PsciVersionParallel
    )
}

/// Measures the scenario by rounds; `state` is the one to suspend to.
fn measure_rows<M: Machine>(
    bench: &mut Bench<'_, M>,
    id: ScenarioId,
    state: Option<Chosen>,
) -> Status {
    bench.target.timers_stop = state.is_some_and(|state| state.timer_stops);
    let action = state.map_or(Action::Version, Chosen::action);
    let ladder = state.map_or(Ladder::default(), |state| state.ladder);
    let measured = match id {
        ScenarioId::SuspendDeepSerial | ScenarioId::CpuSuspendSerial => {
            measure_serial(bench, action, &ladder)
        }
        ScenarioId::CpuOffSerial => measure_off(bench, state.map(Chosen::action)),
        _ => measure_parallel(bench, action, &ladder),
    };
    bench.note_losses();
    name_helpers(bench, id);
    match measured {
        Ok(()) => bench.status(),
        Err(Stop::Skip(skip)) => Status::Skipped(skip),
        Err(Stop::Fail(failure)) => Status::Failed(failure),
    }
}

/// Writes into each row the CPU that stayed awake for it.
fn name_helpers<M: Machine>(bench: &mut Bench<'_, M>, id: ScenarioId) {
    let lead = bench.machine.facts().lead;
    for cpu in 0..bench.rows.len() {
        let who = match id.is_parallel() {
            true => bench.target.who,
            false => Who::Only(cpu),
        };
        // CPU_OFF ends by CPU_ON: the lead alone is suspended.
        let is_suspended = id != ScenarioId::CpuOffSerial || cpu == lead;
        let helper = bench.waker(who).helper();
        let state = &mut bench.rows[cpu];
        let has_samples = is_suspended && state.valid() > 0;
        state.row.helper = helper.filter(|_| has_samples).map(|index| index as u16);
    }
}
