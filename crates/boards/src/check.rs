//! Checks a board file for impossible values and contradictions.

use hardware::board::{ADDRESSES, CPU_MAX, GICR, GITS, Region};
use hardware::image::{BASE_MAX, working_memory};
use itertools::Itertools as _;

use super::board::{BoardFile, Reserved, Verified};
use super::board_fault::{BoardFault, require};
use super::devices::{GicChoice, Timer, WatchdogEntry};
use super::{check_package, check_stock, check_tree, texts};

/// The highest serial port number that is accepted. No QEMU machine has that many ports.
const SERIAL_MAX: u32 = 31;

type Check = Result<(), BoardFault>;

/// Returns the first error found.
pub(super) fn check_board(board: &BoardFile) -> Check {
    texts::check_texts(board)?;
    verified(board)?;
    memory(board)?;
    cpus(board)?;
    firmwares(board)?;
    load_address(board)?;
    devices(board)?;
    check_tree::check_trees(board)?;
    check_package::check_package(board)?;
    qemu(board)
}

fn verified(board: &BoardFile) -> Check {
    let reason = match board.verified {
        None => "missing; without [qemu] it must be \"hardware\", \"simulated\" or \"no\"",
        Some(Verified::Emulated) => "\"emulated\" requires a [qemu] table",
        Some(_) => return Ok(()),
    };
    require(board.qemu.is_some(), "verified", reason)
}

/// Checks that ranges do not overlap and that each reserved range lies within a single memory
/// range.
fn memory(board: &BoardFile) -> Check {
    let reserved = board.reserved.iter().map(Reserved::region).collect();
    for (list, ranges) in [("memory", &board.memory), ("reserved", &reserved)] {
        for (index, range) in ranges.iter().enumerate() {
            let path = format!("{list}[{index}]");
            let Region { base, size } = *range;
            let end = base
                .checked_add(size)
                .filter(|range_end| *range_end <= ADDRESSES);
            let reason = format_args!(
                "{size:#x} bytes at {base:#x} is not a valid range: expected a nonzero size and \
                 48-bit addresses"
            );
            require(size > 0 && end.is_some(), &path, reason)?;
            let mut others = ranges[..index].iter();
            if let Some(other) = others.position(|other| other.overlaps(range)) {
                let reason = format_args!("overlaps {list}[{other}]");
                return Err(BoardFault::new(path, reason));
            }
        }
    }
    let is_in_memory = |part: &Region| board.memory.iter().any(|memory| memory.contains(part));
    match reserved.iter().position(|part| !is_in_memory(part)) {
        None => Ok(()),
        Some(outside) => Err(BoardFault::new(
            format_args!("reserved[{outside}]"),
            "not within a single memory range",
        )),
    }
}

fn cpus(board: &BoardFile) -> Check {
    let listed = &board.cpus.clusters;
    let has_empty = listed.is_empty() || listed.iter().any(Vec::is_empty);
    require(!has_empty, "cpus.clusters", "a cluster has no CPUs")?;
    if let Some(mpidr) = listed.iter().flatten().duplicates().next() {
        let reason = format_args!("MPIDR {mpidr} appears twice; each CPU needs its own");
        return Err(BoardFault::new("cpus.clusters", reason));
    }
    let names = board.cpus.compatible.as_ref();
    require(
        names.is_none_or(|names| names.len() == listed.len()),
        "cpus.compatible",
        "expected one name per cluster",
    )?;
    let publish = board.publish.as_ref();
    let published = publish.map_or(&[][..], |publish| &publish.clusters);
    require(
        published.is_empty() || published.len() == listed.len(),
        "publish.clusters",
        "expected one entry per cluster in cpus.clusters",
    )?;
    let Some(rule) = &board.cpus.continues else {
        return Ok(());
    };
    let path = "cpus.continues";
    let can_be = rule.cluster > 0 && (1..=256).contains(&rule.per_aff1);
    require(
        can_be && rule.count as usize <= CPU_MAX,
        path,
        "expected cluster >= 1, per-aff1 from 1 to 256, and count <= 512",
    )?;
    require(
        rule.clusters().starts_with(listed),
        path,
        "the clusters in cpus.clusters do not follow this rule",
    )
}

fn firmwares(board: &BoardFile) -> Check {
    let default = &board.default_firmware;
    require(
        board.firmware.contains_key(default),
        "default-firmware",
        format_args!("no [firmware.{default}] table"),
    )?;
    let all = board.all_clusters().iter().flatten().count();
    let least = board.default_cpus().unwrap_or(0).max(1);
    for (name, firmware) in &board.firmware {
        let path = format!("firmware.{name}");
        let most = firmware.max_cpus;
        require(
            most >= least && most as usize <= all,
            format_args!("{path}.max-cpus"),
            format_args!("expected {least} (the default number of CPUs) to {all} (all CPUs)"),
        )?;
        require(
            firmware.pmf.is_some() || board.qemu.is_some(),
            &path,
            "pmf is missing; it must be \"linked\", \"unlinked\" or \"none\"",
        )?;
        if let Some(stock) = &firmware.stock {
            check_stock::check_stock(board, &format!("{path}.stock"), stock)?;
        }
        let has_note = firmware.note.is_some();
        require(
            has_note || !firmware.idle_state.is_empty(),
            &path,
            "no idle-state: add a note explaining why",
        )?;
        require(
            has_note || firmware.cpu_off,
            &path,
            "cpu-off = false: add a note explaining why",
        )?;
        for (index, state) in firmware.idle_state.iter().enumerate() {
            let value = state.power_state;
            let format = state.format.name();
            require(
                state.format.accepts(value),
                format_args!("{path}.idle-state[{index}].power-state"),
                format_args!("{value:#x} sets bits that are reserved in the {format} format"),
            )?;
        }
    }
    Ok(())
}

/// Checks that the image and its minimum working memory fit at the load address.
fn load_address(board: &BoardFile) -> Check {
    let path = "load-address";
    let base = board.load_address;
    let size = BASE_MAX as u64;
    let is_there = |memory: &&Region| memory.contains(&Region { base, size: 1 });
    let Some(memory) = board.memory.iter().find(is_there) else {
        return Err(BoardFault::new(
            path,
            format_args!("{base:#x} is not in memory"),
        ));
    };
    require(
        base.is_multiple_of(4096),
        path,
        format_args!("{base:#x} is not aligned to 4 KiB"),
    )?;
    let image = Region { base, size };
    for part in &board.reserved {
        let reason = format_args!("the image overlaps memory reserved for {}", part.name);
        require(!part.region().overlaps(&image), path, reason)?;
    }
    let have = memory.end() - base;
    let need = size + working_memory(board.most_cpus());
    let reason = format_args!(
        "{} KiB of memory at this address, but the payload needs {} KiB",
        have >> 10,
        need >> 10
    );
    require(have >= need, path, reason)
}

/// Checks device settings that the payload does not read from the device tree.
fn devices(board: &BoardFile) -> Check {
    let uart = &board.uart;
    let has_extra = uart.reg_shift.is_some() || uart.reg_io_width.is_some();
    require(
        !has_extra || uart.kind.descriptor().is_numbered,
        "uart",
        "reg-shift and reg-io-width require kind = \"ns16550\"",
    )?;
    match (&board.timer, &board.gic) {
        (None, None) => {}
        (None, Some(_)) => {
            let reason = "a [gic] table requires a [timer] table";
            return Err(BoardFault::new("gic", reason));
        }
        (Some(_), None) => {
            return Err(BoardFault::new("timer", "INTIDs require a [gic] table"));
        }
        (Some(timer), Some(gic)) => interrupts(timer, gic)?,
    }
    let frame = board.timer_frame().map(|frame| frame.interrupt);
    let watchdog = board.watchdog.as_ref().and_then(WatchdogEntry::interrupt);
    for (path, interrupt) in [("timer.frame", frame), ("watchdog", watchdog)] {
        let Some(intid) = interrupt else {
            continue;
        };
        let reason = format_args!("INTID {intid} is not an SPI (32 to 1019)");
        require(intid.is_spi(), format_args!("{path}.interrupt"), reason)?;
    }
    Ok(())
}

/// Checks the timers and the GIC of a board that has both.
fn interrupts(timer: &Timer, gic: &GicChoice) -> Check {
    let intids = timer.intids();
    require(
        intids.iter().all(|intid| intid.is_ppi()) && intids.iter().all_unique(),
        "timer",
        "expected four different PPI INTIDs from 16 to 31",
    )?;
    require(
        gic.has(gic.default),
        "gic.default",
        "expected a version that this file describes",
    )?;
    let mut regions = gic.v3.iter().flat_map(|v3| &v3.redistributors);
    require(
        regions.all(|region| region.size.is_multiple_of(GICR.least)),
        "gic.v3.redistributors",
        "expected a multiple of 128 KiB, the size of one redistributor",
    )?;
    let its = gic.v3.as_ref().and_then(|v3| v3.its);
    require(
        its.is_none_or(|its| GITS.check(&its).is_ok()),
        "gic.v3.its",
        "expected a base that is a multiple of 64 KiB, and at least 64 KiB",
    )
}

fn qemu(board: &BoardFile) -> Check {
    let Some(qemu) = &board.qemu else {
        return Ok(());
    };
    require(qemu.cpus > 0, "qemu.cpus", "expected at least 1")?;
    let reason = format_args!("expected at most {SERIAL_MAX}");
    require(qemu.serial <= SERIAL_MAX, "qemu.serial", reason)?;
    if let Some(base) = qemu.memory_base {
        let size = qemu.memory_mib.saturating_mul(1 << 20);
        let contains = |memory: &Region| Region { base, size }.contains(memory);
        let reason = "a memory range is outside the machine's memory";
        return require(
            board.memory.iter().all(contains),
            "qemu.memory-base",
            reason,
        );
    }
    let memory: u64 = board.memory.iter().map(|memory| memory.size).sum();
    let is_all = qemu.memory_mib.checked_mul(1 << 20) == Some(memory);
    let reason = format_args!("the memory ranges total {} MiB", memory >> 20);
    require(is_all, "qemu.memory-mib", reason)
}
