//! Formats compared values, their changes, and the names of the rows that they are in.

use hardware::spec::ticks::Clock;

use crate::analysis::history::HistoryRow;
use crate::analysis::value_text::us_text;
use crate::log::LoggedRun;

/// Formats a value in the unit used by the suite's tables or, for a step, per operation.
pub(super) fn value_text(clock: Clock, is_of_step: bool, value: f64) -> String {
    match (is_of_step, clock.is_known()) {
        (true, _) if value.abs() >= 1000.0 => format!("{value:.0}"),
        (true, _) => format!("{value:.2}"),
        (false, false) => value.to_string(),
        (false, true) => us_text(value),
    }
}

/// Formats a tolerance, which is in parts per million, as a percentage.
pub(super) fn tolerance_text(ppm: u32) -> String {
    format!("{} %", f64::from(ppm) / 10_000.0)
}

/// Returns the label of a row's CPU or, if the row is for a rank, the rank, counting from 1.
pub(super) fn row_name(row: &HistoryRow, runs: &[LoggedRun]) -> String {
    if let Some(rank) = row.rank {
        return (rank + 1).to_string();
    }
    let mut points = runs.iter().zip(&row.points);
    let label = points.find_map(|(logged, point)| Some(logged.run.label(point.as_ref()?.cpu)));
    label.map_or_else(String::new, |label| label.to_string())
}

/// Returns the word for what a row's name identifies.
pub(super) fn row_kind(row: &HistoryRow) -> &'static str {
    if row.rank.is_some() { "place" } else { "CPU" }
}

/// Formats a change as a percentage. None means a change from zero.
pub fn percent_text(percent: Option<f64>) -> String {
    percent.map_or_else(
        || "from zero".to_owned(),
        |percent| format!("{percent:+.2} %"),
    )
}
