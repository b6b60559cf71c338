//! Machines that hang: QEMU itself says where their CPUs are.

use std::time::Duration;

use crate::support::run;
use psci_bench::model::Verdict;
use xtask::board::firmware_kind::Firmware;
use xtask::qemu::run_spec::{Payload, RunSpec};
use xtask::qemu::stream::Ending;

/// `b .`
const LOOP: [u8; 4] = 0x1400_0000u32.to_le_bytes();

#[test]
fn a_loop_under_the_firmware() {
    let spec = RunSpec {
        smp: Some(3),
        payload: Payload::Image(LOOP.to_vec()),
        timeout: Duration::from_secs(8),
        ..RunSpec::default()
    };
    let result = run(&spec);
    assert_eq!(
        (result.verdict, result.ending),
        (Verdict::Incomplete, Ending::TimedOut)
    );
    let said = result.diagnosis.expect("a diagnosis");
    assert!(
        said.contains("no scenario was begun, and no line names a CPU: the firmware printed and"),
        "{said}"
    );
    let [lead, others] = result.positions.as_slice() else {
        panic!("{:?}", result.positions);
    };
    assert_eq!(lead, "CPU 0: EL2 at 0x60000000: image offset 0x0");
    // TF-A has them wait until they are turned on.
    assert!(
        others.starts_with("CPUs 1-2: EL3 at 0x") && others.contains(", in the firmware, "),
        "{others}"
    );
}

#[test]
fn the_payloads_functions_have_names() {
    let spec = RunSpec {
        smp: Some(2),
        firmware: Firmware::Builtin,
        args: Some("iterations=10000".into()),
        timeout: Duration::from_secs(4),
        ..RunSpec::default()
    };
    let result = run(&spec);
    assert_eq!(result.ending, Ending::TimedOut);
    let said = result.diagnosis.expect("a diagnosis");
    assert!(said.contains("the last scenario begun was '"), "{said}");
    // Its SMCs are QEMU's own work: a CPU is never in a firmware.
    let named = |line: &String| line.contains(": image offset 0x") && line.contains(", ");
    let lines = &result.positions;
    assert!(lines.iter().any(named), "{lines:?}");
    assert!(
        lines.iter().all(|line| line.contains("EL2 at 0x")),
        "{lines:?}"
    );
}
