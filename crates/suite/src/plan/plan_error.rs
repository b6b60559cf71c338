//! Errors in the boot arguments, and words that resemble keys.

use core::fmt;

use hardware::text::untrusted::Excerpt;

use super::arguments::Key;

/// The length of the longest key.
const LENGTH_MAX: usize = {
    let (mut longest, mut index) = (0, 0);
    while index < Key::ALL.len() {
        let length = Key::ALL[index].word().len();
        longest = if length > longest { length } else { longest };
        index += 1;
    }
    longest
};

impl Key {
    /// Returns true if `word` is probably meant to be a key: it has one wrong letter, or two if the
    /// key is long, or it is an abbreviation.
    pub(crate) fn is_misspelled(word: &str) -> bool {
        Self::ALL.iter().any(|key| {
            let key = key.word();
            let is_abbreviation = word.len() >= 4 && key.starts_with(word);
            let tolerance = if key.len() < 6 { 1 } else { 2 };
            is_abbreviation || edit_distance(key, word).is_some_and(|edits| edits <= tolerance)
        })
    }
}

/// Returns the number of letters to insert, remove, replace or exchange with the next one to turn
/// `key` into `word`, ignoring case. Returns `None` if `word` is much longer than any key.
fn edit_distance(key: &str, word: &str) -> Option<u8> {
    const COLUMNS: usize = LENGTH_MAX + 3;
    if key.len() > LENGTH_MAX || word.len() >= COLUMNS {
        return None;
    }
    let letter = |text: &str, position: usize| text.as_bytes()[position - 1].to_ascii_lowercase();
    // Each entry is the distance between the first letters of the key and the word.
    let mut distances = [[0u8; COLUMNS]; LENGTH_MAX + 1];
    for row in 0..=key.len() {
        for column in 0..=word.len() {
            distances[row][column] = if row == 0 || column == 0 {
                (row + column) as u8
            } else {
                let (in_key, in_word) = (letter(key, row), letter(word, column));
                let removed = distances[row - 1][column] + 1;
                let inserted = distances[row][column - 1] + 1;
                let replaced = distances[row - 1][column - 1] + u8::from(in_key != in_word);
                let is_exchanged = row > 1
                    && column > 1
                    && in_key == letter(word, column - 1)
                    && in_word == letter(key, row - 1);
                let exchanged = if is_exchanged {
                    distances[row - 2][column - 2] + 1
                } else {
                    u8::MAX
                };
                removed.min(inserted).min(replaced).min(exchanged)
            };
        }
    }
    Some(distances[key.len()][word.len()])
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
                write!(f, "{} takes ", key.word())?;
                key.write_accepted(f)
            }
        }
    }
}

impl core::error::Error for PlanError<'_> {}
