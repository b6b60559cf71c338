//! The scenarios of TFTF's suite, each by each placement of its helper.

use arrayvec::ArrayVec;

use super::bench::{Bench, Scratch};
use super::states::States;
use super::wakers::Wakers;
use crate::measure::{Machine, Outcome, REASONS, Summary, Who};
use crate::model::{Row, Run, Status, TestReport, WakeSource};
use crate::plan::{Method, ScenarioId};

/// Times that a scenario is measured at most: once for each placement.
pub const PLACEMENTS: usize = 2;

/// One scenario by one method, for each placement of the helper.
pub type Group<'w> = ArrayVec<TestReport<'w>, PLACEMENTS>;

/// Room for results, which tests take for good.
pub(crate) struct Room<'w> {
    /// Rows, one for each CPU.
    pub rows: &'w mut [Row],
    /// Samples: the same for all tests, unless each sample is sent.
    pub kept: &'w mut [Outcome],
}

/// Measures one scenario by one method.
pub(crate) fn measure<'w, M: Machine>(
    scratch: &mut Scratch<'_, M>,
    run: &Run<'_>,
    states: &States,
    scenario: ScenarioId,
    method: Method,
    room: &mut Room<'w>,
) -> Group<'w> {
    let timers_stop =
        scenario.is_parallel() && states.of(scenario).is_some_and(|state| state.timer_stops);
    let wakers: &Wakers = scratch.wakers;
    let mut group = Group::new();
    for place in 0..PLACEMENTS {
        // Chosen anew: the helper may have been lost since.
        let placements = wakers.placements(scratch.machine, run.cpus, timers_stop);
        let Some(helper) = placements[place] else {
            break;
        };
        let test = measure_once(scratch, run, states, (scenario, method, helper), room);
        let was_tried = test.trials > 0;
        // There is room for both.
        let _ = group.try_push(test);
        if !was_tried {
            break;
        }
    }
    group
}

fn measure_once<'w, M: Machine>(
    scratch: &mut Scratch<'_, M>,
    run: &Run<'_>,
    states: &States,
    (scenario, method, helper): (ScenarioId, Method, Option<usize>),
    room: &mut Room<'w>,
) -> TestReport<'w> {
    let plan = run.plan;
    let (own, rest) = core::mem::take(&mut room.rows).split_at_mut(run.cpus.len());
    room.rows = rest;
    // Its own part of `kept`, or all of it, as those before had.
    let size = plan.iterations as usize * run.cpus.len();
    let (samples, rest) = core::mem::take(&mut room.kept).split_at_mut(size);
    let mut bench = Bench {
        machine: &mut *scratch.machine,
        plan,
        cpus: run.cpus,
        method,
        pmf: run.facts.pmf.is_ok(),
        wakers: scratch.wakers,
        timers_stop: false,
        helper,
        all: Who::All,
        dirty: 0,
        osi: None,
        outcomes: &mut *scratch.outcomes,
        firsts: &mut *scratch.firsts,
        kept: &mut *samples,
        column: &mut *scratch.column,
        rows: &mut *own,
        attempts: 0,
        trials: 0,
        sleep: 0,
        longest_sleep: 0,
        quiet: 0,
        off_sleep: 0,
        skew: Summary::default(),
    };
    let (status, power_state) = bench.measure(scenario, states);
    let wake_source = match bench.timers_stop {
        false => WakeSource::OwnTimers,
        true if bench.wakers.frame.is_ok() => WakeSource::Frame,
        true => WakeSource::Helper,
    };
    let (attempts, trials) = (bench.attempts, bench.trials);
    let (sleep, skew) = (bench.sleep, bench.skew);
    // The samples outlive this test only where they have a part of their own.
    let samples: &[Outcome] = if plan.samples {
        room.kept = rest;
        samples
    } else {
        room.kept = samples;
        &[]
    };
    TestReport {
        scenario,
        method,
        status,
        pmf: run.facts.pmf.is_ok(),
        power_state,
        wake_source,
        helper: helper.map(|cpu| cpu as u16),
        asked: plan.iterations,
        attempts,
        sleep,
        trials,
        skew,
        rows: match status {
            Status::Skipped(_) => &[],
            _ => own,
        },
        points: &[],
        left_out: [None; 2],
        warmed: None,
        rejected: [0; REASONS],
        histograms: &[],
        samples,
    }
}
