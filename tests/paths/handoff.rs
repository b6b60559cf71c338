//! Tests the values passed in X0 to X3 when no tree is appended. Like a loader, a stub sets these
//! registers and jumps to the payload. (The `firmware` module tests TF-A's own transfer list.)

use dtoolkit::fdt::Fdt;
use dtoolkit::memreserve::MemoryReservation;
use dtoolkit::model::DeviceTree;
use hardware::image::handoff::{REGISTER, SIGNATURE};

use crate::common;
use crate::machine::{FEW, Machine, Seen};

/// The address of a tree or transfer list on a machine with 256 MiB of memory.
const THERE: u64 = 0x4800_0000;
/// The last page of that machine's memory.
const LAST: u64 = 0x4fff_f000;
/// An address outside memory.
const NOWHERE: u64 = 0xf0_0000_0000;

/// Runs the payload with these register values and with `bytes` loaded at `at`.
fn entered(registers: [u64; 4], bytes: &[u8], at: u64) -> Seen {
    let image = [common::loading(&registers), common::image_of(None, 4)].concat();
    Machine::new("virt,virtualization=on,gic-version=3")
        .with("-cpu cortex-a57 -smp 4 -m 256")
        .loaded("Image", &image, 0x4020_0000, ",cpu-num=0")
        .loaded("handed-over", bytes, at, "")
        .run()
}

fn tree() -> Vec<u8> {
    common::good_tree(4, &format!("{FEW} only=psci_version_parallel"))
}

/// Returns a transfer list that contains an empty entry, followed by this tree, if any.
fn list(tree: Option<&[u8]>) -> Vec<u8> {
    let mut list = vec![0; 0x18];
    for (tag, data) in [(0u32, Some(&b"nothing"[..])), (1, tree)] {
        let Some(data) = data else { continue };
        list.extend((tag | 8 << 24).to_le_bytes());
        list.extend((data.len() as u32).to_le_bytes());
        list.extend(data);
        list.resize(list.len().next_multiple_of(8), 0);
    }
    let size = list.len() as u32;
    let header = [SIGNATURE, 3 << 24 | 0x18 << 16 | 1 << 8, size, size, 1, 0];
    list[..0x18].copy_from_slice(&header.map(u32::to_le_bytes).concat());
    list[4] = list.iter().fold(0u8, |sum, byte| sum.wrapping_sub(*byte));
    list
}

/// The tree is passed in X1 and X3, or in X2, regardless of what the other registers contain.
#[test]
fn a_tree_is_found() {
    let in_list = "device tree in the transfer list at 0x48000000 (X3)";
    let by_x2 = "device tree at 0x48000000 (X2)";
    entered([0, REGISTER, 0, THERE], &list(Some(&tree())), THERE).passes(&[in_list]);
    entered([0x103, REGISTER + 1, THERE, NOWHERE], &tree(), THERE).passes(&[by_x2]);
    // A transfer list need not contain a tree. Here the list is located after the tree.
    let mut both = tree();
    both.resize(0x8000, 0);
    both.extend(list(None));
    entered([7, REGISTER, THERE, THERE + 0x8000], &both, THERE).passes(&[by_x2]);
}

/// In a firmware with OP-TEE, X2 can be the size of BL32. There is a tree at that address, so reading
/// it would be noticed.
#[test]
fn x2_far_from_the_image_is_not_read() {
    const FAR: u64 = 0x8800_0000;
    let why = "no device tree: none is appended to the image, and neither X0 = 0x103 nor X2 = \
               0x88000000 points to one";
    let image = [
        common::loading(&[0x103, 0, FAR, 0]),
        common::image_of(None, 4),
    ]
    .concat();
    Machine::new("virt,virtualization=on,gic-version=3")
        .with("-cpu cortex-a57 -smp 4 -m 2048")
        .loaded("Image", &image, 0x4020_0000, ",cpu-num=0")
        .loaded("handed-over", &tree(), FAR, "")
        .run()
        .refuses(&[why]);
}

/// U-Boot and kexec reserve the tree that they pass.
#[test]
fn a_tree_that_reserves_itself_is_found() {
    let mut tree = DeviceTree::from_fdt(&Fdt::new_unchecked(&tree()));
    let reservation = MemoryReservation::new(THERE, 0x1_0000);
    tree.memory_reservations.push(reservation);
    entered([THERE, 0, 0, 0], &tree.to_dtb(), THERE).passes(&["device tree at 0x48000000 (X0)"]);
}

#[test]
fn x3_is_used_only_if_x1_announces_a_list() {
    let log_at = |x3: u64, list: &[u8], reason: &str| {
        let reason = format!("device tree in the transfer list at {x3:#x} (X3): {reason}");
        let place = if x3 == NOWHERE { THERE } else { x3 };
        entered([0, REGISTER, THERE, x3], list, place).refuses(&[&reason]);
    };
    let good = list(Some(&tree()));
    let mut bad = good.clone();
    bad[0x30] ^= 1;
    log_at(THERE, &bad, "wrong checksum at offset 0x4");
    log_at(THERE, &tree(), "not a transfer list");
    log_at(NOWHERE, &good, "not a transfer list");
    // The tree starts in memory, but according to its size it extends past the end of memory.
    let mut long = good;
    let size = 0x2000u32.to_le_bytes();
    long[8..16].copy_from_slice(&[size, size].concat());
    log_at(LAST, &long, "there is no memory at 0x50000000");
}

#[test]
fn tree_that_extends_past_memory() {
    let why = "device tree at 0x4ffff000 (X0): there is no memory at 0x50000000";
    let mut tree = tree();
    tree[4..8].copy_from_slice(&0x2000u32.to_be_bytes());
    entered([LAST, 0, 0, 0], &tree, LAST).refuses(&[why]);
}
