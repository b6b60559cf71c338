//! The checks of a board file's firmwares.

use super::board::Board;
use super::fault::{Fault, require};

/// Refuses the first fault. The CPUs have been checked.
pub(super) fn check(board: &Board) -> Result<(), Fault> {
    let default = &board.default_firmware;
    let has_default = board.firmware.contains_key(default);
    let reason = format_args!("there is no [firmware.{default}]");
    require(has_default, "default-firmware", reason)?;
    let all = board.all_clusters().iter().flatten().count();
    let least = board.default_cpus().unwrap_or(0).max(1);
    for (name, firmware) in &board.firmware {
        let path = format!("firmware.{name}");
        let most = firmware.max_cpus;
        let reason = format_args!(
            "{least} to {all} is needed: the CPUs that are used if no number is asked for, and \
             all that there are"
        );
        let fits = most >= least && most as usize <= all;
        require(fits, format_args!("{path}.max-cpus"), reason)?;
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
            let (value, format) = (state.power_state, state.format);
            let at = format_args!("{path}.idle-state[{index}].power-state");
            let reason = format!("sets bits that the {} format reserves", format.name());
            require(
                format.accepts(value),
                at,
                format_args!("{value:#x} {reason}"),
            )?;
        }
    }
    Ok(())
}
