//! The values of a scenario's fields: its group, its idle states, and how its rejected attempts are
//! shown.

use super::variant::Variant;

/// A keyword of `only=` that selects several scenarios. `all` selects them by
/// [`is_in_all`](crate::scenarios::Descriptor::is_in_all).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// TFTF's suite.
    Suite,
    /// Micro-benchmarks.
    Micro,
    /// No group.
    None,
}

/// The idle states that a scenario uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsedStates {
    /// No state that needs a trial.
    None,
    /// The same state for all samples.
    One(StateChoice),
    /// The deepest state and the core state.
    Both,
    /// Every state in the device tree.
    All,
}

impl UsedStates {
    /// Returns the state, if it is the same for all samples.
    pub const fn only(self) -> Option<StateChoice> {
        match self {
            Self::One(state) => Some(state),
            _ => None,
        }
    }
}

/// How a scenario's attempts that do not count are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCounted {
    /// In a column of the tables, with a sentence that lists the reasons.
    ByReason,
    /// In a column with this heading only, because there is a single reason.
    Column(&'static str),
    /// Not at all, because the scenario measures nothing.
    Nothing,
}

impl NotCounted {
    /// Returns the column's heading.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::ByReason => "Not Counted",
            Self::Column(heading) => heading,
            Self::Nothing => "",
        }
    }
}

/// The idle state that a scenario requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateChoice {
    /// The power-down state at the highest level, or the state given by `deepest=`.
    Deepest,
    /// The power-down state at level 0, or the state given by `core=`.
    Core,
}

impl StateChoice {
    /// Returns the variant of a step that suspends CPUs to this state.
    pub const fn variant(self) -> Variant {
        Variant::new(match self {
            Self::Deepest => "deepest",
            Self::Core => "core",
        })
    }
}
