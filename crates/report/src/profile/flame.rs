//! Draws flame graphs: a phase's stacks, with widths proportional to their instruction counts and
//! the outermost functions at the top.

use std::collections::BTreeMap;

use super::event::{Event, unit_name};
use super::profile::ProfilePhase;
use crate::export::{Chart, Drawing, EDGE, LANE};

/// The width of the left and right margins.
const LEFT: f64 = 24.0;
/// The minimum width of a letter.
const LETTER: f64 = 7.5;

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
    /// The total number of instructions in the phase.
    all: f64,
    /// What is counted.
    unit: &'static str,
}

impl Graph {
    fn draw(&mut self, node: &FlameNode, x: f64, depth: usize) {
        let mut x = x;
        for (name, callee) in &node.callees {
            let (width, y) = (callee.width() * self.scale, LANE * depth as f64);
            let [old, new] = [0, 1].map(|side| callee.sum(side));
            let share = if self.all > 0.0 {
                100.0 * new / self.all
            } else {
                0.0
            };
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
            self.drawing.rect(class, (x, y), (width, LANE - 1.0), &said);
            let room = ((width - 6.0) / LETTER) as usize;
            let label = match room {
                0..3 => String::new(),
                room if room >= name.len() => name.clone(),
                room => name.chars().take(room - 1).chain(['…']).collect(),
            };
            if !label.is_empty() {
                self.drawing.text("start", (x + 3.0, y + 14.0), &label);
            }
            self.draw(callee, x, depth + 1);
            x += width;
        }
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
    let all = root.sum(1);
    let mut graph = Graph {
        drawing: Drawing::of_height(LANE * root.depth() as f64 + 4.0),
        scale: (EDGE - LEFT) / root.width().max(f64::MIN_POSITIVE),
        has_baseline: old.is_some(),
        all,
        unit: unit_name(unit),
    };
    graph.draw(&root, LEFT, 0);
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
        "{all:.1} {} per call on average, by call stack.",
        graph.unit
    );
    let chart = graph.drawing.figure(id, [title, said], legend);
    chart.listed(phase.name.clone())
}
