//! `md`: Markdown, as forges show it.

use std::io::Write;

use anyhow::Result;

use super::document::Block;
use super::escape::md;
use super::exporter::{Exporter, Options, Report, Takes};
use super::report_document::document;

/// The exporter.
pub(super) struct Markdown;

impl Exporter for Markdown {
    fn name(&self) -> &'static str {
        "md"
    }

    fn about(&self) -> &'static str {
        "Markdown with tables, for forges and wikis"
    }

    fn takes(&self) -> Takes {
        Takes::RESULTS
    }

    fn write(&self, report: &Report, _: &Options, out: &mut dyn Write) -> Result<()> {
        for block in document(report) {
            match block {
                Block::Title(text) => writeln!(out, "# {}\n", md(&text))?,
                Block::Heading(text) | Block::Scenario(text, ..) => {
                    writeln!(out, "## {}\n", md(&text))?
                }
                Block::Definitions(lines) => {
                    for (name, text) in lines {
                        writeln!(out, "- {name}: {}", md(&text))?;
                    }
                    writeln!(out)?;
                }
                Block::Warning(text) => writeln!(out, "> **Warning**: {}\n", md(&text))?,
                Block::Paragraph(text) => writeln!(out, "{}\n", md(&text))?,
                Block::Table(table) => table.markdown(out)?,
                Block::Remarks(all) => {
                    for remark in all {
                        writeln!(out, "- {}", md(&remark.sentence()))?;
                    }
                    writeln!(out)?;
                }
                Block::Charts(..) => {}
            }
        }
        Ok(())
    }
}
