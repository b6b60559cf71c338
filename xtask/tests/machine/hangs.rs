//! When a machine hangs, QEMU reports where its CPUs are.

use std::time::Duration;

use follow::stream::MachineEnding;
use runner::build::firmware_kind::FirmwareKind;
use runner::qemu::run_spec::RunSpec;

use crate::support::PROGRAM;
use crate::support::run;
use crate::support::scratch::Scratch;

/// `b .`
const LOOP: [u8; 4] = 0x1400_0000u32.to_le_bytes();

#[test]
fn a_loop_under_the_firmware() {
    let scratch = Scratch::new(PROGRAM);
    scratch.write("image", &LOOP);
    let (code, stderr) = scratch.outcome("qemu --smp 3 --timeout 8 --image image");
    assert_eq!(code, 3, "{stderr}");
    // The other CPUs wait in TF-A until they are powered on.
    for part in [
        "no closing line within 8 s; no scenario was started: the firmware",
        "xtask: CPU 0: EL2 at 0x60000000: image offset 0x0\n",
        "xtask: CPUs 1-2: EL3 at 0x",
        ", in the firmware, ",
    ] {
        assert!(stderr.contains(part), "{part:?}: {stderr}");
    }
}

#[test]
fn the_payloads_functions_have_names() {
    let spec = RunSpec {
        smp: Some(2),
        firmware: FirmwareKind::Builtin,
        args: Some("iterations=10000".into()),
        timeout: Duration::from_secs(4),
        ..RunSpec::default()
    };
    let result = run(&spec);
    assert_eq!(result.ending, MachineEnding::TimedOut);
    let diagnosis = result.diagnosis.expect("a diagnosis");
    assert!(
        diagnosis.contains("the last scenario started was '"),
        "{diagnosis}"
    );
    // QEMU itself handles SMCs, so no CPU is ever in firmware.
    let named = |line: &String| line.contains(": image offset 0x") && line.contains(", ");
    let lines = &result.positions;
    assert!(lines.iter().any(named), "{lines:?}");
    assert!(
        lines.iter().all(|line| line.contains("EL2 at 0x")),
        "{lines:?}"
    );
}
