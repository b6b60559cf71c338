//! Errors in the boot arguments, and words that resemble keys or scenarios.

use core::fmt;

use hardware::text::untrusted::Excerpt;

use super::arguments::Key;
use super::scenario_id::{ScenarioId, TAG_PREFIX};
use super::scenario_set::ScenarioSet;

/// The length of the longest key or tag.
const LENGTH_MAX: usize = {
    let (mut longest, mut index) = (0, 0);
    while index < Key::ALL.len() {
        longest = greater(longest, Key::ALL[index].word().len());
        index += 1;
    }
    index = 0;
    while index < ScenarioId::ALL.len() {
        longest = greater(longest, ScenarioId::ALL[index].tag().len());
        index += 1;
    }
    longest
};

const fn greater(one: usize, other: usize) -> usize {
    if one > other { one } else { other }
}

impl Key {
    /// Returns true if `word` is probably meant to be a key.
    pub(crate) fn is_misspelled(word: &str) -> bool {
        let mut keys = Self::ALL.iter();
        keys.any(|key| misspelling(key.word(), word).is_some())
    }
}

/// Returns how many letters of `word` are wrong if it is probably meant to be `known`: it has one
/// wrong letter, or two if `known` is long, or it is an abbreviation.
fn misspelling(known: &str, word: &str) -> Option<u8> {
    let is_abbreviation = word.len() >= 4 && known.starts_with(word);
    let tolerance = if known.len() < 6 { 1 } else { 2 };
    if is_abbreviation {
        Some(0)
    } else {
        edit_distance(known, word).filter(|edits| *edits <= tolerance)
    }
}

/// Returns the first word in the value of `only=` that selects no scenario, and the word that was
/// probably meant.
fn misspelled_scenario(value: &str) -> Option<(&str, &'static str)> {
    let mut words = value.split(',');
    let unknown = words.find(|word| ScenarioSet::of_word(word).is_none())?;
    let word = unknown.strip_prefix(TAG_PREFIX).unwrap_or(unknown);
    let known = ScenarioSet::words().chain([ScenarioSet::HELP]);
    let meant = known
        .filter_map(|known| Some((misspelling(known, word)?, known)))
        .min_by_key(|(edits, _)| *edits)?;
    Some((unknown, meant.1))
}

/// Returns the number of letters to insert, remove, replace or exchange with the next one to turn
/// `known` into `word`, ignoring case. Returns `None` if `word` is much longer than any known word.
fn edit_distance(known: &str, word: &str) -> Option<u8> {
    const COLUMNS: usize = LENGTH_MAX + 3;
    if known.len() > LENGTH_MAX || word.len() >= COLUMNS {
        return None;
    }
    let letter = |text: &str, position: usize| text.as_bytes()[position - 1].to_ascii_lowercase();
    // Each entry is the distance between the first letters of the known word and the word.
    let mut distances = [[0u8; COLUMNS]; LENGTH_MAX + 1];
    for row in 0..=known.len() {
        for column in 0..=word.len() {
            distances[row][column] = if row == 0 || column == 0 {
                (row + column) as u8
            } else {
                let (in_known, in_word) = (letter(known, row), letter(word, column));
                let removed = distances[row - 1][column] + 1;
                let inserted = distances[row][column - 1] + 1;
                let replaced = distances[row - 1][column - 1] + u8::from(in_known != in_word);
                let is_exchanged = row > 1
                    && column > 1
                    && in_known == letter(word, column - 1)
                    && in_word == letter(known, row - 1);
                let exchanged = if is_exchanged {
                    distances[row - 2][column - 2] + 1
                } else {
                    u8::MAX
                };
                removed.min(inserted).min(replaced).min(exchanged)
            };
        }
    }
    Some(distances[known.len()][word.len()])
}

/// An invalid word in the boot arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanError<'a> {
    /// The word, as written.
    pub word: &'a str,
    /// The word's position among all words, counting from 1.
    pub position: usize,
    /// What is wrong.
    pub problem: PlanProblem,
}

/// An error in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanProblem {
    /// The word is not of the form `key=value`.
    NotAPair,
    /// There is no such key.
    UnknownKey,
    /// The key was given before.
    Duplicate(Key),
    /// The key does not accept the value.
    Value(Key),
}

/// The maximum number of characters of a word in an error message.
const SHOWN: usize = 40;

impl fmt::Display for PlanError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Excerpt(self.word, SHOWN);
        write!(f, "bootargs word {} \"{word}\": ", self.position)?;
        match self.problem {
            PlanProblem::NotAPair => f.write_str("expected key=value"),
            PlanProblem::UnknownKey => {
                f.write_str("unknown key; valid keys are")?;
                let mut words = Key::ALL.iter().map(|key| key.word());
                words.try_for_each(|word| write!(f, " {word}"))
            }
            PlanProblem::Duplicate(key) => write!(f, "{} was already given", key.word()),
            PlanProblem::Value(key) => {
                let value = self.word.split_once('=').map_or("", |(_, value)| value);
                if key == Key::Only
                    && let Some((unknown, meant)) = misspelled_scenario(value)
                {
                    let unknown = Excerpt(unknown, SHOWN);
                    return write!(f, "no scenario is called {unknown}; did you mean {meant}?");
                }
                write!(f, "{} takes ", key.word())?;
                key.write_accepted(f)
            }
        }
    }
}

impl core::error::Error for PlanError<'_> {}
