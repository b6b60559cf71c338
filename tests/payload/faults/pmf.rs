//! Incorrect or missing timestamps.

use super::*;

#[test]
fn is_not_there() {
    expect_only_caller_times(&spec("pmf-absent"), &["the firmware does not implement it"]);
}

#[test]
fn answers_by_the_older_function_ids_only() {
    expect_all_samples(&spec("pmf-sip-only"), &["Arm SiP call 0xc2000010"]);
}

#[test]
fn knows_no_timestamp() {
    expect_only_caller_times(&spec("pmf-bad-tid"), &["no such timestamp (-22)"]);
}

#[test]
fn leaves_x0_as_it_was() {
    expect_only_caller_times(&spec("pmf-fid-left"), &["X0 unchanged"]);
}

#[test]
fn stale() {
    expect_invalid_stamps(&spec(&at_victim("pmf-stale")), &["stale"]);
}

#[test]
fn out_of_order() {
    expect_invalid_stamps(&spec(&at_victim("pmf-disorder")), &["disorder"]);
}

#[test]
fn from_after_the_return() {
    expect_invalid_stamps(&spec(&at_victim("pmf-future")), &["future"]);
}

#[test]
fn a_counter_that_stopped() {
    expect_invalid_stamps(
        &spec(&at_victim("pmf-counter-stopped")),
        &["counter-stopped"],
    );
}

#[test]
fn fails_on_one_cpu() {
    run(
        &spec(&at_victim("pmf-bad-tid")),
        Fail,
        &["on CPU 1.1: pmf-read"],
    )
    .complete_but(&SERIAL, &[VICTIM])
    .complete_but(&[ScenarioId::CPU_OFF_SERIAL], &[VICTIM]);
}

#[test]
fn a_stale_timestamp_in_psci_version() {
    let words = [
        "CPU 1.1 has too few valid samples: 0 of 3",
        "the first on CPU 1.1: stale: EnterPsci",
    ];
    let seen = run(
        &only("psci_version_parallel", &at_victim("pmf-stale")),
        Fail,
        &words,
    );
    assert!(seen.count_rejected(ScenarioId::PSCI_VERSION_PARALLEL, Reason::Stale, VICTIM) > 0);
}
