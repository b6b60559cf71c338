//! A document that is not about the results of runs, such as a tool's, and its formats.

use std::io::Write;

use anyhow::Result;
use hardware::words;
use serde::Serialize;

use super::document::Block;
use super::html::write_page;
use super::json::write_data;
use super::markup::{MARKDOWN, RST, TEXT};
use crate::log::LoggedRun;

words! {
    /// A format of a [`Document`].
    pub enum DocumentFormat, name {
        /// For a terminal.
        Text = "text",
        /// Markdown.
        Markdown = "md",
        /// reStructuredText.
        Rst = "rst",
        /// The data, without the blocks.
        Json = "json",
        /// A page for a browser.
        Html = "html",
    }
}

/// A document, and the data that it shows.
pub struct Document<'r, D> {
    /// The title of the HTML page.
    pub title: String,
    /// An explanation of how to read the HTML page.
    pub notes: &'static str,
    /// The contents, except in JSON.
    pub blocks: Vec<Block<'r>>,
    /// The runs behind the data, which JSON contains.
    pub runs: &'r [LoggedRun],
    /// The data, which is serialized as a map. JSON contains its keys after `runs`.
    pub data: D,
}

impl<D: Serialize> Document<'_, D> {
    /// Writes the document.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written to.
    pub fn write(self, format: DocumentFormat, out: &mut dyn Write) -> Result<()> {
        match format {
            DocumentFormat::Text => Ok(TEXT.write(self.blocks, out)?),
            DocumentFormat::Markdown => Ok(MARKDOWN.write(self.blocks, out)?),
            DocumentFormat::Rst => Ok(RST.write(self.blocks, out)?),
            DocumentFormat::Json => write_data(self.runs, self.data, out),
            DocumentFormat::Html => write_page(&self.title, self.notes, self.blocks, out),
        }
    }
}
