//! The scenario IDs, and the table that describes the scenarios.

use core::fmt;

use hardware::text::join::join;
use hardware::text::words::Word;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

use super::descriptor::{Axis, Descriptor, Procedure, StateChoice, Turns};
use super::steps;

/// The prefix of the suite's tags, which a user may omit.
pub const TAG_PREFIX: &str = "test_rt_instr_";

/// The maximum number of functions that `masked_time` calls without `calls=`.
const MASKED_CALLS: usize = 5;

/// Defines [`ScenarioId`]: each variant with its descriptor.
macro_rules! scenarios {
    ($($variant:ident: $descriptor:expr,)+) => {
        /// A scenario.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[expect(missing_docs, reason = "the descriptor contains each name")]
        pub enum ScenarioId {
            $($variant,)+
        }

        impl ScenarioId {
            /// The number of scenarios.
            pub const COUNT: usize = [$(Self::$variant),+].len();

            /// All scenarios, in table order.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$variant),+];

            /// Returns the scenario's row in the table.
            pub const fn descriptor(self) -> &'static Descriptor {
                match self {
                    $(Self::$variant => {
                        const DESCRIPTOR: Descriptor = $descriptor;
                        &DESCRIPTOR
                    })+
                }
            }
        }
    };
}

// The first six are the scenarios in TF-A Tests' "Runtime Instrumentation Validation" suite, with
// the same names, tags and order. CI systems look for the names, and published tables are keyed by
// the tags.
scenarios! {
    SuspendDeepParallel: Descriptor {
        tag: "test_rt_instr_susp_deep_parallel",
        name: "Suspend to deepest power level on all cores in parallel",
        procedure: Procedure::Suspend(StateChoice::Deepest, Turns::Parallel),
        ..Descriptor::SUITE
    },
    SuspendDeepSerial: Descriptor {
        tag: "test_rt_instr_susp_deep_serial",
        name: "Suspend to deepest power level on all cores in sequence",
        procedure: Procedure::Suspend(StateChoice::Deepest, Turns::Serial),
        ..Descriptor::SUITE
    },
    CpuSuspendParallel: Descriptor {
        tag: "test_rt_instr_cpu_susp_parallel",
        name: "CPU suspend on all cores in parallel",
        procedure: Procedure::Suspend(StateChoice::Core, Turns::Parallel),
        ..Descriptor::SUITE
    },
    CpuSuspendSerial: Descriptor {
        tag: "test_rt_instr_cpu_susp_serial",
        name: "CPU suspend on all cores in sequence",
        procedure: Procedure::Suspend(StateChoice::Core, Turns::Serial),
        ..Descriptor::SUITE
    },
    CpuOffSerial: Descriptor {
        tag: "test_rt_instr_cpu_off_serial",
        name: "CPU off on all non-lead cores in sequence and suspend lead to deepest power level",
        procedure: Procedure::CpuOff,
        needs_cpu_off: true,
        ..Descriptor::SUITE
    },
    PsciVersionParallel: Descriptor {
        tag: "test_rt_instr_psci_version_parallel",
        name: "PSCI version call on all cores in parallel",
        procedure: Procedure::Version,
        ..Descriptor::SUITE
    },
    NullCall: Descriptor {
        tag: "null_call",
        name: "Calls to the firmware that do nothing",
        cells: |size| 2 * 3 * size.cpus + 1,
        ..Descriptor::LOOP
    },
    ServiceCall: Descriptor {
        tag: "service_call",
        name: "Calls to the firmware's other services",
        cells: |size| 2 * 4 * size.cpus + 1,
        ..Descriptor::LOOP
    },
    SelfSgi: Descriptor {
        tag: "self_sgi",
        name: "SGI to the same CPU, acknowledged and completed",
        ..Descriptor::LOOP
    },
    Ipi: Descriptor {
        tag: "ipi",
        name: "SGI to another CPU and back",
        ..Descriptor::LOOP
    },
    Eoi: Descriptor {
        tag: "eoi",
        name: "End of interrupt without an interrupt",
        ..Descriptor::LOOP
    },
    Lpi: Descriptor {
        tag: "lpi",
        name: "LPI to the lead CPU, acknowledged and completed",
        ..Descriptor::LOOP
    },
    MmioRead: Descriptor {
        tag: "mmio_read",
        name: "Reads of device registers",
        cells: |size| 2 * 2 * size.cpus + 1,
        ..Descriptor::LOOP
    },
    SysregTrap: Descriptor {
        tag: "sysreg_trap",
        name: "Read of PMSELR_EL0, which a hypervisor may trap",
        ..Descriptor::LOOP
    },
    PmfRead: Descriptor {
        tag: "pmf_read",
        name: "Read of one PMF timestamp",
        ..Descriptor::LOOP
    },
    CpuOn: Descriptor {
        tag: "cpu_on",
        name: "CPU_ON and CPU_OFF",
        procedure: Procedure::CpuOn,
        needs_cpu_off: true,
        ..Descriptor::LOOP
    },
    Empty: Descriptor {
        tag: "empty",
        name: "Empty loop, the overhead of the other loops",
        ..Descriptor::LOOP
    },
    TimerLatency: Descriptor {
        tag: "timer_latency",
        name: "Timer expiry to handler, under load",
        procedure: Procedure::Timers,
        cells: |size| size.cpus * size.timer.timers.iter().count() * size.timer.loads().count(),
        ..Descriptor::LOOP
    },
    DirtySweep: Descriptor {
        tag: "dirty_sweep",
        name: "CPU_SUSPEND and CPU_OFF by dirty bytes in the cache",
        axis: Some(Axis::Bytes),
        // The deepest state, the core state, and CPU_OFF.
        cells: |size| {
            let steps = size.dirty.map(|steps| steps.as_slice().len());
            3 * size.cpus * steps.unwrap_or(steps::DIRTY_STEPS)
        },
        ..Descriptor::STEPS
    },
    ContendSweep: Descriptor {
        tag: "contend_sweep",
        name: "CPU_SUSPEND by CPUs that go down together",
        axis: Some(Axis::Cpus),
        // Two states, and one cell for each omitted step.
        cells: |size| {
            let steps = size.contend.unwrap_or_else(|| steps::contend(size.cpus));
            let counts = steps.as_slice().iter().map(|step| *step as usize);
            let parts: usize = counts.filter(|count| *count <= size.cpus).sum();
            2 * parts + steps.as_slice().len()
        },
        ..Descriptor::STEPS
    },
    IdleStates: Descriptor {
        tag: "idle_states",
        name: "Every idle state in the device tree",
        axis: Some(Axis::PowerState),
        // One CPU after another, all at once, and all at once in OS-initiated mode.
        cells: |size| 3 * size.cpus * size.idle_states,
        ..Descriptor::STEPS
    },
    ColdCall: Descriptor {
        tag: "cold_call",
        name: "Calls to the firmware, warm and cold",
        axis: Some(Axis::PowerState),
        // Two functions, each called warm, with the caller's cache lines evicted, and after each
        // idle state.
        cells: |size| 2 * size.cpus * (2 + size.idle_states),
        ..Descriptor::STEPS
    },
    SystemSuspend: Descriptor {
        tag: "system_suspend",
        name: "SYSTEM_SUSPEND",
        // The system might never wake up, so this scenario runs only if requested by name.
        is_in_all: false,
        cells: |_| 1,
        ..Descriptor::STEPS
    },
    CpuOnFlood: Descriptor {
        tag: "cpu_on_flood",
        name: "CPU_OFF under a flood of CPU_ON calls",
        procedure: Procedure::CpuOn,
        needs_cpu_off: true,
        // On several SoCs, a CPU_ON in this gap loses the CPU.
        is_in_all: false,
        ..Descriptor::SUITE
    },
    MaskedTime: Descriptor {
        tag: "masked_time",
        name: "Interrupts held back by calls to the firmware",
        procedure: Procedure::Interrupts,
        axis: Some(Axis::Function),
        is_in_all: false,
        // The baseline, the functions that are always called, and the plan's functions.
        cells: |size| {
            let calls = size.calls.map_or(0, |calls| calls.as_slice().len());
            size.cpus * (1 + MASKED_CALLS + calls)
        },
        ..Descriptor::SUITE
    },
    WakeRace: Descriptor {
        tag: "wake_race",
        name: "Wake-up interrupts while a CPU suspends",
        procedure: Procedure::Interrupts,
        axis: Some(Axis::Offset),
        is_in_all: false,
        // Five outcomes for each of two states.
        cells: |size| 2 * 5 * size.cpus * size.beside.iter().count(),
        ..Descriptor::SUITE
    },
    // This scenario is last because it may lose CPUs.
    Fitness: Descriptor {
        tag: "fitness",
        name: "Which PSCI functions work",
        procedure: Procedure::Checks,
        is_in_all: false,
        // Each CPU may fail in its own way.
        cells: |size| 80 + size.cpus * (8 + 9 * size.idle_states),
        ..Descriptor::SUITE
    },
}

impl ScenarioId {
    /// The six scenarios in TFTF's suite.
    pub const SUITE: [Self; 6] = [
        Self::SuspendDeepParallel,
        Self::SuspendDeepSerial,
        Self::CpuSuspendParallel,
        Self::CpuSuspendSerial,
        Self::CpuOffSerial,
        Self::PsciVersionParallel,
    ];

    /// Returns the tag used in boot arguments, records and `RT_INSTR` lines.
    pub const fn tag(self) -> &'static str {
        self.descriptor().tag
    }

    /// Returns the tag without [`TAG_PREFIX`], if it has that prefix.
    pub fn short_tag(self) -> &'static str {
        self.tag().strip_prefix(TAG_PREFIX).unwrap_or(self.tag())
    }

    /// Returns the name; for a suite scenario, the name in TFTF's `> Executing 'NAME'` line.
    pub const fn name(self) -> &'static str {
        self.descriptor().name
    }

    /// Returns how the scenario is measured.
    pub const fn procedure(self) -> Procedure {
        self.descriptor().procedure
    }

    /// Returns the quantity that its steps vary.
    pub const fn axis(self) -> Option<Axis> {
        self.descriptor().axis
    }

    /// Returns true for a scenario in TFTF's suite.
    pub const fn is_suite(self) -> bool {
        self.procedure().is_of_suite()
    }

    /// Returns true for a scenario in the `micro` group.
    pub const fn is_micro(self) -> bool {
        self.descriptor().is_in_all
            && matches!(self.procedure(), Procedure::Loop | Procedure::CpuOn)
    }

    /// Returns true for a scenario whose steps are measured like a suite scenario.
    pub const fn is_sweep(self) -> bool {
        matches!(self.procedure(), Procedure::Steps)
    }

    /// Returns true for a scenario whose calls are interrupted at varying offsets.
    pub const fn is_interrupted(self) -> bool {
        matches!(self.procedure(), Procedure::Interrupts)
    }

    /// Returns true for a suite scenario in which all CPUs make their calls at the same time.
    pub const fn is_parallel(self) -> bool {
        matches!(
            self.procedure(),
            Procedure::Suspend(_, Turns::Parallel) | Procedure::Version
        )
    }

    /// Returns true if CPUs that go down together wait for one another.
    pub const fn has_queue(self) -> bool {
        let is_of_many = matches!(self.axis(), Some(Axis::Cpus));
        is_of_many || matches!(self.procedure(), Procedure::Suspend(_, Turns::Parallel))
    }

    /// Returns the index among all scenarios.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the scenario with this tag, with or without its prefix.
    pub fn from_tag(tag: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|id| id.tag() == tag || id.short_tag() == tag)
    }
}

impl Word for ScenarioId {
    const VALUES: &'static [Self] = &Self::ALL;

    fn word(self) -> &'static str {
        self.tag()
    }
}

impl fmt::Display for ScenarioId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.tag())
    }
}

/// A word that is not a scenario tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("unknown scenario; the tags are {}", join(ScenarioId::ALL.into_iter().map(ScenarioId::short_tag), " "))]
pub struct UnknownTag;

impl core::str::FromStr for ScenarioId {
    type Err = UnknownTag;

    fn from_str(tag: &str) -> Result<Self, UnknownTag> {
        Self::from_tag(tag).ok_or(UnknownTag)
    }
}

impl Serialize for ScenarioId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.tag())
    }
}

impl<'de> Deserialize<'de> for ScenarioId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(TagVisitor)
    }
}

/// Finds the scenario for a tag without copying the tag, because every record contains one.
struct TagVisitor;

impl de::Visitor<'_> for TagVisitor {
    type Value = ScenarioId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scenario tag")
    }

    fn visit_str<E: de::Error>(self, tag: &str) -> Result<ScenarioId, E> {
        ScenarioId::from_tag(tag).ok_or_else(|| E::custom("unknown scenario"))
    }
}

/// Tags as used in records, for serde's `with` attribute.
pub(crate) mod short {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::ScenarioId;

    pub(crate) fn serialize<S: Serializer>(id: &ScenarioId, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(id.short_tag())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ScenarioId, D::Error> {
        ScenarioId::deserialize(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_in_both_forms() {
        assert_eq!(ScenarioId::ALL[..6], ScenarioId::SUITE);
        for id in ScenarioId::ALL {
            assert_eq!(id.tag().parse(), Ok(id));
            assert_eq!(id.short_tag().parse(), Ok(id));
            assert_eq!(id.tag().starts_with(TAG_PREFIX), id.is_suite());
            let by_name = id.name().ends_with("all cores in parallel");
            let by_tag = id.tag().ends_with("_parallel");
            assert_eq!((by_name, by_tag), (id.is_parallel(), id.is_parallel()));
        }
        for wrong in ["", "test_rt_instr_", "susp", "SUSP_DEEP_SERIAL", "suite"] {
            assert_eq!(ScenarioId::from_tag(wrong), None, "{wrong:?}");
        }
    }
}
