//! The checks of a board file's firmwares.

use psci_bench::board::IDLE_STATES_MAX;
use psci_bench::spec::psci::WrongLevel;

use super::board::Board;
use super::fault::{Fault, refuse};
use super::firmware::{Firmware, IdleState};

/// Refuses the first fault. The CPUs have been checked.
pub(super) fn check(board: &Board) -> Result<(), Fault> {
    if !board.firmware.contains_key(&board.default_firmware) {
        let reason = format!("there is no [firmware.{}]", board.default_firmware);
        return refuse("default-firmware", reason);
    }
    for (name, firmware) in &board.firmware {
        let path = format!("firmware.{name}");
        cpus(board, firmware, &format!("{path}.max-cpus"))?;
        if firmware.pmf.is_none() && board.qemu.is_none() {
            return refuse(path, "pmf is missing: \"linked\", \"unlinked\" or \"none\"");
        }
        let cluster = firmware.stock.as_ref().and_then(|stock| stock.cluster);
        if cluster.is_some() && board.cpus.continues.is_none() {
            return refuse(path + ".stock.cluster", "the rule cpus.continues is needed");
        }
        if firmware.note.is_none() && firmware.idle_state.is_empty() {
            return refuse(path, "no idle-state: a note has to say why");
        }
        if firmware.note.is_none() && !firmware.cpu_off {
            return refuse(path, "cpu-off = false: a note has to say why");
        }
        for (index, state) in firmware.idle_state.iter().enumerate() {
            let path = format!("{path}.idle-state[{index}]");
            let before = firmware.idle_state.iter().take(index);
            idle_state(state, before, &path)?;
        }
    }
    Ok(())
}

/// Refuses more CPUs than there are, or fewer than a run has if no number is asked for.
fn cpus(board: &Board, firmware: &Firmware, path: &str) -> Result<(), Fault> {
    let all = board.all_clusters().iter().flatten().count();
    let most = firmware.max_cpus;
    if most == 0 || most as usize > all {
        return refuse(path, format!("1 to {all} is needed: there are {all} CPUs"));
    }
    match board.default_cpus() {
        Ok(default) if most < default => {
            let reason = "CPUs that are used if no number is asked for: those of [qemu], else all \
                          that are listed";
            refuse(path, format!("less than the {default} {reason}"))
        }
        _ => Ok(()),
    }
}

fn idle_state<'s>(
    state: &IdleState,
    before: impl Iterator<Item = &'s IdleState>,
    path: &str,
) -> Result<(), Fault> {
    let level = state.level.unwrap_or(0);
    if level > 3 {
        return refuse(format!("{path}.level"), "PSCI has power levels 0 to 3");
    }
    let (value, format) = (state.power_state, state.format);
    let at = format!("{path}.power-state");
    if !format.accepts(value) {
        let format = format.name();
        return refuse(
            at,
            format!("{value:#x} sets bits that the {format} format reserves"),
        );
    }
    match format.check_level(value, level) {
        Ok(()) => {}
        Err(WrongLevel::Names(named)) => {
            return refuse(
                at,
                format!("{value:#x} is of power level {named}, and not {level}"),
            );
        }
        Err(WrongLevel::Standby) => {
            return refuse(
                at,
                format!("{value:#x} is a standby state: level 0 is needed"),
            );
        }
    }
    let same: Vec<&IdleState> = before.filter(|it| it.format == format).collect();
    if same.len() == IDLE_STATES_MAX {
        return refuse(
            path,
            format!("more than {IDLE_STATES_MAX} idle states of one format"),
        );
    }
    if same
        .iter()
        .any(|it| it.name == state.name || it.power_state == value)
    {
        return refuse(path, "another idle state has the same name or power-state");
    }
    Ok(())
}
