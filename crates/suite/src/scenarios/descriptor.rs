//! What every scenario states about itself.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use hardware::text::plural::Many;

use crate::bench::loops::{self, Loops};
use crate::bench::{Request, steps, tftf_suite};
use crate::measure::Metric;
use crate::model::{Run, Scenario};
use crate::plan::{ActiveCpus, Axis, Group, Key, NotCounted, RunSize, UsedStates, Variant, Work};

/// The only definition of a scenario: what identifies it, how its results are shown, and the code
/// that measures it. No other code distinguishes scenarios, except by these fields.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// The tag, used in boot arguments, records and `RT_INSTR` lines.
    pub tag: &'static str,
    /// The name, used in headings.
    pub name: &'static str,
    /// The keyword that selects the scenario together with others.
    pub group: Group,
    /// True if `only=all` includes the scenario.
    pub is_in_all: bool,
    /// What the scenario does in a board's first run, as a clause about one CPU, "it"; None if it is
    /// not part of that run.
    pub first_step: Option<&'static str>,
    /// True if the scenario powers CPUs off with either method.
    pub needs_cpu_off: bool,
    /// The boot arguments that change how the scenario is measured. The header prints these.
    pub arguments: &'static [&'static [Key]],
    /// The arguments that must be equal for two results to be comparable.
    pub compared: &'static [Key],
    /// The CPUs that a suite scenario measures at the same time.
    pub cpus: ActiveCpus,
    /// The idle states that CPUs enter, all of which are tried first.
    pub states: UsedStates,
    /// The figures in `RT_INSTR` lines, in column order; none outside TFTF's suite.
    pub columns: &'static [Metric],
    /// The quantity that the scenario's steps vary; None if there is at most one step.
    pub axis: Option<Axis>,
    /// What the scenario's steps do, in table order, except for loops.
    pub variants: &'static [Variant],
    /// The functions that the scenario's variants call warm and cold.
    pub cold_calls: &'static [ColdVariants],
    /// The loops, if the scenario consists of loops.
    pub loops: Option<&'static Loops>,
    /// How attempts that do not count are shown.
    pub not_counted: NotCounted,
    /// The maximum number of cells or checks in a run, unless the scenario consists of loops.
    pub cells: fn(&RunSize<'_>) -> usize,
    /// The heap that the scenario needs for this number of cells, in bytes.
    pub heap: fn(&RunSize<'_>, usize) -> usize,
    /// What a run of the scenario with this number of cells consists of.
    pub work: fn(&RunSize<'_>, usize) -> Work,
    /// Returns the text below the tables of a scenario outside TFTF's suite.
    pub explanation: fn(&Run, &Scenario) -> String,
    /// Measures the scenario, once for each helper placement.
    ///
    /// # Errors
    /// Returns an error if output cannot be written.
    pub measure: fn(Request<'_>) -> Result<Vec<Scenario>, fmt::Error>,
}

/// The arguments of scenarios whose samples come from rounds like those of TFTF's suite.
pub(super) const ROUNDS: &[Key] = &[
    Key::Iterations,
    Key::Warmup,
    Key::Method,
    Key::Wake,
    Key::Sleep,
    Key::Helper,
    Key::CpuOnAfter,
];

/// A firmware function, and the variants that call it under different conditions.
#[derive(Clone, Copy, Debug)]
pub struct ColdVariants {
    /// The name, at the start of a sentence.
    pub function: &'static str,
    /// Calls it again and again.
    pub warm: Variant,
    /// Calls it without the caller's cache lines.
    pub evicted: Variant,
    /// Calls it first after a wake-up.
    pub woken: Variant,
}

impl Descriptor {
    /// The defaults for a scenario in TFTF's suite.
    pub(super) const SUITE: Self = Self {
        tag: "",
        name: "",
        group: Group::Suite,
        is_in_all: true,
        first_step: None,
        needs_cpu_off: false,
        arguments: &[ROUNDS],
        compared: &[],
        cpus: ActiveCpus::Alone,
        states: UsedStates::None,
        columns: &[Metric::Powerdown, Metric::Wakeup, Metric::CacheFlush],
        axis: None,
        variants: &[Variant::PLAIN],
        cold_calls: &[],
        loops: None,
        not_counted: NotCounted::ByReason,
        cells: |size| size.cpus,
        heap: |size, _| tftf_suite::heap(size, 1),
        work: |size, cells| Work {
            samples: size.rounds() * (size.plan.methods.iter().count() * cells) as u64,
            ..Work::default()
        },
        explanation: |_, _| String::new(),
        measure: tftf_suite::measure,
    };

    /// The defaults for a scenario whose steps are measured like a scenario in TFTF's suite.
    pub(super) const STEPS: Self = Self {
        group: Group::None,
        columns: &[],
        heap: steps::heap,
        work: |size, cells| Work {
            samples: size.rounds() * cells as u64,
            ..Work::default()
        },
        explanation: requested,
        ..Self::SUITE
    };

    /// The defaults for a scenario that repeats operations in a loop, on each CPU alone and on all
    /// CPUs at once.
    pub(super) const LOOP: Self = Self {
        group: Group::Micro,
        arguments: &[&[Key::Loops, Key::Batch, Key::Warmup]],
        compared: &[],
        variants: &[],
        not_counted: NotCounted::Column("Not Counted"),
        heap: loops::heap,
        work: loops::work,
        explanation: loops::explanation,
        measure: loops::measure,
        ..Self::STEPS
    };
}

/// Returns the sentence about the number of samples that were requested.
pub(crate) fn requested(_: &Run, scenario: &Scenario) -> String {
    let samples = Many(scenario.requested_samples().into(), "sample");
    alloc::format!("{samples} per CPU requested. ")
}
