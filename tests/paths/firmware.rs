//! Real TF-A, built to boot BL33 like a Linux kernel or to follow the Firmware Handoff
//! specification. (All other tests use the TF-A default, which passes only the MPIDR in X0.)

use boards::{Conduit, GicVersion, Stock};
use runner::build::firmware::{self, FirmwareBuild, FirmwareVariant, Platform};
use runner::build::flash;
use runner::build::tf_a::TfA;

use crate::common::workspace;
use crate::machine::{Machine, plain};

/// Returns TF-A for `platform`, building it if necessary.
pub fn built(platform: &Platform) -> FirmwareBuild {
    let workspace = workspace();
    let tf_a = TfA::locate(&workspace, None).expect("TF-A's source");
    firmware::build(&workspace, &tf_a, platform).expect("TF-A builds")
}

/// Returns QEMU's overlay platform with a GICv3.
pub fn overlay() -> Platform {
    Platform::overlay(
        &workspace(),
        "qemu",
        GicVersion::V3,
        FirmwareVariant::default(),
    )
}

/// Returns a TF-A platform with the FIP at `fip_base` and, if `preloaded`, with BL33 already in
/// memory.
pub fn stock(platform: &str, fip_base: usize, preloaded: bool) -> Stock {
    Stock {
        platform: platform.into(),
        fip_base: Some(fip_base),
        preloaded,
        ..Stock::default()
    }
}

/// Returns a flash image with this BL33.
pub fn with_bl33(firmware: &FirmwareBuild, bl33: Vec<u8>) -> Vec<u8> {
    let (flash, _) = flash::build(firmware, None, bl33).expect("a flash");
    flash
}

/// Returns a machine that boots from this flash. QEMU's tree lists no idle states, so the boot
/// arguments specify them. QEMU adds boot arguments to the tree only if there is a `-kernel`
/// option, but TF-A does not load that kernel.
pub fn machine(virtualization: &str, flash: &[u8]) -> Machine {
    Machine::new(&format!(
        "virt,secure=on,gic-version=3,virtualization={virtualization}"
    ))
    .with("-cpu cortex-a57 -smp 4 -m 1024")
    .file("-bios", "flash.bin", flash)
    .kernel("iterations=2 warmup=0 core=0x10002 deepest=0x2010222")
}

#[test]
fn as_a_linux_kernel() {
    let mut platform = overlay();
    platform.variables.push("ARM_LINUX_KERNEL_AS_BL33=1".into());
    let firmware = built(&platform);
    for (virtualization, el) in [("on", 2), ("off", 1)] {
        let log = machine(virtualization, &with_bl33(&firmware, plain()))
            .run()
            .passes(&[
                "Image at 0x60000000, device tree at 0x40000000 (X0)",
                "6 passed, 0 skipped, 0 failed",
            ]);
        assert_eq!(log.machine(), (el, Conduit::Smc, 3));
    }
}

#[test]
fn by_a_transfer_list() {
    let mut platform = overlay();
    platform.variables.push("TRANSFER_LIST=1".into());
    let firmware = built(&platform);
    machine("on", &with_bl33(&firmware, plain()))
        .run()
        .passes(&[
            "device tree in the transfer list at 0x5fffc000 (X3)",
            "6 passed, 0 skipped, 0 failed",
        ]);
}
