//! Numbers as strings in hexadecimal, for serde's `with`: programs that read
//! JSON keep only 53 bits of a number.

use alloc::string::String;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Writes `number` as `"0x…"`.
///
/// # Errors
/// Those of `to`.
pub fn serialize<T, S>(number: &T, to: S) -> Result<S::Ok, S::Error>
where
    T: Copy + Into<u64>,
    S: Serializer,
{
    to.collect_str(&format_args!("{:#x}", (*number).into()))
}

/// Reads such a string.
///
/// # Errors
/// Those of `from`, and a string that is no such number or too large for `T`.
pub fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: TryFrom<u64>,
    D: Deserializer<'de>,
{
    let text = String::deserialize(from)?;
    let digits = text.strip_prefix("0x");
    let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let number = number.and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| de::Error::invalid_value(de::Unexpected::Str(&text), &"0x and digits"))
}

/// Numbers that may be missing.
pub mod option {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    /// A number as `"0x…"`.
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Hex<T>(
        #[serde(with = "super")]
        #[serde(bound(serialize = "T: Copy + Into<u64>", deserialize = "T: TryFrom<u64>"))]
        T,
    );

    /// Writes `number` as `"0x…"`, or null.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn serialize<T, S>(number: &Option<T>, to: S) -> Result<S::Ok, S::Error>
    where
        T: Copy + Into<u64>,
        S: Serializer,
    {
        number.map(Hex).serialize(to)
    }

    /// Reads such a string, or null.
    ///
    /// # Errors
    /// Those of [`super::deserialize`].
    pub fn deserialize<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
    where
        T: TryFrom<u64>,
        D: Deserializer<'de>,
    {
        Ok(Option::<Hex<T>>::deserialize(from)?.map(|hex| hex.0))
    }
}
