//! CPU_OFF and AFFINITY_INFO failures.

use boards::device_tree::{self, Choices};
use boards::{Conduit, GicVersion, StateFormat};
use runner::build::payload::TreeSource;

use super::*;

#[test]
fn denied() {
    expect_victim_lost(
        &spec(&at_victim("cpu-off-denied")),
        &["CPU_OFF returned DENIED"],
    );
}

#[test]
fn comes_back_with_success() {
    expect_victim_lost(
        &spec(&at_victim("cpu-off-returns-success")),
        &["CPU_OFF returned SUCCESS"],
    );
}

#[test]
fn affinity_info_never_says_off() {
    expect_victim_lost(
        &spec(&at_victim("affinity-never-off")),
        &["timed out waiting for AFFINITY_INFO to return OFF"],
    );
}

#[test]
fn affinity_info_fails() {
    expect_victim_lost(
        &spec(&at_victim("affinity-error")),
        &["AFFINITY_INFO to return OFF: firmware returned INVALID_PARAMETERS"],
    );
}

/// Firmware that reports CPU_OFF as missing is measured with the warm method.
#[test]
fn absent() {
    let words = [
        "CPU_OFF : not used: PSCI_FEATURES does not list CPU_OFF",
        "5 passed, 2 skipped, 0 failed",
        "0 CPUs lost",
    ];
    let spec = only("suite,cpu_on", "cpu-off-absent");
    let but_off: Vec<_> = ALL
        .into_iter()
        .filter(|id| *id != ScenarioId::CPU_OFF_SERIAL)
        .collect();
    run(&spec, Pass, &words)
        .lacks(&["<RT_INSTR:", "Warning: CPU"])
        .complete_but(&but_off, &[]);
}

/// The firmware implements CPU_OFF, but the tree specifies that CPUs do not come back after it, so
/// CPU_OFF is not called.
#[test]
fn forbidden() {
    let board = common::changed_board(str::to_owned);
    let firmware = board.firmware("tf-a").expect("TF-A");
    let choices = Choices {
        cpus: 2,
        gic: GicVersion::V3,
        conduit: Conduit::Smc,
        cpu_off: false,
        idle_states: &firmware.idle_states(StateFormat::Original),
    };
    let bootargs = "only=suite,cpu_on iterations=1 warmup=0";
    let tree = device_tree::build(&board, &choices, bootargs).expect("a tree");
    let spec = RunSpec {
        tree: TreeSource::Raw(tree),
        ..common::spec("--smp 2 --icount --fault cpu-off-denied", "")
    };
    let words = [
        "CPU_OFF : not used: according to the device tree, CPU_OFF is permanent",
        "5 passed, 2 skipped, 0 failed",
        "0 CPUs lost",
        "cpu-off-denied struck 0 times",
    ];
    common::expect_verdict(&spec, Pass)
        .says(&words)
        .lacks(&["<RT_INSTR:"]);
}

/// If CPU_OFF is missing but is not reported as missing, the scenario in which this is discovered
/// fails.
#[test]
fn not_supported() {
    let words = [
        "Failed: CPU_OFF is advertised, but returned NOT_SUPPORTED",
        "1 passed, 1 skipped, 1 failed",
        "0 CPUs lost",
    ];
    let scenarios = "susp_deep_serial,cpu_off_serial,psci_version_parallel";
    run(&only(scenarios, "cpu-off-not-supported"), Fail, &words)
        .complete_but(&[ScenarioId::SUSPEND_DEEP_SERIAL], &[]);
}

/// The victim powers off when another CPU is measured, but not when the victim itself is measured.
/// The results for the other CPUs in its cluster show that the cluster stays up.
#[test]
fn denied_out_of_turn() {
    let words = [
        "CPU 1.1 was lost: CPU_OFF returned DENIED",
        "Reached: unknown, because a lost CPU",
        "may be on and keep its",
        "1 CPU lost",
    ];
    let spec = only(
        "susp_deep_serial method=warm",
        &at_victim("cpu-off-denied,skip=1"),
    );
    run(&spec, Fail, &words).lacks(&["Reached, by"]);
}
