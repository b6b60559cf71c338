//! Numbers of things in sentences.

use core::fmt;

/// A number of things: `1 cluster`, `2 clusters`.
#[derive(Clone, Copy)]
pub struct Many(pub u64, pub &'static str);

impl fmt::Display for Many {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, Plural(self.0, self.1))
    }
}

/// The things alone: `batch`, `batches`.
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
