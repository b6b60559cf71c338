//! The kinds of values that boot arguments take: how each is read, written and described.

use alloc::format;
use alloc::string::{String, ToString as _};
use core::fmt;
use core::marker::PhantomData;

use hardware::board::Mpidr;
use hardware::text::join::join;
use hardware::text::keywords::Word;
use hardware::text::untrusted;

use super::scenario_set::ScenarioSet;
use super::sweep_values::{SweepValues, next_bytes, next_cpus, parse_cpu_count, parse_dirty_bytes};
use super::word_set::WordSet;

/// A kind of value.
pub trait ArgumentType {
    /// The type of the values.
    type Value: Copy;

    /// Returns the value, or None if the argument does not accept it.
    fn read(text: &str) -> Option<Self::Value>;

    /// Returns the value as it is written in a boot argument; None if it cannot be written, because
    /// it stands for the absence of the argument.
    fn write(value: &Self::Value) -> Option<String>;

    /// Describes the accepted values, after "takes".
    fn write_accepted(f: &mut dyn fmt::Write) -> fmt::Result;
}

/// A number in a range, in decimal.
pub struct Number<const MIN: u32, const MAX: u32>;

impl<const MIN: u32, const MAX: u32> ArgumentType for Number<MIN, MAX> {
    type Value = u32;

    fn read(text: &str) -> Option<u32> {
        let number = untrusted::parse_number(text.as_bytes(), 10)?;
        (MIN..=MAX).contains(&number).then_some(number)
    }

    fn write(number: &u32) -> Option<String> {
        Some(number.to_string())
    }

    fn write_accepted(f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "a number from {MIN} to {MAX}")
    }
}

/// A number of bytes in a range, in decimal, optionally in units of 1024 or 1024 * 1024.
pub struct Bytes<const MIN: u32, const MAX: u32>;

impl<const MIN: u32, const MAX: u32> ArgumentType for Bytes<MIN, MAX> {
    type Value = u32;

    fn read(text: &str) -> Option<u32> {
        let bytes = super::sweep_values::parse_bytes(text)?;
        (MIN..=MAX).contains(&bytes).then_some(bytes)
    }

    fn write(bytes: &u32) -> Option<String> {
        Some(bytes_text(*bytes))
    }

    fn write_accepted(f: &mut dyn fmt::Write) -> fmt::Result {
        Number::<MIN, MAX>::write_accepted(f)?;
        f.write_str(", optionally followed by K or M")
    }
}

/// Returns a number of bytes with the largest unit that divides it.
fn bytes_text(bytes: u32) -> String {
    match bytes {
        0 => "0".into(),
        _ if bytes.is_multiple_of(1 << 20) => format!("{}M", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{}K", bytes >> 10),
        _ => bytes.to_string(),
    }
}

/// A word from a list.
pub struct Choice<T>(PhantomData<T>);

impl<T: Word> ArgumentType for Choice<T> {
    type Value = T;

    fn read(text: &str) -> Option<T> {
        T::from_word(text)
    }

    fn write(value: &T) -> Option<String> {
        Some(value.word().into())
    }

    fn write_accepted(f: &mut dyn fmt::Write) -> fmt::Result {
        for (index, value) in T::VALUES.iter().enumerate() {
            f.write_str(match index {
                0 => "",
                _ if index + 1 == T::VALUES.len() => " or ",
                _ => ", ",
            })?;
            f.write_str(value.word())?;
        }
        Ok(())
    }
}

/// One or more words from a list, separated by commas.
pub struct List<T>(PhantomData<T>);

impl<T: Word> ArgumentType for List<T> {
    type Value = WordSet<T>;

    fn read(text: &str) -> Option<WordSet<T>> {
        WordSet::parse_list(text)
    }

    fn write(set: &WordSet<T>) -> Option<String> {
        Some(set.list())
    }

    fn write_accepted(f: &mut dyn fmt::Write) -> fmt::Result {
        write_words(f, T::VALUES.iter().map(|value| value.word()))
    }
}

/// Scenarios and groups of scenarios, or `help`.
pub struct Scenarios;

impl ArgumentType for Scenarios {
    type Value = ScenarioSet;

    fn read(text: &str) -> Option<ScenarioSet> {
        if text == ScenarioSet::HELP {
            return Some(ScenarioSet::EMPTY);
        }
        let mut set = ScenarioSet::EMPTY;
        for word in text.split(',') {
            set.insert(ScenarioSet::of_word(word)?);
        }
        let is_combined = set.is_first() && text != ScenarioSet::FIRST;
        (!is_combined).then_some(set)
    }

    fn write(set: &ScenarioSet) -> Option<String> {
        Some(set.list())
    }

    fn write_accepted(f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str("help, or ")?;
        write_words(f, ScenarioSet::words())
    }
}

/// A number in hexadecimal, so that `10000` cannot be misread.
pub struct PowerState;

impl ArgumentType for PowerState {
    type Value = u32;

    fn read(text: &str) -> Option<u32> {
        hexadecimal(text)
    }

    fn write(number: &u32) -> Option<String> {
        Some(format!("{number:#010x}"))
    }

    fn write_accepted(f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str("a power_state: 0x and 1 to 8 hexadecimal digits")
    }
}

/// Parses `0x` and 1 to 8 hexadecimal digits.
fn hexadecimal(text: &str) -> Option<u32> {
    let digits = text.as_bytes().strip_prefix(b"0x")?;
    if digits.len() > 8 {
        return None;
    }
    untrusted::parse_number(digits, 16)
}

/// A CPU's affinity, as in the log.
pub struct MpidrNumber;

impl ArgumentType for MpidrNumber {
    type Value = Mpidr;

    fn read(text: &str) -> Option<Mpidr> {
        let digits = text.strip_prefix("0x")?;
        let is_hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = is_hexadecimal.then(|| u64::from_str_radix(digits, 16).ok())??;
        Mpidr::try_from(number).ok()
    }

    fn write(mpidr: &Mpidr) -> Option<String> {
        Some(mpidr.to_string())
    }

    fn write_accepted(f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str("an MPIDR: 0x and 1 to 10 hexadecimal digits")
    }
}

/// Amounts of dirty data.
pub struct DirtySteps;

impl ArgumentType for DirtySteps {
    type Value = SweepValues;

    fn read(text: &str) -> Option<SweepValues> {
        SweepValues::parse(text, parse_dirty_bytes, next_bytes)
    }

    fn write(amounts: &SweepValues) -> Option<String> {
        let texts = amounts.as_slice().iter().map(|bytes| bytes_text(*bytes));
        Some(join(texts, ","))
    }

    fn write_accepted(f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str("up to 24 sizes from 0 to 64M, or doubling ranges (A-B), separated by commas")
    }
}

/// Numbers of CPUs.
pub struct CpuSteps;

impl ArgumentType for CpuSteps {
    type Value = SweepValues;

    fn read(text: &str) -> Option<SweepValues> {
        SweepValues::parse(text, parse_cpu_count, next_cpus)
    }

    fn write(counts: &SweepValues) -> Option<String> {
        Some(join(counts.as_slice().iter(), ","))
    }

    fn write_accepted(f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str("up to 24 counts from 1 to 512, or ranges (A-B), separated by commas")
    }
}

/// Function IDs.
pub struct FunctionIds;

impl ArgumentType for FunctionIds {
    type Value = SweepValues;

    fn read(text: &str) -> Option<SweepValues> {
        SweepValues::parse(text, hexadecimal, |id| id.saturating_add(1))
    }

    fn write(ids: &SweepValues) -> Option<String> {
        let texts = ids.as_slice().iter().map(|id| format!("{id:#x}"));
        Some(join(texts, ","))
    }

    fn write_accepted(f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str(
            "up to 24 function IDs (0x and hexadecimal digits), or ranges (A-B), separated by commas",
        )
    }
}

/// A value that may be absent.
pub struct Optional<K>(PhantomData<K>);

impl<K: ArgumentType> ArgumentType for Optional<K> {
    type Value = Option<K::Value>;

    fn read(text: &str) -> Option<Self::Value> {
        K::read(text).map(Some)
    }

    fn write(value: &Self::Value) -> Option<String> {
        K::write(value.as_ref()?)
    }

    fn write_accepted(f: &mut dyn fmt::Write) -> fmt::Result {
        K::write_accepted(f)
    }
}

/// Describes a list of words.
fn write_words<'w>(f: &mut dyn fmt::Write, words: impl Iterator<Item = &'w str>) -> fmt::Result {
    f.write_str("one or more of these, separated by commas:")?;
    for word in words {
        write!(f, " {word}")?;
    }
    Ok(())
}
