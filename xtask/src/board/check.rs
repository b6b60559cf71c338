//! What a board file must not say.

use std::ops::Range;

use anyhow::Result;
use psci_bench::board::{CPU_MAX, MEMORY_MAX, REDISTRIBUTOR_REGIONS_MAX, RESERVED_MAX};
use psci_bench::image::BASE_MAX;
use psci_bench::spec::psci::AFFINITY_MASK;
use toml::Spanned;

use super::board::{Board, GicV2, GicV3, Verified};
use super::source::Source;
use super::texts::{self, NAME};
use super::window::Window;
use super::working_memory::working_memory;
use super::{check_firmware, frame, lab, package, uart, watchdog};

/// The first address that the payload cannot map.
pub(crate) const ADDRESSES: u64 = 1 << 48;
/// A frame of a GICv3 redistributor has two pages of 64 KiB.
const REDISTRIBUTOR: u64 = 0x2_0000;
const PAGE_64K: u64 = 0x1_0000;
/// INTIDs of private peripheral interrupts.
const PPIS: Range<u32> = 16..32;

/// A named window, and where it was read.
struct Place {
    what: String,
    window: Window,
    span: Range<usize>,
}

/// Refuses the first thing that is wrong.
pub(super) fn check(board: &Board, source: &Source<'_>) -> Result<()> {
    verified(board, source)?;
    windows(board, source)?;
    cpus(board, source)?;
    check_firmware::check_cpus(board, source)?;
    load_address(board, source)?;
    uart::check(&board.uart, source)?;
    timer(board, source)?;
    frame::check(board.timer_frame(), source)?;
    gic(board, source)?;
    watchdog::check(board.watchdog.as_ref(), source)?;
    check_firmware::check(board, source)?;
    package::check(board.package.as_ref(), source)?;
    lab::check(board.lab.as_ref(), source)?;
    qemu(board, source)
}

/// Refuses a board that claims too much, or says nothing.
fn verified(board: &Board, source: &Source<'_>) -> Result<()> {
    if let Some(note) = &board.note {
        texts::text(note, source)?;
    }
    match &board.verified {
        None if board.qemu.is_none() => {
            let reason = "verified is missing: \"hardware\" or \"no\"";
            Err(source.error(board.name.span(), reason))
        }
        Some(verified) if *verified.get_ref() == Verified::Emulated && board.qemu.is_none() => {
            let reason = "verified = \"emulated\" is for boards with a recipe for QEMU";
            Err(source.error(verified.span(), reason))
        }
        _ => Ok(()),
    }
}

fn fail<T>(source: &Source<'_>, span: Range<usize>, reason: &str) -> Result<T> {
    Err(source.error(span, reason))
}

fn place<T>(what: &str, window: Window, at: &Spanned<T>) -> Place {
    Place {
        what: what.to_owned(),
        window,
        span: at.span(),
    }
}

/// Refuses more than the payload has room for.
fn few<T>(what: &str, listed: &[Spanned<T>], most: usize, source: &Source<'_>) -> Result<()> {
    match listed.get(most) {
        None => Ok(()),
        Some(beyond) => fail(source, beyond.span(), &format!("more than {most} {what}")),
    }
}

/// Devices and memory lie side by side; the two GICs are alternatives.
fn windows(board: &Board, source: &Source<'_>) -> Result<()> {
    few("ranges of memory", &board.memory, MEMORY_MAX, source)?;
    few("ranges reserved", &board.reserved, RESERVED_MAX, source)?;
    let mut common: Vec<Place> = Vec::new();
    for memory in &board.memory {
        common.push(place("memory", *memory.get_ref(), memory));
    }
    common.push(place("uart", board.uart.get_ref().window(), &board.uart));
    if let Some(frame) = board.timer_frame() {
        for window in frame.get_ref().windows() {
            common.push(place("the timer frame", window, frame));
        }
    }
    if let Some(watchdog) = &board.watchdog {
        for frame in watchdog.get_ref().frames() {
            common.push(place("the watchdog", frame, watchdog));
        }
    }
    let mut v2 = Vec::new();
    let gic = board.gic.as_ref();
    if let Some(gic) = gic.and_then(|gic| gic.v2.as_ref()) {
        v2.push(place(
            "the GICv2 distributor",
            gic.get_ref().distributor,
            gic,
        ));
        v2.push(place(
            "the GICv2 CPU interface",
            gic.get_ref().cpu_interface,
            gic,
        ));
    }
    let mut v3 = Vec::new();
    if let Some(gic) = gic.and_then(|gic| gic.v3.as_ref()) {
        v3.push(place(
            "the GICv3 distributor",
            gic.get_ref().distributor,
            gic,
        ));
        for (index, frames) in gic.get_ref().redistributors.iter().enumerate() {
            v3.push(place(
                &format!("redistributor region {index}"),
                *frames,
                gic,
            ));
        }
    }
    for group in [v2, v3] {
        disjoint(common.iter().chain(&group), source)?;
    }
    let mut reserved: Vec<Place> = Vec::new();
    for part in &board.reserved {
        let window = part.get_ref().window();
        reserved.push(place(&part.get_ref().name, window, part));
    }
    disjoint(reserved.iter(), source)?;
    for part in &reserved {
        if !texts::is_name(&part.what) {
            let reason = format!("{:?} is no name for a node: {NAME}", part.what);
            return fail(source, part.span.clone(), &reason);
        }
        let within = |memory: &Spanned<Window>| contains(memory.get_ref(), &part.window);
        if !board.memory.iter().any(within) {
            return fail(
                source,
                part.span.clone(),
                "this is not within one range of memory",
            );
        }
    }
    Ok(())
}

fn contains(outer: &Window, inner: &Window) -> bool {
    outer.base <= inner.base && inner.end() <= outer.end()
}

fn disjoint<'p>(places: impl Iterator<Item = &'p Place>, source: &Source<'_>) -> Result<()> {
    let mut seen: Vec<&Place> = Vec::new();
    for place in places {
        let Window { base, size } = place.window;
        if size == 0 || base.checked_add(size).is_none() {
            let reason = format!("{}: {base:#x} + {size:#x} is no window", place.what);
            return fail(source, place.span.clone(), &reason);
        }
        if place.window.end() > ADDRESSES {
            let reason = format!(
                "{}: {base:#x} + {size:#x} is beyond the 48 bits that addresses have",
                place.what
            );
            return fail(source, place.span.clone(), &reason);
        }
        let overlaps = |other: &&Place| place.window.overlaps(&other.window);
        if let Some(other) = seen.iter().copied().find(overlaps) {
            let reason = format!(
                "{} at {base:#x} overlaps {} at {:#x}",
                place.what, other.what, other.window.base
            );
            return fail(source, place.span.clone(), &reason);
        }
        seen.push(place);
    }
    Ok(())
}

/// How many CPUs there are at most, by all firmwares.
fn most_cpus(board: &Board) -> u32 {
    let most = board.firmware.values().map(|f| *f.max_cpus.get_ref());
    most.max().unwrap_or(1)
}

/// The image and its least working memory have to fit in where it is loaded.
fn load_address(board: &Board, source: &Source<'_>) -> Result<()> {
    let at = *board.load_address.get_ref();
    let span = board.load_address.span();
    let here = Window { base: at, size: 1 };
    let mut memory = board.memory.iter().map(Spanned::get_ref);
    let Some(memory) = memory.find(|memory| contains(memory, &here)) else {
        return fail(source, span, "the load address is not in memory");
    };
    if !at.is_multiple_of(4096) {
        return fail(source, span, "the load address is not on a page of 4 KiB");
    }
    let image = Window {
        base: at,
        size: BASE_MAX as u64,
    };
    for part in board.reserved.iter().map(Spanned::get_ref) {
        if part.window().overlaps(&image) {
            let reason = format!("the load address is in what {} has reserved", part.name);
            return fail(source, span, &reason);
        }
    }
    let need = image.size + working_memory(most_cpus(board));
    if memory.end() - at < need {
        let reason = format!(
            "there are {} KiB from the load address on, and the payload needs {}",
            (memory.end() - at) >> 10,
            need >> 10
        );
        return fail(source, span, &reason);
    }
    Ok(())
}

fn timer(board: &Board, source: &Source<'_>) -> Result<()> {
    let timer = match (&board.timer, &board.gic) {
        (Some(timer), Some(_)) => timer,
        (None, None) => return Ok(()),
        (Some(timer), None) => {
            return fail(
                source,
                timer.span(),
                "INTIDs are a GIC's, and there is no [gic]",
            );
        }
        (None, Some(gic)) => {
            return fail(
                source,
                gic.default.span(),
                "a board with a [gic] has a [timer]",
            );
        }
    };
    let intids = timer.get_ref().intids();
    for (index, intid) in intids.iter().enumerate() {
        if !PPIS.contains(intid) {
            let reason = format!("INTID {intid} is no PPI: those are 16 to 31");
            return fail(source, timer.span(), &reason);
        }
        if intids.iter().take(index).any(|other| other == intid) {
            let reason = format!("two timers have the INTID {intid}");
            return fail(source, timer.span(), &reason);
        }
    }
    Ok(())
}

fn gic(board: &Board, source: &Source<'_>) -> Result<()> {
    let Some(gic) = &board.gic else {
        return Ok(());
    };
    let there = match gic.default.get_ref() {
        2 => gic.v2.is_some(),
        3 => gic.v3.is_some(),
        _ => false,
    };
    if !there {
        let reason = "the default GIC is 2 or 3, and one that is described here";
        return fail(source, gic.default.span(), reason);
    }
    // As the payload's reader has it.
    if let Some(v2) = &gic.v2 {
        let GicV2 {
            distributor,
            cpu_interface,
        } = *v2.get_ref();
        for (frame, size) in [(distributor, 0x1000), (cpu_interface, 0x100)] {
            if frame.size < size || !frame.base.is_multiple_of(4) {
                let reason = "a GICv2's distributor has at least 4 KiB, its CPU interface 256 \
                              bytes, at a multiple of 4";
                return fail(source, v2.span(), reason);
            }
        }
    }
    if let Some(v3) = &gic.v3 {
        redistributors(board, v3, source)?;
    }
    Ok(())
}

fn redistributors(board: &Board, v3: &Spanned<GicV3>, source: &Source<'_>) -> Result<()> {
    let fail = |reason: &str| fail(source, v3.span(), reason);
    let GicV3 {
        distributor,
        redistributors,
    } = v3.get_ref();
    if distributor.size < PAGE_64K || !distributor.base.is_multiple_of(PAGE_64K) {
        return fail("a GICv3's distributor has at least 64 KiB, on a page of 64 KiB");
    }
    for frames in redistributors {
        if !frames.size.is_multiple_of(REDISTRIBUTOR) || !frames.base.is_multiple_of(PAGE_64K) {
            return fail("redistributors have 128 KiB each, on a page of 64 KiB");
        }
    }
    if redistributors.len() > REDISTRIBUTOR_REGIONS_MAX {
        let most = REDISTRIBUTOR_REGIONS_MAX;
        return fail(&format!("more than {most} regions of redistributors"));
    }
    let room: u64 = redistributors.iter().map(|r| r.size / REDISTRIBUTOR).sum();
    let most = most_cpus(board);
    if room < most.into() {
        return fail(&format!(
            "the redistributors are for {room} CPUs, and by max-cpus there can be {most}"
        ));
    }
    Ok(())
}

fn cpus(board: &Board, source: &Source<'_>) -> Result<()> {
    let listed = board.cpus.clusters.get_ref();
    let mut seen = Vec::new();
    for mpidr in listed.iter().flatten() {
        let value = *mpidr.get_ref();
        if value & !AFFINITY_MASK != 0 {
            let reason = format!("{value:#x} has bits that are not affinity fields");
            return fail(source, mpidr.span(), &reason);
        }
        if seen.contains(&value) {
            let reason = format!("the MPIDR {value:#x} is there twice");
            return fail(source, mpidr.span(), &reason);
        }
        seen.push(value);
    }
    if listed.is_empty() || listed.iter().any(Vec::is_empty) {
        return fail(source, board.cpus.clusters.span(), "a cluster without CPUs");
    }
    if seen.len() > CPU_MAX {
        let reason = format!("more than {CPU_MAX} CPUs");
        return fail(source, board.cpus.clusters.span(), &reason);
    }
    if let Some(compatible) = &board.cpus.compatible {
        let names = compatible.get_ref();
        let is_one = |name: &String| {
            name.split_once(',').is_some_and(|(vendor, model)| {
                let known = |c: char| c.is_ascii_alphanumeric() || ",-._+".contains(c);
                !vendor.is_empty() && !model.is_empty() && name.chars().all(known)
            })
        };
        if names.len() != listed.len() || !names.iter().all(is_one) {
            let reason = "compatible has one name a cluster, such as \"arm,cortex-a53\"";
            return fail(source, compatible.span(), reason);
        }
    }
    let Some(continues) = &board.cpus.continues else {
        return Ok(());
    };
    let rule = continues.get_ref();
    if rule.cluster == 0 || rule.per_aff1 == 0 || rule.per_aff1 > 256 || rule.count > 512 {
        let reason = "cluster is at least 1, per-aff1 1 to 256, count at most 512";
        return fail(source, continues.span(), reason);
    }
    let ruled = rule.clusters();
    for (cluster, expected) in listed.iter().zip(&ruled) {
        if !cluster.iter().map(Spanned::get_ref).eq(expected) {
            let reason = format!("the list departs from the rule with cluster {expected:#x?}");
            return fail(source, continues.span(), &reason);
        }
    }
    if ruled.len() < listed.len() {
        return fail(
            source,
            continues.span(),
            "the rule has fewer clusters than the list",
        );
    }
    Ok(())
}

fn qemu(board: &Board, source: &Source<'_>) -> Result<()> {
    let Some(qemu) = &board.qemu else {
        return Ok(());
    };
    if qemu.cpus == 0 {
        return fail(source, source.table(&["qemu"]), "cpus is at least 1");
    }
    let memory: u64 = board
        .memory
        .iter()
        .map(|memory| memory.get_ref().size)
        .sum();
    if qemu.memory_mib.get_ref().checked_mul(1 << 20) != Some(memory) {
        let reason = format!("memory has {} MiB in all", memory >> 20);
        return fail(source, qemu.memory_mib.span(), &reason);
    }
    Ok(())
}
