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

use crate::attribution::calls::Call;

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
    let stamps = Stamp::IN_TIME.into_iter();
    let recorded = stamps.filter(|stamp| instants.at(Instant::Stamp(*stamp)).is_some());
    let span = |(first_stamp, last_stamp)| {
        let phase = phase_between(Instant::Stamp(first_stamp), Instant::Stamp(last_stamp))?;
        let ticks = instants.span(Instant::Stamp(first_stamp), Instant::Stamp(last_stamp))?;
        (phase.side != PowerSide::Between).then(|| PhaseSpan {
            phase,
            from: first_stamp,
            to: last_stamp,
            instructions: clock.instructions(ticks),
        })
    };
    recorded.tuple_windows().filter_map(span).collect()
}

fn is_of(call: &Call, spans: &[PhaseSpan]) -> bool {
    let is_equal = |span: &PhaseSpan| {
        let ends = call.at(span.from).zip(call.at(span.to));
        ends.and_then(|(start, end)| end.checked_sub(start)) == Some(span.instructions)
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
    for (scenario_index, scenario) in run.scenarios.iter().enumerate() {
        for cell in &scenario.cells {
            all.extend(cell.samples.iter().map(|sample| ProfiledSample {
                scenario: scenario_index,
                step: cell.step,
                cpu: cell.cpu,
                base: sample.instants.base,
                spans: spans(&sample.instants, clock),
                call: None,
            }));
        }
    }
    all.retain(|sample| !sample.spans.is_empty());
    all.sort_by_key(|sample| (sample.cpu, sample.base));
    all
}

/// Returns a serial scenario in which most CPUs have samples with different phases. With the
/// instruction clock, a CPU running on its own takes the same number of ticks each time.
pub(crate) fn varying(samples: &[ProfiledSample<'_>], run: &Run) -> Option<ScenarioId> {
    let is_alone = |sample: &&ProfiledSample<'_>| {
        let id = run.scenarios[sample.scenario].id;
        !id.is_parallel() && sample.step.cpus == ActiveCpus::Alone && sample.spans.len() > 1
    };
    let key = |sample: &&ProfiledSample<'_>| (sample.scenario, sample.step, sample.cpu);
    let instructions = |sample: &ProfiledSample<'_>| {
        let spans = sample.spans.iter();
        spans.map(|span| span.instructions).collect_vec()
    };
    let alone = samples.iter().filter(is_alone);
    let mut cells_by_scenario = BTreeMap::new();
    for ((scenario, ..), own) in &alone.chunk_by(key) {
        let counts = own.map(instructions).collect_vec();
        if counts.len() > 1 {
            let [all, different] = cells_by_scenario.entry(scenario).or_insert([0, 0]);
            *all += 1;
            *different += usize::from(!counts.iter().all_equal());
        }
    }
    let mut scenarios = cells_by_scenario.into_iter();
    let (scenario, _) =
        scenarios.find(|(_, [total, difference_count])| 2 * difference_count > *total)?;
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
    let ids: BTreeSet<u32> = calls.iter().map(|call| call.cpu).collect();
    if ids.len() != run.cpus.len() {
        bail!(
            "the record contains calls from {} CPUs, but the run has {}; a profile needs a \
             PSCI call with timestamps from each CPU: add a scenario from the suite",
            ids.len(),
            run.cpus.len()
        );
    }
    for (cpu, id) in (0u16..).zip(ids) {
        // Search backwards, because warm-up calls come before samples. Calls with the same
        // instruction counts in all phases are interchangeable.
        let mut own_calls = calls.iter().rev().filter(|call| call.cpu == id);
        let own_samples = samples.iter_mut().rev();
        for sample in own_samples.filter(|sample| sample.cpu == cpu.into()) {
            sample.call = own_calls.find(|call| is_of(call, &sample.spans));
            if sample.call.is_none() {
                let spans = sample.spans.iter();
                let ticks = spans.map(|span| format!("{} {}", span.phase.name, span.instructions));
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
    use report::synthetic_run;

    use super::*;

    #[test]
    fn samples_of_real_time_differ_and_those_of_instructions_do_not() {
        let run = synthetic_run::run();
        let mut samples = read(&run, 16);
        let serial = Some(ScenarioId::CPU_SUSPEND_SERIAL);
        assert_eq!(varying(&samples, &run), serial);
        let mut single = read(&run, 16);
        single.dedup_by_key(|sample| (sample.scenario, sample.cpu));
        assert_eq!(varying(&single, &run), None);
        for sample in &mut samples {
            for span in &mut sample.spans {
                span.instructions = 7;
            }
        }
        assert_eq!(varying(&samples, &run), None);
    }
}
