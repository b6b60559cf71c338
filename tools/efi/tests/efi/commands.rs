//! The EFI application: as a plain file, signed, and on boot media.

use std::fs;

use boards::GicVersion;
use dtoolkit::fdt::Fdt;
use dtoolkit::model::DeviceTree;
use test_support::packages::{material, payload};
use test_support::scratch::Scratch;
use test_support::tree_with;

use crate::PROGRAM;

fn scratch() -> Scratch {
    let scratch = Scratch::with_tf_a_tools(PROGRAM);
    scratch.write("payload.bin", &payload());
    scratch
}

/// EFI provides the memory map, so the tree needs no memory nodes. Trees from a running Linux
/// system, such as /sys/firmware/fdt, have none.
#[test]
fn a_tree_needs_no_memory_and_the_signature_verifies() {
    let scratch = scratch();
    let blob = tree_with(GicVersion::V3, "iterations=3");
    let mut tree = DeviceTree::from_fdt(&Fdt::new(&blob).expect("a tree"));
    tree.root.remove_child("memory@40000000").expect("there");
    scratch.write("no-memory.dtb", &tree.to_dtb());
    let options = "--base payload.bin --dtb no-memory.dtb";
    scratch.theirs(
        "openssl req -x509 -newkey rsa:2048 -nodes -keyout db.key -out db.pem -subj /CN=db",
    );
    scratch.ours(&format!(
        "efi build {options} --sign db.key db.pem -o b.efi"
    ));
    scratch.theirs("sbverify --cert db.pem b.efi");
    let plain = scratch.read("payload.bin");
    let file = scratch.read("b.efi");
    let has = |part: &[u8]| memchr::memmem::find(&file, part).is_some();
    assert!(file.starts_with(b"MZ") && has(&plain[0x100..]) && has(b"iterations=3\0"));
}

#[test]
fn media_have_the_application_and_only_files_from_here_are_replaced() {
    let scratch = scratch();
    fs::create_dir_all(scratch.path("usb")).expect("made");
    let stick = "stick --base payload.bin --args end=park -o";
    for _ in 0..2 {
        scratch.ours(&format!("{stick} usb"));
        scratch.ours(&format!("{stick} one.img"));
    }
    scratch.ours(&format!("{stick} two.img"));
    assert!(scratch.read("one.img") == scratch.read("two.img"));
    scratch.theirs("mcopy -s -i one.img ::EFI ::startup.nsh .");
    for file in ["EFI/BOOT/BOOTAA64.EFI", "startup.nsh"] {
        let copied = scratch.read(&format!("usb/{file}"));
        assert!(scratch.read(file) == copied, "{file}");
    }
    scratch.write("usb/startup.nsh", "echo mine");
    let error = "usb/startup.nsh: not written by this tool";
    scratch.refuses(&format!("{stick} usb"), error);
}

/// Commands that are refused, each with parts of its error message.
#[rustfmt::skip]
const REFUSED: &[(&str, &[&str])] = &[
    ("efi build --smp 2 -o x",
        &["--smp: only valid for a board file's device tree; specify --board"]),
    ("efi build --core 0x2 -o x",
        &["--state-format and --core: only valid for a board file's device tree"]),
    ("efi build --sign a -o x", &["2 values required"]),
    ("efi build --sign gone a -o x", &["--sign gone: No such file"]),
    ("efi build --sign key.pem key.pem -o x",
        &["--sign key.pem: not a certificate", "KEY CERT"]),
    ("efi build --sign a link -o a", &["--output a: this is the input file for --sign"]),
    ("efi build --no-power-down -o x",
        &["--no-power-down: only valid for a board file's device tree"]),
    ("efi build --dtb cut.dtb -o x", &["--dtb cut.dtb:"]),
    ("efi build --args itterations=2 -o x", &["--args: bootargs word 1"]),
    ("efi build --sign a a -o x", &["--sign a: not a private key in PEM format"]),
    ("efi run --variant pmf=off", &["--variant and --tf-a apply to TF-A"]),
    ("efi run --by edk2-acpi --tf-a /", &["--variant and --tf-a apply to TF-A"]),
    ("efi run --smp 9 --gic 2", &["a GICv2 supports 1 to 8"]),
    ("efi run --by u-boot --smp 33", &["the tf-a firmware supports 1 to 32"]),
    ("efi run --args itterations=2", &["--args: bootargs word 1"]),
    ("stick", &["--output <DIR|IMAGE>"]),
    ("stick -o /dev/null", &["--output /dev/null: not a regular file"]),
    ("stick --smp 2 -o x", &["--smp: only valid for a board file's device tree"]),
    ("stick -o a", &["--output a: not written by this tool"]),
    ("stick -o gone/x", &["--output gone/x: no such directory: gone"]),
];

#[test]
fn commands_are_refused_by_name() {
    material(PROGRAM).assert_refused(REFUSED);
}
