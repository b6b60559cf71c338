//! Starts QEMU's `raspi4b` in the same way as a Raspberry Pi 4. On the board, the GPU's firmware
//! writes the addresses of the kernel and of Linux's device tree into the armstub, which is TF-A's
//! BL31, and starts all CPUs there.

use std::fs;
use std::process::Command;

use boards::GicVersion;
use dtoolkit::Node as _;
use dtoolkit::fdt::Fdt;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use runner::build::firmware::{self, Platform};
use runner::build::image::Emergency;
use runner::build::payload;
use runner::build::tf_a::TfA;
use runner::qemu;
use runner::setup::{self, Need, linux_trees};

use crate::{output, workspace};

/// The offset of four words in the armstub: the magic number (which the GPU's firmware clears), the
/// version, and the addresses of the device tree and the kernel. See TF-A's
/// plat/rpi/common/aarch64/armstub8_header.S.
const STUB: usize = 0xf0;
const TREE: u32 = 0x0800_0000;
const KERNEL: u32 = 0x0020_0000;

/// The path of the mini UART, which is `serial0` in the Raspberry Pi kernel's trees.
const MINI_UART: &str = "/soc/serial@7e215040";

/// Returns Linux's tree with the memory and the boot arguments that the GPU's firmware adds, and with
/// this alias `serial0`, if given.
fn tree(linux: &[u8], bootargs: &str, serial0: Option<&str>) -> Vec<u8> {
    let mut tree = DeviceTree::from_fdt(&Fdt::new_unchecked(linux));
    if let Some(path) = serial0 {
        let aliases = tree.find_node_mut("/aliases").expect("aliases");
        let path = format!("{path}\0").into_bytes();
        aliases.add_property(DeviceTreeProperty::new_unchecked("serial0", path));
    }
    let memory = tree
        .root
        .children()
        .find(|node| node.name().starts_with("memory"))
        .map(|node| node.name().to_owned())
        .expect("a node for it");
    tree.root.remove_child(&memory);
    let mut memory = DeviceTreeNode::new_unchecked("memory@0");
    let words = |words: &[u32]| {
        words
            .iter()
            .flat_map(|word| word.to_be_bytes())
            .collect::<Vec<_>>()
    };
    for (name, value) in [
        ("device_type", b"memory\0".to_vec()),
        // #address-cells is 2, and #size-cells is 1.
        ("reg", words(&[0, 0, 0x3b40_0000])),
    ] {
        memory.add_property(DeviceTreeProperty::new_unchecked(name, value));
    }
    tree.root.add_child(memory);
    let chosen = tree.find_node_mut("/chosen").expect("stdout-path");
    let bootargs = format!("{bootargs}\0").into_bytes();
    chosen.add_property(DeviceTreeProperty::new_unchecked("bootargs", bootargs));
    tree.to_dtb()
}

/// Boots with mainline Linux's tree, whose `serial0` may be replaced, and returns what is printed on
/// the serial port with this number.
fn boot(serial0: Option<&str>, port: usize) -> String {
    let workspace = workspace();
    setup::ensure(&workspace, &[Need::Qemu]).expect("QEMU");
    let linux = linux_trees::fetch(&workspace)
        .expect("the Debian arm64 kernel")
        .dir
        .join("broadcom/bcm2711-rpi-4-b.dtb");
    let linux = fs::read(&linux).expect("the board's tree");
    let board = boards::load("rpi4").expect("a board");
    let stock = board
        .firmware("tf-a")
        .expect("TF-A")
        .stock
        .as_ref()
        .expect("one of TF-A's platforms");
    let platform = Platform::of_board(&workspace, &board, stock, GicVersion::V2);
    let tf_a = TfA::locate(&workspace, None).expect("the source");
    let firmware = firmware::build(&workspace, &tf_a, &platform).expect("TF-A builds");
    let mut armstub = firmware.read("bl31").expect("BL31");
    let words = [0, 0, TREE, KERNEL].map(u32::to_le_bytes).concat();
    armstub[STUB..STUB + 16].copy_from_slice(&words);
    let image = payload::image(&workspace, None, Emergency::default(), 4).expect("an image");
    // QEMU does not model a warm reset through RMR_EL3, so no CPU comes back after CPU_OFF.
    let tree = tree(
        &linux,
        "iterations=2 method=warm only=psci_version_parallel",
        serial0,
    );

    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut machine = Command::new("timeout");
    machine.env("PATH", setup::newer_qemu(&workspace).expect("QEMU"));
    machine.args([
        "60",
        qemu::PROGRAM,
        "-M",
        "raspi4b",
        "-m",
        "2G",
        "-no-reboot",
    ]);
    machine.args("-display none -nic none -monitor none".split(' '));
    machine.args(["-serial", "null"].repeat(port));
    machine.args(["-serial", "stdio"]);
    machine.args(["-global", "arm_gic.has-security-extensions=true"]);
    for (name, data, address) in [
        ("bl31.bin", armstub, 0),
        ("kernel8.img", image, KERNEL),
        ("tree.dtb", tree, TREE),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, data).expect("written");
        machine.args(qemu::preload_option(&path, address.into()));
    }
    let bytes = output(&mut machine);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn expect_words(log: &str, words: &[&str]) {
    for words in words {
        assert!(log.contains(words), "no {words:?} in\n{log}");
    }
}

#[test]
#[ignore = "fetches 90 MB: cargo xtask test trees"]
fn raspi4b_boots_as_the_board_does() {
    let words = [
        // TF-A's default console is the PL011, which TF-A also sets as the tree's console.
        "Image at 0x200000, device tree at 0x8000000 (X0)",
        "Console pl011 at 0xfe201000, set by /chosen/stdout-path",
        "Raspberry Pi 4 Model B",
        "psci-bench: PASS (1 passed, 0 skipped, 0 failed; 0 rows skipped, 0 CPUs lost)",
    ];
    expect_words(&boot(None, 0), &words);
    // TF-A sets the tree's console to `serial0`, whatever it is.
    let words = [
        "Image at 0x200000, device tree at 0x8000000 (X0)",
        "at 0xfe215040, set by /chosen/stdout-path",
        "psci-bench: PASS (1 passed, 0 skipped, 0 failed; 0 rows skipped, 0 CPUs lost)",
    ];
    expect_words(&boot(Some(MINI_UART), 1), &words);
}
