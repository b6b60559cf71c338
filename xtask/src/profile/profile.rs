//! A profile: the instructions of each timed call, by scenario, CPU, phase and stack.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use itertools::Itertools as _;
use psci_bench::model::Scenario;
use psci_bench::plan::Method;
use serde::{Deserialize, Serialize};

use super::calls::{Builder, Cost};
use super::code::Code;
use super::record;
use super::samples::{self, Sample};
use crate::report::log::LoggedRun;

/// The version of the JSON.
const FORMAT: u32 = 1;

/// A profile of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Profile {
    format: u32,
    /// The board's name.
    pub board: String,
    /// The firmware's version.
    pub firmware: String,
    /// SHA-256 of the run's log.
    pub log: String,
    /// The scenarios in the order of time.
    pub scenarios: Vec<ScenarioProfile>,
}

/// The calls of a scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ScenarioProfile {
    /// The scenario's short tag, with its method if that is not TFTF's.
    pub name: String,
    /// The CPUs that have samples, in the board's order.
    pub cpus: Vec<CpuProfile>,
}

/// The calls of a CPU in a scenario.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CpuProfile {
    /// The CPU's label.
    pub label: String,
    /// The number of calls that are samples.
    pub samples: u64,
    /// The phases in the order of time.
    pub phases: Vec<PhaseProfile>,
}

/// A phase of all calls of a CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseProfile {
    /// The phase's name.
    pub name: String,
    /// The instructions of all CPUs: PMF's ticks.
    pub elapsed: u64,
    /// The CPU's own instructions, by stack: functions from the outermost, with semicolons
    /// between. Empty in a profile of a log, which has ticks alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stacks: BTreeMap<String, Cost>,
}

/// A phase of a scenario, over all CPUs.
#[derive(Clone, Debug, Default)]
pub struct Phase {
    /// The number of calls.
    pub samples: u64,
    /// Instructions, as of a CPU.
    pub all: PhaseProfile,
}

impl PhaseProfile {
    fn new(name: &str) -> Self {
        let name = name.to_owned();
        Self {
            name,
            ..Self::default()
        }
    }

    /// Returns the CPU's own instructions.
    pub fn own(&self) -> u64 {
        self.stacks.values().map(|it| it.instructions).sum()
    }

    fn add(&mut self, other: &Self) {
        self.elapsed += other.elapsed;
        for (stack, cost) in &other.stacks {
            self.stacks.entry(stack.clone()).or_default().add(*cost);
        }
    }
}

impl Phase {
    /// Returns the mean of a call.
    pub fn mean(&self, sum: u64) -> f64 {
        sum as f64 / self.samples.max(1) as f64
    }

    /// Returns the mean of a call's own instructions; of a log, of its ticks.
    pub fn figure(&self) -> f64 {
        let own = self.all.own();
        self.mean(if own == 0 { self.all.elapsed } else { own })
    }

    /// Returns the costs of functions without those that they call, by name.
    pub fn functions(&self) -> BTreeMap<&str, Cost> {
        let mut functions: BTreeMap<&str, Cost> = BTreeMap::new();
        for (stack, cost) in &self.all.stacks {
            let function = stack.rsplit(';').next().unwrap_or(stack);
            functions.entry(function).or_default().add(*cost);
        }
        functions
    }

    /// Returns the functions that call `function`, the most frequent first.
    pub fn callers(&self, function: &str) -> Vec<&str> {
        let mut callers: BTreeMap<&str, u64> = BTreeMap::new();
        for (stack, cost) in &self.all.stacks {
            let mut names = stack.rsplit(';');
            if names.next() == Some(function)
                && let Some(caller) = names.next()
            {
                *callers.entry(caller).or_default() += cost.calls;
            }
        }
        let sorted = callers
            .into_iter()
            .sorted_by_key(|it| std::cmp::Reverse(it.1));
        sorted.map(|it| it.0).collect()
    }
}

impl CpuProfile {
    fn new(label: &str) -> Self {
        let label = label.to_owned();
        Self {
            label,
            ..Self::default()
        }
    }
}

impl ScenarioProfile {
    /// Returns the phases over all CPUs, in the order of time.
    pub fn phases(&self) -> Vec<Phase> {
        let mut phases: Vec<Phase> = Vec::new();
        for cpu in &self.cpus {
            for phase in &cpu.phases {
                let new = || Phase {
                    samples: 0,
                    all: PhaseProfile::new(&phase.name),
                };
                let all = entry(&mut phases, |it| it.all.name == phase.name, new);
                all.samples += cpu.samples;
                all.all.add(phase);
            }
        }
        phases
    }
}

impl Profile {
    /// Attributes the calls of `run`, whose log has this SHA-256, by the plugin's record and the
    /// firmware's ELF file.
    ///
    /// # Errors
    /// A phase of a sample whose instructions are not PMF's ticks.
    pub fn attribute(run: &LoggedRun, log: String, record: &[u8], elf: &[u8]) -> Result<Self> {
        let code = Code::read(elf).context("bl31.elf")?;
        let mut builder = Builder::new(&code);
        record::read(record, |block| builder.take(block))?;
        let mut samples = samples::read(&run.run);
        samples::find_calls(&mut samples, &run.run, &builder.calls)?;
        Self::of_samples(run, log, &samples, |it| builder.stacks.name(&code, it))
    }

    /// Returns the profile of a log with all samples: the ticks of each phase alone.
    pub fn of_log(run: &LoggedRun, log: String) -> Result<Self> {
        Self::of_samples(run, log, &samples::read(&run.run), |_| String::new())
    }

    fn of_samples(
        run: &LoggedRun,
        log: String,
        samples: &[Sample<'_>],
        name: impl Fn(u32) -> String,
    ) -> Result<Self> {
        if samples.is_empty() {
            bail!("the log has no sample with PMF's timestamps: run with samples=all");
        }
        let scenarios = run.run.scenarios.iter().map(|it| ScenarioProfile {
            name: name_of(it),
            cpus: Vec::new(),
        });
        let mut scenarios: Vec<ScenarioProfile> = scenarios.collect();
        for sample in samples {
            let label = run.run.label(sample.cpu).to_string();
            let cpus = &mut scenarios[sample.scenario].cpus;
            let cpu = entry(cpus, |it| it.label == label, || CpuProfile::new(&label));
            cpu.samples += 1;
            for span in &sample.spans {
                let name_is = |it: &PhaseProfile| it.name == span.phase.name;
                let new = || PhaseProfile::new(span.phase.name);
                let phase = entry(&mut cpu.phases, name_is, new);
                phase.elapsed += span.ticks;
                let costs = sample
                    .call
                    .iter()
                    .flat_map(|it| it.costs(span.from, span.to));
                for (stack, cost) in costs {
                    phase.stacks.entry(name(stack)).or_default().add(cost);
                }
            }
        }
        scenarios.retain(|it| !it.cpus.is_empty());
        let stage = run.firmware.iter().rev().find_map(|it| it.version.clone());
        Ok(Self {
            format: FORMAT,
            board: run.board().unwrap_or("unknown board").to_owned(),
            firmware: stage.unwrap_or_else(|| "unknown firmware".to_owned()),
            log,
            scenarios,
        })
    }

    /// Reads what was written as JSON.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let profile: Self =
            serde_json::from_slice(text).context("no profile of `--format json`")?;
        if profile.format != FORMAT {
            let format = profile.format;
            bail!("a profile of format {format}, and this version reads format {FORMAT}");
        }
        Ok(profile)
    }
}

/// Returns the first of `all` for which `is_it` is true, after adding a new one where there is
/// none.
fn entry<T>(all: &mut Vec<T>, is_it: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> &mut T {
    let place = all.iter().position(is_it).unwrap_or_else(|| {
        all.push(new());
        all.len() - 1
    });
    &mut all[place]
}

/// Returns a name that no other scenario of the run has.
fn name_of(scenario: &Scenario) -> String {
    let tag = scenario.id.short_tag().to_owned();
    let method = Some(scenario.method).filter(|it| *it != Method::Tftf);
    let method = method.map(|it| format!("/{}", it.word()));
    let helper = scenario.helper.map(|it| format!("/helper-{it}"));
    tag + &method.unwrap_or_default() + &helper.unwrap_or_default()
}
