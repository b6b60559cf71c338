//! Whole runs on the fake machine, and the sentences that they print.

use std::string::String;
use std::vec::Vec;

use crate::board::IdleState;
use crate::measure::{Action, End, Fault, Machine, Outcome};
use crate::model::new::{Head, Run};
use crate::output::run_all;
use crate::plan::Plan;
use crate::scenario::fake::{Fake, LOSS};
use crate::scenario::tests::{STATES, board};
use crate::spec::psci::{StateFormat, SuspendMode};

/// Runs a plan, and returns what is printed.
fn printed(mut fake: Fake, bootargs: &str, cpus: usize, states: &[IdleState<'_>]) -> String {
    let run = Run {
        head: Some(Head {
            format: 2,
            version: "0.0.0".into(),
            model: "Fake".into(),
            labels: crate::board::LabelSource::CpuMap,
            cpus: cpus as u16,
        }),
        facts: Some(*fake.facts()),
        plan: Some(Plan::parse(bootargs).expect("a good plan")),
        cpus: board(cpus),
        ..Run::default()
    };
    let mut out = String::new();
    run_all(&mut fake, run, states, &mut out).expect("a String takes all");
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
#[ignore = "needs the printers of the new model"]
fn runs_byte_for_byte() {
    for (name, fake, args, cpus) in [
        ("run-all-six", Fake::new(8), "iterations=5", 8),
        (
            "run-without-pmf",
            Fake::without_pmf(4),
            "iterations=3 method=tftf,warm",
            4,
        ),
        (
            "run-null-call",
            Fake::new(2),
            "only=null_call loops=2000 batch=100",
            2,
        ),
    ] {
        let text = printed(fake, args, cpus, &STATES);
        // Records have tests of their own.
        let lines = text.split_inclusive('\n');
        let text: String = lines.filter(|line| !line.starts_with("@PB ")).collect();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/output/tests/expected");
        let path = std::format!("{folder}/{name}.txt");
        if std::env::var_os("PSCI_BENCH_BLESS").is_some() {
            std::fs::write(&path, &text).expect("the folder is there");
        }
        assert_eq!(
            text,
            std::fs::read_to_string(&path).expect("the file is there")
        );
    }
}

/// Ticks in a microsecond of the fake, times two: it has 62.5 MHz.
const TWO_US: u64 = 125;
/// From a handler's first instruction to its Rust, in ticks.
const PROLOGUE: u64 = 20;

#[test]
fn windows_have_the_lines_that_other_programs_read() {
    let late = |k| [5, 40, 6][usize::min(k, 2)] * TWO_US - PROLOGUE;
    let fake = Fake::new(1).with_lateness(move |_, k| late(k as usize));
    let args = "only=timer_latency duration=3 stress=idle period=1000000 timers=all";
    let text = printed(fake, args, 1, &[]);
    let at = text.find("RTT|").expect("lines");
    // Each window is one expiry, its first.
    let data = "RTD|     10.000|     10.000|     10.000|       0|     0|     10.000|     10.000";
    let expected = [
        "RTT|  00:00:00  (timer interrupt to handler in us, 1000000 us period, all CPUs, idle)",
        "RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst",
        data,
        data,
        data,
        "---|-----------|-----------|-----------|--------|------|-----------------------",
        "RTS|     10.000|     10.000|     10.000|       0|     0|    00:00:03/00:00:03",
    ];
    assert_eq!(
        text[at..].lines().take(7).collect::<Vec<_>>(),
        expected,
        "{text}"
    );
}

#[test]
fn best_and_worst_are_those_of_the_stretch_so_far() {
    let mut window = 0;
    let fake = Fake::new(1).with_lateness(move |_, k| {
        window += u64::from(k == 0);
        [50, 30, 70][window as usize - 1] * TWO_US / 2 - PROLOGUE + 1
    });
    let text = printed(
        fake,
        "only=timer_latency duration=3 stress=idle timers=all",
        1,
        &[],
    );
    let data = columns(&text, "RTD");
    let shown: Vec<_> = data.iter().map(|c| (c[0], c[2], c[5], c[6])).collect();
    let expected = [
        ("50.016", "50.016", "50.016", "50.016"),
        ("30.016", "30.016", "30.016", "50.016"),
        ("70.016", "70.016", "30.016", "70.016"),
    ];
    assert_eq!(shown, expected);
    assert_eq!(
        columns(&text, "RTS")[0][..3],
        ["30.016", "50.016", "70.016"]
    );
}

#[test]
fn time_is_rounded_and_headings_are_repeated() {
    let args = "only=timer_latency stress=idle timers=all";
    let long = std::format!("{args} duration=4000 period=300000");
    let text = printed(Fake::new(1), &long, 1, &[]);
    let sums = columns(&text, "RTS");
    assert_eq!(sums[0].last(), Some(&"01:06:40/01:06:40"));
    let many = std::format!("{args} duration=50 period=100000");
    let text = printed(Fake::new(1), &many, 1, &[]);
    let counts = ["RTD", "RTH"].map(|name| columns(&text, name).len());
    assert_eq!(counts, [50, 3]);
}

/// Returns this code to the suspends of a CPU.
fn refusing(of: usize, code: i32) -> impl FnMut(u64, usize, &mut Outcome) {
    move |_, cpu, outcome| {
        if (cpu == of || of == usize::MAX) && matches!(outcome.action, Action::Suspend { .. }) {
            (outcome.end, outcome.code) = (End::Returned, code);
        }
    }
}

/// Ends the parts of a CPU like that, from this round on.
fn ending(of: usize, from: u64, end: End) -> impl FnMut(u64, usize, &mut Outcome) {
    move |round, cpu, outcome| {
        if cpu == of && round >= from && outcome.end == End::Resumed {
            outcome.end = end;
        }
    }
}

/// Returns the two states, of which the deeper one stops timers.
fn stopping() -> [IdleState<'static>; 2] {
    let mut states = STATES;
    states[1].local_timer_stop = true;
    states
}

/// Checks that each phrase is printed, over line ends.
fn check(fake: Fake, args: &str, cpus: usize, states: &[IdleState<'_>], phrases: &[&str]) {
    let text = printed(fake, args, cpus, states);
    assert!(
        text.lines()
            .all(|line| line.len() <= 120 || line.starts_with("@PB "))
    );
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    for phrase in phrases {
        assert!(words.contains(phrase), "{args}: no {phrase:?} in\n{text}");
    }
}

#[test]
#[ignore = "needs the printers of the new model"]
fn each_reason_of_the_suite_has_its_sentence() {
    let run = |fake, args, phrases: &[&str]| check(fake, args, 4, &STATES, phrases);
    run(
        Fake::new(4).without_gic(),
        "iterations=2",
        &[
            "Wake-up : none: there is no GIC",
            "Skipped: no GIC: nothing could wake a suspended CPU",
            "2 passed, 4 skipped, 0 failed",
            ", 1 rows skipped, ",
        ],
    );
    run(
        Fake::new(4).with(refusing(2, -3)),
        "iterations=2 only=susp_deep_serial",
        &["refuses power_state 0x01010022 on CPU 0.2: DENIED"],
    );
    run(
        Fake::new(4).with(refusing(usize::MAX, -1)),
        "iterations=2",
        &[
            "TEST COMPLETE Skipped Skipped: the firmware does not implement function 0xc4000001",
            "Skipped: test_rt_instr_cpu_off_serial, CPU 0.0: the firmware does not implement \
             function 0xc4000001 psci-bench: PASS",
        ],
    );
    run(
        Fake::new(4)
            .with_statistics()
            .with(ending(3, 4, End::Lost(LOSS))),
        "iterations=2",
        &[
            "Failed: CPU 0.3 was lost: timed out waiting for return from the call",
            "1 CPUs lost",
            "Reached: not known, as a CPU was lost",
        ],
    );
    run(
        Fake::new(4).with(ending(2, 3, End::NotRung)),
        "only=cpu_susp_parallel iterations=5",
        &["CPU 0.2 has 0 valid samples of 5", "not-rung", "companion"],
    );
    let format = StateFormat::Extended;
    check(
        Fake::new(2).with_facts(|facts| facts.state_format = format),
        "only=suite,dirty_sweep dirty=0 iterations=2",
        2,
        &STATES,
        &[
            &std::format!(
                "Skipped: the firmware takes {} power_state values; the device tree has {} ones.",
                format.name(),
                format.other().name()
            ),
            "* States left out: the firmware takes ",
        ],
    );
}

#[test]
#[ignore = "needs the printers of the new model"]
fn each_reading_of_reached_states_has_its_sentence() {
    type Edit = fn(&mut Outcome);
    let edits: [(Edit, &str); 5] = [
        (
            |it| it.rise.counts[3] = 0,
            "Warning: CPU 0.2 should have reached 0x01010022, and reached 0x00010002.",
        ),
        (
            |it| it.rise.counts = [0; 4],
            "should have reached 0x01010022, and reached none",
        ),
        (
            |it| it.rise.counts[3] = 2,
            "rose by 2 over one suspend of CPU 0.2",
        ),
        (
            |it| it.rise.residency_us = 0,
            "PSCI_STAT_RESIDENCY rose by 0 us",
        ),
        (|it| it.rise.residency_us = 999_999, "rose by 999999 us"),
    ];
    let args = "iterations=2 warmup=0 only=susp_deep_parallel";
    for (edit, phrase) in edits {
        let fake = Fake::new(4).with_statistics();
        let fake = fake.with(move |_, cpu, outcome| {
            if cpu == 2 {
                edit(outcome);
            }
        });
        check(fake, args, 4, &STATES, &[phrase]);
    }
    let all = "* Reached, by PSCI_STAT_COUNT: 0x01010022 (CPU 0.0, 0.1, 0.2, 0.3).";
    check(Fake::new(4).with_statistics(), args, 4, &STATES, &[all]);
}

#[test]
#[ignore = "needs the printers of the new model"]
fn each_reason_of_loops_and_timers_has_its_sentence() {
    let slow = |_: u64, _: usize, outcome: &mut Outcome| outcome.after += 6_250_000;
    let refused = |_: u64, _: usize, outcome: &mut Outcome| outcome.code = -1;
    let answers = |_: u64, _: usize, outcome: &mut Outcome| outcome.code = 0;
    let late = |cpu, k| if (cpu, k) == (1, 500) { 6_250 } else { 50 };
    let missed = |cpu, _| if cpu == 1 { 9 * 500 * TWO_US } else { 50 };
    let timer = "only=timer_latency stress=idle timers=all";
    let fault = |fault| Fake::new(2).with_fault(1, 0, fault);
    for (fake, args, phrases) in [
        (
            Fake::new(2).with(slow),
            "only=null_call warmup=10000",
            &[
                "As few as 100 taken, as the time was up",
                "Of 10000 batches for warm-up as few as ",
            ][..],
        ),
        (
            Fake::new(2).with(answers),
            "only=null_call loops=8",
            &["Failed: unknown came back with 0 on CPU 0.0"],
        ),
        (
            Fake::new(2).with(refused),
            "only=self_sgi",
            &["Failed: sgi did not come on CPU 0.0"],
        ),
        (
            Fake::without_pmf(1)
                .without_gic()
                .with_facts(|facts| facts.pmu = false),
            "only=micro,timer_latency loops=4",
            &[
                "Skipped: no GIC, and so no SGI",
                "Skipped: the CPU has no performance monitors",
                "Skipped: PMF's timestamps can not be read",
                "Skipped: there is no other CPU to turn on",
                "Skipped: no GIC, and so no interrupt of a timer",
            ],
        ),
        (
            Fake::new(2).with_facts(|facts| facts.zero = false),
            "only=timer_latency stress=zero",
            &["Skipped: DC ZVA is prohibited here"],
        ),
        (
            Fake::new(2).with_lateness(late),
            &std::format!("{timer} threshold=100"),
            &["the timer of CPU 0.1 was handled 100.32 us late, more than threshold= allows"],
        ),
        (
            Fake::new(2).with_lateness(missed),
            timer,
            &["* Overruns: on CPU 0.1 900 of 1000 expiries were missed (all CPUs at once, idle)"],
        ),
        (
            fault(Fault::Stray(40)),
            timer,
            &["was left as interrupt 40 came"],
        ),
        (
            fault(Fault::Silent),
            timer,
            &["raised no interrupt any more"],
        ),
        (
            fault(Fault::Spurious),
            timer,
            &["interrupts came that none was behind"],
        ),
        (
            Fake::new(2).with(|_, _, outcome| outcome.end = End::Pending),
            timer,
            &["an interrupt was pending that did not go away"],
        ),
    ] {
        let cpus = fake.facts().pmf.map_or(1, |_| 2);
        check(fake, args, cpus, &STATES, phrases);
    }
}

#[test]
#[ignore = "needs the printers of the new model"]
fn each_reason_of_sweeps_has_its_sentence() {
    let mut stuck = Fake::new(4).with_modes();
    stuck.refuses = Some(SuspendMode::PlatformCoordinated);
    let wrong = |round: u64, cpu: usize, outcome: &mut Outcome| {
        if cpu == 1 && round % 5 == 4 {
            outcome.end = End::WrongContext;
        }
    };
    for (fake, args, states, phrases) in [
        (
            Fake::new(4),
            "only=dirty_sweep,contend_sweep dirty=0,16K contend=2,9 iterations=2",
            STATES,
            &[
                "* core: longest median of cflush by bytes: 0: ",
                "* Steps of contend= left out: 9, as there are 4 CPUs.",
            ][..],
        ),
        (
            Fake::new(4).with_facts(|facts| facts.outer_cache = None),
            "only=dirty_sweep,contend_sweep,system_suspend contend=9",
            STATES,
            &[
                "dirty= can give steps",
                "Skipped: there are fewer CPUs than contend= asks for",
                "does not implement function 0xc400000e",
            ],
        ),
        (
            Fake::new(4),
            "only=contend_sweep iterations=2",
            stopping(),
            &[
                "* deepest: step 4 left out, as one of the 4 CPUs stays awake.",
                "Skipped: contend_sweep, contend=4: there are fewer CPUs than contend= asks for; \
                 where the CPUs' own timers stop, one more stays awake",
            ],
        ),
        (
            Fake::new(4),
            "only=idle_states,system_suspend iterations=2",
            stopping(),
            &[
                "* OS-initiated mode left out: the firmware does not implement function 0x8400000f",
                "* In states that stop the CPUs' own timers: the lead wakes each other CPU by SGI",
                "; CPU 0.1 stays awake and wakes the lead.",
            ],
        ),
        (
            Fake::new(4).with_frame().with_modes(),
            "only=idle_states iterations=2",
            stopping(),
            &["* In states that stop the CPUs' own timers: the timer frame wakes the lead, and"],
        ),
        (
            Fake::new(4).with_modes(),
            "only=system_suspend",
            stopping(),
            &["Skipped: the idle state stops the CPUs' own timers, and"],
        ),
        (
            stuck,
            "only=idle_states iterations=2",
            STATES,
            &["stays in OS-initiated mode: SET_SUSPEND_MODE returned DENIED"],
        ),
        (
            Fake::new(4).with(wrong),
            "only=contend_sweep contend=2 iterations=9 warmup=0 core=0x1010022",
            STATES,
            &["* Not counted: ", " wrong-context, "],
        ),
    ] {
        check(fake, args, 4, &states, phrases);
    }
    check(
        Fake::new(1),
        "only=idle_states",
        1,
        &stopping(),
        &["* States left out: the idle state stops the CPUs' own timers"],
    );
}

#[test]
#[ignore = "needs the printers of the new model"]
fn each_wake_up_source_has_its_sentence() {
    let deepest = |outcome: &Outcome| matches!(outcome.action, Action::Suspend { power_state, .. } if power_state >> 24 != 0);
    let frame_fails = |round: u64, cpu: usize, outcome: &mut Outcome| {
        if (round, cpu) == (1, 0) {
            outcome.end = End::NotRung;
        }
    };
    let not_woken = move |_: u64, cpu: usize, outcome: &mut Outcome| {
        if cpu == 1 && deepest(outcome) {
            outcome.end = End::Lost(LOSS);
        }
    };
    let early = move |_: u64, _: usize, outcome: &mut Outcome| {
        if deepest(outcome) {
            outcome.after = outcome.due - 1;
        }
    };
    for (fake, phrases) in [
        (
            Fake::new(8),
            &[
                "Wake-up trials: an SGI woke CPU 0.1 from 0x01010022; one from CPU 1.0 woke the \
                 lead, as the device tree has no timer frame",
                "in parallel, woken by CPU 0.0 (us)",
                "in parallel, woken by CPU 1.0 (us)",
                "* The CPUs' own timers stop in this state: CPU 1.0 stays awake and wakes the lead \
                 by SGI; CPU_ON turns on each other CPU.",
            ][..],
        ),
        (
            Fake::new(8).with_frame(),
            &[
                "CNTP, interrupt 30, GICv3; where that stops, timer frame at 0x2a830000, \
                 interrupt 92",
                "; the timer frame at 0x2a830000, interrupt 92, woke the lead",
                "the timer frame wakes the lead; CPU_ON turns on each other CPU.",
            ],
        ),
        (
            Fake::new(8).with_frame().with(frame_fails),
            &["the timer frame failed its trial: its interrupt did not wake the lead, an SGI"],
        ),
        (
            Fake::new(8).with(not_woken),
            &["Skipped: SGI did not wake CPU 0x1 from 0x01010022"],
        ),
        (
            Fake::new(8).with(early),
            &["Failed: no trial round was good"],
        ),
    ] {
        check(fake, "iterations=2", 8, &stopping(), phrases);
    }
    let alone = "there is no second CPU to wake the first";
    check(Fake::new(1), "iterations=2", 1, &stopping(), &[alone]);
}
