//! Errors in board files, reported by line.

use std::fmt::Display;

use anyhow::anyhow;
use toml::de::{DeTable, DeValue};

/// An error in a board file.
pub(super) struct BoardFault {
    /// The path to the value, such as `gic.v3.redistributors[1]`.
    path: String,
    reason: String,
}

/// Returns an error with the value's path and the reason if `holds` is false.
pub(super) fn require(
    holds: bool,
    path: impl Display,
    reason: impl Display,
) -> Result<(), BoardFault> {
    if holds {
        return Ok(());
    }
    Err(BoardFault::new(path, reason))
}

impl BoardFault {
    pub(super) fn new(path: impl Display, reason: impl Display) -> Self {
        Self {
            path: path.to_string(),
            reason: reason.to_string(),
        }
    }

    /// Returns the error message. `name` and `text` are the file name and contents.
    pub(super) fn in_file(&self, name: &str, text: &str) -> anyhow::Error {
        let Self { path, reason } = self;
        let line = line(text, offset(text, path));
        anyhow!("{name}:{line}: {path}: {reason}")
    }
}

/// Returns the line number at `offset` in `text`.
pub(super) fn line(text: &str, offset: usize) -> usize {
    let before = text.bytes().take(offset);
    before.filter(|byte| *byte == b'\n').count() + 1
}

/// Returns the offset of the value at `path`. If the value is missing, returns the offset of the
/// innermost table or list on that path.
fn offset(text: &str, path: &str) -> usize {
    let Ok(root) = DeTable::parse(text) else {
        return 0;
    };
    let root = DeValue::Table(root.into_inner());
    let mut start = 0;
    let mut here = &root;
    for step in path.split(['.', '[']) {
        let next = match here {
            DeValue::Table(table) => table.get(step),
            DeValue::Array(list) => {
                let index = step.trim_end_matches(']').parse::<usize>();
                index.ok().and_then(|index| list.get(index))
            }
            _ => None,
        };
        let Some(next) = next else { break };
        start = next.span().start;
        here = next.get_ref();
    }
    start
}
