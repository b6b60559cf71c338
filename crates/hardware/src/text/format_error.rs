//! The error type for malformed input.

use alloc::boxed::Box;
use alloc::fmt::format;
use core::fmt;

/// An ASCII message that explains why input in some format cannot be used. Includes the problem,
/// its location and, if applicable, the accepted values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError(Box<str>);

/// The result of parsing input.
pub(crate) type Result<T, E = FormatError> = core::result::Result<T, E>;

impl FormatError {
    /// Creates an error from an ASCII message.
    #[cold]
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
