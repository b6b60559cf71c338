//! A board known only from its device tree, tests/data/made-up.dts. The test runs on QEMU's
//! `sbsa-ref` machine with the TF-A platform for that machine. Everything in that tree differs from
//! `virt`: the UART (on a bus with ranges), the GIC, memory at 1 TiB, the MPIDRs of ten CPUs in
//! three clusters that only the cpu-map shows, the location of the PSCI node, and the only idle
//! state, which is a standby state selected by the tree's boot arguments. (CPUs do not return from
//! the firmware's power-down states.)

use boards::{Conduit, GicVersion};
use hardware::board::Mpidr;
use runner::build::firmware::Platform;
use runner::build::flash;
use suite::measure::Metric;
use suite::plan::ScenarioId;

use crate::firmware::{built, stock};
use crate::machine::{Machine, compiled, with_tree};

/// PRELOADED_BL33_BASE, which may be anywhere in memory.
const LOADED_AT: u64 = 0x100_2000_0000;

#[test]
fn by_its_tree_alone() {
    // The FIP is at PLAT_QEMU_FIP_BASE, and BL33 is already in memory.
    let stock = stock("qemu_sbsa", 0x1_2000, true);
    let firmware = built(&Platform::stock(&stock, LOADED_AT, GicVersion::V3));
    let image = with_tree(&compiled("made-up.dts"));
    let (flash, bl33) = flash::build(&firmware, Some(&stock), image).expect("a flash");
    let log = Machine::new("sbsa-ref")
        .with("-cpu cortex-a57 -smp 10 -m 1024 -global pci-device.romfile=")
        .file("-bios", "flash.bin", &flash)
        .loaded("Image", &bl33.expect("BL33"), LOADED_AT, "")
        .run()
        .passes(&[
            "Image at 0x10020000000, device tree appended to the image",
            "A board made up",
            "10 in 3 clusters, by cpu-map",
            "4 passed, 0 skipped, 0 failed",
        ]);
    assert_eq!(log.facts().conduit, Conduit::Smc);
    let clusters = log.clusters();
    assert_eq!(
        [3, 4, 7, 0x101].map(|cpu| clusters[&Mpidr::new(cpu)]),
        [0, 1, 1, 2]
    );
    for (scenario, metric, count) in [
        (ScenarioId::CPU_SUSPEND_PARALLEL, Metric::Wake, 10),
        (ScenarioId::CPU_SUSPEND_SERIAL, Metric::Wake, 10),
        (ScenarioId::CPU_OFF_SERIAL, Metric::TurnOn, 9),
    ] {
        assert_eq!(log.metric(scenario, metric).len(), count, "{scenario:?}");
    }
}
