//! Sweeps, idle states, OS-initiated mode and SYSTEM_SUSPEND under real TF-A,
//! and under QEMU's own PSCI, which has little of it.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use common::{Fields, Log, number};
use psci_bench::model::Verdict;
use psci_bench::plan::ScenarioId;
use xtask::board::Gic;
use xtask::board::firmware_kind::Firmware;
use xtask::qemu::run_spec::RunSpec;
use xtask::qemu::{Level, stream};

fn spec(smp: u32, args: &str) -> RunSpec {
    RunSpec {
        smp: Some(smp),
        icount: true,
        args: Some(args.into()),
        timeout: Duration::from_secs(180),
        ..RunSpec::default()
    }
}

/// The medians of one variant: by x, then by MPIDR.
type Medians = BTreeMap<i64, BTreeMap<u64, i64>>;

fn medians(log: &Log, scenario: ScenarioId, variant: &str, metric: &str) -> Medians {
    let mut medians = Medians::new();
    let t = scenario.number().to_string();
    let points = log.all("point").iter().filter(|fields| fields["t"] == t);
    for fields in points.filter(|fields| fields["metric"] == metric) {
        if fields["var"] == variant
            && let Some(median) = fields.get("med")
        {
            let x = fields.get("x").map_or(0, |x| number(x));
            let step = medians.entry(x).or_default();
            step.insert(number(&fields["mpidr"]) as u64, number(median));
        }
    }
    medians
}

fn status(log: &Log, scenario: ScenarioId) -> &Fields {
    let t = scenario.number().to_string();
    let mut tests = log.all("test").iter();
    let found = tests.find(|f| f["t"] == t && f.contains_key("status"));
    found.expect("a record of the test")
}

/// TF-A holds the locks of the levels above the core while a CPU goes down
/// with them, and takes none for the core alone.
#[test]
fn powerdown_rises_with_the_cpus_that_go_down_together() {
    let log = common::pass(&spec(8, "only=contend_sweep iterations=3 warmup=1"));
    let longest = |variant| -> Vec<i64> {
        let steps = medians(&log, ScenarioId::ContendSweep, variant, "powerdown");
        let counts = steps.values().map(|cpus| cpus.len() as i64);
        assert!(
            counts.eq(1..=8) && steps.keys().copied().eq(1..=8),
            "{variant}"
        );
        let longest = steps.values().map(|cpus| cpus.values().max());
        longest.flatten().copied().collect()
    };
    let deepest = longest("deepest");
    assert!(deepest.is_sorted_by(|a, b| a < b), "{deepest:?}");
    // Two clusters' last men, one after the other.
    assert!(deepest[4] > 2 * deepest[0], "{deepest:?}");
    let core = longest("core");
    assert!(core[7] < core[0] + core[0] / 10, "no lock: {core:?}");
}

/// QEMU has no caches: what is flushed costs by the cache's geometry, and not
/// by what is dirty. That each step was made all the same, the records show.
#[test]
fn every_step_of_dirty_bytes_is_measured() {
    let args = "only=dirty_sweep iterations=2 warmup=0 dirty=0,4K,64K-256K";
    let log = common::pass(&spec(5, args));
    let steps = [0, 4 << 10, 64 << 10, 128 << 10, 256 << 10];
    for (variant, cpus) in [("deepest", 5), ("core", 5), ("off", 4)] {
        for metric in ["powerdown", "wakeup", "cflush"] {
            let found = medians(&log, ScenarioId::DirtySweep, variant, metric);
            assert!(found.keys().eq(&steps), "{variant} {metric}: {found:?}");
            assert!(found.values().all(|step| step.len() == cpus), "{found:?}");
        }
    }
    let flush = medians(&log, ScenarioId::DirtySweep, "deepest", "cflush");
    // Alone in its cluster, a CPU flushes all of that.
    let first = &flush[&0];
    assert!(flush.values().all(|step| step == first), "flat: {flush:?}");
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
    for variant in ["deepest", "core"] {
        let calls = medians(&log, ScenarioId::DirtySweep, variant, "call");
        let (clean, dirty) = (&calls[&0], &calls[&(4 << 20)]);
        assert_eq!(clean.len(), 2);
        // QEMU has no caches, so it is the same call, in which it sleeps as long.
        for (mpidr, call) in clean {
            let more = (dirty[mpidr] - call).abs();
            assert!(more < call / 1_000, "{variant} {mpidr:#x}: {calls:?}");
        }
        assert!((clean[&0] - clean[&1]).abs() < clean[&0] / 100, "{clean:?}");
    }
}

/// By QEMU's own trace of what is sent: in a chain of two the lead rings one CPU,
/// and no CPU that is off. All have been on: before that, the firmware has not let
/// them have such an SGI.
#[test]
fn only_who_takes_part_is_rung() {
    let only = "only=psci_version_parallel,contend_sweep";
    let spec = spec(
        4,
        &format!("{only} contend=2 wake=chain iterations=2 warmup=0"),
    );
    let run = xtask::qemu::prepare::prepare(&spec).expect("a run");
    let dir = tempfile::tempdir().expect("a folder");
    let trace = dir.path().join("trace");
    let mut arguments = run.arguments().to_vec();
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

/// The default steps: up to twice the L2 of 2 MiB that the CPU model has.
#[test]
fn the_steps_follow_from_the_cache() {
    let log = common::pass(&spec(1, "only=dirty_sweep iterations=1 warmup=0"));
    let found = medians(&log, ScenarioId::DirtySweep, "core", "powerdown");
    let mut steps = vec![0];
    steps.extend((0..9).map(|doubled| (16 << 10) << doubled));
    assert_eq!(found.into_keys().collect::<Vec<_>>(), steps);
    // The most that can be asked for.
    let asked = spec(1, "only=dirty_sweep iterations=1 warmup=0 dirty=64M");
    common::pass(&asked);
}

const STANDBY: i64 = 0x1;
const CORE: i64 = 0x1_0002;
const CLUSTER: i64 = 0x101_0022;
const SYSTEM: i64 = 0x201_0222;

/// The states that were measured in one way on so many CPUs.
fn states(log: &Log, variant: &str, metric: &str, cpus: usize) -> Vec<i64> {
    let found = medians(log, ScenarioId::IdleStates, variant, metric);
    for (state, step) in &found {
        assert_eq!(step.len(), cpus, "{variant} {metric} {state:#x}");
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
    for variant in ["serial", "parallel"] {
        assert_eq!(states(&log, variant, "powerdown", 8), all);
        // Standby comes back to its caller, and flushes nothing.
        assert_eq!(states(&log, variant, "cflush", 8), all[1..]);
    }
    for metric in ["powerdown", "cflush", "count", "residency"] {
        assert_eq!(states(&log, "osi", metric, 8), all[2..], "{metric}");
    }
    let of = |variant, metric| medians(&log, ScenarioId::IdleStates, variant, metric);
    // Who asks for the cluster is the payload's choice: its last CPU.
    for (state, cpus) in of("osi", "cflush") {
        for (mpidr, flush) in &cpus {
            let last = mpidr % 4 == 3;
            assert_eq!(*flush > 10 * cpus[&0], last, "{state:#x} {mpidr:#x}");
        }
    }
    // All are down, so every state is reached that is asked for.
    for variant in ["parallel", "osi"] {
        let counts = of(variant, "count");
        assert!(counts.values().flat_map(|c| c.values()).all(|c| *c == 1));
    }
    // The lead is awake while another CPU is alone: the system stays up.
    let serial = &of("serial", "count")[&SYSTEM];
    assert_eq!((serial[&0], serial[&1], serial[&4]), (1, 0, 0));
    let said = common::one_line(&log.text);
    assert!(!said.contains("left out"), "{said}");
}

#[test]
fn what_the_firmware_does_not_have_is_said() {
    let log = common::pass(&spec(3, "only=idle_states iterations=1 warmup=0"));
    let why = "OS-initiated mode left out: the firmware does not implement function 0x8400000f";
    assert!(common::one_line(&log.text).contains(why), "{}", log.text);
    assert!(states(&log, "osi", "powerdown", 3).is_empty());

    // QEMU's own: no power-down, so that it takes the caller's time; by SMC
    // and by HVC.
    for level in [Level::El1, Level::El2] {
        let args = "only=dirty_sweep,contend_sweep,idle_states,system_suspend iterations=2 \
                    warmup=0 dirty=0,64K contend=1-3";
        let log = common::pass(&RunSpec {
            firmware: Firmware::Builtin,
            level,
            ..spec(3, args)
        });
        let call = |scenario, variant| medians(&log, scenario, variant, "call");
        assert_eq!(call(ScenarioId::DirtySweep, "deepest").len(), 2);
        assert_eq!(call(ScenarioId::ContendSweep, "deepest").len(), 3);
        assert_eq!(call(ScenarioId::IdleStates, "parallel").len(), 1);
        let off = medians(&log, ScenarioId::DirtySweep, "off", "turnon");
        assert!(off.values().all(|step| step.len() == 2) && off.len() == 2);
        let skipped = status(&log, ScenarioId::SystemSuspend);
        assert_eq!(skipped["status"], "skipped");
        assert_eq!(skipped["function"], "0xc400000e");
    }
}

/// Also where the GIC forgets, and where firmware keeps caches coherent.
#[test]
fn system_suspend_comes_back() {
    let args = "only=system_suspend,susp_deep_serial iterations=3 warmup=0";
    for (variant, gic) in [
        ("", Gic::V3),
        ("gic-reset=1", Gic::V3),
        ("gic-reset=1", Gic::V2),
        ("coherency=sw", Gic::V3),
    ] {
        let log = common::pass(&RunSpec {
            variant: variant.parse().expect("a variant"),
            gic: Some(gic),
            ..spec(3, args)
        });
        assert_eq!(status(&log, ScenarioId::SystemSuspend)["status"], "passed");
        let t = ScenarioId::SystemSuspend.number().to_string();
        let points = log.all("point").iter().filter(|fields| fields["t"] == t);
        // Three figures of the lead.
        let points = points.map(|fields| (fields["mpidr"].as_str(), fields["n"].as_str()));
        assert_eq!(points.collect::<Vec<_>>(), [("0x0", "3"); 3], "{variant}");
    }
}

#[test]
fn help_names_each_scenario() {
    let text = common::run(&spec(1, "only=help")).text();
    for scenario in ScenarioId::ALL {
        let line = format!("  {:21} ", scenario.short_tag());
        assert!(text.contains(&line), "{line}: {text}");
    }
}
