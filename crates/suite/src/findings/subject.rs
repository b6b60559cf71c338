//! What a rule examines, and what a rule is.

use alloc::vec::Vec;

use crate::model::{Finding, Run, Scenario};

/// The level of detail in findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verbosity {
    /// One sentence for each finding, for the UART.
    Short,
    /// More sentences, plus findings about what the figures cannot show, for reports.
    Full,
}

impl Verbosity {
    pub(crate) fn is_full(self) -> bool {
        self == Self::Full
    }
}

/// What a rule examines.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'r> {
    /// The run to which the scenario belongs. In the payload, it does not contain any results.
    pub run: &'r Run,
    /// The scenario whose figures the rule examines.
    pub scenario: &'r Scenario,
    /// The level of detail of the findings.
    pub verbosity: Verbosity,
}

/// A rule: returns the findings that the subject's figures support.
pub type Rule = fn(&Subject<'_>) -> Vec<Finding>;
