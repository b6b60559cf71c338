//! The price of PMF: `compare` of a run without PMF and one with PMF, on firmware that is otherwise
//! the same.

use crate::support::scratch::Scratch;
use crate::support::{called, xtask};

/// Selects scenarios in which a CPU runs on its own, and one in which CPUs wait for each other.
const ARGUMENTS: &str = "iterations=4 loops=128 batch=128 \
    only=psci_version_parallel,cpu_susp_serial,cpu_susp_parallel,null_call";

/// Runs on firmware of this variant and writes the log to `name`.
fn run(scratch: &Scratch, variant: &str, name: &str) {
    let log = scratch.path(name);
    let log = log.to_str().expect("UTF-8");
    let mut command = xtask(&["qemu", "--icount", "--smp", "4", "--log", log]);
    command.args(["--variant", variant, "--args", ARGUMENTS]);
    let (code, _, said) = called(&mut command);
    assert_eq!(code, 0, "{said}");
}

/// Returns the smallest difference, in nanoseconds, in the sentence about a figure.
fn price(text: &str, figure: &str) -> f64 {
    let words: Vec<&str> = text.split_whitespace().collect();
    let start = format!("PMF's price for {figure} is ");
    let words = words.join(" ");
    let (_, price) = words.split_once(&start).expect("a sentence");
    let mut words = price.split(' ');
    let number: f64 = words
        .next()
        .and_then(|it| it.parse().ok())
        .expect("a number");
    match words.find(|word| matches!(*word, "ns" | "us")) {
        Some("us") => number * 1000.0,
        _ => number,
    }
}

#[test]
fn callers_times_with_and_without_pmf_differ_by_its_price() {
    let scratch = Scratch::empty();
    run(&scratch, "pmf=off", "plain.log");
    run(&scratch, "pmf=new", "pmf.log");
    let (code, text, said) = scratch.called("compare plain.log pmf.log");
    // The baseline's parallel scenario is not compared.
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("the differences are PMF's price"), "{said}");
    assert!(
        text.contains("the caller's times do not show the price"),
        "{text}"
    );
    // Two timestamps take at least two counter reads and two stores, at 16 ns per instruction.
    for figure in ["Call", "Wake", "alone.psci_version.ticks"] {
        let price = price(&text, figure);
        assert!((64.0..32_000.0).contains(&price), "{figure}: {text}");
    }
    assert!(text.contains("for each of its two timestamps"), "{text}");
    assert!(!text.contains("worse"), "{text}");
    let allowed = "compare plain.log pmf.log --allow-missing scenarios --allow-missing cpus";
    scratch.assert_outcomes(&[
        (allowed, 0, "the differences are PMF's price"),
        // PMF figures in the baseline have no counterpart.
        (
            "compare pmf.log plain.log",
            3,
            "3 scenarios in the baseline not compared",
        ),
    ]);
}
