//! The CPUs that are active while one of them is measured.

use alloc::string::String;

use hardware::text::join::join;
use hardware::words;
use serde::{Deserialize, Serialize};

words! {
    /// The CPUs on which a step was measured.
    #[derive(Default)]
    pub enum How, word {
        /// On one CPU. The other CPUs do what the scenario defines.
        #[default]
        Alone = "alone",
        /// On all CPUs at the same time.
        All = "all",
        /// On one CPU, while one other CPU in the same cluster is active.
        Near = "near",
        /// On one CPU, while one CPU in another cluster is active.
        Far = "far",
    }
}

impl How {
    /// Describes the CPUs in words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Alone => "one CPU alone",
            Self::All => "all CPUs at once",
            Self::Near => "beside a CPU in the same cluster",
            Self::Far => "beside a CPU in another cluster",
        }
    }
}

/// A set of [`How`] values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HowSet(pub(super) u8);

impl HowSet {
    /// Returns a set with a single value.
    pub const fn of(how: How) -> Self {
        Self(1 << how as u8)
    }

    /// Returns true if the set contains `how`.
    pub const fn contains(self, how: How) -> bool {
        self.0 >> how as u8 & 1 != 0
    }

    /// Returns the values, in the same order as [`How::ALL`].
    pub fn iter(self) -> impl Iterator<Item = How> + Clone {
        How::ALL.into_iter().filter(move |how| self.contains(*how))
    }

    /// Returns the values as written in a boot argument.
    pub fn list(self) -> String {
        join(self.iter().map(How::word), ",")
    }
}
