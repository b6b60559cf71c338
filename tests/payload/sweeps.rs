//! Sweeps, idle states, OS-initiated mode and SYSTEM_SUSPEND under real TF-A,
//! and under QEMU's own PSCI, which has little of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use psci_bench::measure::Summary;
use psci_bench::model::{Measure, Skip, Status, Variant, Verdict};
use psci_bench::plan::ScenarioId;
use xtask::board::Gic;
use xtask::board::firmware_kind::Firmware;
use xtask::qemu::run_spec::RunSpec;
use xtask::qemu::stream;

use crate::common::{self, Log};

fn spec(smp: u32, args: &str) -> RunSpec {
    RunSpec {
        smp: Some(smp),
        icount: true,
        args: Some(args.into()),
        timeout: Duration::from_secs(180),
        ..RunSpec::default()
    }
}

/// The key of a point: MPIDR, variant and x.
type About = (u64, Variant, u64);

/// The points of a scenario with this metric.
fn points(log: &Log, scenario: ScenarioId, metric: Measure) -> BTreeMap<About, Summary> {
    let points = log.points(scenario).filter(|(_, it)| it.measure == metric);
    points
        .map(|(mpidr, it)| ((mpidr, it.variant, it.x.unwrap_or(0)), it.figures))
        .collect()
}

/// The medians of one variant: by x, then by MPIDR.
fn medians(
    log: &Log,
    scenario: ScenarioId,
    variant: Variant,
    metric: Measure,
) -> BTreeMap<u64, BTreeMap<u64, u64>> {
    let mut medians: BTreeMap<u64, BTreeMap<u64, u64>> = BTreeMap::new();
    for ((mpidr, var, x), figures) in points(log, scenario, metric) {
        if var == variant {
            let step = medians.entry(x).or_default();
            step.insert(mpidr, figures.median);
        }
    }
    medians
}

fn status(log: &Log, scenario: ScenarioId) -> Status {
    let found = log.scenarios(scenario).next();
    found.expect("a record of the test").status
}

/// TF-A holds the locks of the levels above the core while a CPU goes down
/// with them, and takes none for the core alone.
#[test]
fn powerdown_rises_with_the_cpus_that_go_down_together() {
    let log = common::pass(&spec(8, "only=contend_sweep iterations=3 warmup=1"));
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
    let log = common::pass(&spec(5, args));
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
    let log = common::pass(&RunSpec {
        variant: "pmf=off".parse().expect("a variant"),
        ..spec(2, args)
    });
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

/// By QEMU's own trace of what is sent: in a chain of two the lead rings one CPU,
/// and no CPU that is off. All have been on: before that, the firmware has not let
/// them have such an SGI.
#[test]
fn only_who_takes_part_is_rung() {
    let spec = spec(
        4,
        "only=psci_version_parallel,contend_sweep contend=2 wake=chain iterations=2 warmup=0",
    );
    let run = xtask::qemu::prepare::prepare(&spec).expect("a run");
    let dir = tempfile::tempdir().expect("a folder");
    let trace = dir.path().join("trace");
    let mut arguments = run.command_line().arguments();
    let file = format!("gicv3_redist_send_sgi,file={}", trace.display());
    arguments.extend(["-trace".into(), file.into()]);
    let (never, out) = (AtomicBool::new(false), &mut std::io::sink());
    let mut command = xtask::qemu::command(&arguments);
    let outcome = stream::run(&mut command, spec.timeout, &never, out, &mut || {}).expect("QEMU");
    assert_eq!(stream::closing(&outcome.log), Some(Verdict::Pass));
    // SGI 0 is the payload's; the firmware has others.
    let trace = std::fs::read_to_string(trace).expect("a trace");
    let rung = trace.lines().filter_map(|line| {
        let (_, rest) = line.split_once("redistributor ")?;
        rest.strip_suffix(" pending SGI 0")
    });
    assert_eq!(rung.collect::<BTreeSet<_>>(), BTreeSet::from(["0x1"]));
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
    let log = common::pass(&RunSpec {
        variant: "osi=1".parse().expect("a variant"),
        ..spec(8, "only=idle_states iterations=2 warmup=1")
    });
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
    let log = common::pass(&spec(3, "only=idle_states iterations=1 warmup=0"));
    let why = "OS-initiated mode left out: the firmware does not implement function 0x8400000f";
    assert!(common::one_line(&log.text).contains(why), "{}", log.text);
    assert!(states(&log, Variant::Osi, Measure::Powerdown, 3).is_empty());

    // QEMU's own: no power-down, so that it takes the caller's time.
    let args = "only=dirty_sweep,contend_sweep,idle_states,system_suspend iterations=2 \
                warmup=0 dirty=0,64K contend=1-3";
    let log = common::pass(&RunSpec {
        firmware: Firmware::Builtin,
        ..spec(3, args)
    });
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
    for (variant, gic) in [("gic-reset=1", Gic::V2), ("coherency=sw", Gic::V3)] {
        let args = "only=system_suspend,susp_deep_serial iterations=3 warmup=0";
        let log = common::pass(&RunSpec {
            variant: variant.parse().expect("a variant"),
            gic: Some(gic),
            ..spec(3, args)
        });
        assert_eq!(status(&log, ScenarioId::SystemSuspend), Status::Passed);
        for metric in [Measure::Powerdown, Measure::Wakeup, Measure::CacheFlush] {
            let found = points(&log, ScenarioId::SystemSuspend, metric);
            assert_eq!(found.len(), 1, "{variant}");
            let (about, point) = found.first_key_value().expect("the lead's");
            assert_eq!((about.0, point.n), (0, 3));
        }
    }
}

/// The default steps: up to twice the L2 of 2 MiB that the CPU model has.
#[test]
fn the_steps_follow_from_the_cache() {
    let log = common::pass(&spec(1, "only=dirty_sweep iterations=1 warmup=0"));
    let found = medians(
        &log,
        ScenarioId::DirtySweep,
        Variant::Core,
        Measure::Powerdown,
    );
    let mut steps = vec![0];
    steps.extend((0..9).map(|doubled| (16 << 10) << doubled));
    assert_eq!(found.into_keys().collect::<Vec<_>>(), steps);
    // The most that can be asked for.
    let asked = spec(1, "only=dirty_sweep iterations=1 warmup=0 dirty=64M");
    common::pass(&asked);
}
