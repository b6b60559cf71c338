//! U-Boot's `booti` command, which many boards use to load kernels, and standalone programs, which
//! U-Boot starts with the MMU and caches on.

use std::fs;

use boards::Conduit;
use runner::qemu::boot::u_boot::{ENVIRONMENT, environment};
use runner::setup::{self, Need, U_BOOT};
use suite::crc::CRC_32;
use suite::measure::Metric;
use suite::plan::ScenarioId;

use crate::common::workspace;
use crate::firmware::{built, overlay, with_bl33};
use crate::machine::{FEW, Machine, with_tree};

pub fn u_boot() -> Vec<u8> {
    setup::ensure(&workspace(), &[Need::UBoot]).expect("U-Boot");
    fs::read(U_BOOT).expect("U-Boot")
}

/// If no key is pressed, this U-Boot boots the file passed to QEMU with `-kernel` and passes QEMU's
/// tree at an address that U-Boot chooses.
const SAID: [&str; 3] = [
    "U-Boot",
    "Starting kernel ...",
    "Image at 0x40400000, device tree at",
];

#[test]
fn booti() {
    for (virtualization, el, conduit) in [("off", 1, Conduit::Hvc), ("on", 2, Conduit::Smc)] {
        let log = Machine::new(&format!("virt,virtualization={virtualization}"))
            .with("-cpu cortex-a57 -smp 4 -m 1024")
            .file("-bios", "u-boot.bin", &u_boot())
            .kernel(FEW)
            .run()
            .passes(&SAID);
        assert_eq!(log.machine(), (el, conduit, 2));
    }
}

/// Returns a U-Boot legacy image (include/image.h) for a standalone program, which U-Boot copies to
/// `address` and starts there.
fn standalone(program: &[u8], address: u32) -> Vec<u8> {
    const MAGIC: u32 = 0x2705_1956;
    // OS U-Boot, architecture arm64, type standalone, no compression.
    const KIND: [u8; 4] = [17, 22, 1, 0];
    let header = |checksum: u32| {
        let words = [
            MAGIC,
            checksum,
            0,
            program.len() as u32,
            address,
            address,
            CRC_32.checksum(program),
        ];
        let bytes = words.iter().flat_map(|word| word.to_be_bytes());
        bytes.chain(KIND).chain([0; 32]).collect::<Vec<u8>>()
    };
    [&header(CRC_32.checksum(&header(0))), program].concat()
}

/// Starts the payload with the MMU and caches on, as `go` does. The test uses `bootm`, which hands
/// over control in the same way, because this U-Boot's `go` waits for QEMU's PL011 to become full.
/// QEMU does not model caches; `tests/entries` checks the cache maintenance.
#[test]
fn a_standalone_program() {
    let start = environment("setenv autostart yes; bootm 0x48000000", None);
    for (virtualization, el, conduit) in [("off", 1, Conduit::Hvc), ("on", 2, Conduit::Smc)] {
        let machine = format!("virt,virtualization={virtualization},gic-version=3");
        let image = with_tree(&crate::virt::tree(4, conduit));
        let log = Machine::new(&machine)
            .with("-cpu cortex-a57 -smp 4 -m 1024")
            .file("-bios", "u-boot.bin", &u_boot())
            .loaded("uImage", &standalone(&image, 0x4400_0000), 0x4800_0000, "")
            .loaded("environment", &start, ENVIRONMENT, "")
            .run()
            .passes(&["Loading Standalone Program", "Image at 0x44000000,"]);
        assert_eq!(log.machine(), (el, conduit, 3));
    }
}

#[test]
fn booti_behind_tf_a() {
    let flash = with_bl33(&built(&overlay()), u_boot());
    for (virtualization, el) in [("on", 2), ("off", 1)] {
        let log = crate::firmware::machine(virtualization, &flash)
            .run()
            .passes(&SAID);
        assert_eq!(log.machine(), (el, Conduit::Smc, 3));
        // There are wake-up figures for all four CPUs, because this firmware powers CPUs down.
        assert_eq!(
            log.metric(ScenarioId::CPU_SUSPEND_PARALLEL, Metric::Wake)
                .len(),
            4
        );
    }
}
