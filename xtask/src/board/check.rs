//! The checks of a board file: values that cannot be, and contradictions.

use psci_bench::board::{
    ADDRESSES, CPU_MAX, FRAMES, FrameLimits, GICC_V2, GICD_V2, GICD_V3, GICR, MEMORY_MAX, PPIS,
    REDISTRIBUTOR_REGIONS_MAX, RESERVED_MAX, Region, SPIS, Uart,
};
use psci_bench::image::{BASE_MAX, UartKind, working_memory};
use psci_bench::spec::psci::AFFINITY_MASK;

use super::board::{Board, Verified};
use super::devices::{Frame, Watchdog};
use super::fault::{Fault, refuse};
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
    match &board.lab {
        Some(lab) if !(1..=MINUTES_MAX).contains(&lab.minutes) => {
            let reason = format!("a job may take 1 to {MINUTES_MAX} minutes");
            refuse("lab.minutes", reason)
        }
        _ => Ok(()),
    }
}

fn verified(board: &Board) -> Check {
    match board.verified {
        None if board.qemu.is_none() => {
            let reason = "missing: \"hardware\" or \"no\" is needed without [qemu]";
            refuse("verified", reason)
        }
        Some(Verified::Emulated) if board.qemu.is_none() => {
            let reason = "\"emulated\" is for boards with a recipe for QEMU, [qemu]";
            refuse("verified", reason)
        }
        _ => Ok(()),
    }
}

/// A region with its path in the file.
type Place = (String, Region);

/// Checks that devices and memory lie side by side; a GICv2 and a GICv3 are alternatives.
fn regions(board: &Board) -> Check {
    let few = |what: &str, count: usize, most: usize| match count > most {
        true => refuse(
            format!("{what}[{most}]"),
            format!("more than {most} of them"),
        ),
        false => Ok(()),
    };
    few("memory", board.memory.len(), MEMORY_MAX)?;
    few("reserved", board.reserved.len(), RESERVED_MAX)?;
    let memory = board.memory.iter().enumerate();
    let memory = memory.map(|(index, region)| (format!("memory[{index}]"), *region));
    let mut common: Vec<Place> = memory.collect();
    common.push(("uart".into(), board.uart.registers()));
    let frame = board.timer_frame().map(Frame::registers);
    common.extend(
        frame
            .into_iter()
            .flatten()
            .map(|it| ("timer.frame".into(), it)),
    );
    let watchdog = board.watchdog.as_ref().map(Watchdog::frames);
    common.extend(
        watchdog
            .into_iter()
            .flatten()
            .map(|it| ("watchdog".into(), it)),
    );
    let gic = gic_frames(board);
    for version in ["gic.v2", "gic.v3"] {
        let own = gic.iter().filter(|frame| frame.gic == version);
        let own = own.map(|frame| (version.into(), frame.region));
        disjoint(&common.iter().cloned().chain(own).collect::<Vec<_>>())?;
    }
    let reserved = board.reserved.iter().enumerate();
    let reserved: Vec<Place> = reserved
        .map(|(index, part)| (format!("reserved[{index}]"), part.region()))
        .collect();
    disjoint(&reserved)?;
    let is_in_memory = |part: &Region| board.memory.iter().any(|memory| memory.contains(part));
    match reserved.iter().find(|(_, part)| !is_in_memory(part)) {
        Some((path, _)) => refuse(path, "not within one range of memory"),
        None => Ok(()),
    }
}

fn disjoint(places: &[Place]) -> Check {
    for (index, (path, region)) in places.iter().enumerate() {
        let Region { base, size } = *region;
        if size == 0 || base.checked_add(size).is_none_or(|end| end > ADDRESSES) {
            let reason = "are no region: a size and at most 48 bits of address are needed";
            return refuse(path, format!("{size:#x} bytes at {base:#x} {reason}"));
        }
        let mut before = places.iter().take(index);
        if let Some((other, there)) = before.find(|(_, other)| region.overlaps(other)) {
            let (there, other) = (there.base, other);
            return refuse(path, format!("{base:#x} overlaps {other} at {there:#x}"));
        }
    }
    Ok(())
}

/// A frame of a GIC.
struct GicFrame {
    /// The GIC's path.
    gic: &'static str,
    key: &'static str,
    region: Region,
    limits: FrameLimits,
}

/// Returns the frames of all GICs.
fn gic_frames(board: &Board) -> Vec<GicFrame> {
    let frame = |gic, key, region: &Region, limits| GicFrame {
        gic,
        key,
        region: *region,
        limits,
    };
    let gic = board.gic.as_ref();
    let mut frames = Vec::new();
    if let Some(v2) = gic.and_then(|gic| gic.v2.as_ref()) {
        frames.push(frame("gic.v2", "distributor", &v2.distributor, GICD_V2));
        frames.push(frame("gic.v2", "cpu-interface", &v2.cpu_interface, GICC_V2));
    }
    if let Some(v3) = gic.and_then(|gic| gic.v3.as_ref()) {
        frames.push(frame("gic.v3", "distributor", &v3.distributor, GICD_V3));
        let regions = v3.redistributors.iter();
        frames.extend(regions.map(|it| frame("gic.v3", "redistributors", it, GICR)));
    }
    frames
}

fn cpus(board: &Board) -> Check {
    let listed = &board.cpus.clusters;
    let mut seen = Vec::new();
    for (index, cluster) in listed.iter().enumerate() {
        for (core, mpidr) in cluster.iter().enumerate() {
            let path = || format!("cpus.clusters[{index}][{core}]");
            if mpidr & !AFFINITY_MASK != 0 {
                let reason = format!("{mpidr:#x} has other bits than the affinity fields");
                return refuse(path(), reason);
            }
            if seen.contains(mpidr) {
                let reason = format!("MPIDR {mpidr:#x} appears twice; each CPU needs its own");
                return refuse(path(), reason);
            }
            seen.push(*mpidr);
        }
    }
    if listed.is_empty() || listed.iter().any(Vec::is_empty) {
        return refuse("cpus.clusters", "a cluster without CPUs");
    }
    if seen.len() > CPU_MAX {
        return refuse("cpus.clusters", format!("more than {CPU_MAX} CPUs"));
    }
    let names = board.cpus.compatible.as_ref();
    match names.filter(|names| names.len() != listed.len()) {
        Some(_) => refuse("cpus.compatible", "one name for each cluster is needed"),
        None => Ok(()),
    }
}

fn continues(board: &Board) -> Check {
    let path = "cpus.continues";
    let Some(rule) = &board.cpus.continues else {
        return Ok(());
    };
    if rule.cluster == 0 || !(1..=256).contains(&rule.per_aff1) || rule.count as usize > CPU_MAX {
        let reason = "cluster is at least 1, per-aff1 1 to 256, count at most 512";
        return refuse(path, reason);
    }
    let (ruled, listed) = (rule.clusters(), &board.cpus.clusters);
    if let Some((_, expected)) = listed.iter().zip(&ruled).find(|(one, other)| one != other) {
        let reason = format!("cpus.clusters departs from the rule with the cluster {expected:x?}");
        return refuse(path, reason);
    }
    match ruled.len() < listed.len() {
        true => refuse(path, "the rule has fewer clusters than cpus.clusters"),
        false => Ok(()),
    }
}

/// Returns the most CPUs of all firmwares.
fn most_cpus(board: &Board) -> u32 {
    let most = board.firmware.values().map(|firmware| firmware.max_cpus);
    most.max().unwrap_or(1)
}

/// Checks that the image and its least working memory fit in at the load address.
fn load_address(board: &Board) -> Check {
    let (path, base) = ("load-address", board.load_address);
    let is_there = |memory: &&Region| memory.contains(&Region { base, size: 1 });
    let Some(memory) = board.memory.iter().find(is_there) else {
        return refuse(path, format!("{base:#x} is not in memory"));
    };
    if !base.is_multiple_of(4096) {
        return refuse(path, format!("{base:#x} is not on a page of 4 KiB"));
    }
    let size = BASE_MAX as u64;
    let image = Region { base, size };
    if let Some(part) = board
        .reserved
        .iter()
        .find(|it| it.region().overlaps(&image))
    {
        return refuse(
            path,
            format!("the image overlaps what {} has reserved", part.name),
        );
    }
    let (have, need) = (memory.end() - base, size + working_memory(most_cpus(board)));
    if have < need {
        let reason = format!(
            "{} KiB of memory from there on, and the payload needs {}",
            have >> 10,
            need >> 10
        );
        return refuse(path, reason);
    }
    Ok(())
}

fn uart(board: &Board) -> Check {
    let uart = &board.uart;
    let extra = uart.reg_shift.is_some() || uart.reg_io_width.is_some();
    if extra && uart.kind != UartKind::Ns16550 {
        return refuse(
            "uart",
            "reg-shift and reg-io-width are for kind = \"ns16550\"",
        );
    }
    if uart.reg_shift.is_some_and(|shift| shift > 4) {
        return refuse("uart.reg-shift", "0 to 4 is needed");
    }
    if uart
        .reg_io_width
        .is_some_and(|width| !matches!(width, 1 | 2 | 4))
    {
        return refuse("uart.reg-io-width", "1, 2 or 4 is needed");
    }
    let read = Uart::from(&uart.emergency());
    if uart.size < read.size {
        let reason = format!("the registers of this kind have {:#x} bytes", read.size);
        return refuse("uart.size", reason);
    }
    match read.is_aligned() {
        true => Ok(()),
        false => refuse(
            "uart.base",
            "registers are not aligned to reg-io-width, or to 4 bytes",
        ),
    }
}

fn timer(board: &Board) -> Check {
    let timer = match (&board.timer, &board.gic) {
        (Some(timer), Some(_)) => timer,
        (None, None) => return Ok(()),
        (Some(_), None) => return refuse("timer", "INTIDs are a GIC's, and there is no [gic]"),
        (None, Some(_)) => return refuse("gic", "a board with a [gic] needs a [timer]"),
    };
    let intids = timer.intids();
    for (index, intid) in intids.iter().enumerate() {
        if !PPIS.contains(intid) {
            return refuse(
                "timer",
                format!("INTID {intid} is no PPI: those are 16 to 31"),
            );
        }
        if intids.iter().take(index).any(|other| other == intid) {
            return refuse("timer", format!("two timers have the INTID {intid}"));
        }
    }
    let Some(frame) = board.timer_frame() else {
        return Ok(());
    };
    device("timer.frame", &frame.registers(), Some(frame.interrupt))?;
    if frame.size > 1 << 31 {
        return refuse("timer.frame.size", "2 GiB at most");
    }
    match frame.number < FRAMES {
        true => Ok(()),
        false => refuse("timer.frame.number", "frames are numbered 0 to 7"),
    }
}

/// Checks the registers and the interrupt of a timer frame or a watchdog. The payload would
/// ignore a device with others.
fn device(path: &str, registers: &[Region], interrupt: Option<u32>) -> Check {
    if !registers.iter().all(Region::is_page) {
        return refuse(
            path,
            "registers have at least 4 KiB each, on a page of 4 KiB",
        );
    }
    match interrupt {
        Some(intid) if !SPIS.contains(&intid) => {
            let reason = format!("INTID {intid} is no SPI: those are 32 to 1019");
            refuse(format!("{path}.interrupt"), reason)
        }
        _ => Ok(()),
    }
}

fn gic(board: &Board) -> Check {
    let Some(gic) = &board.gic else {
        return Ok(());
    };
    if !matches!(
        (gic.default, &gic.v2, &gic.v3),
        (2, Some(_), _) | (3, _, Some(_))
    ) {
        return refuse("gic.default", "2 or 3 is needed, and one that is described");
    }
    for frame in gic_frames(board) {
        if let Err((value, expected)) = frame.limits.check(&frame.region) {
            let path = format!("{}.{}", frame.gic, frame.key);
            return refuse(path, format!("{value:#x}, expected {expected}"));
        }
    }
    match &gic.v3 {
        Some(v3) => redistributors(&v3.redistributors, most_cpus(board)),
        None => Ok(()),
    }
}

fn redistributors(regions: &[Region], cpus: u32) -> Check {
    let path = "gic.v3.redistributors";
    if regions.len() > REDISTRIBUTOR_REGIONS_MAX {
        return refuse(
            path,
            format!("more than {REDISTRIBUTOR_REGIONS_MAX} regions"),
        );
    }
    let odd = |region: &Region| !region.size.is_multiple_of(GICR.least);
    if let Some(index) = regions.iter().position(odd) {
        return refuse(
            format!("{path}[{index}]"),
            "redistributors have 128 KiB each",
        );
    }
    let room: u64 = regions.iter().map(|region| region.size / GICR.least).sum();
    match room < cpus.into() {
        true => refuse(
            path,
            format!("for {room} CPUs, and by max-cpus there can be {cpus}"),
        ),
        false => Ok(()),
    }
}

fn watchdog(board: &Board) -> Check {
    let Some(watchdog) = &board.watchdog else {
        return Ok(());
    };
    device("watchdog", &watchdog.frames(), watchdog.interrupt())?;
    match watchdog {
        Watchdog::Sp805 { clock: 0, .. } => refuse("watchdog.clock", "at least 1 Hz is needed"),
        _ => Ok(()),
    }
}

fn qemu(board: &Board) -> Check {
    let Some(qemu) = &board.qemu else {
        return Ok(());
    };
    if qemu.cpus == 0 {
        return refuse("qemu.cpus", "at least 1 is needed");
    }
    let memory: u64 = board.memory.iter().map(|memory| memory.size).sum();
    match qemu.memory_mib.checked_mul(1 << 20) {
        Some(bytes) if bytes == memory => Ok(()),
        _ => refuse(
            "qemu.memory-mib",
            format!("memory has {} MiB in all", memory >> 20),
        ),
    }
}
