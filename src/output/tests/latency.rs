//! The lines of `timer_latency` while it is measured.

use std::string::String;
use std::vec::Vec;

use crate::board::LabelSource;
use crate::measure::Machine;
use crate::model::{Head, Run};
use crate::output::run_all;
use crate::plan::Plan;
use crate::scenario::fake::Fake;
use crate::scenario::tests::board;

/// Ticks in a microsecond of the fake, times two: it has 62.5 MHz.
const TWO_US: u64 = 125;
/// From a handler's first instruction to its Rust, in ticks.
const PROLOGUE: u64 = 20;

/// Returns what is printed while the timer of one CPU is measured.
fn printed(mut fake: Fake, args: &str) -> String {
    let args = std::format!("only=timer_latency stress=idle timers=all {args}");
    let run = Run {
        head: Some(Head {
            format: 2,
            version: "0.0.0".into(),
            model: "Fake".into(),
            labels: LabelSource::CpuMap,
            cpus: 1,
        }),
        facts: Some(*fake.facts()),
        plan: Some(Plan::parse(&args).expect("a good plan")),
        cpus: board(1),
        ..Run::default()
    };
    let mut out = String::new();
    run_all(&mut fake, run, &[], &mut out).expect("a String takes all");
    out
}

/// Returns the lines that begin with `name`, by their columns.
fn columns<'t>(text: &'t str, name: &str) -> Vec<Vec<&'t str>> {
    let lines = text.lines().map(|line| line.split('|'));
    let named = lines.filter(|line| line.clone().next() == Some(name));
    named
        .map(|line| line.skip(1).map(str::trim).collect())
        .collect()
}

#[test]
fn best_and_worst_are_those_of_the_stretch_so_far() {
    let mut window = 0;
    let fake = Fake::new(1).with_lateness(move |_, k| {
        window += u64::from(k == 0);
        [50, 30, 70][window as usize - 1] * TWO_US / 2 - PROLOGUE + 1
    });
    let text = printed(fake, "duration=3");
    let data = columns(&text, "RTD");
    let shown: Vec<_> = data.iter().map(|c| (c[0], c[2], c[5], c[6])).collect();
    let expected = [
        ("50.016", "50.016", "50.016", "50.016"),
        ("30.016", "30.016", "30.016", "50.016"),
        ("70.016", "70.016", "30.016", "70.016"),
    ];
    assert_eq!(shown, expected);
    let sum = &columns(&text, "RTS")[0][..3];
    assert_eq!(sum, ["30.016", "50.016", "70.016"]);
}

#[test]
fn time_is_rounded_and_headings_are_repeated() {
    let text = printed(Fake::new(1), "duration=4000 period=300000");
    let sums = columns(&text, "RTS");
    assert_eq!(sums[0].last(), Some(&"01:06:40/01:06:40"));
    let text = printed(Fake::new(1), "duration=50 period=100000");
    let counts = ["RTD", "RTH"].map(|name| columns(&text, name).len());
    assert_eq!(counts, [50, 3]);
}
