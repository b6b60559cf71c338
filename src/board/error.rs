//! The reason for which a device tree is refused, by node and property.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt::{self, Write};

/// The result of reading a part of a device tree. The error is boxed because many calls
/// return it, and the image has little room for code that moves it.
pub(crate) type Result<T, E = Box<BoardError>> = core::result::Result<T, E>;

/// The reason for which a device tree, or the named part of it, cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardError {
    /// Path of the node in at most 60 bytes: a longer one has lost its beginning
    /// to "...". Empty for the root, and for the tree as a whole.
    pub path: String,
    /// The property; empty if the node itself is refused.
    pub property: &'static str,
    /// The fault and, where there is a choice, the accepted values; ASCII.
    pub message: String,
}

impl BoardError {
    #[cold]
    #[inline(never)]
    pub(crate) fn new(
        path: String,
        property: &'static str,
        words: fmt::Arguments<'_>,
    ) -> Box<Self> {
        let mut message = String::new();
        // Writing to a string does not fail.
        let _ = message.write_fmt(words);
        Box::new(Self {
            path,
            property,
            message,
        })
    }

    /// Makes an error of the tree as a whole.
    #[cold]
    pub(crate) fn of_tree(message: fmt::Arguments<'_>) -> Box<Self> {
        Self::new(String::new(), "", message)
    }
}

impl From<Box<Self>> for BoardError {
    fn from(error: Box<Self>) -> Self {
        *error
    }
}

impl fmt::Display for BoardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, message) = (&self.path, &self.message);
        match (path.as_str(), self.property) {
            ("", "") => f.write_str(message),
            (path, "") => write!(f, "{path}: {message}"),
            ("", property) => write!(f, "/ {property}: {message}"),
            (path, property) => write!(f, "{path} {property}: {message}"),
        }
    }
}

impl core::error::Error for BoardError {}
