//! Trees as the payload reads them.

use psci_bench::{board as payload, image};

use super::*;
use crate::board::{self, StateId};
use crate::setup::workspace::Workspace;

fn board() -> Board {
    let workspace = Workspace::find().expect("the repository");
    board::load(&workspace, "qemu").expect("a good board")
}

fn build_with(cpus: u32, gic: Gic, conduit: Conduit, bootargs: &str) -> Vec<u8> {
    let board = board();
    let firmware = board.firmware("tf-a").expect("a firmware");
    let idle_states = firmware.idle_states(StateId::Original);
    let choices = Choices {
        cpus,
        gic,
        conduit,
        idle_states: &idle_states,
        bootargs,
    };
    build(&board, &choices).expect("a tree")
}

#[test]
fn the_payload_reads_what_the_board_file_says() {
    let blob = build_with(8, Gic::V3, Conduit::Smc, "iterations=3 warmup=0");
    let read = payload::Board::read(&blob).expect("a good tree");
    assert_eq!(read.model, "QEMU virt");
    assert_eq!(read.bootargs, "iterations=3 warmup=0");
    assert_eq!(
        (read.uart.kind, read.uart.base),
        (image::UartKind::Pl011, 0x0900_0000)
    );
    assert_eq!(read.conduit, image::Conduit::Smc);
    let timers = read.timers;
    assert_eq!(
        (timers.physical, timers.virtual_, timers.hypervisor),
        (Some(30), Some(27), Some(26))
    );
    assert_eq!(read.memory.len(), 1);
    assert_eq!(
        (read.memory[0].base, read.memory[0].size),
        (0x4000_0000, 0x4000_0000)
    );
    let states: Vec<_> = read
        .idle_states
        .iter()
        .map(|s| (s.name, s.power_state, s.level, s.local_timer_stop))
        .collect();
    assert_eq!(
        states,
        [
            ("core-standby", 0x1, Some(0), false),
            ("core-off", 0x1_0002, Some(0), false),
            ("cluster-off", 0x101_0022, Some(1), false),
            ("system-off", 0x201_0222, Some(2), false),
        ]
    );
    let Some(payload::Gic::V3 {
        distributor,
        redistributors,
        ..
    }) = &read.gic
    else {
        panic!("{:?}", read.gic);
    };
    assert_eq!((distributor.base, redistributors.len()), (0x0800_0000, 1));
    let mut cpus = [payload::Cpu::default(); 8];
    let source = read.cpus(false, &mut cpus).expect("CPUs");
    assert_eq!(source, payload::LabelSource::CpuMap);
    for (index, cpu) in (0u16..).zip(cpus) {
        assert_eq!(
            (cpu.mpidr, cpu.cluster, cpu.core),
            (index.into(), index / 4, index % 4)
        );
    }
}

#[test]
fn other_choices() {
    let blob = build_with(6, Gic::V2, Conduit::Hvc, "");
    let read = payload::Board::read(&blob).expect("a good tree");
    assert_eq!((read.cpu_count, read.conduit), (6, image::Conduit::Hvc));
    let Some(payload::Gic::V2 {
        distributor,
        cpu_interface,
    }) = read.gic
    else {
        panic!("{:?}", read.gic);
    };
    assert_eq!(
        (distributor.base, cpu_interface.base),
        (0x0800_0000, 0x0801_0000)
    );
}

/// The payload's view of QEMU's board with another UART.
fn uart(table: &str) -> payload::Uart {
    let workspace = Workspace::find().expect("the repository");
    let text = std::fs::read_to_string(workspace.board("qemu").join("board.toml"));
    let text = text.expect("a board file").replacen(
        "kind = \"pl011\"\nbase = 0x0900_0000\nsize = 0x1000",
        table,
        1,
    );
    let board = board::parse("board.toml", &text).expect("a good board");
    let choices = Choices {
        cpus: 2,
        gic: Gic::V3,
        conduit: Conduit::Smc,
        idle_states: &[],
        bootargs: "",
    };
    let blob = build(&board, &choices).expect("a tree");
    let console = payload::Console::find(&blob).expect("a sound tree");
    let read = console.uart.expect("a UART");
    // The parameter block tells the same.
    let block = payload::Uart::from(&board.uart.get_ref().emergency());
    assert_eq!(
        payload::Uart {
            size: read.size,
            ..block
        },
        read
    );
    read
}

#[test]
fn uarts() {
    use image::UartKind;
    let kinds = [
        ("pl011", UartKind::Pl011),
        ("cadence", UartKind::Cadence),
        ("imx", UartKind::Imx),
        ("lpuart", UartKind::Lpuart),
        ("stm32", UartKind::Stm32),
    ];
    for (name, kind) in kinds {
        let read = uart(&format!(
            "kind = \"{name}\"\nbase = 0x0a00_0000\nsize = 0x1000"
        ));
        assert_eq!((read.kind, read.base), (kind, 0x0a00_0000));
    }
    for (more, shift, width) in [
        ("", 0, 1),
        ("\nreg-shift = 1\nreg-io-width = 2", 1, 2),
        ("\nreg-shift = 2\nreg-io-width = 4", 2, 4),
    ] {
        let read = uart(&format!(
            "kind = \"ns16550\"\nbase = 0x0a00_0000\nsize = 0x100{more}"
        ));
        assert_eq!(read.kind, UartKind::Ns16550);
        assert_eq!((read.reg_shift, read.io_width), (shift, width));
    }
}

/// What `of` finds in the payload's board when the board file ends with `table`.
fn found<T>(table: &str, of: impl Fn(&payload::Board<'_>) -> T) -> T {
    let workspace = Workspace::find().expect("the repository");
    let path = workspace.board("qemu").join("board.toml");
    let text = std::fs::read_to_string(path).expect("a board file");
    let board = board::parse("board.toml", &format!("{text}\n{table}")).expect("a good board");
    let choices = Choices {
        cpus: 1,
        gic: Gic::V3,
        conduit: Conduit::Smc,
        idle_states: &[],
        bootargs: "",
    };
    let blob = build(&board, &choices).expect("a tree");
    of(&payload::Board::read(&blob).expect("a good tree"))
}

fn watchdog(table: &str) -> Option<payload::Watchdog> {
    found(table, |board| board.watchdog)
}

#[test]
fn timer_frames() {
    let frame = |table: &str| found(table, |board| board.timer_frame);
    assert_eq!(frame(""), Err(payload::NoFrame::NotInTree));
    for (base, size, intid) in [
        (0x2a83_0000u64, 0x1000u32, 32u32),
        (0x12_3456_7000, 1 << 31, 1019),
    ] {
        let table = format!(
            "[timer.frame]\nbase = {base}\nsize = {size}\ninterrupt = {intid}\nnumber = 7\n\
             control = {{ base = 0x2a81_0000, size = 0x1_0000 }}\n"
        );
        let expected = payload::TimerFrame {
            control: 0x2a81_0000,
            number: 7,
            base,
            intid,
        };
        assert_eq!(frame(&table), Ok(expected));
    }
}

#[test]
fn watchdogs() {
    assert_eq!(watchdog(""), None);
    let sbsa = watchdog(
        "[watchdog]\nkind = \"sbsa-gwdt\"\ninterrupt = 48\n\
         control = { base = 0x2a44_0000, size = 0x1000 }\n\
         refresh = { base = 0x2a45_0000, size = 0x1000 }\n",
    )
    .expect("a watchdog");
    assert_eq!(
        (sbsa.kind, sbsa.base),
        (payload::WatchdogKind::Sbsa, 0x2a44_0000)
    );
    let sp805 = watchdog(
        "[watchdog]\nkind = \"sp805\"\nclock = 32_768\n\
         registers = { base = 0x1c0f_0000, size = 0x1000 }\n",
    )
    .expect("a watchdog");
    let payload::WatchdogKind::Sp805 { clock } = sp805.kind else {
        panic!("{sp805:?}");
    };
    assert_eq!((clock.get(), sp805.base), (32_768, 0x1c0f_0000));
}

#[test]
fn redistributors_for_many() {
    for (cpus, regions) in [(123, 1), (124, 2), (512, 2)] {
        let blob = build_with(cpus, Gic::V3, Conduit::Smc, "");
        let read = payload::Board::read(&blob).expect("a good tree");
        let Some(payload::Gic::V3 { redistributors, .. }) = read.gic else {
            panic!("{:?}", read.gic);
        };
        assert_eq!(redistributors.len(), regions, "{cpus}");
        assert_eq!(read.cpu_count, cpus as usize);
    }
}

#[test]
fn the_users_tree() {
    let mut blob = build_with(2, Gic::V3, Conduit::Smc, "iterations=3");
    let whole = blob.clone();
    blob.extend([0xee; 100]);
    assert_eq!(
        adapt(&blob, None).expect("a good tree"),
        whole,
        "not a byte is changed"
    );
    let changed = adapt(&blob, Some("iterations=4")).expect("a good tree");
    let read = payload::Board::read(&changed).expect("a good tree");
    assert_eq!((read.bootargs, read.cpu_count), ("iterations=4", 2));
    let error = adapt(&blob, Some("a\nb"))
        .expect_err("a line break")
        .to_string();
    assert!(error.contains("printable ASCII"), "{error}");
    for cut in [0, 3, 39, whole.len() / 2, whole.len() - 1] {
        adapt(&whole[..cut], Some("x")).expect_err("truncated");
    }
    adapt(&[0xee; 4096], None).expect_err("garbage");
    adapt(&vec![0; TREE_MAX + 1], None).expect_err("too large");
}

/// `blob` with `to` in place of `from`, which is as long.
fn renamed(mut blob: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut windows = blob.windows(from.len());
    let at = windows.position(|bytes| bytes == from).expect("there");
    blob[at..][..to.len()].copy_from_slice(to);
    blob
}

#[test]
fn what_is_there_twice() {
    let whole = build_with(2, Gic::V3, Conduit::Smc, "");
    let refused = |blob: &[u8]| {
        adapt(blob, None).expect("the payload can use it");
        let changed = adapt(blob, Some("warmup=1"));
        changed.expect_err("something is there twice").to_string()
    };
    let error = refused(&renamed(whole.clone(), b"cpu@1\0", b"cpu@0\0"));
    assert!(error.contains("/cpus/cpu@0: there are two"), "{error}");
    let (from, to) = (b"min-residency-us", b"entry-latency-us");
    let error = refused(&renamed(whole.clone(), from, to));
    assert!(error.contains("two properties entry-latency-us"), "{error}");

    let mut tree = DeviceTree::from_fdt(&Fdt::new_unchecked(&whole));
    let chosen = tree.root.remove_child("chosen").expect("there");
    let mut other = DeviceTreeNode::new_unchecked("chosen@0");
    for property in chosen.properties() {
        other.add_property(property.clone());
    }
    tree.root.add_child(other);
    let error = refused(&tree.to_dtb());
    assert!(error.contains("a second /chosen"), "{error}");
}

/// `from` is in the tree once.
fn with(from: &[&[u8]], to: &[&[u8]]) -> String {
    let (from, to) = (from.concat(), to.concat());
    let whole = build_with(2, Gic::V3, Conduit::Smc, "");
    machine(&whole).expect("a good tree");
    let times = whole.windows(from.len()).filter(|bytes| *bytes == from);
    assert_eq!(times.count(), 1, "{from:x?}");
    let blob = renamed(whole, &from, &to);
    let refused = adapt(&blob, None).and_then(|_| machine(&blob));
    refused.expect_err("of no use").to_string()
}

#[test]
fn what_the_payload_would_end_by() {
    let cells = |base: u64, size: u64| [base.to_be_bytes(), size.to_be_bytes()].concat();
    let reg =
        |from: (u64, u64), to: (u64, u64)| with(&[&cells(from.0, from.1)], &[&cells(to.0, to.1)]);
    let (uart, gic, memory) = (
        (0x900_0000, 0x1000),
        (0x800_0000, 0x1_0000),
        (0x4000_0000, 0x4000_0000),
    );
    for (from, to, expected) in [
        (
            uart,
            (1 << 48, 0x1000),
            "the console: 0x1000 bytes at 0x1000000000000 are beyond",
        ),
        (
            uart,
            (0x800_0000, 0x1000),
            "the console at 0x8000000 overlaps the GIC's distributor",
        ),
        (
            uart,
            (0x810_0000, 0x1000),
            "overlaps the GIC's redistributors",
        ),
        (
            uart,
            (0x4000_0000, 0x1000),
            "the console at 0x40000000 overlaps memory at 0x40000000",
        ),
        (
            gic,
            (1 << 48, 0x1_0000),
            "the GIC's distributor: 0x10000 bytes",
        ),
        (
            (0x80a_0000, 0xf6_0000),
            (0xffff_ffff_0000, 0xf6_0000),
            "redistributors: 0xf60000",
        ),
        (
            memory,
            (0x4000_0000, 1 << 48),
            "memory: 0x1000000000000 bytes at 0x40000000",
        ),
        (memory, (1 << 48, 0x4000_0000), "memory: 0x40000000 bytes"),
    ] {
        let error = reg(from, to);
        assert!(error.contains(expected), "{expected}: {error}");
    }
    // The second CPU's reg; "psci" follows it.
    let cpu = |mpidr: u64| mpidr.to_be_bytes();
    let next = [3u32.to_be_bytes(), 5u32.to_be_bytes()].concat();
    let error = with(&[&cpu(1), &next], &[&cpu(0), &next]);
    assert!(error.contains("0x0 is there twice"), "{error}");
    let state = |value: u32| value.to_be_bytes();
    for bad in [0x8001_0002u32, 0xc000_0002, 0x2001_0002] {
        let error = with(&[&state(0x1_0002)], &[&state(bad)]);
        let expected = format!("idle state core-off: arm,psci-suspend-param {bad:#x} sets bits");
        assert!(error.contains(&expected), "{error}");
    }
    let whole = build_with(2, Gic::V3, Conduit::Smc, "");
    let extended = renamed(whole, &state(0x1_0002), &state(0x4000_0002));
    machine(&extended).expect("of the extended format");
}

#[test]
fn more_than_the_payload_takes() {
    let board = board();
    let firmware = board.firmware("tf-a").expect("a firmware");
    let state = firmware.idle_states(StateId::Original).remove(0);
    let states = |count: u32| -> Vec<IdleState> {
        let states = (0..count).map(|at| {
            let power_state = toml::Spanned::new(0..0, 0x1_0000 + at);
            IdleState {
                name: format!("s{at}"),
                power_state,
                ..state.clone()
            }
        });
        states.collect()
    };
    let build = |count| {
        let choices = Choices {
            cpus: 2,
            gic: Gic::V3,
            conduit: Conduit::Smc,
            idle_states: &states(count),
            bootargs: "",
        };
        build(&board, &choices)
    };
    build(16).expect("a tree");
    let error = build(17).expect_err("17 states").to_string();
    assert!(
        error.contains("the tree of QEMU virt") && error.contains("more than 16"),
        "{error}"
    );
}

/// The board file without some of its tables.
fn without(tables: &[&str]) -> anyhow::Result<Board> {
    let workspace = Workspace::find().expect("the repository");
    let path = workspace.board("qemu").join("board.toml");
    let text = std::fs::read_to_string(path).expect("a board file");
    let mut kept = true;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') {
            kept = !tables.iter().any(|table| line.starts_with(table));
        }
        lines.extend(kept.then_some(line));
    }
    board::parse("board.toml", &lines.join("\n"))
}

#[test]
fn a_board_without_a_gic() {
    let board = without(&["[gic", "[timer]"]).expect("a good board");
    let choices = Choices {
        cpus: 4,
        gic: board.default_gic(),
        conduit: Conduit::Smc,
        idle_states: &[],
        bootargs: "",
    };
    let blob = build(&board, &choices).expect("a tree");
    assert_eq!(machine(&blob).expect("a good tree"), (None, 4));
    assert!(board.check_gic(None).is_ok());
    let error = board.check_gic(Some(Gic::V2)).expect_err("no GIC");
    assert_eq!(error.to_string(), "--gic 2: QEMU virt has no GIC");
    for (tables, reason) in [
        (["[gic"], "INTIDs are a GIC's, and there is no [gic]"),
        (["[timer]"], "a board with a [gic] has a [timer]"),
    ] {
        let error = without(&tables).expect_err(reason).to_string();
        assert!(error.ends_with(reason), "{error}");
    }
}
