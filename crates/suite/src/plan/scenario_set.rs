//! Sets of scenarios, and the keywords that select them.

use alloc::string::String;

use hardware::text::join::join;

use super::scenario_id::ScenarioId;

/// A set of scenarios. Holding one proves that all its members are in the list of scenarios. It may
/// be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScenarioSet(u32);

/// The bit of the set that `only=first` selects. It is not a scenario's.
const FIRST: u32 = 1 << 31;

// Each scenario has one of the other bits.
const _: () = assert!(ScenarioId::ALL.len() < u32::BITS as usize);

impl ScenarioSet {
    /// No scenario: the scenarios are listed instead.
    pub const EMPTY: Self = Self(0);
    /// TFTF's six scenarios, which run by default.
    pub const SUITE: Self = Self((1 << ScenarioId::SUITE.len()) - 1);

    /// The word that selects [`Self::EMPTY`].
    pub(super) const HELP: &'static str = "help";

    /// The word that selects the scenarios of a board's first run, in which one CPU takes each step
    /// once. It cannot be combined with other words.
    pub(super) const FIRST: &'static str = "first";

    /// Keywords that each select several scenarios.
    const GROUPS: [&'static str; 4] = ["suite", "micro", "all", Self::FIRST];

    /// Returns the words that select scenarios.
    pub fn words() -> impl Iterator<Item = &'static str> {
        let tags = ScenarioId::ALL.into_iter().map(ScenarioId::short_tag);
        tags.chain(Self::GROUPS)
    }

    /// Returns the scenarios selected by a tag or by the keyword of a group.
    pub fn of_word(word: &str) -> Option<Self> {
        let is_selected: fn(ScenarioId) -> bool = match word {
            "suite" => ScenarioId::is_suite,
            "micro" => ScenarioId::is_micro,
            "all" => |id| id.descriptor().is_in_all,
            Self::FIRST => |id| id.descriptor().first_step.is_some(),
            tag => return ScenarioId::from_tag(tag).map(Self::only),
        };
        let mut set = Self(if word == Self::FIRST { FIRST } else { 0 });
        for id in ScenarioId::ALL.into_iter().filter(|id| is_selected(*id)) {
            set.insert(Self::only(id));
        }
        Some(set)
    }

    const fn only(id: ScenarioId) -> Self {
        Self(1 << id.index())
    }

    /// Returns true if `id` is in the set.
    pub const fn contains(self, id: ScenarioId) -> bool {
        self.0 & 1 << id.index() != 0
    }

    /// Adds the scenarios in `others`.
    pub const fn insert(&mut self, others: Self) {
        self.0 |= others.0;
    }

    /// Returns true if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns true for the scenarios of a board's first run.
    pub const fn is_first(self) -> bool {
        self.0 & FIRST != 0
    }

    /// Returns the tags as written in a boot argument.
    pub fn list(self) -> String {
        if self.is_empty() {
            Self::HELP.into()
        } else if self.is_first() {
            Self::FIRST.into()
        } else {
            join(self.iter().map(ScenarioId::short_tag), ",")
        }
    }

    /// Returns the suite's scenarios that are in the set.
    pub const fn suite(self) -> Self {
        Self(self.0 & Self::SUITE.0)
    }

    /// Returns the scenarios in the set, in the same order as [`ScenarioId::ALL`].
    pub fn iter(self) -> impl Iterator<Item = ScenarioId> {
        let all = ScenarioId::ALL.into_iter();
        all.filter(move |id| self.contains(*id))
    }
}
