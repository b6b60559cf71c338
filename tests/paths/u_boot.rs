//! U-Boot's `booti`, which is what many boards load kernels by.

use std::fs;

use xtask::setup::{self, Need, U_BOOT};

use crate::firmware::{built, overlay, with_bl33};
use crate::machine::{FEW, Machine, Plain, fact, workspace};

fn u_boot() -> Vec<u8> {
    setup::ensure(&workspace(), &[Need::UBoot]).expect("U-Boot");
    fs::read(U_BOOT).expect("U-Boot")
}

/// Left alone, this U-Boot boots what QEMU has been given by `-kernel`, and
/// hands over QEMU's tree at an address of its own choice.
const SAID: [&str; 3] = [
    "U-Boot",
    "Starting kernel ...",
    "Image at 0x40400000, device tree at",
];

#[test]
fn booti() {
    for (virtualization, el, conduit) in [("off", "1", "hvc"), ("on", "2", "smc")] {
        let log = Machine::new(&format!("virt,virtualization={virtualization}"))
            .with("-cpu cortex-a57 -smp 4 -m 1024")
            .file("-bios", "u-boot.bin", &u_boot())
            .option("-kernel", Plain::path())
            .option("-append", FEW)
            .run()
            .passes(&SAID);
        assert_eq!(fact(&log, "el"), el);
        assert_eq!(fact(&log, "conduit"), conduit);
    }
}

#[test]
fn booti_behind_tf_a() {
    let flash = with_bl33(&built(&overlay()), u_boot());
    for (virtualization, el) in [("on", "2"), ("off", "1")] {
        let log = crate::firmware::machine(virtualization, &flash)
            .run()
            .passes(&SAID);
        assert_eq!(fact(&log, "el"), el);
        assert_eq!(fact(&log, "conduit"), "smc");
        // Four scenarios suspend: that firmware takes CPUs down.
        assert_eq!(log.metric(3, "wake", "n").len(), 4);
    }
}
