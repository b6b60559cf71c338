//! `rst`: grid tables with the columns of TF-A's documentation up to v2.14.

use std::io::Write;

use anyhow::Result;

use super::escape::rst;
use super::exporter::{Exporter, Options, Report, Takes};
use super::{compared, content, matrix, merged, method};

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
        if let Some(several) = &report.matrix {
            let title = "PSCI latencies by board and firmware";
            writeln!(out, "{title}\n{}\n", "=".repeat(title.len()))?;
            for remark in matrix::remarks(several, &report.runs) {
                writeln!(out, ".. warning:: {}\n", rst(&remark))?;
            }
            for table in matrix::tables(several, &report.runs) {
                table.grid(out)?;
            }
            return Ok(());
        }
        for run in &report.runs {
            let board = run.model.as_deref().unwrap_or("a board without a name");
            let title = rst(&format!("PSCI latencies of {board}"));
            writeln!(out, "{title}\n{}\n", "=".repeat(title.chars().count()))?;
            writeln!(out, "Method\n------\n")?;
            for (name, text) in method::method(run) {
                let name = if name.is_empty() { "Also" } else { name };
                writeln!(out, "- {name}: {}", rst(&text))?;
            }
            writeln!(out)?;
            for warning in content::warnings(run) {
                writeln!(out, ".. warning:: {}\n", rst(&warning))?;
            }
            writeln!(out, "Results\n-------\n")?;
            for test in &run.tests {
                let conditions = rst(&content::conditions(run, test));
                let name = rst(test.name());
                writeln!(out, "{name}\n{}\n", "~".repeat(name.chars().count()))?;
                for table in content::tables(run, test) {
                    table.grid(out)?;
                }
                writeln!(out, "{conditions}.\n")?;
                let remarks = content::sentences(run, test);
                for remark in &remarks {
                    writeln!(out, "- {}", rst(remark))?;
                }
                if !remarks.is_empty() {
                    writeln!(out)?;
                }
            }
        }
        if let (Some(several), [run, ..]) = (&report.merged, report.runs.as_slice()) {
            let title = format!("{} runs of one board", several.sources.len());
            writeln!(out, "{title}\n{}\n", "=".repeat(title.len()))?;
            for table in merged::tables(run, several) {
                table.grid(out)?;
            }
        }
        for comparison in &report.comparisons {
            let Some(run) = report.runs.get(comparison.run) else {
                continue;
            };
            writeln!(out, "Comparison\n==========\n")?;
            for (name, text) in compared::method(run, comparison) {
                writeln!(out, "- {name}: {}", rst(&text))?;
            }
            writeln!(out, "\nWhat changed\n------------\n")?;
            for remark in compared::sentences(run, comparison) {
                writeln!(out, "- {}", rst(&remark))?;
            }
            writeln!(out, "\nChanges\n-------\n")?;
            for table in compared::tables(run, comparison) {
                table.grid(out)?;
            }
        }
        Ok(())
    }
}
