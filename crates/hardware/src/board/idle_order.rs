//! Determines which idle state is deeper, from the CPUs' lists and from the declared latencies.
//!
//! The bindings do not order the nodes of idle states. An operating system orders them by the
//! position in `cpu-idle-states`, and chooses among them by latency and residency.

use core::cmp::Ordering;

use super::node::Node;
use super::state_node::{NodeSet, StateNode};
use crate::text::format_error::{FormatError, Result};

/// A set of idle states, by index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateSet(u16);

impl StateSet {
    /// The number of states that a set can contain.
    pub(super) const CAPACITY: usize = u16::BITS as usize;

    /// Returns the set of all states before `index` in the order of the indices.
    pub const fn all_before(index: usize) -> Self {
        Self((1 << index) - 1)
    }

    /// Returns true if the state at `index` is in the set.
    pub const fn contains(self, index: usize) -> bool {
        (self.0 as u32 >> index) & 1 != 0
    }

    /// Adds the state at `index`.
    pub fn insert(&mut self, index: usize) {
        self.0 |= 1 << index;
    }
}

/// The properties whose values are greater in a deeper state.
const DURATIONS: [&str; 4] = [
    "entry-latency-us",
    "exit-latency-us",
    "wakeup-latency-us",
    "min-residency-us",
];

/// Evidence for which of two states is deeper.
#[derive(Clone, Copy, Default)]
struct Evidence {
    for_first: bool,
    for_second: bool,
}

impl Evidence {
    fn add(&mut self, order: Option<Ordering>) {
        self.for_first |= order == Some(Ordering::Greater);
        self.for_second |= order == Some(Ordering::Less);
    }

    /// Returns true if the first state is deeper and nothing contradicts this.
    fn is_first_deeper(self) -> bool {
        self.for_first && !self.for_second
    }
}

/// Returns the states that are shallower than the one with these nodes.
pub(super) fn shallower(nodes: &[StateNode<'_>], own: NodeSet, states: &[NodeSet]) -> StateSet {
    others(own, states, |other| is_deeper(nodes, own, other))
}

/// Returns the states that are deeper than the one with these nodes.
pub(super) fn deeper(nodes: &[StateNode<'_>], own: NodeSet, states: &[NodeSet]) -> StateSet {
    others(own, states, |other| is_deeper(nodes, other, own))
}

/// Returns the other states that `is_wanted` accepts.
fn others(own: NodeSet, states: &[NodeSet], is_wanted: impl Fn(NodeSet) -> bool) -> StateSet {
    let mut set = StateSet::default();
    for (index, other) in states.iter().enumerate() {
        if *other != own && is_wanted(*other) {
            set.insert(index);
        }
    }
    set
}

/// Returns true if lists and latencies show that the first state is deeper.
fn is_deeper(nodes: &[StateNode<'_>], first: NodeSet, second: NodeSet) -> bool {
    let mut all = Evidence::default();
    for (one, other) in comparable(nodes, first, second) {
        all.add(by_lists(nodes, one, other));
        all.add(by_durations(nodes[one].node, nodes[other].node));
    }
    all.is_first_deeper()
}

/// A state's power level and type.
#[derive(Clone, Copy)]
pub(super) struct Depth {
    pub(super) level: u8,
    pub(super) is_powerdown: bool,
}

/// Rejects levels that the declared latencies contradict. `depths` contains the depth of each node,
/// if it is known. Only states that a CPU lists together are compared, and only those of one type:
/// a cluster's retention state can be faster than a core's power-down state.
pub(super) fn check_levels(nodes: &[StateNode<'_>], depths: &[Option<Depth>]) -> Result<()> {
    let known = || {
        let depths = depths.iter().enumerate();
        depths.filter_map(|(index, depth)| Some((index, (*depth)?)))
    };
    for (low, low_depth) in known() {
        for (high, high_depth) in known() {
            let is_lower = low_depth.level < high_depth.level
                && low_depth.is_powerdown == high_depth.is_powerdown;
            let are_comparable = by_lists(nodes, low, high).is_some();
            let [low, high] = [low, high].map(|index| nodes[index].node);
            if is_lower && are_comparable && by_durations(low, high) == Some(Ordering::Greater) {
                return Err(wrong_level(low, high));
            }
        }
    }
    Ok(())
}

fn wrong_level(low: Node<'_>, high: Node<'_>) -> FormatError {
    let name = high.name_text();
    low.error(
        "",
        format_args!(
            "the power level is lower than that of {name}, but the latencies and residencies are \
             greater; correct the levels or the latencies"
        ),
    )
}

/// Returns the pairs of nodes to compare: those that a CPU lists together or, if there are none,
/// all pairs.
fn comparable(
    nodes: &[StateNode<'_>],
    first: NodeSet,
    second: NodeSet,
) -> impl Iterator<Item = (usize, usize)> {
    let pairs = move || {
        let pairs_with = move |one| members(second).map(move |other| (one, other));
        members(first).flat_map(pairs_with)
    };
    let are_listed = |(one, other): &(usize, usize)| by_lists(nodes, *one, *other).is_some();
    let any_listed = pairs().any(|pair| are_listed(&pair));
    pairs().filter(move |pair| !any_listed || are_listed(pair))
}

fn members(set: NodeSet) -> impl Iterator<Item = usize> {
    (0..NodeSet::BITS as usize).filter(move |index| set >> index & 1 != 0)
}

/// Compares the positions of two nodes in the CPUs' lists. `Equal` if the lists contradict each
/// other; None if no list contains both.
fn by_lists(nodes: &[StateNode<'_>], one: usize, other: usize) -> Option<Ordering> {
    let is_after =
        |late_index: usize, early_index: usize| nodes[late_index].after >> early_index & 1 != 0;
    match (is_after(one, other), is_after(other, one)) {
        (false, false) => None,
        (is_one_later, is_other_later) => Some(is_one_later.cmp(&is_other_later)),
    }
}

/// Compares the durations that both nodes have. None if there are none, or if they disagree.
fn by_durations(one: Node<'_>, other: Node<'_>) -> Option<Ordering> {
    let duration = |node: Node<'_>, name| node.u32(name).ok().flatten();
    let mut all = None;
    for name in DURATIONS {
        let (Some(own), Some(its)) = (duration(one, name), duration(other, name)) else {
            continue;
        };
        all = match (all, own.cmp(&its)) {
            (None | Some(Ordering::Equal), order) => Some(order),
            (Some(order), Ordering::Equal) => Some(order),
            (Some(before), order) if before == order => Some(order),
            _ => return None,
        };
    }
    all
}
