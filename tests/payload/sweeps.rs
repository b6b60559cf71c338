//! Sweeps, idle states, OS-initiated mode and SYSTEM_SUSPEND under real TF-A,
//! and under QEMU's own PSCI, which has little of it.

use std::collections::{BTreeMap, BTreeSet};

use psci_bench::measure::Summary;
use psci_bench::model::{Measure, Skip, Status, Variant};
use psci_bench::plan::ScenarioId;

use crate::common::{self, Log, spec};

/// Returns the figures of one variant: by x, then by MPIDR.
fn figures(
    log: &Log,
    scenario: ScenarioId,
    variant: Variant,
    metric: Measure,
) -> BTreeMap<u64, BTreeMap<u64, Summary>> {
    let mut found: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for (mpidr, it) in log.points(scenario) {
        if (it.measure, it.variant) == (metric, variant) {
            let step = found.entry(it.x.unwrap_or(0)).or_default();
            step.insert(mpidr, it.figures);
        }
    }
    found
}

/// Returns the medians of [`figures`].
fn medians(
    log: &Log,
    scenario: ScenarioId,
    variant: Variant,
    metric: Measure,
) -> BTreeMap<u64, BTreeMap<u64, u64>> {
    let steps = figures(log, scenario, variant, metric).into_iter();
    let medians = |cpus: BTreeMap<u64, Summary>| cpus.into_iter().map(|it| (it.0, it.1.median));
    steps
        .map(|(x, cpus)| (x, medians(cpus).collect()))
        .collect()
}

fn status(log: &Log, scenario: ScenarioId) -> Status {
    let found = log.scenarios(scenario).next();
    found.expect("a record of the test").status
}

/// TF-A holds the locks of the levels above the core while a CPU goes down
/// with them, and takes none for the core alone.
#[test]
fn powerdown_rises_with_the_cpus_that_go_down_together() {
    let log = common::pass(&spec(
        "--smp 8 --icount",
        "only=contend_sweep iterations=3 warmup=1",
    ));
    let longest = |variant| -> Vec<u64> {
        let steps = medians(&log, ScenarioId::ContendSweep, variant, Measure::Powerdown);
        for (count, cpus) in &steps {
            assert_eq!(cpus.len() as u64, *count, "{variant:?}");
        }
        let steps = steps.values();
        steps
            .filter_map(|cpus| cpus.values().max().copied())
            .collect()
    };
    let deepest = longest(Variant::Deepest);
    assert_eq!(deepest.len(), 8);
    assert!(deepest.is_sorted_by(|a, b| a < b), "{deepest:?}");
    // Two clusters' last men, one after the other.
    assert!(deepest[4] > 2 * deepest[0], "{deepest:?}");
    let core = longest(Variant::Core);
    assert_eq!(core.len(), 8);
    assert!(core[7] < core[0] + core[0] / 10, "no lock: {core:?}");
}

/// QEMU has no caches: what is flushed costs by the cache's geometry, and not
/// by what is dirty. That each step was made all the same, the records show.
#[test]
fn every_step_of_dirty_bytes_is_measured() {
    let args = "only=dirty_sweep iterations=2 warmup=0 dirty=0,4K,64K-256K";
    let log = common::pass(&spec("--smp 5 --icount", args));
    let steps = [0, 4 << 10, 64 << 10, 128 << 10, 256 << 10];
    for (variant, cpus) in [(Variant::Deepest, 5), (Variant::Core, 5), (Variant::Off, 4)] {
        for metric in [Measure::Powerdown, Measure::Wakeup, Measure::CacheFlush] {
            let found = medians(&log, ScenarioId::DirtySweep, variant, metric);
            assert!(found.keys().eq(&steps), "{variant:?} {metric:?}: {found:?}");
            assert!(found.values().all(|step| step.len() == cpus), "{found:?}");
        }
    }
    let dirty = ScenarioId::DirtySweep;
    let flush = medians(&log, dirty, Variant::Deepest, Measure::CacheFlush);
    let same: BTreeSet<_> = flush.values().collect();
    assert_eq!(same.len(), 1, "flat: {flush:?}");
    // Alone in its cluster, a CPU flushes all of that.
    let first = &flush[&0];
    assert!(first[&4] > 10 * first[&1], "{first:?}");
}

/// The caller's time has no part of the dirtying in it, the lead's neither: the
/// start is agreed on when that is done.
#[test]
fn what_is_made_dirty_is_so_before_the_start() {
    let args = "only=dirty_sweep iterations=2 warmup=0 dirty=0,4M";
    let log = common::pass(&spec("--smp 2 --icount --variant pmf=off", args));
    for variant in [Variant::Deepest, Variant::Core] {
        let calls = medians(&log, ScenarioId::DirtySweep, variant, Measure::Call);
        let (clean, dirty) = (&calls[&0], &calls[&(4 << 20)]);
        assert_eq!(clean.len(), 2);
        // QEMU has no caches, so it is the same call, in which it sleeps as long.
        for (mpidr, call) in clean {
            let more = dirty[mpidr].abs_diff(*call);
            assert!(more < call / 1_000, "{variant:?} {mpidr:#x}: {calls:?}");
        }
        assert!(clean[&0].abs_diff(clean[&1]) < clean[&0] / 100, "{clean:?}");
    }
}

const STANDBY: u64 = 0x1;
const CORE: u64 = 0x1_0002;
const CLUSTER: u64 = 0x101_0022;
const SYSTEM: u64 = 0x201_0222;

/// The states that were measured in one way on so many CPUs.
fn states(log: &Log, variant: Variant, metric: Measure, cpus: usize) -> Vec<u64> {
    let found = medians(log, ScenarioId::IdleStates, variant, metric);
    for (state, step) in &found {
        assert_eq!(step.len(), cpus, "{variant:?} {metric:?} {state:#x}");
    }
    found.into_keys().collect()
}

#[test]
fn every_idle_state_also_in_os_initiated_mode() {
    let args = "only=idle_states iterations=2 warmup=1";
    let log = common::pass(&spec("--smp 8 --icount --variant osi=1", args));
    let all = [STANDBY, CORE, CLUSTER, SYSTEM];
    for variant in [Variant::Serial, Variant::Parallel] {
        assert_eq!(states(&log, variant, Measure::Powerdown, 8), all);
        // Standby comes back to its caller, and flushes nothing.
        assert_eq!(states(&log, variant, Measure::CacheFlush, 8), all[1..]);
    }
    use Measure::{CacheFlush, Count, Powerdown, Residency};
    for metric in [Powerdown, CacheFlush, Count, Residency] {
        let found = states(&log, Variant::Osi, metric, 8);
        assert_eq!(found, all[2..], "{metric:?}");
    }
    let of = |variant, metric| medians(&log, ScenarioId::IdleStates, variant, metric);
    // Who asks for the cluster is the payload's choice: its last CPU.
    for (state, cpus) in of(Variant::Osi, CacheFlush) {
        for (mpidr, flush) in &cpus {
            let last = mpidr % 4 == 3;
            assert_eq!(*flush > 10 * cpus[&0], last, "{state:#x} {mpidr:#x}");
        }
    }
    // All are down, so every state is reached that is asked for.
    for variant in [Variant::Parallel, Variant::Osi] {
        let counts = of(variant, Count);
        assert!(counts.values().flat_map(|c| c.values()).all(|c| *c == 1));
    }
    // The lead is awake while another CPU is alone: the system stays up.
    let serial = &of(Variant::Serial, Count)[&SYSTEM];
    assert_eq!((serial[&0], serial[&1], serial[&4]), (1, 0, 0));
    let plain = common::one_line(&log.text);
    assert!(!plain.contains("left out"), "{plain}");
}

#[test]
fn what_the_firmware_does_not_have_is_said() {
    let log = common::pass(&spec(
        "--smp 3 --icount",
        "only=idle_states iterations=1 warmup=0",
    ));
    let why = "OS-initiated mode left out: the firmware does not implement function 0x8400000f";
    assert!(common::one_line(&log.text).contains(why), "{}", log.text);
    assert!(states(&log, Variant::Osi, Measure::Powerdown, 3).is_empty());

    // QEMU's own: no power-down, so that it takes the caller's time.
    let args = "only=dirty_sweep,contend_sweep,idle_states,system_suspend iterations=2 \
                warmup=0 dirty=0,64K contend=1-3";
    let log = common::pass(&spec("--smp 3 --icount --firmware builtin", args));
    let call = |scenario, variant| medians(&log, scenario, variant, Measure::Call);
    assert_eq!(call(ScenarioId::DirtySweep, Variant::Deepest).len(), 2);
    assert_eq!(call(ScenarioId::ContendSweep, Variant::Deepest).len(), 3);
    assert_eq!(call(ScenarioId::IdleStates, Variant::Parallel).len(), 1);
    let off = medians(&log, ScenarioId::DirtySweep, Variant::Off, Measure::TurnOn);
    assert!(off.values().all(|step| step.len() == 2) && off.len() == 2);
    let skipped = status(&log, ScenarioId::SystemSuspend);
    assert_eq!(skipped, Status::Skipped(Skip::NotSupported(0xc400_000e)));
}

/// Also where the GIC forgets, and where firmware keeps caches coherent.
#[test]
fn system_suspend_comes_back() {
    for variant in ["gic-reset=1 --gic 2", "coherency=sw --gic 3"] {
        let args = "only=system_suspend,susp_deep_serial iterations=3 warmup=0";
        let log = common::pass(&spec(
            &format!("--smp 3 --icount --variant {variant}"),
            args,
        ));
        assert_eq!(status(&log, ScenarioId::SystemSuspend), Status::Passed);
        for metric in [Measure::Powerdown, Measure::Wakeup, Measure::CacheFlush] {
            let found = figures(&log, ScenarioId::SystemSuspend, Variant::System, metric);
            let each = found.values().flatten().map(|(mpidr, it)| (*mpidr, it.n));
            assert!(each.eq([(0, 3)]), "{variant}: {found:?}");
        }
    }
}
