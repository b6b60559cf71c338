//! The two runs of a comparison.

use super::pair::Pairs;
use crate::report::model::Run;

/// The two runs, and what a change has to exceed.
pub(super) struct Judge<'r> {
    pub(super) new: &'r Run,
    pub(super) old: &'r Run,
    pub(super) pairs: &'r Pairs,
    /// Parts of a million.
    pub(super) tolerance: u32,
    /// One tick of the coarser side.
    pub(super) tick: u64,
}
