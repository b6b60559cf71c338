//! Faults that affect the lead.

use super::*;

#[test]
fn never_wakes_in_a_parallel_round() {
    expect_lead_lost(
        &only("susp_deep_parallel", "suspend-never,cpu=0x0,skip=3,count=1"),
        &[
            "> Executing 'Suspend to deepest power level on all cores in parallel'",
            "ERROR: the lead, CPU 0x0, was lost: timed out waiting for return from the call (seen by",
            "psci-bench: INCOMPLETE: the lead, CPU 0x0, was lost",
        ],
    );
}

/// The fault affects the CPU_ON call for the second CPU. By then, the first CPU is already on.
#[test]
fn never_returns_from_cpu_on() {
    expect_lead_lost(
        &only("psci_version_parallel", "smc-hang,cpu=0x0,skip=1,arg=3"),
        &["the lead, CPU 0x0, was lost: timed out waiting for CPU_ON (seen by CPU 0x1)"],
    );
}

#[test]
fn takes_an_exception() {
    expect_lead_lost(
        &only("susp_deep_parallel", "suspend-bad-return,cpu=0x0,arg=1"),
        &[
            "Unhandled exception on CPU 0x0",
            "INCOMPLETE: exception on the lead CPU",
        ],
    );
}

/// A wrong context ID on the lead is counted like one on any other CPU and is not fatal.
#[test]
fn comes_back_with_another_context_id() {
    expect_pass(
        &only(
            "susp_deep_parallel",
            "suspend-wrong-context,cpu=0x0,skip=3,count=1,arg=3",
        ),
        &["wrong-context"],
    );
}

/// The lead does not return from its own call in the round.
#[test]
fn names_a_cpu_that_did_not_arrive_before_its_own_part() {
    let mut image = common::image(2, "only=psci_version_parallel");
    // An undefined instruction.
    image[common::offset_of("timed_smc_begin")..][..4].fill(0);
    let spec = RunSpec {
        payload: Payload::Image(image),
        ..common::spec("--smp 2 --icount --fault cpu-on-lost", "")
    };
    let words = [
        "CPU 0.1 was lost: CPU_ON returned SUCCESS, but the CPU did not arrive",
        "INCOMPLETE: exception on the lead CPU",
    ];
    run(&spec, Incomplete, &words);
}
