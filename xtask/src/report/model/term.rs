//! Words of a vocabulary that may grow.
//!
//! A log may come of a later psci-bench: a scenario, a metric or a reason that
//! is not known here is kept by its word, so that it can be shown and counted.

use std::fmt;

use psci_bench::image::Conduit;
use psci_bench::measure::{Metric, Reason};
use psci_bench::model::{How, Measure};
use psci_bench::plan::{EndAction, Method, ScenarioId, WakePattern};
use psci_bench::spec::psci::StateFormat;

/// An enumeration whose values go by words in records.
pub trait Vocabulary: Copy + PartialEq + 'static {
    /// All values.
    const VALUES: &'static [Self];

    /// The word that stands for a value.
    fn word(self) -> &'static str;
}

/// A word of a vocabulary, or one that is not in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term<T> {
    /// One that is known here.
    Known(T),
    /// One that is not.
    Other(Box<str>),
}

impl<T: Vocabulary> Term<T> {
    /// What `word` stands for. Records write `_` where a word has `-`.
    #[must_use]
    pub fn of(word: &str) -> Self {
        let same = |value: &&T| same(value.word(), word);
        match T::VALUES.iter().find(same) {
            Some(value) => Self::Known(*value),
            None => Self::Other(word.into()),
        }
    }

    /// The word.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Known(value) => value.word(),
            Self::Other(word) => word,
        }
    }

    /// The value, where it is known.
    #[must_use]
    pub fn known(&self) -> Option<T> {
        match self {
            Self::Known(value) => Some(*value),
            Self::Other(_) => None,
        }
    }

    /// Whether it is this value.
    #[must_use]
    pub fn is(&self, value: T) -> bool {
        self.known() == Some(value)
    }
}

impl<T: Vocabulary> fmt::Display for Term<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// Whether `a` and `b` differ at most in `-` and `_`.
fn same(a: &str, b: &str) -> bool {
    let plain = |byte: u8| if byte == b'-' { b'_' } else { byte };
    a.len() == b.len() && a.bytes().map(plain).eq(b.bytes().map(plain))
}

impl Vocabulary for ScenarioId {
    const VALUES: &'static [Self] = &Self::ALL;
    fn word(self) -> &'static str {
        self.tag()
    }
}

impl Vocabulary for Method {
    const VALUES: &'static [Self] = &[Self::Tftf, Self::Warm];
    fn word(self) -> &'static str {
        Method::word(self)
    }
}

impl Vocabulary for WakePattern {
    const VALUES: &'static [Self] = &[Self::Together, Self::Staggered, Self::Chain];
    fn word(self) -> &'static str {
        WakePattern::word(self)
    }
}

impl Vocabulary for Metric {
    const VALUES: &'static [Self] = &Self::ALL;
    fn word(self) -> &'static str {
        self.key()
    }
}

impl Vocabulary for How {
    const VALUES: &'static [Self] = &Self::BOTH;
    fn word(self) -> &'static str {
        How::word(self)
    }
}

impl Vocabulary for Measure {
    const VALUES: &'static [Self] = &Self::ALL;
    fn word(self) -> &'static str {
        self.key()
    }
}

impl Vocabulary for Reason {
    const VALUES: &'static [Self] = &Self::ALL;
    fn word(self) -> &'static str {
        self.key()
    }
}

impl Vocabulary for Conduit {
    const VALUES: &'static [Self] = &[Self::Smc, Self::Hvc];
    fn word(self) -> &'static str {
        match self {
            Self::Smc => "smc",
            Self::Hvc => "hvc",
        }
    }
}

impl Vocabulary for StateFormat {
    const VALUES: &'static [Self] = &[Self::Original, Self::Extended];
    fn word(self) -> &'static str {
        match self {
            Self::Original => "original",
            Self::Extended => "extended",
        }
    }
}

impl Vocabulary for EndAction {
    const VALUES: &'static [Self] = &[Self::Off, Self::Park, Self::Reset];
    fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Park => "park",
            Self::Reset => "reset",
        }
    }
}

/// A key and a value that this version does not know.
pub type Other = (String, String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_known_in_both_spellings() {
        for word in ["early-wake", "early_wake"] {
            assert_eq!(Term::of(word), Term::Known(Reason::EarlyWake));
        }
        let later: Term<Reason> = Term::of("moonlight");
        assert_eq!((later.word(), later.known()), ("moonlight", None));
        for id in ScenarioId::ALL {
            assert!(Term::of(id.tag()).is(id));
        }
    }
}
