//! The EFI application: as a plain file, signed, and on boot media.

use std::fs;

use boards::GicVersion;
use dtoolkit::fdt::Fdt;
use dtoolkit::model::DeviceTree;

use crate::acpi_tables::tables;
use crate::support::PROGRAM;
use crate::support::packages::payload;
use crate::support::scratch::Scratch;
use crate::support::tree_with;

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
    scratch.refuses(&format!("image {options} -o bl33.bin"), "memory");
    scratch.theirs(
        "openssl req -x509 -newkey rsa:2048 -nodes -keyout db.key -out db.pem -subj /CN=db",
    );
    scratch.ours(&format!("efi {options} --sign db.key db.pem -o b.efi"));
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

/// The folder of tables has the same layout as on Linux: `data` contains no tables, but `dynamic`
/// does.
#[test]
fn a_folder_of_acpi_tables_becomes_a_tree() {
    let scratch = scratch();
    let [first, rest @ ..] = &tables()[..] else {
        panic!("no tables");
    };
    scratch.write("acpi/data/BERT", "no table");
    scratch.write("acpi/dynamic/SSDT1", first);
    for (number, table) in rest.iter().enumerate() {
        scratch.write(&format!("acpi/{number}"), table);
    }
    let (code, source, stderr) = scratch.called("tree from-acpi acpi");
    assert_eq!(code, 0, "{stderr}");
    assert!(source.contains("cpu@10000 {"), "{source}");
    assert!(
        stderr.contains("xtask: found 4 CPUs, GICv3, 0 idle states; console pl011 at "),
        "{stderr}"
    );
    scratch.ours("tree from-acpi acpi --memory 0x40000000+0x40000000 -o acpi.dtb");
    scratch.ours("image --base payload.bin --dtb acpi.dtb -o bl33.bin");
    scratch.write("acpi/0", &rest[0][..40]);
    scratch.refuses("tree from-acpi acpi", "acpi/0");
}
