//! Stack frames in flame graphs. `flame.js` zooms and searches them.

use itertools::Itertools as _;

use super::chart::{Drawing, LANE, Pair};
use crate::export::escape::xml;

/// The distance between a label and the edges of its frame.
const MARGIN: f64 = 3.0;
/// The minimum number of letters in a label that is cut off, without the ellipsis.
const LETTERS_MIN: usize = 2;

/// A stack frame in a flame graph. `flame.js` needs them in depth-first order, starting with the
/// frame that represents the whole graph.
pub struct FlameFrame<'a> {
    /// The CSS class, which gives the frame its color.
    pub class: &'static str,
    /// The label, which is cut off if there is not enough room for it.
    pub name: &'a str,
    /// The text shown while the pointer is on the frame.
    pub description: &'a str,
    /// The number of frames above it.
    pub depth: usize,
    /// The width in a unit that is common to all frames in the graph.
    pub width: f64,
    /// The percentages of the whole graph that the frame accounts for: now and, if there is one, in
    /// the baseline.
    pub shares: Vec<f64>,
}

impl Drawing {
    /// Draws a stack frame.
    pub fn frame(&mut self, (x, width): Pair, frame: &FlameFrame<'_>) {
        let FlameFrame { class, depth, .. } = frame;
        let y = LANE * *depth as f64;
        let [name, description] = [frame.name, frame.description].map(xml);
        let shares = frame.shares.iter().map(|share| format!("{share:.3}"));
        self.add(format_args!(
            "<g class=\"frame {class}\" data-name=\"{name}\" data-depth=\"{depth}\" \
             data-width=\"{}\" data-shares=\"{}\"><title>{description}</title>",
            frame.width,
            shares.format(" "),
        ));
        self.add(format_args!(
            "<rect x=\"{x:.2}\" y=\"{y:.0}\" width=\"{width:.2}\" height=\"{:.0}\"/>",
            LANE - 1.0
        ));
        self.text("start", (x + MARGIN, y + 14.0), &label(frame.name, width));
        self.add(format_args!("</g>"));
        self.has_frames = true;
    }
}

/// Returns the part of `name` that fits in a frame of this width.
fn label(name: &str, width: f64) -> String {
    let room = width - 2.0 * MARGIN;
    if name.chars().map(letter_width).sum::<f64>() <= room {
        return name.to_owned();
    }
    let mut used = letter_width('…');
    let fitting = name.chars().take_while(|letter| {
        used += letter_width(*letter);
        used <= room
    });
    let cut: String = fitting.collect();
    match cut.chars().count() {
        0..LETTERS_MIN => String::new(),
        _ => cut + "…",
    }
}

/// Returns a letter's width in DejaVu Sans, which is wider than most fonts for user interfaces.
const fn letter_width(letter: char) -> f64 {
    match letter {
        'm' | 'M' | 'w' | 'W' | '…' | '→' => 13.0,
        'i' | 'j' | 'l' | 'f' | 't' | 'r' | 'I' | 'J' | ' ' | '.' | ':' => 5.5,
        'A'..='Z' | '+' | '−' | '<' | '>' | '&' => 11.0,
        _ => 8.3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_is_cut_to_the_width_of_its_letters() {
        for (name, width, expected) in [
            ("memcpy", 100.0, "memcpy"),
            ("memcpy", 50.0, "me…"),
            ("memcpy", 30.0, ""),
            ("fill_it", 50.0, "fill_it"),
            ("", 0.0, ""),
            ("f", -1.0, ""),
        ] {
            assert_eq!(label(name, width), expected, "{name} in {width}");
        }
    }
}
