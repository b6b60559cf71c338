//! The cost of PMF: `compare` of a run without PMF and one with PMF, on firmware that is otherwise
//! the same.

use crate::support::PROGRAM;
use crate::support::scratch::Scratch;
use crate::support::{called, xtask};

/// Selects scenarios in which a CPU runs on its own, and one in which CPUs wait for each other.
const ARGUMENTS: &str = "iterations=4 loops=128 batch=128 \
    only=psci_version_parallel,cpu_susp_serial,cpu_susp_parallel,null_call";

/// Runs on firmware of this variant and writes the log to `name`.
fn run(scratch: &Scratch, variant: &str, name: &str) {
    let path = scratch.path(name);
    let log = path.to_str().expect("UTF-8");
    let mut command = xtask(&["qemu", "--icount", "--smp", "4", "--log", log]);
    command.args(["--variant", variant, "--args", ARGUMENTS]);
    let (code, _, stderr) = called(&mut command);
    assert_eq!(code, 0, "{stderr}");
}

/// Returns the smallest difference, in nanoseconds, in the sentence about a figure.
fn cost(text: &str, figure: &str) -> f64 {
    let words: Vec<&str> = text.split_whitespace().collect();
    let one_line = words.join(" ");
    let mut costs = one_line.split("PMF adds ").skip(1);
    let is_of_figure = |cost: &&str| {
        let sentence = cost
            .split_once(") to ")
            .map_or("", |(_, sentence)| sentence);
        sentence.starts_with(figure)
    };
    let mut words = costs.find(is_of_figure).expect("a sentence").split(' ');
    let number: f64 = words
        .next()
        .and_then(|number| number.parse().ok())
        .expect("a number");
    match words.find(|word| matches!(*word, "ns" | "us")) {
        Some("us") => number * 1000.0,
        _ => number,
    }
}

#[test]
fn callers_times_with_and_without_pmf_differ_by_its_cost() {
    let scratch = Scratch::new(PROGRAM);
    run(&scratch, "pmf=off", "plain.log");
    run(&scratch, "pmf=new", "pmf.log");
    let (code, text, stderr) = scratch.called("compare --full plain.log pmf.log");
    // The baseline's parallel scenario is not compared.
    assert_eq!(code, 3, "{stderr}");
    assert!(
        stderr.contains("the differences are the cost of PMF"),
        "{stderr}"
    );
    assert!(
        text.contains("the caller's times do not show the cost"),
        "{text}"
    );
    // Two timestamps take at least two counter reads and two stores, at 16 ns per instruction.
    for figure in ["Call", "Wake", "alone.psci_version.ticks"] {
        let cost = cost(&text, figure);
        assert!((64.0..32_000.0).contains(&cost), "{figure}: {text}");
    }
    assert!(text.contains("for each of its two timestamps"), "{text}");
    assert!(!text.contains("worse"), "{text}");
    let allowed = "compare plain.log pmf.log --allow-missing scenarios --allow-missing cpus";
    scratch.assert_outcomes(&[
        (allowed, 0, "the differences are the cost of PMF"),
        // PMF figures in the baseline have no counterpart.
        (
            "compare pmf.log plain.log",
            3,
            "3 scenarios in the baseline not compared",
        ),
    ]);
}
