//! Conditions that two runs, or the same scenario in both, may be required to share.

use hardware::text::plural::many;
use itertools::Itertools as _;
use suite::model::{Run, Scenario, ScenarioKey};
use suite::plan::Key;

use super::figure::has_figure;
use crate::log::LoggedRun;

/// A difference that a comparison ignores if requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllowedDifference {
    /// Different methods.
    Methods,
    /// Different power states.
    States,
    /// The scenarios have different wake-up patterns, sources or shortest sleeps.
    Wakes,
    /// Different boards.
    Boards,
    /// The clock of an emulator counts instructions in one run, and is the host's in the other.
    Clocks,
    /// The run has fewer scenarios than the baseline.
    Scenarios,
    /// The run has fewer CPUs than the baseline, or fewer figures for them.
    Cpus,
}

impl AllowedDifference {
    /// The differences between conditions.
    pub const CONDITIONS: [Self; 5] = [
        Self::Methods,
        Self::States,
        Self::Wakes,
        Self::Boards,
        Self::Clocks,
    ];
    /// The parts of the baseline that a run may lack.
    pub const MAY_BE_MISSING: [Self; 2] = [Self::Scenarios, Self::Cpus];

    /// Returns the name used on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Methods => "methods",
            Self::States => "states",
            Self::Wakes => "wakes",
            Self::Boards => "boards",
            Self::Clocks => "clocks",
            Self::Scenarios => "scenarios",
            Self::Cpus => "cpus",
        }
    }

    /// Returns the option that permits this gap.
    pub(super) fn option(self) -> String {
        let name = if Self::MAY_BE_MISSING.contains(&self) {
            "allow-missing"
        } else {
            "across"
        };
        format!("--{name} {}", self.word())
    }
}

/// One side of a comparison: a run and, for a scenario's conditions, the scenario.
pub(super) type ComparedSide<'r> = (&'r LoggedRun, Option<&'r Scenario>);

/// A condition of a run, or of a scenario.
#[derive(Clone, Copy)]
pub(super) struct Condition {
    /// The name used in a sentence.
    pub(super) name: &'static str,
    /// The option that allows this condition to differ.
    pub(super) allowed_difference: Option<AllowedDifference>,
    /// Returns the value; None if it is unknown or does not apply.
    value: fn(ComparedSide<'_>) -> Option<String>,
}

const fn condition(
    name: &'static str,
    allowed_difference: Option<AllowedDifference>,
    value: fn(ComparedSide<'_>) -> Option<String>,
) -> Condition {
    Condition {
        name,
        allowed_difference,
        value,
    }
}

const BOARD: Condition = condition(
    "the board",
    Some(AllowedDifference::Boards),
    |(logged, _)| {
        let name = logged.board()?.to_owned();
        Some(if logged.integrity.tables {
            PLATFORM.to_owned() + &name
        } else {
            name
        })
    },
);
const CLOCK: Condition = condition(
    "the emulator's clock",
    Some(AllowedDifference::Clocks),
    |(logged, _)| {
        Some(match logged.run.plan.as_ref()?.host_cpus? {
            0 => "counting instructions".to_owned(),
            _ if logged.run.shares_host_cpus() => "the host's, on fewer CPUs".to_owned(),
            _ => "the host's".to_owned(),
        })
    },
);
const PAYLOAD: Condition = condition("the payload", None, |(logged, _)| {
    Some(logged.payload_version()?.to_owned())
});
const FREQUENCY: Condition = condition("the counter frequency in Hz", None, |(logged, _)| {
    let hz = logged.run.facts.as_ref()?.frequency;
    (hz > 0).then(|| hz.to_string())
});
const CPU_COUNT: Condition = condition("the number of CPUs", None, |(logged, _)| {
    Some(logged.run.cpus.len().to_string())
});
const CPUS: Condition = condition("the list of CPUs", None, |(logged, _)| {
    Some(list_of_cpus(&logged.run))
});
const FIRMWARE: Condition = condition("the firmware", None, |(logged, _)| {
    Some(logged.firmware_version()?.to_owned())
});
const LEVEL: Condition = condition("the exception level", None, |(logged, _)| {
    Some(logged.exception_level()?.to_string())
});
const METHODS: Condition = condition("the method", None, |(logged, _)| {
    let scenarios = logged.run.scenarios.iter();
    let words = scenarios.map(|scenario| scenario.method.word());
    Some(words.sorted().dedup().join(","))
});
const ITERATIONS: Condition = condition("the requested number of samples", None, |(logged, _)| {
    Some(logged.run.plan.as_ref()?.iterations.to_string())
});
const PATTERNS: Condition = condition("the wake-up pattern", None, |(logged, _)| {
    let plan = logged.run.plan.as_ref()?;
    let methods = plan.methods.iter();
    Some(methods.map(|method| plan.wake_by(method).word()).join(","))
});
const METHOD: Condition = condition(
    "the method",
    Some(AllowedDifference::Methods),
    |(_, scenario)| Some(scenario?.method.word().to_owned()),
);
const POWER_STATE: Condition = condition(
    "power_state",
    Some(AllowedDifference::States),
    |(_, scenario)| {
        let state = scenario?.conditions.as_ref()?.power_state?;
        Some(format!("{state:#010x}"))
    },
);
const PATTERN: Condition = condition(
    "the wake-up pattern",
    Some(AllowedDifference::Wakes),
    |(logged, scenario)| {
        let plan = logged.run.plan.as_ref()?;
        let ScenarioKey { id, method, .. } = scenario?.key();
        let has_pattern = id.is_suite() && id.has_queue();
        has_pattern.then(|| plan.wake_by(method).word().to_owned())
    },
);
/// In a parallel scenario, this condition also covers which CPU stayed awake.
const WAKE_SOURCE: Condition = condition(
    "the wake-up source",
    Some(AllowedDifference::Wakes),
    |(logged, scenario)| {
        let source = scenario?.conditions.as_ref()?.wake_source.word();
        Some(match scenario?.helper {
            Some(cpu) => format!("{source} {}", logged.run.label(cpu)),
            None => source.to_owned(),
        })
    },
);
const SLEEP: Condition = condition(
    "sleep=",
    Some(AllowedDifference::Wakes),
    |(logged, scenario)| {
        scenario?.conditions.as_ref()?.power_state?;
        logged.run.plan.as_ref()?.text(Key::Sleep)
    },
);
const SOURCE: Condition = condition("the source of the figures", None, |(_, scenario)| {
    let pmf = scenario?.conditions.as_ref()?.pmf;
    Some(if pmf { "PMF" } else { "the caller" }.to_owned())
});
const BATCH: Condition = condition("batch=", None, |(_, scenario)| {
    Some(many(
        scenario?.cells.first()?.step.operations as usize,
        "operation",
    ))
});
/// Conditions for comparing runs. An unknown board counts as different from a known one.
pub(super) const COMPARED_RUNS: &[Condition] = &[BOARD];
/// Conditions for comparing runs in which they are known.
pub(super) const COMPARED_IF_KNOWN: &[Condition] = &[CLOCK];
/// Conditions for which a comparison lists differences.
pub(super) const NOTED: &[Condition] = &[
    BOARD, CLOCK, PAYLOAD, FREQUENCY, CPU_COUNT, LEVEL, ITERATIONS, PATTERNS,
];
/// Conditions that must not differ if the difference between two runs is the cost of PMF. An
/// unknown value counts as different from a known one.
pub(super) const PMF_COST_RUNS: &[Condition] = &[BOARD, PAYLOAD, CPUS, FIRMWARE, CLOCK];
/// Conditions for combining runs. An unknown value counts as different from a known one.
pub(super) const COMBINED_RUNS: &[Condition] =
    &[BOARD, FREQUENCY, CPUS, FIRMWARE, LEVEL, METHODS, CLOCK];
/// Conditions for combining scenarios.
pub(super) const COMBINED: &[Condition] = &[POWER_STATE, PATTERN, WAKE_SOURCE, SLEEP, SOURCE];
/// Conditions for comparing scenarios.
pub(super) const COMPARED: &[Condition] = &[
    METHOD,
    POWER_STATE,
    PATTERN,
    WAKE_SOURCE,
    SLEEP,
    SOURCE,
    BATCH,
];

/// Lists the CPUs by MPIDR or, without one, by cluster, core and thread.
fn list_of_cpus(run: &Run) -> String {
    let mut names = run.cpus.iter().map(|cpu| match cpu.mpidr {
        Some(mpidr) => mpidr.to_string(),
        None => format!("{}.{}.{}", cpu.cluster, cpu.core, cpu.thread),
    });
    names.join(" ")
}

/// The prefix of the board name if the tables contain only a platform name.
const PLATFORM: &str = "platform ";

/// Returns true if one name is a platform name and the other is a board of that platform.
fn is_one_board(a: &str, b: &str) -> bool {
    match (a.strip_prefix(PLATFORM), b.strip_prefix(PLATFORM)) {
        (Some(platform), None) => is_of_platform(b, platform),
        (None, Some(platform)) => is_of_platform(a, platform),
        _ => false,
    }
}

/// Returns true if a board name contains the platform name or its title from the board file. Case
/// and punctuation are ignored.
pub fn is_of_platform(name: &str, platform: &str) -> bool {
    let plain = |text: &str| {
        text.to_ascii_lowercase()
            .replace(|letter: char| !letter.is_ascii_alphanumeric(), "")
    };
    let title = boards::load(platform).map_or_else(|_| String::new(), |board| board.title);
    let plain_name = plain(name);
    [platform, &title]
        .map(plain)
        .iter()
        .any(|part| !part.is_empty() && plain_name.contains(part))
}

/// Returns true if several rows without an MPIDR have the same label.
pub(super) fn is_ambiguous(run: &Run) -> bool {
    !run.cpus
        .iter()
        .filter(|cpu| cpu.mpidr.is_none())
        .map(|cpu| (cpu.cluster, cpu.core, cpu.thread))
        .all_unique()
}

/// A condition that differs between the two sides.
pub(super) struct Difference {
    /// The condition's name in a sentence.
    pub(super) name: String,
    /// The option that allows the condition to differ.
    pub(super) allowed_difference: Option<AllowedDifference>,
    /// The values on both sides.
    pub(super) values: [String; 2],
}

/// Returns the conditions that differ. If `is_strict` is true, an unknown value differs from a
/// known one.
pub(super) fn differences<'c>(
    conditions: &'c [Condition],
    sides: [ComparedSide<'c>; 2],
    is_strict: bool,
) -> impl Iterator<Item = Difference> + 'c {
    let differing_conditions = conditions.iter().filter_map(move |condition| {
        let values = differing(sides.map(condition.value), is_strict)?;
        Some(Difference {
            name: condition.name.to_owned(),
            allowed_difference: condition.allowed_difference,
            values,
        })
    });
    differing_conditions.chain(arguments(sides, is_strict))
}

/// Returns the boot arguments that a scenario requires to be equal, but that differ.
fn arguments<'c>(
    sides: [ComparedSide<'c>; 2],
    is_strict: bool,
) -> impl Iterator<Item = Difference> + 'c {
    let (_, scenario) = sides[0];
    let keys = scenario.map_or(&[][..], |scenario| scenario.id.descriptor().compared);
    keys.iter().filter_map(move |key: &Key| {
        let value = |(logged, _): ComparedSide<'_>| logged.run.plan.as_ref()?.text(*key);
        let values = differing(sides.map(value), is_strict)?;
        Some(Difference {
            name: format!("{}=", key.word()),
            allowed_difference: None,
            values,
        })
    })
}

/// Returns both values if they differ.
fn differing(values: [Option<String>; 2], is_strict: bool) -> Option<[String; 2]> {
    let unknown = || is_strict.then(|| "not known".to_owned());
    let [Some(new), Some(old)] = values.map(|value| value.or_else(unknown)) else {
        return None;
    };
    (new != old && !is_one_board(&new, &old)).then_some([new, old])
}

/// Returns the reason why a scenario cannot be compared with the baseline's.
pub(super) fn refusal(
    sides: [ComparedSide<'_>; 2],
    allowed_differences: &[AllowedDifference],
) -> Option<String> {
    let is_refused = |difference: &Difference| {
        let option = difference.allowed_difference;
        option.is_none_or(|option| !allowed_differences.contains(&option))
    };
    let refused = differences(COMPARED, sides, false).find(is_refused)?;
    let option = refused.allowed_difference.map(AllowedDifference::option);
    let advice = option.map_or_else(String::new, |option| format!("; {option} ignores this"));
    let name = refused.name;
    let [new, old] = refused.values;
    Some(format!(
        "{name} is {new}, but {old} in the baseline{advice}"
    ))
}

/// Returns the number of rows that have a figure.
pub(super) fn count_of_rows(scenario: &Scenario) -> usize {
    let cells = scenario.suite_cells().iter();
    cells.filter(|cell| has_figure(scenario, cell)).count()
}

#[cfg(test)]
mod tests {
    use super::is_of_platform;

    #[test]
    fn board_is_of_the_platform_that_its_name_contains() {
        for (board, platform, expected) in [
            ("ARM Juno development board (r2)", "juno", true),
            ("NXP i.MX 8M Plus EVK", "imx8mp", true),
            ("QEMU sbsa-ref", "qemu-sbsa", true),
            ("Raspberry Pi 4 Model B", "rpi4", true),
            ("Marvell MACCHIATObin (8040)", "armada-8k", true),
            ("AMD Zynq UltraScale+ ZCU102", "zynqmp", true),
            ("Raspberry Pi 4", "armada-8k", false),
            ("QEMU virt", "qemu-sbsa", false),
            ("QEMU virt", "juno", false),
            ("QEMU virt", "-", false),
        ] {
            assert_eq!(is_of_platform(board, platform), expected, "{board}");
        }
    }
}
