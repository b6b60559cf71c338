//! A board file's text, for messages with its lines.

use std::ops::Range;

use anyhow::anyhow;

/// The file, and as much of it as error messages need.
pub(super) struct Source<'s> {
    pub(super) name: &'s str,
    pub(super) text: &'s str,
}

impl Source<'_> {
    /// `reason`, with file and line of what is at `span`.
    pub(super) fn error(&self, span: Range<usize>, reason: &str) -> anyhow::Error {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        anyhow!("{}:{line}: {reason}", self.name)
    }

    /// Where the table of that path begins, or the file.
    pub(super) fn table(&self, path: &[&str]) -> Range<usize> {
        let heading = format!("[{}]", path.join("."));
        let at = self.text.find(&heading).unwrap_or(0);
        at..at + heading.len()
    }
}
