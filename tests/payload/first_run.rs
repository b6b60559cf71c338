//! A board's first run (`only=first`). Whatever the fault, the end of the output names the step.

use std::time::Duration;

use follow::stream::MachineEnding;
use runner::qemu::run_spec::{Payload, RunSpec};
use suite::model::Verdict::{self, Fail, Pass};

use crate::common;

/// A first run takes no longer than this, whatever happens.
const LIMIT: Duration = Duration::from_secs(20);

fn spec(options: &str, args: &str) -> RunSpec {
    RunSpec {
        timeout: LIMIT,
        ..common::spec(options, &format!("only=first {args}"))
    }
}

/// Runs `spec`, and returns the output.
fn output(spec: &RunSpec, verdict: Verdict) -> String {
    let ran = common::expect_verdict(spec, verdict);
    assert!(ran.result.elapsed < LIMIT, "{:?}", ran.result.elapsed);
    ran.result.text()
}

#[test]
fn a_first_run_takes_all_steps_with_one_cpu() {
    for options in [
        "--icount",
        "--icount --gic 2",
        "--icount --smp 2",
        "--icount --variant timer-stop=1",
    ] {
        let text = output(&spec(options, ""), Pass);
        let cpu = if options.contains("smp") {
            "0.1"
        } else {
            "1.3"
        };
        let steps: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("Step "))
            .collect();
        let expected = [
            "turn it on, and call PSCI_VERSION on it and on the lead",
            "turn it on, off and on again",
            "try to suspend it to 0x00010002 and to wake it",
            "try to suspend it to 0x02010222 and to wake it",
            "turn it on, and suspend it to the state at level 0",
            "turn it on, and suspend it to the deepest state",
        ];
        assert_eq!(steps.len(), expected.len(), "{options}: {text}");
        for ((number, step), clause) in (1..).zip(steps).zip(expected) {
            assert_eq!(
                step.trim_end(),
                format!("Step {number}, CPU {cpu}: {clause}"),
                "{options}"
            );
        }
        let words = [
            "only=first does not suspend the lead",
            "Next: turn the board off and on",
        ];
        common::has_words(&common::one_line(&text), &words, &text);
    }
}

/// The firmware prints the fault, and the last line names the step.
#[test]
fn the_last_line_names_the_step_that_failed() {
    for (fault, step) in [
        ("cpu-on-lost", 1),
        ("cpu-on-internal-failure", 1),
        ("pmf-stale", 1),
        ("cpu-off-denied", 2),
        ("suspend-never", 3),
        // The second suspend is the first to the deepest state.
        ("suspend-never,skip=1", 4),
        ("suspend-early", 5),
        ("suspend-denied", 5),
    ] {
        let text = output(&spec(&format!("--icount --fault {fault}"), ""), Fail);
        let closing = text
            .lines()
            .rev()
            .find(|line| line.starts_with("psci-bench: "));
        let expected = format!("psci-bench: FAIL at step {step} (");
        assert!(
            closing.is_some_and(|line| line.starts_with(&expected)),
            "{fault}: {text}"
        );
    }
}

/// If nothing comes back, the announcement of the step is the last line.
#[test]
fn a_hang_leaves_the_announcement_of_its_step() {
    let hang = RunSpec {
        timeout: Duration::from_secs(3),
        // CPU_ON never returns to the lead.
        ..spec("--fault smc-hang,arg=3,cpu=0", "")
    };
    let result = common::run_spec(&hang);
    assert!(!matches!(result.ending, MachineEnding::Exited { .. }));
    let text = result.text();
    let steps: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("Step "))
        .collect();
    assert_eq!(steps.len(), 1, "{text}");
}

/// The machine has a GICv2, but the tree describes a GICv3.
#[test]
fn a_dead_gic_is_named_before_the_first_step() {
    let other_gic = common::image(2, "only=first");
    let dead = RunSpec {
        payload: Payload::Image(other_gic),
        ..spec("--smp 2 --gic 2", "")
    };
    let result = common::run_spec(&dead);
    let text = result.text();
    assert!(!text.contains("Step 1"), "{text}");
    let last = text
        .lines()
        .rev()
        .find(|line| line.starts_with("psci-bench: "));
    assert!(last.is_some_and(|line| line.contains("GIC")), "{text}");
}
