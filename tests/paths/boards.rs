//! Machines other than `virt`: with different UARTs, with a different GIC or none, and with or
//! without PSCI.

use boards::GicVersion;
use device_tree::adapt;
use hardware::image::Conduit;
use runner::build::firmware::Platform;
use runner::build::flash;
use runner::build::image::Emergency;
use suite::measure::Metric;
use suite::model::Verdict;
use suite::plan::ScenarioId;

use crate::firmware::{built, stock};
use crate::machine::{FEW, Machine, compiled, image, plain, with_tree};

/// `-dtb`: QEMU passes the user's tree after adding the /psci node that is also in its own tree.
#[test]
fn zcu102() {
    let at = "Image at 0x200000, device tree at";
    let log = Machine::new("xlnx-zcu102,virtualization=off")
        .with("-m 512")
        .kernel(FEW)
        .file("-dtb", "zcu102.dtb", &compiled("zcu102.dts"))
        .run()
        .passes(&[at, "(X0)", "ZCU102 by hand"]);
    assert_eq!(log.machine(), (1, Conduit::Smc, 2));
    assert_eq!(
        log.metric(ScenarioId::CPU_SUSPEND_PARALLEL, Metric::Wake)
            .len(),
        4
    );
}

/// An image at address 0, as on Armada 8K. A Rust reference cannot point to the first bytes of such
/// an image. No tree is passed: the argument registers are 0, and the memory at that address
/// belongs to the image.
#[test]
fn zcu102_from_address_0() {
    let tree = adapt(&compiled("zcu102.dts"), Some(FEW), None).expect("a good tree");
    let log = Machine::new("xlnx-zcu102,virtualization=off")
        .with("-m 512")
        .loaded("Image", &with_tree(&tree), 0, ",cpu-num=0")
        .run()
        .passes(&["Image at 0x0, device tree appended to the image"]);
    assert_eq!(log.machine(), (1, Conduit::Smc, 2));
    assert_eq!(
        log.metric(ScenarioId::CPU_SUSPEND_PARALLEL, Metric::Wake)
            .len(),
        4
    );
}

/// A boot at EL3 with only the UART in the parameter block. The machine starts all of its CPUs, and
/// a loader holds three of them in a loop.
#[test]
fn raspi3b_from_address_0() {
    const WFI: u32 = 0xd503_207f;
    const BACK: u32 = 0x17ff_ffff;
    let held = [WFI, BACK].map(u32::to_le_bytes).concat();
    let emergency = Emergency::of_tree(&compiled("raspi3b.dts"));
    Machine::new("raspi3b")
        .with("-serial null -serial stdio")
        .loaded("Image", &image(None, emergency), 0, ",cpu-num=0")
        .loaded("held", &held, 0x10_0000, ",cpu-num=1")
        .with("-device loader,addr=0x100000,cpu-num=2")
        .with("-device loader,addr=0x100000,cpu-num=3")
        .recorded()
        .run()
        .parks(Verdict::Incomplete, &["INCOMPLETE: entered at EL3"]);
}

/// Uses the tree that the machine generates.
#[test]
fn versal() {
    let log = Machine::new("xlnx-versal-virt")
        .with("-m 1024")
        .kernel(FEW)
        .run()
        .passes(&["Image at 0x200000, device tree at", "(X0)"]);
    assert_eq!(log.machine(), (2, Conduit::Smc, 3));
    assert_eq!(log.run.cpus.len(), 2);
}

/// The CPU nodes show that there is no PSCI firmware. A firmware call would not return, so none is
/// made.
#[test]
fn raspi3b_has_no_psci() {
    let no_psci = [
        "Image at 0x200000, device tree at",
        "no enabled node compatible with arm,psci-0.2 or later, and CPUs with enable-method = \
         \"spin-table\"",
    ];
    let tree = compiled("raspi3b.dts");
    Machine::new("raspi3b")
        .with("-serial null -serial stdio")
        .file("-kernel", "Image", &plain())
        .file("-dtb", "raspi3b.dtb", &tree)
        .recorded()
        .run()
        .parks(Verdict::BadInput, &no_psci);
}

/// TF-A on the same board implements PSCI but not CPU_SUSPEND, and there is still no GIC. Scenarios
/// that do not need an interrupt are measured.
#[test]
fn raspi3b_under_tf_a() {
    // PLAT_RPI3_FIP_BASE in plat/rpi/rpi3/include/platform_def.h.
    let stock = stock("rpi3", 0x2_0000, false);
    let firmware = built(&Platform::stock(&stock, 0, GicVersion::V3));
    let image = with_tree(&compiled("raspi3b-tf-a.dts"));
    let (armstub, _) = flash::build(&firmware, Some(&stock), image).expect("an armstub");
    // All four CPUs start at address 0 at EL3, as on the real board.
    let log = Machine::new("raspi3b")
        .with("-serial null -serial stdio")
        .loaded("armstub8.bin", &armstub, 0, "")
        .run()
        .passes(&[
            "Image at 0x11000000, device tree appended to the image",
            "Skipped: no GIC: nothing can wake a suspended CPU",
            "1 passed, 2 skipped, 0 failed",
        ]);
    assert_eq!(log.machine(), (2, Conduit::Smc, 0));
    assert_eq!(
        log.metric(ScenarioId::PSCI_VERSION_PARALLEL, Metric::Call)
            .len(),
        4
    );
}
