//! The measurements. Names, tags and order of the first six are those of the TF-A Tests suite
//! "Runtime Instrumentation Validation": continuous integration looks for the names, and
//! published tables are keyed by the tags.

use alloc::format;
use alloc::string::String;
use core::fmt;

use hardware::words;

/// The beginning of the suite's tags, which a user may leave out.
pub const TAG_PREFIX: &str = "test_rt_instr_";

words! {
    /// One of the measurements.
    #[expect(missing_docs, reason = "each has its name below")]
    pub enum ScenarioId, tag {
        SuspendDeepParallel = "test_rt_instr_susp_deep_parallel",
        SuspendDeepSerial = "test_rt_instr_susp_deep_serial",
        CpuSuspendParallel = "test_rt_instr_cpu_susp_parallel",
        CpuSuspendSerial = "test_rt_instr_cpu_susp_serial",
        CpuOffSerial = "test_rt_instr_cpu_off_serial",
        PsciVersionParallel = "test_rt_instr_psci_version_parallel",
        NullCall = "null_call",
        SelfSgi = "self_sgi",
        SysregTrap = "sysreg_trap",
        PmfRead = "pmf_read",
        CpuOn = "cpu_on",
        Empty = "empty",
        TimerLatency = "timer_latency",
        DirtySweep = "dirty_sweep",
        ContendSweep = "contend_sweep",
        IdleStates = "idle_states",
        SystemSuspend = "system_suspend",
    }
}

/// The kinds of scenarios, by how they are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the name of its scenarios")]
pub enum Family {
    /// One of TFTF's suite: it has rows. All others have points.
    Suite,
    /// An operation in a loop, and CPU_ON: the group `micro`.
    Micro,
    Timer,
    Sweep,
}

impl ScenarioId {
    /// The six of TFTF's suite.
    pub const SUITE: [Self; 6] = [
        Self::SuspendDeepParallel,
        Self::SuspendDeepSerial,
        Self::CpuSuspendParallel,
        Self::CpuSuspendSerial,
        Self::CpuOffSerial,
        Self::PsciVersionParallel,
    ];

    /// Returns the kind.
    pub fn family(self) -> Family {
        match self {
            Self::SuspendDeepParallel
            | Self::SuspendDeepSerial
            | Self::CpuSuspendParallel
            | Self::CpuSuspendSerial
            | Self::CpuOffSerial
            | Self::PsciVersionParallel => Family::Suite,
            Self::NullCall | Self::SelfSgi | Self::SysregTrap => Family::Micro,
            Self::PmfRead | Self::CpuOn | Self::Empty => Family::Micro,
            Self::TimerLatency => Family::Timer,
            Self::DirtySweep | Self::ContendSweep => Family::Sweep,
            Self::IdleStates | Self::SystemSuspend => Family::Sweep,
        }
    }

    /// Returns true for one of the suite.
    pub fn is_suite(self) -> bool {
        self.family() == Family::Suite
    }

    /// Returns true for one of the group `micro`.
    pub fn is_micro(self) -> bool {
        self.family() == Family::Micro
    }

    /// Returns true for a sweep.
    pub fn is_sweep(self) -> bool {
        self.family() == Family::Sweep
    }

    /// The name, of the suite's that in TFTF's `> Executing 'NAME'` line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SuspendDeepParallel => "Suspend to deepest power level on all cores in parallel",
            Self::SuspendDeepSerial => "Suspend to deepest power level on all cores in sequence",
            Self::CpuSuspendParallel => "CPU suspend on all cores in parallel",
            Self::CpuSuspendSerial => "CPU suspend on all cores in sequence",
            Self::CpuOffSerial => {
                "CPU off on all non-lead cores in sequence and suspend lead to deepest power level"
            }
            Self::PsciVersionParallel => "PSCI version call on all cores in parallel",
            Self::NullCall => "Calls to the firmware that do nothing",
            Self::SelfSgi => "SGI to oneself, acknowledged and ended",
            Self::SysregTrap => "Read of PMSELR_EL0, which a hypervisor may trap",
            Self::PmfRead => "Read of one PMF timestamp",
            Self::CpuOn => "CPU_ON and CPU_OFF",
            Self::Empty => "The loop of the others, with nothing in it",
            Self::TimerLatency => "Timer expiry to handler, under memory stress",
            Self::DirtySweep => "CPU_SUSPEND and CPU_OFF by dirty bytes in the cache",
            Self::ContendSweep => "CPU_SUSPEND by CPUs that go down together",
            Self::IdleStates => "Every idle state of the device tree",
            Self::SystemSuspend => "SYSTEM_SUSPEND",
        }
    }

    /// The tag without [`TAG_PREFIX`], if it has that.
    pub fn short_tag(self) -> &'static str {
        self.tag().strip_prefix(TAG_PREFIX).unwrap_or(self.tag())
    }

    /// Returns true for one of the suite's in which all CPUs call at once.
    pub const fn is_parallel(self) -> bool {
        matches!(
            self,
            Self::SuspendDeepParallel | Self::CpuSuspendParallel | Self::PsciVersionParallel
        )
    }

    /// Returns the place among all scenarios, from 0.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The scenario with this tag, written in full or without its prefix.
    pub fn from_tag(tag: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|id| id.tag() == tag || id.short_tag() == tag)
    }
}

impl fmt::Display for ScenarioId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.tag())
    }
}

/// Tags as records have them, for serde's `with`.
pub(crate) mod short {
    use alloc::string::String;

    use serde::{Deserialize, Deserializer, Serializer, de};

    use super::ScenarioId;

    pub(crate) fn serialize<S: Serializer>(id: &ScenarioId, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(id.short_tag())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ScenarioId, D::Error> {
        let tag = String::deserialize(from)?;
        ScenarioId::from_tag(&tag).ok_or_else(|| de::Error::custom("unknown scenario"))
    }
}

impl core::str::FromStr for ScenarioId {
    type Err = String;

    fn from_str(tag: &str) -> Result<Self, String> {
        let tags = || Self::ALL.map(Self::short_tag).join(" ");
        Self::from_tag(tag).ok_or_else(|| format!("no such scenario; the tags are {}", tags()))
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
