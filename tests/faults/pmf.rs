//! PMF: not there, elsewhere, or telling what can not be.

use psci_bench::model::Verdict;

use super::{
    ALL, CPU_OFF_SERIAL, CPU_SUSPEND_SERIAL, PSCI_VERSION_PARALLEL, SUSPEND_DEEP_SERIAL, Seen,
    VICTIM, on_victim, run, spec,
};

/// Without timestamps the caller's side is measured, and why there are none
/// is said.
fn leaves_the_callers_side(fault: &str, why: &str) -> Seen {
    let seen = run(&spec(fault), Verdict::Pass);
    let said = format!("no PMF timestamps: {why}");
    let seen = seen.says(&[&said]);
    assert!(!seen.plain.contains("<RT_INSTR:"), "{}", seen.log().text);
    // The lead can not be turned on by itself.
    seen.complete_but(&[1, 2, 3, 4, 6], &[])
}

#[test]
fn is_not_there() {
    leaves_the_callers_side("pmf-absent", "the firmware does not implement it");
}

#[test]
fn answers_by_the_older_function_ids_only() {
    let seen = run(&spec("pmf-sip-only"), Verdict::Pass);
    seen.says(&["Arm SiP call 0xc2000010"])
        .complete_but(&ALL, &[]);
}

#[test]
fn knows_no_timestamp() {
    leaves_the_callers_side("pmf-bad-tid", "no such timestamp (-22)");
}

#[test]
fn leaves_x0_as_it_was() {
    leaves_the_callers_side("pmf-fid-left", "X0 unchanged");
}

/// Fails on one CPU only: no sample of it has timestamps.
#[test]
fn fails_on_one_cpu() {
    let seen = run(&spec(&on_victim("pmf-bad-tid")), Verdict::Fail);
    seen.says(&["on CPU 1.1: pmf-read"])
        .complete_but(&[SUSPEND_DEEP_SERIAL, CPU_SUSPEND_SERIAL], &[VICTIM])
        .complete_but(&[CPU_OFF_SERIAL], &[VICTIM]);
}

/// A lie about the victim's timestamps, by the name under which its samples
/// are not counted. All others' are.
fn is_found_out(name: &str, reason: &str) {
    let seen = run(&spec(&on_victim(name)), Verdict::Fail);
    let said = format!("on CPU 1.1: {reason}");
    let seen = seen
        .says(&[&said])
        .complete_but(&[SUSPEND_DEEP_SERIAL, CPU_SUSPEND_SERIAL], &[VICTIM]);
    let rows = seen.log().by_cpu("row", SUSPEND_DEEP_SERIAL, "valid");
    assert_eq!(rows.get(&VICTIM), Some(&0), "{}", seen.log().text);
}

#[test]
fn stale() {
    is_found_out("pmf-stale", "stale");
}

#[test]
fn all_zero() {
    is_found_out("pmf-zero", "stale");
}

#[test]
fn out_of_order() {
    is_found_out("pmf-disorder", "disorder");
}

#[test]
fn from_before_the_call() {
    is_found_out("pmf-before-call", "stale");
}

#[test]
fn from_after_the_return() {
    is_found_out("pmf-future", "future");
}

#[test]
fn a_counter_that_stopped() {
    is_found_out("pmf-counter-stopped", "counter-stopped");
}

/// Good until something breaks: what was measured stands.
#[test]
fn fails_later() {
    let fault = format!("{},skip=100", on_victim("pmf-fails-later"));
    let seen = run(&spec(&fault), Verdict::Fail);
    seen.says(&["pmf-read"]).complete_but(&[1, 2], &[]);
}

#[test]
fn a_stale_timestamp_in_psci_version() {
    let mut spec = spec(&on_victim("pmf-stale"));
    spec.args = Some("iterations=3 warmup=1 only=psci_version_parallel".into());
    let seen = run(&spec, Verdict::Fail).says(&[
        "CPU 1.1 has 0 valid samples of 3",
        "the first on CPU 1.1: stale: EnterPsci",
    ]);
    let rejected = seen.rejected(PSCI_VERSION_PARALLEL, "stale", VICTIM);
    assert!(rejected > 0, "{}", seen.log().text);
}
