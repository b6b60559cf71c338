//! `text` for terminals, `md` for forges, and `rst` with the columns used in the TF-A documentation
//! up to v2.14.

use std::io::{self, Write};

use anyhow::Result;
use suite::output::TableStyle;

use super::document::Block;
use super::escape::{line, markup, xml};
use super::issue_document::issue;
use super::report_data::Report;
use super::report_document::document;
use super::table;

pub(super) struct Markup {
    escape: fn(&str) -> String,
    title: fn(&str) -> String,
    heading: fn(&str) -> String,
    scenario: fn(&str) -> String,
    definition: fn(&str, &str) -> String,
    headline: fn(&str) -> String,
    /// The text before the summary of a folded part, between the summary and the part, and after
    /// the part; None if nothing can be folded.
    folded: Option<[&'static str; 3]>,
    warning: &'static str,
    paragraph: &'static str,
    item: &'static str,
    table: &'static TableStyle,
}

pub(super) const TEXT: Markup = Markup {
    escape: line,
    title: |text| format!("{text}\n"),
    heading: |text| format!("{text}\n"),
    scenario: str::to_owned,
    definition: |name, text| format!("  {name:<11} {text}"),
    headline: str::to_owned,
    folded: None,
    warning: "warning: ",
    paragraph: "  ",
    item: "  * ",
    table: &table::TEXT,
};

pub(super) const MARKDOWN: Markup = Markup {
    escape: markup,
    title: |text| format!("# {text}\n"),
    heading: |text| format!("## {text}\n"),
    scenario: |text| format!("## {text}\n"),
    definition: |name, text| format!("- {name}: {text}"),
    headline: |text| format!("**{text}**"),
    folded: Some(["<details><summary>", "</summary>\n\n", "</details>\n\n"]),
    warning: "> **Warning**: ",
    paragraph: "",
    item: "- ",
    table: &table::MARKDOWN,
};

pub(super) const RST: Markup = Markup {
    title: |text| underlined(text, "="),
    heading: |text| underlined(text, "-"),
    scenario: |text| underlined(text, "-"),
    folded: None,
    warning: ".. warning:: ",
    table: &table::RST,
    ..MARKDOWN
};

fn underlined(text: &str, stroke: &str) -> String {
    format!("{text}\n{}\n", stroke.repeat(text.chars().count()))
}

pub(crate) fn write_text(report: &Report, out: &mut dyn Write) -> Result<()> {
    write_blocks(document(report), out)
}

/// Writes a document for a terminal.
pub fn write_blocks<'r>(
    blocks: impl IntoIterator<Item = Block<'r>>,
    out: &mut dyn Write,
) -> Result<()> {
    Ok(TEXT.write(blocks, out)?)
}

/// Writes the report or, if checks failed in all of its runs, an issue about these checks.
pub(crate) fn write_markdown(report: &Report, out: &mut dyn Write) -> Result<()> {
    match issue(report) {
        Some(issue) => MARKDOWN.write(issue, out)?,
        None => MARKDOWN.write(document(report), out)?,
    }
    Ok(())
}

pub(crate) fn write_rst(report: &Report, out: &mut dyn Write) -> Result<()> {
    Ok(RST.write(document(report), out)?)
}

impl Markup {
    pub(super) fn write<'r>(
        &self,
        blocks: impl IntoIterator<Item = Block<'r>>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let escape = self.escape;
        // The number of parts around the block, counted from the outermost one that is omitted.
        let mut omitted = 0;
        for block in blocks {
            match block {
                Block::Folded(_) if omitted > 0 => omitted += 1,
                Block::FoldedEnd if omitted > 0 => omitted -= 1,
                _ if omitted > 0 => {}
                Block::Folded(folded) => {
                    let summary = escape(&folded.summary);
                    match self.folded {
                        // In Markdown, the summary is HTML.
                        Some([before, after, _]) => {
                            write!(out, "{before}{}{after}", xml(&folded.summary))?
                        }
                        None if folded.is_essential => {
                            writeln!(out, "{}", (self.heading)(&summary))?
                        }
                        None => {
                            omitted = 1;
                            writeln!(out, "{}{summary}: see --full\n", self.paragraph)?;
                        }
                    }
                }
                Block::FoldedEnd => {
                    let end = self.folded.map_or("", |[.., end]| end);
                    write!(out, "{end}")?;
                }
                Block::Headline(headline) => {
                    writeln!(out, "{}\n", (self.headline)(&escape(&headline.text)))?
                }
                Block::Title(text) => writeln!(out, "{}", (self.title)(&escape(&text)))?,
                Block::Heading(text) => writeln!(out, "{}", (self.heading)(&escape(&text)))?,
                Block::Scenario(heading) => {
                    writeln!(out, "{}", (self.scenario)(&escape(&heading.text)))?
                }
                Block::Warning(text) => writeln!(out, "{}{}\n", self.warning, escape(&text))?,
                Block::Paragraph(text) => writeln!(out, "{}{}\n", self.paragraph, escape(&text))?,
                Block::Table(table) => {
                    let mut text = String::new();
                    table
                        .write(&mut text, self.table)
                        .expect("writing to a String cannot fail");
                    out.write_all(text.as_bytes())?;
                }
                Block::Definitions(lines) => {
                    for (name, text) in lines {
                        writeln!(out, "{}", (self.definition)(name, &escape(&text)))?;
                    }
                    writeln!(out)?;
                }
                Block::Remarks(remarks) => {
                    for remark in remarks {
                        writeln!(out, "{}{}", self.item, escape(&remark))?;
                    }
                    writeln!(out)?;
                }
                Block::Charts(_) | Block::Drawings(_) | Block::DrawingHeading(_) => {}
            }
        }
        Ok(())
    }
}
