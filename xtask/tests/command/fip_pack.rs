//! Builds the files that boards load, which requires neither a compiler nor a Rust target.

use boards::{BoardFile, Package, PackageBlob, PackageKind};
use hardware::image::{MAGIC_OFFSET, PARAMETER_BLOCK, ParameterBlock, working_memory};
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};

use crate::support::PROGRAM;
use crate::support::packages::payload;
use crate::support::scratch::Scratch;

fn boards() -> Vec<BoardFile> {
    let load = |name| boards::load(name).expect("a valid board file");
    boards::names().map(load).collect()
}

/// Returns options that specify placeholders for all images in a board FIP except BL33.
fn stand_ins(scratch: &Scratch, requires: &[String], blobs: &[PackageBlob]) -> String {
    let mut words = String::new();
    for option in requires.iter().map(|option| option.as_str()) {
        scratch.write(option, format!("a stand-in for {option}").as_bytes());
        words += &format!(" --{option} {option}");
    }
    for blob in blobs {
        let uuid = blob.uuid.to_string();
        scratch.write(&uuid, format!("a stand-in for {}", blob.title).as_bytes());
        words += &format!(" --blob uuid={uuid},file={uuid}");
    }
    words
}

/// Checks that `fip` is identical to the output of fiptool with these options.
fn is_fiptools(scratch: &Scratch, fip: &str, options: &str) {
    scratch.theirs(&format!("fiptool create {options} theirs.bin"));
    let is_same = scratch.read(fip) == scratch.read("theirs.bin");
    assert!(is_same, "{fip} {options}");
}

#[test]
fn every_board_gets_its_file() {
    let workspace = Workspace::find().expect("the repository");
    setup::ensure(&workspace, &[Need::Mkimage, Need::Dtc]).expect("mkimage");
    let scratch = Scratch::with_tf_a_tools(PROGRAM);
    scratch.write("payload.bin", &payload());
    for board in boards() {
        let name = &board.name;
        let stderr = scratch.ours(&format!(
            "image --board {name} --base payload.bin -o image.bin"
        ));
        let image = scratch.read("image.bin");
        let block = ParameterBlock::read(&image).expect("an image");
        // The tree is located where the payload looks for it, and the header reserves the expected
        // amount of memory.
        let tree = &image[block.tree_offset as usize..][..block.tree_size as usize];
        let read = hardware::board::Board::read(tree).expect("a good tree");
        assert_eq!(read.model, board.title);
        let uart = block.uart.expect("an emergency UART");
        let found = (uart.kind, uart.base, block.conduit);
        let expected = (read.uart.kind, read.uart.base, Some(read.conduit));
        assert_eq!(found, expected, "{name}");
        let at = board.load_address;
        let size = u64::from_le_bytes(image[16..24].try_into().expect("8 bytes"));
        let mut memory = read.memory.iter();
        let is_there =
            memory.any(|region| region.base <= at && at + size <= region.base + region.size);
        let least = image.len() as u64 + working_memory(read.cpu_count as u32);
        assert!(is_there && size >= least, "{name}: {size:#x} at {at:#x}");
        let build = format!("fip pack --board {name} --payload payload.bin -o fip.bin");
        let Some(package) = &board.package else {
            scratch.refuses(&build, "has no [package] table");
            continue;
        };
        if package.kind != PackageKind::Fip {
            let instead = format!("run `cargo xtask image --board {name}");
            scratch.refuses(&build, "does not boot a FIP");
            scratch.refuses(&build, &instead);
            assert!(stderr.contains(&package.install), "{stderr}");
            if package.kind == PackageKind::Fit {
                scratch.theirs("mkimage -f image.bin.its image.bin.itb");
                scratch.theirs("dumpimage -T flat_dt -p 0 -o out image.bin.itb");
                assert!(scratch.read("out") == image, "{name}");
            }
            continue;
        }
        packs_a_fip(&scratch, name, package);
    }
}

/// Checks that the board FIP and its separate parts are packed just as fiptool would pack them, and
/// that a missing option is reported by name.
fn packs_a_fip(scratch: &Scratch, name: &str, package: &Package) {
    let align = package.align;
    let build = format!("fip pack --board {name} --payload payload.bin -o fip.bin");
    let options = stand_ins(scratch, &package.requires, &package.blobs);
    let stderr = scratch.ours(&format!("{build} {options}"));
    assert!(stderr.contains(&package.install), "{stderr}");
    let all = format!("--align {align} {options} --nt-fw image.bin");
    is_fiptools(scratch, "fip.bin", &all);
    // If any of the options is missing, the error message contains its name.
    for left_out in options.split(" --").filter(|word| !word.is_empty()) {
        let less = options.replace(&format!(" --{left_out}"), "");
        let stderr = scratch.refused(&format!("{build} {less}"));
        let option = left_out.split(['=', ' ']).next().expect("a word");
        assert!(
            stderr.contains(&format!("--{option}")),
            "{left_out}: {stderr}"
        );
    }
    for part in &package.parts {
        let options = stand_ins(scratch, &part.requires, &part.blobs);
        let file = &part.file;
        let make = format!("fip part {file} --board {name} -o {file}");
        scratch.ours(&format!("{make} {options}"));
        is_fiptools(scratch, file, &format!("--align {align} {options}"));
        scratch.refuses(&make, &format!("{file} needs --"));
    }
}

#[test]
fn bl33_of_a_users_fip_is_replaced_and_stays_aligned() {
    let scratch = Scratch::with_tf_a_tools(PROGRAM);
    scratch.write("payload.bin", &payload());
    scratch.write("other", b"another image");
    let blob = "uuid=cfacc2c4-15e8-4668-82be-430a38fad705,file=other";
    let images = format!("--soc-fw other --tos-fw other --blob {blob} --nt-fw other");
    let args = "--board qemu --args iterations=3 --smp 4";
    let build = format!("fip pack {args} --base base.bin --payload payload.bin -o new.bin");
    for (rest, expected) in [("", 512), ("--align 0x1000", 4096), ("--align 16", 16)] {
        let layout = "--align 512 --plat-toc-flags 0x12";
        scratch.theirs(&format!("fiptool create {layout} {images} base.bin"));
        scratch.ours(&format!("{build} {rest}"));
        scratch.ours(&format!("image {args} --base payload.bin -o image.bin"));
        let update = format!("update --align {expected} --nt-fw image.bin");
        scratch.theirs(&format!("fiptool {update} base.bin"));
        assert!(
            scratch.read("new.bin") == scratch.read("base.bin"),
            "{rest}"
        );
    }
}

#[test]
fn a_released_payload_gets_a_tree_and_another_one() {
    let scratch = Scratch::with_tf_a_tools(PROGRAM);
    let bare = payload();
    scratch.write("payload.bin", &bare);
    scratch.ours("payload --base payload.bin -o bare.bin");
    assert!(scratch.read("bare.bin") == bare);
    scratch.ours("image --board qemu --base payload.bin -o eight.bin");
    scratch.ours("image --board qemu --base payload.bin --smp 4 -o four.bin");
    assert!(scratch.read("eight.bin") != scratch.read("four.bin"));
    // If the base image already contains a tree, `image` replaces it and `payload` removes it.
    scratch.ours("image --board qemu --base eight.bin --smp 4 -o again.bin");
    assert!(scratch.read("again.bin") == scratch.read("four.bin"));
    scratch.ours("payload --base four.bin -o again.bin");
    assert!(scratch.read("again.bin") == bare);

    let four = scratch.read("four.bin");
    let with_byte = |offset: usize, value: u8| {
        let mut file = four.clone();
        file[offset] = value;
        file
    };
    let block = ParameterBlock::read(&four).expect("an image");
    for (file, expected) in [
        (with_byte(MAGIC_OFFSET, 0), "no arm64 Image magic"),
        (
            with_byte(PARAMETER_BLOCK, 0),
            "no psci-bench parameter block",
        ),
        (
            with_byte(PARAMETER_BLOCK + 8, 9),
            "parameter block version 9",
        ),
        (
            with_byte(block.tree_offset as usize, 0),
            "there is none at that offset",
        ),
        (
            four[..four.len() - 1].to_vec(),
            "according to its parameter block",
        ),
        (four[..99].to_vec(), "shorter than an arm64 Image header"),
        (vec![0; 4 << 20], "larger than the limit"),
    ] {
        scratch.write("bad.bin", &file);
        let stderr = scratch.refused("image --board qemu --base bad.bin -o out.bin");
        assert!(stderr.contains(expected), "{expected}: {stderr}");
        assert!(stderr.contains("--base bad.bin"), "{stderr}");
    }
}
