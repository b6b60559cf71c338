//! The checks of a board file: values that cannot be, and contradictions.

use psci_bench::board::{
    ADDRESSES, CPU_MAX, FRAMES, FrameLimits, GICC_V2, GICD_V2, GICD_V3, GICR, MEMORY_MAX, PPIS,
    REDISTRIBUTOR_REGIONS_MAX, RESERVED_MAX, Region, SPIS,
};
use psci_bench::devices::uart::registers;
use psci_bench::image::{BASE_MAX, UartKind, working_memory};
use psci_bench::spec::psci::AFFINITY_MASK;

use super::board::{Board, Reserved, Verified};
use super::devices::{Frame, Watchdog};
use super::fault::{Fault, require};
use super::lab::MINUTES_MAX;
use super::{check_firmware, check_package, texts};

type Check = Result<(), Fault>;

/// Refuses the first fault.
pub(super) fn check(board: &Board) -> Check {
    texts::check(board)?;
    verified(board)?;
    regions(board)?;
    cpus(board)?;
    continues(board)?;
    check_firmware::check(board)?;
    load_address(board)?;
    uart(board)?;
    timer(board)?;
    gic(board)?;
    watchdog(board)?;
    check_package::check(board)?;
    qemu(board)?;
    let minutes = board.lab.as_ref().map_or(1, |lab| lab.minutes);
    let reason = format_args!("a job may take 1 to {MINUTES_MAX} minutes");
    require((1..=MINUTES_MAX).contains(&minutes), "lab.minutes", reason)
}

fn verified(board: &Board) -> Check {
    let reason = match board.verified {
        None => "missing: \"hardware\" or \"no\" is needed without [qemu]",
        Some(Verified::Emulated) => "\"emulated\" is for boards with a recipe for QEMU, [qemu]",
        Some(_) => return Ok(()),
    };
    require(board.qemu.is_some(), "verified", reason)
}

/// A region with its path in the file.
type Place = (String, Region);

fn numbered(list: &str, regions: impl Iterator<Item = Region>) -> Vec<Place> {
    let numbered = regions.enumerate();
    let places = numbered.map(|(index, region)| (format!("{list}[{index}]"), region));
    places.collect()
}

/// Checks that devices and memory lie side by side; a GICv2 and a GICv3 are alternatives.
fn regions(board: &Board) -> Check {
    let memory = numbered("memory", board.memory.iter().copied());
    let reserved = numbered("reserved", board.reserved.iter().map(Reserved::region));
    for (list, count, most) in [
        ("memory", memory.len(), MEMORY_MAX),
        ("reserved", reserved.len(), RESERVED_MAX),
    ] {
        let path = format_args!("{list}[{most}]");
        let reason = format_args!("more than {most} of them");
        require(count <= most, path, reason)?;
    }
    let mut common = memory;
    common.push(("uart".into(), board.uart.registers()));
    let frame = board.timer_frame().into_iter().flat_map(Frame::registers);
    common.extend(frame.map(|it| ("timer.frame".into(), it)));
    let watchdog = board.watchdog.iter().flat_map(Watchdog::frames);
    common.extend(watchdog.map(|it| ("watchdog".into(), it)));
    let gic = gic_frames(board);
    for version in ["gic.v2", "gic.v3"] {
        let own = gic.iter().filter(|(gic, ..)| *gic == version);
        let own = own.map(|(gic, _, region, _)| (gic.to_string(), *region));
        disjoint(&common.iter().cloned().chain(own).collect::<Vec<_>>())?;
    }
    disjoint(&reserved)?;
    reserved.iter().try_for_each(|(path, part)| {
        let is_in_memory = board.memory.iter().any(|memory| memory.contains(part));
        require(is_in_memory, path, "not within one range of memory")
    })
}

fn disjoint(places: &[Place]) -> Check {
    for (index, (path, region)) in places.iter().enumerate() {
        let Region { base, size } = *region;
        let end = base.checked_add(size);
        let is_region = size != 0 && end.is_some_and(|end| end <= ADDRESSES);
        let reason = "are no region: a size and at most 48 bits of address are needed";
        let reason = format_args!("{size:#x} bytes at {base:#x} {reason}");
        require(is_region, path, reason)?;
        for (other, there) in &places[..index] {
            let reason = format_args!("{base:#x} overlaps {other} at {:#x}", there.base);
            require(!region.overlaps(there), path, reason)?;
        }
    }
    Ok(())
}

/// A frame of a GIC: the GIC's path, the key, the registers and their limits.
type GicFrame = (&'static str, &'static str, Region, FrameLimits);

/// Returns the frames of all GICs.
fn gic_frames(board: &Board) -> Vec<GicFrame> {
    let gic = board.gic.as_ref();
    let mut frames = Vec::new();
    if let Some(v2) = gic.and_then(|gic| gic.v2.as_ref()) {
        frames.push(("gic.v2", "distributor", v2.distributor, GICD_V2));
        frames.push(("gic.v2", "cpu-interface", v2.cpu_interface, GICC_V2));
    }
    if let Some(v3) = gic.and_then(|gic| gic.v3.as_ref()) {
        frames.push(("gic.v3", "distributor", v3.distributor, GICD_V3));
        let regions = v3.redistributors.iter();
        frames.extend(regions.map(|region| ("gic.v3", "redistributors", *region, GICR)));
    }
    frames
}

fn cpus(board: &Board) -> Check {
    let listed = &board.cpus.clusters;
    let mut seen = Vec::new();
    for (index, cluster) in listed.iter().enumerate() {
        for (core, mpidr) in cluster.iter().enumerate() {
            let path = format!("cpus.clusters[{index}][{core}]");
            let reason = format_args!("{mpidr:#x} has other bits than the affinity fields");
            require(mpidr & !AFFINITY_MASK == 0, &path, reason)?;
            let reason = format_args!("MPIDR {mpidr:#x} appears twice; each CPU needs its own");
            require(!seen.contains(mpidr), &path, reason)?;
            seen.push(*mpidr);
        }
    }
    let path = "cpus.clusters";
    let has_empty = listed.is_empty() || listed.iter().any(Vec::is_empty);
    require(!has_empty, path, "a cluster without CPUs")?;
    let reason = format_args!("more than {CPU_MAX} CPUs");
    require(seen.len() <= CPU_MAX, path, reason)?;
    let names = board.cpus.compatible.as_ref();
    let fits = names.is_none_or(|names| names.len() == listed.len());
    let reason = "one name for each cluster is needed";
    require(fits, "cpus.compatible", reason)
}

fn continues(board: &Board) -> Check {
    let Some(rule) = &board.cpus.continues else {
        return Ok(());
    };
    let path = "cpus.continues";
    let can_be = rule.cluster > 0 && (1..=256).contains(&rule.per_aff1);
    let reason = "cluster is at least 1, per-aff1 1 to 256, count at most 512";
    require(can_be && rule.count as usize <= CPU_MAX, path, reason)?;
    let (ruled, listed) = (rule.clusters(), &board.cpus.clusters);
    for (index, (one, expected)) in listed.iter().zip(&ruled).enumerate() {
        let (count, first) = (expected.len(), expected.first().unwrap_or(&0));
        let reason = format_args!("has {count} CPUs from MPIDR {first:#x} on");
        let reason =
            format_args!("cpus.clusters[{index}] is not the rule's cluster, which {reason}");
        require(one == expected, path, reason)?;
    }
    let reason = "the rule has fewer clusters than cpus.clusters";
    require(ruled.len() >= listed.len(), path, reason)
}

/// Returns the most CPUs of all firmwares.
fn most_cpus(board: &Board) -> u32 {
    let most = board.firmware.values().map(|firmware| firmware.max_cpus);
    most.max().unwrap_or(1)
}

/// Checks that the image and its least working memory fit in at the load address.
fn load_address(board: &Board) -> Check {
    let (path, base, size) = ("load-address", board.load_address, BASE_MAX as u64);
    let is_there = |memory: &&Region| memory.contains(&Region { base, size: 1 });
    let end = board.memory.iter().find(is_there).map(Region::end);
    let reason = format_args!("{base:#x} is not in memory");
    require(end.is_some(), path, reason)?;
    let reason = format_args!("{base:#x} is not on a page of 4 KiB");
    require(base.is_multiple_of(4096), path, reason)?;
    let image = Region { base, size };
    for part in &board.reserved {
        let reason = format_args!("the image overlaps what {} has reserved", part.name);
        require(!part.region().overlaps(&image), path, reason)?;
    }
    let have = end.unwrap_or(base) - base;
    let need = size + working_memory(most_cpus(board));
    let (have_kib, need_kib) = (have >> 10, need >> 10);
    let reason = "KiB of memory from there on, and the payload needs";
    let reason = format_args!("{have_kib} {reason} {need_kib}");
    require(have >= need, path, reason)
}

fn uart(board: &Board) -> Check {
    let uart = &board.uart;
    let has_extra = uart.reg_shift.is_some() || uart.reg_io_width.is_some();
    let reason = "reg-shift and reg-io-width are for kind = \"ns16550\"";
    require(!has_extra || uart.kind == UartKind::Ns16550, "uart", reason)?;
    let fits = uart.reg_shift.is_none_or(|shift| shift <= 4);
    require(fits, "uart.reg-shift", "0 to 4 is needed")?;
    let fits = matches!(uart.reg_io_width, None | Some(1 | 2 | 4));
    require(fits, "uart.reg-io-width", "1, 2 or 4 is needed")?;
    let read = uart.emergency();
    let least = registers(&read).size;
    let reason = format_args!("the registers of this kind have {least:#x} bytes");
    require(uart.size >= least, "uart.size", reason)?;
    let reason = "registers are not aligned to reg-io-width, or to 4 bytes";
    require(read.is_aligned(), "uart.base", reason)
}

fn timer(board: &Board) -> Check {
    let has_gic = board.gic.is_some();
    let Some(timer) = &board.timer else {
        return require(!has_gic, "gic", "a board with a [gic] needs a [timer]");
    };
    let reason = "INTIDs are a GIC's, and there is no [gic]";
    require(has_gic, "timer", reason)?;
    let intids = timer.intids();
    for (index, intid) in intids.iter().enumerate() {
        let reason = format_args!("INTID {intid} is no PPI: those are 16 to 31");
        require(PPIS.contains(intid), "timer", reason)?;
        let reason = format_args!("two timers have the INTID {intid}");
        require(!intids[..index].contains(intid), "timer", reason)?;
    }
    let Some(frame) = board.timer_frame() else {
        return Ok(());
    };
    device("timer.frame", &frame.registers(), Some(frame.interrupt))?;
    require(frame.size <= 1 << 31, "timer.frame.size", "2 GiB at most")?;
    let reason = "frames are numbered 0 to 7";
    require(frame.number < FRAMES, "timer.frame.number", reason)
}

/// Checks the registers and the interrupt of a timer frame or a watchdog. The payload would
/// ignore a device with others.
fn device(path: &str, registers: &[Region], interrupt: Option<u32>) -> Check {
    let reason = "registers have at least 4 KiB each, on a page of 4 KiB";
    require(registers.iter().all(Region::is_page), path, reason)?;
    let intid = interrupt.unwrap_or(SPIS.start);
    let path = format_args!("{path}.interrupt");
    let reason = format_args!("INTID {intid} is no SPI: those are 32 to 1019");
    require(SPIS.contains(&intid), path, reason)
}

fn gic(board: &Board) -> Check {
    let Some(gic) = &board.gic else {
        return Ok(());
    };
    let is_described = match gic.default {
        2 => gic.v2.is_some(),
        3 => gic.v3.is_some(),
        _ => false,
    };
    let reason = "2 or 3 is needed, and one that is described";
    require(is_described, "gic.default", reason)?;
    for (gic, key, region, limits) in gic_frames(board) {
        if let Err((value, expected)) = limits.check(&region) {
            let reason = format_args!("{value:#x}, expected {expected}");
            require(false, format_args!("{gic}.{key}"), reason)?;
        }
    }
    match &gic.v3 {
        Some(v3) => redistributors(&v3.redistributors, most_cpus(board)),
        None => Ok(()),
    }
}

fn redistributors(regions: &[Region], cpus: u32) -> Check {
    let path = "gic.v3.redistributors";
    let most = REDISTRIBUTOR_REGIONS_MAX;
    let reason = format_args!("more than {most} regions");
    require(regions.len() <= most, path, reason)?;
    for (index, region) in regions.iter().enumerate() {
        let is_whole = region.size.is_multiple_of(GICR.least);
        let reason = "redistributors have 128 KiB each";
        require(is_whole, format_args!("{path}[{index}]"), reason)?;
    }
    let room: u64 = regions.iter().map(|region| region.size / GICR.least).sum();
    let reason = format_args!("for {room} CPUs, and by max-cpus there can be {cpus}");
    require(room >= cpus.into(), path, reason)
}

fn watchdog(board: &Board) -> Check {
    let Some(watchdog) = &board.watchdog else {
        return Ok(());
    };
    device("watchdog", &watchdog.frames(), watchdog.interrupt())?;
    let has_clock = !matches!(watchdog, Watchdog::Sp805 { clock: 0, .. });
    require(has_clock, "watchdog.clock", "at least 1 Hz is needed")
}

fn qemu(board: &Board) -> Check {
    let Some(qemu) = &board.qemu else {
        return Ok(());
    };
    require(qemu.cpus > 0, "qemu.cpus", "at least 1 is needed")?;
    let memory: u64 = board.memory.iter().map(|memory| memory.size).sum();
    let is_all = qemu.memory_mib.checked_mul(1 << 20) == Some(memory);
    let reason = format_args!("memory has {} MiB in all", memory >> 20);
    require(is_all, "qemu.memory-mib", reason)
}
