//! `text`: for terminals.

use std::io::Write;

use anyhow::Result;

use super::document::Block;
use super::exporter::{Exporter, Options, Report, Takes};
use super::report_document::document;

/// The exporter.
pub(super) struct Text;

impl Exporter for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn about(&self) -> &'static str {
        "aligned tables for a terminal"
    }

    fn takes(&self) -> Takes {
        Takes::RESULTS
    }

    fn write(&self, report: &Report, _: &Options, out: &mut dyn Write) -> Result<()> {
        for block in document(report) {
            match block {
                Block::Title(text) | Block::Heading(text) => writeln!(out, "{text}\n")?,
                Block::Scenario(name, ..) => writeln!(out, "{name}")?,
                Block::Definitions(lines) => {
                    for (name, text) in lines {
                        writeln!(out, "  {name:<11} {text}")?;
                    }
                    writeln!(out)?;
                }
                Block::Warning(text) => writeln!(out, "warning: {text}\n")?,
                Block::Paragraph(text) => writeln!(out, "  {text}\n")?,
                Block::Table(table) => table.plain(out)?,
                Block::Remarks(all) => {
                    for remark in all {
                        writeln!(out, "  * {}", remark.sentence())?;
                    }
                    writeln!(out)?;
                }
                Block::Charts(..) => {}
            }
        }
        Ok(())
    }
}
