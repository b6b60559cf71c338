//! What QEMU hands over, of each machine that can write it to a file.

use std::fs;
use std::process::Command;

use xtask::setup::{self, Need};

use crate::verdict::USABLE;
use crate::{judge, workspace};

/// Machine, further arguments, class.
const MACHINES: [(&str, &[&str], &str); 11] = [
    ("virt,gic-version=2", &["-smp", "1"], USABLE),
    ("virt,gic-version=2", &["-smp", "8"], USABLE),
    ("virt,gic-version=3", &["-smp", "1"], USABLE),
    ("virt,gic-version=3", &["-smp", "8"], USABLE),
    ("virt,gic-version=3", &["-smp", "64"], USABLE),
    ("virt,gic-version=3", &["-smp", "512"], USABLE),
    (
        "virt,gic-version=3",
        &["-smp", "8,sockets=2,clusters=2,cores=1,threads=2"],
        USABLE,
    ),
    (
        "virt,gic-version=3,virtualization=on",
        &["-smp", "2"],
        USABLE,
    ),
    // QEMU leaves PSCI to the firmware that it supposes there.
    (
        "virt,gic-version=3,secure=on",
        &["-smp", "2"],
        "firmware: no PSCI",
    ),
    // Its tree is for firmware alone: CPUs and memory.
    (
        "sbsa-ref",
        &["-global", "VGA.romfile="],
        "firmware: no PSCI",
    ),
    ("xlnx-versal-virt", &["-kernel", "KERNEL"], USABLE),
];

#[test]
fn what_qemu_hands_over() {
    setup::ensure(&workspace(), &[Need::Qemu]).expect("QEMU");
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (tree, kernel) = (dir.path().join("tree"), dir.path().join("kernel"));
    fs::write(&kernel, [0; 4096]).expect("written");
    for (machine, arguments, expected) in MACHINES {
        // Not every machine takes a CPU of one's choice.
        let cpu: &[&str] = if machine.starts_with("virt") {
            &["-cpu", "max"]
        } else {
            &[]
        };
        let output = Command::new("timeout")
            .args([
                "20",
                "qemu-system-aarch64",
                "-nodefaults",
                "-display",
                "none",
            ])
            .args(cpu)
            .args(["-M", &format!("{machine},dumpdtb={}", tree.display())])
            .args(arguments.iter().map(|word| match *word {
                "KERNEL" => kernel.as_os_str(),
                word => word.as_ref(),
            }))
            .output()
            .expect("QEMU can be started");
        let name = format!("{machine} {}", arguments.join(" "));
        let said = String::from_utf8_lossy(&output.stderr);
        let blob = fs::read(&tree).unwrap_or_else(|error| panic!("{name}: {error}: {said}"));
        fs::remove_file(&tree).expect("removed");
        assert_eq!(judge(&name, &blob), Ok(expected.to_owned()), "{name}");
    }
}
