//! The six measurements, by the names and tags under which they are known.
//!
//! Names, tags and order are those of the TF-A Tests suite "Runtime
//! Instrumentation Validation": continuous integration looks for the names,
//! and published tables are keyed by the tags.

use core::fmt;

/// What every tag begins with, and what a user may leave out.
pub const TAG_PREFIX: &str = "test_rt_instr_";

/// One of the six measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ScenarioId {
    /// All CPUs suspend to the deepest level at once.
    SuspendDeepParallel,
    /// One CPU after another suspends to the deepest level, the lead last.
    SuspendDeepSerial,
    /// All CPUs suspend to level 0 at once.
    CpuSuspendParallel,
    /// One CPU after another suspends to level 0, the lead last.
    CpuSuspendSerial,
    /// One CPU after another is turned off; the lead suspends.
    CpuOffSerial,
    /// All CPUs call PSCI_VERSION at once.
    PsciVersionParallel,
}

impl ScenarioId {
    /// How many there are.
    pub const COUNT: usize = 6;

    /// All of them, in the order in which they run and are printed.
    pub const ALL: [Self; Self::COUNT] = [
        Self::SuspendDeepParallel,
        Self::SuspendDeepSerial,
        Self::CpuSuspendParallel,
        Self::CpuSuspendSerial,
        Self::CpuOffSerial,
        Self::PsciVersionParallel,
    ];

    /// The name in TFTF's `> Executing 'NAME'` line.
    #[must_use]
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
        }
    }

    /// The tag in TFTF's `<RT_INSTR:TAG…/>` lines.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::SuspendDeepParallel => "test_rt_instr_susp_deep_parallel",
            Self::SuspendDeepSerial => "test_rt_instr_susp_deep_serial",
            Self::CpuSuspendParallel => "test_rt_instr_cpu_susp_parallel",
            Self::CpuSuspendSerial => "test_rt_instr_cpu_susp_serial",
            Self::CpuOffSerial => "test_rt_instr_cpu_off_serial",
            Self::PsciVersionParallel => "test_rt_instr_psci_version_parallel",
        }
    }

    /// The tag without [`TAG_PREFIX`].
    #[must_use]
    pub fn short_tag(self) -> &'static str {
        self.tag().strip_prefix(TAG_PREFIX).unwrap_or(self.tag())
    }

    /// Whether all CPUs are measured at the same time.
    #[must_use]
    pub const fn is_parallel(self) -> bool {
        matches!(
            self,
            Self::SuspendDeepParallel | Self::CpuSuspendParallel | Self::PsciVersionParallel
        )
    }

    /// Position in [`Self::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The scenario with this tag, written in full or without its prefix.
    #[must_use]
    pub fn from_tag(tag: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|id| id.tag() == tag || id.short_tag() == tag)
    }
}

impl fmt::Display for ScenarioId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.tag())
    }
}

/// A tag that no scenario has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownTag;

impl fmt::Display for UnknownTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such scenario; the tags are")?;
        ScenarioId::ALL
            .iter()
            .try_for_each(|id| write!(f, " {}", id.short_tag()))
    }
}

impl core::error::Error for UnknownTag {}

impl core::str::FromStr for ScenarioId {
    type Err = UnknownTag;

    fn from_str(tag: &str) -> Result<Self, UnknownTag> {
        Self::from_tag(tag).ok_or(UnknownTag)
    }
}

/// A set of scenarios.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ScenarioSet(u8);

impl ScenarioSet {
    /// No scenario.
    pub const EMPTY: Self = Self(0);
    /// Every scenario.
    pub const ALL: Self = Self((1 << ScenarioId::COUNT) - 1);

    /// Whether `id` is in the set.
    #[must_use]
    pub const fn contains(self, id: ScenarioId) -> bool {
        self.0 & (1 << id.index()) != 0
    }

    /// Adds `id`; tells whether it was new.
    pub const fn insert(&mut self, id: ScenarioId) -> bool {
        let new = !self.contains(id);
        self.0 |= 1 << id.index();
        new
    }

    /// How many scenarios are in the set.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether the set has no scenario.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The scenarios in the set, in the order of [`ScenarioId::ALL`].
    pub fn iter(self) -> impl Iterator<Item = ScenarioId> {
        ScenarioId::ALL
            .into_iter()
            .filter(move |id| self.contains(*id))
    }
}

impl fmt::Debug for ScenarioSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_in_both_forms() {
        for (index, id) in ScenarioId::ALL.into_iter().enumerate() {
            assert_eq!(id.index(), index);
            assert_eq!(id.tag().parse(), Ok(id));
            assert_eq!(id.short_tag().parse(), Ok(id));
            assert!(id.tag().ends_with(id.short_tag()) && id.tag().starts_with(TAG_PREFIX));
            assert_eq!(
                id.is_parallel(),
                id.name().ends_with("all cores in parallel")
            );
            assert_eq!(id.is_parallel(), id.tag().ends_with("_parallel"));
        }
        for wrong in ["", "test_rt_instr_", "susp", "SUSP_DEEP_SERIAL"] {
            assert_eq!(ScenarioId::from_tag(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_set_keeps_the_order_of_the_suite() {
        let mut set = ScenarioSet::EMPTY;
        assert!(set.is_empty());
        assert!(set.insert(ScenarioId::CpuOffSerial));
        assert!(set.insert(ScenarioId::SuspendDeepSerial));
        assert!(!set.insert(ScenarioId::CpuOffSerial));
        assert_eq!(set.len(), 2);
        assert!(
            set.iter()
                .eq([ScenarioId::SuspendDeepSerial, ScenarioId::CpuOffSerial])
        );
        assert!(ScenarioSet::ALL.iter().eq(ScenarioId::ALL));
    }
}
