//! A UART that is not a PL011: the 16550 in QEMU's `pci-serial`, which a stub sets up before it
//! jumps to the payload.

use boards::Conduit;
use runner::build::image::Emergency;

use crate::common;
use crate::machine::{Machine, Seen, image};

/// The addresses of the stub and the payload. The stub contains the payload address.
const STUB: u64 = 0x4010_0000;
const IMAGE: u64 = 0x4020_0000;

/// Assigns the I/O ports starting at 0x1000 to PCI function 00:02.0 and then jumps to the payload.
/// The function's configuration space is at 0x40_1001_0000, and port 0 at 0x3eff_0000:
/// VIRT_HIGH_PCIE_ECAM and VIRT_PCIE_PIO in QEMU's hw/arm/virt.c.
const CODE: [u32; 8] = [
    0xd2a2_0021, // mov  x1, #0x10010000
    0xf2c0_0801, // movk x1, #0x40, lsl #32
    0x5282_0022, // mov  w2, #0x1001
    0xb900_1022, // str  w2, [x1, #0x10] (BAR 0: I/O)
    0x5280_0022, // mov  w2, #1
    0xb900_0422, // str  w2, [x1, #4]    (command: I/O)
    0xd2a8_0403, // mov  x3, #0x40200000
    0xd61f_0060, // br   x3
];

/// Runs the payload with a tree that contains these boot arguments, or without a tree.
fn run(bootargs: Option<&str>) -> Seen {
    let pl011 = "kind = \"pl011\"\nbase = 0x0900_0000\nsize = 0x1000";
    let ns16550 = "kind = \"ns16550\"\nbase = 0x3eff_1000\nsize = 8";
    let board = common::board_with(pl011, ns16550);
    let tree = bootargs.map(|args| common::builtin_tree(&board, Conduit::Hvc, 2, args));
    let image = image(tree.as_deref(), Emergency::of_board(&board, Conduit::Hvc));
    let stub: Vec<u8> = CODE.iter().flat_map(|word| word.to_le_bytes()).collect();
    Machine::new("virt,gic-version=3")
        .with("-cpu cortex-a57 -smp 2 -m 256 -serial none -chardev stdio,id=uart")
        .with("-device pci-serial,chardev=uart,addr=2")
        .loaded("image", &image, IMAGE, "")
        .loaded("stub", &stub, STUB, ",cpu-num=0")
        .run()
}

#[test]
fn a_run_on_a_16550() {
    run(Some("iterations=2 warmup=0 only=cpu_susp_serial")).passes(&[]);
}

/// Only the parameter block specifies the UART.
#[test]
fn a_16550_for_emergencies() {
    run(None).refuses(&["ERROR:", "no device tree"]);
}
