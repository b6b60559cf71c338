//! A profile: the instructions executed in timed calls, by scenario, phase, CPU and stack.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use host::hex::hex;
use itertools::Itertools as _;
use report::log::LoggedRun;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use suite::model::{CellStep, Scenario, Verdict};
use suite::plan::{ActiveCpus, Axis, Method, Variant};

use super::event::{Event, EventCounts};

/// The upper bound on the numbers in a valid profile. A million such numbers can be added without
/// overflow.
const NUMBER_MAX: u64 = 1 << 44;
/// The version of the JSON format and of the rules for attributing calls.
const FORMAT: u32 = 3;

/// The name of the phase between the warm entry point and the first timestamp after it. PMF does
/// not measure this phase, so a log's profile lacks it.
pub const RESET: &str = "reset";

/// The stack in a phase without any events.
const NO_STACK: &str = "(none)";

/// A run's profile. One from [`Self::from_json`] has phases with unique names, and its numbers can
/// be added without overflow. That it belongs to the log next to it is checked only when the two
/// are read together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Profile {
    format: u32,
    /// The board name.
    pub board: String,
    /// The firmware's version.
    pub firmware: String,
    /// The machine, the firmware variant and the boot arguments; empty in a log's profile.
    pub conditions: String,
    /// SHA-256 of the run's log.
    pub log: String,
    /// Sentences about what the figures do not include.
    pub notes: Vec<String>,
    /// The event that is counted; None for instructions.
    #[serde(skip)]
    pub unit: Option<Event>,
    /// The phases of each CPU's calls, ordered by scenario, CPU and time.
    pub phases: Vec<ProfilePhase>,
    /// The number of calls without a power-down in the entire run, by the instructions from the
    /// entry into the firmware to the return. Empty in a log's profile.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub whole_calls: BTreeMap<u64, u64>,
}

/// One phase, across all sampled calls in a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfilePhase {
    /// The scenario's short tag, its method (unless it is TFTF's), and its helper.
    pub scenario: String,
    /// The phase name.
    pub name: String,
    /// The CPU's label; empty for all CPUs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cpu: String,
    /// The number of calls.
    pub samples: u64,
    /// The instructions executed by all CPUs: PMF's ticks.
    pub elapsed: u64,
    /// The CPU's own instructions, by stack. A stack is a list of functions, outermost first,
    /// separated by semicolons. Empty in a log's profile, which has only ticks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stacks: BTreeMap<String, Cost>,
}

/// A function's instructions and calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Instructions in the function itself.
    pub instructions: u64,
    /// How many times the function was entered.
    pub calls: u64,
    /// Events in the function itself.
    #[serde(default, skip_serializing_if = "EventCounts::is_empty")]
    pub events: EventCounts,
}

impl Cost {
    /// Returns true if the function was not entered and executed nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.instructions == 0 && self.calls == 0 && self.events.is_empty()
    }

    /// Adds another cost.
    #[inline]
    pub fn add(&mut self, other: Self) {
        self.instructions += other.instructions;
        self.calls += other.calls;
        self.events += other.events;
    }
}

/// The mean number of instructions per call in a phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PhaseFigure {
    /// The CPU's own instructions; None in a log's profile, which has only ticks.
    pub own: Option<f64>,
    /// The instructions executed by all CPUs: PMF's ticks.
    pub all: f64,
}

impl PhaseFigure {
    /// Returns the number of instructions that other CPUs execute at the same time.
    pub fn waiting(self) -> Option<f64> {
        self.own.map(|own_cost| self.all - own_cost)
    }
}

impl ProfilePhase {
    /// Returns the figure name, `SCENARIO:PHASE`, without spaces.
    pub fn figure_name(&self) -> String {
        format!("{}:{}", self.scenario, self.name.replace(' ', "-"))
    }

    /// Returns true if the phase has the same scenario and name.
    pub fn is_like(&self, other: &Self) -> bool {
        (&self.scenario, &self.name) == (&other.scenario, &other.name)
    }

    /// Returns the phase in `phases` that has the same scenario and name.
    pub(super) fn find_in<'p>(&self, phases: &'p [Self]) -> Option<&'p Self> {
        phases.iter().find(|phase| phase.is_like(self))
    }

    /// Returns the mean number of instructions per call.
    pub fn figure(&self) -> PhaseFigure {
        PhaseFigure {
            own: (!self.stacks.is_empty()).then(|| self.mean(self.own())),
            all: self.mean(self.elapsed),
        }
    }

    /// Returns the CPU's own instructions.
    pub fn own(&self) -> u64 {
        self.stacks.values().map(|cost| cost.instructions).sum()
    }

    /// Returns the CPU's own events.
    pub fn events(&self) -> EventCounts {
        let mut sum = EventCounts::default();
        for cost in self.stacks.values() {
            sum += cost.events;
        }
        sum
    }

    /// Returns the mean of `sum` per call.
    pub fn mean(&self, sum: u64) -> f64 {
        sum as f64 / self.samples.max(1) as f64
    }

    /// Returns the cost of each function by name, excluding the functions that it calls.
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
        let calls_by_caller = self.stacks.iter().filter_map(|(stack, cost)| {
            let caller_stack = stack.strip_suffix(function)?.strip_suffix(';')?;
            Some((caller_stack.rsplit(';').next()?, cost.calls))
        });
        let (caller, _) = calls_by_caller
            .into_grouping_map()
            .sum()
            .into_iter()
            .max_by_key(|(caller, calls)| (*calls, Reverse(*caller)))?;
        Some(caller)
    }
}

impl Profile {
    /// Returns a profile of `logged` that has no phases yet. `log` is the SHA-256 of the run's log.
    pub fn new(logged: &LoggedRun, log: String) -> Self {
        let firmware = logged.firmware_version().unwrap_or("unknown firmware");
        Self {
            format: FORMAT,
            board: logged.board().unwrap_or("unknown board").to_owned(),
            firmware: firmware.to_owned(),
            conditions: String::new(),
            log,
            notes: notes(logged),
            unit: None,
            phases: Vec::new(),
            whole_calls: BTreeMap::new(),
        }
    }

    /// Merges the phase into the one with the same names, or appends it if there is no match.
    pub fn add(&mut self, phase: ProfilePhase) {
        add(&mut self.phases, phase);
    }

    /// Returns false for a log's profile.
    pub fn has_functions(&self) -> bool {
        self.phases.iter().any(|phase| !phase.stacks.is_empty())
    }

    /// Returns the phases summed over all CPUs.
    pub fn merged(&self) -> Vec<ProfilePhase> {
        let mut merged = Vec::new();
        for phase in &self.phases {
            let mut all_cpus = phase.clone();
            all_cpus.cpu.clear();
            add(&mut merged, all_cpus);
        }
        merged
    }

    /// Returns a profile that counts an event instead of instructions. Other CPUs' events do not
    /// count. In a phase without the event, the only stack is `(none)`.
    ///
    /// # Errors
    /// Returns an error for a log's profile.
    pub fn count_event(&self, event: Event) -> Result<Self> {
        if !self.has_functions() {
            bail!("a log has no events; use a profile");
        }
        let mut counted = self.clone();
        counted.unit = Some(event);
        for phase in &mut counted.phases {
            phase.stacks.retain(|_, cost| cost.events[event] > 0);
            for cost in phase.stacks.values_mut() {
                cost.instructions = cost.events[event];
            }
            phase.elapsed = phase.own();
            if phase.stacks.is_empty() {
                phase.stacks.insert(NO_STACK.to_owned(), Cost::default());
            }
        }
        Ok(counted)
    }

    /// Reads a profile in JSON format.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let profile: Self =
            serde_json::from_slice(text).context("not a profile written with `--format json`")?;
        if profile.format != FORMAT {
            let format = profile.format;
            bail!("the profile has format {format}, but this version reads format {FORMAT}");
        }
        let phases = &profile.phases;
        let mut names = phases
            .iter()
            .map(|phase| (&phase.scenario, &phase.name, &phase.cpu));
        if phases.is_empty() || !phases.iter().all(has_possible_numbers) || !names.all_unique() {
            bail!("the profile is damaged: no phases, a repeated phase, or impossible numbers");
        }
        Ok(profile)
    }
}

/// Returns true if a phase has samples, and its numbers can be added without overflow.
fn has_possible_numbers(phase: &ProfilePhase) -> bool {
    let is_possible = |number: u64| number < NUMBER_MAX;
    let are_possible = |cost: &Cost| {
        is_possible(cost.instructions)
            && is_possible(cost.calls)
            && cost.events.iter().all(|(_, count)| is_possible(count))
    };
    phase.samples > 0
        && is_possible(phase.samples)
        && is_possible(phase.elapsed)
        && phase.stacks.values().all(are_possible)
}

/// Returns sentences about what a run's figures do not include.
fn notes(logged: &LoggedRun) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(closing) = &logged.closing
        && closing.verdict != Verdict::Pass
    {
        notes.push(format!("the run did not pass: {}", closing.line));
    }
    let scenarios = logged.run.scenarios.iter();
    let left_out = scenarios
        .filter(|scenario| scenario.cells.iter().all(|cell| cell.samples.is_empty()))
        .map(name_of)
        .join(", ");
    if !left_out.is_empty() {
        notes.push(format!(
            "not shown here, because PMF's timestamps are missing: {left_out}"
        ));
    }
    notes
}

/// Merges the phase into the one in `sums` with the same names, or appends it if there is no
/// match.
fn add(sums: &mut Vec<ProfilePhase>, phase: ProfilePhase) {
    let same_names = sums
        .iter_mut()
        .find(|sum| sum.is_like(&phase) && sum.cpu == phase.cpu);
    let Some(sum) = same_names else {
        return sums.push(phase);
    };
    sum.samples += phase.samples;
    sum.elapsed += phase.elapsed;
    for (stack, cost) in phase.stacks {
        sum.stacks.entry(stack).or_default().add(cost);
    }
}

/// Returns a name that is unique within the run.
pub fn name_of(scenario: &Scenario) -> String {
    let mut name = scenario.id.short_tag().to_owned();
    if scenario.method != Method::Tftf {
        name += &format!("/{}", scenario.method.word());
    }
    if let Some(helper) = scenario.helper {
        name += &format!("/helper-{helper}");
    }
    name
}

/// Returns the name of a step, which is unique within its scenario, or an empty string if the
/// scenario is not divided into steps.
pub fn step_name(scenario: &Scenario, step: &CellStep) -> String {
    let variant = match step.variant {
        Variant::PLAIN => String::new(),
        variant => format!("/{}", variant.word()),
    };
    let cpus = match (step.cpus, step.variant) {
        (ActiveCpus::Alone, _) | (ActiveCpus::All, Variant::PARALLEL | Variant::OS_INITIATED) => "",
        (ActiveCpus::All, _) => "/all",
        (ActiveCpus::Near, _) => "/near",
        (ActiveCpus::Far, _) => "/far",
    };
    let has_names = scenario.id.axis().is_some_and(Axis::has_names);
    let value = match step.value {
        Some(value) if has_names => format!("/{value:#010x}"),
        Some(value) => format!("/{value}"),
        None => String::new(),
    };
    format!("{variant}{cpus}{value}")
}

/// Returns the SHA-256 that a profile uses to identify its log.
pub fn log_hash(log: &[u8]) -> String {
    hex(&Sha256::digest(log))
}

#[cfg(test)]
impl Profile {
    /// Returns a profile with two samples per phase. Each tuple is a scenario, a phase, the sum of
    /// the CPU's own instructions, and the sum of all CPUs' instructions.
    pub(crate) fn synthetic(phases: &[(&str, &str, u64, u64)]) -> Self {
        let phase = |(scenario, name, own_count, elapsed): &(&str, &str, u64, u64)| ProfilePhase {
            scenario: (*scenario).to_owned(),
            name: (*name).to_owned(),
            samples: 2,
            elapsed: *elapsed,
            stacks: BTreeMap::from([(
                "f".to_owned(),
                Cost {
                    instructions: *own_count,
                    calls: 2,
                    events: EventCounts::default(),
                },
            )]),
            ..ProfilePhase::default()
        };
        Self {
            format: FORMAT,
            board: String::new(),
            firmware: String::new(),
            conditions: String::new(),
            log: String::new(),
            notes: Vec::new(),
            unit: None,
            phases: phases.iter().map(phase).collect(),
            whole_calls: BTreeMap::new(),
        }
    }
}
