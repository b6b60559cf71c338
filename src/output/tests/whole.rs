//! Whole runs on the fake machine, and their records.

use std::format;
use std::string::String;
use std::vec::Vec;

use super::golden::check;
use crate::board::{IdleState, LabelSource};
use crate::model::Verdict;
use crate::model::{Head, Run, Scenario};
use crate::output::run as output;
use crate::output::run_all;
use crate::output::summary::Summary;
use crate::plan::{Plan, Records};
use crate::record::{MARK, RunBuilder, Writer, parse};
use crate::scenario::fake::Fake;
use crate::scenario::tests::{STATES, board};

fn printed(mut fake: Fake, args: &str, cpus: u16, states: &[IdleState<'_>]) -> (String, Verdict) {
    use crate::measure::Machine;
    let mut facts = *fake.facts();
    facts.own.frequency = facts.frequency;
    let run = Run {
        head: Some(Head {
            format: crate::record::FORMAT,
            version: "0.0.0".into(),
            model: "Fake".into(),
            labels: LabelSource::CpuMap,
            cpus,
        }),
        facts: Some(facts),
        plan: Plan::parse(args).ok(),
        cpus: board(cpus.into()),
        ..Run::default()
    };
    let mut out = String::new();
    let verdict = run_all(&mut fake, run, states, &mut out).expect("a String takes all");
    (out, verdict)
}

/// Separates the records of a text from its other lines.
fn separated(text: &str) -> (Run, String) {
    let mut builder = RunBuilder::default();
    let mut rest = String::new();
    let mut seq = 0;
    for line in text.lines() {
        if line.starts_with(MARK) {
            let numbered = parse(line.as_bytes()).expect(line);
            assert_eq!(numbered.seq, seq, "{line}");
            builder.add(numbered.record);
            seq += 1;
        } else {
            rest += line;
            rest.push('\n');
        }
    }
    let run = builder.run();
    assert_eq!(run.end.map(|end| end.records), Some(seq));
    (run, rest)
}

/// Prints a run that was read back.
fn printed_again(run: &Run) -> String {
    let mut out = String::new();
    let mut summary = Summary::new(&run.plan.expect("a plan"));
    let mut print = || {
        output::header(&mut out, run)?;
        let is_same = |a: &Scenario, b: &Scenario| (a.id, a.method) == (b.id, b.method);
        for group in run.scenarios.chunk_by(is_same) {
            output::begin_scenario(&mut out, group[0].id, group[0].method)?;
            output::scenario(&mut out, run, group)?;
            summary.add(group);
        }
        output::closing(&mut out, run, &summary, &mut Writer::new(Records::None))
    };
    let verdict = print().expect("a String takes all");
    assert_eq!(run.end.map(|end| end.verdict), Some(verdict));
    out
}

/// A scenario of points, and its cycles, in a whole run.
#[test]
fn null_calls() {
    let args = "only=null_call loops=2000 batch=100";
    let (text, verdict) = printed(Fake::new(2), args, 2, &STATES);
    assert_eq!(verdict, Verdict::Pass);
    check("null-call", &separated(&text).1);
}

/// The states of which the last, or each, stops the CPUs' timers.
fn stopping(all: bool) -> [IdleState<'static>; 2] {
    let mut states = STATES;
    states[1].local_timer_stop = true;
    states[0].local_timer_stop = all;
    states
}

/// All that is printed for people can be printed from the records.
#[test]
fn records_contain_all_that_is_printed() {
    let all = "only=all samples=all iterations=3 loops=8 batch=2 dirty=0,16K";
    for (fake, args, cpus, states) in [
        (Fake::new(8).with_statistics(), "iterations=5", 8, STATES),
        (Fake::without_pmf(4), "method=tftf,warm", 4, STATES),
        (Fake::new(3).with_modes(), all, 3, stopping(false)),
        (Fake::new(5), "iterations=100", 5, stopping(true)),
    ] {
        let (text, _) = printed(fake, args, cpus, &states);
        let (run, mut text) = separated(&text);
        // Lines of the time before the results have no records.
        if let Some(from) = text.find("Wake-up trials: ") {
            let end = text[from..].find("\n\n").expect("a blank line");
            text.replace_range(from..from + end + 2, "");
        }
        let is_result = |line: &&str| !line.starts_with("RT") && !line.starts_with("---|");
        let text: Vec<&str> = text.lines().filter(is_result).collect();
        let again = printed_again(&run);
        assert_eq!(again.lines().collect::<Vec<_>>(), text, "{args}");
    }
}

#[test]
fn records_once_twice_and_not_at_all() {
    let print = |records: &str| {
        let args = format!("iterations=2 only=cpu_susp_parallel {records}");
        printed(Fake::new(2), &args, 2, &STATES).0
    };
    let without = print("records=none");
    assert!(!without.contains(MARK));
    let (_, rest) = separated(&print(""));
    assert_eq!(rest, without);
    // TFTF's frame has no record in it.
    let text = print("");
    let frame = text.find("> Executing").zip(text.find("TEST COMPLETE"));
    let (from, to) = frame.expect("a frame");
    assert!(!text[from..to].contains(MARK));
    let twice = print("records=twice").matches(MARK).count();
    assert_eq!(twice, 2 * print("records=once").matches(MARK).count());
}

/// Sentences beside tables, by the arguments, the machine and its states.
#[test]
fn sentences() {
    let slow = || Fake::new(1).with(|_, _, outcome| outcome.after += 6_250_000);
    let few = "there are fewer CPUs than contend= asks for; where the CPUs' own timers stop, one \
               more stays awake";
    let one_cpu = Fake::new(1);
    for (fake, args, cpus, states, expected) in [
        (
            Fake::new(2),
            "only=dirty_sweep dirty=0,16K iterations=3",
            2,
            STATES,
            ["* core: longest median of cflush by bytes: 0: ", ""],
        ),
        (
            Fake::new(2),
            "only=contend_sweep contend=1,4,7 iterations=2",
            2,
            STATES,
            [
                "* Steps of contend= left out: 4, 7, as there are 2 CPUs.",
                &format!("Skipped: contend_sweep, contend=4, 7: {few}"),
            ],
        ),
        (
            Fake::new(4),
            "only=contend_sweep contend=2,4 iterations=2",
            4,
            stopping(false),
            [
                "* deepest: step 4 left out, as one of the 4 CPUs stays awake.",
                &format!("Skipped: contend_sweep, contend=4: {few}"),
            ],
        ),
        (
            one_cpu,
            "only=idle_states iterations=1",
            1,
            stopping(false),
            [
                "* States left out: the idle state stops the CPUs' own timers",
                "Skipped: idle_states, power_state 0x01010022: the idle state stops",
            ],
        ),
        (
            Fake::new(1),
            "only=idle_states iterations=1",
            1,
            STATES,
            [
                "* OS-initiated mode left out: the firmware does not implement function \
                 0x8400000f.",
                "",
            ],
        ),
        (
            slow(),
            "only=null_call warmup=10000",
            1,
            STATES,
            [
                "As few as 100 taken, as the time was up",
                "Of 10000 batches for warm-up as few as 5 were done",
            ],
        ),
        (
            Fake::new(8),
            "iterations=2",
            8,
            stopping(true),
            [
                "Wake-up trials: an SGI woke CPU 0.1 from 0x00010002, 0x01010022; one from CPU 1.0 \
                 woke the lead, as the device tree has no timer frame",
                ".. table:: Suspend to deepest power level on all cores in parallel, woken by CPU \
                 1.0 (us)",
            ],
        ),
        (
            Fake::new(4).with_frame(),
            "iterations=2",
            4,
            stopping(false),
            [
                "; the timer frame at 0x2a830000, interrupt 92, woke the lead.",
                "where that stops, timer frame at 0x2a830000,",
            ],
        ),
    ] {
        let (text, _) = printed(fake, args, cpus, &states);
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        for part in expected {
            assert!(text.contains(part), "{args}: {part}\n{text}");
        }
    }
}

/// The layout that readers of other latency programs know.
#[test]
fn lines_of_timer_latency() {
    let lateness = |_, k| if k == 1 { 5_000 } else { 625 - 20 };
    let fake = Fake::new(1).with_lateness(lateness);
    let args = "only=timer_latency duration=3 stress=idle period=1000000 timers=all";
    let (text, _) = printed(fake, args, 1, &STATES);
    let at = text.find("RTT|").expect("lines");
    let lines: Vec<&str> = text[at..].lines().take(7).collect();
    // Each window is one expiry, its first.
    let window = "RTD|     10.000|     10.000|     10.000|       0|     0|     10.000|     10.000";
    assert_eq!(
        lines,
        [
            "RTT|  00:00:00  (timer interrupt to handler in us, 1000000 us period, all CPUs, idle)",
            "RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst",
            window,
            window,
            window,
            "---|-----------|-----------|-----------|--------|------|-----------------------",
            "RTS|     10.000|     10.000|     10.000|       0|     0|    00:00:03/00:00:03",
        ]
    );
}
