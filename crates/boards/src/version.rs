//! Versions of TF-A and QEMU.

use serde::{Deserialize, Deserializer, de};

/// A version without its patch level, such as 2.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The number before the dot.
    pub major: u32,
    /// The number after the dot.
    pub minor: u32,
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Version {
    /// Parses "2.12" or "2.12.1".
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.').map(|number| number.parse().ok());
        let major = numbers.next()??;
        let minor = numbers.next()??;
        Some(Self { major, minor })
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let form = || de::Error::custom(format!("{text:?} is not a version such as \"2.12\""));
        Self::parse(&text).ok_or_else(form)
    }
}
