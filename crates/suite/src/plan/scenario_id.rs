//! The identity of a scenario: its index in the list of scenarios.
//!
//! Like `model/rule_lookup.rs`, this file imports from folders that come after its own: plans,
//! records and results name scenarios, and the list of scenarios leads to the code that measures
//! them.

use alloc::string::String;
use core::fmt;

use hardware::text::join::join;
use hardware::text::keywords::Word;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

use super::arguments::Key;
use super::axis::Axis;
use super::choices::ActiveCpus;
use super::descriptor_values::{Group, NotCounted, StateChoice};
use super::run_size::{RunSize, Work};
use super::variant::Variant;
use crate::measure::{Metric, Operation};
use crate::scenarios::{Descriptor, SCENARIOS};

/// The prefix of the suite's tags, which a user may omit.
pub const TAG_PREFIX: &str = "test_rt_instr_";

/// A scenario. Holding one proves that the list of scenarios has it, so [`Self::descriptor`] cannot
/// fail. It does not prove that the machine can run the scenario.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScenarioId(u8);

impl ScenarioId {
    /// All scenarios, in the order of the list.
    pub const ALL: [Self; SCENARIOS.len()] = {
        let mut all = [Self(0); SCENARIOS.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = Self(index as u8);
            index += 1;
        }
        all
    };

    /// The six scenarios in TFTF's suite.
    pub const SUITE: [Self; 6] = [
        Self::SUSPEND_DEEP_PARALLEL,
        Self::SUSPEND_DEEP_SERIAL,
        Self::CPU_SUSPEND_PARALLEL,
        Self::CPU_SUSPEND_SERIAL,
        Self::CPU_OFF_SERIAL,
        Self::PSCI_VERSION_PARALLEL,
    ];

    /// Suspends to the deepest level, all CPUs at once.
    pub const SUSPEND_DEEP_PARALLEL: Self = Self::named("test_rt_instr_susp_deep_parallel");
    /// Suspends to the deepest level, one CPU after another.
    pub const SUSPEND_DEEP_SERIAL: Self = Self::named("test_rt_instr_susp_deep_serial");
    /// Suspends to level 0, all CPUs at once.
    pub const CPU_SUSPEND_PARALLEL: Self = Self::named("test_rt_instr_cpu_susp_parallel");
    /// Suspends to level 0, one CPU after another.
    pub const CPU_SUSPEND_SERIAL: Self = Self::named("test_rt_instr_cpu_susp_serial");
    /// CPU_OFF on each CPU but the lead, which suspends.
    pub const CPU_OFF_SERIAL: Self = Self::named("test_rt_instr_cpu_off_serial");
    /// PSCI_VERSION on all CPUs at once.
    pub const PSCI_VERSION_PARALLEL: Self = Self::named("test_rt_instr_psci_version_parallel");

    /// Returns the scenario with this tag.
    ///
    /// # Panics
    /// Panics if no scenario has this tag; in a constant, that is a compile-time error.
    pub const fn named(tag: &str) -> Self {
        let mut index = 0;
        while index < SCENARIOS.len() {
            if is_same(SCENARIOS[index].tag, tag) {
                return Self(index as u8);
            }
            index += 1;
        }
        panic!("no scenario has this tag")
    }

    /// Returns the scenario's entry in the list.
    pub const fn descriptor(self) -> &'static Descriptor {
        SCENARIOS[self.0 as usize]
    }

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

    /// Returns the quantity that its steps vary.
    pub const fn axis(self) -> Option<Axis> {
        self.descriptor().axis
    }

    /// Returns the variants of its steps, in table order.
    pub fn variants(self) -> impl Iterator<Item = Variant> {
        let descriptor = self.descriptor();
        let loop_variants = descriptor
            .loops
            .into_iter()
            .flat_map(|loops| loops.operations)
            .map(|kind| kind.variant);
        descriptor.variants.iter().copied().chain(loop_variants)
    }

    /// Returns the figures in its `RT_INSTR` lines, in column order; none outside TFTF's suite.
    pub const fn columns(self) -> &'static [Metric] {
        self.descriptor().columns
    }

    /// Returns true if the boot argument changes how the scenario is measured.
    pub fn uses(self, key: Key) -> bool {
        let mut lists = self.descriptor().arguments.iter();
        lists.any(|keys| keys.contains(&key))
    }

    /// Returns true for a scenario in TFTF's suite.
    pub const fn is_suite(self) -> bool {
        matches!(self.descriptor().group, Group::Suite)
    }

    /// Returns true for a scenario in the `micro` group.
    pub const fn is_micro(self) -> bool {
        matches!(self.descriptor().group, Group::Micro)
    }

    /// Returns true if samples are taken as in TFTF's suite, by the plan's method, with PMF's
    /// timestamps if there are any.
    pub fn follows_method(self) -> bool {
        self.uses(Key::Method)
    }

    /// Returns true for a suite scenario in which all CPUs make their calls at the same time.
    pub const fn is_parallel(self) -> bool {
        self.is_suite() && matches!(self.descriptor().cpus, ActiveCpus::All)
    }

    /// Returns the idle state that CPUs enter, if it is the same for all samples.
    pub const fn state(self) -> Option<StateChoice> {
        self.descriptor().states.only()
    }

    /// Returns true if the scenario measures something, rather than only checking functions.
    pub const fn measures(self) -> bool {
        !matches!(self.descriptor().not_counted, NotCounted::Nothing)
    }

    /// Returns true if CPUs enter the same idle state in all samples.
    pub const fn is_suspend(self) -> bool {
        self.state().is_some()
    }

    /// Returns the maximum number of cells or checks in a run of this size.
    pub fn cells(self, size: &RunSize<'_>) -> usize {
        let descriptor = self.descriptor();
        match descriptor.loops {
            Some(loops) => 2 * loops.operations.len() * size.cpus + 1,
            None => (descriptor.cells)(size),
        }
    }

    /// Returns true if the scenario repeats this operation in a loop.
    pub fn repeats(self, operation: Operation) -> bool {
        let loops = self.descriptor().loops;
        loops.is_some_and(|loops| {
            let mut kinds = loops.operations.iter();
            kinds.any(|kind| kind.operation == operation)
        })
    }

    /// Returns the heap that the scenario needs in a run of this size, in bytes.
    pub fn heap(self, size: &RunSize<'_>) -> usize {
        (self.descriptor().heap)(size, self.cells(size))
    }

    /// Returns what the scenario does in a run of this size.
    pub fn work(self, size: &RunSize<'_>) -> Work {
        (self.descriptor().work)(size, self.cells(size))
    }

    /// Returns true for a suite scenario in which only the lead suspends and the other CPUs turn
    /// off.
    pub const fn only_lead_suspends(self) -> bool {
        self.is_suspend() && self.descriptor().needs_cpu_off
    }

    /// Returns true if CPUs that go down together wait for one another.
    pub const fn has_queue(self) -> bool {
        let varies_cpus = matches!(self.axis(), Some(Axis::Cpus));
        varies_cpus || self.is_parallel() && self.is_suspend()
    }

    /// Returns the index among all scenarios.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the scenario with this tag, with or without its prefix.
    pub fn from_tag(tag: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|id| id.tag() == tag || id.short_tag() == tag)
    }
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
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

impl fmt::Debug for ScenarioId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tag())
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
        to.serialize_str(self.short_tag())
    }
}

impl<'de> Deserialize<'de> for ScenarioId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let tag = String::deserialize(from)?;
        tag.parse().map_err(de::Error::custom)
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
