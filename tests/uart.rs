//! A UART that is no PL011: the 16550 of QEMU's `pci-serial`, made ready by a
//! stub in front of the payload.

mod common;

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use xtask::board::{self, Board, Conduit, Gic, StateFormat};
use xtask::build::device_tree::{self, Choices};
use xtask::build::image::Emergency;
use xtask::build::payload;
use xtask::qemu;
use xtask::qemu::stream::{self, Ending};
use xtask::setup::workspace::Workspace;
use xtask::setup::{self, Need};

/// Where stub and payload are loaded; the stub knows the second.
const STUB: u64 = 0x4010_0000;
const IMAGE: u64 = 0x4020_0000;

/// Gives PCI function 00:02.0 the I/O ports from 0x1000 on, and goes on to
/// the payload. Its configuration is at 0x40_1001_0000, and port 0 at
/// 0x3eff_0000: VIRT_HIGH_PCIE_ECAM, VIRT_PCIE_PIO in QEMU's hw/arm/virt.c.
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

/// QEMU's board with that UART.
fn board(workspace: &Workspace) -> Board {
    let file = workspace.board("qemu").join("board.toml");
    let text = fs::read_to_string(file).expect("a board file");
    let pl011 = "kind = \"pl011\"\nbase = 0x0900_0000\nsize = 0x1000";
    assert!(text.contains(pl011));
    let ns16550 = "kind = \"ns16550\"\nbase = 0x3eff_1000\nsize = 8";
    board::parse("board.toml", &text.replace(pl011, ns16550)).expect("a good board")
}

/// All that the 16550 says when the payload has a tree with these arguments,
/// or none.
fn said(name: &str, bootargs: Option<&str>) -> String {
    let workspace = Workspace::find().expect("the workspace");
    setup::ensure(&workspace, &[Need::Qemu]).expect("QEMU");
    let board = board(&workspace);
    let builtin = board.firmware("builtin").expect("its firmware");
    let states = builtin.idle_states(StateFormat::Original);
    let tree = bootargs.map(|bootargs| {
        let choices = Choices {
            cpus: 2,
            gic: Gic::V3,
            conduit: Conduit::Hvc,
            idle_states: &states,
            bootargs,
        };
        device_tree::build(&board, &choices).expect("a tree")
    });
    let emergency = Emergency::of_board(&board, Conduit::Hvc);
    let image = payload::image(&workspace, tree.as_deref(), emergency, 2).expect("an image");

    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = dir.join(format!("16550-{name}"));
    fs::write(&file, image).expect("written");
    let stub = dir.join(format!("16550-{name}-stub"));
    let code = CODE.iter().flat_map(|word| word.to_le_bytes());
    fs::write(&stub, code.collect::<Vec<u8>>()).expect("written");

    let mut command = qemu::command(&[]);
    command.args(["-M", "virt,gic-version=3", "-cpu", "cortex-a57"]);
    command.args(["-smp", "2", "-m", "256", "-display", "none"]);
    command.args(["-nic", "none", "-monitor", "none", "-serial", "none"]);
    command.args(["-no-reboot", "-chardev", "stdio,id=uart"]);
    command.args(["-device", "pci-serial,chardev=uart,addr=2"]);
    command.args(qemu::preload(&file, IMAGE));
    let [device, stub] = qemu::preload(&stub, STUB);
    command.arg(device);
    command.arg(format!("{},cpu-num=0", stub.display()));
    let never = AtomicBool::new(false);
    let (limit, mut out) = (Duration::from_secs(120), std::io::sink());
    let outcome = stream::run(&mut command, limit, &never, &mut out, &mut || ());
    let outcome = outcome.expect("QEMU runs");
    let text = String::from_utf8_lossy(&outcome.log).replace("\r\n", "\n");
    let off = Ending::Exited { success: true };
    assert_eq!(outcome.ending, off, "{text}\n{}", outcome.stderr);
    text
}

#[test]
fn a_run_on_a_16550() {
    let text = said("run", Some("iterations=2 warmup=0 only=cpu_susp_serial"));
    // All records are sound, and come twice.
    common::Log::new(text.as_bytes());
    assert!(text.contains("\npsci-bench: PASS ("), "{text}");
}

/// The parameter block names the UART, and nothing else does.
#[test]
fn a_16550_for_emergencies() {
    let text = said("emergency", None);
    assert!(text.contains("ERROR:"), "{text}");
    assert!(text.contains("no device tree"), "{text}");
    assert!(text.contains("\npsci-bench: INCOMPLETE"), "{text}");
}
