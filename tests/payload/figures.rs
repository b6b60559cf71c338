//! The figures make sense: asserted on every sample of runs under the
//! instruction clock, on the TF-A version that is pinned. Rows of single CPUs
//! are in `frozen.rs`, to the tick.
//!
//! One tick is one instruction there, of all CPUs together, so a figure holds
//! what the other CPUs did meanwhile, too; but it repeats exactly.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use psci_bench::measure::Metric;
use psci_bench::model::{Instant, Instants};
use psci_bench::plan::ScenarioId::{
    self, CpuOffSerial, CpuSuspendParallel, CpuSuspendSerial, PsciVersionParallel,
    SuspendDeepParallel, SuspendDeepSerial,
};
use psci_bench::spec::pmf::Stamp;
use xtask::qemu::run_spec::RunSpec;

use crate::common::{self, Log};

const ENTER_PSCI: Instant = Instant::Stamp(Stamp::EnterPsci);
const ENTER_CFLUSH: Instant = Instant::Stamp(Stamp::EnterCflush);
const EXIT_CFLUSH: Instant = Instant::Stamp(Stamp::ExitCflush);
const DOWN: Instant = Instant::Stamp(Stamp::EnterHwLowPwr);
const UP: Instant = Instant::Stamp(Stamp::ExitHwLowPwr);
const EXIT_PSCI: Instant = Instant::Stamp(Stamp::ExitPsci);

/// The lead's MPIDR on QEMU.
const LEAD: u64 = 0;

/// Samples asked for.
const ITERATIONS: usize = 12;

fn spec(cpus: u32) -> RunSpec {
    let args = format!("iterations={ITERATIONS} samples=all");
    common::spec(&format!("--smp {cpus} --icount"), &args)
}

/// The run with 8 CPUs, which several tests look at.
fn eight() -> &'static Log {
    static LOG: OnceLock<Log> = OnceLock::new();
    LOG.get_or_init(|| common::pass(&spec(8)))
}

/// The samples of a scenario: by place in time, then by MPIDR.
fn samples(log: &Log, t: ScenarioId) -> BTreeMap<u32, BTreeMap<u64, Instants>> {
    let mut found: BTreeMap<u32, BTreeMap<u64, Instants>> = BTreeMap::new();
    for (mpidr, row) in log.rows(t) {
        for sample in row.samples.iter() {
            let round = found.entry(sample.place).or_default();
            round.insert(mpidr, sample.instants);
        }
    }
    assert_eq!(found.len(), ITERATIONS, "samples of {t:?}");
    found
}

/// An instant that the sample has.
fn at(sample: &Instants, instant: Instant) -> i64 {
    let ticks = sample.at(instant);
    ticks.unwrap_or_else(|| panic!("no {instant:?} in {sample:?}"))
}

fn flush(sample: &Instants) -> i64 {
    at(sample, EXIT_CFLUSH) - at(sample, ENTER_CFLUSH)
}

fn powerdown(sample: &Instants) -> i64 {
    at(sample, DOWN) - at(sample, ENTER_PSCI)
}

#[test]
fn parallel_the_last_man_of_each_cluster_pays_alone() {
    let log = eight();
    // Those of the lead going down last of all.
    let [cluster, core] =
        [SuspendDeepSerial, CpuSuspendSerial].map(|t| flush(&samples(log, t)[&0][&LEAD]));
    assert!(cluster > 20 * core, "{cluster} and {core} ticks");
    let clusters = log.clusters();
    for (place, round) in &samples(log, SuspendDeepParallel) {
        assert_eq!(round.len(), 8, "round {place}");
        for number in 0..2 {
            let mates = || round.iter().filter(|(m, _)| clusters[m] == number);
            let payers: Vec<u64> = mates()
                .filter(|(_, sample)| flush(sample) > (cluster + core) / 2)
                .map(|(mpidr, _)| *mpidr)
                .collect();
            let last = mates().max_by_key(|(_, sample)| at(sample, DOWN));
            let last = last.map(|(mpidr, _)| *mpidr);
            assert_eq!(payers, Vec::from_iter(last), "round {place}, {number}");
        }
    }
    for round in samples(log, CpuSuspendParallel).values() {
        for (mpidr, sample) in round {
            assert!(flush(sample) < cluster / 10, "{mpidr:#x}");
        }
    }
}

/// Checks the order of each sample's instants, on any machine and clock.
fn assert_sound(log: &Log) {
    use Instant::{After, Before, Due, TurnedOn};
    for t in [
        SuspendDeepParallel,
        SuspendDeepSerial,
        CpuSuspendParallel,
        CpuSuspendSerial,
        CpuOffSerial,
    ] {
        for (place, round) in &samples(log, t) {
            for (mpidr, s) in round {
                let seen = format!("{t:?}, sample {place}, CPU {mpidr:#x}: {s:?}");
                let power_down = [Before, ENTER_PSCI, ENTER_CFLUSH, EXIT_CFLUSH, DOWN];
                let order = power_down.into_iter().chain([UP, EXIT_PSCI, After]);
                assert!(order.map(|it| at(s, it)).is_sorted(), "{seen}");
                assert!(powerdown(s) >= flush(s), "{seen}");
                let (down, up) = (at(s, DOWN), at(s, UP));
                // CPU_OFF is split by the CPU_ON that ended it; a suspend
                // ends after its wake-up was due.
                match s.at(TurnedOn) {
                    Some(on) if t == CpuOffSerial => assert!(down <= on && on <= up, "{seen}"),
                    _ => assert!(down < at(s, Due) && at(s, Due) <= up, "{seen}"),
                }
            }
            if [SuspendDeepParallel, CpuSuspendParallel].contains(&t) {
                // Every CPU was down before the first one woke.
                let all = |instant| round.values().map(move |s| s.counter(instant));
                assert!(all(DOWN).max() < all(UP).min(), "{t:?}, round {place}");
                let last = |instant| round.values().map(|s| at(s, instant)).max();
                assert!(last(Before) < last(DOWN));
            }
        }
    }
    for (mpidr, s) in samples(log, PsciVersionParallel).values().flatten() {
        let order = [Before, ENTER_PSCI, EXIT_PSCI, After].map(|it| at(s, it));
        assert!(order.is_sorted(), "{mpidr:#x}: {s:?}");
    }
}

#[test]
fn no_stamp_is_outside_its_call_and_all_went_down_in_every_round() {
    assert_sound(eight());
}

#[test]
fn a_timed_region_costs_its_instructions() {
    // isb and mrs between the two reads: what a call adds is the call's own.
    assert_eq!(eight().facts().overheads.empty, 2);
    // From one mrs to the next there are smc, isb, mrs and the firmware's
    // way; the same on every CPU, and in every sample.
    let calls = eight().metric(PsciVersionParallel, Metric::Call);
    assert_eq!(calls.len(), 8);
    let costs = calls.values().flat_map(|it| [it.min, it.max]);
    assert_eq!(BTreeSet::from_iter(costs).len(), 1, "{calls:?}");
}

/// Two of four runs are the same to the byte. On a busy host up to one in eight of 32
/// CPUs differs, which is QEMU's doing, and is seldom the same twice
/// (`xtask::qemu::host_cpu`). Were it the payload's, by what it finds in memory or in the
/// host's time, hardly any two would be the same.
#[test]
fn two_runs_of_32_are_the_same_to_the_byte() {
    let mut seen: Vec<String> = Vec::new();
    for _ in 0..4 {
        let log = common::pass(&spec(32));
        assert_sound(&log);
        if seen.contains(&log.text) {
            return;
        }
        let pairs = seen.iter().flat_map(|it| it.lines().zip(log.text.lines()));
        eprintln!(
            "two runs differ: {:#?}",
            pairs.clone().find(|(a, b)| a != b)
        );
        seen.push(log.text);
    }
    panic!("no two runs are the same: on stderr is where they differ");
}

/// The lead's naps are in microseconds by its CNTFRQ_EL0. Half of that makes them
/// half as long, in ticks, and nothing else: the lead looks twice as often.
#[test]
fn no_figure_depends_on_how_often_the_lead_looks() {
    let run = |hz: u32| {
        let options = format!("--smp 8 --icount --fault cntfrq,arg={hz}");
        common::pass(&common::spec(&options, "iterations=3 warmup=1"))
    };
    let (seldom, often) = (run(62_500_000), run(31_250_000));
    for t in [SuspendDeepSerial, CpuSuspendSerial, CpuOffSerial] {
        let figures = |log: &Log| log.rows(t).map(|it| it.1.figures).collect::<Vec<_>>();
        assert_eq!(figures(&seldom), figures(&often), "{t:?}");
    }
}
