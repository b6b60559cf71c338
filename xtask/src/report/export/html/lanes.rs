//! Distributions of samples: a lane for each, from the least to the greatest, with median
//! and p99, and with bars for the number of samples at each place.

use std::fmt::Write;

use super::chart::{Drawing, Figure, LANE, LEFT, Scale, legend};

/// A distribution by places of the horizontal scale.
pub(super) struct Lane {
    pub(super) name: String,
    pub(super) said: String,
    /// Left edge, width, and part of the lane's height.
    pub(super) bars: Vec<[f64; 3]>,
    pub(super) ends: [f64; 2],
    pub(super) median: f64,
    pub(super) p99: Option<f64>,
}

/// The texts of a figure: `heading` is that of the axis, `bars` the legend's.
pub(super) struct Texts {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) said: String,
    pub(super) heading: String,
    pub(super) bars: &'static str,
}

/// Returns lanes of this height as a figure.
pub(super) fn figure(texts: Texts, scale: &Scale, height: f64, lanes: &[Lane]) -> Figure {
    let top = 6.0;
    let (mut drawing, bottom) = Drawing::of_lanes(top, height, lanes.len());
    drawing.horizontal(scale, (top, bottom), &texts.heading, scale.ticks(78.0));
    for (place, lane) in lanes.iter().enumerate() {
        draw_lane(&mut drawing, lane, top + height * place as f64, height);
    }
    let legend = legend([
        ("range", "least to greatest", true),
        ("median", "median", true),
        ("p99", "p99", lanes.iter().any(|it| it.p99.is_some())),
        (
            "samples",
            texts.bars,
            lanes.iter().any(|it| !it.bars.is_empty()),
        ),
    ]);
    drawing.figure(texts.id, [texts.title, texts.said], legend)
}

fn draw_lane(drawing: &mut Drawing, lane: &Lane, y: f64, height: f64) {
    let base = y + height - 4.0;
    // Long names have a line of their own.
    let is_tall = height > LANE;
    let top = if is_tall { y + 20.0 } else { y + 3.0 };
    let mut bars = String::new();
    for [x, width, share] in &lane.bars {
        let high = ((base - top) * share).max(1.0);
        // A String takes all.
        let _ = write!(bars, "M{x:.1} {base:.1}v-{high:.1}h{width:.1}v{high:.1}z");
    }
    if !bars.is_empty() {
        drawing.path("samples", &bars);
    }
    drawing.line("range", (lane.ends[0], base), (lane.ends[1], base));
    for x in lane.ends {
        drawing.line("range", (x, base - 4.0), (x, base + 3.0));
    }
    if let Some(p99) = lane.p99 {
        drawing.line("p99", (p99, top), (p99, base));
    }
    let size = (3.0, base - top + 1.0);
    drawing.rect("median", (lane.median - 1.5, top), size, &lane.said);
    let (anchor, x) = if is_tall {
        ("start", LEFT)
    } else {
        ("end", LEFT - 8.0)
    };
    drawing.text(anchor, (x, y + 15.0), &lane.name);
}
