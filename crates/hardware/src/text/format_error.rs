//! The reason why bytes from outside are rejected.

use alloc::boxed::Box;
use alloc::fmt::format;
use core::fmt;

/// The reason why bytes in some format cannot be used, in ASCII: the fault, its place and, if there
/// is a choice, the accepted values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError(Box<str>);

/// The result of reading bytes from outside.
pub(crate) type Result<T, E = FormatError> = core::result::Result<T, E>;

impl FormatError {
    /// Builds the reason from a message, in ASCII.
    #[cold]
    #[inline(never)]
    pub fn new(message: fmt::Arguments<'_>) -> Self {
        Self(format(message).into_boxed_str())
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for FormatError {}
