//! Scales, axes and drawings.

use std::fmt::Write;

use super::markup::escape;
use crate::report::log::LoggedRun;

/// The width of every drawing, in its own units; style.css says how wide it
/// is shown.
pub(super) const WIDTH: f64 = 860.0;
/// The room at the left for names of CPUs or an axis.
pub(super) const LEFT: f64 = 64.0;
/// The room at the right for half a number.
pub(super) const RIGHT: f64 = 24.0;
/// The height that a horizontal axis takes, name included.
pub(super) const AXIS: f64 = 44.0;
/// The height of a CPU's lane.
pub(super) const LANE: f64 = 20.0;

/// From values to places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// The least and the greatest value.
    pub(super) values: (f64, f64),
    /// Where these are.
    pub(super) places: (f64, f64),
    /// True if equal distances are equal ratios.
    log: bool,
}

impl Scale {
    /// A linear scale; one of no extent gets some.
    pub(super) fn linear(values: (f64, f64), places: (f64, f64)) -> Self {
        let (from, to) = values;
        let to = if to > from { to } else { from + 1.0 };
        Self {
            values: (from, to),
            places,
            log: false,
        }
    }

    /// A scale of ratios, a little wider than `values`, which are above zero.
    pub(super) fn ratios((from, to): (f64, f64), places: (f64, f64)) -> Self {
        Self {
            values: (from / 1.1, to * 1.1),
            places,
            log: true,
        }
    }

    /// A scale on which all of `values` can be kept apart: of ratios where
    /// they reach over more than one magnitude.
    pub(super) fn fitting(values: (f64, f64), places: (f64, f64)) -> Self {
        let (from, to) = values;
        if from > 0.0 && to / from >= 20.0 {
            return Self::ratios(values, places);
        }
        let margin = ((to - from) * 0.05).max(to.abs() * 0.01).max(0.005);
        Self::linear(((from - margin).max(0.0), to + margin), places)
    }

    pub(super) fn is_log(&self) -> bool {
        self.log
    }

    /// The share of the axis that lies before `value`.
    fn share(&self, value: f64) -> f64 {
        let (from, to) = self.values;
        let share = if self.log {
            (value.max(from) / from).ln() / (to / from).ln()
        } else {
            (value - from) / (to - from)
        };
        // Values so large that a float can not tell them apart.
        if share.is_finite() { share } else { 0.0 }
    }

    /// Where `value` is; what is outside is at the edge.
    pub(super) fn at(&self, value: f64) -> f64 {
        let (from, to) = self.places;
        from + self.share(value).clamp(0.0, 1.0) * (to - from)
    }

    /// Round values to be marked, with their names; at most one for each
    /// `room` units of the drawing.
    pub(super) fn ticks(&self, room: f64) -> Vec<(f64, String)> {
        let most = ((self.places.1 - self.places.0).abs() / room).max(1.0);
        let all = if self.log {
            self.log_ticks(most)
        } else {
            self.linear_ticks(most)
        };
        all.into_iter()
            .map(|(value, digits)| (value, format!("{value:.digits$}")))
            .collect()
    }

    fn linear_ticks(&self, most: f64) -> Vec<(f64, usize)> {
        let (from, to) = self.values;
        let least = (to - from) / most;
        let magnitude = 10f64.powf(least.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|it| it * magnitude);
        let step = step.into_iter().find(|step| *step >= least);
        let step = step.unwrap_or(magnitude * 10.0);
        let digits = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
        let first = (from / step).ceil() as i64;
        let last = (to / step).floor() as i64;
        (first..=last)
            .map(|it| (it as f64 * step, digits))
            .collect()
    }

    fn log_ticks(&self, most: f64) -> Vec<(f64, usize)> {
        let (from, to) = self.values;
        let decades = (from.log10().floor() as i32)..=(to.log10().ceil() as i32);
        let marks = |each: &[f64]| -> Vec<(f64, usize)> {
            let all = decades.clone().flat_map(|power| {
                let digits = usize::try_from(-power).unwrap_or(0);
                each.iter().map(move |it| (it * 10f64.powi(power), digits))
            });
            all.filter(|it| (from..=to).contains(&it.0)).collect()
        };
        // Not even: 2 to 5 is the widest step of a decade's three.
        let fine = marks(&[1.0, 2.0, 5.0]);
        if fine.len() as f64 * 1.3 <= most {
            return fine;
        }
        marks(&[1.0])
    }
}

/// A drawing in the making.
pub(super) struct Drawing {
    height: f64,
    body: String,
}

/// The side of a text that is at its place.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Drawing {
    pub(super) fn new(height: f64) -> Self {
        Self {
            height,
            body: String::new(),
        }
    }

    // A String takes all.
    fn add(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.body, "{text}");
    }

    pub(super) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.add(format_args!(
            "<path class=\"{class}\" d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\"/>"
        ));
    }

    pub(super) fn path(&mut self, class: &str, d: &str) {
        self.add(format_args!("<path class=\"{class}\" d=\"{d}\"/>"));
    }

    /// A rectangle that says what it is where it is pointed at.
    pub(super) fn rect(&mut self, class: &str, (x, y): (f64, f64), (w, h): (f64, f64), said: &str) {
        self.add(format_args!(
            "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{:.2}\" \
             height=\"{h:.1}\"><title>{}</title></rect>",
            w.max(0.4),
            escape(said)
        ));
    }

    /// A circle, or for others than `round` a square on its corner.
    pub(super) fn dot(&mut self, class: &str, (x, y): (f64, f64), round: bool, said: &str) {
        let said = escape(said);
        if round {
            self.add(format_args!(
                "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{said}\
                 </title></circle>"
            ));
        } else {
            self.add(format_args!(
                "<path class=\"{class}\" d=\"M{x:.1} {:.1}l6 6l-6 6l-6 -6z\"><title>{said}\
                 </title></path>",
                y - 6.0
            ));
        }
    }

    pub(super) fn text(&mut self, anchor: Anchor, (x, y): (f64, f64), text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.add(format_args!(
            "<text text-anchor=\"{anchor}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
            escape(text)
        ));
    }

    /// An axis at the height `y`, with lines up to `top`.
    pub(super) fn horizontal(&mut self, scale: &Scale, heights: (f64, f64), name: &str) {
        self.marked(scale, heights, name, scale.ticks(78.0));
    }

    /// Draws such an axis with whole numbers only.
    pub(super) fn counting(&mut self, scale: &Scale, heights: (f64, f64), name: &str) {
        let mut ticks = scale.ticks(78.0);
        ticks.retain(|(value, _)| value.fract() == 0.0);
        for (value, label) in &mut ticks {
            *label = format!("{value:.0}");
        }
        self.marked(scale, heights, name, ticks);
    }

    /// Draws such an axis with these values and their names.
    pub(super) fn marked(
        &mut self,
        scale: &Scale,
        (top, y): (f64, f64),
        name: &str,
        ticks: Vec<(f64, String)>,
    ) {
        for (value, label) in ticks {
            let x = scale.at(value);
            self.line("grid", (x, top), (x, y + 4.0));
            self.text(Anchor::Middle, (x, y + 18.0), &label);
        }
        let (from, to) = scale.places;
        self.line("axis", (from, y), (to, y));
        self.text(Anchor::Middle, ((from + to) / 2.0, y + 38.0), name);
    }

    /// An axis at the left, with lines to the right edge.
    pub(super) fn vertical(&mut self, scale: &Scale, (x, right): (f64, f64), name: &str) {
        for (value, label) in scale.ticks(36.0) {
            let y = scale.at(value);
            self.line("grid", (x - 4.0, y), (right, y));
            self.text(Anchor::End, (x - 8.0, y + 4.0), &label);
        }
        let (bottom, top) = scale.places;
        self.line("axis", (x, bottom), (x, top));
        self.text(Anchor::Start, (4.0, top - 10.0), name);
    }

    /// The drawing as a figure. `id` is the page's only one of this name.
    pub(super) fn figure(self, id: &str, title: &str, said: &str, legend: &[Mark<'_>]) -> String {
        let (title, said) = (escape(title), escape(said));
        let mut out = format!(
            "<figure id=\"{id}\">\n<figcaption>{title}</figcaption>\n\
             <div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{title}\">\n\
             <svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 {WIDTH} {:.0}\" \
             aria-labelledby=\"{id}-title {id}-desc\">\n<title id=\"{id}-title\">{title}</title>\n\
             <desc id=\"{id}-desc\">{said}</desc>\n{}</svg>\n</div>\n",
            self.height, self.body
        );
        if !legend.is_empty() {
            out.push_str("<ul class=\"legend\">\n");
            for (class, name) in legend {
                let name = escape(name);
                let _ = writeln!(
                    out,
                    "<li><span class=\"swatch {class}\"></span> {name}</li>"
                );
            }
            out.push_str("</ul>\n");
        }
        out.push_str("</figure>\n");
        out
    }
}

/// A line of a legend: class and name.
pub(super) type Mark<'n> = (&'static str, &'n str);

/// Returns ticks in the unit of tables.
pub(super) fn units(run: &LoggedRun, ticks: u64) -> f64 {
    let ns = run.ns(ticks);
    ns.map_or(ticks as f64, |ns| ns as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_scales() {
        let scale = Scale::linear((0.0, 2000.0), (100.0, 500.0));
        assert_eq!((scale.at(0.0), scale.at(1000.0)), (100.0, 300.0));
        assert_eq!((scale.at(-9.0), scale.at(1e9)), (100.0, 500.0));
        let names: Vec<String> = scale.ticks(78.0).into_iter().map(|it| it.1).collect();
        assert_eq!(names, ["0", "500", "1000", "1500", "2000"]);
        let fine = Scale::linear((1.0, 1.05), (0.0, 400.0));
        let names: Vec<String> = fine.ticks(78.0).into_iter().map(|it| it.1).collect();
        assert_eq!(
            names,
            ["1.00", "1.01", "1.02", "1.03", "1.04", "1.05"][..names.len()]
        );
        let none = Scale::linear((3.0, 3.0), (0.0, 10.0));
        assert!(none.at(3.0).is_finite());
    }

    #[test]
    fn wide_ranges_are_ratios() {
        let scale = Scale::fitting((10.0, 10_000.0), (0.0, 800.0));
        assert!(scale.is_log() && scale.at(100.0) < 300.0);
        let names: Vec<String> = scale.ticks(78.0).into_iter().map(|it| it.1).collect();
        assert_eq!(names, ["10", "100", "1000", "10000"]);
        assert!(!Scale::fitting((10.0, 100.0), (0.0, 800.0)).is_log());
        assert!(!Scale::fitting((0.0, 100.0), (0.0, 800.0)).is_log());
    }
}
