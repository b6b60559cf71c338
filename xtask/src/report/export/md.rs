//! `md`: Markdown, as forges show it.

use std::io::Write;

use anyhow::Result;

use super::escape::md;
use super::exporter::{Exporter, Options, Report, Takes};
use super::{compared, content, matrix, merged, method};

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
        if let Some(several) = &report.matrix {
            writeln!(out, "# PSCI latencies by board and firmware\n")?;
            for remark in matrix::remarks(several, &report.runs) {
                writeln!(out, "> **Warning**: {}\n", md(&remark))?;
            }
            for table in matrix::tables(several, &report.runs) {
                table.markdown(out)?;
            }
            return Ok(());
        }
        for run in &report.runs {
            let board = run.model.as_deref().unwrap_or("a board without a name");
            writeln!(out, "# PSCI latencies of {}\n", md(board))?;
            for (name, text) in method::method(run) {
                let name = if name.is_empty() { "Also" } else { name };
                writeln!(out, "- {name}: {}", md(&text))?;
            }
            writeln!(out)?;
            for warning in content::warnings(run) {
                writeln!(out, "> **Warning**: {}\n", md(&warning))?;
            }
            for test in &run.tests {
                writeln!(
                    out,
                    "## {}\n\n{}.\n",
                    md(test.name()),
                    md(&content::conditions(run, test))
                )?;
                for table in content::tables(run, test) {
                    table.markdown(out)?;
                }
                let remarks = content::sentences(run, test);
                for remark in &remarks {
                    writeln!(out, "- {}", md(remark))?;
                }
                if !remarks.is_empty() {
                    writeln!(out)?;
                }
            }
        }
        if let (Some(several), [run, ..]) = (&report.merged, report.runs.as_slice()) {
            writeln!(out, "# {} runs of one board\n", several.sources.len())?;
            for table in merged::tables(run, several) {
                table.markdown(out)?;
            }
        }
        for comparison in &report.comparisons {
            let Some(run) = report.runs.get(comparison.run) else {
                continue;
            };
            writeln!(out, "# Comparison\n")?;
            for (name, text) in compared::method(run, comparison) {
                writeln!(out, "- {name}: {}", md(&text))?;
            }
            writeln!(out, "\n## What changed\n")?;
            for remark in compared::sentences(run, comparison) {
                writeln!(out, "- {}", md(&remark))?;
            }
            writeln!(out, "\n## Changes\n")?;
            for table in compared::tables(run, comparison) {
                table.markdown(out)?;
            }
        }
        Ok(())
    }
}
