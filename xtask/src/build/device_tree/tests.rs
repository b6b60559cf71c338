//! Trees as the payload reads them.

use std::fs;

use super::*;
use crate::board::{self, StateFormat};
use crate::setup::workspace::Workspace;

const MADE_UP: &str = include_str!("../../board/tests/board.toml");

fn qemu() -> Board {
    let workspace = Workspace::find().expect("the repository");
    board::load(&workspace, "qemu").expect("a good board")
}

/// Returns the made-up board with a change of its file.
fn made_up(from: &str, to: &str) -> Board {
    assert!(MADE_UP.contains(from), "{from}");
    let text = MADE_UP.replacen(from, to, 1);
    board::parse("board.toml", &text).expect("a good board")
}

fn choices(cpus: u32, gic: Gic) -> Choices<'static> {
    Choices {
        cpus,
        gic,
        conduit: Conduit::Smc,
        idle_states: &[],
        bootargs: "iterations=3 warmup=0",
    }
}

/// Checks that the payload reads in the tree what the board file says.
fn check_tree(board: &Board, choices: &Choices<'_>) {
    let blob = build(board, choices).expect("a tree");
    let read = payload::Board::read(&blob).expect("a good tree");
    assert_eq!(read.model, board.title);
    assert_eq!(read.bootargs, choices.bootargs);
    assert_eq!(read.conduit, choices.conduit);
    assert_eq!(read.uart, board.uart.emergency());
    check_devices(board, choices.gic, &read);
    assert_eq!(read.memory, board.memory);
    let reserved = board.reserved.iter().map(Reserved::region);
    assert!(reserved.eq(read.reserved.iter().copied()));
    let states = read.idle_states.iter();
    let states = states.map(|it| (it.name, it.power_state, it.level, it.local_timer_stop));
    let own = choices.idle_states.iter();
    assert!(states.eq(own.map(|it| (&*it.name, it.power_state, it.level, it.local_timer_stop))));
    let (source, cpus) = read.cpus(false).expect("CPUs");
    assert_eq!(source, payload::LabelSource::CpuMap);
    let mut labels = Vec::new();
    for (cluster, cpus) in (0..).zip(board.clusters(choices.cpus).expect("so many")) {
        labels.extend((0..).zip(cpus).map(|(core, mpidr)| (mpidr, cluster, core)));
    }
    labels.sort_unstable();
    let found = cpus.iter().map(|cpu| (cpu.mpidr, cpu.cluster, cpu.core));
    assert!(found.eq(labels));
}

fn check_devices(board: &Board, version: Gic, read: &payload::Board<'_>) {
    let intid = |intid: fn(&Timer) -> u32| board.timer.as_ref().map(intid);
    let timers = payload::TimerPpis {
        physical: intid(|timer| timer.physical),
        virtual_: intid(|timer| timer.r#virtual),
        hypervisor: intid(|timer| timer.hypervisor),
    };
    assert_eq!(read.timers, timers);
    let frame = board.timer_frame();
    let found = read.timer_frame.as_ref().ok();
    let found = found.map(|it| (it.control, it.number as u32, it.base, it.intid));
    let expected = frame.map(|it| (it.control.base, it.number, it.base, it.interrupt));
    assert_eq!(found, expected);
    let mut bases = Vec::new();
    if let Some(gic) = &board.gic {
        bases.extend(match version {
            Gic::V2 => (gic.v2.as_ref()).map(|it| [it.distributor.base, it.cpu_interface.base]),
            Gic::V3 => (gic.v3.as_ref()).map(|it| [it.distributor.base, it.redistributors[0].base]),
        });
    }
    let devices = read.devices();
    let found = devices.iter().filter(|it| it.0.starts_with("GIC")).take(2);
    assert!(found.map(|it| it.1.base).eq(bases.concat()));
    let watchdog = board.watchdog.as_ref().map(|watchdog| match watchdog {
        Watchdog::Sp805 { clock, .. } => (u64::from(*clock), watchdog.frames()[0].base),
        Watchdog::SbsaGwdt { control, .. } => (0, control.base),
    });
    let found = read.watchdog.as_ref().map(|watchdog| match watchdog.kind {
        payload::WatchdogKind::Sp805 { clock } => (clock.get(), watchdog.base),
        payload::WatchdogKind::Sbsa => (0, watchdog.base),
    });
    assert_eq!(found, watchdog);
}

#[test]
fn the_payload_reads_what_each_board_file_says() {
    let workspace = Workspace::find().expect("the repository");
    for name in board::names(&workspace) {
        let board = board::load(&workspace, &name).expect("a good board");
        for firmware in board.firmware.values() {
            for format in StateFormat::ALL {
                let states = firmware.idle_states(format);
                let mut choices = choices(firmware.max_cpus, board.default_gic());
                (choices.conduit, choices.idle_states) = (board.psci.conduit, &states);
                check_tree(&board, &choices);
            }
        }
    }
}

#[test]
fn the_payload_reads_what_other_board_files_say() {
    let smc = choices(3, Gic::V3);
    for kind in ["pl011", "cadence", "imx", "lpuart", "stm32"] {
        check_tree(&made_up("ns16550", kind), &smc);
    }
    let uart = "ns16550\"";
    let frame = "0x2a83_0000\nsize = 0x1000";
    let sp805 = "sp805\"\nregisters = { base = 0x1000_0000, size = 0x1000 }\nclock = 24_000_000";
    let sbsa = "sbsa-gwdt\"\ncontrol = { base = 0x2a44_0000, size = 0x1000 }\n\
                refresh = { base = 0x2a45_0000, size = 0x1000 }";
    for (from, to) in [
        (uart, "ns16550\"\nreg-shift = 1\nreg-io-width = 2"),
        (uart, "ns16550\"\nreg-shift = 2\nreg-io-width = 4"),
        (frame, "0x12_3456_7000\nsize = 0x8000_0000"),
        ("interrupt = 92", "interrupt = 32"),
        ("interrupt = 92", "interrupt = 1019"),
        ("number = 1", "number = 7"),
        ("24_000_000", "32_768"),
        (sp805, sbsa),
    ] {
        check_tree(&made_up(from, to), &smc);
    }
    let mut hvc = choices(6, Gic::V2);
    (hvc.conduit, hvc.bootargs) = (Conduit::Hvc, "");
    check_tree(&made_up("", ""), &hvc);
}

#[test]
fn redistributor_regions_are_as_many_as_the_cpus_need() {
    for (cpus, regions) in [(123, 1), (124, 2), (512, 2)] {
        let blob = build(&qemu(), &choices(cpus, Gic::V3)).expect("a tree");
        let read = payload::Board::read(&blob).expect("a good tree");
        let Some(payload::Gic::V3 { redistributors, .. }) = read.gic else {
            panic!("{:?}", read.gic);
        };
        assert_eq!(redistributors.len(), regions, "{cpus}");
    }
}

#[test]
fn more_states_than_the_payload_takes_are_refused() {
    let board = qemu();
    let mut state = board.firmware["tf-a"].idle_states(StateFormat::Original)[0].clone();
    let states = (0..17).map(|at| {
        state.name = format!("s{at}");
        state.power_state += 1;
        state.clone()
    });
    let states: Vec<IdleState> = states.collect();
    let mut choices = choices(2, Gic::V3);
    choices.idle_states = &states;
    let error = build(&board, &choices).expect_err("17 states").to_string();
    assert!(error.contains("the tree of QEMU virt"), "{error}");
    assert!(error.contains("more than 16"), "{error}");
}

#[test]
fn a_board_without_a_gic_has_a_tree_without_one() {
    let workspace = Workspace::find().expect("the repository");
    let path = workspace.board("qemu").join("board.toml");
    let text = fs::read_to_string(path).expect("a board file");
    let without = |tables: &[&str]| {
        let is_kept = |table: &&str| !tables.iter().any(|gone| table.starts_with(gone));
        let kept: Vec<&str> = text.split("\n[").filter(is_kept).collect();
        board::parse("board.toml", &kept.join("\n["))
    };
    let board = without(&["gic", "timer]"]).expect("a good board");
    let blob = build(&board, &choices(4, board.default_gic())).expect("a tree");
    assert_eq!(machine(&blob).expect("a good tree"), (None, 4));
    assert!(board.check_gic(None).is_ok());
    let error = board.check_gic(Some(Gic::V2)).expect_err("no GIC");
    assert_eq!(error.to_string(), "--gic 2: QEMU virt has no GIC");
    for (table, reason) in [
        ("gic", "timer: INTIDs are a GIC's, and there is no [gic]"),
        ("timer]", "gic: a board with a [gic] needs a [timer]"),
    ] {
        let error = without(&[table]).expect_err(reason).to_string();
        assert!(error.ends_with(reason), "{error}");
    }
}

fn tree() -> Vec<u8> {
    let board = qemu();
    let states = board.firmware["tf-a"].idle_states(StateFormat::Original);
    let mut choices = choices(2, Gic::V3);
    choices.idle_states = &states;
    build(&board, &choices).expect("a tree")
}

#[test]
fn the_users_tree_gets_other_boot_arguments_or_is_not_changed() {
    let whole = tree();
    let blob = [&whole[..], &[0xee; 100]].concat();
    assert_eq!(adapt(&blob, None).expect("a good tree"), whole);
    let changed = adapt(&blob, Some("iterations=4")).expect("a good tree");
    let read = payload::Board::read(&changed).expect("a good tree");
    assert_eq!((read.bootargs, read.cpu_count), ("iterations=4", 2));
    let error = adapt(&blob, Some("a\nb")).expect_err("a line break");
    assert!(error.to_string().contains("printable ASCII"), "{error}");
    for cut in [0, 3, 39, whole.len() / 2, whole.len() - 1] {
        adapt(&whole[..cut], Some("x")).expect_err("truncated");
    }
    adapt(&[0xee; 4096], None).expect_err("garbage");
}

/// Returns the tree with `to` instead of `from`, which is as long and there once.
fn replaced(from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut blob = tree();
    let mut places = memchr::memmem::find_iter(&blob, from);
    let at = places.next().expect("there");
    assert_eq!(places.next(), None, "{from:x?}");
    blob[at..][..to.len()].copy_from_slice(to);
    blob
}

#[test]
fn names_that_are_there_twice_are_refused() {
    let mut two = DeviceTree::from_fdt(&Fdt::new_unchecked(&tree()));
    let chosen = two.root.remove_child("chosen").expect("there");
    let mut other = DeviceTreeNode::new_unchecked("chosen@0");
    chosen
        .properties()
        .for_each(|it| other.add_property(it.clone()));
    two.root.add_child(other);
    let cpu = replaced(b"cpu@1\0", b"cpu@0\0");
    let property = replaced(b"min-residency-us", b"entry-latency-us");
    for (blob, expected) in [
        (cpu, "/cpus/cpu@0: there are two"),
        (property, "two properties entry-latency-us"),
        (two.to_dtb(), "a second /chosen"),
    ] {
        adapt(&blob, None).expect("the payload can use it");
        let error = adapt(&blob, Some("warmup=1")).expect_err(expected);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_tree_by_which_the_payload_would_end_is_refused() {
    let refused = |from: &[u8], to: &[u8], expected: &str| {
        let blob = replaced(from, to);
        let error = adapt(&blob, None).and_then(|_| machine(&blob));
        let error = error.expect_err(expected).to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    };
    let cells = |(base, size): (u64, u64)| [base.to_be_bytes(), size.to_be_bytes()].concat();
    let (uart, gic) = ((0x900_0000, 0x1000), (0x800_0000, 0x1_0000));
    let (redistributors, memory) = ((0x80a_0000, 0xf6_0000), (0x4000_0000, 0x4000_0000));
    let end = 0xffff_ffff_0000;
    let console = "the console: 0x4c bytes at 0x1000000000000 are beyond";
    for (from, to, expected) in [
        (uart, (1 << 48, 0x1000), console),
        (gic, (1 << 48, 0x1_0000), "distributor: 0x10000 bytes"),
        (redistributors, (end, 0xf6_0000), "tors: 0xf60000 bytes"),
        (memory, (0x4000_0000, 1 << 48), "memory: 0x1000000000000 b"),
        (memory, (1 << 48, 0x4000_0000), "memory: 0x40000000 bytes"),
    ] {
        refused(&cells(from), &cells(to), expected);
    }
    // The second CPU's reg; "psci" follows it.
    let next = [3u32.to_be_bytes(), 5u32.to_be_bytes()].concat();
    let cpu = |mpidr: u64| [&mpidr.to_be_bytes()[..], &next].concat();
    refused(&cpu(1), &cpu(0), "MPIDR 0x0 is used twice");
    let core_off = 0x1_0002u32.to_be_bytes();
    for bad in [0x8001_0002u32, 0xc000_0002, 0x2001_0002] {
        let expected = format!("idle state core-off: arm,psci-suspend-param {bad:#x} sets bits");
        refused(&core_off, &bad.to_be_bytes(), &expected);
    }
    let extended = replaced(&core_off, &0x4000_0002u32.to_be_bytes());
    machine(&extended).expect("of the extended format");
}
