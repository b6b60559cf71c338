//! CPU_ON, and the CPU's way to the payload.

use psci_bench::model::Verdict;

use super::{ALL, VICTIM, loses_victim, on_victim, run, spec};

#[test]
fn internal_failure() {
    loses_victim(
        &on_victim("cpu-on-internal-failure"),
        "CPU_ON: firmware returned INTERNAL_FAILURE",
    );
}

#[test]
fn denied() {
    loses_victim(
        &on_victim("cpu-on-denied"),
        "CPU_ON: firmware returned DENIED",
    );
}

#[test]
fn invalid_address() {
    loses_victim(
        &on_victim("cpu-on-invalid-address"),
        "CPU_ON: firmware returned INVALID_ADDRESS",
    );
}

#[test]
fn already_on_for_ever() {
    loses_victim(
        &on_victim("cpu-on-already-on"),
        "CPU_ON: firmware returned ALREADY_ON",
    );
}

#[test]
fn on_pending_for_ever() {
    loses_victim(
        &on_victim("cpu-on-pending"),
        "CPU_ON: firmware returned ON_PENDING",
    );
}

/// An earlier CPU_OFF may take its time.
#[test]
fn on_pending_for_a_while() {
    let fault = format!("{},count=20", on_victim("cpu-on-pending"));
    run(&spec(&fault), Verdict::Pass).complete_but(&ALL, &[]);
}

#[test]
fn never_arrives() {
    loses_victim(
        &on_victim("cpu-on-lost"),
        "timed out waiting for arrival after CPU_ON",
    );
}

#[test]
fn nobody_arrives() {
    let seen = run(&spec("cpu-on-lost"), Verdict::Fail);
    let others: Vec<u64> = (1..super::CPUS).collect();
    seen.says(&["7 CPUs lost"]).complete_but(&ALL, &others);
}

/// Late, but within the time that a CPU has.
#[test]
fn arrives_late() {
    let fault = format!("{},skip=1,count=1,arg=1000000", on_victim("cpu-on-late"));
    let spec = super::by_the_hosts_clock(&fault);
    run(&spec, Verdict::Pass).complete_but(&ALL, &[]);
}

/// Later than that: given up, and sent away when it comes, so that it keeps
/// no cluster up.
#[test]
fn arrives_too_late() {
    let fault = format!("{},count=1,arg=12000000", on_victim("cpu-on-late"));
    let spec = super::by_the_hosts_clock(&fault);
    let seen = super::loses_victim_in(&spec, "timed out waiting for arrival after CPU_ON");
    // In the last but one scenario its cluster mates went down all the same.
    assert!(!seen.plain.contains("Warning"), "{}", seen.log().text);
}

#[test]
fn another_context_id() {
    loses_victim(
        &on_victim("cpu-on-wrong-context"),
        "entered with a wrong context ID before arrival after CPU_ON",
    );
}

/// A fault of one CPU's first CPU_ON alone costs that CPU, not the next ones.
#[test]
fn an_error_that_comes_once() {
    let fault = format!("{},skip=4,count=1", on_victim("cpu-on-internal-failure"));
    let seen = run(&spec(&fault), Verdict::Fail);
    seen.says(&["CPU 1.1 was lost: CPU_ON: firmware returned INTERNAL_FAILURE"])
        .complete_but(&ALL[1..], &[VICTIM]);
}
