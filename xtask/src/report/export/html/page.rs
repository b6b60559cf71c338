//! `html`: one page that needs nothing else: no network, no script.
//!
//! ```text
//! markup ──── text and tables as elements
//! chart ───── scales, axes, and how an SVG becomes a figure
//! timeline ── who does what when, around low power
//! queue ───── powerdown against the order of arrival
//! spread ──── how samples spread
//! sweep ───── points against what was varied
//! latency ─── how the samples of points spread
//! style.css
//! ```
//!
//! The page is well-formed XML, too, so that any strict reader can check it.
//! Its policy forbids all that is not in it. Each chart has a title and a
//! description, and every figure that it draws is in a table as well.

use std::io::Write;

use anyhow::Result;

use super::markup::{definitions, escape, remarks, table};
use crate::report::analysis::compare::Comparison;
use crate::report::export::exporter::{Exporter, Options, Report, Takes};
use crate::report::export::{compared, content, merged, method};
use crate::report::model::{Run, Status, Test};

/// The exporter.
pub(crate) struct Html;

const STYLE: &str = include_str!("style.css");

impl Exporter for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn about(&self) -> &'static str {
        "one page with tables and charts, for browsers and print"
    }

    fn takes(&self) -> Takes {
        Takes {
            matrix: false,
            ..Takes::RESULTS
        }
    }

    fn write(&self, report: &Report, _: &Options, out: &mut dyn Write) -> Result<()> {
        let title = title(report);
        writeln!(
            out,
            "<!DOCTYPE html>\n\
             <html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n\
             <meta charset=\"utf-8\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta name=\"color-scheme\" content=\"light dark\"/>\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>",
            title = escape(&title)
        )?;
        for (place, run) in report.runs.iter().enumerate() {
            write_run(report, place, run, out)?;
        }
        if let (Some(merged), [run, ..]) = (&report.merged, report.runs.as_slice()) {
            writeln!(out, "<section id=\"merged\">")?;
            writeln!(out, "<h2>{} runs of one board</h2>", merged.sources.len())?;
            for of_runs in merged::tables(run, merged) {
                out.write_all(table(&of_runs).as_bytes())?;
            }
            writeln!(out, "</section>")?;
        }
        for (place, comparison) in report.comparisons.iter().enumerate() {
            if let Some(run) = report.runs.get(comparison.run) {
                write_comparison(place, run, comparison, out)?;
            }
        }
        writeln!(out, "{FOOTER}</main>\n</body>\n</html>")?;
        Ok(())
    }
}

const FOOTER: &str = "\
<footer>
<h2>How to read this</h2>
<p>Of a scenario in parallel, table and time line show one whole round, the one whose longest \
powerdown is the median: who was last in a cluster, and who queued, is of one round. In sequence, \
the table shows each CPU's medians, and the time line its sample with the median of the first \
figure. Spreads are \
of all samples that count. A figure marked with <b class=\"unverified\">?</b> is from a line \
without a checksum and is not verified.</p>
</footer>
";

fn title(report: &Report) -> String {
    let mut boards: Vec<&str> = report
        .runs
        .iter()
        .map(|run| run.model.as_deref().unwrap_or("a board without a name"))
        .collect();
    boards.dedup();
    format!("PSCI latencies of {}", boards.join(", "))
}

fn write_run(report: &Report, place: usize, run: &Run, out: &mut dyn Write) -> Result<()> {
    let board = run.model.as_deref().unwrap_or("a board without a name");
    let run_id = format!("run{}", place + 1);
    writeln!(out, "<article id=\"{run_id}\">\n<header>")?;
    writeln!(out, "<h1>PSCI latencies of {}</h1>", escape(board))?;
    if report.runs.len() > 1 {
        writeln!(out, "<p>Run {} of {}</p>", place + 1, report.runs.len())?;
    }
    writeln!(out, "</header>")?;
    for warning in content::warnings(run) {
        writeln!(
            out,
            "<p class=\"warning\"><strong>Warning:</strong> {}.</p>",
            escape(&warning)
        )?;
    }
    writeln!(out, "<section id=\"{run_id}-method\">\n<h2>Method</h2>")?;
    out.write_all(definitions(&method::method(run)).as_bytes())?;
    writeln!(out, "</section>")?;
    contents(&run_id, run, out)?;
    for (number, test) in run.tests.iter().enumerate() {
        let id = format!("{run_id}-t{}", number + 1);
        write_test(&id, run, test, out)?;
    }
    writeln!(out, "</article>")?;
    Ok(())
}

/// A run beside the baseline.
fn write_comparison(
    place: usize,
    run: &Run,
    comparison: &Comparison,
    out: &mut dyn Write,
) -> Result<()> {
    let board = run.model.as_deref().unwrap_or("a board without a name");
    writeln!(out, "<article id=\"comparison{}\">", place + 1)?;
    writeln!(out, "<h1>Before and after: {}</h1>", escape(board))?;
    out.write_all(definitions(&compared::method(run, comparison)).as_bytes())?;
    writeln!(out, "<section>\n<h2>What changed</h2>")?;
    out.write_all(remarks(&compared::remarks(run, comparison)).as_bytes())?;
    writeln!(out, "</section>\n<section>\n<h2>Changes</h2>")?;
    for changes in compared::tables(run, comparison) {
        out.write_all(table(&changes).as_bytes())?;
    }
    writeln!(out, "</section>\n</article>")?;
    Ok(())
}

fn contents(run_id: &str, run: &Run, out: &mut dyn Write) -> Result<()> {
    if run.tests.is_empty() {
        return Ok(());
    }
    writeln!(out, "<nav aria-label=\"Scenarios\">\n<ol>")?;
    for (number, test) in run.tests.iter().enumerate() {
        writeln!(
            out,
            "<li><a href=\"#{run_id}-t{}\">{}</a> {}</li>",
            number + 1,
            escape(test.name()),
            badge(test)
        )?;
    }
    writeln!(out, "</ol>\n</nav>")?;
    Ok(())
}

fn badge(test: &Test) -> String {
    let good = match test.status {
        Status::Passed => "good",
        Status::Skipped => "neutral",
        _ => "bad",
    };
    let method = escape(test.method.word());
    format!(
        "<span class=\"badge {good}\">{}</span> <span class=\"badge neutral\">{method}</span>",
        test.status
    )
}

fn write_test(id: &str, run: &Run, test: &Test, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "<section id=\"{id}\" class=\"scenario\">")?;
    writeln!(out, "<h2>{} {}</h2>", escape(test.name()), badge(test))?;
    writeln!(
        out,
        "<p class=\"conditions\">{}.</p>",
        escape(&content::conditions(run, test))
    )?;
    let mut tables = content::tables(run, test).into_iter();
    if let Some(main) = tables.next() {
        out.write_all(table(&main).as_bytes())?;
    }
    out.write_all(remarks(&content::remarks(run, test)).as_bytes())?;
    let figures = [
        super::timeline::figure(id, run, test),
        super::queue::figure(id, run, test),
    ];
    let figures = figures.into_iter().flatten();
    let figures = figures
        .chain(super::spread::figures(id, run, test))
        .chain(super::sweep::figures(id, run, test))
        .chain(super::latency::figures(id, run, test));
    for figure in figures {
        out.write_all(figure.as_bytes())?;
    }
    for spread in tables {
        out.write_all(table(&spread).as_bytes())?;
    }
    writeln!(out, "</section>")?;
    Ok(())
}
