//! A file for a board.

/// A file for the board and what to do with it.
pub(super) struct BoardEntry {
    /// The path in the output folder.
    pub(super) path: String,
    /// The contents.
    pub(super) data: Vec<u8>,
    /// A sentence that explains what to do with the file.
    pub(super) install: String,
}

impl BoardEntry {
    pub(super) fn new(path: impl Into<String>, data: Vec<u8>, install: impl Into<String>) -> Self {
        let (path, install) = (path.into(), install.into());
        Self {
            path,
            data,
            install,
        }
    }
}
