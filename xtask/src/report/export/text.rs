//! `text`: for terminals.

use std::io::Write;

use anyhow::Result;

use super::exporter::{Exporter, Options, Report, Takes};
use super::{compared, content, matrix, merged, method};

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
        if let Some(several) = &report.matrix {
            for table in matrix::tables(several, &report.runs) {
                table.plain(out)?;
            }
            for remark in matrix::remarks(several, &report.runs) {
                writeln!(out, "  * {remark}")?;
            }
            return Ok(());
        }
        for run in &report.runs {
            for (name, text) in method::method(run) {
                writeln!(out, "{name:<11} {text}")?;
            }
            for warning in content::warnings(run) {
                writeln!(out, "warning: {warning}")?;
            }
            writeln!(out)?;
            for test in &run.tests {
                let tables = content::tables(run, test);
                if tables.is_empty() {
                    writeln!(out, "{}", test.name())?;
                }
                for table in tables {
                    table.plain(out)?;
                }
                writeln!(out, "  {}", content::conditions(run, test))?;
                for remark in content::sentences(run, test) {
                    writeln!(out, "  * {remark}")?;
                }
                writeln!(out)?;
            }
        }
        if let (Some(several), [run, ..]) = (&report.merged, report.runs.as_slice()) {
            for table in merged::tables(run, several) {
                table.plain(out)?;
            }
        }
        for comparison in &report.comparisons {
            let Some(run) = report.runs.get(comparison.run) else {
                continue;
            };
            writeln!(out, "Comparison")?;
            for (name, text) in compared::method(run, comparison) {
                writeln!(out, "  {name:<9} {text}")?;
            }
            writeln!(out)?;
            for remark in compared::sentences(run, comparison) {
                writeln!(out, "  * {remark}")?;
            }
            writeln!(out)?;
            for table in compared::tables(run, comparison) {
                table.plain(out)?;
            }
        }
        Ok(())
    }
}
