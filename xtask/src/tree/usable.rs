//! What the payload can read in the user's tree, and would end by: told here,
//! where there is someone to read it.

use anyhow::{Result, anyhow, bail};
use psci_bench::board::{Board, Cpu, Gic, Region};
use psci_bench::psci::StateFormat;

use crate::board::ADDRESSES;

/// The registers that the payload uses, by name; of the GIC's, as many as it
/// has use for: some trees claim more than there is.
fn devices(board: &Board<'_>) -> Vec<(&'static str, Region)> {
    let used = |region: &Region, most: u64| Region {
        base: region.base,
        size: region.size.min(most),
    };
    let mut devices = Vec::new();
    match &board.gic {
        None => {}
        Some(Gic::V2 {
            distributor,
            cpu_interface,
        }) => {
            devices.push(("the GIC's distributor", used(distributor, 0x1000)));
            devices.push(("the GIC's CPU interface", used(cpu_interface, 0x2000)));
        }
        Some(Gic::V3 {
            distributor,
            redistributors,
            ..
        }) => {
            devices.push(("the GIC's distributor", used(distributor, 0x1_0000)));
            let regions = redistributors.iter();
            devices.extend(regions.map(|region| ("the GIC's redistributors", *region)));
        }
    }
    if let Ok(frame) = &board.timer_frame {
        devices.extend(frame.registers().map(|frame| ("the timer frame", frame)));
    }
    let watchdog = board.watchdog.as_ref();
    devices.extend(watchdog.map(|watchdog| ("the watchdog", watchdog.registers())));
    devices
}

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
    let devices = devices(board);
    let console = Region {
        base: board.uart.base,
        size: board.uart.size.max(1),
    };
    let memory = board.memory.iter().map(|memory| ("memory", *memory));
    let all = [("the console", console)].into_iter().chain(memory);
    for (name, Region { base, size }) in all.chain(devices.iter().copied()) {
        if base.checked_add(size).is_none_or(|end| end > ADDRESSES) {
            bail!(
                "{name}: {size:#x} bytes at {base:#x} are beyond the 48 bits that addresses have"
            );
        }
    }
    if let Some((name, device)) = devices.iter().find(|(_, device)| device.overlaps(&console)) {
        bail!(
            "the console at {:#x} overlaps {name} at {:#x}",
            console.base,
            device.base
        );
    }
    // Memory that is reserved is not touched, and registers may be there.
    let reserved = board.reserved.iter().any(|part| part.contains(&console));
    let memory = board.memory.iter().find(|memory| memory.overlaps(&console));
    if let Some(memory) = memory.filter(|_| !reserved) {
        bail!(
            "the console at {:#x} overlaps memory at {:#x}: mend the tree's memory node, or reserve \
             that part of it",
            console.base,
            memory.base
        );
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
