//! Draws a figure across releases, with one line for each CPU or rank. Lines break at releases that
//! lack the figure, and between releases that are not comparable.

use std::fmt::Write as _;

use hardware::text::plural::many;
use itertools::Itertools as _;
use suite::output::ABSENT;

use super::chart::{Chart, Drawing, EDGE, LEFT, Mark, Scale};
use crate::analysis::history::{FigureHistory, History, HistoryPoint, HistoryRow, ReleaseChange};
use crate::export::compared_text::{percent_text, row_kind, row_name, tolerance_text, value_text};
use crate::log::LoggedRun;

/// The CSS classes of the lines, in order.
const LINES: [&str; 16] = [
    "trace c0",
    "trace c1",
    "trace c2",
    "trace c3",
    "trace c4",
    "trace c5",
    "trace c6",
    "trace c7",
    "trace dashed c0",
    "trace dashed c1",
    "trace dashed c2",
    "trace dashed c3",
    "trace dashed c4",
    "trace dashed c5",
    "trace dashed c6",
    "trace dashed c7",
];
/// The CSS class of all lines if there are too many to tell apart.
const ALIKE: &str = "trace c7";
/// The space between the axis and the first release, and the space for names after the last one.
const MARGIN: f64 = 36.0;
const NAMES: f64 = 92.0;
/// The minimum distance between two names, and the maximum length of a name.
const NAME_HEIGHT: f64 = 13.0;
const NAME_LENGTH: usize = 14;

/// What a chart shows.
pub struct HistoryChart<'h> {
    /// An ID that is unique on the page.
    pub(in crate::export) id: String,
    pub(in crate::export) history: &'h History,
    pub(in crate::export) runs: &'h [LoggedRun],
    pub(in crate::export) figure: &'h FigureHistory,
    pub(in crate::export) unit: String,
}

/// Draws a figure's history.
pub(in crate::export) fn history_chart(chart: &HistoryChart<'_>) -> Chart {
    let releases = &chart.history.releases;
    let rows = &chart.figure.rows;
    let points = rows.iter().flat_map(|row| row.points.iter().flatten());
    let highest = points.map(|point| chart.value(point)).fold(0.0, f64::max);
    let heading = chart.figure.key.heading();
    let (mut drawing, y) = Drawing::of_values(highest, &format!("{heading} ({})", chart.unit));
    let last = releases.len() as f64 - 1.0;
    let x = Scale::linear((0.0, last), (LEFT + MARGIN, EDGE - NAMES));
    let names = (0u32..)
        .zip(releases)
        .map(|(index, name)| (f64::from(index), name.clone()));
    drawing.line("axis", (LEFT, y.at(0.0)), (x.at(0.0), y.at(0.0)));
    drawing.bottom(&x, "release", x.spaced(names));
    for (release, _) in releases.iter().enumerate() {
        if rows.iter().all(|row| row.points[release].is_none()) {
            let on_axis = (x.at(release as f64), y.at(0.0) - 8.0);
            drawing.text("middle", on_axis, ABSENT);
        }
    }
    let are_alike = rows.len() > LINES.len();
    let class = |index: usize| if are_alike { ALIKE } else { LINES[index] };
    for (index, row) in rows.iter().enumerate() {
        chart.draw(&mut drawing, row, class(index), (&x, &y));
    }
    let kind = rows.first().map_or("CPU", row_kind);
    let mut legend: Vec<Mark> = if are_alike {
        vec![(ALIKE, format!("each {kind}"))]
    } else {
        chart.name_lines(&mut drawing, kind, (&x, &y));
        let names = rows.iter().map(|row| row_name(row, chart.runs));
        let named = |(index, name)| (class(index), format!("{kind} {name}"));
        names.enumerate().map(named).collect()
    };
    let jumps = rows
        .iter()
        .flat_map(HistoryRow::significant_changes)
        .count();
    if jumps > 0 {
        let tolerance = tolerance_text(chart.history.tolerance_ppm);
        legend.push(("jump", format!("jump over {tolerance}")));
    }
    let description = format!(
        "{heading} for {} in {}: {}.",
        many(rows.len(), kind),
        many(releases.len(), "release"),
        many(jumps, "jump")
    );
    let title = format!("{heading} across releases");
    drawing.figure(chart.id.clone(), [title, description], legend)
}

impl HistoryChart<'_> {
    /// Returns a figure in the unit of the tables.
    fn value(&self, point: &HistoryPoint) -> f64 {
        let has_clock = self.runs.iter().all(|logged| logged.clock().is_known());
        let scale = if has_clock { 1000.0 } else { 1.0 };
        point.value.figure / scale
    }

    fn draw(&self, drawing: &mut Drawing, row: &HistoryRow, class: &str, (x, y): (&Scale, &Scale)) {
        let points = row.points.iter().enumerate();
        let placed: Vec<_> = points
            .filter_map(|(release, point)| Some((release, point.as_ref()?)))
            .map(|(release, point)| {
                let coordinates = (x.at(release as f64), y.at(self.value(point)));
                (release, point, coordinates)
            })
            .collect();
        let mut path = String::new();
        for (release, point, (left, top)) in &placed {
            let is_joined = point
                .since
                .is_some_and(|since_release| since_release + 1 == *release);
            let stroke = if is_joined { 'L' } else { 'M' };
            // Writing to a String cannot fail.
            let _ = write!(path, "{stroke}{left:.1} {top:.1}");
        }
        drawing.path(class, &path);
        let dot_class = class.replace("trace", "dot");
        for (release, point, coordinates) in placed {
            let jump = row.change(release).filter(ReleaseChange::is_significant);
            let description = self.description(row, release, point);
            drawing.dot(&dot_class, coordinates, jump.is_none(), &description);
        }
    }

    /// Labels the lines at the last release. Lines that end too close together share a label.
    fn name_lines(&self, drawing: &mut Drawing, kind: &'static str, (x, y): (&Scale, &Scale)) {
        let rows = self.figure.rows.iter().enumerate();
        let mut ends: Vec<(f64, usize)> = rows
            .filter_map(|(index, row)| {
                let point = row.points.last()?.as_ref()?;
                Some((y.at(self.value(point)), index))
            })
            .collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let right = x.at(self.history.releases.len() as f64 - 1.0);
        for close in ends.chunk_by(|a, b| b.0 - a.0 < NAME_HEIGHT) {
            let middle = close.iter().map(|line_end| line_end.0).sum::<f64>() / close.len() as f64;
            let indices = close.iter().map(|line_end| line_end.1).sorted();
            let names = indices
                .map(|index| row_name(&self.figure.rows[index], self.runs))
                .join(", ");
            let label = if names.len() > NAME_LENGTH {
                many(close.len(), kind)
            } else {
                names
            };
            drawing.text("start", (right + 12.0, middle + 4.0), &label);
        }
    }

    /// Returns the tooltip of a point: its figure and, for a jump, its change.
    fn description(&self, row: &HistoryRow, release: usize, point: &HistoryPoint) -> String {
        let kind = row_kind(row);
        let name = row_name(row, self.runs);
        let unit = &self.unit;
        let clock = self.runs[release].clock();
        let text = |figure| value_text(clock, self.figure.key.is_of_step(), figure);
        let release_name = &self.history.releases[release];
        let new = text(point.value.figure);
        let description = format!("{kind} {name}, {release_name}: {new} {unit}");
        match row.change(release).filter(ReleaseChange::is_significant) {
            None => description,
            Some(jump) => {
                let since = &self.history.releases[jump.releases[0]];
                let old = text(jump.old.figure);
                let percent = percent_text(jump.percent());
                format!("{description}, {percent} from {old} {unit} in {since}")
            }
        }
    }
}
