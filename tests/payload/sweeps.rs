//! Sweeps, idle states, OS-initiated mode and SYSTEM_SUSPEND under real TF-A and under QEMU's
//! built-in PSCI, which supports only a few of them.

use std::collections::BTreeMap;
use suite::plan::{ScenarioId, Variant};

use hardware::board::Mpidr;
use suite::measure::Metric;
use suite::model::{Skip, Status, Verdict};

use crate::common::{self, Log, spec};

/// The lead, and the CPU after it.
const CPUS: [Mpidr; 2] = [Mpidr::new(0), Mpidr::new(1)];

/// Returns the medians for one variant and metric, by x and then by MPIDR.
fn medians(
    log: &Log,
    scenario: ScenarioId,
    variant: Variant,
    metric: Metric,
) -> BTreeMap<u64, BTreeMap<Mpidr, u64>> {
    let mut found: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for (mpidr, of_cell) in log.of_metric(scenario, metric) {
        let step = of_cell.cell.step;
        if step.variant == variant {
            let at_x = found.entry(step.value.unwrap_or(0)).or_default();
            at_x.insert(mpidr, of_cell.series.summary.median);
        }
    }
    found
}

/// TF-A holds the locks for the levels above the core while a CPU powers down at these levels. TF-A
/// takes no lock if only the core powers down.
#[test]
fn powerdown_rises_with_the_cpus_that_go_down_together() {
    let args = "only=contend_sweep iterations=3 warmup=1";
    let log = common::expect_pass(&spec("--smp 8 --icount", args));
    let [deepest, core] = [Variant::new("deepest"), Variant::new("core")].map(|variant| {
        let steps = medians(
            &log,
            ScenarioId::named("contend_sweep"),
            variant,
            Metric::Powerdown,
        );
        let counts = steps.iter().map(|(count, cpus)| (*count, cpus.len()));
        assert!(counts.eq((1..=8).map(|count| (count as u64, count))));
        let longest = steps.values().filter_map(|cpus| cpus.values().max());
        longest.copied().collect::<Vec<u64>>()
    });
    assert!(deepest.is_sorted_by(|a, b| a < b), "{deepest:?}");
    // In two clusters, the last CPUs to go down flush their caches one after the other.
    assert!(deepest[4] > 2 * deepest[0], "{deepest:?}");
    assert!(core[7] < core[0] + core[0] / 10, "no lock: {core:?}");
}

/// The caller-side time does not include making the cache lines dirty, even on the lead, because
/// the start time is set afterwards.
#[test]
fn lines_are_dirty_before_the_start() {
    let args = "only=dirty_sweep iterations=2 warmup=0 dirty=0,4M";
    let log = common::expect_pass(&spec("--smp 2 --icount --variant pmf=off", args));
    for variant in [Variant::new("deepest"), Variant::new("core")] {
        let calls = medians(
            &log,
            ScenarioId::named("dirty_sweep"),
            variant,
            Metric::Call,
        );
        let clean = &calls[&0];
        let dirty = &calls[&(4 << 20)];
        assert_eq!(clean.len(), 2);
        // QEMU does not model caches, so both calls execute the same instructions and sleep for the
        // same amount of time.
        for (mpidr, call) in clean {
            let more = dirty[mpidr].abs_diff(*call);
            assert!(more < call / 1_000, "{variant:?} {mpidr}: {calls:?}");
        }
        let [first, second] = CPUS.map(|cpu| clean[&cpu]);
        assert!(first.abs_diff(second) < first / 100, "{clean:?}");
    }
}

const STANDBY: u64 = 0x1;
const CORE: u64 = 0x1_0002;
const CLUSTER: u64 = 0x101_0022;
const SYSTEM: u64 = 0x201_0222;

/// Returns the states measured in this variant, each of which must have figures for `cpus` CPUs.
fn states(log: &Log, variant: Variant, metric: Metric, cpus: usize) -> Vec<u64> {
    let found = medians(log, ScenarioId::named("idle_states"), variant, metric);
    for (state, step) in &found {
        assert_eq!(step.len(), cpus, "{variant:?} {metric:?} {state:#x}");
    }
    found.into_keys().collect()
}

#[test]
fn every_idle_state_also_in_os_initiated_mode() {
    let args = "only=idle_states iterations=2 warmup=1";
    let log = common::expect_pass(&spec("--smp 8 --icount --variant osi=1", args));
    let all = [STANDBY, CORE, CLUSTER, SYSTEM];
    for variant in [Variant::new("serial"), Variant::new("parallel")] {
        assert_eq!(states(&log, variant, Metric::Powerdown, 8), all);
        // Standby returns to the caller and flushes nothing.
        assert_eq!(states(&log, variant, Metric::CacheFlush, 8), all[1..]);
    }
    use Metric::{CacheFlush, Count, Powerdown, Residency};
    for metric in [Powerdown, CacheFlush, Count, Residency] {
        let found = states(&log, Variant::OS_INITIATED, metric, 8);
        assert_eq!(found, all[2..], "{metric:?}");
    }
    let medians_of =
        |variant, metric| medians(&log, ScenarioId::named("idle_states"), variant, metric);
    // The payload makes the last CPU request the cluster level.
    for (state, cpus) in medians_of(Variant::OS_INITIATED, CacheFlush) {
        for (mpidr, flush) in &cpus {
            let last = mpidr.aff0() % 4 == 3;
            assert_eq!(*flush > 10 * cpus[&CPUS[0]], last, "{state:#x} {mpidr}");
        }
    }
    // All CPUs are powered down, so every requested state is reached.
    for variant in [Variant::new("parallel"), Variant::OS_INITIATED] {
        let counts = medians_of(variant, Count);
        let mut all = counts.values().flat_map(|cpu_counts| cpu_counts.values());
        assert!(all.all(|count| *count == 1));
    }
    // The lead is awake while another CPU suspends on its own, so the system stays up.
    let serial = &medians_of(Variant::new("serial"), Count)[&SYSTEM];
    let counts = [0, 1, 4].map(|cpu| serial[&Mpidr::new(cpu)]);
    assert_eq!(counts, [1, 0, 0]);
    let plain = common::one_line(&log.text);
    assert!(!plain.contains("left out"), "{plain}");
}

/// Returns the medians for a step of `cold_call`, by MPIDR. There must be one median for each of
/// `cpus` CPUs.
fn cold_calls(
    log: &Log,
    (variant, x): (Variant, u64),
    metric: Metric,
    cpus: usize,
) -> BTreeMap<Mpidr, u64> {
    let mut steps = medians(log, ScenarioId::named("cold_call"), variant, metric);
    let step = steps.remove(&x).unwrap_or_default();
    assert_eq!(step.len(), cpus, "{variant:?} {x:#x} {metric:?}");
    step
}

/// The instruction clock does not model caches. A cold call executes the same instructions as a
/// warm call, so their figures differ only if something other than the call is timed.
#[test]
fn a_cold_call_is_the_same_call() {
    let args = "only=cold_call iterations=2 warmup=1";
    let log = common::expect_pass(&spec("--smp 8 --icount", args));
    for (warm, evicted, woken, metrics) in [
        (
            Variant::new("version_warm"),
            Variant::new("version_evicted"),
            Variant::new("version_woken"),
            &[Metric::Latency, Metric::Call][..],
        ),
        (
            Variant::new("stamp_warm"),
            Variant::new("stamp_evicted"),
            Variant::new("stamp_woken"),
            &[Metric::Call],
        ),
    ] {
        for metric in metrics {
            let warm = cold_calls(&log, (warm, 0), *metric, 8);
            assert!(warm.values().all(|ticks| *ticks > 0));
            let woken = [STANDBY, CORE, CLUSTER, SYSTEM].map(|state| (woken, state));
            for step in [(evicted, 0)].into_iter().chain(woken) {
                let cold = cold_calls(&log, step, *metric, 8);
                assert_eq!(cold, warm, "{step:x?} {metric:?}");
            }
        }
    }
    let plain = common::one_line(&log.text);
    assert!(!plain.contains("left out"), "{plain}");
}

/// QEMU's built-in PSCI has no PMF and only a standby state.
#[test]
fn cold_calls_without_pmf_and_power_down() {
    let args = "only=cold_call iterations=2 warmup=0";
    let spec = spec("--smp 2 --icount --firmware builtin", args);
    let no_pmf = "Without PMF, the timestamp call is not measured.";
    let log = common::expect_verdict(&spec, Verdict::Pass)
        .says(&[no_pmf])
        .log();
    for step in [
        (Variant::new("version_warm"), 0),
        (Variant::new("version_evicted"), 0),
    ] {
        cold_calls(&log, step, Metric::Call, 2);
    }
    for variant in [
        Variant::new("stamp_warm"),
        Variant::new("stamp_evicted"),
        Variant::new("stamp_woken"),
    ] {
        let found = medians(&log, ScenarioId::named("cold_call"), variant, Metric::Call);
        assert!(found.is_empty(), "{variant:?}");
    }
}

/// QEMU's built-in PSCI has no power-down state, so suspends are measured on the caller side.
#[test]
fn missing_firmware_functions_are_named() {
    let args = "only=dirty_sweep,contend_sweep,idle_states,system_suspend iterations=2 \
                warmup=0 dirty=0,64K contend=1-3";
    let spec = spec("--smp 3 --icount --firmware builtin", args);
    let no_mode = "OS-initiated mode left out: the firmware does not implement function 0x8400000f";
    let ran = common::expect_verdict(&spec, Verdict::Pass).says(&[no_mode]);
    let log = ran.log();
    for (scenario, variant, measure, steps) in [
        (
            ScenarioId::named("dirty_sweep"),
            Variant::new("deepest"),
            Metric::Call,
            2,
        ),
        (
            ScenarioId::named("dirty_sweep"),
            Variant::new("off"),
            Metric::TurnOn,
            2,
        ),
        (
            ScenarioId::named("contend_sweep"),
            Variant::new("deepest"),
            Metric::Call,
            3,
        ),
        (
            ScenarioId::named("idle_states"),
            Variant::new("parallel"),
            Metric::Call,
            1,
        ),
        (
            ScenarioId::named("idle_states"),
            Variant::OS_INITIATED,
            Metric::Call,
            0,
        ),
    ] {
        let found = medians(&log, scenario, variant, measure);
        assert_eq!(found.len(), steps, "{scenario} {variant:?}");
    }
    let skipped = Status::Skipped(Skip::NotSupported(0xc400_000e));
    let suspend = log.scenarios(ScenarioId::named("system_suspend"));
    assert!(suspend.map(|scenario| scenario.status).eq([skipped]));
}

/// SYSTEM_SUSPEND also works if the GIC loses its state, and if the firmware keeps caches coherent.
#[test]
fn system_suspend_comes_back() {
    for variant in ["gic-reset=1 --gic 2", "coherency=sw --gic 3"] {
        let options = format!("--smp 3 --icount --variant {variant}");
        let args = "only=system_suspend,susp_deep_serial iterations=3 warmup=0";
        let log = common::expect_pass(&spec(&options, args));
        let mut found = Vec::new();
        for (mpidr, of_cell) in log.series(ScenarioId::named("system_suspend")) {
            let series = of_cell.series;
            found.push((mpidr, series.metric, series.summary.n));
        }
        let all = [Metric::Powerdown, Metric::Wakeup, Metric::CacheFlush];
        assert_eq!(found, all.map(|metric| (CPUS[0], metric, 3)), "{variant}");
    }
}
