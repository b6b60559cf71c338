//! Complete runs on the fake machine, and their records.

use core::sync::atomic::AtomicU64;
use std::format;
use std::string::String;
use std::vec::Vec;

use crate::measure::{ActionEnd, Machine, NoCpuOff, Outcome};
use crate::model::{Head, Run, RunId, Scenario, Verdict};
use crate::plan::{Method, Plan, Records, WordSet};
use crate::record::{FORMAT, MARK, RecordLine, RunBuilder, Writer};
use crate::testing::board;
use crate::testing::fake::Fake;
use hardware::board::{CpuIndex, IdleState, LabelSource, NoFrame, StateSet};
use sync::Heap;

use super::golden::check;
use crate::output::summary::ClosingSummary;
use crate::output::{self, header};
use crate::run_all;
use crate::scenarios::tests::{STATES, stopping};

/// Returns a run on the fake machine, before any scenario has run.
fn new_run(fake: &Fake, args: &str) -> Run {
    let cpus = fake.cpus();
    let mut facts = *fake.facts();
    facts.own.frequency = facts.frequency;
    Run {
        head: Some(Head {
            format: FORMAT,
            version: "0.0.0".into(),
            model: "Fake".into(),
            labels: LabelSource::CpuMap,
            cpus: u16::try_from(cpus).expect("a small board"),
        }),
        facts: Some(facts),
        plan: Some(Plan::parse(args).expect("a valid plan")),
        cpus: board(cpus),
        ..Run::default()
    }
}

fn printed(mut fake: Fake, args: &str, states: &[IdleState<'_>]) -> (String, Verdict) {
    let run = new_run(&fake, args);
    let mut out = String::new();
    let (heap, samples) = (Heap::new(|| true), AtomicU64::new(0));
    let verdict = run_all(&mut fake, run, &states.into(), &mut out, &heap, &samples)
        .expect("writing to a String cannot fail");
    (out, verdict)
}

fn separated(text: &str) -> (Run, String) {
    let mut builder = RunBuilder::default();
    let (mut rest, mut seq) = (String::new(), 0);
    for line in text.split_inclusive('\n') {
        if line.starts_with(MARK) {
            let claim = RecordLine::parse(line.as_bytes()).expect(line);
            assert!(claim.seq == seq && claim.is_sound(), "{line}");
            builder.add_record(claim.record().expect(line));
            seq += 1;
        } else {
            rest += line;
        }
    }
    let run = builder.finish();
    assert_eq!(run.end.map(|end_record| end_record.records), Some(seq));
    (run, rest)
}

/// Prints a run that was measured earlier, with its records.
pub(super) fn printed_again(run: &Run, records: Records) -> (String, Verdict) {
    let mut out = String::new();
    let plan = run.plan.expect("a plan");
    let (mut records, mut summary) = (
        Writer::new(records, run.id.unwrap_or_default()),
        ClosingSummary::new(&plan),
    );
    let mut print = || {
        header::print_header(&mut out, run)?;
        records.write_machine(&mut out, run)?;
        let is_same =
            |one: &Scenario, other: &Scenario| (one.id, one.method) == (other.id, other.method);
        for group in run.scenarios.chunk_by(is_same) {
            output::print_scenario_name(&mut out, group[0].id, group[0].method)?;
            output::print_scenario(&mut out, run, group)?;
            records.write_scenario(&mut out, group)?;
            summary.add(run, group);
        }
        output::print_closing(&mut out, run, &summary, &mut records)
    };
    let verdict = print().expect("writing to a String cannot fail");
    (out, verdict)
}

/// A complete run of a loop scenario that measures cycles.
#[test]
fn null_calls() {
    let args = "only=null_call loops=2000 batch=100";
    let (text, verdict) = printed(Fake::new(2), args, &STATES);
    assert_eq!(verdict, Verdict::Pass);
    check("null-call", &separated(&text).1);
}

#[test]
fn each_record_and_the_header_have_the_identity_of_the_run() {
    let mut fake = Fake::new(2);
    let run = Run {
        id: RunId::parse("5e0ffb1d"),
        ..new_run(&fake, "only=null_call loops=8 batch=2")
    };
    let id = run.id;
    let mut out = String::new();
    run_all(
        &mut fake,
        run,
        &STATES[..].into(),
        &mut out,
        &Heap::new(|| true),
        &AtomicU64::new(0),
    )
    .expect("writing to a String cannot fail");
    let (header, records) = out.split_at(out.find(MARK).expect("records"));
    assert!(header.contains(": 5e0ffb1d\n"), "{header}");
    let records = records.lines().filter(|line| line.starts_with(MARK));
    for line in records {
        let claim = RecordLine::parse(line.as_bytes()).expect(line);
        assert!(Some(claim.run) == id && claim.is_sound(), "{line}");
    }
}

/// All output for human readers can be reproduced from the records.
#[test]
fn records_contain_all_that_is_printed() {
    let all_scenarios = "only=all samples=all iterations=3 loops=8 batch=2 dirty=0,16K";
    for (fake, args, states) in [
        (Fake::new(8).with_statistics(), "iterations=5", STATES),
        (Fake::without_pmf(4), "method=tftf,warm", STATES),
        (Fake::new(3).with_modes(), all_scenarios, stopping(1)),
        (Fake::new(5), "iterations=100", stopping(0)),
    ] {
        let (text, _) = printed(fake, args, &states);
        let (run, mut without_records) = separated(&text);
        // Lines printed before the results have no records.
        if let Some(from) = without_records.find("Wake-up trials: ") {
            let length = without_records[from..].find("\n\n").expect("a blank line");
            without_records.replace_range(from..from + length + 2, "");
        }
        let is_result = |line: &&str| !line.starts_with("RT") && !line.starts_with("---|");
        let results: Vec<&str> = without_records.lines().filter(is_result).collect();
        let (again, verdict) = printed_again(&run, Records::None);
        assert_eq!(run.end.map(|end_record| end_record.verdict), Some(verdict));
        assert_eq!(again.lines().collect::<Vec<_>>(), results, "{args}");
    }
}

#[test]
fn records_are_not_between_tftfs_lines() {
    let [without, once] = ["none", "once"].map(|records| {
        let args = format!("iterations=2 only=cpu_susp_parallel records={records}");
        printed(Fake::new(2), &args, &STATES).0
    });
    assert!(!without.contains(MARK));
    assert_eq!(separated(&once).1, without);
    // There are no records between TFTF's lines.
    let tftf_lines = once.find("> Executing").zip(once.find("TEST COMPLETE"));
    let (from, to) = tftf_lines.expect("TFTF's lines");
    assert!(!once[from..to].contains(MARK));
}

/// Checks that the output contains the expected parts, one per line.
#[test]
fn parts_that_are_left_out_and_wake_ups() {
    let slow = Fake::new(1).with(|_, _, outcome| {
        outcome.returned_at = outcome.returned_at.map(|ticks| ticks + 6_250_000);
    });
    for (fake, args, states, expected) in [
        (
            Fake::new(2),
            "only=contend_sweep contend=1,4,7 iterations=2",
            STATES,
            "Skipped: contend_sweep, contend=4, 7: contend= requests more CPUs than the board has; \
             if the CPUs' timers stop, one more must stay awake
             * core: longest median of powerdown by CPUs: 1: ",
        ),
        (
            Fake::new(4),
            "only=contend_sweep contend=2,4 iterations=2",
            stopping(1),
            "Skipped: contend_sweep, contend=4: contend= requests more CPUs than the board has;",
        ),
        (
            Fake::new(1),
            "only=idle_states iterations=1",
            stopping(1),
            "* States left out: the idle state stops the CPUs' own timers
             * OS-initiated mode left out: the firmware does not implement function 0x8400000f.
             Skipped: idle_states, power_state 0x01010022: the idle state stops",
        ),
        (
            slow,
            "only=null_call",
            STATES,
            "The time limit ended the sampling after at least 100 samples",
        ),
        (
            Fake::new(8),
            "iterations=2",
            stopping(0),
            "Wake-up trials: an SGI woke CPU 1.3 from 0x00010002, 0x01010022; one from CPU 1.0 \
             woke the lead, because the device tree has no timer frame
             .. table:: Suspend to deepest power level on all cores in parallel, woken by CPU 1.0 \
             (us)",
        ),
        (
            Fake::new(8).with_trials(|_, outcome| outcome.end = ActionEnd::WokenByFallback),
            "iterations=2 only=cpu_susp_serial",
            STATES,
            "Warning: CPU 1.3's timer did not wake it from 0x00010002, but an SGI did: the idle \
             state lacks local-timer-stop.
             Wake-up trials: an SGI woke CPU 1.3 from 0x00010002; one from CPU 1.0 woke the lead",
        ),
        (
            Fake::new(4).with_frame(),
            "iterations=2",
            stopping(1),
            "; the timer frame at 0x2a830000, interrupt 92, woke the lead.
             if it stops, timer frame at 0x2a830000,",
        ),
    ] {
        check_parts(fake, args, &states, expected);
    }
}

fn check_parts(fake: Fake, args: &str, states: &[IdleState<'_>], expected: &str) {
    let (text, _) = printed(fake, args, states);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in expected.lines() {
        assert!(text.contains(part.trim()), "{args}: {part}\n{text}");
    }
}

#[test]
fn a_frame_that_wakes_no_cpu_is_none_in_the_records() {
    let lead_is_rung = |_, cpu: CpuIndex, outcome: &mut Outcome| {
        if cpu.index() == 0 && outcome.action.sleeps() {
            outcome.end = ActionEnd::WokenByFallback;
        }
    };
    let fake = Fake::new(4).with_frame().with(lead_is_rung);
    let (text, _) = printed(fake, "iterations=2 only=susp_deep_serial", &stopping(1));
    let facts = separated(&text).0.facts.expect("facts");
    assert_eq!(facts.frame, Err(NoFrame::DidNotWake));
}

/// A shallower state never replaces the deepest.
#[test]
fn a_state_of_the_other_format_is_named() {
    let system = IdleState {
        name: "system-off",
        power_state: 0x4000_0222,
        level: None,
        local_timer_stop: false,
        deeper_than: StateSet::all_before(1),
        is_on_all_cpus: true,
    };
    check_parts(
        Fake::new(2),
        "only=susp_deep_serial,cpu_susp_serial,idle_states iterations=1",
        &[STATES[0], system],
        "Warning: the idle state system-off is left out: power_state 0x40000222 is in the \
         extended format, but the firmware uses the original one.
         Skipped: the firmware uses original power_state values, but the device tree has extended
         Skipped: idle_states, power_state 0x40000222: the firmware uses original",
    );
}

/// Firmware without CPU_OFF is measured with the warm method and without TFTF's lines.
#[test]
fn without_cpu_off_cpus_stay_on() {
    let args = "only=suite,cpu_on,dirty_sweep dirty=0 iterations=2 method=tftf,warm";
    let listed = |reason| Fake::new(4).with_facts(move |facts| facts.no_cpu_off = Some(reason));
    for (why, reason) in [
        (NoCpuOff::NotListed, "PSCI_FEATURES does not list CPU_OFF"),
        (
            NoCpuOff::Forbidden,
            "according to the device tree, CPU_OFF is permanent",
        ),
    ] {
        let (text, verdict) = printed(listed(why), args, &STATES);
        assert_eq!(verdict, Verdict::Pass, "{text}");
        let (run, rest) = separated(&text);
        let words = rest.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&format!("CPU_OFF : not used: {reason}.")));
        assert!(words.contains(&format!("Skipped: {reason}")), "{rest}");
        assert!(!rest.contains("RT_INSTR") && !rest.contains("> Executing"));
        // No scenario is measured twice or is skipped in favor of the other method.
        assert_eq!(
            run.plan.map(|plan| plan.methods),
            Some(WordSet::from_values(&[Method::Warm]))
        );
        assert_eq!(run.scenarios.len(), 8);
        let has_cells = |scenario: &&Scenario| !scenario.suite_cells().is_empty();
        assert_eq!(run.scenarios.iter().filter(has_cells).count(), 5);
        let is_warm = |scenario: &Scenario| scenario.method == Method::Warm;
        assert!(run.scenarios.iter().all(is_warm));
    }
}

/// If CPU_OFF is listed in PSCI_FEATURES but not supported, only the scenario that discovers
/// this fails.
#[test]
fn a_cpu_off_that_is_not_supported_costs_one_scenario() {
    let mut fake = Fake::new(4);
    fake.lacks_cpu_off = true;
    let (text, verdict) = printed(fake, "iterations=2", &STATES);
    assert_eq!(verdict, Verdict::Fail);
    let (run, rest) = separated(&text);
    assert!(rest.contains("Failed: CPU_OFF is advertised, but returned NOT_SUPPORTED"));
    assert!(!rest.contains("<RT_INSTR:"), "{rest}");
    let cells = run
        .scenarios
        .iter()
        .map(|scenario| scenario.suite_cells().len());
    assert_eq!(cells.collect::<Vec<_>>(), [0, 4, 4, 4, 4, 0]);
    let is_tftf = |scenario: &&Scenario| scenario.method == Method::Tftf;
    assert_eq!(run.scenarios.iter().filter(is_tftf).count(), 1);
}

/// Returns the lines printed for a timer latency measurement.
fn lines(mut lateness: impl FnMut(u32) -> u64 + 'static, args: &str) -> Vec<String> {
    let fake = Fake::new(1).with_lateness(move |_, expiry| lateness(expiry));
    let args = format!("only=timer_latency stress=idle timers=all {args}");
    let (text, _) = printed(fake, &args, &STATES);
    let is_one = |line: &&str| line.starts_with("RT") || line.starts_with("---|");
    text.lines().filter(is_one).map(String::from).collect()
}

/// The number of ticks from a handler's first instruction to its Rust code.
const PROLOGUE: u64 = 20;

/// The layout that tools for other latency programs expect.
#[test]
fn lines_of_timer_latency() {
    let lateness = |expiry| if expiry == 1 { 5_000 } else { 625 - PROLOGUE };
    // Each window consists of a single expiry.
    let window = "RTD|     10.000|     10.000|     10.000|       0|     0|     10.000|     10.000";
    assert_eq!(
        lines(lateness, "duration=3 period=1000000"),
        [
            "RTT|  00:00:00  (expiry to handler, 1000000 us period, all CPUs, idle)",
            "RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst",
            window,
            window,
            window,
            "---|-----------|-----------|-----------|--------|------|-----------------------",
            "RTS|     10.000|     10.000|     10.000|       0|     0|    00:00:03/00:00:03",
        ]
    );
}

#[test]
fn best_and_worst_are_those_of_the_stretch_so_far() {
    let mut ticks = [3126, 1876, 4376].into_iter().cycle();
    let mut of_window = 0;
    let lateness = move |expiry| {
        if expiry == 0 {
            of_window = ticks.next().expect("endless") - PROLOGUE;
        }
        of_window
    };
    let text = lines(lateness, "duration=3");
    for (line, [least, best, worst]) in [
        (2, ["50.016", "50.016", "50.016"]),
        (3, ["30.016", "30.016", "50.016"]),
        (4, ["70.016", "30.016", "70.016"]),
    ] {
        let columns: Vec<&str> = text[line].split('|').map(str::trim).collect();
        assert_eq!([columns[1], columns[6], columns[7]], [least, best, worst]);
    }
    let sum: Vec<&str> = text[6].split('|').map(str::trim).collect();
    assert_eq!(sum[1..4], ["30.016", "50.016", "70.016"]);
}

#[test]
fn time_is_rounded_and_headings_are_repeated() {
    let text = lines(|_| 0, "duration=4000 period=300000");
    assert!(text.last().expect("lines").ends_with("01:06:40/01:06:40"));
    let count = |prefix| text.iter().filter(|line| line.starts_with(prefix)).count();
    assert_eq!(count("RTH"), count("RTD").div_ceil(21));
}
