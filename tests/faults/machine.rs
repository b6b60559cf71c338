//! Counter, interrupts, exception level: what is not PSCI's, and is in
//! firmware's hands all the same.

use psci_bench::verdict::Verdict;

use super::{
    ALL, CPU_SUSPEND_SERIAL, PSCI_VERSION_PARALLEL, SUSPEND_DEEP_SERIAL, VICTIM, on_victim, run,
    spec,
};

/// Ticks, then: no figure in a unit that nobody knows.
#[test]
fn cntfrq_is_zero() {
    let seen = run(&spec("cntfrq-zero"), Verdict::Pass)
        .says(&["0 Hz can not be right"])
        .complete_but(&ALL, &[]);
    assert!(!seen.plain.contains("<RT_INSTR:"), "{}", seen.log().text);
}

/// As though the redistributor had lost its power.
#[test]
fn the_gics_local_enables_are_gone_after_a_wake_up() {
    run(&spec("gic-enables-lost"), Verdict::Pass).complete_but(&ALL, &[]);
}

/// Interrupts that nobody asked for, all the time, on one CPU.
#[test]
fn an_interrupt_storm() {
    let seen = run(&spec(&on_victim("interrupt-storm")), Verdict::Fail);
    seen.says(&["the last one failed on CPU 1.1: "])
        .complete_but(&[SUSPEND_DEEP_SERIAL, CPU_SUSPEND_SERIAL], &[VICTIM])
        .complete_but(&[PSCI_VERSION_PARALLEL], &[]);
}
