//! Audits of idle states with real firmware on QEMU: the default machine has nothing wrong, and
//! firmware that does not do what the tree declares is found.

use std::ffi::OsString;
use std::fs;

use clap::Parser;
use idle_audit::audit::{DeclaredBy, DeclaredSource, audit};
use report::cli::example_files::default_tree;
use report::log::read_bytes;
use runner::qemu::prepare;
use runner::qemu::run_arguments::RunArguments;

/// The options of a run, as for `cargo xtask qemu`.
#[derive(Parser)]
struct Machine {
    #[command(flatten)]
    run: RunArguments,
}

/// Runs every idle state with these options, checks the exit code, and returns the verdicts that
/// call for a change, as `state rule CPU: reason`.
fn wrong(options: &str, code: u8) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("tree.dtb");
    let tree = default_tree("only=idle_states iterations=2 warmup=1");
    fs::write(&path, &tree).expect("written");
    let fixed = ["qemu", "--icount", "--smp", "8", "--dtb"].map(OsString::from);
    let words = options.split_whitespace().map(OsString::from);
    let machine = Machine::parse_from(fixed.into_iter().chain([path.into()]).chain(words));
    let result = prepare::prepare_and_run(&machine.run.to_spec().expect("a run"))
        .expect("the run can start");
    assert_eq!(result.exit_code(), code, "{options}: {}", result.line());
    let runs = read_bytes("run.log", result.log.as_slice()).expect("a run");
    let source = DeclaredSource::of_tree("tree.dtb", DeclaredBy::Tree, &tree).expect("states");
    let audit = audit(&source, "QEMU virt", &runs, 2.0).expect("an audit");
    let wrong = audit
        .judgements()
        .filter(|judgement| judgement.1.verdict.calls_for_change());
    let lines = wrong.map(|(state, judgement)| {
        let (name, cpu) = (
            &state.declared.name,
            judgement.cpu.as_deref().unwrap_or("-"),
        );
        format!("{name} {} {cpu}: {}", judgement.rule, judgement.reason)
    });
    lines.collect()
}

/// Checks the starts of the verdicts.
fn check(options: &str, code: u8, expected: &[&str]) {
    let found = wrong(options, code);
    assert_eq!(found.len(), expected.len(), "{options}: {found:#?}");
    for (line, start) in found.iter().zip(expected) {
        assert!(line.starts_with(start), "{options}: {line}");
    }
}

#[test]
fn declared_states_of_the_default_machine_are_right() {
    check("", 0, &[]);
}

#[test]
fn firmware_that_does_something_else_is_found() {
    // The tree does not declare that timers stop.
    let evidence = "local-timer-stop 0.0: a trial showed that the CPU's own timer does not wake it";
    let states = ["core-off", "cluster-off", "system-off"];
    let stops = states.map(|state| format!("{state} {evidence}"));
    check(
        "--variant timer-stop=1",
        0,
        &stops.each_ref().map(String::as_str),
    );
    let less = [
        "cluster-off reached 0.0: PSCI_STAT counted 0x00010002 instead of 0x01010022",
        "system-off reached 0.0: PSCI_STAT counted 0x00010002 instead of 0x02010222",
    ];
    check("--fault suspend-shallow", 0, &less);
    let refused = [
        "core-off entered 0.1: never entered: CPU_SUSPEND returned DENIED",
        "cluster-off entered 0.0: never entered: no suspend counts",
        "system-off entered 0.0: never entered: no suspend counts",
    ];
    check("--fault suspend-denied", 1, &refused);
    // In this build, CPUs wait for locks even at level 0.
    let slower = [
        "core-off exit-latency-us 1.3: too small by",
        "core-off wakeup-latency-us ",
        "core-off min-residency-us ",
    ];
    check("--variant osi=1", 0, &slower);
}
