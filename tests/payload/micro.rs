//! The micro-benchmarks' figures against loops that are written by hand, and
//! their tables on every machine.
//!
//! Under the instruction clock a tick of the counter is one instruction. So the
//! figure of one operation is how many instructions it took, the firmware's
//! among them, and has to be that of `loops.S`, a program of its own that is
//! booted the same way.

use std::collections::BTreeMap;

use psci_bench::image::Conduit;
use psci_bench::measure::{Counter, Metric};
use psci_bench::model::{Measure, Point, Variant};
use psci_bench::plan::ScenarioId;
use xtask::board::Gic;
use xtask::board::firmware_kind::Firmware;
use xtask::qemu::Level;
use xtask::qemu::run_spec::{Payload, RunSpec};

use crate::common::{self, Log};

/// Iterations of each loop, and operations of each batch.
const COUNT: u32 = 1024;

/// Their scenarios, and the variants that the loops have.
const COMPARED: [(ScenarioId, Variant); 5] = [
    (ScenarioId::NullCall, Variant::PsciVersion),
    (ScenarioId::NullCall, Variant::SmcccVersion),
    (ScenarioId::NullCall, Variant::Unknown),
    (ScenarioId::SelfSgi, Variant::Sgi),
    (ScenarioId::SysregTrap, Variant::Pmselr),
];

/// Those that this firmware has: QEMU's own does not implement SMCCC_VERSION.
fn compared(firmware: Firmware) -> impl Iterator<Item = (ScenarioId, Variant)> {
    let has = move |variant| firmware == Firmware::TfA || variant != Variant::SmcccVersion;
    let all = COMPARED.into_iter();
    all.filter(move |(_, variant)| has(*variant))
}

/// Instructions of each loop of the program, all iterations together.
fn by_hand(spec: &RunSpec, hvc: bool) -> BTreeMap<String, u64> {
    let gic = if spec.gic == Some(Gic::V2) { 2 } else { 3 };
    let symbols = [("GIC", gic), ("HVC", u32::from(hvc)), ("COUNT", COUNT)];
    let payload = Payload::Image(common::assemble("tests/payload/loops.S", &symbols));
    let result = common::run(&RunSpec {
        payload,
        ..spec.clone()
    });
    let text = result.text();
    let found = text.lines().filter_map(|line| {
        let (name, ticks) = line.trim_end().strip_prefix("loop ")?.split_once(' ')?;
        let ticks = u64::from_str_radix(ticks, 16).expect("a number");
        Some((name.to_string(), ticks))
    });
    let found: BTreeMap<_, _> = found.collect();
    assert_eq!(found.len(), COMPARED.len(), "{text}");
    found
}

/// The point of a variant, on the lead alone, in ticks.
fn point(log: &Log, t: ScenarioId, variant: Variant) -> &Point {
    let found = log.alone(t, variant, Measure::Ticks, 0);
    found.unwrap_or_else(|| panic!("no point {t:?} {variant:?}"))
}

#[test]
fn an_operation_takes_as_many_instructions_as_by_hand() {
    for (firmware, level, gic, hvc) in [
        (Firmware::TfA, Level::El2, Gic::V3, false),
        (Firmware::TfA, Level::El1, Gic::V2, false),
        (Firmware::Builtin, Level::El1, Gic::V3, true),
        (Firmware::Builtin, Level::El2, Gic::V2, false),
    ] {
        let args = "only=null_call,self_sgi,sysreg_trap warmup=1 loops=3072 batch=1024";
        let spec = RunSpec {
            gic: Some(gic),
            level,
            firmware,
            ..common::spec("--smp 1 --icount", args)
        };
        let log = common::pass(&spec);
        let by_hand = by_hand(&spec, hvc);
        for (t, variant) in compared(firmware) {
            let point = point(&log, t, variant);
            assert_eq!((point.per, point.figures.n), (1024, 3));
            let hand = by_hand[variant.word()] as f64 / f64::from(COUNT);
            for ticks in [point.figures.min, point.figures.max] {
                let ours = ticks as f64 / f64::from(COUNT);
                let at = format!("{firmware:?} {level:?} {gic:?} {variant:?}");
                assert!((ours - hand).abs() < 1.0, "{at}: {ours} and {hand}");
            }
            // No call is free, and the loop alone is less.
            assert!(hand >= 3.0, "{variant:?} {hand}");
        }
    }
}

/// The way from CPU_OFF to OFF, as the lead sees it, is the one that the firmware
/// tells of, and not the rest of a nap of the lead's: of 50 us, which are 3125
/// instructions. What is more has the call that saw it, and the caller's own.
#[test]
fn off_is_seen_when_it_is() {
    let args = "only=cpu_off_serial,cpu_on iterations=2 warmup=1";
    let log = common::pass(&common::spec("--smp 4 --icount", args));
    let told = log.metric(ScenarioId::CpuOffSerial, Metric::Powerdown);
    for cpu in 1..4 {
        let seen = log.alone(ScenarioId::CpuOn, Variant::Joins, Measure::TurnOff, cpu);
        let (seen, told) = (seen.expect("a point").figures.median, told[&cpu].median);
        // By this clock every second turn is the lead's, which looks without
        // pause; in the firmware's own figure the lead sleeps.
        let is_soon = seen < 2 * told + 1_000 && seen > told;
        assert!(is_soon, "{cpu}: {seen}, {told:?}");
    }
}

/// Few and small batches: only their presence is tested.
#[test]
fn a_table_on_every_machine() {
    for (firmware, gic, level) in common::machines() {
        let log = common::pass(&RunSpec {
            gic: Some(gic),
            level,
            firmware,
            ..common::spec("--smp 2", "only=micro loops=400 batch=4 iterations=4")
        });
        let machine = format!("{firmware:?} {level:?} {gic:?}\n{}", log.text);
        let is_guest = firmware == Firmware::Builtin && level == Level::El1;
        let expected = match is_guest {
            true => (Conduit::Hvc, Counter::Virtual),
            false => (Conduit::Smc, Counter::Physical),
        };
        let facts = log.facts();
        assert_eq!((facts.conduit, facts.counter), expected, "{machine}");
        let el = if level == Level::El1 { 1 } else { 2 };
        assert_eq!(facts.exception_level, el, "{machine}");
        for (t, variant) in compared(firmware) {
            let point = point(&log, t, variant);
            let it = point.figures;
            let figures = [it.min, it.median, it.p99.expect("enough"), it.max];
            let is_sound = figures.is_sorted() && figures[3] > 0;
            assert!(is_sound, "{figures:?} {machine}");
        }
        let has_pmf = firmware == Firmware::TfA;
        let lacks = "Skipped: PMF's timestamps can not be read";
        for said in ["SMCCC_VERSION.", lacks] {
            assert_eq!(log.text.contains(said), !has_pmf, "{machine}");
        }
        let points = log.points(ScenarioId::CpuOn);
        let on = points.filter(|(_, it)| it.measure == Measure::TurnOn);
        assert_eq!(on.count(), 2, "{machine}");
    }
}
