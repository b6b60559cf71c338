//! CPU_SUSPEND failures and CPUs that do not return.

use super::*;

#[test]
fn invalid_parameters() {
    expect_suspend_rejected(
        &spec(&at_victim("suspend-invalid-parameters")),
        &["INVALID_PARAMETERS"],
    );
}

/// Nothing is skipped, because the other CPUs support the state.
#[test]
fn not_supported_on_one_cpu() {
    expect_suspend_rejected(
        &spec(&at_victim("suspend-not-supported")),
        &["NOT_SUPPORTED"],
    );
}

#[test]
fn wakes_for_no_reason() {
    expect_suspend_failed(
        &spec(&at_victim("suspend-early")),
        &["the last one failed on CPU 1.1: early-wake"],
    );
}

#[test]
fn never_wakes() {
    expect_victim_lost_in_suspend(
        &spec(&at_victim("suspend-never")),
        &["timed out waiting for return from the call"],
    );
}

#[test]
fn wakes_late() {
    expect_all_samples(
        &by_the_hosts_clock(&at_victim("suspend-late,count=1,skip=4,arg=1000000")),
        &[],
    );
}

/// A CPU that returns after the time limit has already been declared lost, and powers off.
#[test]
fn wakes_too_late() {
    expect_victim_lost_in_suspend(
        &by_the_hosts_clock(&at_victim("suspend-late,count=1,skip=4,arg=15000000")),
        &["timed out waiting for return from the call"],
    )
    .lacks(&["Warning"]);
}

#[test]
fn another_context_id() {
    expect_suspend_failed(
        &spec(&at_victim("suspend-wrong-context,arg=1")),
        &["the last one failed on CPU 1.1: wrong-context"],
    );
}

#[test]
fn comes_back_to_nowhere() {
    expect_victim_lost_in_suspend(
        &spec(&at_victim("suspend-bad-return,arg=1")),
        &[
            "took an exception before return from the call",
            "Unhandled exception on CPU 0x5",
            "instruction abort",
        ],
    );
}

/// The CPU resumes at an address outside memory, without exception vectors. Such a CPU blocks the
/// instruction clock for all other CPUs.
#[test]
fn is_resumed_nowhere() {
    expect_victim_lost_in_suspend(
        &by_the_hosts_clock(&at_victim("suspend-bad-return")),
        &["timed out waiting for return from the call"],
    );
}

#[test]
fn not_supported() {
    let words = [
        "the firmware does not implement function 0xc4000001",
        "2 passed, 4 skipped, 0 failed",
    ];
    run(&spec("suspend-not-supported"), Pass, &words)
        .complete_but(&[ScenarioId::PSCI_VERSION_PARALLEL], &[]);
}

/// If suspends are occasionally abandoned during the measurement, the attempts are counted and
/// repeated but not treated as failures.
#[test]
fn given_up_twice() {
    // The fault behaves like TF-A 2.13 and later, with fresh EXIT timestamps.
    let spec = spec(&at_victim("suspend-abandoned-2.13,skip=4,count=2"));
    let seen = run(&spec, Pass, &[]).complete_but(&ALL, &[]);
    let counted = seen.count_rejected(ScenarioId::SUSPEND_DEEP_PARALLEL, Reason::Abandoned, VICTIM);
    assert!((1..=2).contains(&counted), "{counted}\n{}", seen.plain);
}

/// Reaching a shallower state than requested causes a warning rather than a failure, and the
/// samples are used.
#[test]
fn reaches_less_than_was_asked_for() {
    let words = ["Warning: CPU 1.1 should have reached 0x01010022, but reached 0x00010002."];
    let seen = run(&spec(&at_victim("suspend-shallow")), Pass, &words).complete_but(&ALL, &[]);
    let log = seen.log();
    let reached = |scenario| {
        let cells = log.cells(scenario);
        cells
            .filter_map(|(cpu, cell)| Some((cpu, cell.reached?.state)))
            .collect::<BTreeMap<_, _>>()
    };
    let deep = reached(ScenarioId::SUSPEND_DEEP_SERIAL);
    assert_eq!(deep[&VICTIM], Some(0x1_0002));
    assert_eq!(deep[&Mpidr::new(6)], Some(0x101_0022));
    // If only the core level was requested, there is no warning.
    let core = reached(ScenarioId::CPU_SUSPEND_PARALLEL);
    assert!(core.values().all(|state| *state == Some(0x1_0002)));
}

#[test]
fn a_stray_sgi_at_each_call() {
    run(
        &spec(&at_victim("spurious-sgi")),
        Fail,
        &["on CPU 1.1: abandoned"],
    )
    .complete_but(&UNTOUCHED, &[]);
}

/// The CPU goes through the whole power-down and warm boot, but does not lose its power.
#[test]
fn a_suspend_that_keeps_the_power_is_named() {
    let words = [
        "Warning: CPU 1.1 kept its power in 0x02010222",
        "Warning: CPU 1.1 kept its power in 0x00010002",
    ];
    let kept = expect_all_samples(&spec(&at_victim("suspend-keeps-power")), &words);
    kept.lacks(&["CPU 1.0 kept"]);
    let lost = common::expect_verdict(&common::spec("--icount", "iterations=1 warmup=0"), Pass);
    lost.lacks(&["kept its power"]);
}
