//! Formats counts with nouns.

use alloc::string::{String, ToString as _};
use core::fmt;

/// A count and a noun: `1 cluster`, `2 clusters`.
#[derive(Clone, Copy)]
pub struct Many(pub u64, pub &'static str);

impl fmt::Display for Many {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, Plural(self.0, self.1))
    }
}

/// Only the noun: `batch`, `batches`.
#[derive(Clone, Copy)]
pub struct Plural(pub u64, pub &'static str);

impl fmt::Display for Plural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = match self.0 {
            1 => "",
            _ if self.1.ends_with('h') => "es",
            _ => "s",
        };
        write!(f, "{}{end}", self.1)
    }
}

/// Returns a count and a noun: `1 CPU`, `2 CPUs`.
pub fn many(count: usize, word: &'static str) -> String {
    Many(count as u64, word).to_string()
}
