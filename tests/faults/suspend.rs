//! CPU_SUSPEND: refused, given up, ended too soon, too late, never, or by
//! another way than agreed.

use psci_bench::model::Verdict;

use super::{
    ALL, CPU_OFF_SERIAL, CPU_SUSPEND_PARALLEL, CPU_SUSPEND_SERIAL, PSCI_VERSION_PARALLEL,
    SUSPEND_DEEP_PARALLEL, SUSPEND_DEEP_SERIAL, Seen, VICTIM, loses_victim, on_victim, run, spec,
};

const SERIAL: [u32; 2] = [SUSPEND_DEEP_SERIAL, CPU_SUSPEND_SERIAL];
const UNTOUCHED: [u32; 2] = [CPU_OFF_SERIAL, PSCI_VERSION_PARALLEL];

/// A fault of each CPU_SUSPEND of the victim: the parallel scenarios have no
/// round that counts and say why, the serial ones have all other CPUs, the
/// rest is complete.
fn spoils_each_suspend(fault: &str, parallel: &str) -> Seen {
    let seen = run(&spec(fault), Verdict::Fail).says(&[
        parallel,
        "2 passed, 0 skipped, 4 failed",
        "0 CPUs lost",
    ]);
    seen.complete_but(&SERIAL, &[VICTIM])
        .complete_but(&UNTOUCHED, &[])
}

fn is_refused(name: &str, error: &str) {
    spoils_each_suspend(
        &on_victim(name),
        &format!("refuses power_state 0x02010222 on CPU 1.1: {error}"),
    );
}

#[test]
fn invalid_parameters() {
    is_refused("suspend-invalid-parameters", "INVALID_PARAMETERS");
}

#[test]
fn denied() {
    is_refused("suspend-denied", "DENIED");
}

#[test]
fn internal_failure() {
    is_refused("suspend-internal-failure", "INTERNAL_FAILURE");
}

/// On one CPU: no skip, since the others have it.
#[test]
fn not_supported_on_one_cpu() {
    is_refused("suspend-not-supported", "NOT_SUPPORTED");
}

/// On all: nothing to measure, and said so.
#[test]
fn not_supported() {
    let seen = run(&spec("suspend-not-supported"), Verdict::Pass);
    seen.says(&[
        "the firmware does not implement function 0xc4000001",
        "2 passed, 4 skipped, 0 failed",
    ])
    .complete_but(&[PSCI_VERSION_PARALLEL], &[]);
}

#[test]
fn given_up_as_before_2_13() {
    spoils_each_suspend(
        &on_victim("suspend-abandoned-2.12"),
        "the last one failed on CPU 1.1: abandoned",
    );
}

#[test]
fn given_up_as_since_2_13() {
    spoils_each_suspend(
        &on_victim("suspend-abandoned-2.13"),
        "the last one failed on CPU 1.1: abandoned",
    );
}

/// Now and then, while it is measured: counted, made up for, and no failure.
#[test]
fn given_up_twice() {
    for version in ["2.12", "2.13"] {
        let fault = format!(
            "{},skip=6,count=2",
            on_victim(&format!("suspend-abandoned-{version}"))
        );
        let seen = run(&spec(&fault), Verdict::Pass).complete_but(&ALL, &[]);
        let counted = seen.rejected(SUSPEND_DEEP_PARALLEL, "abandoned", VICTIM);
        assert!((1..=2).contains(&counted), "{counted}\n{}", seen.log().text);
    }
}

#[test]
fn wakes_for_no_reason() {
    spoils_each_suspend(
        &on_victim("suspend-early"),
        "the last one failed on CPU 1.1: early-wake",
    );
}

#[test]
fn never_wakes() {
    loses_victim(
        &on_victim("suspend-never"),
        "timed out waiting for return from the call",
    );
}

/// Once, while it is measured.
#[test]
fn never_wakes_once() {
    let fault = format!("{},skip=3,count=1", on_victim("suspend-never"));
    loses_victim(&fault, "timed out waiting for return from the call");
}

/// Within the time that it has: its wake-up latency is what it is.
#[test]
fn wakes_late() {
    let fault = format!("{},count=1,skip=4,arg=1000000", on_victim("suspend-late"));
    let spec = super::by_the_hosts_clock(&fault);
    run(&spec, Verdict::Pass).complete_but(&ALL, &[]);
}

/// Later than that: lost, and sent away when it comes.
#[test]
fn wakes_too_late() {
    let fault = format!("{},count=1,skip=4,arg=15000000", on_victim("suspend-late"));
    let spec = super::by_the_hosts_clock(&fault);
    let seen = super::loses_victim_in(&spec, "timed out waiting for return from the call");
    assert!(!seen.plain.contains("Warning"), "{}", seen.log().text);
}

#[test]
fn comes_back_with_another_context_id() {
    for arg in 0..4 {
        let fault = format!("{},arg={arg}", on_victim("suspend-wrong-context"));
        spoils_each_suspend(&fault, "the last one failed on CPU 1.1: wrong-context");
    }
}

/// An exception on a CPU that is not the lead.
#[test]
fn comes_back_to_nowhere() {
    let fault = format!("{},arg=1", on_victim("suspend-bad-return"));
    let seen = loses_victim(&fault, "took an exception before return from the call");
    seen.says(&["Unhandled exception on CPU 0x5", "instruction abort"]);
}

/// Resumed where nothing is, without vectors: nobody hears of it again. Not
/// under the instruction clock, which such a CPU takes from all others.
#[test]
fn is_resumed_nowhere() {
    let spec = super::by_the_hosts_clock(&on_victim("suspend-bad-return"));
    super::loses_victim_in(&spec, "timed out waiting for return from the call");
}

/// No failure: what was measured was measured. But a warning.
#[test]
fn reaches_less_than_was_asked_for() {
    let seen = run(&spec(&on_victim("suspend-shallow")), Verdict::Pass)
        .says(&["Warning: CPU 1.1 should have reached 0x01010022, and reached 0x00010002."]);
    let seen = seen.complete_but(&ALL, &[]);
    let reached = seen.log().by_cpu("reached", SUSPEND_DEEP_SERIAL, "state");
    assert_eq!(reached.get(&VICTIM), Some(&0x1_0002));
    assert_eq!(reached.get(&(VICTIM + 1)), Some(&0x101_0022));
    // Where the core alone was asked for, nothing is amiss.
    let reached = seen.log().by_cpu("reached", CPU_SUSPEND_PARALLEL, "state");
    assert!(reached.values().all(|state| *state == 0x1_0002));
}

#[test]
fn a_stray_sgi_at_each_call() {
    let seen = run(&spec(&on_victim("spurious-sgi")), Verdict::Fail);
    seen.says(&["on CPU 1.1: abandoned"])
        .complete_but(&UNTOUCHED, &[]);
}
