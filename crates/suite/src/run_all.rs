//! Performs a run: measures each scenario of the plan, and prints and records its results before the
//! next one begins.

use core::fmt::{self, Write};
use core::sync::atomic::AtomicU64;

use hardware::board::{CpuIndex, IdleStates, LeftOut};
use sync::Heap;

use crate::bench::{Setting, States, WakeSources, measure};
use crate::measure::{Facts, Machine};
use crate::model::{Job, LeftOutState, Run, Scenario, Verdict, jobs};
use crate::output::{self, ClosingSummary, FirstRun};
use crate::plan::{Method, WordSet};
use crate::record::Writer;

/// Runs the plan of `run`, which has no results yet, prints the results, and returns the verdict.
/// `heap` must be at least the size given by [`crate::bench::Needs`]; each scenario frees all
/// memory that it takes from it. `samples` holds the [`crate::measure::SampleCount`] of the current
/// scenario.
pub fn run_all<M: Machine>(
    machine: &mut M,
    mut run: Run,
    idle_states: &IdleStates<'_>,
    out: &mut dyn Write,
    heap: &Heap,
    samples: &AtomicU64,
) -> Result<Verdict, fmt::Error> {
    let mut plan = run.plan.expect("a new run has a plan");
    if machine.facts().no_cpu_off.is_some() {
        plan.methods = WordSet::from_values(&[Method::Warm]);
        run.plan = run.plan.map(|_| plan);
    }
    let format = machine.facts().state_format;
    let mut states = States::choose(idle_states, &plan, format);
    add_left_out(&mut run, &states, idle_states);
    output::print_header(out, &run)?;
    output::print_state_notes(out, &run, &states)?;
    let mut wake_sources = WakeSources::untried(machine.facts());
    let mut records = Writer::new(plan.records, run.id.unwrap_or_default());
    records.write_machine(out, &run)?;
    let mut summary = ClosingSummary::new(&plan);
    let mut first_run = FirstRun::new(&plan, &run, machine.facts());
    for job in jobs(&plan) {
        let Job::Measure(mut key) = job else {
            let mut announce = |power_state| first_run.announce_trial(out, power_state);
            wake_sources.try_out(machine, (&run.cpus, &plan), &mut states, &mut announce)?;
            output::print_wake_sources(out, &run, &wake_sources)?;
            if let Some(facts) = update_frame(&mut run, &wake_sources) {
                records.write_facts(out, facts)?;
            }
            let lost = machine.count_lost(run.cpus.len());
            if first_run.ends(&mut summary.totals, lost > 0, lost) {
                break;
            }
            continue;
        };
        heap.mark();
        let has_warm_twin = plan.methods.contains(Method::Warm) && key.id.is_suite();
        if machine.facts().no_cpu_off.is_some() && !has_warm_twin {
            // An earlier scenario has shown that CPU_OFF is not supported.
            key.method = Method::Warm;
        }
        first_run.announce_scenario(out, key.id)?;
        output::print_scenario_name(out, key.id, key.method)?;
        let setting = Setting {
            plan: &plan,
            cpus: &run.cpus,
            states: &states,
            wake_sources: &wake_sources,
            samples,
        };
        let group = measure(machine, setting, key, out)?;
        output::print_scenario(out, &run, &group)?;
        records.write_scenario(out, &group)?;
        summary.add(&run, &group);
        let has_failed = Scenario::status_of(&group).has_failed();
        drop(group);
        heap.assert_all_freed();
        if first_run.ends(&mut summary.totals, has_failed, 0) {
            break;
        }
    }
    for (index, cpu) in CpuIndex::all(run.cpus.len()).zip(&mut run.cpus) {
        cpu.identity = machine.identity(index);
    }
    output::print_closing(out, &run, &summary, &mut records)
}

/// Sets whether the timer frame is used. Returns the facts if that has changed.
fn update_frame(run: &mut Run, wake_sources: &WakeSources) -> Option<Facts> {
    let facts = run.facts.as_mut()?;
    let has_changed = facts.frame != wake_sources.frame;
    facts.frame = wake_sources.frame;
    has_changed.then_some(*facts)
}

/// Lists the states that are left out, including those that the firmware does not accept.
fn add_left_out(run: &mut Run, states: &States, idle_states: &IdleStates<'_>) {
    let left_out = idle_states.left_out.iter();
    run.left_out = left_out.map(LeftOutState::from).collect();
    for state in &idle_states.usable {
        if states.foreign.contains(&state.power_state) {
            let reason = LeftOut::OtherFormat(state.power_state);
            run.left_out.push(LeftOutState::new(state.name, reason));
        }
    }
}
