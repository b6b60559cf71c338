//! Tests that treat trees built from the QEMU board file as user-provided trees.

use device_tree::{Result, adapt};
use dtoolkit::Node as _;
use dtoolkit::fdt::Fdt;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use hardware::board as payload;

use super::load;
use crate::StateFormat;
use crate::device_tree::{Choices, build, machine};

fn tree() -> Vec<u8> {
    let board = load("qemu");
    let choices = Choices {
        cpus: 2,
        gic: board.default_gic(),
        conduit: board.psci.conduit,
        cpu_off: true,
        idle_states: &board.firmware["tf-a"].idle_states(StateFormat::Original),
    };
    build(&board, &choices, "").expect("a tree")
}

fn with_bootargs(blob: &[u8], bootargs: Option<&str>) -> Result<Vec<u8>> {
    adapt(blob, bootargs, None)
}

#[test]
fn the_users_tree_gets_other_boot_arguments_or_is_not_changed() {
    let whole = tree();
    let blob = [&whole[..], &[0xee; 100]].concat();
    assert_eq!(with_bootargs(&blob, None).expect("a valid tree"), whole);
    let changed = with_bootargs(&blob, Some("iterations=4")).expect("a valid tree");
    let read = payload::Board::read(&changed).expect("a valid tree");
    assert_eq!((read.bootargs, read.cpu_count), ("iterations=4", 2));
    let error = with_bootargs(&blob, Some("a\nb")).expect_err("a line break");
    assert!(error.to_string().contains("printable ASCII"), "{error}");
    for cut in [0, 3, 39, whole.len() / 2, whole.len() - 1] {
        with_bootargs(&whole[..cut], Some("x")).expect_err("truncated");
    }
    with_bootargs(&[0xee; 4096], None).expect_err("garbage");
}

/// Without the words that specify the console, the payload would use another UART.
#[test]
fn words_that_specify_the_console_are_kept() {
    let blob = tree();
    let mut model = DeviceTree::from_fdt(&Fdt::new_unchecked(&blob));
    let chosen = model.root.child_mut("chosen").expect("/chosen");
    chosen.add_property(DeviceTreeProperty::new_unchecked(
        "bootargs",
        "earlycon=pl011,0x9000000 rw console=ttyAMA0 quiet",
    ));
    let by_path = with_bootargs(&model.to_dtb(), Some("warmup=1")).expect("a valid tree");
    let board_by_path = payload::Board::read(&by_path).expect("a valid tree");
    assert_eq!(board_by_path.bootargs, "warmup=1");

    let same_chosen = model.root.child_mut("chosen").expect("/chosen");
    let removed = same_chosen.remove_property("stdout-path");
    assert!(removed.is_some());
    let by_words = with_bootargs(&model.to_dtb(), Some("warmup=1")).expect("a valid tree");
    let board_by_words = payload::Board::read(&by_words).expect("a valid tree");
    let kept = "earlycon=pl011,0x9000000 console=ttyAMA0 warmup=1";
    assert_eq!(board_by_words.bootargs, kept);
    assert_eq!(board_by_words.uart_by, payload::ConsoleSource::Earlycon);
}

/// Returns the tree with the only occurrence of `from` replaced. `to` must have the same length.
fn replaced(from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut blob = tree();
    let mut places = memchr::memmem::find_iter(&blob, from);
    let at = places.next().expect("the bytes");
    assert_eq!(places.next(), None, "{from:x?}");
    blob[at..][..to.len()].copy_from_slice(to);
    blob
}

#[test]
fn names_that_are_there_twice_are_refused() {
    let mut two = DeviceTree::from_fdt(&Fdt::new_unchecked(&tree()));
    let chosen = two.root.remove_child("chosen").expect("/chosen");
    let mut other = DeviceTreeNode::new_unchecked("chosen@0");
    for property in chosen.properties() {
        other.add_property(property.clone());
    }
    two.root.add_child(other);
    let cpu = replaced(b"cpu@1\0", b"cpu@0\0");
    let property = replaced(b"min-residency-us", b"entry-latency-us");
    for (blob, expected) in [
        (cpu, "/cpus/cpu@0: two nodes"),
        (property, "two properties are named entry-latency-us"),
        (two.to_dtb(), "a second /chosen"),
    ] {
        with_bootargs(&blob, None).expect("a usable tree");
        let error = with_bootargs(&blob, Some("warmup=1")).expect_err(expected);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_tree_by_which_the_payload_would_end_is_refused() {
    let assert_refused = |old_bytes: &[u8], new_bytes: &[u8], expected_error: &str| {
        let blob = replaced(old_bytes, new_bytes);
        let error = machine(&blob).expect_err(expected_error).to_string();
        assert!(error.contains(expected_error), "{expected_error}: {error}");
    };
    let cells = |(base, size): (u64, u64)| [base.to_be_bytes(), size.to_be_bytes()].concat();
    let uart = (0x900_0000, 0x1000);
    let gic = (0x800_0000, 0x1_0000);
    let redistributors = (0x80a_0000, 0xf6_0000);
    let memory = (0x4000_0000, 0x4000_0000);
    let end = 0xffff_ffff_0000;
    let console = "the console: 0x4c bytes at 0x1000000000000 exceed";
    for (from, to, expected) in [
        (uart, (1 << 48, 0x1000), console),
        (gic, (1 << 48, 0x1_0000), "distributor: 0x10000 bytes"),
        (redistributors, (end, 0xf6_0000), "tors: 0xf60000 bytes"),
        (memory, (0x4000_0000, 1 << 48), "memory: 0x1000000000000 b"),
        (memory, (1 << 48, 0x4000_0000), "memory: 0x40000000 bytes"),
    ] {
        assert_refused(&cells(from), &cells(to), expected);
    }
    // The second CPU's `reg` value, followed by "psci".
    let next = [3u32.to_be_bytes(), 5u32.to_be_bytes()].concat();
    let cpu = |mpidr: u64| [&mpidr.to_be_bytes()[..], &next].concat();
    assert_refused(&cpu(1), &cpu(0), "MPIDR 0x0 is used twice");
    let core_off = 0x1_0002u32.to_be_bytes();
    for bad in [0x8001_0002u32, 0xc000_0002, 0x2001_0002] {
        let expected = format!("idle-states/core-off arm,psci-suspend-param: {bad:#x}, expected a");
        assert_refused(&core_off, &bad.to_be_bytes(), &expected);
    }
    let extended = replaced(&core_off, &0x4000_0002u32.to_be_bytes());
    machine(&extended).expect("a valid extended-format power_state");
}

/// The payload reads names that are outside the strings block according to the header.
#[test]
fn wrong_size_of_the_strings_block_does_no_harm() {
    let mut blob = tree();
    // size_dt_strings
    blob[32..36].copy_from_slice(&10u32.to_be_bytes());
    let changed = with_bootargs(&blob, Some("iterations=3")).expect("a valid tree");
    assert!(payload::Board::read(&changed).is_ok());
}
