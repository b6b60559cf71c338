//! The micro-benchmarks' figures against loops that are written by hand, and
//! their tables on every machine.
//!
//! Under the instruction clock a tick of the counter is one instruction. So the
//! figure of one operation is how many instructions it took, the firmware's
//! among them, and has to be that of `loops.S`, a program of its own that is
//! booted the same way.

#[path = "../common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::{Fields, number};
use xtask::board::Gic;
use xtask::board::firmware_kind::Firmware;
use xtask::qemu::Level;
use xtask::qemu::run_spec::{Payload, RunSpec};

/// Iterations of each loop, and operations of each batch.
const COUNT: u32 = 1024;

/// Their scenarios: number, and the variants that the loops have.
const COMPARED: [(u32, &str); 5] = [
    (7, "psci_version"),
    (7, "smccc_version"),
    (7, "unknown"),
    (8, "sgi"),
    (9, "pmselr"),
];

/// Those that this firmware has: QEMU's own does not implement SMCCC_VERSION.
fn compared(firmware: Firmware) -> impl Iterator<Item = (u32, &'static str)> {
    let has = move |variant| firmware == Firmware::TfA || variant != "smccc_version";
    COMPARED.into_iter().filter(move |it| has(it.1))
}

/// Instructions of each loop of the program, all iterations together.
fn by_hand(spec: &RunSpec, hvc: bool) -> BTreeMap<String, u64> {
    let gic = if spec.gic == Some(Gic::V2) { 2 } else { 3 };
    let symbols = [("GIC", gic), ("HVC", u32::from(hvc)), ("COUNT", COUNT)];
    let loops = common::assemble("tests/micro/loops.S", &symbols);
    let result = common::run(&RunSpec {
        payload: Payload::Image(loops),
        ..spec.clone()
    });
    let text = result.text();
    let found = text.lines().filter_map(|line| {
        let (name, ticks) = line.trim_end().strip_prefix("loop ")?.split_once(' ')?;
        Some((name.to_string(), u64::from_str_radix(ticks, 16).ok()?))
    });
    let found: BTreeMap<_, _> = found.collect();
    assert_eq!(found.len(), COMPARED.len(), "{text}");
    found
}

#[test]
fn an_operation_takes_as_many_instructions_as_by_hand() {
    for (firmware, level, gic, hvc) in [
        (Firmware::TfA, Level::El2, Gic::V3, false),
        (Firmware::TfA, Level::El1, Gic::V2, false),
        (Firmware::Builtin, Level::El1, Gic::V3, true),
        (Firmware::Builtin, Level::El2, Gic::V2, false),
    ] {
        let spec = RunSpec {
            smp: Some(1),
            gic: Some(gic),
            level,
            firmware,
            icount: true,
            args: Some(format!(
                "only=null_call,self_sgi,sysreg_trap warmup=1 loops={} batch={COUNT}",
                3 * COUNT
            )),
            timeout: Duration::from_secs(120),
            ..RunSpec::default()
        };
        let log = common::pass(&spec);
        let by_hand = by_hand(&spec, hvc);
        for (t, variant) in compared(firmware) {
            let point = log.point(t, variant, "ticks", 0);
            assert_eq!((point["per"].as_str(), point["n"].as_str()), ("1024", "3"));
            let hand = by_hand[variant] as f64 / f64::from(COUNT);
            for key in ["min", "med", "max"] {
                let ours = number(&point[key]) as f64 / f64::from(COUNT);
                let is_near = (ours - hand).abs() < 1.0;
                assert!(is_near, "{variant} {key}: {ours:.3}, by hand {hand:.3}");
            }
            // No call is free, and the loop alone is less.
            assert!(hand >= 3.0, "{variant} {hand}");
        }
    }
}

/// The way from CPU_OFF to OFF, as the lead sees it, is the one that the firmware
/// tells of, and not the rest of a nap of the lead's: of 50 us, which are 3125
/// instructions. What is more has the call that saw it, and the caller's own.
#[test]
fn off_is_seen_when_it_is() {
    let log = common::pass(&RunSpec {
        smp: Some(4),
        icount: true,
        args: Some("only=cpu_off_serial,cpu_on iterations=2 warmup=1".into()),
        timeout: Duration::from_secs(120),
        ..RunSpec::default()
    });
    let told = log.metric(5, "powerdown", "med");
    for cpu in 1..4 {
        let seen = number(&log.point(11, "joins", "turnoff", cpu)["med"]);
        // By this clock every second turn is the lead's, which looks without
        // pause; in the firmware's own figure the lead sleeps.
        let is_soon = seen < 2 * told[&cpu] + 1_000 && seen > told[&cpu];
        assert!(is_soon, "{cpu}: {seen}, {told:?}");
    }
}

/// Few and small batches: only their presence is tested.
#[test]
fn a_table_on_every_machine() {
    for (firmware, gic, level) in common::machines() {
        let log = common::pass(&RunSpec {
            smp: Some(2),
            gic: Some(gic),
            level,
            firmware,
            args: Some("only=micro loops=400 batch=4 iterations=4".into()),
            timeout: Duration::from_secs(180),
            ..RunSpec::default()
        });
        let machine = format!("{firmware:?} {level:?} {gic:?}\n{}", log.text);
        let is_guest = firmware == Firmware::Builtin && level == Level::El1;
        let conduit = if is_guest { "hvc" } else { "smc" };
        let counter = if is_guest { "CNTVCT" } else { "CNTPCT" };
        let el = if level == Level::El1 { "1" } else { "2" };
        for (key, expected) in [("conduit", conduit), ("counter", counter), ("el", el)] {
            assert_eq!(log.fact(key), expected, "{machine}");
        }
        let running = format!(" from EL{el}, ");
        assert!(log.text.contains(&running), "{machine}");
        for (t, variant) in compared(firmware) {
            let point = log.point(t, variant, "ticks", 0);
            let figures = ["min", "med", "p99", "max"].map(|key| number(&point[key]));
            let is_sound = figures.is_sorted() && figures[3] > 0;
            assert!(is_sound, "{figures:?} {machine}");
            assert!(log.text.contains(&format!(" {variant} ")), "{machine}");
        }
        let has_pmf = firmware == Firmware::TfA;
        let lacks = "Skipped: PMF's timestamps can not be read";
        for said in ["SMCCC_VERSION.", lacks] {
            assert_eq!(log.text.contains(said), !has_pmf, "{machine}");
        }
        let is_on = |p: &&Fields| p["metric"] == "turnon" && p.contains_key("n");
        let on = log.all("point").iter().filter(is_on).count();
        assert_eq!(on, 2, "{machine}");
    }
}
