//! A file in a release.

/// A file in a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseFile {
    /// The path in the release, with `/`.
    pub path: String,
    /// The contents.
    pub data: Vec<u8>,
    /// True for a program for the host.
    pub is_program: bool,
}

impl ReleaseFile {
    /// Returns a file that is not a program for the host.
    pub(super) fn new(path: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self {
            path: path.into(),
            data: data.into(),
            is_program: false,
        }
    }
}
