//! The EFI application, started by EDK2 and U-Boot.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::sync::Mutex;

use boards::Conduit;
use efi::application::build;
use efi::boot_media::build_image;
use efi::loaders::{APPLICATION, start_command};
use efi::signer::Signer;
use runner::qemu::boot::u_boot::{ENVIRONMENT, environment};
use runner::setup::{self, AAVMF, Need, U_BOOT};
use suite::measure::Metric;
use suite::plan::ScenarioId;

use crate::common::workspace;
use crate::firmware::{built, overlay, with_bl33};
use crate::machine::{Machine, plain};

/// Boot arguments with idle states that QEMU's PSCI accepts.
pub const STATES: &str = "iterations=2 warmup=0 core=0x1 deepest=0x2";
pub const ALL: &str = "6 passed, 0 skipped, 0 failed";

/// Returns the application, without a device tree and with these built-in boot arguments.
pub fn application(args: Option<&str>) -> Vec<u8> {
    // Cargo keeps only one build, so alternating between two builds would repeat both each time.
    static BUILT: Mutex<BTreeMap<Option<String>, Vec<u8>>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT
        .lock()
        .expect("no test panicked while holding the lock");
    let application = built
        .entry(args.map(str::to_owned))
        .or_insert_with(|| build(&workspace(), &plain(), args).expect("the application"));
    application.clone()
}

/// Returns a machine with these properties that boots EDK2.
pub fn edk2(properties: &str) -> Machine {
    setup::ensure(&workspace(), &[Need::Aavmf]).expect("EDK2");
    Machine::new(&format!("virt,{properties}"))
        .with("-cpu cortex-a57 -smp 4 -m 1024")
        .option("-bios", AAVMF)
}

/// All the ways in which EDK2 can describe a machine, each with a GIC version and an exception
/// level.
const MACHINES: [(&str, u32, &str, u8, Conduit); 6] = [
    ("off", 2, "on", 2, Conduit::Smc),
    ("off", 3, "on", 2, Conduit::Smc),
    ("off", 3, "off", 1, Conduit::Hvc),
    ("on", 2, "on", 2, Conduit::Smc),
    ("on", 3, "on", 2, Conduit::Smc),
    ("on", 3, "off", 1, Conduit::Hvc),
];

#[test]
fn edk2_starts_it_as_a_kernel_and_from_a_stick() {
    // EDK2 finds the application in the image written by `cargo xtask stick`.
    let stick = build_image(&workspace(), &application(Some(STATES))).expect("an image");
    let kernel = application(None);
    // The kernel and the stick are each tested with every description, GIC version and exception
    // level.
    for (at, (acpi, gic, el2, el, conduit)) in MACHINES.into_iter().enumerate() {
        let bare = edk2(&format!(
            "acpi={acpi},gic-version={gic},virtualization={el2}"
        ));
        let source = match acpi {
            "on" => "with the device tree built from ACPI tables at ",
            _ => "with EFI's device tree at ",
        };
        let machine = if at % 2 == 0 {
            bare.file("-kernel", "BOOTAA64.EFI", &kernel)
                .option("-append", STATES)
        } else {
            bare.drive("stick", &stick, "format=raw,if=virtio")
        };
        let log = machine.run().passes(&[source, ", EFI application", ALL]);
        assert_eq!(log.machine(), (el, conduit, gic));
    }
}

/// Returns a machine that boots U-Boot under TF-A with PMF. U-Boot's environment starts the
/// application with these boot arguments, because keys typed before U-Boot waits for them can be
/// lost.
pub fn under_tf_a(virtualization: &str, application: &[u8], args: &str) -> Machine {
    let flash = with_bl33(&built(&overlay()), u_boot());
    let environment = environment(&start_command(application.len()), Some(args));
    crate::firmware::machine(virtualization, &flash)
        .loaded("BOOTAA64.EFI", application, APPLICATION, "")
        .loaded("environment", &environment, ENVIRONMENT, "")
}

#[test]
fn u_boot_starts_it_under_tf_a() {
    let application = application(None);
    for (virtualization, el) in [("on", 2), ("off", 1)] {
        let states = "iterations=2 warmup=0 core=0x10002 deepest=0x2010222";
        let log = under_tf_a(virtualization, &application, states)
            .run()
            .passes(&["U-Boot", "EFI's device tree at ", ALL]);
        assert_eq!(log.machine(), (el, Conduit::Smc, 3));
        assert_eq!(
            log.metric(ScenarioId::CPU_SUSPEND_PARALLEL, Metric::Wake)
                .len(),
            4
        );
        assert_eq!(
            log.metric(ScenarioId::SUSPEND_DEEP_SERIAL, Metric::CacheFlush)
                .len(),
            4
        );
    }
}

/// A shell script starts the application three times. If the application measures nothing, control
/// returns to EFI.
#[test]
fn the_shell_comes_back_from_bad_arguments() {
    let script = format!(
        "fs0:\r\napp.efi iteratons=2\r\necho The shell is back\r\n\
         app.efi only=nothing\r\napp.efi {STATES}\r\n"
    );
    edk2("acpi=off,gic-version=3")
        .stick(&[
            ("app.efi", &application(None)),
            ("startup.nsh", script.as_bytes()),
        ])
        .run()
        .passes(&[
            "psci-bench: INCOMPLETE: bad input: EFI's device tree at",
            "bootargs word 1 \"iteratons=2\": unknown key",
            "Nothing was measured. Returning to EFI.",
            "The shell is back",
            "bootargs word 1 \"only=nothing\"",
            ALL,
        ]);
}

/// Returns EDK2 with the Debian example keys and Secure Boot, which [`AAVMF`] does not support on
/// Debian 13.
fn secure(application: &[u8]) -> Machine {
    const CODE: &str = "/usr/share/AAVMF/AAVMF_CODE.snakeoil.fd";
    const VARIABLES: &str = "/usr/share/AAVMF/AAVMF_VARS.snakeoil.fd";
    setup::ensure(&workspace(), &[Need::Aavmf]).expect("EDK2");
    let variables = fs::read(VARIABLES).expect("the keys");
    Machine::new("virt,acpi=off,gic-version=3 -cpu cortex-a57 -smp 4 -m 1024")
        .with(&format!(
            "-drive if=pflash,format=raw,readonly=on,file={CODE}"
        ))
        .drive("variables", &variables, "if=pflash,format=raw")
        .stick(&[("EFI/BOOT/BOOTAA64.EFI", application)])
}

#[test]
fn secure_boot_starts_the_signed_application_alone() {
    const EXAMPLE: &str = "/usr/share/qemu-efi-aarch64/PkKek-1-snakeoil";
    let dir = tempfile::tempdir().expect("a folder");
    let key = dir.path().join("key.pem");
    let certificate = format!("{EXAMPLE}.pem");
    setup::ensure(&workspace(), &[Need::Aavmf, Need::Openssl]).expect("keys and openssl");
    let status = Command::new("openssl")
        .args(["rsa", "-passin", "pass:snakeoil", "-in"])
        .arg(format!("{EXAMPLE}.key"))
        .arg("-out")
        .arg(&key)
        .status()
        .expect("openssl runs");
    assert!(status.success());
    let unsigned = application(Some(STATES));
    let denied = "\"UEFI Misc Device\" from PciRoot(0x0)/Pci(0x1,0x0): Access Denied";
    secure(&unsigned).run_until(Some(denied)).stops();
    let signer = Signer::new(&key, certificate.as_ref()).expect("a key");
    let signed = signer.sign(&workspace(), &unsigned).expect("a signature");
    secure(&signed).run().passes(&[ALL]);
}

/// Returns U-Boot, as packaged by Debian.
fn u_boot() -> Vec<u8> {
    setup::ensure(&workspace(), &[Need::UBoot]).expect("U-Boot");
    fs::read(U_BOOT).expect("U-Boot")
}
