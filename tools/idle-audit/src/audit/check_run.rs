//! Checks that a run is from the board that declares the idle states.

use anyhow::{Result, bail, ensure};
use device_tree::declared::DeclaredStates;
use itertools::Itertools as _;
use report::log::LoggedRun;

use super::declared_source::DeclaredSource;
use crate::worst_case::suspends;

/// Rejects a run that is from another board, or that cannot be audited.
pub(super) fn check_run(source: &DeclaredSource, board: &str, logged: &LoggedRun) -> Result<()> {
    let input = &logged.source.input;
    let name = &source.name;
    ensure!(
        logged.integrity.records.is_some(),
        "{input}: no records; an audit cannot be based on lines without a checksum"
    );
    ensure!(
        logged.run.clock().is_known(),
        "{input}: the counter frequency is unknown, but latencies are declared in microseconds"
    );
    let logged_board = logged.board().unwrap_or("an unknown board");
    if logged_board != board {
        bail!(
            "{input}: is a log of {logged_board}, but {name} is for {board}; if they are the same \
             board, name its board file with --board"
        );
    }
    let mut mpidrs = logged.run.cpus.iter().filter_map(|cpu| cpu.mpidr);
    if let Some(other) = mpidrs.find(|mpidr| !source.declared.cpus.contains(mpidr)) {
        bail!("{input}: CPU {other} is not in {name}, so the log is from another board");
    }
    let suspends = suspends(logged);
    ensure!(
        !suspends.is_empty(),
        "{input}: no scenario suspended a CPU; select idle_states with only="
    );
    if !declares_any(&source.declared, suspends.keys()) {
        let list = |states: Vec<u32>| {
            states
                .iter()
                .map(|state| format!("{state:#010x}"))
                .join(", ")
        };
        let states = source.declared.states.iter();
        let declared = list(states.map(|state| state.power_state).collect());
        let measured = list(suspends.into_keys().collect());
        bail!(
            "{input}: has only the states {measured}, but {name} declares {declared}: the log is \
             from another board or firmware"
        );
    }
    Ok(())
}

/// Returns true if any of the power_state values is declared.
fn declares_any<'s>(
    declared: &DeclaredStates,
    mut power_states: impl Iterator<Item = &'s u32>,
) -> bool {
    power_states.any(|power_state| {
        let mut states = declared.states.iter();
        states.any(|state| state.power_state == *power_state)
    })
}
