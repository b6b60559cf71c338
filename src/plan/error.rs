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
    /// The error.
    pub problem: PlanProblem,
}

/// An error in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanProblem {
    /// It has a quotation mark or a backslash.
    Quoted,
    /// It has no `=`.
    NotAPair,
    /// Nothing goes by this key.
    UnknownKey,
    /// The key was given before.
    Duplicate(Key),
    /// The value is not one that the key takes.
    Value(Key),
    /// A list has an item twice.
    Repeated(Key),
}

/// The most characters of a word that an error shows.
const SHOWN: usize = 40;

impl fmt::Display for PlanError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Shown(self.word, SHOWN);
        write!(f, "bootargs word {} \"{word}\": ", self.position)?;
        let (key, fault) = match self.problem {
            PlanProblem::Quoted => (None, "quotes and backslashes are not supported"),
            PlanProblem::NotAPair => (None, "expected key=value"),
            PlanProblem::UnknownKey => (None, "unknown key; the keys are"),
            PlanProblem::Duplicate(key) => (Some(key), " was given before"),
            PlanProblem::Value(key) => (Some(key), " takes "),
            PlanProblem::Repeated(key) => (Some(key), " names one item twice"),
        };
        f.write_str(key.map_or("", Key::word))?;
        f.write_str(fault)?;
        match self.problem {
            PlanProblem::UnknownKey => write_words(f, &mut Key::ALL.iter().map(|k| k.word())),
            PlanProblem::Value(key) => key.write_accepted(f),
            _ => Ok(()),
        }
    }
}

impl core::error::Error for PlanError<'_> {}
