//! The reasons for which a log has no report.

use std::fmt;

/// The reason for which a log has no report, with the log's name.
#[derive(Debug)]
pub enum ReadError {
    /// The log cannot be read.
    Io(String),
    /// The log has no run.
    NoRun(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Io(message) | Self::NoRun(message)) = self;
        f.write_str(message)
    }
}

impl std::error::Error for ReadError {}
