//! CPU_ON failures and CPUs that do not arrive.

use super::*;

#[test]
fn denied() {
    expect_victim_lost(
        &spec(&at_victim("cpu-on-denied")),
        &["CPU_ON: firmware returned DENIED"],
    );
}

#[test]
fn already_on_for_ever() {
    expect_victim_lost(
        &spec(&at_victim("cpu-on-already-on")),
        &["CPU_ON: firmware returned ALREADY_ON"],
    );
}

#[test]
fn internal_failure_for_ever() {
    expect_victim_lost(
        &spec(&at_victim("cpu-on-internal-failure")),
        &["CPU_ON: firmware returned INTERNAL_FAILURE"],
    );
}

#[test]
fn on_pending_for_ever() {
    expect_victim_lost(
        &spec(&at_victim("cpu-on-pending")),
        &["CPU_ON: firmware returned ON_PENDING"],
    );
}

/// An earlier CPU_OFF may take some time to complete.
#[test]
fn on_pending_for_a_while() {
    expect_all_samples(&spec(&at_victim("cpu-on-pending,count=20")), &[]);
}

#[test]
fn never_arrives() {
    expect_victim_lost(
        &spec(&at_victim("cpu-on-lost")),
        &["CPU_ON returned SUCCESS, but the CPU did not arrive"],
    );
}

#[test]
fn no_cpu_arrives() {
    expect_all_but_lead_lost(&spec("cpu-on-lost"), &[]);
}

/// The CPU arrives late, but within the time limit.
#[test]
fn arrives_late() {
    expect_all_samples(
        &by_the_hosts_clock(&at_victim("cpu-on-late,skip=1,count=1,arg=1000000")),
        &[],
    );
}

/// If the CPU arrives after the time limit, it powers off again and does not keep its cluster
/// powered on.
#[test]
fn arrives_too_late() {
    expect_victim_lost(
        &by_the_hosts_clock(&at_victim("cpu-on-late,count=1,arg=12000000")),
        &["CPU_ON returned SUCCESS, but the CPU did not arrive"],
    )
    .lacks(&["Warning"]);
}

#[test]
fn another_context_id() {
    expect_victim_lost(
        &spec(&at_victim("cpu-on-wrong-context")),
        &["entered with a wrong context ID before its first report"],
    );
}

/// The first CPU has 10 s to arrive, and each later CPU has 1 s. The total is therefore 16 s
/// instead of 70 s.
#[test]
fn none_arrives_and_the_first_costs_the_most() {
    let spec = RunSpec {
        icount: false,
        timeout: Duration::from_secs(50),
        ..only("cpu_susp_serial", "cpu-on-lost")
    };
    run(&spec, Fail, &["7 CPUs lost"]);
}
