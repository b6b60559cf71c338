//! What describes a scenario.

use super::steps::Steps;
use super::timer::TimerPlan;

/// A scenario's only definition, apart from the code that measures it.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// The tag, in boot arguments, records and `RT_INSTR` lines.
    pub tag: &'static str,
    /// The name, in headings.
    pub name: &'static str,
    /// The way in which it is measured.
    pub procedure: Procedure,
    /// The quantity that its steps vary; None if it has no steps, or one.
    pub axis: Option<Axis>,
    /// True if it powers CPUs off by either method.
    pub needs_cpu_off: bool,
    /// True if `only=all` includes it.
    pub is_in_all: bool,
    /// The most cells that it has in a run: memory and time are reserved for so many.
    pub cells: fn(&RunSize) -> usize,
}

/// What the number of a scenario's cells depends on.
#[derive(Clone, Copy, Debug)]
pub struct RunSize {
    /// The number of CPUs.
    pub cpus: usize,
    /// The number of idle states.
    pub idle_states: usize,
    /// The plan's dirty bytes.
    pub dirty: Option<Steps>,
    /// The plan's numbers of CPUs.
    pub contend: Option<Steps>,
    /// The plan's choices for timers.
    pub timer: TimerPlan,
}

/// The way in which a scenario is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Procedure {
    /// CPU_SUSPEND of each CPU: one of TFTF's suite.
    Suspend(StateChoice, Turns),
    /// CPU_OFF of each CPU but the lead, which suspends: one of TFTF's suite.
    CpuOff,
    /// PSCI_VERSION on all CPUs at once: one of TFTF's suite.
    Version,
    /// An operation in a loop: one of the group `micro`.
    Loop,
    /// CPU_ON and CPU_OFF of each CPU: one of the group `micro`.
    CpuOn,
    /// Timers that expire while other CPUs load the memory.
    Timers,
    /// Steps of one quantity, each measured as a scenario of the suite is.
    Steps,
}

/// The idle state that a scenario asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateChoice {
    /// The power-down state of the highest level, or the one that `deepest=` names.
    Deepest,
    /// The power-down state of level 0, or the one that `core=` names.
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

/// The quantity that the steps of a scenario vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Dirty bytes in the cache.
    Bytes,
    /// CPUs that go down together.
    Cpus,
    /// The `power_state` that is asked for.
    PowerState,
}

/// The words for amounts of a quantity.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// Several of them, in a sentence.
    pub name: &'static str,
    /// The amount that drawings count as one.
    pub unit: u32,
    /// That amount, in a sentence.
    pub unit_name: &'static str,
    /// The label of the axis in drawings.
    pub label: &'static str,
    /// What varies, in a drawing's title.
    pub title: &'static str,
}

impl Procedure {
    /// Returns true if it is one of TFTF's suite.
    pub const fn is_of_suite(self) -> bool {
        match self {
            Self::Suspend(..) | Self::CpuOff | Self::Version => true,
            Self::Loop | Self::CpuOn | Self::Timers | Self::Steps => false,
        }
    }

    /// Returns the idle state to which CPUs are suspended, if it is the same for all samples.
    pub const fn state(self) -> Option<StateChoice> {
        match self {
            Self::Suspend(state, _) => Some(state),
            Self::CpuOff => Some(StateChoice::Deepest),
            Self::Version | Self::Loop | Self::CpuOn | Self::Timers | Self::Steps => None,
        }
    }
}

impl Axis {
    /// Returns the quantity as a heading.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Bytes => "Bytes",
            Self::Cpus => "CPUs",
            Self::PowerState => "power_state",
        }
    }

    /// Returns the words for its amounts; None if its values are names instead.
    pub const fn amount(self) -> Option<Amount> {
        Some(match self {
            Self::Bytes => Amount {
                name: "bytes",
                unit: 1024,
                unit_name: "KiB",
                label: "dirty KiB",
                title: "how much is dirty",
            },
            Self::Cpus => Amount {
                name: "CPUs",
                unit: 1,
                unit_name: "CPU",
                label: "CPUs that go down together",
                title: "the number of CPUs",
            },
            Self::PowerState => return None,
        })
    }

    /// Returns true if its values are names instead of amounts: they are hexadecimal.
    pub const fn has_names(self) -> bool {
        self.amount().is_none()
    }
}

impl Descriptor {
    /// The usual scenario of TFTF's suite.
    pub(super) const SUITE: Self = Self {
        tag: "",
        name: "",
        procedure: Procedure::Version,
        axis: None,
        needs_cpu_off: false,
        is_in_all: true,
        cells: |size| size.cpus,
    };

    /// The usual loop: of one operation, on each CPU alone and on all at once, and of nothing
    /// on the lead.
    pub(super) const LOOP: Self = Self {
        procedure: Procedure::Loop,
        cells: |size| 2 * size.cpus + 1,
        ..Self::SUITE
    };

    /// The usual scenario of steps.
    pub(super) const STEPS: Self = Self {
        procedure: Procedure::Steps,
        ..Self::SUITE
    };
}
