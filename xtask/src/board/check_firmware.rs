//! What a board file must not say of its firmwares.

use anyhow::Result;
use psci_bench::board::IDLE_STATES_MAX;
use psci_bench::spec::psci::WrongLevel;
use toml::Spanned;

use super::board::Board;
use super::firmware::IdleState;
use super::source::Source;
use super::texts::{self, NAME, is_name};

/// Refuses the first firmware with more CPUs than there are, or with fewer than
/// a run has that asks for no number. The CPUs have been checked.
pub(super) fn check_cpus(board: &Board, source: &Source<'_>) -> Result<()> {
    let cpus: usize = board.all_clusters().iter().map(Vec::len).sum();
    let default = board.default_cpus()?;
    for firmware in board.firmware.values() {
        let most = *firmware.max_cpus.get_ref();
        let fail = |reason: &str| Err(source.error(firmware.max_cpus.span(), reason));
        if most == 0 || most as usize > cpus {
            return fail(&format!("max-cpus is 1 to {cpus}: so many CPUs there are"));
        }
        if most < default {
            return fail(&format!(
                "max-cpus is less than the {default} CPUs that are used when no number is asked \
                 for: those of [qemu], else all that are listed"
            ));
        }
    }
    Ok(())
}

/// Refuses the first firmware that cannot be.
pub(super) fn check(board: &Board, source: &Source<'_>) -> Result<()> {
    let default = &board.default_firmware;
    if !board.firmware.contains_key(default.get_ref()) {
        let reason = "there is no [firmware] of that name";
        return Err(source.error(default.span(), reason));
    }
    for (name, firmware) in &board.firmware {
        let fail = |reason: &str| Err(source.error(source.table(&["firmware", name]), reason));
        if firmware.pmf.is_none() && board.qemu.is_none() {
            return fail("pmf is missing: \"linked\", \"unlinked\" or \"none\"");
        }
        let cluster = firmware.stock.as_ref().and_then(|stock| stock.cluster);
        if cluster.is_some() && board.cpus.continues.is_none() {
            return fail("stock.cluster needs the rule cpus.continues");
        }
        if let Some(note) = &firmware.note {
            texts::text(note, source)?;
        } else if firmware.idle_state.is_empty() {
            return fail("no idle-state and no note that says why");
        } else if !firmware.cpu_off {
            return fail("cpu-off = false and no note that says why");
        }
        states(&firmware.idle_state, source)?;
    }
    Ok(())
}

fn states(states: &[Spanned<IdleState>], source: &Source<'_>) -> Result<()> {
    for (index, state) in states.iter().enumerate() {
        idle_state(state, source)?;
        let this = state.get_ref();
        let same = |other: &Spanned<IdleState>| {
            let other = other.get_ref();
            other.format == this.format
                && (other.name == this.name
                    || other.power_state.get_ref() == this.power_state.get_ref())
        };
        let before = states.iter().take(index);
        let format = |other: &&Spanned<IdleState>| other.get_ref().format == this.format;
        if before.filter(format).count() == IDLE_STATES_MAX {
            let reason = format!("more than {IDLE_STATES_MAX} idle states of one format");
            return Err(source.error(state.span(), &reason));
        }
        if states.iter().take(index).any(same) {
            let reason = "another idle state has the same name or power-state";
            return Err(source.error(state.span(), reason));
        }
    }
    Ok(())
}

fn idle_state(state: &Spanned<IdleState>, source: &Source<'_>) -> Result<()> {
    let span = state.span();
    let state = state.get_ref();
    if !is_name(&state.name) {
        let reason = format!("{:?} is no name for a node: {NAME}", state.name);
        return Err(source.error(span, &reason));
    }
    let level = state.level.unwrap_or(0);
    if level > 3 {
        return Err(source.error(span, "PSCI has power levels 0 to 3"));
    }
    let value = *state.power_state.get_ref();
    let fail = |reason: &str| Err(source.error(state.power_state.span(), reason));
    let layout = state.format.layout();
    if !layout.accepts(value) {
        let format = state.format;
        return fail(&format!(
            "{value:#x} sets bits that the {format:?} format reserves"
        ));
    }
    match layout.check_level(value, level) {
        Ok(()) => Ok(()),
        Err(WrongLevel::Names(named)) => fail(&format!(
            "{value:#x} is of power level {named}, and not {level}"
        )),
        Err(WrongLevel::Standby) => fail(&format!(
            "{value:#x} is a standby state, and those are level 0 here"
        )),
    }
}
