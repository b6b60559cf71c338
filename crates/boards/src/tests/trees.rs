//! Tests for the device trees built from board files, as parsed by the payload.

use hardware::board as payload;
use hardware::image::Conduit;
use hardware::spec::counter::CounterErratum;

use super::{BOARD, all_boards, load};
use crate::board::Reserved;
use crate::device_tree::{Choices, build, machine};
use crate::devices::WatchdogEntry;
use crate::{BoardFile, GicVersion, StateFormat, parse};

/// Returns the made-up board with one change to its file.
fn made_up(from: &str, to: &str) -> BoardFile {
    assert!(BOARD.contains(from), "{from}");
    parse("board.toml", &BOARD.replacen(from, to, 1)).expect("a valid board")
}

const BOOTARGS: &str = "iterations=3 warmup=0";

fn choices(cpus: u32, gic: GicVersion) -> Choices<'static> {
    Choices {
        cpus,
        gic,
        conduit: Conduit::Smc,
        cpu_off: true,
        idle_states: &[],
    }
}

/// Checks that the values the payload reads from the tree match those in the board file.
fn check_tree(board: &BoardFile, choices: &Choices<'_>, bootargs: &str) {
    let blob = build(board, choices, bootargs).expect("a tree");
    let read = payload::Board::read(&blob).expect("a valid tree");
    let said = (read.model, read.bootargs, read.conduit);
    assert_eq!(said, (&*board.title, bootargs, choices.conduit));
    assert_eq!(read.forbids_cpu_off, !choices.cpu_off);
    assert_eq!(read.shortest_sleep_us, board.psci.shortest_sleep_us);
    assert_eq!(read.uart, board.uart.emergency());
    check_devices(board, choices.gic, &read);
    assert_eq!(read.memory, board.memory);
    let reserved = board.reserved.iter().map(Reserved::region);
    assert!(reserved.eq(read.reserved.iter().copied()));
    // HiKey960 boots on a Cortex-A53 but also has Cortex-A73 cores.
    let has_a73 = board.name == "hikey960";
    let erratum = has_a73.then_some(CounterErratum::CortexA73);
    assert_eq!(read.counter_erratum, erratum, "{}", board.name);
    assert_eq!(read.idle_states.usable.len(), choices.idle_states.len());
    for (found, own) in read.idle_states.usable.iter().zip(choices.idle_states) {
        assert_eq!(found.name, own.name);
        assert_eq!(found.power_state, own.power_state);
        assert_eq!(found.level, own.level);
        assert_eq!(found.local_timer_stop, own.local_timer_stop);
    }
    let (source, cpus) = read.cpus(false).expect("CPUs");
    assert_eq!(source, payload::LabelSource::CpuMap);
    let mut labels = Vec::new();
    for (cluster, cpus) in (0..).zip(board.clusters(choices.cpus).expect("enough CPUs")) {
        labels.extend((0..).zip(cpus).map(|(core, mpidr)| (mpidr, cluster, core)));
    }
    labels.sort_unstable();
    let found = cpus.iter().map(|cpu| (cpu.mpidr, cpu.cluster, cpu.core));
    assert!(found.eq(labels));
}

fn check_devices(board: &BoardFile, version: GicVersion, read: &payload::Board<'_>) {
    let ppis = board.timer.as_ref().map_or([None; 3], |timer| {
        [timer.physical, timer.r#virtual, timer.hypervisor].map(Some)
    });
    let timers = &read.timers;
    assert_eq!([timers.physical, timers.virtual_, timers.hypervisor], ppis);
    let mut bases = Vec::new();
    if let Some(gic) = &board.gic {
        bases.extend(match version {
            GicVersion::V2 => {
                (gic.v2.as_ref()).map(|v2| [v2.distributor.base, v2.cpu_interface.base])
            }
            GicVersion::V3 => {
                (gic.v3.as_ref()).map(|v3| [v3.distributor.base, v3.redistributors[0].base])
            }
        });
    }
    let devices = read.devices().into_iter();
    let found_bases = devices
        .filter(|(name, _)| name.starts_with("GIC"))
        .map(|(_, region)| region.base)
        .take(2);
    assert!(found_bases.eq(bases.concat()));
    let v3 = board.gic.as_ref().and_then(|gic| gic.v3.as_ref());
    let its = match version {
        GicVersion::V2 => None,
        GicVersion::V3 => v3.and_then(|v3| v3.its),
    };
    assert_eq!(
        read.its.map(|region| region.base),
        its.map(|region| region.base)
    );
    let found_frame = read.timer_frame.as_ref().ok();
    assert_eq!(
        found_frame.map(|frame| (frame.control, frame.number as u32, frame.base, frame.intid)),
        board.timer_frame().map(|frame| {
            let control = frame.control.base;
            (control, frame.number, frame.base, frame.interrupt)
        })
    );
    let found_watchdog = read.watchdog.as_ref().map(|watchdog| match watchdog.kind {
        payload::WatchdogKind::Sp805 { clock } => (clock.get(), watchdog.base),
        payload::WatchdogKind::Sbsa | payload::WatchdogKind::Imx => (0, watchdog.base),
    });
    let own_watchdog = board.watchdog.as_ref().map(|watchdog| match watchdog {
        WatchdogEntry::Sp805 {
            clock, registers, ..
        } => (u64::from(*clock), registers.base),
        WatchdogEntry::SbsaGwdt { control, .. } => (0, control.base),
        WatchdogEntry::Imx { registers } => (0, registers.base),
    });
    assert_eq!(found_watchdog, own_watchdog);
}

#[test]
fn the_payload_reads_what_board_files_say() {
    for board in all_boards() {
        for firmware in board.firmware.values() {
            for format in StateFormat::ALL {
                let states = firmware.idle_states(format);
                let mut choices = choices(firmware.max_cpus, board.default_gic());
                (choices.conduit, choices.idle_states) = (board.psci.conduit, &states);
                choices.cpu_off = firmware.cpu_off;
                check_tree(&board, &choices, BOOTARGS);
            }
        }
    }
    let uart = "ns16550\"";
    let frame = "0x2a83_0000\nsize = 0x1000";
    let sp805 = "sp805\"\nregisters = { base = 0x1000_0000, size = 0x1000 }\nclock = 24_000_000";
    let sbsa = "sbsa-gwdt\"\ncontrol = { base = 0x2a44_0000, size = 0x1000 }\n\
                refresh = { base = 0x2a45_0000, size = 0x1000 }";
    for (from, to) in [
        ("ns16550", "pl011"),
        ("ns16550", "cadence"),
        ("ns16550", "imx"),
        ("ns16550", "lpuart"),
        ("ns16550", "stm32"),
        ("ns16550", "geni"),
        (uart, "ns16550\"\nreg-shift = 1\nreg-io-width = 2"),
        (uart, "ns16550\"\nreg-shift = 2\nreg-io-width = 4"),
        (frame, "0x12_3456_7000\nsize = 0x8000_0000"),
        ("interrupt = 92", "interrupt = 32"),
        ("interrupt = 92", "interrupt = 1019"),
        ("number = 1", "number = 7"),
        ("24_000_000", "32_768"),
        (sp805, sbsa),
    ] {
        check_tree(&made_up(from, to), &choices(3, GicVersion::V3), BOOTARGS);
    }
    let mut hvc = choices(6, GicVersion::V2);
    hvc.conduit = Conduit::Hvc;
    check_tree(&made_up("", ""), &hvc, "");
}

#[test]
fn redistributor_regions_are_as_many_as_the_cpus_need() {
    for (cpus, regions) in [(123, 1), (124, 2), (512, 2)] {
        let blob = build(&load("qemu"), &choices(cpus, GicVersion::V3), BOOTARGS).expect("a tree");
        let read = payload::Board::read(&blob).expect("a valid tree");
        let Some(payload::Gic::V3 { redistributors, .. }) = read.gic else {
            panic!("{:?}", read.gic);
        };
        assert_eq!(redistributors.len(), regions, "{cpus}");
    }
}

#[test]
fn a_board_without_a_gic_has_a_tree_without_one() {
    let (before, rest) = BOARD.split_once("[timer]").expect("[timer]");
    let (_, after) = rest.split_once("[watchdog]").expect("[watchdog]");
    let text = format!("{before}[watchdog]{after}");
    let board = parse("board.toml", &text).expect("a valid board");
    let blob = build(&board, &choices(4, board.default_gic()), BOOTARGS).expect("a tree");
    assert_eq!(machine(&blob).expect("a valid tree"), (None, 4));
    assert!(board.check_gic(None).is_ok());
    let error = board.check_gic(Some(GicVersion::V2)).expect_err("no GIC");
    assert_eq!(error.to_string(), "--gic 2: A made-up board has no GIC");
}

/// The expected CPU labels are taken from published device trees and TF-A topology code rather than
/// from the board files.
#[test]
fn labels_are_those_of_published_topologies() {
    // If MT is set, Aff0 is the thread number. Each core has one thread.
    for (name, mt, clusters) in [
        ("fvp-base-revc", true, &[4, 4][..]),
        ("n1sdp", true, &[2, 2]),
        ("tc4", true, &[8]),
        ("rd-n2", true, &[1; 16]),
        ("rd-v3", true, &[1; 16]),
        ("hikey960", false, &[4, 4]),
        ("lx2160a", false, &[2; 8]),
        ("juno", false, &[2, 4]),
    ] {
        let shift = if mt { 8 } else { 0 };
        let cluster = |(number, cores): (u64, &u64)| {
            let mpidr = |core: u64| payload::Mpidr::new((number << 8 | core) << shift);
            (0..*cores).map(mpidr).collect::<Vec<_>>()
        };
        let expected: Vec<_> = (0..).zip(clusters).map(cluster).collect();
        assert_eq!(load(name).all_clusters(), expected, "{name}");
    }
}
