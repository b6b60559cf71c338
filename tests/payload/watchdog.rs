//! The watchdog of last resort: on a machine that has one, under a firmware
//! that no CPU comes back from.

use psci_bench::model::Verdict;
use xtask::qemu::stream::Ending;

use crate::common::{run, spec};

/// The lead, alone.
const ALONE: &str = "--board qemu-sbsa --smp 1";

/// The board file says of this state why it is not in it.
#[test]
fn a_lead_that_does_not_come_back_is_reset() {
    let result = run(&spec(
        ALONE,
        "iterations=2 only=susp_deep_serial deepest=0x1010022",
    ));
    let log = result.text();
    // By -no-reboot a reset is the end, and no failure.
    assert_eq!(result.ending, Ending::Exited { success: true }, "{log}");
    assert_eq!(result.exit_code(), 3, "{log}");
    let diagnosis = result.diagnosis.expect("no closing line");
    assert!(
        diagnosis.contains("begun was 'Suspend to deepest power level on all cores in sequence'")
            && diagnosis.contains("the machine was turned off or reset"),
        "{diagnosis}\n{log}"
    );
}

/// Under the instruction clock no wait takes time: a machine that parks with its
/// watchdog on is reset at once.
#[test]
fn a_lead_that_comes_back_turns_it_off() {
    let args = "iterations=2 only=cpu_susp_serial core=0x1 end=park";
    let result = run(&spec(&format!("{ALONE} --icount"), args));
    assert_eq!(result.verdict, Verdict::Pass, "{}", result.text());
    assert_eq!(result.ending, Ending::Parked);
}
