//! What is printed, byte for byte.
//!
//! To take over a change that was meant, run the tests with
//! `PSCI_BENCH_BLESS=1`, and read the difference.

use std::string::String;

use super::fixture::{Made, World, totals};
use crate::measure::{Counter, Identity};
use crate::model::{ClosingLine, Failure, Run, Status};
use crate::output::run as output;
use crate::plan::{Method, Methods, Plan, ScenarioId};
use crate::spec::counter::CounterErratum;
use crate::spec::pmf::Stamps;

/// Compares with the file `expected/NAME.txt`.
fn holds(name: &str, printed: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/output/tests/expected");
    let path = std::format!("{folder}/{name}.txt");
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

fn test_holds(name: &str, run: &Run<'_>, made: &Made) {
    let report = made.report();
    holds(
        name,
        &printed(|out| {
            output::begin_test(out, report.scenario, report.method)?;
            output::test(out, run, core::slice::from_ref(&report))
        }),
    );
}

#[test]
fn headers() {
    let world = World::of(8);
    holds(
        "header",
        &printed(|out| crate::output::header::header(out, &world.run())),
    );
    let mut twice = World::of(2);
    twice.facts.counter = Counter::PhysicalTwice(CounterErratum::CortexA73);
    let said = printed(|out| crate::output::header::header(out, &twice.run()));
    let counter =
        "Counter    : CNTPCT (read twice for Cortex-A73's erratum 858921) at 62500000 Hz,";
    assert!(said.contains(counter), "{said}");
    twice.facts.e2h = true;
    let said = printed(|out| crate::output::header::header(out, &twice.run()));
    assert!(said.contains("from EL2, E2H fixed at 1, SMCCC"), "{said}");
    let mut poor = World::of(5).without_pmf().with_methods(Methods::Warm);
    poor.facts.frequency = 0;
    poor.plan.deepest = Some(0x4000_0022);
    poor.labels = crate::board::LabelSource::Mpidr;
    poor.model = "a board \u{b5} that is called by a name of many words\n".repeat(4);
    holds(
        "header-poor",
        &printed(|out| crate::output::header::header(out, &poor.run())),
    );
}

#[test]
fn a_guest_of_kvm_has_no_sizes_of_caches() {
    let mut world = World::of(2);
    world.facts.kvm = true;
    world.facts.own.caches = crate::spec::caches::Caches::default();
    let said = printed(|out| crate::output::header::header(out, &world.run()));
    let line = "  Caches     : not known: KVM makes up what CCSIDR_EL1 says to its guests\n";
    assert!(said.contains(line), "{said}");
}

/// A watchdog that is left alone is no net under the run, and the header says why.
#[test]
fn what_watches_the_lead() {
    use crate::board::{NoWatchdog, Watchdog, WatchdogKind};
    let watchdog = Watchdog {
        kind: WatchdogKind::Sbsa,
        base: 0x2a44_0000,
    };
    let too_soon = NoWatchdog::TooSoon { most: 8, least: 27 };
    for (found, said) in [
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
        let mut world = World::of(2);
        world.facts.watchdog = found;
        let text = printed(|out| crate::output::header::header(out, &world.run()));
        let line = text.lines().find(|line| line.contains("Watchdog"));
        assert_eq!(line.and_then(|it| it.split(" : ").nth(1)), said);
    }
}

/// Firmware has to write each CPU's CNTFRQ_EL0.
#[test]
fn a_frequency_that_is_not_the_leads_is_named() {
    let said = |identity| {
        let world = World {
            identity,
            ..World::of(5)
        };
        let said = printed(|out| crate::output::header::frequencies(out, &world.run()));
        said.replace("\n         ", " ")
    };
    assert_eq!(said(World::of(1).identity), "");
    assert_eq!(said(|_| None), "");
    let zero = "Warning: CNTFRQ_EL0 is 0 Hz on CPU 1.0, and 62500000 Hz on the lead";
    let one = |cpu| {
        if cpu == 4 {
            Some(Identity::default())
        } else {
            None
        }
    };
    assert_eq!(said(one), std::format!("{zero}.\n"));
    let zero = zero.replace("1.0", "0.1");
    let more = |cpu| (cpu > 0).then(Identity::default);
    assert_eq!(
        said(more),
        std::format!("{zero}; another one on 3 CPUs more.\n")
    );
}

/// A big core has another clock than a little one.
#[test]
fn a_clock_that_is_not_the_leads_is_printed() {
    let said = |identity| {
        let world = World {
            identity,
            ..World::of(8)
        };
        let said = printed(|out| crate::output::header::cpu_clocks(out, &world.run()));
        said.replace("\n      ", " ")
    };
    assert_eq!(said(World::of(1).identity), "");
    fn clock(cpu: usize, big: u64) -> Option<Identity> {
        Some(Identity {
            clock_mhz: Some(if cpu < 4 { 1401 } else { big }),
            ..Identity::default()
        })
    }
    assert_eq!(
        said(|cpu| clock(cpu, 1800)),
        "Note: the clock of CPU 1.0 is 1800 MHz, and the lead's 1400 MHz; another one on 3 CPUs \
         more.\n"
    );
    assert_eq!(said(|cpu| clock(cpu, 1420)), "");
}

/// The plan is told by what plays a part in it.
#[test]
fn plans() {
    for (args, said) in [
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
        let mut world = World::of(2);
        world.plan = Plan::parse(args).expect("good words");
        let text = printed(|out| crate::output::header::header(out, &world.run()));
        let plain: std::vec::Vec<&str> = text.split_whitespace().collect();
        let plan = plain.join(" ");
        let plan = plan.split("Plan : ").nth(1);
        assert_eq!(plan, Some(said), "{args}");
    }
}

#[test]
fn the_six() {
    let world = World::of(8);
    for id in ScenarioId::SUITE {
        test_holds(id.short_tag(), &world.run(), &world.good(id));
    }
}

#[test]
fn wake_ups_that_waited() {
    let world = World::of(8);
    let mut made = world.good(ScenarioId::CpuSuspendParallel);
    // Twice the others' is not enough, six times is; the last of them comes up
    // when only two are still on their way.
    for (cpu, late, took) in [(1, 0, 3_250), (3, 0, 9_750), (6, 5_000, 9_760)] {
        let row = &mut made.rows[cpu];
        row.figures.wakeup = Some(took);
        let shown = row.shown.as_mut().expect("it went well");
        let Stamps([_, exit_psci, _, exit_low_power, ..]) = &mut shown.stamps;
        *exit_low_power += late;
        *exit_psci = *exit_low_power + took;
    }
    test_holds("waited", &world.run(), &made);
}

#[test]
fn warm() {
    let world = World::of(8).with_methods(Methods::Both);
    let made = world.made(ScenarioId::CpuSuspendParallel, Method::Warm);
    test_holds("warm", &world.run(), &made);
}

#[test]
fn callers_side() {
    let world = World::of(8).without_pmf();
    for (name, id) in [
        ("no-pmf-suspend", ScenarioId::SuspendDeepParallel),
        ("no-pmf-off", ScenarioId::CpuOffSerial),
        ("no-pmf-version", ScenarioId::PsciVersionParallel),
    ] {
        test_holds(name, &world.run(), &world.good(id));
    }
}

#[test]
fn unknown_frequency() {
    let mut world = World::of(2);
    world.facts.frequency = 0;
    let made = world.good(ScenarioId::CpuSuspendSerial);
    test_holds("ticks", &world.run(), &made);
}

#[test]
fn what_did_not_work() {
    let world = World::of(8);
    let made = world.good(ScenarioId::SuspendDeepParallel);
    test_holds("lost-cpu", &world.run(), &made.with_a_lost_cpu());
    let made = world.good(ScenarioId::SuspendDeepSerial).skipped();
    test_holds("skipped", &world.run(), &made);
    let mut made = world.good(ScenarioId::CpuSuspendSerial);
    made.rows.clear();
    made.status = Status::Failed(Failure::StateRefused {
        power_state: 0x1_0002,
        error: crate::spec::psci::ReturnCode(-2),
        cpu: 3,
    });
    test_holds("refused", &world.run(), &made);
}

#[test]
fn closing() {
    let world = World::of(2);
    let mut tests = world.all();
    tests.truncate(2);
    tests.push(world.good(ScenarioId::CpuSuspendSerial).skipped());
    let reports: std::vec::Vec<_> = tests.iter().map(Made::report).collect();
    let totals = totals(&tests);
    let text = printed(|out| output::closing(out, &world.run(), &reports, &totals));
    holds("closing", &text);
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
