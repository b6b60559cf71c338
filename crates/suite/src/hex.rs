//! Numbers as hexadecimal strings, for serde's `with` attribute, because many JSON parsers preserve
//! only 53 bits of a number.

use alloc::string::String;

use serde::{Deserialize, Deserializer, Serializer, de};

/// Writes `number` as `"0x…"`.
pub fn serialize<T: Copy + Into<u64>, S: Serializer>(number: &T, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("{:#x}", (*number).into()))
}

/// Parses a string in this format. The number must fit in `T`.
pub fn deserialize<'de, T: TryFrom<u64>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    parse(&String::deserialize(from)?)
}

/// Parses a number with exactly eight digits, the format of identities and checksums in records.
/// Returns None for any other string. Uppercase digits are never sent, so an uppercase digit means
/// that a bit has flipped.
pub(crate) fn parse_word(text: &str) -> Option<u32> {
    if text.len() != 8 {
        return None;
    }
    text.bytes().try_fold(0, |number: u32, letter| {
        let digit = match letter {
            b'0'..=b'9' => letter - b'0',
            b'a'..=b'f' => letter - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u32::from(digit))
    })
}

/// Parses `0x` and digits.
fn parse<T: TryFrom<u64>, E: de::Error>(text: &str) -> Result<T, E> {
    text.strip_prefix("0x")
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &"0x and digits"))
}

/// Optional numbers.
pub mod option {
    use super::{Deserialize, Deserializer, Serializer, String};

    /// Writes `number` as `"0x…"`, or null.
    pub fn serialize<T: Copy + Into<u64>, S: Serializer>(
        number: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match number {
            Some(number) => super::serialize(number, to),
            None => to.serialize_none(),
        }
    }

    /// Parses a string in this format, or null.
    pub fn deserialize<'de, T: TryFrom<u64>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.as_deref().map(super::parse).transpose()
    }
}
