//! The result of a rule.

use hardware::words;
use report::analysis::value_text::us_text;
use serde::Serialize;

words! {
    /// What a rule says about a declared value.
    pub enum RuleVerdict, word {
        /// The value covers the measured worst case and exceeds it by at most the margin.
        Right = "right",
        /// The measured worst case is longer than the value, so software cannot rely on it.
        TooSmall = "too small",
        /// The value exceeds the measured worst case by more than the margin, so the state is used
        /// less often than it could be.
        TooLarge = "too large",
        /// The value contradicts another value or the firmware's behavior.
        Contradictory = "contradictory",
        /// No CPU uses the state.
        Unused = "unused",
        /// The log does not contain what is needed.
        NotMeasured = "not measured",
        /// Time measurements alone cannot decide.
        CannotTell = "cannot be told",
    }
}

impl RuleVerdict {
    /// Returns true if software that relies on the value can go wrong.
    pub const fn is_broken(self) -> bool {
        matches!(self, Self::TooSmall | Self::Contradictory)
    }

    /// Returns true if the value should be changed.
    pub const fn calls_for_change(self) -> bool {
        matches!(self, Self::TooSmall | Self::TooLarge | Self::Contradictory)
    }
}

/// A measured worst case.
#[derive(Clone, Debug, Serialize)]
pub struct LongestTime {
    /// The time in nanoseconds.
    pub ns: u64,
    /// The time in microseconds, rounded up.
    pub us: u64,
    /// The CPU's label.
    pub cpu: String,
    /// Where the time was measured, for use in a sentence.
    pub origin: String,
}

impl LongestTime {
    /// Returns the time in microseconds for a table.
    pub fn text(&self) -> String {
        us_text(self.ns as f64)
    }
}

/// The result of one rule for one state.
#[derive(Clone, Debug, Serialize)]
pub struct Judgement {
    /// The rule's name, which is the name of a property if the rule is about only one.
    pub rule: &'static str,
    /// What the rule says about the declared value.
    pub verdict: RuleVerdict,
    /// The declared value, as text.
    pub declared: String,
    /// The measured value, as text; empty if there is none.
    pub measured: String,
    /// The CPU that decided the verdict, if any.
    pub cpu: Option<String>,
    /// The reason for the verdict: a sentence without the state's name and the final period.
    pub reason: String,
}
