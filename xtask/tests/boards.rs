//! An image for every board.

use std::fs;

use psci_bench::board as payload;
use psci_bench::image::ParameterBlock;
use xtask::board::firmware_kind::Firmware;
use xtask::board::{self, GivenStates, names};
use xtask::build::firmware::Variant;
use xtask::build::image;
use xtask::build::image_contents::{Contents, ImageWish, contents};
use xtask::build::payload::{Tree, build};
use xtask::setup::workspace::Workspace;

#[test]
fn each_board_has_an_image() {
    let workspace = Workspace::find().expect("the repository");
    let elf = build(&workspace).expect("the payload");
    let flat = image::flatten(&fs::read(elf).expect("an ELF file")).expect("the payload");
    for name in names(&workspace) {
        let board = board::load(&workspace, &name).expect("a sound board file");
        let wish = ImageWish {
            cpus: board.default_cpus().expect("so many"),
            gic: board.default_gic(),
            firmware: Firmware::TfA,
            conduit: board.psci.conduit,
            variant: Variant::default(),
            states: GivenStates::default(),
            args: Some("iterations=7"),
            emulated: false,
        };
        let Contents {
            tree,
            emergency,
            cpus,
        } = contents(&board, &wish, &Tree::Board).expect("a tree");
        let tree = tree.expect("the board's");
        let file = image::assemble(flat.clone(), Some(&tree), emergency, cpus).expect("an image");
        // It is found where the payload looks, and is of this board.
        let block = ParameterBlock::read(&file).expect("a parameter block");
        let from = block.tree_offset as usize;
        let found = &file[from..from + block.tree_size as usize];
        let read = payload::Board::read(found).expect("a good tree");
        assert_eq!((read.model, read.bootargs), (&*board.title, "iterations=7"));
        let uart = block.uart.expect("an emergency UART");
        assert_eq!(
            (uart.kind, uart.base),
            (read.uart.kind, read.uart.base),
            "{name}"
        );
        // What is claimed in the header is there.
        let at = board.load_address;
        let size = u64::from_le_bytes(file[16..24].try_into().expect("8 bytes"));
        let fits = |m: &payload::Region| m.base <= at && at + size <= m.base + m.size;
        assert!(read.memory.iter().any(fits), "{name}: {size:#x} at {at:#x}");
    }
}
