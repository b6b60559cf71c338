//! The name of a row in a history.

use crate::analysis::history::HistoryRow;
use crate::log::LoggedRun;

/// Returns the label of a row's CPU or, if the row is for a rank, the rank, counting from 1.
pub(super) fn row_name(row: &HistoryRow, runs: &[LoggedRun]) -> String {
    if let Some(place) = row.place {
        return (place + 1).to_string();
    }
    let mut points = runs.iter().zip(&row.points);
    let label = points.find_map(|(run, point)| Some(run.run.label(point.as_ref()?.cpu)));
    label.map_or_else(String::new, |label| label.to_string())
}
