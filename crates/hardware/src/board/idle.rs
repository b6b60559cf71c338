//! Reads idle states, including their `power_state` values, from the device tree.
//!
//! See the Linux bindings *cpu/idle-states.yaml* and *power/domain-idle-state.yaml*. Like Linux,
//! the payload uses the states that CPUs list in `cpu-idle-states`, or their power domains in
//! `domain-idle-states`, wherever the nodes are. Every other state in the tree is left out with a
//! reason.
//!
//! `psci-bench,power-level` is specific to this project. The property specifies the PSCI power
//! level that the state reaches, because a `power_state` in the extended format does not contain
//! the level.

use alloc::vec::Vec;

use super::fdt::Fdt;
use super::idle_order::{self, Depth, StateSet};
use super::node::Node;
use super::state_node::{self, LEVEL, LeftOut, NodeSet, PARAMETER, StateNode, StateNodes};
use crate::spec::psci::{StateFormat, WrongLevel};
use crate::text::format_error::Result;

/// The maximum number of idle states.
pub const IDLE_STATES_MAX: usize = StateSet::CAPACITY;

/// An idle state that the payload can measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleState<'t> {
    /// The name of the state's node, for messages.
    pub name: &'t str,
    /// `arm,psci-suspend-param`.
    pub power_state: u32,
    /// `psci-bench,power-level`, 0 to 3. `None` if the node does not have this property.
    pub level: Option<u8>,
    /// True if the per-CPU timers stop in this state and cannot wake the CPU.
    pub local_timer_stop: bool,
    /// The states that are shallower according to the CPUs' lists and the declared latencies. The
    /// levels are not considered.
    pub deeper_than: StateSet,
    /// True if every enabled CPU lists the state.
    pub is_on_all_cpus: bool,
}

/// An idle state that is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOutState<'t> {
    /// The name of the state's node or, if there is no such node, of the node that lists it.
    pub name: &'t str,
    /// Why the state cannot be measured.
    pub reason: LeftOut,
    /// `psci-bench,power-level`, if it is valid, or else the level in `arm,psci-suspend-param`.
    pub level: Option<u8>,
    /// The usable states that are shallower, as in [`IdleState::deeper_than`].
    pub deeper_than: StateSet,
    /// The usable states that are deeper.
    pub shallower_than: StateSet,
}

impl LeftOutState<'_> {
    /// Returns true if CPUs would enter the state if its node were correct.
    pub fn is_meant(&self) -> bool {
        !matches!(self.reason, LeftOut::Disabled | LeftOut::NotListed)
    }
}

/// The idle states in a device tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdleStates<'t> {
    /// At most [`IDLE_STATES_MAX`] states entered through PSCI, in tree order. States with the same
    /// `power_state` are merged.
    pub usable: Vec<IdleState<'t>>,
    /// The states that cannot be measured, in tree order.
    pub left_out: Vec<LeftOutState<'t>>,
}

impl IdleStates<'_> {
    /// Returns the number of all states, including those that are left out.
    pub fn count(&self) -> usize {
        self.usable.len() + self.left_out.len()
    }
}

impl<'t> From<&[IdleState<'t>]> for IdleStates<'t> {
    fn from(usable: &[IdleState<'t>]) -> Self {
        Self {
            usable: usable.to_vec(),
            left_out: Vec::new(),
        }
    }
}

/// Reads every idle state in the tree.
pub(crate) fn read<'t>(tree: Fdt<'t>) -> Result<IdleStates<'t>> {
    let StateNodes { nodes, lists } = state_node::read(tree)?;
    let mut states = IdleStates::default();
    // The nodes of each usable state.
    let mut members: Vec<NodeSet> = Vec::with_capacity(IDLE_STATES_MAX);
    for (node_index, state) in nodes.iter().enumerate() {
        if state.left_out().is_none() {
            let usable_index = add(&mut states.usable, state.node)?;
            members.resize(states.usable.len(), 0);
            members[usable_index] |= 1 << node_index;
        }
    }
    let depths: Vec<_> = nodes.iter().map(depth).collect();
    idle_order::check_levels(&nodes, &depths)?;
    for (state, own) in states.usable.iter_mut().zip(&members) {
        state.deeper_than = idle_order::shallower(&nodes, *own, &members);
        state.is_on_all_cpus = lists.iter().all(|list| list & own != 0);
    }
    for (node_index, state) in nodes.iter().enumerate() {
        let Some(reason) = state.left_out() else {
            continue;
        };
        // A disabled state that no CPU lists is not reported.
        if reason == LeftOut::NotListed && !state.node.is_available() {
            continue;
        }
        states.left_out.push(LeftOutState {
            name: state.node.name_text(),
            reason,
            level: level(state),
            deeper_than: idle_order::shallower(&nodes, 1 << node_index, &members),
            shallower_than: idle_order::deeper(&nodes, 1 << node_index, &members),
        });
    }
    Ok(states)
}

/// Returns the depth of a state; None if its level or its power_state is unknown.
fn depth(state: &StateNode<'_>) -> Option<Depth> {
    let power_state = power_state(state)?;
    Some(Depth {
        level: level(state)?,
        is_powerdown: StateFormat::of(power_state).is_powerdown(power_state),
    })
}

/// Returns the declared power level or, if there is none, the one in the power_state.
fn level(state: &StateNode<'_>) -> Option<u8> {
    let level_in_value = |value| StateFormat::of(value).level(value);
    state
        .level()
        .or_else(|| power_state(state).and_then(level_in_value))
}

fn power_state(state: &StateNode<'_>) -> Option<u32> {
    state.node.u32(PARAMETER).ok().flatten()
}

/// Adds the state in `node`, or merges it with the state that has the same `power_state`, and
/// returns its index.
fn add<'t>(states: &mut Vec<IdleState<'t>>, node: Node<'t>) -> Result<usize> {
    let power_state = node
        .u32(PARAMETER)?
        .ok_or_else(|| node.missing(PARAMETER))?;
    let mut formats = StateFormat::ALL.iter();
    if !formats.any(|format| format.accepts(power_state)) {
        let expected = "a power_state that is valid in one of the two formats";
        return Err(node.wrong_value(PARAMETER, power_state.into(), expected));
    }
    let level = match node.u32(LEVEL)? {
        Some(level @ 4..) => return Err(node.wrong_value(LEVEL, level.into(), "0 to 3")),
        level => level.map(|level| level as u8),
    };
    let wrong_level =
        |expected_text| Err(node.wrong_value(LEVEL, level.unwrap_or(0).into(), expected_text));
    let local_timer_stop = node.value("local-timer-stop").is_some();
    let same = states
        .iter()
        .position(|state| state.power_state == power_state);
    let before = same.and_then(|index| states[index].level);
    if let (Some(one), Some(other)) = (before, level)
        && one != other
    {
        return wrong_level("the same level as the other node with this power_state");
    }
    // Check the level, because swapped levels would change which state is the deepest.
    match level.map(|level| StateFormat::of(power_state).check_level(power_state, level)) {
        Some(Err(WrongLevel::Names(_))) => {
            return wrong_level("the power level in arm,psci-suspend-param");
        }
        Some(Err(WrongLevel::Standby)) => return wrong_level("0 for a standby state"),
        _ => {}
    }
    if let Some(index) = same {
        let state = &mut states[index];
        state.level = state.level.or(level);
        state.local_timer_stop |= local_timer_stop;
        return Ok(index);
    }
    if states.len() == IDLE_STATES_MAX {
        return Err(node.too_many(PARAMETER, IDLE_STATES_MAX));
    }
    states.push(IdleState {
        name: node.name_text(),
        power_state,
        level,
        local_timer_stop,
        deeper_than: StateSet::default(),
        is_on_all_cpus: true,
    });
    Ok(states.len() - 1)
}
