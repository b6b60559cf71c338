//! The conditions that two runs, or one scenario of each, may have to share.

use itertools::Itertools as _;
use psci_bench::model::{Run, Scenario};
use psci_bench::plan::ScenarioId;

use super::figure::has_figure;
use crate::report::log::LoggedRun;
use crate::setup::plural::many;

/// A difference that a comparison passes over if it is asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    Methods,
    States,
    /// Scenarios with different wake-up patterns or sources.
    Wakes,
    Boards,
    /// A run with fewer scenarios than the baseline.
    Scenarios,
    /// A run with fewer CPUs, or figures of them, than the baseline.
    Cpus,
}

impl Across {
    /// All of them, with the words that ask for them.
    pub const ALL: [(Self, &str); 6] = [
        (Self::Methods, "methods"),
        (Self::States, "states"),
        (Self::Wakes, "wakes"),
        (Self::Boards, "boards"),
        (Self::Scenarios, "scenarios"),
        (Self::Cpus, "cpus"),
    ];

    pub(super) const fn word(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// One side of two: a run and, for its conditions, a scenario.
#[derive(Clone, Copy)]
pub(super) struct Side<'r> {
    pub(super) run: &'r LoggedRun,
    pub(super) scenario: Option<&'r Scenario>,
}

impl<'r> Side<'r> {
    pub(super) fn of_runs(runs: [&'r LoggedRun; 2]) -> [Self; 2] {
        let scenario = None;
        runs.map(|run| Self { run, scenario })
    }

    /// Returns the sides of two scenarios, each with its run.
    pub(super) fn of_scenarios(all: [(&'r LoggedRun, &'r Scenario); 2]) -> [Self; 2] {
        all.map(|(run, scenario)| {
            let scenario = Some(scenario);
            Self { run, scenario }
        })
    }
}

/// A condition of a run, or of a scenario.
#[derive(Clone, Copy)]
pub(super) enum Condition {
    Board,
    Payload,
    Counter,
    Frequency,
    CpuCount,
    Cpus,
    Firmware,
    Level,
    Methods,
    Iterations,
    Patterns,
    Method,
    PowerState,
    Pattern,
    WakeSource,
    Source,
    Period,
    Footprint,
    Batch,
}

use Condition::*;

/// The board's condition of a comparison, which differs only if both are known.
pub(super) const COMPARED_RUNS: &[Condition] = &[Board];
/// Conditions that a comparison names if they differ.
pub(super) const NOTED: &[Condition] = &[
    Board, Payload, Frequency, CpuCount, Level, Iterations, Patterns,
];
/// Conditions of merging: an unknown value differs from a known one.
pub(super) const MERGED_RUNS: &[Condition] = &[Board, Frequency, Cpus, Firmware, Level, Methods];
/// Conditions of merging scenarios.
pub(super) const MERGED: &[Condition] = &[PowerState, Pattern, Period, Footprint];
/// Conditions of merging scenarios that differ only if both are known.
pub(super) const MERGED_IF_KNOWN: &[Condition] = &[Source];
/// Conditions of the cost of instrumentation: an unknown value differs from a known
/// one.
pub(super) const OVERHEAD: &[Condition] = &[Board, Counter, Frequency];
/// Conditions of comparing scenarios.
const COMPARED: &[Condition] = &[
    Method, PowerState, Pattern, WakeSource, Source, Period, Footprint, Batch,
];

impl Condition {
    /// Returns the name in sentences.
    pub(super) const fn name(self) -> &'static str {
        self.wording().0
    }

    /// Returns the wish that passes over a difference.
    pub(super) const fn across(self) -> Option<Across> {
        self.wording().1
    }

    const fn wording(self) -> (&'static str, Option<Across>) {
        match self {
            Board => ("the board", Some(Across::Boards)),
            Payload => ("the payload", None),
            Counter => ("the counter", None),
            Frequency => ("the counter's frequency in Hz", None),
            CpuCount => ("the number of CPUs", None),
            Cpus => ("the list of CPUs", None),
            Firmware => ("the firmware", None),
            Level => ("the exception level", None),
            Methods | Method => ("the method", Some(Across::Methods)),
            Iterations => ("the count of samples asked for", None),
            Patterns | Pattern => ("the wake-up pattern", Some(Across::Wakes)),
            PowerState => ("power_state", Some(Across::States)),
            WakeSource => ("the wake-up source", Some(Across::Wakes)),
            Source => ("the source of the figures", None),
            Period => ("period=", None),
            Footprint => ("footprint=", None),
            Batch => ("batch=", None),
        }
    }

    /// Returns the value; None if it is unknown or means nothing here.
    pub(super) fn value(self, side: Side<'_>) -> Option<String> {
        let (facts, plan) = (side.run.run.facts.as_ref(), side.run.run.plan.as_ref());
        let scenario = side.scenario;
        let conditions = || scenario?.conditions.as_ref();
        let is_of_timers = || scenario.is_some_and(|it| it.id == ScenarioId::TimerLatency);
        let timer = || Some(plan.filter(|_| is_of_timers())?.timer);
        Some(match self {
            Board => side.run.board()?.to_owned(),
            Payload => side.run.payload_version()?.to_owned(),
            Counter => facts?.counter.to_string(),
            Frequency => match facts?.frequency {
                0 => return None,
                hz => hz.to_string(),
            },
            CpuCount => side.run.run.cpus.len().to_string(),
            Cpus => list_of_cpus(&side.run.run),
            Firmware => side.run.firmware_version()?.to_owned(),
            Level => side.run.exception_level()?.to_string(),
            Methods => {
                let methods = side.run.run.scenarios.iter().map(|it| it.method.word());
                methods.sorted().dedup().join(",")
            }
            Iterations => plan?.iterations.to_string(),
            Patterns => {
                let plan = plan?;
                let methods = plan.methods.iter();
                methods.map(|it| plan.wake_by(it).word()).join(",")
            }
            Method => scenario?.method.word().to_owned(),
            PowerState => format!("{:#010x}", conditions()?.power_state?),
            Pattern => {
                let (plan, scenario) = (plan?, scenario?);
                let is_version = scenario.id == ScenarioId::PsciVersionParallel;
                let has_one = scenario.id.is_parallel() && !is_version;
                has_one.then(|| plan.wake_by(scenario.method).word().to_owned())?
            }
            // With the CPU that stayed awake in a parallel scenario.
            WakeSource => match (conditions()?.wake_source.word(), scenario?.helper) {
                (source, Some(cpu)) => format!("{source} {}", side.run.run.label(cpu)),
                (source, None) => source.to_owned(),
            },
            Source if conditions()?.pmf => "PMF".to_owned(),
            Source => "the caller".to_owned(),
            Period => format!("{} us", timer()?.period),
            Footprint => format!("{} bytes", timer()?.footprint),
            Batch => many(scenario?.points.first()?.per as usize, "operation"),
        })
    }
}

fn list_of_cpus(run: &Run) -> String {
    let names = run.cpus.iter().map(|cpu| match cpu.mpidr {
        Some(mpidr) => format!("{mpidr:#x}"),
        None => format!("{}.{}.{}", cpu.cluster, cpu.core, cpu.thread),
    });
    { names }.join(" ")
}

/// A condition that two sides do not share, and its values.
pub(super) type Difference = (Condition, [String; 2]);

/// Returns the conditions that differ. A value that one side does not know counts if
/// `is_strict`.
pub(super) fn differences<'c>(
    conditions: &'c [Condition],
    sides: [Side<'c>; 2],
    is_strict: bool,
) -> impl Iterator<Item = Difference> + 'c {
    conditions.iter().filter_map(move |it| {
        let unknown = || is_strict.then(|| "not known".to_owned());
        let [Some(new), Some(old)] = sides.map(|side| it.value(side).or_else(unknown)) else {
            return None;
        };
        (new != old).then_some((*it, [new, old]))
    })
}

/// Returns the reason why a scenario is not compared with that of the baseline.
pub(super) fn refusal(sides: [Side<'_>; 2], across: &[Across]) -> Option<String> {
    let is_refused = |it: &Difference| it.0.across().is_none_or(|it| !across.contains(&it));
    let (condition, [new, old]) = { differences(COMPARED, sides, false) }.find(is_refused)?;
    let counts = sides.map(|it| it.scenario.map_or(0, count_of_rows));
    let is_parallel = sides[0].scenario.is_some_and(|it| it.id.is_parallel());
    let advice = match (condition.across(), counts) {
        (None, _) => String::new(),
        (Some(Across::Wakes), [rows, before]) if is_parallel && rows != before => {
            format!(": no option compares them, as they have {rows} rows against {before}")
        }
        (Some(it), _) => format!(": --across {} compares them all the same", it.word()),
    };
    let name = condition.name();
    Some(format!(
        "{name} is {new}, and {old} in the baseline{advice}"
    ))
}

/// Returns the number of rows with a figure.
pub(super) fn count_of_rows(scenario: &Scenario) -> usize {
    let rows = scenario.rows.iter();
    rows.filter(|row| has_figure(scenario, row)).count()
}
