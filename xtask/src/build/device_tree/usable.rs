//! What the payload can read in the user's tree, and would end by: told here,
//! where there is someone to read it.

use anyhow::{Result, anyhow, bail};
use psci_bench::board::{Board, Cpu, Region};
use psci_bench::spec::psci::StateFormat;

use crate::board::ADDRESSES;

/// Refuses what the payload would refuse once it runs, or die of in silence.
///
/// # Errors
/// When there is something, with its name.
pub(super) fn check(board: &Board<'_>) -> Result<()> {
    let mut cpus = vec![Cpu::default(); board.cpu_count];
    // Whether Aff0 numbers threads, the CPUs will tell.
    board
        .cpus(false, &mut cpus)
        .or_else(|_| board.cpus(true, &mut cpus))
        .map_err(|error| anyhow!("{error}"))?;
    let mut devices = Vec::new();
    board.devices(&mut |name, region| devices.push((format!("the {name}"), region)));
    let memory = board.memory.iter().map(|memory| ("memory", *memory));
    let all = [("the console", board.uart.registers())]
        .into_iter()
        .chain(memory);
    let devices = devices.iter().map(|it| (it.0.as_str(), it.1));
    for (name, Region { base, size }) in all.chain(devices) {
        if base.checked_add(size).is_none_or(|end| end > ADDRESSES) {
            bail!(
                "{name}: {size:#x} bytes at {base:#x} are beyond the 48 bits that addresses have"
            );
        }
    }
    for state in &board.idle_states {
        let value = state.power_state;
        let formats = [StateFormat::Original, StateFormat::Extended];
        if !formats.iter().any(|format| format.accepts(value)) {
            bail!(
                "idle state {}: arm,psci-suspend-param {value:#x} sets bits that either format \
                 of PSCI reserves",
                state.name
            );
        }
    }
    Ok(())
}
