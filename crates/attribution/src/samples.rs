//! Finds the calls that correspond to the samples in a run by comparing the ticks in their phases.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use hardware::board::CpuIndex;
use hardware::spec::pmf::Stamp;
use hardware::spec::ticks::Clock;
use itertools::Itertools as _;
use report::analysis::phases::{CpuPhase, PowerSide, phase_between};
use suite::measure::{Instant, Instants};
use suite::model::{CellStep, Run};
use suite::plan::{ActiveCpus, ScenarioId};

use crate::calls::Call;

/// A phase of a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhaseSpan {
    pub phase: CpuPhase,
    pub from: Stamp,
    pub to: Stamp,
    /// The instructions that all CPUs executed, as measured by PMF.
    pub instructions: u64,
}

/// A sample in a run.
#[derive(Debug)]
pub(crate) struct ProfiledSample<'c> {
    /// The index of the scenario in the run.
    pub scenario: usize,
    /// The step of the scenario.
    pub step: CellStep,
    /// The index of the CPU in the run.
    pub cpu: CpuIndex,
    /// The counter value from which the sample's instants are measured.
    base: u64,
    pub spans: Vec<PhaseSpan>,
    /// The firmware call; None until it is found.
    pub call: Option<&'c Call>,
}

/// How long an instruction takes and how long a tick takes. QEMU's machines have counters with
/// different frequencies.
#[derive(Clone, Copy)]
pub(crate) struct InstructionClock {
    /// The duration of an instruction in nanoseconds.
    pub instruction_ns: u32,
    /// The counter.
    pub counter: Clock,
}

impl InstructionClock {
    /// Converts ticks to instructions.
    fn instructions(self, ticks: u64) -> u64 {
        let ns = self.counter.ns(ticks);
        ns.map_or(ticks, |ns| ns / u64::from(self.instruction_ns))
    }
}

/// Returns the phases of a sample that are bounded by timestamps, except the one spent in low
/// power.
fn spans(instants: &Instants, clock: InstructionClock) -> Vec<PhaseSpan> {
    let path = Stamp::IN_TIME.into_iter();
    let path = path.filter(|it| instants.at(Instant::Stamp(*it)).is_some());
    let span = |(from, to)| {
        let ends = (Instant::Stamp(from), Instant::Stamp(to));
        let phase = phase_between(ends.0, ends.1)?;
        let ticks = instants.span(ends.0, ends.1)?;
        Some(PhaseSpan {
            phase,
            from,
            to,
            instructions: clock.instructions(ticks),
        })
        .filter(|it| it.phase.side != PowerSide::Between)
    };
    path.tuple_windows().filter_map(span).collect()
}

fn is_of(call: &Call, spans: &[PhaseSpan]) -> bool {
    let is_equal = |span: &PhaseSpan| {
        let ends = call.at(span.from).zip(call.at(span.to));
        ends.and_then(|(from, to)| to.checked_sub(from)) == Some(span.instructions)
    };
    spans.iter().all(is_equal)
}

/// Returns the samples in `run` that have timestamps, by CPU, in chronological order. An
/// instruction takes `instruction_ns` nanoseconds.
pub(crate) fn read<'c>(run: &Run, instruction_ns: u32) -> Vec<ProfiledSample<'c>> {
    let clock = InstructionClock {
        instruction_ns,
        counter: run.clock(),
    };
    let mut all = Vec::new();
    for (scenario, it) in run.scenarios.iter().enumerate() {
        for cell in &it.cells {
            all.extend(cell.samples.iter().map(|sample| ProfiledSample {
                scenario,
                step: cell.step,
                cpu: cell.cpu,
                base: sample.instants.base,
                spans: spans(&sample.instants, clock),
                call: None,
            }));
        }
    }
    all.retain(|it| !it.spans.is_empty());
    all.sort_by_key(|it| (it.cpu, it.base));
    all
}

/// Returns a serial scenario in which most CPUs have samples with different phases. With the
/// instruction clock, a CPU running on its own takes the same number of ticks each time.
pub(crate) fn varying(samples: &[ProfiledSample<'_>], run: &Run) -> Option<ScenarioId> {
    let is_alone = |it: &&ProfiledSample<'_>| {
        let id = run.scenarios[it.scenario].id;
        !id.is_parallel() && it.step.how == ActiveCpus::Alone && it.spans.len() > 1
    };
    let key = |it: &&ProfiledSample<'_>| (it.scenario, it.step, it.cpu);
    let alone = samples.iter().filter(is_alone);
    let mut varying = BTreeMap::new();
    for (key, own) in &alone.chunk_by(key) {
        let ticks = own.map(|it| it.spans.iter().map(|it| it.instructions).collect_vec());
        let ticks = ticks.collect_vec();
        if ticks.len() > 1 {
            let [all, different] = varying.entry(key.0).or_insert([0, 0]);
            *all += 1;
            *different += usize::from(!ticks.iter().all_equal());
        }
    }
    let mut varying = varying.into_iter();
    let (scenario, _) = varying.find(|(_, [all, different])| 2 * different > *all)?;
    Some(run.scenarios[scenario].id)
}

/// Finds the call for each sample in `run`.
///
/// # Errors
/// Returns an error if no call matches a sample's instruction counts in every phase.
pub(crate) fn find_calls<'c>(
    samples: &mut [ProfiledSample<'c>],
    run: &Run,
    calls: &'c [Call],
) -> Result<()> {
    let ids: BTreeSet<u32> = calls.iter().map(|it| it.cpu).collect();
    if ids.len() != run.cpus.len() {
        let (found, all) = (ids.len(), run.cpus.len());
        bail!(
            "the record contains calls from {found} CPUs, but the run has {all}; a profile needs a \
             PSCI call with timestamps from each CPU: add a scenario from the suite"
        );
    }
    for (cpu, id) in (0u16..).zip(ids) {
        // Search backwards, because warm-up calls come before samples. Calls with the same
        // instruction counts in all phases are interchangeable.
        let mut calls = calls.iter().rev().filter(|it| it.cpu == id);
        for sample in samples.iter_mut().rev().filter(|it| it.cpu == cpu.into()) {
            sample.call = calls.find(|call| is_of(call, &sample.spans));
            if sample.call.is_none() {
                let ticks = sample.spans.iter();
                let ticks = ticks.map(|it| format!("{} {}", it.phase.name, it.instructions));
                bail!(
                    "a sample from CPU {} in {}: no firmware call has instruction \
                     counts that match the PMF ticks: {}",
                    run.label(cpu.into()),
                    run.scenarios[sample.scenario].id,
                    ticks.format(", ")
                );
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use report::made_up_run;

    use super::*;

    #[test]
    fn samples_of_real_time_differ_and_those_of_instructions_do_not() {
        let run = made_up_run::run();
        let mut samples = read(&run, 16);
        let serial = Some(ScenarioId::CPU_SUSPEND_SERIAL);
        assert_eq!(varying(&samples, &run), serial);
        let mut single = read(&run, 16);
        single.dedup_by_key(|it| (it.scenario, it.cpu));
        assert_eq!(varying(&single, &run), None);
        let spans = samples.iter_mut().flat_map(|it| &mut it.spans);
        spans.for_each(|it| it.instructions = 7);
        assert_eq!(varying(&samples, &run), None);
    }
}
