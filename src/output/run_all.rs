//! Runs a plan's scenarios, and prints what each found.

use core::fmt::{self, Write};

use arrayvec::ArrayVec;

use super::run as output;
use crate::board::IdleState;
use crate::measure::{Facts, Machine, REASONS, Summary};
use crate::model::{Run, Skip, Status, TestReport, Totals, Verdict, WakeSource};
use crate::plan::{Method, ScenarioId};
use crate::scenario::bench::Scratch;
use crate::scenario::stage::{Stage, Taken};
use crate::scenario::{PLACEMENTS, States, Wakers, Workspace, micro, suite, sweep, timer_latency};

/// Tests at most: each scenario of the suite by each method and placement, and
/// the others.
pub const TESTS: usize = 2 * PLACEMENTS * ScenarioId::SUITE.len() + ScenarioId::COUNT;

/// Measures one of the scenarios outside the suite.
fn measure<M: Machine>(
    stage: &mut Stage<'_, M>,
    scenario: ScenarioId,
    out: &mut dyn Write,
) -> Result<Status, fmt::Error> {
    Ok(match scenario {
        id if id.is_micro() => micro::measure(stage, id),
        ScenarioId::TimerLatency => {
            return timer_latency::measure(stage, &mut super::latency::Lines(out));
        }
        // The suite's are measured elsewhere.
        _ => Status::Skipped(Skip::NotSupported(0)),
    })
}

/// Runs the plan's scenarios, writes what they found, and returns the
/// verdict.
///
/// # Errors
/// When `out` fails.
pub fn run_all<'w, M: Machine, W: Write>(
    machine: &mut M,
    run: &Run<'_>,
    idle_states: &[IdleState<'_>],
    workspace: Workspace<'w>,
    out: &mut W,
) -> Result<Verdict, fmt::Error> {
    let plan = run.plan;
    let states = States::choose(idle_states, plan, run.facts.state_format);
    let mut tests: ArrayVec<TestReport<'w>, TESTS> = ArrayVec::new();
    let mut totals = Totals::default();
    let Workspace {
        outcomes,
        firsts,
        kept,
        column,
        rows,
        mut points,
        mut histograms,
    } = workspace;
    output::header(out, run)?;
    let tried = states.that_stop_timers(plan, idle_states, run.facts.state_format);
    let wakers = Wakers::try_out(machine, run.cpus, outcomes, &tried);
    let facts = Facts {
        frame: wakers.frame,
        ..*run.facts
    };
    let run = &Run {
        facts: &facts,
        ..*run
    };
    output::wake_trials(out, run, &wakers)?;
    let mut room = suite::Room { rows, kept };
    for method in plan.methods.iter() {
        for scenario in plan.scenarios.suite().iter() {
            output::begin_test(out, scenario, method)?;
            let mut scratch = Scratch {
                machine: &mut *machine,
                wakers: &wakers,
                outcomes: &mut *outcomes,
                firsts: &mut *firsts,
                column: &mut *column,
            };
            let group = suite::measure(&mut scratch, run, &states, scenario, method, &mut room);
            output::test(out, run, &group)?;
            totals.add(&group);
            // There is room for all of them by each method.
            for test in group {
                let _ = tests.try_push(test);
            }
        }
    }
    let suite::Room { rows, kept } = room;
    // A placement that was not measured leaves its rows: a sweep has one a CPU.
    let most = run.cpus.len().min(rows.len());
    let rows = &mut rows[..most];
    for scenario in plan.scenarios.iter().filter(|id| !id.is_suite()) {
        // All that is left: each takes from it what it has found.
        let (free, spread) = (
            core::mem::take(&mut points),
            core::mem::take(&mut histograms),
        );
        // Only sweeps have CPUs turned on again for each sample.
        let method = if scenario.is_sweep() {
            plan.methods.first()
        } else {
            Method::Warm
        };
        output::begin_test(out, scenario, method)?;
        let mut stage = Stage {
            machine,
            plan,
            cpus: run.cpus,
            outcomes: &mut *outcomes,
            firsts: &mut *firsts,
            kept: &mut *kept,
            rows: &mut *rows,
            column: &mut *column,
            points: Taken::new(&mut *free),
            histograms: Taken::new(&mut *spread),
            asked: 0,
            attempts: 0,
            trials: 0,
            power_state: None,
            wake_source: WakeSource::OwnTimers,
            pmf: false,
            left_out: [None; 2],
            warmed: None,
            rejected: [0; REASONS],
        };
        let status = if scenario.is_sweep() {
            sweep::measure(&mut stage, scenario, &states, idle_states, &wakers)
        } else {
            measure(&mut stage, scenario, out)?
        };
        let (found, spreads) = (stage.points.len(), stage.histograms.len());
        let test = TestReport {
            scenario,
            method,
            status,
            pmf: stage.pmf,
            power_state: stage.power_state,
            wake_source: stage.wake_source,
            // A point names its own.
            helper: None,
            asked: stage.asked,
            attempts: stage.attempts,
            sleep: 0,
            trials: stage.trials,
            skew: Summary::default(),
            rows: &[],
            left_out: stage.left_out,
            warmed: stage.warmed,
            rejected: stage.rejected,
            points: part(&mut points, free, found),
            histograms: part(&mut histograms, spread, spreads),
            samples: &[],
        };
        output::test(out, run, core::slice::from_ref(&test))?;
        totals.add(core::slice::from_ref(&test));
        let _ = tests.try_push(test);
    }
    output::closing(out, run, &tests, &totals)?;
    Ok(Verdict::from_totals(&totals))
}

/// The first `len` of `all`; `rest` has what is left.
fn part<'w, T>(rest: &mut &'w mut [T], all: &'w mut [T], len: usize) -> &'w [T] {
    let (own, others) = all.split_at_mut(len.min(all.len()));
    *rest = others;
    own
}
