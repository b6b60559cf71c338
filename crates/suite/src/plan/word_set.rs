//! Sets of words, as boot arguments take them.

use alloc::string::String;
use core::fmt;
use core::marker::PhantomData;

use hardware::text::join::join;
use hardware::text::keywords::Word;

/// A set of at most eight words of one kind. In boot arguments, it is a list separated by commas.
/// A set from a boot argument is not empty, but others may be.
pub struct WordSet<T> {
    /// One bit for each of [`Word::VALUES`].
    bits: u8,
    words: PhantomData<T>,
}

impl<T: Word> WordSet<T> {
    /// Returns the set of the values with these indices in [`Word::VALUES`].
    pub(super) const fn from_indices(indices: &[u8]) -> Self {
        let mut bits = 0;
        let mut nth = 0;
        while nth < indices.len() {
            bits |= 1 << indices[nth];
            nth += 1;
        }
        Self {
            bits,
            words: PhantomData,
        }
    }

    /// Returns the set of these values.
    pub fn from_values(values: &[T]) -> Self {
        let mut set = Self::from_indices(&[]);
        for value in values {
            set.bits |= Self::bit(*value);
        }
        set
    }

    /// Parses a list of words; None if a word is unknown.
    pub(super) fn parse_list(list: &str) -> Option<Self> {
        let mut set = Self::from_indices(&[]);
        for word in list.split(',') {
            set.bits |= Self::bit(T::from_word(word)?);
        }
        Some(set)
    }

    /// Returns the bit for a value.
    fn bit(value: T) -> u8 {
        let index = T::VALUES
            .iter()
            .position(|known_value| *known_value == value);
        1 << index.expect("every value is in the list")
    }

    /// Returns true if the set contains the value.
    pub fn contains(self, value: T) -> bool {
        self.bits & Self::bit(value) != 0
    }

    /// Removes a value.
    pub fn remove(&mut self, value: T) {
        self.bits &= !Self::bit(value);
    }

    /// Returns the values, in the order of [`Word::VALUES`].
    pub fn iter(self) -> impl Iterator<Item = T> + Clone {
        let values = T::VALUES.iter().copied();
        values.filter(move |value| self.contains(*value))
    }

    /// Returns the values as written in a boot argument.
    pub fn list(self) -> String {
        join(self.iter().map(T::word), ",")
    }
}

impl<T> Clone for WordSet<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for WordSet<T> {}

impl<T> PartialEq for WordSet<T> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}

impl<T> Eq for WordSet<T> {}

impl<T: Word> fmt::Debug for WordSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.list())
    }
}
