//! Output, byte for byte.
//!
//! To take over a change that was meant, run the tests with
//! `PSCI_BENCH_BLESS=1`, and read the difference.

use std::format;
use std::string::String;
use std::vec::Vec;

use crate::board::{LabelSource, NoWatchdog, Watchdog, WatchdogKind};
use crate::findings::{Detail, findings_of};
use crate::measure::{Counter, Identity};
use crate::model::ClosingLine;
use crate::model::example::{self, edit_facts, good, made};
use crate::model::{Failure, Run, Scenario, Status};
use crate::output::header::{cpu_clocks, frequencies};
use crate::output::run as output;
use crate::output::summary::Summary;
use crate::plan::{Method, Methods, Plan, Records, ScenarioId};
use crate::record::Writer;
use crate::spec::caches::Caches;
use crate::spec::counter::CounterErratum;

/// Compares with the file `expected/NAME.txt`.
pub(super) fn check(name: &str, printed: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/output/tests/expected");
    let path = format!("{folder}/{name}.txt");
    if std::env::var_os("PSCI_BENCH_BLESS").is_some() {
        std::fs::write(&path, printed).expect("the folder is there");
    }
    let expected = std::fs::read_to_string(&path).expect("the file is there");
    assert_eq!(printed, expected, "{name}");
}

fn printed(write: impl FnOnce(&mut String) -> core::fmt::Result) -> String {
    let mut out = String::new();
    write(&mut out).expect("a String takes all");
    out
}

fn header(run: &Run) -> String {
    printed(|out| output::header(out, run))
}

pub(super) fn print_scenario(
    out: &mut String,
    run: &Run,
    scenario: &Scenario,
) -> core::fmt::Result {
    let findings = findings_of(run, scenario, Detail::Short);
    let scenario = Scenario {
        findings,
        ..scenario.clone()
    };
    output::begin_scenario(out, scenario.id, scenario.method)?;
    output::scenario(out, run, &[scenario])
}

#[test]
fn headers() {
    check("header", &header(&example::run(8)));
    let mut run = example::run(2);
    edit_facts(&mut run, |facts| {
        facts.counter = Counter::PhysicalTwice(CounterErratum::CortexA73);
        facts.e2h = true;
        facts.kvm = true;
        facts.own.caches = Caches::default();
    });
    let text = header(&run);
    for line in [
        "Counter    : CNTPCT (read twice for Cortex-A73's erratum 858921) at 62500000 Hz,",
        "from EL2, E2H fixed at 1, SMCCC",
        "  Caches     : not known: KVM makes up what CCSIDR_EL1 says to its guests\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let mut poor = example::with_methods(example::without_pmf(example::run(5)), Methods::Warm);
    edit_facts(&mut poor, |facts| facts.frequency = 0);
    poor.plan.as_mut().expect("a plan").deepest = Some(0x4000_0022);
    let head = poor.head.as_mut().expect("a head");
    head.labels = LabelSource::Mpidr;
    head.model = "a board \u{b5} that is called by a name of many words\n".repeat(4);
    check("header-poor", &header(&poor));
}

/// A watchdog that is left alone does not end a hanging run, and the header has the
/// reason.
#[test]
fn watchdogs() {
    let watchdog = Watchdog {
        kind: WatchdogKind::Sbsa,
        base: 0x2a44_0000,
    };
    let too_soon = NoWatchdog::TooSoon { most: 8, least: 27 };
    for (found, expected) in [
        (Err(NoWatchdog::NotInTree), None),
        (
            Err(NoWatchdog::NotThere),
            Some("none where the device tree has one"),
        ),
        (
            Err(too_soon),
            Some("left alone: it resets within 8 s, and the lead may take 27"),
        ),
        (
            Ok(watchdog),
            Some("SBSA watchdog at 0x2a440000, should the lead not come back"),
        ),
    ] {
        let mut run = example::run(2);
        edit_facts(&mut run, |facts| facts.watchdog = found);
        let text = header(&run);
        let line = text.lines().find(|line| line.contains("Watchdog"));
        assert_eq!(line.and_then(|it| it.split(" : ").nth(1)), expected);
    }
}

fn with_identities(cpus: u16, identity: impl Fn(usize) -> Option<Identity>) -> Run {
    let mut run = example::run(cpus);
    for (index, cpu) in run.cpus.iter_mut().enumerate() {
        cpu.identity = identity(index);
    }
    run
}

/// Firmware has to write each CPU's CNTFRQ_EL0; a big core has another clock than a
/// little one.
#[test]
fn values_that_are_not_the_leads() {
    let one_line = |text: String| text.replace("\n         ", " ").replace("\n      ", " ");
    let warning = |run: &Run| one_line(printed(|out| frequencies(out, run)));
    let note = |run: &Run| one_line(printed(|out| cpu_clocks(out, run)));
    let same = example::run(5);
    let unknown = with_identities(5, |_| None);
    for run in [&same, &unknown] {
        assert_eq!((warning(run), note(run)), (String::new(), String::new()));
    }
    let one = with_identities(5, |cpu| (cpu == 4).then(Identity::default));
    let zero = "Warning: CNTFRQ_EL0 is 0 Hz on CPU 1.0, and 62500000 Hz on the lead";
    assert_eq!(warning(&one), format!("{zero}.\n"));
    let more = with_identities(5, |cpu| (cpu > 0).then(Identity::default));
    let zero = zero.replace("1.0", "0.1");
    let zero = format!("{zero}; another one on 3 CPUs more.\n");
    assert_eq!(warning(&more), zero);

    let big = |mhz| {
        with_identities(8, move |cpu| {
            Some(Identity {
                clock_mhz: Some(if cpu < 4 { 1401 } else { mhz }),
                ..Identity::default()
            })
        })
    };
    assert_eq!(
        note(&big(1800)),
        "Note: the clock of CPU 1.0 is 1800 MHz, and the lead's 1400 MHz; another one on 3 CPUs \
         more.\n"
    );
    assert_eq!(note(&big(1420)), "");
}

/// The plan is printed by the arguments that its scenarios use.
#[test]
fn plans() {
    for (args, expected) in [
        (
            "only=timer_latency",
            "1 scenario; timers alone,all for 1 s each, a period of 1000 us, loads idle,mixed over \
             4096 KiB a CPU",
        ),
        (
            "only=timer_latency timers=all stress=idle threshold=70 duration=9 period=50",
            "1 scenario; timers all for 9 s each, a period of 50 us, loads idle, threshold 70 us",
        ),
        (
            "only=empty loops=1",
            "1 scenario; loops of 1 batch of 1 after 2 for warm-up",
        ),
        (
            "only=cpu_on iterations=7 warmup=3",
            "1 scenario, 7 samples a CPU after 3 for warm-up",
        ),
        (
            "only=dirty_sweep method=warm",
            "1 scenario, 20 samples a CPU after 2 for warm-up; method warm, all wake together",
        ),
    ] {
        let mut run = example::run(2);
        run.plan = Plan::parse(args).ok();
        let text = header(&run);
        let plain: Vec<&str> = text.split_whitespace().collect();
        let plan = plain.join(" ");
        assert_eq!(plan.split("Plan : ").nth(1), Some(expected), "{args}");
    }
}

/// One table of each kind: the scenarios differ in their columns.
#[test]
fn tables() {
    let run = example::run(6);
    let cold = |id| good(&run, id);
    let pair = example::run(2);
    let no_pmf = example::without_pmf(example::run(2));
    let mut no_clock = example::run(2);
    edit_facts(&mut no_clock, |facts| facts.frequency = 0);
    let refused = Scenario {
        rows: Vec::new(),
        status: Status::Failed(Failure::StateRefused {
            power_state: 0x1_0002,
            error: crate::spec::psci::ReturnCode(-2),
            cpu: 3,
        }),
        ..cold(ScenarioId::CpuSuspendSerial)
    };
    let mut many = good(&pair, ScenarioId::CpuSuspendSerial);
    many.rows[1].statistics[0].summary.p99 = Some(999);
    let deep = cold(ScenarioId::SuspendDeepParallel);
    let warm = |id| made(&pair, id, Method::Warm);
    for (name, run, scenario) in [
        ("susp_deep_parallel", &run, deep.clone()),
        ("lost-cpu", &run, example::with_a_lost_cpu(deep)),
        (
            "skipped",
            &run,
            example::skipped(cold(ScenarioId::SuspendDeepSerial)),
        ),
        ("refused", &run, refused),
        (
            "cpu_off_serial",
            &pair,
            good(&pair, ScenarioId::CpuOffSerial),
        ),
        ("cpu_susp_serial", &pair, many),
        (
            "psci_version_parallel",
            &pair,
            good(&pair, ScenarioId::PsciVersionParallel),
        ),
        ("warm", &pair, warm(ScenarioId::CpuSuspendParallel)),
        (
            "no-pmf-suspend",
            &no_pmf,
            good(&no_pmf, ScenarioId::SuspendDeepParallel),
        ),
        (
            "no-pmf-off",
            &no_pmf,
            good(&no_pmf, ScenarioId::CpuOffSerial),
        ),
        (
            "no-pmf-version",
            &no_pmf,
            good(&no_pmf, ScenarioId::PsciVersionParallel),
        ),
        (
            "ticks",
            &no_clock,
            good(&no_clock, ScenarioId::CpuSuspendSerial),
        ),
    ] {
        check(name, &printed(|out| print_scenario(out, run, &scenario)));
    }
}

#[test]
fn closing() {
    let run = example::run(2);
    let mut all = example::all(&run);
    all.truncate(2);
    let made = good(&run, ScenarioId::CpuSuspendSerial);
    all.push(example::skipped(made));
    let mut summary = Summary::new(&Plan::default());
    all.chunks(1).for_each(|group| summary.add(group));
    let text = printed(|out| {
        let mut records = Writer::new(Records::None);
        output::closing(out, &run, &summary, &mut records).map(|_| ())
    });
    check("closing", &text);
}

#[test]
fn cut_short() {
    let line = ClosingLine::BadInput(&"no device tree");
    assert_eq!(
        printed(|out| output::cut_short(out, &line)),
        "psci-bench: INCOMPLETE: bad input: no device tree\n"
    );
    let reason = "bootargs word 1 \"only=nothing\": only takes ".repeat(4);
    let text = printed(|out| output::cut_short(out, &ClosingLine::BadInput(&reason)));
    assert!(text.starts_with("ERROR:   bootargs word 1 "));
    let last = text.lines().last().unwrap_or_default();
    assert!(last.len() <= crate::spec::prose::COLUMNS);
    assert!(last.ends_with("\"only=nothing\": only ..."), "{last}");
    assert!(last.starts_with("psci-bench: INCOMPLETE: bad input: bootargs word 1 "));
    assert_eq!(
        text.matches("only takes").count(),
        4 + last.matches("only takes").count()
    );
}
