//! Measures the times from CPU_ON to the first instruction and from CPU_OFF to OFF.
//!
//! A CPU powers off at an instant that the lead publishes when the CPU is ready. From then on, the
//! lead calls AFFINITY_INFO continuously. A round with all CPUs does not measure the time until
//! OFF, because the lead can only poll one CPU at a time.
//!
//! In `cpu_on_flood`, the lead calls CPU_ON continuously instead, until the firmware accepts it.
//!
//! After its last CPU_ON, the lead sleeps for twice the time that the slowest CPU has taken so far,
//! so that it does not interfere with CPUs that are powering up.

use alloc::vec::Vec;
use core::fmt;

use hardware::board::CpuIndex;

use crate::bench::Request;
use crate::bench::cell_state::COLUMNS;
use crate::bench::memory::{bench_bytes, cells_bytes};
use crate::bench::{Bench, BenchRoom, FIRST_QUIET_US, LONGEST_QUIET_US, too_few};
use crate::measure::{Action, Metric, Participants, Round, Spans, TimeSource};
use crate::model::{CellStep, Failure, Scenario, Skip, Status};
use crate::plan::{ActiveCpus, Group, Key, NotCounted, RunSize, Variant, Work};

use super::descriptor::{Descriptor, requested};

pub(super) const CPU_ON: Descriptor = Descriptor {
    tag: "cpu_on",
    name: "CPU_ON and CPU_OFF",
    needs_cpu_off: true,
    arguments: &[&[Key::Iterations, Key::Warmup, Key::CpuOnAfter]],
    compared: &[Key::CpuOnAfter],
    variants: &[FIRST_IN_CLUSTER, JOINS_CLUSTER],
    not_counted: NotCounted::ByReason,
    cells: |size| 2 * size.cpus + 1,
    heap,
    work: |size, cells| Work {
        samples: size.rounds() * cells as u64,
        ..Work::default()
    },
    explanation: requested,
    measure: |request| measure(request, false),
    ..Descriptor::LOOP
};

pub(super) const CPU_ON_FLOOD: Descriptor = Descriptor {
    tag: "cpu_on_flood",
    name: "CPU_OFF under a flood of CPU_ON calls",
    group: Group::None,
    // On several SoCs, a CPU_ON in this gap loses the CPU.
    is_in_all: false,
    cells: |size| size.cpus,
    measure: |request| measure(request, true),
    ..CPU_ON
};

/// The first CPU in its cluster to be turned on.
const FIRST_IN_CLUSTER: Variant = Variant::new("first");
/// A CPU whose cluster is already up.
const JOINS_CLUSTER: Variant = Variant::new("joins");

fn heap(size: &RunSize<'_>, cells: usize) -> usize {
    bench_bytes(size.cpus, 0, size.plan.iterations as usize) + cells_bytes(cells, COLUMNS)
}

/// How many microseconds before CPU_OFF the lead publishes the start time. This must be longer than
/// the waiting CPU's nap.
const LEAD_IN_US: u64 = 200;

/// Measures each CPU individually, and then all CPUs at once. A CPU's columns hold its CPU_ON and
/// CPU_OFF times.
fn measure(request: Request<'_>, floods: bool) -> Result<Vec<Scenario>, fmt::Error> {
    let key = request.key;
    let room = BenchRoom {
        figures: request.setting.plan.iterations as usize,
        ..BenchRoom::for_cells(&request)
    };
    let mut bench = Bench::new(request, room);
    let status = match bench.cpu_count() {
        0 | 1 => Status::Skipped(Skip::OneCpu),
        _ => measure_all(&mut bench, floods).map_or_else(Status::Failed, |()| Status::Passed),
    };
    Ok(alloc::vec![bench.finish(key, status)])
}

/// Measures each CPU but the lead and then, unless the lead floods one CPU, all of them at once.
fn measure_all(bench: &mut Bench<'_>, floods: bool) -> Result<(), Failure> {
    bench.request_samples(bench.plan().iterations);
    let lead = bench.lead();
    let others = CpuIndex::all(bench.cpu_count()).filter(|cpu| *cpu != lead);
    let together = (!floods).then_some(Participants::All);
    for participants in others.clone().map(Participants::Only).chain(together) {
        take_samples(bench, participants, floods)?;
        for cpu in others
            .clone()
            .filter(|cpu| participants.includes(*cpu, lead))
        {
            add_cell(bench, participants, cpu)?;
        }
    }
    Ok(())
}

/// Runs the rounds for these CPUs.
fn take_samples(
    bench: &mut Bench<'_>,
    participants: Participants,
    floods: bool,
) -> Result<(), Failure> {
    let spans = Spans {
        quiet: bench.us(FIRST_QUIET_US),
        ..Spans::new(bench.us(LEAD_IN_US))
    };
    let mut round = Round::new(participants, Action::TimedOff { floods }, spans);
    bench.clear_cells();
    // Run at least one round, because the first one powers off CPUs that are still on.
    for _ in 0..bench.plan().warmup.max(1) {
        bench.count_trial();
        bench.try_round(&round)?;
        round.spans.quiet = round.spans.quiet.max(quiet_for_slowest(bench));
    }
    for _ in 0..bench.plan().iterations {
        bench.count_attempt();
        bench.try_round(&round)?;
        round.spans.quiet = round.spans.quiet.max(quiet_for_slowest(bench));
        bench.keep_figures([Metric::TurnOn, Metric::TurnOff], |outcome| {
            outcome.judge(TimeSource::Counter)
        });
    }
    Ok(())
}

/// Returns twice the time that the slowest CPU in the last round needed to power up, capped at the
/// longest quiet time.
fn quiet_for_slowest(bench: &Bench<'_>) -> u64 {
    let slowest = bench
        .outcomes()
        .iter()
        .filter(|outcome| outcome.took_part())
        .filter_map(|outcome| outcome.metric(Metric::TurnOn, TimeSource::Counter))
        .max();
    let longest_quiet = bench.us(LONGEST_QUIET_US);
    (2 * slowest.unwrap_or(0)).min(longest_quiet)
}

/// Adds a CPU's cell. Returns an error if too few samples of either time are valid.
fn add_cell(
    bench: &mut Bench<'_>,
    participants: Participants,
    cpu: CpuIndex,
) -> Result<(), Failure> {
    let requested_samples = bench.plan().iterations;
    let step = CellStep {
        cpus: match participants {
            Participants::All => ActiveCpus::All,
            _ => ActiveCpus::Alone,
        },
        ..CellStep::with_variant(variant(bench, participants, cpu))
    };
    let metrics: &[Metric] = match participants {
        Participants::All => &[Metric::TurnOn],
        _ => &[Metric::TurnOn, Metric::TurnOff],
    };
    let turned_off = bench.cell(cpu).figures_in(1);
    bench.add_cell(cpu, step, metrics, requested_samples)?;
    match participants {
        Participants::All => Ok(()),
        _ => too_few(cpu, turned_off, requested_samples).map_or(Ok(()), Err),
    }
}

/// Returns [`JOINS_CLUSTER`] if the CPU's cluster is already up, because the lead is in that
/// cluster or has turned on one of its CPUs earlier in the same round.
fn variant(bench: &Bench<'_>, participants: Participants, cpu: CpuIndex) -> Variant {
    let (cpus, lead) = (bench.setting().cpus, bench.lead());
    let is_up = |other: CpuIndex| other == lead || participants == Participants::All && other < cpu;
    let cluster = |cpu: CpuIndex| cpus[cpu.index()].cluster;
    let is_mate = |other: CpuIndex| other != cpu && cluster(other) == cluster(cpu);
    let mut all = CpuIndex::all(cpus.len());
    if all.any(|other| is_mate(other) && is_up(other)) {
        JOINS_CLUSTER
    } else {
        FIRST_IN_CLUSTER
    }
}
