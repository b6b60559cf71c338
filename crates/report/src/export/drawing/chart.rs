//! Scales, axes and drawings for charts.

use std::fmt::Write;

use itertools::Itertools as _;
use serde::Serialize;

use crate::export::escape::xml;

/// The width of every drawing in SVG user units; style.css sets the width on the page.
const WIDTH: f64 = 860.0;
/// The space on the left for CPU names or an axis name.
pub const LEFT: f64 = 64.0;
/// The position of the right edge, which leaves room for half of the last number.
pub const EDGE: f64 = WIDTH - 24.0;
/// The height of a horizontal axis, including its name.
const AXIS: f64 = 44.0;
/// The height of a lane.
pub const LANE: f64 = 20.0;
/// The y coordinate of zero on a vertical axis.
const HEIGHT: f64 = 260.0;
/// The minimum distance between two values on a horizontal axis.
const ROOM: f64 = 52.0;

/// A mapping from values to coordinates on an axis.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    values: (f64, f64),
    /// The coordinates of the axis's ends.
    pub(in crate::export) ends: (f64, f64),
    /// True if the scale is logarithmic.
    log: bool,
}

impl Scale {
    /// Returns a linear scale. If the range is empty, widens it.
    pub fn linear((from, to): (f64, f64), ends: (f64, f64)) -> Self {
        let last = if to > from { to } else { from + 1.0 };
        Self {
            values: (from, last),
            ends,
            log: false,
        }
    }

    /// Returns a scale on which all of `values` are distinguishable: logarithmic if they span more
    /// than one order of magnitude.
    pub(in crate::export) fn fitting((from, to): (f64, f64), ends: (f64, f64)) -> Self {
        if from > 0.0 && to / from >= 20.0 {
            return Self {
                values: (from / 1.1, to * 1.1),
                ends,
                log: true,
            };
        }
        let margin = ((to - from) * 0.05).max(to.abs() * 0.01).max(0.005);
        Self::linear(((from - margin).max(0.0), to + margin), ends)
    }

    pub(in crate::export) fn kind(&self) -> &'static str {
        if self.log { ", logarithmic" } else { "" }
    }

    /// Returns the coordinate of `value`, clamped to the edges.
    pub fn at(&self, value: f64) -> f64 {
        let ((least, most), (from, to)) = (self.values, self.ends);
        let exact_share = if self.log {
            (value.max(least) / least).ln() / (most / least).ln()
        } else {
            (value - least) / (most - least)
        };
        // The values may be too large to be distinguishable as floats.
        let share = if exact_share.is_finite() {
            exact_share.clamp(0.0, 1.0)
        } else {
            0.0
        };
        from + share * (to - from)
    }

    /// Returns round values for the axis tick marks and their labels, at most one per `room` units
    /// of the drawing.
    pub(in crate::export) fn ticks(&self, room: f64) -> Vec<(f64, String)> {
        let most = ((self.ends.1 - self.ends.0).abs() / room).max(1.0);
        let ticks = if self.log {
            self.log_ticks(most)
        } else {
            self.linear_ticks(most)
        };
        let label_value = |(value, digits)| (value, format!("{value:.digits$}"));
        ticks.into_iter().map(label_value).collect()
    }

    fn linear_ticks(&self, most: f64) -> Vec<(f64, usize)> {
        let (from, to) = self.values;
        let least = (to - from) / most;
        let magnitude = 10f64.powf(least.log10().floor());
        let distance = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * magnitude)
            .into_iter()
            .find(|distance| *distance >= least)
            .unwrap_or(magnitude * 10.0);
        let digits = (-distance.log10().floor()).clamp(0.0, 6.0) as usize;
        let multiples = (from / distance).ceil() as i64..=(to / distance).floor() as i64;
        multiples
            .map(|multiple| (multiple as f64 * distance, digits))
            .collect()
    }

    fn log_ticks(&self, most: f64) -> Vec<(f64, usize)> {
        let (from, to) = self.values;
        // The tick marks are unevenly spaced: of the three intervals in a decade, the one from 2 to
        // 5 is the widest.
        let is_fine = (to / from).log10() * 3.0 * 1.3 <= most;
        let factors: &[f64] = if is_fine { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let decades = (from.log10().floor() as i32)..=(to.log10().ceil() as i32);
        let ticks = decades.flat_map(|power| {
            let digits = usize::try_from(-power).unwrap_or(0);
            factors
                .iter()
                .map(move |factor| (factor * 10f64.powi(power), digits))
        });
        ticks
            .filter(|(value, _)| (from..=to).contains(value))
            .collect()
    }

    /// Returns the tick marks that fit without overlapping.
    pub fn spaced(&self, marks: impl Iterator<Item = (f64, String)>) -> Vec<(f64, String)> {
        let mut last = f64::MIN;
        let has_room = |(value, _): &(f64, String)| {
            let at = self.at(*value);
            let has_room = at - last >= ROOM;
            last = if has_room { at } else { last };
            has_room
        };
        marks.filter(has_room).collect()
    }
}

/// An SVG drawing under construction.
pub struct Drawing {
    height: f64,
    body: String,
    pub(in crate::export) has_frames: bool,
}

/// A drawing with a title and a legend.
#[derive(Serialize)]
pub struct Chart {
    id: String,
    title: String,
    description: String,
    size: String,
    body: String,
    legend: Vec<Mark>,
    /// The name in the page's contents list; None for a chart that is not listed.
    label: Option<String>,
    /// True for a flame graph, whose stack frames can be enlarged and searched.
    has_frames: bool,
}

impl Chart {
    /// Returns the chart with an entry in the page's contents list.
    #[must_use]
    pub fn listed(self, label: String) -> Self {
        Self {
            label: Some(label),
            ..self
        }
    }

    pub(in crate::export) fn has_frames(&self) -> bool {
        self.has_frames
    }
}

/// A legend entry: CSS class and name. An entry without a class explains the ones after it.
pub type Mark = (&'static str, String);

/// Returns the legend entries that apply.
pub(in crate::export) fn legend<const N: usize>(
    marks: [(&'static str, &str, bool); N],
) -> Vec<Mark> {
    marks
        .into_iter()
        .filter(|(.., is_applicable)| *is_applicable)
        .map(|(class, name, _)| (class, name.to_owned()))
        .collect()
}

/// Two coordinates.
pub type Pair = (f64, f64);

impl Drawing {
    /// Returns a drawing of `count` lanes below `top`, and the y coordinate of their axis.
    pub(in crate::export) fn of_lanes(top: f64, lane: f64, count: usize) -> (Self, f64) {
        let bottom = top + lane * count as f64 + 4.0;
        (Self::of_height(bottom + AXIS), bottom)
    }

    /// Returns a drawing with a vertical axis for values up to `highest`, and its scale.
    pub fn of_values(highest: f64, name: &str) -> (Self, Scale) {
        let mut drawing = Self::of_height(HEIGHT + AXIS);
        let y = Scale::linear((0.0, highest * 1.08), (HEIGHT, 34.0));
        for (value, label) in y.ticks(36.0) {
            let at = y.at(value);
            drawing.line("grid", (LEFT - 4.0, at), (EDGE, at));
            drawing.text("end", (LEFT - 8.0, at + 4.0), &label);
        }
        let (bottom, top) = y.ends;
        drawing.line("axis", (LEFT, bottom), (LEFT, top));
        drawing.text("start", (4.0, top - 10.0), name);
        (drawing, y)
    }

    /// Returns an empty drawing.
    pub fn of_height(height: f64) -> Self {
        Self {
            height,
            body: String::new(),
            has_frames: false,
        }
    }

    // Writing to a String cannot fail.
    pub(in crate::export) fn add(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.body, "{text}");
    }

    /// Draws a line.
    pub fn line(&mut self, class: &str, (x1, y1): Pair, (x2, y2): Pair) {
        self.path(class, &format!("M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}"));
    }

    /// Draws a path.
    pub fn path(&mut self, class: &str, d: &str) {
        self.add(format_args!("<path class=\"{class}\" d=\"{d}\"/>"));
    }

    /// Draws a rectangle with a tooltip.
    pub fn rect(&mut self, class: &str, (x, y): Pair, (w, h): Pair, description: &str) {
        let w = w.max(0.4);
        let description = xml(description);
        self.add(format_args!(
            "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{w:.2}\" \
             height=\"{h:.1}\"><title>{description}</title></rect>"
        ));
    }

    /// Draws a circle, or a diamond if `round` is false.
    pub fn dot(&mut self, class: &str, (x, y): Pair, round: bool, description: &str) {
        let top = y - 6.0;
        let description = xml(description);
        let (tag, shape) = if round {
            ("circle", format!("cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\""))
        } else {
            ("path", format!("d=\"M{x:.1} {top:.1}l6 6l-6 6l-6 -6z\""))
        };
        self.add(format_args!(
            "<{tag} class=\"{class}\" {shape}><title>{description}</title></{tag}>"
        ));
    }

    /// Draws text whose `anchor` (start, middle or end) is at the given position.
    pub fn text(&mut self, anchor: &str, (x, y): Pair, text: &str) {
        let text = xml(text);
        self.add(format_args!(
            "<text text-anchor=\"{anchor}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"
        ));
    }

    /// Draws the horizontal axis with the given tick marks.
    pub fn bottom(&mut self, scale: &Scale, name: &str, ticks: Vec<(f64, String)>) {
        self.horizontal(scale, (HEIGHT, HEIGHT), name, ticks);
    }

    pub(in crate::export) fn horizontal(
        &mut self,
        scale: &Scale,
        (top, y): Pair,
        name: &str,
        ticks: Vec<(f64, String)>,
    ) {
        for (value, label) in ticks {
            let x = scale.at(value);
            self.line("grid", (x, top), (x, y + 4.0));
            self.text("middle", (x, y + 18.0), &label);
        }
        let (from, to) = scale.ends;
        self.line("axis", (from, y), (to, y));
        self.text("middle", ((from + to) / 2.0, y + 38.0), name);
    }

    /// Draws the part of the best-fit line that lies above zero.
    pub(in crate::export) fn fit(
        &mut self,
        x: &Scale,
        y: &Scale,
        points: impl Iterator<Item = Pair>,
    ) {
        let line = points
            .filter(|(_, height)| *height >= 0.0)
            .map(|(value, height)| format!("{:.1} {:.1}", x.at(value), y.at(height)))
            .dedup()
            .join("L");
        if !line.is_empty() {
            self.path("fit", &format!("M{line}"));
        }
    }

    /// Returns the drawing as a figure. `id` must be unique on the page.
    pub fn figure(self, id: String, texts: [String; 2], legend: Vec<Mark>) -> Chart {
        let size = format!("{WIDTH} {:.0}", self.height);
        let [title, description] = texts;
        Chart {
            id,
            title,
            description,
            size,
            body: self.body,
            legend,
            label: None,
            has_frames: self.has_frames,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_values() {
        let plain = Scale::linear;
        let fitting = Scale::fitting;
        let near = "1.00 1.01 1.02 1.03 1.04 1.05";
        for (scale, expected) in [
            (plain((0.0, 2000.0), (0.0, 400.0)), "0 500 1000 1500 2000"),
            (plain((1.0, 1.05), (0.0, 400.0)), near),
            (fitting((10.0, 1e4), (0.0, 800.0)), "10 100 1000 10000"),
            (fitting((0.0, 100.0), (0.0, 400.0)), "0 50 100"),
        ] {
            let ticks = scale.ticks(78.0).into_iter();
            let labels = ticks.map(|(_, label)| label).join(" ");
            assert!(expected.starts_with(&labels), "{labels:?}");
        }
        let none = Scale::linear((3.0, 3.0), (0.0, 10.0));
        assert!(none.at(3.0).is_finite() && none.at(1e9) == 10.0);
    }
}
