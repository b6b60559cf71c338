//! Limits from which on something is said.

/// The share of the variance, in percent, that a straight line must
/// account for to be called a queue of even steps.
pub const R2_EVEN: u8 = 90;
/// Least share to be called a queue at all.
pub const R2_SOME: u8 = 50;
/// A flush is a last man's, and no step of the queue, from more than this
/// many times the round's median on.
const FAR_LONGER: u64 = 2;

/// By how much a flush is longer than its round's median; 0 where it is
/// not far longer, and so a step of the queue like all others.
#[must_use]
pub const fn excess(flush: u64, median: u64) -> u64 {
    if flush > median.saturating_mul(FAR_LONGER) {
        flush - median
    } else {
        0
    }
}

/// Figures of fewer ticks than this have a resolution worth a word: one
/// tick is more than 2 %, the tolerance with which TF-A's tables are
/// compared.
pub const COARSE: u64 = 50;
/// A wake-up is called one that waited where it took more than this many
/// times the least of its round.
pub const WAITED: u64 = 3;
