//! The checks of a board file's firmwares.

use psci_bench::board::IDLE_STATES_MAX;
use psci_bench::spec::psci::WrongLevel;

use super::board::Board;
use super::fault::{Fault, require};
use super::firmware::{Firmware, IdleState};

/// Refuses the first fault. The CPUs have been checked.
pub(super) fn check(board: &Board) -> Result<(), Fault> {
    let default = &board.default_firmware;
    let has_default = board.firmware.contains_key(default);
    let reason = format_args!("there is no [firmware.{default}]");
    require(has_default, "default-firmware", reason)?;
    for (name, firmware) in &board.firmware {
        let path = format!("firmware.{name}");
        cpus(board, firmware, &format!("{path}.max-cpus"))?;
        let has_pmf = firmware.pmf.is_some() || board.qemu.is_some();
        let reason = "pmf is missing: \"linked\", \"unlinked\" or \"none\"";
        require(has_pmf, &path, reason)?;
        let cluster = firmware.stock.as_ref().and_then(|stock| stock.cluster);
        let has_rule = cluster.is_none() || board.cpus.continues.is_some();
        let at = format_args!("{path}.stock.cluster");
        require(has_rule, at, "the rule cpus.continues is needed")?;
        let (has_note, has_states) = (firmware.note.is_some(), !firmware.idle_state.is_empty());
        let reason = "no idle-state: a note has to say why";
        require(has_note || has_states, &path, reason)?;
        let reason = "cpu-off = false: a note has to say why";
        require(has_note || firmware.cpu_off, &path, reason)?;
        for (index, state) in firmware.idle_state.iter().enumerate() {
            let path = format!("{path}.idle-state[{index}]");
            idle_state(state, &firmware.idle_state[..index], &path)?;
        }
    }
    Ok(())
}

/// Refuses more CPUs than there are, or fewer than a run has if no number is asked for.
fn cpus(board: &Board, firmware: &Firmware, path: &str) -> Result<(), Fault> {
    let all = board.all_clusters().iter().flatten().count();
    let most = firmware.max_cpus;
    let reason = format_args!("1 to {all} is needed: there are {all} CPUs");
    require(most > 0 && most as usize <= all, path, reason)?;
    let default = board.default_cpus().unwrap_or(0);
    let reason = "CPUs that are used if no number is asked for: those of [qemu], else all that \
                  are listed";
    let reason = format_args!("less than the {default} {reason}");
    require(most >= default, path, reason)
}

fn idle_state(state: &IdleState, before: &[IdleState], path: &str) -> Result<(), Fault> {
    let level = state.level.unwrap_or(0);
    let reason = "PSCI has power levels 0 to 3";
    require(level <= 3, format_args!("{path}.level"), reason)?;
    let (value, format) = (state.power_state, state.format);
    let at = format!("{path}.power-state");
    let reason = format_args!("sets bits that the {} format reserves", format.name());
    let reason = format_args!("{value:#x} {reason}");
    require(format.accepts(value), &at, reason)?;
    let reason = match format.check_level(value, level) {
        Ok(()) => None,
        Err(WrongLevel::Names(named)) => Some(format!("of power level {named}, and not {level}")),
        Err(WrongLevel::Standby) => Some("a standby state: level 0 is needed".into()),
    };
    if let Some(reason) = reason {
        require(false, at, format_args!("{value:#x} is {reason}"))?;
    }
    let alike: Vec<_> = before.iter().filter(|it| it.format == format).collect();
    let reason = format_args!("more than {IDLE_STATES_MAX} idle states of one format");
    require(alike.len() < IDLE_STATES_MAX, path, reason)?;
    let is_same = |it: &&IdleState| it.name == state.name || it.power_state == value;
    let reason = "another idle state has the same name or power-state";
    require(!alike.iter().any(is_same), path, reason)
}
