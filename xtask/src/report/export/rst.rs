//! `rst`: grid tables with the columns of TF-A's documentation up to v2.14.

use std::io::{self, Write};

use anyhow::Result;

use super::document::Block;
use super::escape::rst;
use super::exporter::{Exporter, Options, Report, Takes};
use super::report_document::document;

/// The exporter.
pub(super) struct Rst;

impl Exporter for Rst {
    fn name(&self) -> &'static str {
        "rst"
    }

    fn about(&self) -> &'static str {
        "reStructuredText with grid tables, as in TF-A's docs/perf up to v2.14"
    }

    fn takes(&self) -> Takes {
        Takes::RESULTS
    }

    fn write(&self, report: &Report, _: &Options, out: &mut dyn Write) -> Result<()> {
        for block in document(report) {
            match block {
                Block::Title(text) => heading(out, &text, "=")?,
                Block::Heading(text) | Block::Scenario(text, ..) => heading(out, &text, "-")?,
                Block::Definitions(lines) => {
                    for (name, text) in lines {
                        writeln!(out, "- {name}: {}", rst(&text))?;
                    }
                    writeln!(out)?;
                }
                Block::Warning(text) => writeln!(out, ".. warning:: {}\n", rst(&text))?,
                Block::Paragraph(text) => writeln!(out, "{}\n", rst(&text))?,
                Block::Table(table) => table.grid(out)?,
                Block::Remarks(all) => {
                    for remark in all {
                        writeln!(out, "- {}", rst(&remark.sentence()))?;
                    }
                    writeln!(out)?;
                }
                Block::Charts(..) => {}
            }
        }
        Ok(())
    }
}

fn heading(out: &mut dyn Write, text: &str, stroke: &str) -> io::Result<()> {
    let text = rst(text);
    writeln!(out, "{text}\n{}\n", stroke.repeat(text.chars().count()))
}
