//! A profile: the instructions of each timed call, by scenario, phase, CPU and stack.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Read;

use anyhow::{Context, Result, bail};
use itertools::Itertools as _;
use run::model::{Scenario, Verdict};
use run::plan::Method;
use serde::{Deserialize, Serialize};

use super::calls::{Builder, Cost};
use super::code::Code;
use super::record;
use super::samples::{self, Sample};
use crate::report::log::LoggedRun;

/// The numbers of a sound profile are less: the sum of a million of them is a number.
const NUMBER_MAX: u64 = 1 << 44;
/// The version of the JSON, and of how calls are attributed.
const FORMAT: u32 = 1;

/// A profile of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Profile {
    format: u32,
    /// The board's name.
    pub board: String,
    /// The firmware's version.
    pub firmware: String,
    /// The machine, the firmware's variant and the boot arguments; empty for a log.
    pub conditions: String,
    /// SHA-256 of the run's log.
    pub log: String,
    /// Sentences about what the figures do not contain.
    pub notes: Vec<String>,
    /// The phases of each CPU's calls, in the order of scenarios, CPUs and time.
    pub phases: Vec<Phase>,
}

/// A phase of all calls of a scenario that are samples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// The scenario's short tag, with its method if that is not TFTF's, and its helper.
    pub scenario: String,
    /// The phase's name.
    pub name: String,
    /// The CPU's label; empty for all CPUs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cpu: String,
    /// The number of calls.
    pub samples: u64,
    /// The instructions of all CPUs: PMF's ticks.
    pub elapsed: u64,
    /// The CPU's own instructions, by stack: functions from the outermost, with semicolons
    /// between. Empty in a profile of a log, which has ticks alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stacks: BTreeMap<String, Cost>,
}

/// The instructions of a mean call in a phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The CPU's own; None in a profile of a log, which has ticks alone.
    pub own: Option<f64>,
    /// Those of all CPUs: PMF's ticks.
    pub all: f64,
}

impl Figure {
    /// Returns what other CPUs execute meanwhile.
    pub fn waiting(self) -> Option<f64> {
        self.own.map(|own| self.all - own)
    }
}

impl Phase {
    /// Returns the name of the figure: `SCENARIO:PHASE`, without blanks.
    pub fn figure_name(&self) -> String {
        format!("{}:{}", self.scenario, self.name.replace(' ', "-"))
    }

    /// Returns true for a phase of the same scenario and name.
    pub fn is_like(&self, other: &Self) -> bool {
        (&self.scenario, &self.name) == (&other.scenario, &other.name)
    }

    /// Returns the instructions of a mean call.
    pub fn figure(&self) -> Figure {
        Figure {
            own: (!self.stacks.is_empty()).then(|| self.mean(self.own())),
            all: self.mean(self.elapsed),
        }
    }

    /// Returns the CPU's own instructions.
    pub fn own(&self) -> u64 {
        self.stacks.values().map(|it| it.instructions).sum()
    }

    /// Returns the mean of a call.
    pub fn mean(&self, sum: u64) -> f64 {
        sum as f64 / self.samples.max(1) as f64
    }

    /// Returns the costs of functions without those that they call, by name.
    pub fn functions(&self) -> BTreeMap<&str, Cost> {
        let mut functions: BTreeMap<&str, Cost> = BTreeMap::new();
        for (stack, cost) in &self.stacks {
            let function = stack.rsplit(';').next().unwrap_or(stack);
            functions.entry(function).or_default().add(*cost);
        }
        functions
    }

    /// Returns the function that calls `function` most often.
    pub fn caller(&self, function: &str) -> Option<&str> {
        let stacks = self.stacks.iter().filter_map(|(stack, cost)| {
            let caller = stack.strip_suffix(function)?.strip_suffix(';')?;
            Some((caller.rsplit(';').next()?, cost.calls))
        });
        let sums = stacks.into_grouping_map().sum();
        let most = sums.into_iter().max_by_key(|it| (it.1, Reverse(it.0)));
        most.map(|it| it.0)
    }
}

impl Profile {
    /// Attributes the calls of `run`, whose log has this SHA-256, by the plugin's record and the
    /// firmware's ELF file.
    ///
    /// # Errors
    /// A phase of a sample whose instructions are not PMF's ticks.
    pub fn attribute(run: &LoggedRun, log: String, record: impl Read, elf: &[u8]) -> Result<Self> {
        let code = Code::read(elf).context("bl31.elf")?;
        let mut builder = Builder::new(&code);
        record::read(record, |block| builder.take(block))?;
        let mut samples = samples::read(&run.run);
        samples::find_calls(&mut samples, &run.run, &builder.calls)?;
        Self::of_samples(run, log, &samples, |it| builder.stacks.name(&code, it))
    }

    /// Returns the profile of a log with all samples: the ticks of each phase alone.
    ///
    /// # Errors
    /// A log of real time, whose ticks are no instructions.
    pub fn of_log(run: &LoggedRun, log: String) -> Result<Self> {
        let samples = samples::read(&run.run);
        if let Some(scenario) = samples::varying(&samples, &run.run) {
            bail!(
                "this is a log of real time: in {scenario}, samples of one CPU differ, which execute \
                 the same instructions: take one of a run with --icount"
            );
        }
        Self::of_samples(run, log, &samples, |_| String::new())
    }

    fn of_samples(
        run: &LoggedRun,
        log: String,
        samples: &[Sample<'_>],
        name: impl Fn(u32) -> String,
    ) -> Result<Self> {
        if samples.is_empty() {
            bail!(
                "the log has no sample with PMF's timestamps: profiles are of the suite's \
                 scenarios, with records and samples=all"
            );
        }
        let stage = run.firmware.iter().rev().find_map(|it| it.version.clone());
        let mut profile = Self {
            format: FORMAT,
            board: run.board().unwrap_or("unknown board").to_owned(),
            firmware: stage.unwrap_or_else(|| "unknown firmware".to_owned()),
            conditions: String::new(),
            log,
            notes: notes(run),
            phases: Vec::new(),
        };
        let in_time = samples.iter().sorted_by_key(|it| it.scenario);
        for (sample, span) in in_time.flat_map(|it| it.spans.iter().map(move |span| (it, span))) {
            let costs = sample
                .call
                .iter()
                .flat_map(|it| it.costs(span.from, span.to));
            let mut stacks = BTreeMap::new();
            costs
                .for_each(|(it, cost)| stacks.entry(name(it)).or_insert(Cost::default()).add(cost));
            let phase = Phase {
                scenario: name_of(&run.run.scenarios[sample.scenario]),
                name: span.phase.name.to_owned(),
                cpu: run.run.label(sample.cpu).to_string(),
                samples: 1,
                elapsed: span.ticks,
                stacks,
            };
            add(&mut profile.phases, phase);
        }
        Ok(profile)
    }

    /// Returns false for a profile of a log.
    pub fn has_functions(&self) -> bool {
        self.phases.iter().any(|it| !it.stacks.is_empty())
    }

    /// Returns the phases over all CPUs.
    pub fn merged(&self) -> Vec<Phase> {
        let mut merged = Vec::new();
        for phase in &self.phases {
            let cpu = String::new();
            add(
                &mut merged,
                Phase {
                    cpu,
                    ..phase.clone()
                },
            );
        }
        merged
    }

    /// Reads what was written as JSON.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let profile: Self =
            serde_json::from_slice(text).context("no profile of `--format json`")?;
        if profile.format != FORMAT {
            let format = profile.format;
            bail!("a profile of format {format}, and this version reads format {FORMAT}");
        }
        let numbers = |it: &Phase| {
            let costs = it
                .stacks
                .values()
                .flat_map(|it| [it.instructions, it.calls]);
            costs
                .chain([it.elapsed, it.samples])
                .all(|it| it < NUMBER_MAX)
                && it.samples > 0
        };
        let mut names = profile
            .phases
            .iter()
            .map(|it| (&it.scenario, &it.name, &it.cpu));
        if profile.phases.is_empty() || !profile.phases.iter().all(numbers) || !names.all_unique() {
            bail!("a damaged profile: no phases, one of them twice, or impossible numbers");
        }
        Ok(profile)
    }
}

/// Returns sentences about what a run's figures do not contain.
fn notes(run: &LoggedRun) -> Vec<String> {
    let lost = run
        .closing
        .as_ref()
        .filter(|it| it.verdict != Verdict::Pass);
    let lost = lost.map(|it| format!("the run did not pass: {}", it.line));
    let is_left_out = |it: &&Scenario| it.rows.iter().all(|row| row.samples.is_empty());
    let left_out = run
        .run
        .scenarios
        .iter()
        .filter(is_left_out)
        .map(name_of)
        .join(", ");
    let left_out = Some(left_out).filter(|it| !it.is_empty());
    let left_out = left_out.map(|it| format!("without PMF's timestamps, and not here: {it}"));
    lost.into_iter().chain(left_out).collect()
}

/// Adds a phase to the one of `all` that has its names, or as a new one.
fn add(all: &mut Vec<Phase>, phase: Phase) {
    let found = all
        .iter_mut()
        .find(|it| it.is_like(&phase) && it.cpu == phase.cpu);
    let Some(sum) = found else {
        return all.push(phase);
    };
    sum.samples += phase.samples;
    sum.elapsed += phase.elapsed;
    for (stack, cost) in phase.stacks {
        sum.stacks.entry(stack).or_default().add(cost);
    }
}

/// Returns a name that no other scenario of the run has.
fn name_of(scenario: &Scenario) -> String {
    let tag = scenario.id.short_tag().to_owned();
    let method = Some(scenario.method).filter(|it| *it != Method::Tftf);
    let method = method.map(|it| format!("/{}", it.word()));
    let helper = scenario.helper.map(|it| format!("/helper-{it}"));
    tag + &method.unwrap_or_default() + &helper.unwrap_or_default()
}

#[cfg(test)]
impl Profile {
    /// Returns a profile of two samples a phase: scenario, phase, the sums of the CPU's own
    /// instructions and of those of all CPUs.
    pub(super) fn made_up(phases: &[(&str, &str, u64, u64)]) -> Self {
        let phase = |(scenario, name, own, elapsed): &(&str, &str, u64, u64)| Phase {
            scenario: (*scenario).to_owned(),
            name: (*name).to_owned(),
            samples: 2,
            elapsed: *elapsed,
            stacks: BTreeMap::from([(
                "f".to_owned(),
                Cost {
                    instructions: *own,
                    calls: 2,
                },
            )]),
            ..Phase::default()
        };
        Self {
            format: FORMAT,
            board: String::new(),
            firmware: String::new(),
            conditions: String::new(),
            log: String::new(),
            notes: Vec::new(),
            phases: phases.iter().map(phase).collect(),
        }
    }
}
