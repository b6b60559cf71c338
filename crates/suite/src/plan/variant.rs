//! What a scenario's steps do.

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::scenario_id::ScenarioId;

/// What a step does, as a keyword. Each scenario defines its variants next to the code that measures
/// them.
///
/// A variant that was read from a record is one of those that some scenario lists. That does not
/// prove that the record's own scenario lists it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variant(&'static str);

impl Variant {
    /// The only variant of the scenario, or the variant of a step that was not tried.
    pub const PLAIN: Self = Self("plain");
    /// An empty version of the scenario's loop.
    pub const LOOP: Self = Self("loop");
    /// The latency of an interrupt that no call holds back.
    pub const BASELINE: Self = Self("baseline");

    /// All CPUs at once.
    pub const PARALLEL: Self = Self("parallel");
    /// OS-initiated mode, in which the last CPU to go down requests the higher levels.
    pub const OS_INITIATED: Self = Self("osi");

    /// Returns the variant with this keyword, which consists of lowercase letters, digits and
    /// underscores.
    pub const fn new(word: &'static str) -> Self {
        Self(word)
    }

    /// Returns the keyword used in records and tables.
    pub const fn word(self) -> &'static str {
        self.0
    }

    /// Returns the variant with this keyword, if any scenario has one.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::all().find(|variant| variant.0 == word)
    }

    /// Returns the variants of all scenarios, in the order of the list of scenarios. Some occur
    /// more than once.
    pub fn all() -> impl Iterator<Item = Self> {
        [Self::PLAIN, Self::LOOP]
            .into_iter()
            .chain(ScenarioId::ALL.into_iter().flat_map(ScenarioId::variants))
    }

    /// Returns true if the figures of the scenario's other variants include this one's.
    pub fn is_baseline(self) -> bool {
        [Self::LOOP, Self::BASELINE].contains(&self)
    }
}

impl Default for Variant {
    fn default() -> Self {
        Self::PLAIN
    }
}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Serialize for Variant {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Variant {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let word = alloc::string::String::deserialize(from)?;
        Self::from_word(&word).ok_or_else(|| de::Error::custom("unknown variant"))
    }
}
