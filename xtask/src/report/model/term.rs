//! Words of a vocabulary that may grow.
//!
//! A log may come of a later psci-bench: a scenario, a metric or a reason that
//! is not known here is kept by its word, so that it can be shown and counted.

use std::fmt;

use psci_bench::spec::words::Word;

/// A word of a vocabulary, or one that is not in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term<T> {
    /// One that is known here.
    Known(T),
    /// One that is not.
    Other(Box<str>),
}

impl<T: Word> Term<T> {
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

impl<T: Word> fmt::Display for Term<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// Whether `a` and `b` differ at most in `-` and `_`.
fn same(a: &str, b: &str) -> bool {
    let plain = |byte: u8| if byte == b'-' { b'_' } else { byte };
    a.len() == b.len() && a.bytes().map(plain).eq(b.bytes().map(plain))
}

/// A key and a value that this version does not know.
pub type Other = (String, String);

#[cfg(test)]
mod tests {
    use super::*;
    use psci_bench::measure::Reason;
    use psci_bench::plan::ScenarioId;

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
