//! Reads idle states, including their `power_state` values, from the device tree.
//!
//! See the Linux bindings *cpu/idle-states.yaml* and *power/domain-idle-state.yaml*.
//! `psci-bench,power-level` is specific to this project. The property specifies the PSCI power
//! level that the state reaches, because a `power_state` in the extended format does not contain
//! the level.

use alloc::vec::Vec;

use super::fdt::Fdt;
use super::node::Node;
use crate::spec::psci::{StateFormat, WrongLevel};
use crate::text::format_error::Result;

/// The maximum number of idle states.
pub const IDLE_STATES_MAX: usize = 16;

/// An idle state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleState<'t> {
    /// The node name.
    pub name: &'t str,
    /// `arm,psci-suspend-param`.
    pub power_state: u32,
    /// `psci-bench,power-level`, 0 to 3. `None` if the node does not have this property.
    pub level: Option<u8>,
    /// True if the per-CPU timers stop in this state and cannot wake the CPU.
    pub local_timer_stop: bool,
}

const COMPATIBLE: &str = "arm,idle-state domain-idle-state";

/// Nodes that contain idle states. A few trees put idle states directly in `/cpus`.
const CONTAINERS: [&str; 5] = [
    "/cpus/idle-states",
    "/cpus/domain-idle-states",
    "/idle-states",
    "/domain-idle-states",
    "/cpus",
];

/// Reads every idle state that has a PSCI parameter. States are in [`CONTAINERS`] order and, within
/// a container, in tree order. States with the same `power_state` are merged.
pub(crate) fn read<'t>(tree: Fdt<'t>) -> Result<Vec<IdleState<'t>>> {
    let mut states = Vec::new();
    let containers = CONTAINERS.iter().filter_map(|path| Node::find(tree, path));
    for node in containers.flat_map(Node::children) {
        if node.compatible_with(COMPATIBLE).is_some() && node.is_available() {
            add(&mut states, node)?;
        }
    }
    Ok(states)
}

fn add<'t>(states: &mut Vec<IdleState<'t>>, node: Node<'t>) -> Result<()> {
    const PARAMETER: &str = "arm,psci-suspend-param";
    const LEVEL: &str = "psci-bench,power-level";
    let Some(power_state) = node.u32(PARAMETER)? else {
        return Ok(());
    };
    if !StateFormat::ALL.iter().any(|it| it.accepts(power_state)) {
        let expected = "a power_state that is valid in one of the two formats";
        return Err(node.wrong_value(PARAMETER, power_state.into(), expected));
    }
    let level = match node.u32(LEVEL)? {
        Some(level @ 4..) => return Err(node.wrong_value(LEVEL, level.into(), "0 to 3")),
        level => level.map(|level| level as u8),
    };
    let wrong = |expected| Err(node.wrong_value(LEVEL, level.unwrap_or(0).into(), expected));
    let local_timer_stop = node.value("local-timer-stop").is_some();
    let same = states.iter_mut().find(|s| s.power_state == power_state);
    let before = same.as_ref().and_then(|state| state.level);
    if let (Some(one), Some(other)) = (before, level)
        && one != other
    {
        return wrong("the same level as the other node with this power_state");
    }
    // Check the level, because swapped levels would change which state is the deepest.
    let original = StateFormat::Original;
    let format = match original.accepts(power_state) && original.is_powerdown(power_state) {
        true => original,
        false => StateFormat::Extended,
    };
    match level.map(|level| format.check_level(power_state, level)) {
        Some(Err(WrongLevel::Names(_))) => {
            return wrong("the power level in arm,psci-suspend-param");
        }
        Some(Err(WrongLevel::Standby)) => return wrong("0 for a standby state"),
        _ => {}
    }
    if let Some(state) = same {
        state.level = state.level.or(level);
        state.local_timer_stop |= local_timer_stop;
        return Ok(());
    }
    if states.len() == IDLE_STATES_MAX {
        return Err(node.too_many(PARAMETER, IDLE_STATES_MAX));
    }
    states.push(IdleState {
        name: node.name_text(),
        power_state,
        level,
        local_timer_stop,
    });
    Ok(())
}
