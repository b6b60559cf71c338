//! The boot argument keys, their values, and errors in them.

use core::fmt;

use hardware::text::outside::Shown;
use hardware::words;

use super::how::How;
use super::scenario_id::ScenarioId;
use super::scenario_set::ScenarioSet;
use super::timer::Load;

words! {
    /// A key in the boot arguments.
    pub enum Key, word {
        Iterations = "iterations",
        Warmup = "warmup",
        Only = "only",
        Method = "method",
        Wake = "wake",
        End = "end",
        Deepest = "deepest",
        Core = "core",
        Samples = "samples",
        Records = "records",
        Loops = "loops",
        Batch = "batch",
        Duration = "duration",
        Period = "period",
        Stress = "stress",
        Footprint = "footprint",
        Timers = "timers",
        Threshold = "threshold",
        Dirty = "dirty",
        Contend = "contend",
        CpuOnAfter = "cpu-on-after",
        Fitness = "fitness",
        Calls = "calls",
        Offsets = "offsets",
        Repeats = "repeats",
        Beside = "beside",
    }
}

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

    /// Returns the range of numbers that the key accepts, if it accepts a number.
    const fn range(self) -> Option<(u32, u32)> {
        Some(match self {
            Self::Iterations => (1, 1_000_000),
            Self::Warmup => (0, 10_000),
            Self::Loops => (1, 1 << 30),
            Self::Batch => (1, 1 << 16),
            Self::Duration => (1, 86_400),
            Self::Period => (50, 1_000_000),
            Self::Footprint => (1 << 12, 1 << 30),
            Self::Threshold => (1, 1_000_000),
            Self::CpuOnAfter => (0, 1_000_000),
            Self::Offsets => (2, 64),
            Self::Repeats => (1, 3),
            Self::Only
            | Self::Method
            | Self::Wake
            | Self::End
            | Self::Deepest
            | Self::Core
            | Self::Samples
            | Self::Records
            | Self::Stress
            | Self::Timers
            | Self::Beside
            | Self::Dirty
            | Self::Contend
            | Self::Calls
            | Self::Fitness => return None,
        })
    }

    /// Returns the number, if the key accepts it.
    pub(crate) fn number(self, number: Option<u32>) -> Option<u32> {
        let (least, most) = self.range()?;
        number.filter(|number| (least..=most).contains(number))
    }

    fn write_accepted(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((least, most)) = self.range() {
            write!(f, "a number from {least} to {most}")?;
        }
        f.write_str(match self {
            Self::Only => {
                f.write_str("help, or one or more of these, separated by commas:")?;
                let tags = ScenarioId::ALL.map(ScenarioId::short_tag);
                return write_words(f, tags.into_iter().chain(ScenarioSet::GROUPS));
            }
            Self::Stress => {
                f.write_str("one or more of these, separated by commas:")?;
                return write_words(f, Load::ALL.map(Load::word));
            }
            Self::Timers | Self::Beside => {
                f.write_str("one or more of these, separated by commas:")?;
                return write_words(f, How::ALL.map(How::word));
            }
            Self::Method => "tftf, warm or tftf,warm",
            Self::Wake => "together, staggered or chain",
            Self::End => "off, park or reset",
            Self::Samples => "none or all",
            Self::Fitness => "harmless or destructive",
            Self::Records => "once, twice or none",
            Self::Footprint => ", optionally followed by K or M",
            Self::Dirty => {
                "up to 24 sizes from 0 to 64M, or doubling ranges (A-B), separated by commas"
            }
            Self::Contend => "up to 24 counts from 1 to 512, or ranges (A-B), separated by commas",
            Self::Calls => {
                "up to 24 function IDs (0x and hexadecimal digits), or ranges (A-B), separated by \
                 commas"
            }
            Self::Deepest | Self::Core => "a power_state: 0x and 1 to 8 hexadecimal digits",
            Self::Iterations
            | Self::Warmup
            | Self::Loops
            | Self::Batch
            | Self::Duration
            | Self::Period
            | Self::Threshold
            | Self::CpuOnAfter
            | Self::Offsets
            | Self::Repeats => "",
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
    let letter = |text: &str, place: usize| text.as_bytes()[place - 1].to_ascii_lowercase();
    // Each entry is the distance between the first letters of the key and the word.
    let mut distances = [[0u8; COLUMNS]; LENGTH_MAX + 1];
    for row in 0..=key.len() {
        for column in 0..=word.len() {
            distances[row][column] = if row == 0 || column == 0 {
                (row + column) as u8
            } else {
                let (own, other) = (letter(key, row), letter(word, column));
                let removed = distances[row - 1][column] + 1;
                let inserted = distances[row][column - 1] + 1;
                let replaced = distances[row - 1][column - 1] + u8::from(own != other);
                let is_exchanged = row > 1
                    && column > 1
                    && own == letter(word, column - 1)
                    && other == letter(key, row - 1);
                let exchanged = match is_exchanged {
                    true => distances[row - 2][column - 2] + 1,
                    false => u8::MAX,
                };
                removed.min(inserted).min(replaced).min(exchanged)
            };
        }
    }
    Some(distances[key.len()][word.len()])
}

fn write_words(
    f: &mut fmt::Formatter<'_>,
    words: impl IntoIterator<Item = &'static str>,
) -> fmt::Result {
    let mut words = words.into_iter();
    words.try_for_each(|word| write!(f, " {word}"))
}

/// An invalid word in the boot arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanError<'a> {
    /// The word, as written.
    pub word: &'a str,
    /// The word's position among all words, counting from 1.
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
                f.write_str("unknown key; valid keys are")?;
                write_words(f, Key::ALL.map(Key::word))
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
