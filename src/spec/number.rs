//! Numbers as they are printed. All are `u64` where they reach a format
//! string, since each other type's `Display` would be another 350 bytes of the
//! payload; those below zero are printed by this.

use core::fmt;

/// A number that may be below zero.
pub(crate) struct Signed(pub(crate) i64);

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}", self.0.unsigned_abs())
    }
}
