//! Checks that results are plausible with the instruction clock and the pinned TF-A version.
//! `tests/frozen` checks serial rows to the tick.
//!
//! With this clock, one tick is one instruction on any CPU. A result therefore includes the
//! instructions that other CPUs executed in the meantime, but it is exactly repeatable.

use std::collections::BTreeSet;

use hardware::board::Mpidr;
use suite::measure::Metric;
use suite::model::Cell;
use suite::plan::ScenarioId;

use crate::common::{self, Log, spec};

#[test]
fn last_men_pay_alone_and_a_timed_region_costs_its_instructions() {
    let log = common::expect_pass(&spec("--smp 8 --icount", "iterations=12"));
    let cells: Vec<(Mpidr, &Cell)> = log.cells(ScenarioId::SUSPEND_DEEP_PARALLEL).collect();
    let flush = |cell: &Cell| cell.figure(Metric::CacheFlush).expect("a figure");
    let flushes = cells.iter().map(|(_, cell)| flush(cell));
    let longest = flushes.max().expect("cells");
    let clusters = log.clusters();
    for cluster in 0..2 {
        let mates = || cells.iter().filter(|(cpu, _)| clusters[cpu] == cluster);
        let payers = mates().filter(|(_, cell)| flush(cell) > longest / 2);
        let last = mates().max_by_key(|(_, cell)| cell.went_down());
        assert!(payers.eq(last), "{cells:?}");
    }
    // The interval between the two reads contains an isb and an mrs. Anything beyond that is due to
    // the call itself.
    assert_eq!(log.facts().overheads.empty, 2);
    // The timed interval contains an smc, an isb, an mrs and the path through the firmware, which
    // are the same on every CPU and in every sample.
    let calls = log.metric(ScenarioId::PSCI_VERSION_PARALLEL, Metric::Call);
    assert_eq!(calls.len(), 8);
    let costs = calls
        .values()
        .flat_map(|summary| [summary.min, summary.max]);
    assert_eq!(BTreeSet::from_iter(costs).len(), 1, "{calls:?}");
}

/// Two of four runs must be byte-for-byte identical. On a busy host, up to one in eight runs with
/// 32 CPUs differs because of QEMU, but two runs rarely differ in the same way
/// (`runner::qemu::host_cpu`). If the payload depended on memory contents or host time, hardly any
/// runs would be identical.
#[test]
fn two_runs_of_32_are_the_same_to_the_byte() {
    let mut seen: Vec<String> = Vec::new();
    for _ in 0..4 {
        let text = common::expect_pass(&spec("--smp 32 --icount", "iterations=3 samples=all")).text;
        if seen.contains(&text) {
            return;
        }
        let mut pairs = seen
            .iter()
            .flat_map(|earlier_text| earlier_text.lines().zip(text.lines()));
        eprintln!(
            "two runs differ: {:#?}",
            pairs.find(|(one, other)| one != other)
        );
        seen.push(text);
    }
    panic!("no two runs are the same; stderr shows where they differ");
}

/// The length of the lead's naps is computed from its CNTFRQ_EL0. Halving CNTFRQ_EL0 halves the
/// naps' length in ticks, so the lead polls twice as often, but nothing else changes. Caller-side
/// results are not compared, because they include the sleep, whose length is also computed from
/// CNTFRQ_EL0.
#[test]
fn no_figure_depends_on_how_often_the_lead_looks() {
    let run = |hz: u32| {
        let options = format!("--smp 8 --icount --fault cntfrq,arg={hz}");
        common::expect_pass(&spec(&options, "iterations=3 warmup=1"))
    };
    let seldom = run(62_500_000);
    let often = run(31_250_000);
    for id in [
        ScenarioId::SUSPEND_DEEP_SERIAL,
        ScenarioId::CPU_SUSPEND_SERIAL,
        ScenarioId::CPU_OFF_SERIAL,
    ] {
        let figures = |log: &Log| {
            let cells = log.cells(id);
            let by_pmf = [Metric::Powerdown, Metric::Wakeup, Metric::CacheFlush];
            cells
                .map(|(_, cell)| by_pmf.map(|metric| cell.figure(metric)))
                .collect::<Vec<_>>()
        };
        assert_eq!(figures(&seldom), figures(&often), "{id:?}");
    }
}
