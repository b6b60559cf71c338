//! Builds a profile from a run's samples.

use std::collections::BTreeMap;
use std::io::Read;

use anyhow::{Context, Result, bail};
use itertools::Itertools as _;
use report::log::LoggedRun;
use report::profile::profile::{Cost, Profile, ProfilePhase, name_of, step_name};

use super::calls::Builder;
use super::code::Code;
use super::record;
use super::samples::{self, ProfiledSample};

/// Attributes the calls in `run`, using the plugin's record and the firmware ELF file. `log` is the
/// SHA-256 of the run's log.
///
/// # Errors
/// Returns an error if the instruction count in any phase of a sample differs from the PMF ticks.
pub fn attribute(run: &LoggedRun, log: String, record: impl Read, elf: &[u8]) -> Result<Profile> {
    let code = Code::read(elf).context("bl31.elf")?;
    let mut builder = Builder::new(&code);
    record::read(record, |block| builder.take(block))?;
    let mut samples = samples::read(&run.run);
    samples::find_calls(&mut samples, &run.run, &builder.calls)?;
    of_samples(run, log, &samples, |it| builder.stacks.name(&code, it))
}

/// Returns the profile of a log that contains all samples. The profile contains only the ticks in
/// each phase.
///
/// # Errors
/// Returns an error if the log was recorded in real time, because its ticks do not count
/// instructions.
pub fn of_log(run: &LoggedRun, log: String) -> Result<Profile> {
    let samples = samples::read(&run.run);
    if let Some(scenario) = samples::varying(&samples, &run.run) {
        bail!(
            "this log was recorded in real time: in {scenario}, samples from one CPU differ \
             although the instructions are the same; use a log from a run with --icount"
        );
    }
    of_samples(run, log, &samples, |_| String::new())
}

fn of_samples(
    run: &LoggedRun,
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
    let mut profile = Profile::new(run, log);
    let in_time = samples.iter().sorted_by_key(|it| it.scenario);
    for (sample, span) in in_time.flat_map(|it| it.spans.iter().map(move |span| (it, span))) {
        let costs = sample
            .call
            .iter()
            .flat_map(|it| it.costs(span.from, span.to));
        let mut stacks = BTreeMap::new();
        costs.for_each(|(it, cost)| stacks.entry(name(it)).or_insert(Cost::default()).add(cost));
        let scenario = &run.run.scenarios[sample.scenario];
        profile.add(ProfilePhase {
            scenario: name_of(scenario) + &step_name(scenario, &sample.step),
            name: span.phase.name.to_owned(),
            cpu: run.run.label(sample.cpu).to_string(),
            samples: 1,
            elapsed: span.instructions,
            stacks,
        });
    }
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use report::log::read_bytes;
    use report::made_up_run;
    use run::plan::Records;

    use super::*;

    #[test]
    fn log_of_real_time_is_refused_as_a_baseline() {
        let log = made_up_run::log(&made_up_run::run(), Records::Once);
        let runs = read_bytes("a.log", log.as_bytes()).expect("a run");
        let error = of_log(&runs[0], String::new()).expect_err("refused");
        let said = "this log was recorded in real time: in test_rt_instr_cpu_susp_serial, samples";
        assert!(error.to_string().starts_with(said), "{error}");
    }
}
