//! Idle states: which `power_state` values the board's author vouches for.
//!
//! Linux bindings *cpu/idle-states.yaml* and *power/domain-idle-state.yaml*.
//! `psci-bench,power-level` is this project's own: the PSCI power level that
//! the state reaches, which an extended `power_state` does not tell.

use arrayvec::ArrayVec;

use super::error::{BoardError, Problem};
use super::fdt::{Fdt, Node};
use super::tree::compatible_with;

/// The most idle states.
pub const IDLE_STATES_MAX: usize = 16;
/// The highest PSCI power level (DEN0022F, section 4.2: levels 0 to 3).
const LEVEL_MAX: u32 = 3;

/// One idle state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleState<'t> {
    /// Name of its node.
    pub name: &'t str,
    /// `arm,psci-suspend-param`.
    pub power_state: u32,
    /// `psci-bench,power-level`, 0 to 3, where the tree tells.
    pub level: Option<u8>,
    /// Whether the per-CPU timers stop in it and cannot wake the CPU.
    pub local_timer_stop: bool,
}

const COMPATIBLE: [&str; 2] = ["arm,idle-state", "domain-idle-state"];

/// Where trees keep them; `/cpus` itself in a few.
const CONTAINERS: [&str; 5] = [
    "/cpus/idle-states",
    "/cpus/domain-idle-states",
    "/idle-states",
    "/domain-idle-states",
    "/cpus",
];

/// Every idle state with a PSCI parameter, in the order of [`CONTAINERS`] and
/// in it of the tree; those of one `power_state` are one.
pub(super) fn read(
    fdt: Fdt<'_>,
) -> Result<ArrayVec<IdleState<'_>, IDLE_STATES_MAX>, BoardError<'_>> {
    let mut states = ArrayVec::new();
    for path in CONTAINERS {
        let Some(container) = fdt.find(path) else {
            continue;
        };
        for node in container.children() {
            let compatible = node.value("compatible").unwrap_or_default();
            if compatible_with(compatible, &COMPATIBLE).is_some() && node.available() {
                add(&mut states, node)?;
            }
        }
    }
    Ok(states)
}

fn add<'t>(
    states: &mut ArrayVec<IdleState<'t>, IDLE_STATES_MAX>,
    node: Node<'t>,
) -> Result<(), BoardError<'t>> {
    const LEVEL: &str = "psci-bench,power-level";
    let Some(power_state) = node.u32("arm,psci-suspend-param")? else {
        return Ok(());
    };
    let refuse = |value: u32, expected| {
        let value = u64::from(value);
        Err(node.wrong_value(LEVEL, value, expected))
    };
    let level = match node.u32(LEVEL)? {
        None => None,
        Some(level @ 0..=LEVEL_MAX) => Some(level as u8),
        Some(level) => return refuse(level, "0 to 3"),
    };
    let local_timer_stop = node.value("local-timer-stop").is_some();
    let same = states.iter_mut().find(|s| s.power_state == power_state);
    if let Some(state) = same {
        match (state.level, level) {
            (Some(one), Some(other)) if one != other => {
                return refuse(u32::from(other), "the level of the other node with it");
            }
            (None, level) => state.level = level,
            _ => {}
        }
        state.local_timer_stop |= local_timer_stop;
        return Ok(());
    }
    let state = IdleState {
        name: node.name(),
        power_state,
        level,
        local_timer_stop,
    };
    states
        .try_push(state)
        .map_err(|_| node.error("arm,psci-suspend-param", Problem::TooMany(IDLE_STATES_MAX)))
}
