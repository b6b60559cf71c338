//! Scenario descriptions.

use super::how::HowSet;
use super::steps::Steps;
use super::timer::TimerPlan;

/// The only definition of a scenario, except for the code that measures it.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// The tag, used in boot arguments, records and `RT_INSTR` lines.
    pub tag: &'static str,
    /// The name, used in headings.
    pub name: &'static str,
    /// How the scenario is measured.
    pub procedure: Procedure,
    /// The quantity that the scenario's steps vary; None if there is at most one step.
    pub axis: Option<Axis>,
    /// True if the scenario powers CPUs off with either method.
    pub needs_cpu_off: bool,
    /// True if `only=all` includes the scenario.
    pub is_in_all: bool,
    /// The maximum number of cells or checks in a run, used to reserve memory and time.
    pub cells: fn(&RunSize) -> usize,
}

/// The values that determine how many cells a scenario has.
#[derive(Clone, Copy, Debug)]
pub struct RunSize {
    /// The number of CPUs.
    pub cpus: usize,
    /// The number of idle states.
    pub idle_states: usize,
    /// The plan's dirty sizes in bytes.
    pub dirty: Option<Steps>,
    /// The plan's CPU counts.
    pub contend: Option<Steps>,
    /// The plan's timer options.
    pub timer: TimerPlan,
    /// The plan's additional functions.
    pub calls: Option<Steps>,
    /// The plan's ways to measure `wake_race`.
    pub beside: HowSet,
}

/// How a scenario is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Procedure {
    /// CPU_SUSPEND on each CPU; part of TFTF's suite.
    Suspend(StateChoice, Turns),
    /// CPU_OFF on each CPU except the lead, which suspends; part of TFTF's suite.
    CpuOff,
    /// PSCI_VERSION on all CPUs at once; part of TFTF's suite.
    Version,
    /// An operation in a loop; part of the `micro` group.
    Loop,
    /// CPU_ON and CPU_OFF for each CPU; part of the `micro` group.
    CpuOn,
    /// Timers that expire while other CPUs load the memory system.
    Timers,
    /// Steps that vary one quantity, each measured like a suite scenario.
    Steps,
    /// An interrupt that falls due at varying offsets within a call.
    Interrupts,
    /// Calls whose effects are checked. Nothing is measured.
    Checks,
}

/// The idle state that a scenario requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateChoice {
    /// The power-down state at the highest level, or the state given by `deepest=`.
    Deepest,
    /// The power-down state at level 0, or the state given by `core=`.
    Core,
}

/// The order in which CPUs are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// One after another.
    Serial,
    /// All at once.
    Parallel,
}

/// The quantity that a scenario's steps vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Dirty bytes in the cache.
    Bytes,
    /// CPUs that go down together.
    Cpus,
    /// The requested `power_state`.
    PowerState,
    /// The function that is called.
    Function,
    /// Ticks from a call to the instant at which an interrupt falls due.
    Offset,
}

/// How amounts of a quantity are shown.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// The plural form, as used in a sentence.
    pub name: &'static str,
    /// The amount that corresponds to one unit in charts.
    pub unit: u32,
    /// The unit name, as used in a sentence.
    pub unit_name: &'static str,
    /// The axis label in charts.
    pub label: &'static str,
    /// The varied quantity, as it appears in a chart title.
    pub title: &'static str,
}

impl Procedure {
    /// Returns true if the procedure is part of TFTF's suite.
    pub const fn is_of_suite(self) -> bool {
        match self {
            Self::Suspend(..) | Self::CpuOff | Self::Version => true,
            Self::Loop
            | Self::CpuOn
            | Self::Timers
            | Self::Steps
            | Self::Interrupts
            | Self::Checks => false,
        }
    }

    /// Returns the idle state that CPUs enter, if it is the same for all samples.
    pub const fn state(self) -> Option<StateChoice> {
        match self {
            Self::Suspend(state, _) => Some(state),
            Self::CpuOff => Some(StateChoice::Deepest),
            Self::Version
            | Self::Loop
            | Self::CpuOn
            | Self::Timers
            | Self::Steps
            | Self::Interrupts
            | Self::Checks => None,
        }
    }
}

impl Axis {
    /// Returns the quantity for use as a heading.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Bytes => "Bytes",
            Self::Cpus => "CPUs",
            Self::PowerState => "power_state",
            Self::Function => "Function",
            Self::Offset => "First (ticks)",
        }
    }

    /// Returns how amounts of the quantity are shown; None if its values are names.
    pub const fn amount(self) -> Option<Amount> {
        Some(match self {
            Self::Bytes => Amount {
                name: "bytes",
                unit: 1024,
                unit_name: "KiB",
                label: "dirty KiB",
                title: "the amount of dirty data",
            },
            Self::Cpus => Amount {
                name: "CPUs",
                unit: 1,
                unit_name: "CPU",
                label: "CPUs that go down together",
                title: "the number of CPUs",
            },
            Self::Offset => Amount {
                name: "ticks",
                unit: 1,
                unit_name: "tick",
                label: "ticks from the call to the interrupt",
                title: "the offset of the interrupt",
            },
            Self::PowerState | Self::Function => return None,
        })
    }

    /// Returns true if the quantity's values are hexadecimal names instead of amounts.
    pub const fn has_names(self) -> bool {
        self.amount().is_none()
    }
}

impl Descriptor {
    /// The defaults for a scenario in TFTF's suite.
    pub(super) const SUITE: Self = Self {
        tag: "",
        name: "",
        procedure: Procedure::Version,
        axis: None,
        needs_cpu_off: false,
        is_in_all: true,
        cells: |size| size.cpus,
    };

    /// The defaults for a loop scenario: one operation, on each CPU individually and on all CPUs at
    /// once, and an empty loop on the lead.
    pub(super) const LOOP: Self = Self {
        procedure: Procedure::Loop,
        cells: |size| 2 * size.cpus + 1,
        ..Self::SUITE
    };

    /// The defaults for a scenario that consists of steps.
    pub(super) const STEPS: Self = Self {
        procedure: Procedure::Steps,
        ..Self::SUITE
    };
}
