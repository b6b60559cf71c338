//! Uses the watchdog as a last resort, on a machine that has a watchdog and firmware that never
//! returns from a suspend.

use follow::stream::MachineEnding;
use suite::model::Verdict;

use crate::common::{run_spec, spec};

/// A machine with a single CPU, which is the lead.
const ALONE: &str = "--board qemu-sbsa --smp 1";

/// platforms/qemu-sbsa/board.toml explains why it does not list this power state.
#[test]
fn a_lead_that_does_not_come_back_is_reset() {
    let result = run_spec(&spec(
        ALONE,
        "iterations=2 only=susp_deep_serial deepest=0x1010022",
    ));
    let log = result.text();
    // With -no-reboot, QEMU exits successfully on a reset.
    assert_eq!(
        result.ending,
        MachineEnding::Exited { success: true },
        "{log}"
    );
    assert_eq!(result.exit_code(), 3, "{log}");
    let diagnosis = result.diagnosis.expect("no closing line");
    assert!(
        diagnosis.contains("started was 'Suspend to deepest power level on all cores in sequence'")
            && diagnosis.contains("the machine was turned off or reset"),
        "{diagnosis}\n{log}"
    );
}

/// With --icount, waiting takes no real time, so a machine that parks with its watchdog enabled
/// would be reset immediately.
#[test]
fn a_lead_that_comes_back_turns_the_watchdog_off() {
    let args = "iterations=2 only=cpu_susp_serial core=0x1 end=park";
    let result = run_spec(&spec(&format!("{ALONE} --icount"), args));
    assert_eq!(result.verdict, Verdict::Pass, "{}", result.text());
    assert_eq!(result.ending, MachineEnding::Parked);
}
