//! Errors in a word of the boot arguments.

use core::fmt;

use super::key::{Key, write_words};
use crate::board::text::Shown;

/// A word of the boot arguments that cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanError<'a> {
    /// The word as it was written.
    pub word: &'a str,
    /// The place among the words; the first is 1.
    pub position: usize,
    pub problem: PlanProblem,
}

/// An error in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanProblem {
    NotAPair,
    UnknownKey,
    Duplicate(Key),
    Value(Key),
}

const SHOWN: usize = 40;

impl fmt::Display for PlanError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Shown(self.word, SHOWN);
        write!(f, "bootargs word {} \"{word}\": ", self.position)?;
        match self.problem {
            PlanProblem::NotAPair => f.write_str("expected key=value"),
            PlanProblem::UnknownKey => {
                f.write_str("unknown key; the keys are")?;
                write_words(f, &mut Key::ALL.iter().map(|key| key.word()))
            }
            PlanProblem::Duplicate(key) => write!(f, "{} was given before", key.word()),
            PlanProblem::Value(key) => {
                write!(f, "{} takes ", key.word())?;
                key.write_accepted(f)
            }
        }
    }
}

impl core::error::Error for PlanError<'_> {}
