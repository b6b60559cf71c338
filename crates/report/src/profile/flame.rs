//! Draws flame graphs: a phase's stacks, with widths proportional to their instruction counts and
//! the outermost functions at the top.

use std::collections::BTreeMap;

use super::event::{Event, unit_name};
use super::profile::ProfilePhase;
use crate::export::{Chart, Drawing, EDGE, FlameFrame, LANE};

/// The width of the left and right margins.
const LEFT: f64 = 24.0;

/// A function and its callees. Figures are mean instructions per call.
#[derive(Default)]
struct FlameNode {
    own: [f64; 2],
    callees: BTreeMap<String, FlameNode>,
}

impl FlameNode {
    fn add(&mut self, phase: &ProfilePhase, side: usize) {
        for (stack, cost) in &phase.stacks {
            let mut node = &mut *self;
            for name in stack.split(';') {
                node = node.callees.entry(name.to_owned()).or_default();
            }
            node.own[side] += phase.mean(cost.instructions);
        }
    }

    /// Returns the instruction count of the function and its callees on one side.
    fn sum(&self, side: usize) -> f64 {
        self.own[side] + self.callees.values().map(|it| it.sum(side)).sum::<f64>()
    }

    /// Returns the number of instructions that determines the width. For each function, this is the
    /// larger of the two sides' counts.
    fn width(&self) -> f64 {
        let callees = self.callees.values().map(Self::width);
        self.own[0].max(self.own[1]) + callees.sum::<f64>()
    }

    fn depth(&self) -> usize {
        let callees = self.callees.values().map(Self::depth);
        callees.max().map_or(0, |deepest| deepest + 1)
    }
}

struct Graph {
    drawing: Drawing,
    /// The width of one instruction.
    scale: f64,
    has_baseline: bool,
    /// The phase's instructions in the baseline and in the new profile.
    all: [f64; 2],
    /// What is counted.
    unit: &'static str,
}

impl Graph {
    /// Draws the frame that represents the entire phase.
    fn draw_phase(&mut self, name: &str, width: f64) {
        let [old, new] = self.all;
        let mut said = format!("{name}: {new:.1} {}", self.unit);
        if self.has_baseline {
            said += &format!("; baseline {old:.1}");
        }
        let frame = FlameFrame {
            class: "flame-phase",
            name,
            said: &said,
            depth: 0,
            width,
            shares: self.shares(self.all),
        };
        self.drawing.frame((LEFT, width * self.scale), &frame);
    }

    /// Draws a function's callees, the first one at `x`.
    fn draw(&mut self, node: &FlameNode, x: f64, depth: usize) {
        let mut x = x;
        for (name, callee) in &node.callees {
            let width = callee.width();
            let sums = [0, 1].map(|side| callee.sum(side));
            let ([old, new], share) = (sums, self.shares(sums)[0]);
            let mut said = format!("{name}: {new:.1} {}, {share:.1} %", self.unit);
            let own = callee.own[1] - callee.own[0];
            let class = match (self.has_baseline, own) {
                (true, own) if own > 0.0 => "flame-more",
                (true, own) if own < 0.0 => "flame-less",
                (true, _) => "flame-other",
                (false, _) => "flame",
            };
            if self.has_baseline {
                said += &format!("; baseline {old:.1}, change in self {own:+.1}");
            }
            let frame = FlameFrame {
                class,
                name,
                said: &said,
                depth,
                width,
                shares: self.shares(sums),
            };
            self.drawing.frame((x, width * self.scale), &frame);
            self.draw(callee, x, depth + 1);
            x += width * self.scale;
        }
    }

    /// Returns the percentages of the phase in the new profile and, if there is one, in the
    /// baseline.
    fn shares(&self, [old, new]: [f64; 2]) -> Vec<f64> {
        let share = |part: f64, all: f64| if all > 0.0 { 100.0 * part / all } else { 0.0 };
        let mut shares = vec![share(new, self.all[1])];
        if self.has_baseline {
            shares.push(share(old, self.all[0]));
        }
        shares
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
    let mut root = FlameNode::default();
    root.add(phase, 1);
    old.iter().for_each(|old| root.add(old, 0));
    let width = root.width();
    let lanes = 1 + root.depth();
    let mut graph = Graph {
        drawing: Drawing::of_height(LANE * lanes as f64 + 4.0),
        scale: (EDGE - LEFT) / width.max(f64::MIN_POSITIVE),
        has_baseline: old.is_some(),
        all: [root.sum(0), root.sum(1)],
        unit: unit_name(unit),
    };
    graph.draw_phase(&phase.name, width);
    graph.draw(&root, LEFT, 1);
    let marks = [
        ("flame-more", "more than the baseline, excluding callees"),
        ("flame-less", "fewer"),
        ("flame-other", "as many"),
    ];
    let marks = marks.into_iter().filter(|_| old.is_some());
    let legend = marks
        .map(|(class, name)| (class, name.to_owned()))
        .collect();
    let said = format!(
        "{:.1} {} per call on average, by call stack.",
        graph.all[1], graph.unit
    );
    let chart = graph.drawing.figure(id, [title, said], legend);
    chart.listed(phase.name.clone())
}
