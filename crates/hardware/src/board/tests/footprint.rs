//! Trees that do or do not leave the payload its memory.

use std::string::{String, ToString};

use super::edited_tree::Edit::{self, Add, Remove, Reserve, Set};
use super::edited_tree::Tree::Qemu;
use super::edited_tree::Value::Cells;
use crate::board::{Board, Footprint, Region};
use crate::image::{ParameterBlock, working_memory};

/// Returns the footprint of an image of 0x50000 bytes at `base`, with a tree of this size, if any.
fn footprint(tree_size: u64, base: u64) -> Option<Footprint> {
    let block = ParameterBlock {
        tree_offset: if tree_size > 0 { 0x5_0000 } else { 0 },
        tree_size,
        base_size: 0x5_0000,
        ..ParameterBlock::default()
    };
    Footprint::of_image(&block, base)
}

const MEMORY: &str = "/memory@40000000";
const RESERVED: &str = "reserved-memory { ranges; #address-cells = <2>; #size-cells = <2>; }";
const NO_MAP: &str = "r@60010000 { no-map; reg = <0 0x60010000 0 0x1000>; }";
/// A second memory node, which starts in the image.
const SPLIT: &str = "memory@60010000 { device_type = \"memory\"; \
                     reg = <0 0x60010000 0 0x1000000>; }";

fn checked(edits: &[Edit<'_>], footprint: &Footprint) -> String {
    let mut tree = Qemu(1).parse();
    edits.iter().for_each(|edit| edit.apply(&mut tree));
    let blob = tree.to_dtb();
    let board = Board::read(&blob).expect("a usable tree");
    let checked = board.check_footprint(footprint);
    checked.map_or_else(|error| error.to_string(), |()| "free".into())
}

/// Returns the error without its advice.
fn reserved(at: u64, part: &str) -> String {
    std::format!("reserved memory at {at:#x} overlaps the {part}")
}

fn hole(at: u64, part: &str) -> String {
    std::format!("no memory at {at:#x}, in the {part}")
}

#[test]
fn reserved_memory_and_holes_at_the_image_are_refused() {
    let footprint = footprint(0x2345, 0x6000_0000).expect("addresses");
    let [image, tree, stack] = [
        "image at 0x60000000",
        "appended device tree at 0x60050000",
        "boot stack at 0x60053000",
    ];
    let memory = |reg| Set(MEMORY, "reg", Cells(reg));
    for (edits, expected) in [
        (&[Reserve(0x5fff_f000, 0x1000)][..], "free".into()),
        (
            &[Reserve(0x6005_3000 + working_memory(1), 0x1000)],
            "free".into(),
        ),
        (&[Reserve(0x6004_ffff, 1)], reserved(0x6004_ffff, image)),
        (
            &[Reserve(0x4000_0000, 0x4000_0000)],
            reserved(0x4000_0000, image),
        ),
        (
            &[Add("/", RESERVED), Add("/reserved-memory", NO_MAP)],
            reserved(0x6001_0000, image),
        ),
        (&[Reserve(0x6005_2344, 1)], reserved(0x6005_2344, tree)),
        // The tree's last page, which is mapped as a whole.
        (&[Reserve(0x6005_2ff0, 1)], reserved(0x6005_2ff0, tree)),
        (&[Reserve(0x6005_3000, 1)], reserved(0x6005_3000, stack)),
        (
            &[memory(&[0, 0x4000_0000, 0, 0x2001_0000]), Add("/", SPLIT)],
            "free".into(),
        ),
        (
            &[memory(&[0, 0x4000_0000, 0, 0x2000_f000]), Add("/", SPLIT)],
            hole(0x6000_f000, image),
        ),
        (
            &[memory(&[0, 0x6000_1000, 0, 0x1000_0000])],
            hole(0x6000_0000, image),
        ),
        (
            &[memory(&[0, 0x4000_0000, 0, 0x2005_1000])],
            hole(0x6005_1000, tree),
        ),
        (
            &[memory(&[0, 0x4000_0000, 0, 0x2005_4000])],
            hole(0x6005_4000, stack),
        ),
        // A tree that omits all of it.
        (&[memory(&[1, 0, 0, 0x1000_0000])], "free".into()),
        (&[memory(&[0, 0x4000_0000, 0, 0x1000_0000])], "free".into()),
        (
            &[
                Remove(MEMORY),
                Add("/", "memory { reg = <0 0x60000000 0 0x2000>; }"),
            ],
            hole(0x6000_2000, image),
        ),
    ] {
        let found = checked(edits, &footprint);
        let advice = "; load the image elsewhere, or correct the tree";
        assert_eq!(found.trim_end_matches(advice), expected, "{edits:?}");
    }
}

#[test]
fn an_image_at_the_end_of_the_address_space_has_no_footprint() {
    assert!(footprint(0x2345, u64::MAX - 0x5_0000).is_none());
    assert!(footprint(0, u64::MAX - 0x6_0000).is_none());
}

/// A loader may reserve the tree that it passes.
#[test]
fn a_tree_of_a_loader_is_not_part_of_the_footprint() {
    let footprint = footprint(0, 0x6000_0000).expect("addresses");
    assert!(footprint.tree.is_none());
    let boot_area = Region {
        base: 0x6005_0000,
        size: working_memory(1),
    };
    assert_eq!(footprint.boot_area, boot_area);
    assert_eq!(
        checked(&[Reserve(0x4800_0000, 0x10_0000)], &footprint),
        "free"
    );
}
