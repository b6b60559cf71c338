//! CPU_OFF, and AFFINITY_INFO that tells of it.

use super::{ALL, loses_victim, on_victim, run, spec};
use psci_bench::model::Verdict;

#[test]
fn denied() {
    loses_victim(
        &on_victim("cpu-off-denied"),
        "AFFINITY_INFO to say OFF: firmware returned DENIED",
    );
}

/// A success that comes back has not turned the CPU off.
#[test]
fn comes_back_with_success() {
    loses_victim(
        &on_victim("cpu-off-returns-success"),
        "AFFINITY_INFO to say OFF: firmware returned",
    );
}

#[test]
fn affinity_info_never_says_off() {
    loses_victim(
        &on_victim("affinity-never-off"),
        "timed out waiting for AFFINITY_INFO to say OFF",
    );
}

#[test]
fn affinity_info_fails() {
    loses_victim(
        &on_victim("affinity-error"),
        "AFFINITY_INFO to say OFF: firmware returned INVALID_PARAMETERS",
    );
}

/// Of no CPU: one after another is lost, and the lead's own part goes on.
#[test]
fn affinity_info_never_says_off_of_anyone() {
    let seen = run(&spec("affinity-never-off"), Verdict::Fail);
    let others: Vec<u64> = (1..super::CPUS).collect();
    seen.says(&["7 CPUs lost"]).complete_but(&ALL, &others);
}

/// While it is to go off for another one's turn, with no part of its own: its
/// cluster mates' figures are those of a cluster that stays up, and the run is
/// no success.
#[test]
fn denied_out_of_turn() {
    for fault in ["cpu-off-denied", "cpu-off-returns-success"] {
        let mut spec = spec(&format!("{},skip=1", on_victim(fault)));
        spec.args = Some("iterations=2 warmup=0 only=susp_deep_serial method=warm".into());
        let seen = run(&spec, Verdict::Fail).says(&[
            "CPU 1.1 was lost: AFFINITY_INFO to say OFF: firmware returned",
            "Reached: not known, as a CPU was lost",
            "may be on, and keep up its cluster",
            "1 CPUs lost",
        ]);
        assert!(!seen.plain.contains("Reached, by"), "{}", seen.log().text);
    }
}
