//! What the list of rules states about the checks in one file.

use core::fmt;

use super::checks::Fitness;
use crate::model::Rule;

/// The checks in one file: the rules that they verify, and the code that performs them.
pub(super) struct Group {
    pub(super) rules: &'static [&'static Rule],
    /// Performs the checks, and adds their results.
    pub(super) check: fn(&mut Fitness<'_>) -> fmt::Result,
    /// True if the checks are only performed on request, because incorrect firmware may not
    /// survive them.
    pub(super) is_destructive: bool,
}

impl Group {
    /// The defaults for a group.
    pub(super) const NONE: Self = Self {
        rules: &[],
        check: |_| Ok(()),
        is_destructive: false,
    };
}
