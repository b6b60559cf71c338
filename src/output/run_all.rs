//! Runs a plan's scenarios, and prints the results of each.

use core::fmt::{self, Write};

use super::latency::Lines;
use super::run::{begin_scenario, closing, header, scenario, wake_trials};
use super::summary::Summary;
use crate::board::IdleState;
use crate::findings::{Detail, findings_of};
use crate::measure::Machine;
use crate::model::Run;
use crate::model::Verdict;
use crate::record::Writer;
use crate::scenario::{Setting, States, Wakers, jobs, measure};

/// Runs the plan of `run`, which has no results yet, prints it, and returns the verdict.
/// The machine's heap has at least the bytes of [`crate::scenario::Needs`].
///
/// # Errors
/// Those of `out`.
pub fn run_all<M: Machine>(
    machine: &mut M,
    mut run: Run,
    idle_states: &[IdleState<'_>],
    out: &mut dyn Write,
) -> Result<Verdict, fmt::Error> {
    let plan = run.plan.unwrap_or_default();
    let format = machine.facts().state_format;
    let states = States::choose(idle_states, &plan, format);
    header(out, &run)?;
    let stopping = states.that_stop_timers(&plan);
    let wakers = Wakers::try_out(machine, &run.cpus, &stopping);
    if let Some(facts) = &mut run.facts {
        facts.frame = wakers.frame;
    }
    wake_trials(out, &run, &wakers)?;
    let mut records = Writer::new(plan.records);
    records.machine(out, &run)?;
    let mut summary = Summary::new(&plan);
    for job in jobs(&plan) {
        machine.mark_heap();
        begin_scenario(out, job.id, job.method)?;
        let setting = Setting {
            plan: &plan,
            cpus: &run.cpus,
            states: &states,
            wakers: &wakers,
        };
        let mut group = measure(machine, setting, job, &mut Lines(out))?;
        for measured in &mut group {
            measured.findings = findings_of(&run, measured, Detail::Short);
        }
        scenario(out, &run, &group)?;
        records.scenario(out, &group)?;
        summary.add(&group);
        drop(group);
        machine.release_heap();
    }
    for (index, cpu) in run.cpus.iter_mut().enumerate() {
        cpu.identity = machine.identity(index);
    }
    closing(out, &run, &summary, &mut records)
}
