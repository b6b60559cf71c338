//! Builds a profile from a run's samples.

use std::collections::BTreeMap;
use std::io::Read;

use anyhow::{Result, bail};
use hardware::spec::pmf::Stamp;
use itertools::Itertools as _;
use report::log::LoggedRun;

use crate::attribution::calls::{Builder, Call};
use crate::attribution::code::Code;
use crate::attribution::memory_events::MemoryEvents;
use crate::attribution::record;
use crate::attribution::samples::{self, ProfiledSample};
use crate::profile::profile::{Cost, Profile, ProfilePhase, RESET, name_of, step_name};

/// Attributes the calls in `logged`, using the plugin's record and the firmware's code. `log` is the
/// SHA-256 of the run's log. An instruction takes `instruction_ns` nanoseconds.
///
/// # Errors
/// Returns an error if the instruction count in any phase of a sample differs from the PMF ticks.
pub fn attribute(
    logged: &LoggedRun,
    log: String,
    record: impl Read,
    code: &Code,
    instruction_ns: u32,
) -> Result<Profile> {
    let cpus = logged.run.cpus.iter();
    // The record identifies a CPU by its lower affinity fields.
    let clusters = cpus.filter_map(|cpu| Some((cpu.mpidr?.number() as u32, cpu.cluster)));
    let mut builder = Builder::new(code, MemoryEvents::new(clusters));
    record::read(record, |block| builder.add_execution(block))?;
    let mut samples = samples::read(&logged.run, instruction_ns);
    samples::find_calls(&mut samples, &logged.run, &builder.calls)?;
    let name = |stack| builder.stacks.name(code, stack);
    let mut profile = attribute_samples(logged, log, &samples, name)?;
    for instructions in builder.calls.iter().filter_map(Call::instructions) {
        *profile.whole_calls.entry(instructions).or_default() += 1;
    }
    Ok(profile)
}

/// Returns the profile of a log that contains all samples. The profile contains only the ticks in
/// each phase. An instruction takes `instruction_ns` nanoseconds.
///
/// # Errors
/// Returns an error if the log was recorded in real time, because its ticks do not count
/// instructions.
pub fn attribute_log(logged: &LoggedRun, log: String, instruction_ns: u32) -> Result<Profile> {
    let samples = samples::read(&logged.run, instruction_ns);
    if let Some(scenario) = samples::varying(&samples, &logged.run) {
        bail!(
            "this log was recorded in real time: in {scenario}, samples from one CPU differ \
             although the instructions are the same; use a log from a run with --icount"
        );
    }
    attribute_samples(logged, log, &samples, |_| String::new())
}

fn attribute_samples(
    logged: &LoggedRun,
    log: String,
    samples: &[ProfiledSample<'_>],
    name: impl Fn(u32) -> String,
) -> Result<Profile> {
    if samples.is_empty() {
        bail!(
            "the log has no samples with PMF timestamps; a profile needs a scenario that \
             suspends CPUs or calls PSCI_VERSION, with records and samples=all"
        );
    }
    let mut profile = Profile::new(logged, log);
    for sample in samples.iter().sorted_by_key(|sample| sample.scenario) {
        let scenario = &logged.run.scenarios[sample.scenario];
        let mut add_phase = |phase_name: &str, elapsed, stacks| {
            profile.add(ProfilePhase {
                scenario: name_of(scenario) + &step_name(scenario, &sample.step),
                name: phase_name.to_owned(),
                cpu: logged.run.label(sample.cpu).to_string(),
                samples: 1,
                elapsed,
                stacks,
            });
        };
        for span in &sample.spans {
            if span.from == Stamp::ExitHwLowPwr
                && let Some((elapsed, costs)) = sample.call.and_then(Call::reset)
            {
                add_phase(RESET, elapsed, name_stacks(costs, &name));
            }
            let calls = sample.call.iter();
            let costs = calls.flat_map(|call| call.costs(span.from, span.to));
            let stacks = name_stacks(costs, &name);
            add_phase(span.phase.name, span.instructions, stacks);
        }
    }
    Ok(profile)
}

/// Adds up the costs of each stack, by the stack's name.
fn name_stacks(
    costs: impl Iterator<Item = (u32, Cost)>,
    name: impl Fn(u32) -> String,
) -> BTreeMap<String, Cost> {
    let mut stacks: BTreeMap<String, Cost> = BTreeMap::new();
    for (stack, cost) in costs {
        stacks.entry(name(stack)).or_default().add(cost);
    }
    stacks
}

#[cfg(test)]
mod tests {
    use report::log::read_bytes;
    use report::synthetic_run;
    use suite::plan::Records;

    use super::*;

    #[test]
    fn log_of_real_time_is_refused_as_a_baseline() {
        let log = synthetic_run::log(&synthetic_run::run(), Records::Once);
        let runs = read_bytes("a.log", log.as_bytes()).expect("a run");
        let error = attribute_log(&runs[0], String::new(), 16).expect_err("refused");
        let expected =
            "this log was recorded in real time: in test_rt_instr_cpu_susp_serial, samples";
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}
