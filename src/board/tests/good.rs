//! Trees that describe a board.

use std::vec;
use std::vec::Vec;

use super::trees::{Model, be, cpus, juno, qemu};
use crate::board::board::Board;
use crate::board::check::total_size;
use crate::board::console::{Console, Uart};
use crate::board::cpu::{Cpu, LabelSource};
use crate::board::gic::Gic;
use crate::board::idle::IdleState;
use crate::board::ranges::Region;
use crate::board::timers::TimerPpis;
use crate::image::{Conduit, UartKind};

fn labels(model: &Model, mt: bool) -> (LabelSource, Vec<(u64, u16, u16, u16)>) {
    let blob = model.blob();
    let board = Board::read(&blob).expect("a good tree");
    let mut cpus = vec![Cpu::default(); board.cpu_count];
    let source = board.cpus(mt, &mut cpus).expect("good CPUs");
    let labels = cpus.iter().map(|c| (c.mpidr, c.cluster, c.core, c.thread));
    (source, labels.collect())
}

#[test]
fn qemu_with_its_padding() {
    let mut blob = qemu(8).blob();
    let used = blob.len();
    blob.resize(1 << 20, 0);
    blob[4..8].copy_from_slice(&be(&[1 << 20]));
    assert_eq!(total_size(&blob[..8]), Ok(1 << 20));
    assert!(used < 1 << 13);
    // What follows the tree is not part of it.
    blob.extend([0xff; 77]);

    let board = Board::read(&blob).expect("a good tree");
    assert_eq!(board.model, "linux,dummy-virt");
    let uart = Uart {
        kind: UartKind::Pl011,
        base: 0x0900_0000,
        size: 0x1000,
        reg_shift: 2,
        io_width: 4,
    };
    assert_eq!(board.uart, uart);
    let Some(Gic::V3 {
        distributor,
        redistributors,
        stride: None,
    }) = &board.gic
    else {
        panic!("{:?}", board.gic);
    };
    assert_eq!(
        (distributor.base, distributor.size),
        (0x0800_0000, 0x1_0000)
    );
    let region = Region {
        base: 0x080a_0000,
        size: 0xf6_0000,
    };
    assert_eq!(redistributors[..], [region]);
    let timers = TimerPpis {
        physical: Some(30),
        virtual_: Some(27),
        hypervisor: Some(26),
    };
    assert_eq!(board.timers, timers);
    assert_eq!(board.conduit, Conduit::Smc);
    assert_eq!(board.bootargs, "iterations=5 warmup=1");
    assert_eq!(board.cpu_count, 8);
    assert!(board.reserved.is_empty() && board.idle_states.is_empty());

    let console = Console::find(&blob).expect("a good tree");
    assert_eq!(console.uart, Ok(uart));
    assert_eq!(console.conduit, Ok(Conduit::Smc));
}

#[test]
fn juno_with_ranges_and_idle_states() {
    let blob = juno().blob_reserving(&[(0x8000_0000, 0x1_0000)]);
    let board = Board::read(&blob).expect("a good tree");
    assert_eq!(board.model, "arm,juno");
    assert_eq!(board.uart.base, 0x7ff8_0000);
    let frames = Gic::V2 {
        distributor: Region {
            base: 0x2c01_0000,
            size: 0x1000,
        },
        cpu_interface: Region {
            base: 0x2c02_f000,
            size: 0x1000,
        },
    };
    assert_eq!(board.gic, Some(frames));
    let pairs =
        |regions: &[Region]| -> Vec<_> { regions.iter().map(|r| (r.base, r.size)).collect() };
    assert_eq!(
        pairs(&board.memory),
        [(0x8000_0000, 0x7f00_0000), (0x8_8000_0000, 0x1_8000_0000)]
    );
    assert_eq!(
        pairs(&board.reserved),
        [(0x8000_0000, 0x1_0000), (0xfee0_0000, 0x20_0000)]
    );
    assert_eq!(
        board.idle_states[..],
        [
            IdleState {
                name: "cpu-sleep-0",
                power_state: 0x1_0000,
                level: Some(0),
                local_timer_stop: true,
            },
            IdleState {
                name: "cluster-sleep-0",
                power_state: 0x101_0000,
                level: None,
                local_timer_stop: false,
            },
        ]
    );
    assert_eq!(board.bootargs, "");
    let expected = [
        (0x0, 0, 0, 0),
        (0x1, 0, 1, 0),
        (0x100, 1, 0, 0),
        (0x101, 1, 1, 0),
        (0x102, 1, 2, 0),
        (0x103, 1, 3, 0),
    ];
    for mt in [false, true] {
        assert_eq!(
            labels(&juno(), mt),
            (LabelSource::CpuMap, expected.to_vec())
        );
    }
}

#[test]
fn cpu_map_may_nest_and_be_out_of_order() {
    let mut tree = qemu(8);
    let leaf = |n: &str, index: u32| Model::new(n).cells("cpu", &[0x1000 + index]);
    let map = Model::new("cpu-map")
        .with(
            Model::new("socket1").with(
                Model::new("cluster0")
                    .with(
                        Model::new("cluster1")
                            .with(leaf("core1", 0))
                            .with(leaf("core0", 1)),
                    )
                    .with(Model::new("cluster0").with(leaf("core0", 2))),
            ),
        )
        .with(
            Model::new("socket0")
                .with(Model::new("cluster10").with(leaf("core3", 3)))
                .with(
                    Model::new("cluster2")
                        .with(
                            Model::new("core7")
                                .with(leaf("thread0", 4))
                                .with(leaf("thread1", 5)),
                        )
                        .with(
                            Model::new("core10")
                                .with(leaf("thread1", 7))
                                .with(leaf("thread0", 6)),
                        ),
                )
                .with(Model::new("cluster3")),
        );
    tree.remove("/cpus/cpu-map");
    tree.at("/cpus").children.push(map);
    let expected = [
        (0, 3, 1, 0),
        (1, 3, 0, 0),
        (2, 2, 0, 0),
        (3, 1, 3, 0),
        (4, 0, 7, 0),
        (5, 0, 7, 1),
        (6, 0, 10, 0),
        (7, 0, 10, 1),
    ];
    assert_eq!(
        labels(&tree, false),
        (LabelSource::CpuMap, expected.to_vec())
    );
}

#[test]
fn without_cpu_map_the_affinity_fields_label() {
    let mut tree = qemu(1);
    tree.remove("/cpus");
    // N1SDP's numbers, in another order than MPIDR's.
    let mut nodes = cpus(&[0x1_0100, 0x0, 0x1_0000, 0x100], 4);
    nodes.remove("/cpu-map");
    tree.children.push(nodes);
    let mt = [
        (0x0, 0, 0, 0),
        (0x100, 0, 1, 0),
        (0x1_0000, 1, 0, 0),
        (0x1_0100, 1, 1, 0),
    ];
    assert_eq!(labels(&tree, true), (LabelSource::Mpidr, mt.to_vec()));
    let flat = [
        (0x0, 0, 0, 0),
        (0x100, 1, 0, 0),
        (0x1_0000, 0x100, 0, 0),
        (0x1_0100, 0x101, 0, 0),
    ];
    assert_eq!(labels(&tree, false), (LabelSource::Mpidr, flat.to_vec()));
}

#[test]
fn two_cells_hold_aff3_and_disabled_cpus_are_left_out() {
    let mut tree = qemu(4);
    tree.edit("/cpus:#address-cells", &be(&[2]));
    for (index, aff3) in [(0u32, 0u32), (1, 1), (2, 0), (3, 0xff)] {
        let at = std::format!("/cpus/cpu@{index:x}:reg");
        tree.edit(&at, &be(&[aff3, index]));
    }
    tree.edit("/cpus/cpu@2:status", b"disabled\0");
    tree.edit("/cpus/cpu@2:enable-method", b"spin-table\0");
    let expected = [
        (0, 0, 0, 0),
        (0x1_0000_0001, 0, 1, 0),
        (0xff_0000_0003, 0, 3, 0),
    ];
    assert_eq!(
        labels(&tree, false),
        (LabelSource::CpuMap, expected.to_vec())
    );
}

#[test]
fn five_hundred_and_twelve_cpus() {
    let (source, found) = labels(&qemu(512), false);
    assert_eq!((source, found.len()), (LabelSource::CpuMap, 512));
    assert_eq!(found[511], (0x1f0f, 127, 3, 0));
    assert!(found.is_sorted());
}

#[test]
fn where_there_is_psci_no_cpu_needs_an_enable_method() {
    for count in [1, 4] {
        let whole = qemu(count);
        let mut tree = whole.clone();
        for index in 0..count {
            tree.remove(&std::format!("/cpus/cpu@{index:x}:enable-method"));
            assert_eq!(labels(&tree, false), labels(&whole, false));
        }
    }
}

fn uart(tree: &Model) -> Uart {
    Board::read(&tree.blob()).expect("a good tree").uart
}

#[test]
fn the_console_is_found_by_path_or_alias() {
    for stdout in [
        &b"serial0\0"[..],
        b"serial0:115200n8\0",
        b"/pl011@9000000:1500000\0",
        b"/pl011\0",
    ] {
        let mut tree = qemu(1);
        tree.edit("/chosen:stdout-path", stdout);
        assert_eq!(uart(&tree).base, 0x0900_0000);
        tree.remove("/chosen:stdout-path");
        assert_eq!(uart(&tree).base, 0x0900_0000);
        tree.edit("/chosen:linux,stdout-path", stdout);
        tree.edit("/aliases:serial0", b"/pl011@9000000\0");
        assert_eq!(uart(&tree).base, 0x0900_0000);
    }
    // An alias of the bus and a path below it.
    let mut tree = juno();
    tree.edit("/aliases:soc", b"/bus@7f000000\0");
    tree.edit("/chosen:stdout-path", b"soc/apb/uart@80000\0");
    assert_eq!(uart(&tree).base, 0x7ff8_0000);
}

#[test]
fn a_console_can_be_had_without_a_board() {
    let mut tree = qemu(4);
    tree.remove("/intc@8000000");
    tree.remove("/memory@40000000");
    let blob = tree.blob();
    assert!(Board::read(&blob).is_err());
    let console = Console::find(&blob).expect("a sound tree");
    assert_eq!(console.uart.map(|u| u.base), Ok(0x0900_0000));
    assert_eq!(console.conduit, Ok(Conduit::Smc));
    tree.remove("/pl011@9000000");
    let blob = tree.blob();
    let console = Console::find(&blob).expect("a sound tree");
    assert!(console.uart.is_err() && console.conduit.is_ok());
}

#[test]
fn redistributor_regions_and_stride() {
    let mut tree = qemu(1);
    let at = |property: &str| std::format!("/intc@8000000:{property}");
    tree.edit(&at("#redistributor-regions"), &be(&[2]));
    tree.edit(
        &at("reg"),
        &be(&[
            0,
            0x800_0000,
            0,
            0x1_0000,
            0,
            0x80a_0000,
            0,
            0x8_0000,
            0x40,
            0,
            0,
            0x4000_0000,
        ]),
    );
    tree.edit(&at("redistributor-stride"), &be(&[0, 0x4_0000]));
    let blob = tree.blob();
    let board = Board::read(&blob).expect("a good tree");
    // No more of a region is used than there is use for.
    let mut used = Vec::new();
    board.devices(&mut |name, region| used.push((name, region.base, region.size)));
    let expected = [
        ("GIC's distributor", 0x800_0000, 0x1_0000),
        ("GIC's redistributors", 0x80a_0000, 0x8_0000),
        ("GIC's redistributors", 0x40_0000_0000, 0x800_0000),
    ];
    assert_eq!(used, expected);
    let Some(Gic::V3 {
        redistributors,
        stride,
        ..
    }) = board.gic
    else {
        panic!("not a GICv3");
    };
    assert_eq!(stride, Some(0x4_0000));
    let bases: Vec<_> = redistributors.iter().map(|r| r.base).collect();
    assert_eq!(bases, [0x80a_0000, 0x40_0000_0000]);
}

#[test]
fn timers_by_name_and_in_extended_form() {
    let mut tree = qemu(1);
    tree.edit(
        "/timer:interrupt-names",
        b"phys\0virt\0hyp-phys\0hyp-virt\0",
    );
    tree.edit(
        "/timer:interrupts",
        &be(&[1, 14, 4, 1, 11, 4, 1, 10, 4, 1, 12, 4]),
    );
    let blob = tree.blob();
    let ppis = |blob: &[u8]| {
        let t = Board::read(blob).expect("a good tree").timers;
        (t.physical, t.virtual_, t.hypervisor)
    };
    assert_eq!(ppis(&blob), (Some(30), Some(27), Some(26)));
    tree.remove("/timer:interrupts");
    tree.edit("/timer:interrupt-names", b"sec-phys\0virt\0");
    tree.edit(
        "/timer:interrupts-extended",
        &be(&[0x8005, 1, 13, 4, 0x8005, 1, 11, 4]),
    );
    assert_eq!(ppis(&tree.blob()), (None, Some(27), None));
    // PPI partitions: a fourth cell.
    let mut tree = qemu(1);
    tree.edit("/intc@8000000:#interrupt-cells", &be(&[4]));
    tree.edit("/timer:interrupts", &be(&[1, 13, 4, 0, 1, 14, 4, 0]));
    assert_eq!(ppis(&tree.blob()), (Some(30), None, None));
}

#[test]
fn idle_states_of_one_value_are_one() {
    let state = |name: &str, compatible: &str, param: u32| {
        Model::new(name)
            .text("compatible", &[compatible])
            .cells("arm,psci-suspend-param", &[param])
    };
    let mut tree = juno();
    tree.at("/cpus").children.push(
        Model::new("domain-idle-states")
            .with(
                state("again", "domain-idle-state", 0x101_0000)
                    .cells("psci-bench,power-level", &[1])
                    .raw("local-timer-stop", &[]),
            )
            .with(state("off", "domain-idle-state", 5).text("status", &["disabled"]))
            .with(Model::new("no-psci").text("compatible", &["domain-idle-state"])),
    );
    tree.children.push(Model::new("idle-states").with(state(
        "system",
        "arm,idle-state",
        0x4100_c244,
    )));
    let blob = tree.blob();
    let board = Board::read(&blob).expect("a good tree");
    let found: Vec<_> = board
        .idle_states
        .iter()
        .map(|s| (s.name, s.power_state, s.level, s.local_timer_stop))
        .collect();
    assert_eq!(
        found,
        [
            ("cpu-sleep-0", 0x1_0000, Some(0), true),
            ("cluster-sleep-0", 0x101_0000, Some(1), true),
            ("system", 0x4100_c244, None, false),
        ]
    );
}

#[test]
fn long_names_of_other_nodes_do_no_harm() {
    let long = "a-name-that-is-longer-than-the-thirty-one-characters-of-the-specification";
    let mut tree = qemu(1);
    tree.at("/chosen")
        .set("linux,a-property-with-more-than-31-characters", b"");
    tree.at("/timer").set(long, &[1, 2, 3]);
    assert!(Board::read(&tree.blob()).is_ok());
}

#[test]
fn an_odd_title_is_not_a_reason_to_stop() {
    let mut tree = qemu(1);
    tree.edit(":model", b"\xff\xfe\0");
    assert_eq!(
        Board::read(&tree.blob()).map(|b| b.model == "linux,dummy-virt"),
        Ok(true)
    );
    tree.remove(":model");
    tree.remove(":compatible");
    assert_eq!(Board::read(&tree.blob()).map(|b| b.model.len()), Ok(0));
}

/// Then the timer's interrupts say nothing, whosever they are.
#[test]
fn a_board_may_have_no_gic() {
    let mut tree = qemu(4);
    tree.remove("/intc@8000000");
    tree.edit("/timer:interrupts", &be(&[0, 4, 1, 4]));
    let blob = tree.blob();
    let board = Board::read(&blob).expect("a good tree");
    assert_eq!((board.gic, board.cpu_count), (None, 4));
    assert_eq!(board.timers, TimerPpis::default());
    tree.remove("/timer");
    assert!(Board::read(&tree.blob()).is_ok());
}

/// As boot loaders do it, by NOPs in its place.
#[test]
fn nodes_may_have_been_taken_out() {
    /// `node` with a node to be taken out before and behind each of its own.
    fn riddled(mut node: Model) -> Model {
        let gone = || Model::new("gone@0");
        let children = core::mem::take(&mut node.children).into_iter();
        node.children.push(gone());
        for child in children {
            node.children.extend([riddled(child), gone()]);
        }
        node
    }
    for tree in [qemu(4), juno()] {
        let mut blob = riddled(tree.clone()).blob();
        let gone = [be(&[1]), b"gone@0\0\0".to_vec(), be(&[2])].concat();
        let mut count = 0;
        while let Some(at) = blob.windows(16).position(|bytes| bytes == gone) {
            blob[at..at + 16].copy_from_slice(&be(&[4; 4]));
            count += 1;
        }
        assert!(count > 8);
        let whole = tree.blob();
        let [whole, riddled] = [&whole, &blob].map(|blob| {
            let board = Board::read(blob).expect("a good tree");
            let mut cpus = [Cpu::default(); 8];
            let labels = board.cpus(false, &mut cpus).expect("CPUs");
            let states = board.idle_states.iter().map(|s| s.power_state);
            (board.gic, labels, cpus, states.collect::<Vec<_>>())
        });
        assert_eq!(whole, riddled);
    }
}
