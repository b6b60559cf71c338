//! Enums whose values have keywords for use in boot arguments and records.

/// A value with a keyword.
pub trait Word: Copy + PartialEq + 'static {
    /// All values, in definition order.
    const VALUES: &'static [Self];

    /// Returns the keyword.
    fn word(self) -> &'static str;

    /// Returns the value for a keyword, or None if the keyword is unknown.
    fn from_word(word: &str) -> Option<Self> {
        let mut values = Self::VALUES.iter().copied();
        values.find(|value| value.word() == word)
    }
}

/// Defines an enum that implements [`Word`]. Takes a keyword for each variant and the name of the
/// method that returns the keyword.
///
/// [`Word`]: crate::text::keywords::Word
#[macro_export]
macro_rules! words {
    (
        $(#[$about:meta])*
        pub enum $name:ident, $method:ident {
            $($(#[$doc:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Deserialize,
        )]
        #[repr(u8)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// The number of values.
            pub const COUNT: usize = [$($word),+].len();

            /// All values, in definition order.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$variant),+];

            /// Returns the keyword used in boot arguments and records.
            pub const fn $method(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        // Derived code would have a second copy of the list of keywords.
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.$method())
            }
        }

        impl $crate::text::keywords::Word for $name {
            const VALUES: &'static [Self] = &Self::ALL;

            fn word(self) -> &'static str {
                self.$method()
            }
        }
    };
}
