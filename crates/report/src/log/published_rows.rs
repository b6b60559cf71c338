//! Rows of published tables: a CPU's labels and figures, and any changes printed after the figures,
//! along with their positions.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, anyhow, ensure};
use csv::{ReaderBuilder, Trim};
use itertools::Itertools as _;
use regex::Regex;
use suite::measure::Metric;
use suite::plan::ScenarioId;

use super::line_run::ROWS_MAX;

/// A cell's text and position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PublishedCell {
    pub(super) text: String,
    /// The line and column, both counting from 1. The column is counted in characters.
    pub(super) place: (usize, usize),
}

/// A CPU's figures.
#[derive(Clone, Debug)]
pub(crate) struct PublishedRow {
    /// Cluster and core.
    pub(crate) label: (u16, u16),
    pub(crate) figures: Vec<PublishedFigure>,
}

/// A figure, and the change printed after it.
#[derive(Clone, Debug)]
pub(crate) struct PublishedFigure {
    /// `LINE:COLUMN`, or `FILE:LINE:COLUMN` for a figure from a page.
    pub(crate) place: String,
    pub(crate) metric: Metric,
    pub(crate) ns: u64,
    /// The change in hundredths of a percent.
    pub(crate) change: Option<i64>,
}

const SUSPEND: &[Metric] = &[Metric::Powerdown, Metric::Wakeup, Metric::CacheFlush];
const LATENCY: &[Metric] = &[Metric::Latency];

/// Returns the metrics in a scenario's table, by column.
pub(super) fn columns_of(id: ScenarioId) -> &'static [Metric] {
    match id.is_suite() {
        true => id.columns(),
        false => SUSPEND,
    }
}

/// The header lines that a file may start with.
const HEADERS: [&str; 2] = [
    "cluster,core,powerdown_ns,wakeup_ns,cache_flush_ns",
    "cluster,core,latency_ns",
];

/// Reads a data file's lines, without the header.
pub(super) fn csv_lines(bytes: &[u8]) -> Result<Vec<Vec<PublishedCell>>> {
    let text = String::from_utf8_lossy(bytes);
    let texts: Vec<&str> = text.lines().collect();
    let mut reader = ReaderBuilder::new();
    let reader = reader.has_headers(false).flexible(true).trim(Trim::All);
    let records = reader.from_reader(bytes).into_records();
    let lines = records.take(ROWS_MAX + 2).map(|record| {
        let record = record?;
        // The record's position includes any blank lines before it.
        let first = record.position().map_or(1, csv::Position::line) as usize;
        let blank = texts
            .iter()
            .skip(first - 1)
            .take_while(|it| it.trim().is_empty());
        let line = first + blank.count();
        let whole = texts.get(line - 1).copied().unwrap_or("");
        let mut behind = 0;
        let cells = record.iter().map(|text| {
            let rest = whole.get(behind..).unwrap_or("");
            let begin = behind + rest.find(text).unwrap_or(0);
            behind = begin + text.len();
            let column = whole.get(..begin).map_or(0, |it| it.chars().count());
            let (text, place) = (text.to_owned(), (line, column + 1));
            PublishedCell { text, place }
        });
        Ok(cells.collect())
    });
    let mut lines: Vec<Vec<PublishedCell>> = lines.collect::<Result<_>>()?;
    let first = lines
        .first()
        .map(|it| it.iter().map(|cell| &cell.text).join(","));
    if first.is_some_and(|it| HEADERS.contains(&it.as_str())) {
        lines.remove(0);
    }
    Ok(lines)
}

/// Reads the rows of a scenario's table. If `id` is None, the scenario is unknown. `unit` is the
/// unit of the figures, in nanoseconds: 1000 for microseconds.
///
/// # Errors
/// Returns an error that starts with `LINE:COLUMN: ` if a cell is invalid, or an error if the table
/// has no rows.
pub(super) fn rows(
    id: Option<ScenarioId>,
    lines: &[Vec<PublishedCell>],
    unit: u64,
) -> Result<Vec<PublishedRow>> {
    ensure!(!lines.is_empty(), "no CPU rows");
    ensure!(lines.len() <= ROWS_MAX, "more than {ROWS_MAX} rows");
    lines.iter().map(|cells| row(id, cells, unit)).collect()
}

fn row(id: Option<ScenarioId>, cells: &[PublishedCell], unit: u64) -> Result<PublishedRow> {
    let (line, column) = cells.first().map_or((0, 1), |it| it.place);
    let (metrics, expected) = match id {
        Some(id) if columns_of(id) == LATENCY => (LATENCY, "3, with only a latency"),
        None if cells.len() == 3 => (LATENCY, ""),
        None => (SUSPEND, "3 or 5"),
        Some(_) => (
            SUSPEND,
            "5, with Powerdown, Wakeup and Cache Flush but no latency",
        ),
    };
    let count = cells.len();
    ensure!(
        count == metrics.len() + 2,
        "{line}:{column}: {count} cells, expected {expected}"
    );
    let label = |cell: &PublishedCell| {
        let ((line, column), text) = (cell.place, &cell.text);
        let number = text.parse::<u16>();
        number
            .map_err(|_| anyhow!("{line}:{column}: {text:?} is not a valid cluster or core number"))
    };
    let figure = |(cell, metric): (&PublishedCell, &Metric)| {
        let ((line, column), text) = (cell.place, &cell.text);
        let (ns, change) = figure(text, unit).with_context(|| {
            let example = if unit == 1 {
                "185700 (-30.51%)"
            } else {
                "244.52 (-65.43%)"
            };
            format!("{line}:{column}: {text:?} is not a valid latency, such as {example}")
        })?;
        let (place, metric) = (format!("{line}:{column}"), *metric);
        Ok(PublishedFigure {
            place,
            metric,
            ns,
            change,
        })
    };
    let figures = cells[2..].iter().zip(metrics).map(figure);
    Ok(PublishedRow {
        label: (label(&cells[0])?, label(&cells[1])?),
        figures: figures.collect::<Result<_>>()?,
    })
}

/// Parses a figure in units of `unit` nanoseconds, and the change in hundredths of a percent.
fn figure(text: &str, unit: u64) -> Option<(u64, Option<i64>)> {
    static FIGURE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(\d{1,12}(?:\.\d{1,3})?)(?: *\(([+-]?\d{1,9}(?:\.\d{1,2})?)%\))?$")
            .expect("a pattern")
    });
    let found = FIGURE.captures(text)?;
    let thousandths = u64::try_from(scaled(&found[1], 3)).ok()? * unit;
    let change = found.get(2).map(|it| scaled(it.as_str(), 2));
    let is_whole = thousandths.is_multiple_of(1000);
    is_whole.then_some((thousandths / 1000, change))
}

/// Returns a decimal number multiplied by 10^`places`.
fn scaled(number: &str, places: usize) -> i64 {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{part:0<places$}");
    let number = digits.parse();
    number.expect("the pattern allows at most 15 digits")
}
