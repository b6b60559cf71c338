//! Enumerations whose values stand for words in boot arguments and records.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{self, Deserializer};

/// A value that stands for a word.
pub trait Word: Copy + PartialEq + 'static {
    /// All values, in the order of their definition.
    const VALUES: &'static [Self];

    /// Returns the word.
    fn word(self) -> &'static str;

    /// Returns the value of a word; None for other words.
    fn from_word(word: &str) -> Option<Self> {
        let mut values = Self::VALUES.iter().copied();
        values.find(|value| value.word() == word)
    }
}

/// Reads a value from the string that is its word.
pub(crate) fn deserialize<'de, W: Word, D: Deserializer<'de>>(from: D) -> Result<W, D::Error> {
    struct Visitor<W>(PhantomData<W>);

    impl<W: Word> de::Visitor<'_> for Visitor<W> {
        type Value = W;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("one of")?;
            W::VALUES
                .iter()
                .try_for_each(|value| write!(f, " {}", value.word()))
        }

        fn visit_str<E: de::Error>(self, word: &str) -> Result<W, E> {
            W::from_word(word).ok_or_else(|| E::invalid_value(de::Unexpected::Str(word), &self))
        }
    }

    from.deserialize_str(Visitor(PhantomData))
}

/// Defines such an enumeration, and the method that returns the word.
macro_rules! words {
    (
        $(#[$about:meta])*
        pub enum $name:ident, $method:ident {
            $($(#[$doc:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// The number of values.
            pub const COUNT: usize = [$($word),+].len();

            /// All values, in the order of their definition.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$variant),+];

            /// Returns the word, in boot arguments and records.
            pub const fn $method(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl $crate::spec::words::Word for $name {
            const VALUES: &'static [Self] = &Self::ALL;

            fn word(self) -> &'static str {
                self.$method()
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.$method())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::spec::words::deserialize(from)
            }
        }
    };
}

pub(crate) use words;
