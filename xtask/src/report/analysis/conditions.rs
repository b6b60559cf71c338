//! The conditions that two runs, or one scenario of each, may have to share.

use psci_bench::model::new::{Conditions, Scenario};
use psci_bench::plan::{Plan, ScenarioId};

use super::figure::has_figure;
use crate::report::log::logged_run::LoggedRun;
use crate::setup::plural::many;

/// A difference that a comparison passes over if it is asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Across {
    /// Scenarios by different methods.
    Methods,
    /// Scenarios with different `power_state`s.
    States,
    /// Scenarios with different wake-up patterns or sources.
    Wakes,
    /// Boards with different names.
    Boards,
    /// A run with fewer scenarios than the baseline.
    Scenarios,
    /// A run with fewer CPUs, or figures of them, than the baseline.
    Cpus,
}

impl Across {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Methods,
        Self::States,
        Self::Wakes,
        Self::Boards,
        Self::Scenarios,
        Self::Cpus,
    ];

    /// Returns the word that asks for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Methods => "methods",
            Self::States => "states",
            Self::Wakes => "wakes",
            Self::Boards => "boards",
            Self::Scenarios => "scenarios",
            Self::Cpus => "cpus",
        }
    }
}

/// The use of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Figures are not compared if both values are known and differ.
    Compare,
    /// A comparison names the difference if both values are known.
    Note,
    /// Runs are not merged if the values differ; an unknown one differs.
    Merge,
    /// Runs are not merged if both values are known and differ.
    MergeIfKnown,
    /// The cost of instrumentation is not computed if the values differ; an unknown
    /// one differs.
    Overhead,
}

/// One side of two: a run and, for its conditions, a scenario.
#[derive(Clone, Copy)]
pub(super) struct Side<'r> {
    pub(super) run: &'r LoggedRun,
    pub(super) scenario: Option<&'r Scenario>,
}

impl<'r> Side<'r> {
    fn conditions(self) -> Option<&'r Conditions> {
        self.scenario?.conditions.as_ref()
    }

    /// Returns the plan of a scenario in which timers expire.
    fn timer_plan(self) -> Option<&'r Plan> {
        let plan = self.run.run.plan.as_ref();
        plan.filter(|_| {
            self.scenario
                .is_some_and(|it| it.id == ScenarioId::TimerLatency)
        })
    }
}

/// A condition.
pub(super) struct Condition {
    name: &'static str,
    /// Returns the value; None if it is unknown or means nothing here.
    value: fn(Side<'_>) -> Option<String>,
    purposes: &'static [Purpose],
    across: Option<Across>,
}

use Purpose::{Compare, Merge, MergeIfKnown, Note, Overhead};

const fn condition(
    name: &'static str,
    value: fn(Side<'_>) -> Option<String>,
    purposes: &'static [Purpose],
    across: Option<Across>,
) -> Condition {
    Condition {
        name,
        value,
        purposes,
        across,
    }
}

/// Conditions of whole runs.
pub(super) const OF_RUN: [Condition; 11] = [
    condition(
        "the board",
        |it| Some(it.run.run.head.as_ref()?.model.clone()),
        &[Compare, Note, Merge, Overhead],
        Some(Across::Boards),
    ),
    condition(
        "the payload",
        |it| Some(it.run.run.head.as_ref()?.version.clone()),
        &[Note],
        None,
    ),
    condition(
        "the counter",
        |it| Some(it.run.run.facts.as_ref()?.counter.to_string()),
        &[Overhead],
        None,
    ),
    condition(
        "the counter's frequency in Hz",
        |it| Some(it.run.run.facts.as_ref()?.frequency.to_string()).filter(|hz| hz != "0"),
        &[Note, Merge, Overhead],
        None,
    ),
    condition(
        "the number of CPUs",
        |it| Some(it.run.run.cpus.len().to_string()),
        &[Note],
        None,
    ),
    condition("the list of CPUs", list_of_cpus, &[Merge], None),
    condition(
        "the firmware",
        |it| it.run.firmware_version().map(str::to_owned),
        &[Merge],
        None,
    ),
    condition(
        "the exception level",
        |it| Some(it.run.run.facts.as_ref()?.exception_level.to_string()),
        &[Note, Merge],
        None,
    ),
    condition("the method", methods, &[Merge], None),
    condition(
        "the count of samples asked for",
        |it| Some(it.run.run.plan.as_ref()?.iterations.to_string()),
        &[Note],
        None,
    ),
    condition("the wake-up pattern", wake_patterns, &[Note], None),
];

/// Conditions of a scenario.
pub(super) const OF_SCENARIO: [Condition; 8] = [
    condition(
        "the method",
        |it| Some(it.scenario?.method.word().to_owned()),
        &[Compare],
        Some(Across::Methods),
    ),
    condition(
        "power_state",
        |it| Some(format!("{:#010x}", it.conditions()?.power_state?)),
        &[Compare, Merge],
        Some(Across::States),
    ),
    condition(
        "the wake-up pattern",
        wake_pattern,
        &[Compare, Merge],
        Some(Across::Wakes),
    ),
    condition(
        "the wake-up source",
        wake_source,
        &[Compare],
        Some(Across::Wakes),
    ),
    condition(
        "the source of the figures",
        |it| {
            Some(
                if it.conditions()?.pmf {
                    "PMF"
                } else {
                    "the caller"
                }
                .to_owned(),
            )
        },
        &[Compare, MergeIfKnown],
        None,
    ),
    condition(
        "period=",
        |it| Some(format!("{} us", it.timer_plan()?.timer.period)),
        &[Compare, Merge],
        None,
    ),
    condition(
        "footprint=",
        |it| Some(format!("{} bytes", it.timer_plan()?.timer.footprint)),
        &[Compare, Merge],
        None,
    ),
    condition(
        "batch=",
        |it| Some(many(it.scenario?.points.first()?.per as usize, "operation")),
        &[Compare],
        None,
    ),
];

fn list_of_cpus(side: Side<'_>) -> Option<String> {
    let names = side.run.run.cpus.iter().map(|cpu| match cpu.mpidr {
        Some(mpidr) => format!("{mpidr:#x}"),
        None => format!("{}.{}.{}", cpu.cluster, cpu.core, cpu.thread),
    });
    Some(names.collect::<Vec<_>>().join(" "))
}

fn methods(side: Side<'_>) -> Option<String> {
    let scenarios = side.run.run.scenarios.iter();
    let mut methods: Vec<&str> = scenarios.map(|it| it.method.word()).collect();
    methods.sort_unstable();
    methods.dedup();
    Some(methods.join(","))
}

/// Returns the wake-up pattern of each method.
fn wake_patterns(side: Side<'_>) -> Option<String> {
    let plan = side.run.run.plan.as_ref()?;
    let mut patterns: Vec<&str> = plan
        .methods
        .iter()
        .map(|it| plan.wake_by(it).word())
        .collect();
    patterns.dedup();
    Some(patterns.join(","))
}

/// Returns the pattern in which the CPUs of a parallel round of suspends wake up.
fn wake_pattern(side: Side<'_>) -> Option<String> {
    let scenario = side.scenario?;
    let has_one = scenario.id.is_parallel() && scenario.id != ScenarioId::PsciVersionParallel;
    let plan = side.run.run.plan.as_ref().filter(|_| has_one)?;
    Some(plan.wake_by(scenario.method).word().to_owned())
}

/// Names the source of the wake-ups, and the CPU that stayed awake in a parallel
/// scenario.
pub(super) fn wake_source(side: Side<'_>) -> Option<String> {
    let helper = side.scenario?.helper;
    let helper = helper.map(|cpu| format!(" {}", side.run.run.label(cpu)));
    let source = side.conditions()?.wake_source.word();
    Some(format!("{source}{}", helper.unwrap_or_default()))
}

/// A condition that two sides do not share.
#[derive(Debug)]
pub(super) struct Difference {
    /// The condition.
    pub(super) name: &'static str,
    /// Its values.
    pub(super) values: [String; 2],
    /// The wish that passes over it.
    pub(super) across: Option<Across>,
}

/// Returns the differences of two sides that count for a purpose.
pub(super) fn differences(
    conditions: &'static [Condition],
    purpose: Purpose,
    sides: [Side<'_>; 2],
) -> impl Iterator<Item = Difference> {
    let of_purpose = conditions
        .iter()
        .filter(move |it| it.purposes.contains(&purpose));
    of_purpose.filter_map(move |it| {
        let mut values = sides.map(it.value);
        if matches!(purpose, Merge | Overhead) {
            values = values.map(|value| Some(value.unwrap_or_else(|| "not known".to_owned())));
        }
        let [Some(new), Some(old)] = values else {
            return None;
        };
        (new != old).then_some(Difference {
            name: it.name,
            values: [new, old],
            across: it.across,
        })
    })
}

/// Returns the reason why a scenario is not compared with that of the baseline.
pub(super) fn refusal(sides: [Side<'_>; 2], across: &[Across]) -> Option<String> {
    let all = differences(&OF_SCENARIO, Compare, sides);
    let is_passed = |it: &Difference| it.across.is_some_and(|it| across.contains(&it));
    let Difference {
        name,
        values: [new, old],
        across,
    } = { all }.find(|it| !is_passed(it))?;
    let advice = across.map_or_else(String::new, |it| format!(": {}", advice(it, sides)));
    Some(format!(
        "{name} is {new}, and {old} in the baseline{advice}"
    ))
}

/// Names the wish that passes over a difference. No wish makes parallel scenarios
/// of different numbers of rows comparable.
fn advice(across: Across, sides: [Side<'_>; 2]) -> String {
    let counts = sides.map(|it| it.scenario.map_or(0, count_of_rows));
    let is_parallel = sides[0].scenario.is_some_and(|it| it.id.is_parallel());
    if across == Across::Wakes && is_parallel && counts[0] != counts[1] {
        let [rows, before] = counts;
        return format!("no option compares them, as they have {rows} rows against {before}");
    }
    format!("--across {} compares them all the same", across.word())
}

/// Returns the number of rows with a figure.
pub(super) fn count_of_rows(scenario: &Scenario) -> usize {
    let rows = scenario.rows.iter();
    rows.filter(|row| has_figure(scenario, row)).count()
}
