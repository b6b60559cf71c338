//! The reason for which a device tree is refused, by node and property.

use alloc::boxed::Box;
use alloc::fmt::format;
use core::fmt;

/// The result of reading a part of a device tree.
pub(crate) type Result<T, E = BoardError> = core::result::Result<T, E>;

/// The reason for which a device tree, or a part of it, cannot be used: path of the node
/// and property, if it is of one, the fault and, where there is a choice, the accepted
/// values; ASCII. Of a path of more than 60 bytes only the end is there, after "...".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardError(Box<str>);

impl BoardError {
    #[cold]
    #[inline(never)]
    pub(crate) fn new(message: fmt::Arguments<'_>) -> Self {
        Self(format(message).into_boxed_str())
    }
}

impl fmt::Display for BoardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for BoardError {}
