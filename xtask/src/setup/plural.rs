//! Words for one thing and for several.

use hardware::text::plural::{Many, Plural};

/// Returns the noun `what` in the singular or plural, by `count`.
pub(crate) fn plural(count: usize, what: &'static str) -> String {
    Plural(count as u64, what).to_string()
}

/// Returns a count of things: `1 CPU`, `2 CPUs`.
pub(crate) fn many(count: usize, what: &'static str) -> String {
    Many(count as u64, what).to_string()
}
