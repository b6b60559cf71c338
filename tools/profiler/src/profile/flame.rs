//! Draws flame graphs: a phase's stacks, with widths proportional to their instruction counts and
//! the outermost functions at the top.

use report::export::{Chart, Drawing, EDGE, FlameFrame, LANE};

use super::call_tree::{CallFrame, FrameName, depth, merge_calls, total_width, totals};
use super::event::{Event, unit_name};
use super::profile::ProfilePhase;
use super::shade::Shade;

/// The width of the left and right margins.
const LEFT: f64 = 24.0;

struct Graph {
    drawing: Drawing,
    /// The width of one instruction.
    scale: f64,
    has_baseline: bool,
    /// The phase's instructions in the baseline and in the new profile.
    totals: [f64; 2],
    /// What is counted.
    unit: &'static str,
    /// The shades that have been used.
    shades: Vec<&'static Shade>,
}

impl Graph {
    /// Draws the stack frame that represents the entire phase.
    fn draw_phase(&mut self, name: &str, width: f64) {
        let [old, new] = self.totals;
        let mut description = format!("{name}: {new:.1} {}", self.unit);
        if self.has_baseline {
            description += &format!("; baseline {old:.1}");
        }
        let frame = FlameFrame {
            class: "flame-phase",
            name,
            description: &description,
            depth: 0,
            width,
            shares: self.shares(self.totals),
        };
        self.drawing.frame((LEFT, width * self.scale), &frame);
    }

    /// Draws functions with the same caller, the first one at `left`.
    fn draw(&mut self, frames: &[CallFrame<'_>], left: f64, depth: usize) {
        let mut x = left;
        for frame in frames {
            let width = frame.width();
            let change = frame.own[1] - frame.own[0];
            let mut name = frame.name.text();
            let description = format!("{name}: {}", self.figures(frame));
            let mut class = "flame";
            if self.has_baseline {
                let shade = Shade::for_change(change, self.totals[0]);
                if !self.shades.contains(&shade) {
                    self.shades.push(shade);
                }
                class = shade.class;
                name.insert_str(0, shade.mark);
            }
            let flame = FlameFrame {
                class,
                name: &name,
                description: &description,
                depth,
                width,
                shares: self.shares(frame.total),
            };
            self.drawing.frame((x, width * self.scale), &flame);
            self.draw(&frame.callees, x, depth + 1);
            x += width * self.scale;
        }
    }

    /// Returns the text of a function's tooltip, without the name.
    fn figures(&self, frame: &CallFrame<'_>) -> String {
        let [old, new] = frame.total;
        let share = self.shares(frame.total)[0];
        let mut text = format!("{new:.1} {}, {share:.1} %", self.unit);
        if self.has_baseline {
            let change = frame.own[1] - frame.own[0];
            text += &format!("; baseline {old:.1}, change in self {change:+.1}");
            text += match (frame.name, frame.has_matched_callees()) {
                (FrameName::Same(_) | FrameName::Renamed { .. }, _) => "",
                (FrameName::Added(_), false) => "; not in the baseline",
                (FrameName::Added(_), true) => {
                    "; inserted: the baseline calls its callees directly"
                }
                (FrameName::Removed(_), false) => "; only in the baseline",
                (FrameName::Removed(_), true) => "; removed: its callees are now called directly",
            };
        }
        text
    }

    /// Returns the percentages of the phase in the new profile and, if there is one, in the
    /// baseline.
    fn shares(&self, [old, new]: [f64; 2]) -> Vec<f64> {
        let share = |count: f64, total: f64| {
            if total > 0.0 {
                100.0 * count / total
            } else {
                0.0
            }
        };
        let mut shares = vec![share(new, self.totals[1])];
        if self.has_baseline {
            shares.push(share(old, self.totals[0]));
        }
        shares
    }

    /// Returns the legend, which lists the shades that have been used.
    fn legend(&self) -> Vec<(&'static str, String)> {
        let used = Shade::ALL
            .iter()
            .filter(|shade| self.shades.contains(shade));
        let shades = used.map(|shade| (shade.class, shade.meaning.to_owned()));
        let heading = "Change in self, as a share of the phase in the baseline:";
        let first_entry = self.has_baseline.then(|| ("", heading.to_owned()));
        first_entry.into_iter().chain(shades).collect()
    }
}

/// Returns a phase's graph, combined with the baseline's if there is one.
pub(super) fn figure(
    phase: &ProfilePhase,
    old: Option<&ProfilePhase>,
    unit: Option<Event>,
) -> Chart {
    let id = phase.figure_name().replace([':', '/'], "-");
    let title = format!("{}: {}", phase.scenario, phase.name);
    let none = ProfilePhase::default();
    let frames = merge_calls(old.unwrap_or(&none), phase);
    let totals = totals(&frames);
    let width = total_width(&frames);
    let lanes = 1 + depth(&frames);
    let mut graph = Graph {
        drawing: Drawing::of_height(LANE * lanes as f64 + 4.0),
        scale: (EDGE - LEFT) / width.max(f64::MIN_POSITIVE),
        has_baseline: old.is_some(),
        totals,
        unit: unit_name(unit),
        shades: Vec::new(),
    };
    graph.draw_phase(&phase.name, width);
    graph.draw(&frames, LEFT, 1);
    let description = format!(
        "{:.1} {} per call on average, by call stack.",
        totals[1], graph.unit
    );
    let legend = graph.legend();
    let chart = graph.drawing.figure(id, [title, description], legend);
    chart.listed(phase.name.clone())
}
