//! Counter, interrupts, exception level: what is not PSCI's, and is in
//! firmware's hands all the same.

use psci_bench::model::Verdict;
use xtask::board::{self, Conduit, Gic, StateFormat};
use xtask::build::device_tree::{self, Choices};
use xtask::build::payload::Tree;
use xtask::qemu::run_spec::RunSpec;
use xtask::setup::workspace::Workspace;

use super::{
    ALL, CPU_SUSPEND_SERIAL, PSCI_VERSION_PARALLEL, SUSPEND_DEEP_SERIAL, VICTIM, loses_victim,
    on_victim, run, spec,
};

/// Ticks, then: no figure in a unit that nobody knows.
#[test]
fn cntfrq_is_zero() {
    let seen = run(&spec("cntfrq"), Verdict::Pass)
        .says(&["0 Hz can not be right"])
        .complete_but(&ALL, &[]);
    assert!(!seen.plain.contains("<RT_INSTR:"), "{}", seen.log().text);
    assert!(
        !seen.plain.contains("Warning: CNTFRQ"),
        "{}",
        seen.log().text
    );
}

/// Megahertz, as it happens: a deadline of 10 s would be 240 ticks.
#[test]
fn cntfrq_is_not_in_hertz() {
    let seen = run(&spec("cntfrq,arg=24"), Verdict::Pass)
        .says(&["24 Hz can not be right"])
        .complete_but(&ALL, &[]);
    assert!(!seen.plain.contains("<RT_INSTR:"), "{}", seen.log().text);
}

/// All figures are by the lead's.
#[test]
fn cntfrq_of_another_cpu() {
    let seen = run(&spec(&on_victim("cntfrq")), Verdict::Pass)
        .says(&["Warning: CNTFRQ_EL0 is 0 Hz on CPU 1.1, and 62500000 Hz on the lead."])
        .complete_but(&ALL, &[]);
    assert!(seen.plain.contains("<RT_INSTR:"), "{}", seen.log().text);
}

/// Pending before there is a stack: taken, and dumped, when there is one. Which
/// entry is the first wake-up, the sleep that is calibrated decides.
#[test]
fn an_serror_is_pending_at_an_entry() {
    let lost_before = |entry: u32| {
        let fault = on_victim(&format!("serror,skip={entry},count=1"));
        let seen = loses_victim(&fault, "took an exception before ")
            .says(&["Unhandled exception on CPU 0x5 (SError, vector 7)"]);
        let (_, step) = seen
            .plain
            .split_once("took an exception before ")
            .expect("a step");
        step.starts_with("return from the call")
    };
    assert!(!lost_before(0), "the first entry is by CPU_ON");
    assert!((1..8).any(lost_before), "no wake-up");
}

/// As though the redistributor had lost its power.
#[test]
fn the_gics_local_enables_are_gone_after_a_wake_up() {
    run(&spec("gic-enables-lost"), Verdict::Pass).complete_but(&ALL, &[]);
}

/// The board's tree, with another interrupt for the timer: one that nothing
/// raises.
fn tree_with_a_silent_timer() -> Vec<u8> {
    let workspace = Workspace::find().expect("the workspace");
    let path = workspace.board("qemu").join("board.toml");
    let text = std::fs::read_to_string(path).expect("a board file");
    let silent = text.replace("\nphysical = 30\n", "\nphysical = 24\n");
    assert_ne!(silent, text);
    let board = board::parse("board.toml", &silent).expect("a good board");
    let firmware = board.firmware("tf-a").expect("its firmware");
    let choices = Choices {
        cpus: 2,
        gic: Gic::V3,
        conduit: Conduit::Smc,
        idle_states: &firmware.idle_states(StateFormat::Original),
        bootargs: "iterations=1 warmup=0",
    };
    device_tree::build(&board, &choices).expect("a tree")
}

/// An interrupt that is pending is not for that the timer's.
#[test]
fn another_interrupt_is_not_taken_for_the_timers() {
    let spec = RunSpec {
        smp: Some(2),
        args: None,
        tree: Tree::Raw(tree_with_a_silent_timer()),
        ..spec("interrupt-storm")
    };
    run(&spec, Verdict::Incomplete).says(&["the timer's interrupt 24 does not arrive"]);
}

/// Interrupts that nobody asked for, all the time, on one CPU, once its timer
/// has shown that it wakes it: before that, by where in the storm the CPU looks
/// for the timer's interrupt, it is lost.
#[test]
fn an_interrupt_storm() {
    let seen = run(
        &spec(&format!("{},skip=4", on_victim("interrupt-storm"))),
        Verdict::Fail,
    );
    seen.says(&["the last one failed on CPU 1.1: "])
        .complete_but(&[SUSPEND_DEEP_SERIAL, CPU_SUSPEND_SERIAL], &[VICTIM])
        .complete_but(&[PSCI_VERSION_PARALLEL], &[]);
}
