//! `qemu-overhead` and `overhead`: the instrumentation cost in instructions, which is repeatable.

use std::path::Path;

use crate::support::scratch::Scratch;
use crate::support::{called, xtask};

/// Selects scenarios in which a CPU runs on its own, and scenarios that the report leaves out.
const ARGUMENTS: &str = "iterations=4 loops=128 batch=128 \
    only=psci_version_parallel,cpu_susp_serial,cpu_susp_parallel,null_call";

/// Runs `qemu-overhead`, which writes its logs to `log`, and returns its stdout.
fn run(log: &Path) -> String {
    let log = log.to_str().expect("UTF-8");
    let mut command = xtask(&["qemu-overhead", "--icount", "--smp", "4", "--log", log]);
    let (code, out, said) = called(command.args(["--args", ARGUMENTS]));
    assert_eq!(code, 0, "{said}");
    out
}

/// Returns the "instrumented", "plain" and "difference" columns of the row for a scenario.
fn row(text: &str, scenario: &str, figure: &str) -> [i64; 3] {
    let mut lines = text.lines().map(|line| line.split_whitespace());
    let found = lines.find(|line| line.clone().take(2).eq([scenario, figure]));
    let words: Vec<&str> = found.expect("the scenario row").collect();
    [3, 4, 5].map(|at| words[at].parse().expect("a number"))
}

#[test]
fn in_instructions_and_the_same_twice() {
    let scratch = Scratch::empty();
    let log = scratch.path("run.log");
    // QEMU runs are repeatable except in rare cases, described in the docs of
    // xtask::qemu::host_cpu.
    let first = run(&log);
    let second = run(&log);
    assert!(first == second || run(&log) == second, "{first}\n{second}");
    assert!(
        second
            .starts_with("The cost of instrumentation, from the caller's figures (instructions)\n")
    );
    for (scenario, figure) in [
        ("psci_version_parallel", "Call"),
        ("cpu_susp_serial", "Wake"),
    ] {
        let [new, old, difference] = row(&second, scenario, figure);
        assert_eq!(difference, new - old, "{scenario}");
        // Two timestamps cost at least two counter reads and two stores.
        assert!((4..2000).contains(&difference), "{scenario}: {second}");
    }
    let [_, _, version] = row(&second, "psci_version_parallel", "Call");
    let sentence = format!("takes {version} instructions more (+");
    assert!(second.contains(&sentence), "{sentence:?}: {second}");
    for left_out in [
        "  * Powerdown, Wakeup, Cache Flush, Latency: read from PMF",
        "  * Call for suspends: includes the sleep",
        "  * Parallel suspends and contend_sweep: CPUs wait for each other",
    ] {
        assert!(second.contains(left_out), "{left_out:?} is not in {second}");
    }
    assert!(!second.contains("  cpu_susp_parallel  "), "{second}");
    in_time(&scratch, row(&second, "psci_version_parallel", "Call"));
}

/// The logs show the same costs as durations, at 16 ns per instruction.
fn in_time(scratch: &Scratch, instructions: [i64; 3]) {
    let (code, told, said) = scratch.called("overhead run.pmf.log run.plain.log");
    assert_eq!(code, 0, "{said}");
    let ns = instructions.map(|it| it * 16);
    assert_eq!(row(&told, "psci_version_parallel", "Call"), ns);

    // A truncated log contains only some of the figures.
    let log = scratch.read("run.pmf.log");
    let first = log
        .windows(3)
        .position(|it| it == b"@PB")
        .expect("a record");
    let cut = first + (log.len() - first) * 2 / 3;
    scratch.write("cut.log", &log[..cut]);
    let without_pmf = "this run's firmware has no PMF";
    scratch.write("two.log", &log.repeat(2));
    scratch.assert_outcomes(&[
        ("overhead run.plain.log run.pmf.log", 2, without_pmf),
        ("overhead run.pmf.log run.pmf.log", 2, "has PMF; specify"),
        (
            "overhead two.log run.plain.log",
            2,
            "two.log: contains 2 runs",
        ),
        ("overhead cut.log run.plain.log", 3, ""),
    ]);
}
