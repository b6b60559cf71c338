//! Output from synthetic runs, compared byte for byte or by selected lines.

use std::format;
use std::slice;
use std::string::{String, ToString};
use std::vec::Vec;

use crate::measure::{Facts, Identity, Metric};
use crate::model::{ClosingLine, Failure, Run, RunId, Scenario, Skip, Status};
use crate::plan::{Method, Plan, Records, ScenarioId, WordSet};
use crate::record::Writer;
use crate::testing::synthetic::{self, good, made};
use expect_test::expect_file;
use hardware::board::{LabelSource, Mpidr, NoWatchdog, Watchdog, WatchdogKind};
use hardware::spec::caches::Caches;
use hardware::spec::psci::ReturnCode;
use hardware::text::prose::{COLUMNS, is_too_wide};

use crate::output;
use crate::output::header::{cpu_clocks, frequencies, print_header};
use crate::output::summary::ClosingSummary;

/// Compares the text with `expected/NAME.txt`.
pub(super) fn check(name: &str, printed: &str) {
    expect_file![format!("expected/{name}.txt")].assert_eq(printed);
}

fn printed(write: impl FnOnce(&mut String) -> core::fmt::Result) -> String {
    let mut out = String::new();
    write(&mut out).expect("writing to a String cannot fail");
    out
}

fn header(run: &Run) -> String {
    printed(|out| print_header(out, run))
}

fn scenario(run: &Run, scenario: &Scenario) -> String {
    printed(|out| {
        output::print_scenario_name(out, scenario.id, scenario.method)?;
        output::print_scenario(out, run, slice::from_ref(scenario))
    })
}

fn closing(run: &Run, all: &[Scenario]) -> String {
    let mut summary = ClosingSummary::new(&run.plan.expect("a plan"));
    all.chunks(1).for_each(|group| summary.add(run, group));
    let mut records = Writer::new(Records::None, RunId::default());
    printed(|out| output::print_closing(out, run, &summary, &mut records).map(drop))
}

/// Returns everything printed for a run, which must be ASCII in lines of at most 80 columns.
fn whole(run: &Run, all: &[Scenario]) -> String {
    let results: String = all
        .iter()
        .map(|passed_scenario| scenario(run, passed_scenario))
        .collect();
    let log = header(run) + &results + &closing(run, all);
    for line in log.lines() {
        assert!(!is_too_wide(line) && !line.ends_with(' '), "{line:?}");
        assert!(line.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')));
    }
    log
}

#[test]
fn headers() {
    check("header", &header(&synthetic::run(8)));
    let mut poor = synthetic::run_with(5, |facts| {
        (facts.frequency, facts.own.frequency) = (0, 0);
    });
    synthetic::remove_pmf(&mut poor);
    let plan = poor.plan.as_mut().expect("a plan");
    (plan.methods, plan.deepest) = (WordSet::from_values(&[Method::Warm]), Some(0x4000_0022));
    let head = poor.head.as_mut().expect("a head");
    head.labels = LabelSource::Mpidr;
    head.model = "a board \u{b5} whose name contains a large number of words\n".repeat(4);
    check("header-poor", &header(&poor));
}

/// If the watchdog cannot end a hanging run, the header states why it is not used.
#[test]
fn machines() {
    type Edit = fn(&mut Facts);
    let sbsa = Watchdog {
        kind: WatchdogKind::Sbsa,
        base: 0x2a44_0000,
    };
    let header_of = |edit: Edit| header(&synthetic::run_with(2, edit));
    let kvm = header_of(|facts| (facts.kvm, facts.own.caches) = (true, Caches::default()));
    let unknown = "  Caches     : unknown: KVM makes up CCSIDR_EL1 for its guests\n";
    assert!(kvm.contains(unknown), "{kvm}");
    for (watchdog, line) in [
        (
            Err(NoWatchdog::NotThere),
            "none at the address in the device tree",
        ),
        (
            Err(NoWatchdog::TooSoon { most: 8, least: 28 }),
            "not used: it resets within 8 s, but the lead may need 28 s",
        ),
        (
            Ok(sbsa),
            "SBSA watchdog at 0x2a440000, if the lead does not return",
        ),
    ] {
        let text = header(&synthetic::run_with(2, |facts| facts.watchdog = watchdog));
        assert!(text.contains(&format!("Watchdog   : {line}\n")), "{text}");
    }
}

/// Both frequencies are printed if the device tree overrides CNTFRQ_EL0.
#[test]
fn frequency_of_the_device_tree_is_named() {
    for (register, expected) in [
        (
            synthetic::FREQUENCY,
            "CNTPCT at 62500000 Hz, a tick is 16.00 ns",
        ),
        (
            31_250_000,
            "CNTPCT at 62500000 Hz by the device tree's clock-frequency (CNTFRQ_EL0 is 31250000 \
             Hz), a tick is 16.00 ns",
        ),
        (
            0,
            "CNTPCT at 62500000 Hz by the device tree's clock-frequency (CNTFRQ_EL0 is 0 Hz), a \
             tick is 16.00 ns",
        ),
    ] {
        let run = synthetic::run_with(2, |facts| facts.own.frequency = register);
        let words: Vec<String> = header(&run).split_whitespace().map(String::from).collect();
        let text = words.join(" ");
        assert!(text.contains(expected), "{text}");
    }
}

/// Firmware must set CNTFRQ_EL0 on each CPU. The clocks of big and little cores differ.
#[test]
fn values_that_are_not_the_leads() {
    let clock = |mhz| Identity {
        frequency: synthetic::FREQUENCY,
        clock_mhz: Some(mhz),
        ..Identity::default()
    };
    let zero = |is_zero: bool| is_zero.then(Identity::default);
    type Identities<'i> = &'i dyn Fn(usize) -> Option<Identity>;
    let rows: [(Identities<'_>, &str); 4] = [
        (&|_| None, ""),
        (&|cpu| Some(clock(if cpu < 4 { 1401 } else { 1420 })), ""),
        (
            &|cpu| zero(cpu > 0),
            "Warning: CNTFRQ_EL0 is 0 Hz on CPU 0.1, but 62500000 Hz on the lead; this affects \
             6 more CPUs.",
        ),
        (
            &|cpu| Some(clock(if cpu < 4 { 1401 } else { 1800 })),
            "Note: CPU 1.0 runs at 1800 MHz, the lead at 1400 MHz; this affects 3 \
             more CPUs.",
        ),
    ];
    for (identity, expected) in rows {
        let mut run = synthetic::run(8);
        for (index, cpu) in run.cpus.iter_mut().enumerate() {
            cpu.identity = identity(index);
        }
        let text = printed(|out| frequencies(out, &run).and(cpu_clocks(out, &run)));
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words.join(" "), expected);
    }
}

/// The plan is printed with the arguments that its scenarios use.
#[test]
fn plans() {
    for (args, expected) in [
        (
            "only=timer_latency threshold=70",
            "1 scenario; duration=1 period=1000 stress=idle,mixed footprint=4M timers=alone,all \
             threshold=70",
        ),
        (
            "only=dirty_sweep method=warm wake=staggered",
            "1 scenario; iterations=20 warmup=2 method=warm wake=staggered cpu-on-after=1000",
        ),
        (
            "only=cpu_on,null_call deepest=0x1 loops=7",
            "2 scenarios; iterations=20 warmup=2 deepest=0x00000001 loops=7 batch=1024 \
             cpu-on-after=1000",
        ),
    ] {
        let mut run = synthetic::run(2);
        run.plan = Plan::parse(args).ok();
        let text = header(&run);
        let plain: Vec<&str> = text.split_whitespace().collect();
        let plan = plain.join(" ");
        assert_eq!(plan.split("Plan : ").nth(1), Some(expected), "{args}");
    }
}

/// Checks one table of each kind, because scenarios have different columns.
#[test]
fn tables() {
    let (run, pair) = (synthetic::run(6), synthetic::run(2));
    let mut no_pmf = synthetic::run(2);
    synthetic::remove_pmf(&mut no_pmf);
    let no_clock = synthetic::run_with(2, |facts| facts.frequency = 0);
    let deep = good(&run, ScenarioId::SUSPEND_DEEP_PARALLEL);
    let mut refused = good(&run, ScenarioId::CPU_SUSPEND_SERIAL);
    refused.cells.clear();
    refused.status = Status::Failed(Failure::StateRefused {
        power_state: 0x1_0002,
        error: ReturnCode(-2),
        cpu: 3.into(),
    });
    let mut many = good(&pair, ScenarioId::CPU_SUSPEND_SERIAL);
    many.cells[1].series[0].summary.p99 = Some(999);
    let skipped = synthetic::skipped(good(&run, ScenarioId::SUSPEND_DEEP_SERIAL));
    let warm = made(&pair, ScenarioId::CPU_SUSPEND_PARALLEL, Method::Warm);
    let passed_scenario = |run, id: ScenarioId| (run, good(run, id));
    for (name, (run, made)) in [
        ("susp_deep_parallel", (&run, deep.clone())),
        ("lost-cpu", (&run, synthetic::with_a_lost_cpu(deep))),
        ("skipped", (&run, skipped)),
        ("refused", (&run, refused)),
        (
            "cpu_off_serial",
            passed_scenario(&pair, ScenarioId::CPU_OFF_SERIAL),
        ),
        ("cpu_susp_serial", (&pair, many)),
        (
            "psci_version_parallel",
            passed_scenario(&pair, ScenarioId::PSCI_VERSION_PARALLEL),
        ),
        ("warm", (&pair, warm)),
        (
            "no-pmf-suspend",
            passed_scenario(&no_pmf, ScenarioId::SUSPEND_DEEP_PARALLEL),
        ),
        (
            "no-pmf-off",
            passed_scenario(&no_pmf, ScenarioId::CPU_OFF_SERIAL),
        ),
        (
            "no-pmf-version",
            passed_scenario(&no_pmf, ScenarioId::PSCI_VERSION_PARALLEL),
        ),
        (
            "ticks",
            passed_scenario(&no_clock, ScenarioId::CPU_SUSPEND_SERIAL),
        ),
    ] {
        check(name, &scenario(run, &made));
    }
}

/// Checks that a log has this many TFTF rows and contains these lines.
fn check_log(run: &Run, all: &[Scenario], rows: usize, lines: &[&str]) -> String {
    let log = whole(run, all);
    assert_eq!(log.matches("<RT_INSTR:").count(), rows, "{lines:?}");
    for line in lines {
        assert!(log.contains(line), "{line}\n{log}");
    }
    log
}

/// Rows that differ from the golden rows in a single respect.
#[test]
fn odd_rows() {
    let four = synthetic::run(4);
    // The values are kept, so they would be visible if a line were printed.
    let mut skipped = good(&four, ScenarioId::SUSPEND_DEEP_SERIAL);
    skipped.cells[1].skipped = Some(Skip::NoGic);
    let row = "|       0 |    1 |   Skipped | Skipped |     Skipped |";
    let counts = "failed; 1 row skipped, 0 CPUs lost)\n";
    let log = check_log(&four, &[skipped], 3, &[row, counts]);
    assert!(!log.contains("_serial\t0\t1\t"));

    let mut threads = four.clone();
    for (index, cpu) in (0..).zip(&mut threads.cpus) {
        (cpu.cluster, cpu.core, cpu.thread) = (0, index / 2, index % 2);
    }
    let version = good(&threads, ScenarioId::PSCI_VERSION_PARALLEL);
    let heading = "| Cluster | Core | Thread | Latency |";
    check_log(&threads, &[version], 4, &["\t0\t3\t48/>", heading]);

    let slow = synthetic::run_with(2, |facts| facts.frequency = 1_000);
    // A time in nanoseconds that does not fit in 64 bits is shown as n/a.
    let mut huge = good(&slow, ScenarioId::SUSPEND_DEEP_SERIAL);
    huge.cells[0].set_figure(Metric::Powerdown, Some(u64::MAX));
    for series in &mut huge.cells[1].series {
        if series.metric == Metric::Powerdown {
            series.summary.max = u64::MAX;
        }
    }
    let missing = "|       0 |    0 |       n/a | 1625000.00 |";
    check_log(&slow, &[huge], 1, &[missing]);
}

/// Caller-side times are measured even without PMF and without a clock frequency.
#[test]
fn logs_without_rows() {
    let mut no_pmf = synthetic::run(512);
    synthetic::remove_pmf(&mut no_pmf);
    let no_clock = synthetic::run_with(4, |facts| facts.frequency = 12);
    let skipped = "Tests Skipped : 6\nTests Passed  : 0\nTests Failed  : 0\n";
    let pass = "\npsci-bench: PASS (6 passed, 0 skipped, 0 failed; ";
    for run in [&no_pmf, &no_clock] {
        check_log(run, &synthetic::all(run), 0, &[skipped, pass]);
    }
    let fail = ["\nTests Skipped : 0\n", "\npsci-bench: FAIL ("];
    check_log(&no_pmf, &[], 0, &fail);

    let mut warm = synthetic::run(4);
    warm.plan.as_mut().expect("a plan").methods = WordSet::from_values(&[Method::Warm]);
    let log = check_log(&warm, &synthetic::all(&warm), 0, &[pass]);
    for tftf_line in ["Booting trusted", "> Executing", "Exiting", "Tests Failed"] {
        assert!(!log.contains(tftf_line), "{tftf_line}");
    }
}

#[test]
fn a_log_of_many_cpus() {
    let mut many = synthetic::run(512);
    many.plan.as_mut().expect("a plan").methods = WordSet::from_values(&Method::ALL);
    many.head.as_mut().expect("a head").model = "\u{1f980}\x1b[2J ".repeat(100);
    let last = "Last man down in cluster 127, ";
    check_log(&many, &synthetic::all(&many), 6 * 512, &[last]);
}

#[test]
fn a_summary_names_what_was_skipped_and_why() {
    let mut run = synthetic::run(12);
    run.plan.as_mut().expect("a plan").methods = WordSet::from_values(&Method::ALL);
    let sgi = Skip::SgiDidNotWake {
        mpidr: Mpidr::new(1),
        power_state: 0x4000_0002,
    };
    let mut of_rows = good(&run, ScenarioId::SUSPEND_DEEP_SERIAL);
    for (cpu, row) in of_rows.cells.iter_mut().enumerate() {
        let is_skipped = cpu != 0 && cpu != 3;
        row.skipped = is_skipped.then_some([Skip::NoGic, sgi][cpu % 2]);
    }
    let warm = synthetic::skipped(made(&run, ScenarioId::CPU_SUSPEND_SERIAL, Method::Warm));
    let log = whole(&run, &[of_rows, warm]);
    let end = log.rsplit_once("===\n\n").expect("the summary").1;
    let expected = "\
Skipped: test_rt_instr_susp_deep_serial, CPU 0.1, 1.1, 1.3, 2.1, 2.3: SGI did
  not wake CPU 0x1 from 0x40000002
Skipped: test_rt_instr_susp_deep_serial, CPU 0.2, 1.0, 1.2, 2.0, 2.2: no GIC:
  nothing can wake a suspended CPU
Skipped: test_rt_instr_cpu_susp_serial, method warm: the board has no idle state
  of this kind; set one with deepest= or core=

240 samples, 0 not counted.
psci-bench: PASS (1 passed, 1 skipped, ";
    assert!(end.starts_with(expected), "{end}");
}

#[test]
fn the_end_of_a_run() {
    let run = synthetic::run(2);
    let mut scenarios = synthetic::all(&run);
    scenarios.truncate(2);
    scenarios.push(synthetic::skipped(good(
        &run,
        ScenarioId::CPU_SUSPEND_SERIAL,
    )));
    check("closing", &closing(&run, &scenarios));

    let reason = "bootargs word 1 \"only=nothing\": only takes ".repeat(4);
    let text = printed(|out| ClosingLine::BadInput(&reason).print(out));
    let (error, last) = text.trim_end().rsplit_once('\n').expect("two lines");
    let words: Vec<&str> = error.split_whitespace().collect();
    assert_eq!(words.join(" "), format!("ERROR: {}", reason.trim_end()));
    let begin = "psci-bench: INCOMPLETE: bad input: bootargs word 1 ".to_string();
    assert!(last.starts_with(&begin) && last.len() <= COLUMNS);
    assert!(last.ends_with("\"only=nothing\": only ..."), "{last}");
}

#[test]
fn of_words_passed_over_the_first_are_printed() {
    let printed_output = |bootargs: &str| {
        let mut text = String::new();
        crate::output::print_ignored_words(&mut text, bootargs).expect("a text");
        text
    };
    assert_eq!(printed_output("iterations=3"), "");
    let lead = "Ignored boot arguments for another program:";
    assert_eq!(
        printed_output(" quiet  iterations=3 a=b\t"),
        format!("{lead} quiet a=b\n")
    );
    let many = "x=1234567 ".repeat(150);
    let text = printed_output(&many).replace("\n  ", " ");
    let shown = "x=1234567 ".repeat(111);
    assert_eq!(text, format!("{lead} {shown}x...\n"));
}
