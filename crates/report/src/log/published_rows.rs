//! Rows of published tables: a CPU's labels and figures, and any changes printed after the figures,
//! along with their positions.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, anyhow, ensure};
use csv::{ReaderBuilder, StringRecord, Trim};
use itertools::Itertools as _;
use regex::Regex;
use suite::measure::Metric;
use suite::plan::ScenarioId;

use super::line_run::ROWS_MAX;

/// An entry of a published table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PublishedEntry {
    pub(super) text: String,
    /// The line and column, both counting from 1. The column is counted in characters.
    pub(super) position: (usize, usize),
}

/// A CPU's figures.
#[derive(Clone, Debug)]
pub struct PublishedRow {
    /// Cluster and core.
    pub label: (u16, u16),
    /// The figures, in the order of the columns.
    pub figures: Vec<PublishedFigure>,
}

/// A figure, and the change printed after it.
#[derive(Clone, Debug)]
pub struct PublishedFigure {
    /// `LINE:COLUMN`, or `FILE:LINE:COLUMN` for a figure from a page.
    pub position: String,
    /// The metric.
    pub metric: Metric,
    /// The figure in nanoseconds.
    pub ns: u64,
    /// The change in hundredths of a percent.
    pub change: Option<i64>,
}

const SUSPEND: &[Metric] = &[Metric::Powerdown, Metric::Wakeup, Metric::CacheFlush];
const LATENCY: &[Metric] = &[Metric::Latency];

/// Returns the metrics in a scenario's table, by column.
pub(super) fn columns_of(id: ScenarioId) -> &'static [Metric] {
    if id.is_suite() { id.columns() } else { SUSPEND }
}

/// The header lines that a file may start with.
const HEADERS: [&str; 2] = [
    "cluster,core,powerdown_ns,wakeup_ns,cache_flush_ns",
    "cluster,core,latency_ns",
];

/// Reads a data file's lines, without the header.
pub(super) fn csv_lines(bytes: &[u8]) -> Result<Vec<Vec<PublishedEntry>>> {
    let text = String::from_utf8_lossy(bytes);
    let texts: Vec<&str> = text.lines().collect();
    let records = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(bytes)
        .into_records();
    let mut lines: Vec<Vec<PublishedEntry>> = records
        .take(ROWS_MAX + 2)
        .map(|record| Ok(entries(&record?, &texts)))
        .collect::<Result<_>>()?;
    let first = lines.first();
    let first_text = first.map(|line| line.iter().map(|entry| &entry.text).join(","));
    if first_text.is_some_and(|text| HEADERS.contains(&text.as_str())) {
        lines.remove(0);
    }
    Ok(lines)
}

/// Returns the entries of a record in a file with these lines.
fn entries(record: &StringRecord, lines: &[&str]) -> Vec<PublishedEntry> {
    // The record's position includes any blank lines before it.
    let first = record.position().map_or(1, csv::Position::line) as usize;
    let blank = lines
        .iter()
        .skip(first - 1)
        .take_while(|line| line.trim().is_empty());
    let number = first + blank.count();
    let line = lines.get(number - 1).copied().unwrap_or("");
    let mut end = 0;
    let entries = record.iter().map(|text| {
        let rest = line.get(end..).unwrap_or("");
        let begin = end + rest.find(text).unwrap_or(0);
        end = begin + text.len();
        let column = line.get(..begin).map_or(0, |prefix| prefix.chars().count());
        PublishedEntry {
            text: text.to_owned(),
            position: (number, column + 1),
        }
    });
    entries.collect()
}

/// Reads the rows of a scenario's table. If `id` is None, the scenario is unknown. `unit` is the
/// unit of the figures, in nanoseconds: 1000 for microseconds.
///
/// # Errors
/// Returns an error that starts with `LINE:COLUMN: ` if an entry is invalid, or an error if the
/// table has no rows.
pub(super) fn rows(
    id: Option<ScenarioId>,
    lines: &[Vec<PublishedEntry>],
    unit: u64,
) -> Result<Vec<PublishedRow>> {
    ensure!(!lines.is_empty(), "no CPU rows");
    ensure!(lines.len() <= ROWS_MAX, "more than {ROWS_MAX} rows");
    lines.iter().map(|entries| row(id, entries, unit)).collect()
}

fn row(id: Option<ScenarioId>, entries: &[PublishedEntry], unit: u64) -> Result<PublishedRow> {
    let (line, column) = entries.first().map_or((0, 1), |entry| entry.position);
    let (metrics, expected) = match id {
        Some(id) if columns_of(id) == LATENCY => (LATENCY, "3, with only a latency"),
        None if entries.len() == 3 => (LATENCY, ""),
        None => (SUSPEND, "3 or 5"),
        Some(_) => (
            SUSPEND,
            "5, with Powerdown, Wakeup and Cache Flush but no latency",
        ),
    };
    let count = entries.len();
    ensure!(
        count == metrics.len() + 2,
        "{line}:{column}: {count} cells, expected {expected}"
    );
    let label = |entry: &PublishedEntry| {
        let ((line, column), text) = (entry.position, &entry.text);
        let number = text.parse::<u16>();
        number
            .map_err(|_| anyhow!("{line}:{column}: {text:?} is not a valid cluster or core number"))
    };
    let figure = |(entry, metric): (&PublishedEntry, &Metric)| {
        let ((line, column), text) = (entry.position, &entry.text);
        let (ns, change) = figure(text, unit).with_context(|| {
            let example = if unit == 1 {
                "185700 (-30.51%)"
            } else {
                "244.52 (-65.43%)"
            };
            format!("{line}:{column}: {text:?} is not a valid latency, such as {example}")
        })?;
        Ok(PublishedFigure {
            position: format!("{line}:{column}"),
            metric: *metric,
            ns,
            change,
        })
    };
    let figures = entries[2..].iter().zip(metrics).map(figure);
    Ok(PublishedRow {
        label: (label(&entries[0])?, label(&entries[1])?),
        figures: figures.collect::<Result<_>>()?,
    })
}

/// Parses a figure in units of `unit` nanoseconds, and the change in hundredths of a percent.
fn figure(text: &str, unit: u64) -> Option<(u64, Option<i64>)> {
    static FIGURE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(\d{1,12}(?:\.\d{1,3})?)(?: *\(([+-]?\d{1,9}(?:\.\d{1,2})?)%\))?$")
            .expect("a pattern")
    });
    let captures = FIGURE.captures(text)?;
    let thousandths = u64::try_from(scaled(&captures[1], 3)).ok()? * unit;
    let change = captures.get(2).map(|percent| scaled(percent.as_str(), 2));
    let is_whole = thousandths.is_multiple_of(1000);
    is_whole.then_some((thousandths / 1000, change))
}

/// Returns a decimal number multiplied by 10^`places`.
fn scaled(number: &str, places: usize) -> i64 {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    format!("{whole}{fraction:0<places$}")
        .parse()
        .expect("the pattern allows at most 15 digits")
}
