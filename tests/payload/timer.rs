//! `timer_latency` accounts for every expiry under each load. `matrix` runs it on every machine.

use std::collections::BTreeMap;
use suite::plan::{ActiveCpus, ScenarioId, Variant};

use runner::build::payload::TreeSource;
use runner::qemu::run_spec::{Payload, RunSpec};
use suite::measure::Metric;
use suite::model::{CellSeries, Verdict};

use crate::common::{self, Log};

const LOADS: [Variant; 5] = [
    Variant::new("write"),
    Variant::new("zero"),
    Variant::new("nontemporal"),
    Variant::new("clean"),
    Variant::new("mixed"),
];

fn spec(options: &str, args: &str) -> RunSpec {
    common::spec(options, &format!("only=timer_latency {args}"))
}

/// Checks that every expiry in each series is accounted for, and that the series matches its
/// histogram. Returns the total number of overruns in all series.
pub fn check_expiries(
    log: &Log,
    cpus: usize,
    hows: &[ActiveCpus],
    loads: &[Variant],
    expiries: u64,
) -> u64 {
    let mut all = BTreeMap::new();
    for (mpidr, of_cell) in log.series(ScenarioId::named("timer_latency")) {
        let step = of_cell.cell.step;
        let key = (mpidr, step.cpus, step.variant, of_cell.series.metric);
        all.insert(key, of_cell);
    }
    assert_eq!(all.len(), 2 * cpus * hows.len() * loads.len());
    let overrun_count = |cell_series: &CellSeries<'_>| {
        u64::from(cell_series.cell.not_counted(cell_series.series.metric))
    };
    for ((mpidr, how, load, metric), of_cell) in &all {
        let at = format!("{mpidr} {how:?} {load:?} {metric:?}");
        assert!(hows.contains(how) && loads.contains(load), "{at}");
        let summary = of_cell.series.summary;
        assert_eq!(
            u64::from(summary.n) + overrun_count(of_cell),
            expiries,
            "{at}"
        );
        let is_handler = *metric == Metric::Handler;
        let counted = if is_handler { summary.n } else { 0 };
        let histograms = of_cell.series.histogram.iter();
        let counts = histograms.flat_map(|histogram| &histogram.counts);
        assert_eq!(counts.sum::<u32>(), counted, "{at}");
        let entry = all[&(*mpidr, *how, *load, Metric::Entry)];
        assert!(entry.series.summary.max <= summary.max, "{at}");
    }
    all.values().map(overrun_count).sum()
}

/// With the instruction clock, no expiry is missed. In real time, some expiries may be missed, but
/// they are counted.
#[test]
fn handled_and_overruns_are_all_expiries() {
    let loads = LOADS.map(Variant::word).join(",");
    for (options, more, expiries) in [
        ("--smp 8 --icount", "duration=2", 2_000),
        ("--smp 8", "footprint=1M", 1_000),
    ] {
        let args = format!("stress={loads} timers=all {more}");
        let log = common::expect_pass(&spec(options, &args));
        let overruns = check_expiries(&log, 8, &[ActiveCpus::All], &LOADS, expiries);
        assert!(overruns == 0 || !options.ends_with("--icount"));
    }
}

/// Calls and suspends on other CPUs, including the lead: no expiry is missed.
#[test]
fn other_cpus_call_the_firmware_meanwhile() {
    for (options, timers, pairs) in [
        // The fifth CPU is alone in its cluster.
        ("--smp 5 --gic 2 --el 1", "near", 4),
        ("--smp 2 --gic 3 --variant coherency=sw", "alone", 2),
    ] {
        let args = format!("stress=smc,suspend timers={timers} period=10000");
        let log = common::expect_pass(&spec(&format!("{options} --icount"), &args));
        let mut count = 0;
        for (_, of_cell) in log.of_metric(ScenarioId::named("timer_latency"), Metric::Entry) {
            assert_eq!(of_cell.series.summary.n, 100);
            assert_eq!(of_cell.cell.not_counted(Metric::Entry), 0);
            count += 1;
        }
        assert_eq!(count, 2 * pairs, "{options}");
    }
}

/// The suspend load asks for a power-down again and again, and a refusal is not ignored.
#[test]
fn a_refused_suspend_load_is_named() {
    let options = "--smp 2 --icount --fault suspend-denied,cpu=1,skip=50";
    let spec = spec(options, "stress=suspend timers=alone period=10000");
    let words = ["was not used under the suspend load: CPU_SUSPEND returned DENIED"];
    common::expect_verdict(&spec, Verdict::Fail).says(&words);
}

/// A timer stops firing because the image turns it off in the loop, using an instruction patched
/// over the one that selects the first load. An idle CPU then waits in WFI until another timer
/// wakes it, even if the lead is the only CPU.
#[test]
fn a_silent_timer_is_named_where_the_cpu_is_idle() {
    const FIRST: u32 = 0xaa04_03fb; // mov x27, x4
    const SILENCE: u32 = 0xd51b_e23f; // msr cntp_ctl_el0, xzr
    for (smp, level, args) in [(1, 1, "timers=alone"), (4, 2, "timers=all")] {
        let args = format!("only=timer_latency stress=idle {args}");
        let mut image = common::image(smp, &args);
        let begin = common::offset_of("stress_loop");
        let word =
            |offset: usize| u32::from_le_bytes(image[offset..offset + 4].try_into().expect("four"));
        let mut places = (begin..begin + 100).step_by(4);
        let at = places
            .find(|offset| word(*offset) == FIRST)
            .expect("the load");
        image[at..at + 4].copy_from_slice(&SILENCE.to_le_bytes());
        let spec = RunSpec {
            payload: Payload::Image(image),
            tree: TreeSource::None,
            ..common::spec(&format!("--smp {smp} --el {level} --icount"), "")
        };
        let words = ["stopped raising interrupts", "0 CPUs lost"];
        common::expect_verdict(&spec, Verdict::Fail).says(&words);
    }
}
