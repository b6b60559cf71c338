//! The `timer_latency` scenario. It consists of measurements under one load, with either one CPU's
//! timer or all CPUs' timers running. Each one is divided into *windows* of at most a second. A
//! window is a round, after which the timers stop and a line is printed. All CPUs stay on
//! throughout.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::bench::Request;
use crate::bench::cell_state::COLUMNS;
use crate::bench::memory::{bench_bytes, cells_bytes, list};
use crate::bench::trials::neighbor_of;
use crate::bench::{Bench, BenchRoom};
use crate::measure::{
    Account, Action, ActionEnd, AfterRound, Histogram, LatencyKind, Metric, Participants, Reason,
    Round, Schedule, Spans, Window,
};
use crate::model::{
    BinCounts, CellStep, Counts, Failure, Run, Scenario, Series, Skip, Status, TimerFault,
};
use crate::plan::{ActiveCpus, Group, Key, Load, NotCounted, RunSize, TimerPlan, Variant, Work};
use hardware::board::CpuIndex;
use hardware::spec::psci;
use hardware::text::prose::paragraph;

use super::descriptor::{Descriptor, requested};
use super::timer_lines::TimerMeasurement;

pub(super) const TIMER_LATENCY: Descriptor = Descriptor {
    tag: "timer_latency",
    name: "Timer expiry to handler, under load",
    group: Group::None,
    arguments: &[&[
        Key::Duration,
        Key::Period,
        Key::Stress,
        Key::Footprint,
        Key::Timers,
        Key::Threshold,
    ]],
    compared: &[Key::Period, Key::Footprint],
    variants: &LOADS,
    not_counted: NotCounted::Column("Overruns"),
    cells: |size| {
        let timer = TimerPlan::from_plan(size.plan);
        size.cpus * timer.timers.iter().count() * timer.loads().count()
    },
    heap,
    work,
    explanation,
    measure,
    ..Descriptor::LOOP
};

/// The loads, as variants.
const LOADS: [Variant; Load::COUNT] = {
    let mut variants = [Variant::PLAIN; Load::COUNT];
    let mut index = 0;
    while index < variants.len() {
        variants[index] = Variant::new(Load::ALL[index].word());
        index += 1;
    }
    variants
};

fn heap(size: &RunSize<'_>, cells: usize) -> usize {
    let histogram = list::<u32>(Histogram::default().counts().count());
    bench_bytes(size.cpus, 0, 0) + cells * histogram + cells_bytes(cells, COLUMNS)
}

/// Each load takes one period for each CPU whose timer is measured on its own, plus one period for
/// all CPUs together.
fn work(size: &RunSize<'_>, _: usize) -> Work {
    let timer = TimerPlan::from_plan(size.plan);
    let measurements = timer.measurements(size.cpus) as u64;
    Work {
        timers_s: measurements.saturating_mul(timer.duration.into()),
        ..Work::default()
    }
}

fn explanation(run: &Run, scenario: &Scenario) -> String {
    requested(run, scenario)
        + "Timers run in windows of at most a second, between which a line is printed. The median \
           and p99 may be up to 1/16 too low, because they are the lower bounds of histogram bins. \
           Overruns are expiries that had already passed when the handler ran. If one CPU is \
           measured alone, the other CPUs are on and run the variant's load. "
}

/// The latencies in a cell.
const FIGURES: [(LatencyKind, Metric); 2] = [
    (LatencyKind::Entry, Metric::Entry),
    (LatencyKind::Handler, Metric::Handler),
];

/// Printed if the load is left out.
const WITHOUT_ZERO: &str = "DC ZVA is prohibited here (DCZID_EL0.DZP): zero is skipped, and mixed \
    uses plain stores instead.";
const WITHOUT_STATE: &str =
    "No power-down state keeps the CPUs' timers running: suspend is skipped.";

/// Measures the scenario, and prints each window.
fn measure(request: Request<'_>) -> Result<Vec<Scenario>, fmt::Error> {
    let (key, setting) = (request.key, request.setting);
    let mut timer = TimerPlan::from_plan(setting.plan);
    let room = BenchRoom::for_cells(&request);
    let mut bench = Bench::new(request, room);
    let facts = *bench.facts();
    if facts.gic.is_none() {
        let status = Status::Skipped(Skip::NoInterrupts);
        return Ok(alloc::vec![bench.finish(key, status)]);
    }
    let state = [setting.states.deepest, setting.states.core]
        .into_iter()
        .flatten()
        .find(|state| !state.timer_stops);
    for (load, is_possible, skip, why) in [
        (Load::Zero, facts.zero, Skip::NoZero, WITHOUT_ZERO),
        (
            Load::Suspend,
            state.is_some(),
            Skip::NoIdleState,
            WITHOUT_STATE,
        ),
    ] {
        if !is_possible && timer.leave_out(load) {
            paragraph(bench.out(), "  ", 2, &why)?;
            if timer.loads().next().is_none() {
                return Ok(alloc::vec![bench.finish(key, Status::Skipped(skip))]);
            }
        }
    }
    let mut timers = Timers {
        schedule: Schedule {
            period: facts.ticks(timer.period.into()),
            expiries: 0,
            threshold: setting.plan.threshold.map(|us| facts.ticks(us.into())),
        },
        power_state: state.map_or(0, |state| state.power_state),
        timer,
        bench,
    };
    let failure = timers.measure_loads()?;
    // Other scenarios expect the CPUs to be off.
    let _ = timers.bench.try_round(&timers.round());
    let status = match failure {
        Some(failure) => Status::Failed(failure),
        None if timers.bench.results().is_empty() => Status::Skipped(Skip::NoNeighbor),
        None => Status::Passed,
    };
    Ok(alloc::vec![timers.bench.finish(key, status)])
}

/// The state of a running `timer_latency` scenario.
struct Timers<'m> {
    bench: Bench<'m>,
    timer: TimerPlan,
    /// The schedule for all windows; only the number of expiries differs.
    schedule: Schedule,
    /// The deepest state in which a CPU's own timer wakes it; 0 if there is none.
    power_state: u32,
}

/// The result of one window.
struct WindowResult {
    /// The sum of the CPUs' accounts.
    sum: Account,
    /// The number of expiries; after a failure, the lowest on any CPU.
    done: u32,
    failure: Option<Failure>,
}

impl Timers<'_> {
    /// Measures each load until one fails.
    fn measure_loads(&mut self) -> Result<Option<Failure>, fmt::Error> {
        let cpus = self.bench.setting().cpus.len();
        let timer = self.timer;
        self.bench.request_samples(timer.expiries().0);
        for load in timer.loads() {
            for active_cpus in timer.timers.iter() {
                if !TimerPlan::is_possible(load, active_cpus, cpus) {
                    continue;
                }
                let failure = match active_cpus {
                    ActiveCpus::All => self.measure(load, active_cpus, None)?,
                    _ => self.measure_each(load, active_cpus)?,
                };
                if failure.is_some() {
                    return Ok(failure);
                }
            }
        }
        Ok(None)
    }

    /// Measures each CPU's timer under a load until one fails.
    fn measure_each(
        &mut self,
        load: Load,
        active_cpus: ActiveCpus,
    ) -> Result<Option<Failure>, fmt::Error> {
        for cpu in CpuIndex::all(self.bench.setting().cpus.len()) {
            let failure = self.measure(load, active_cpus, Some(cpu))?;
            if failure.is_some() {
                return Ok(failure);
            }
        }
        Ok(None)
    }

    /// Measures the timer of one CPU, or of all CPUs. Does nothing if the CPU that is to run the
    /// load does not exist.
    fn measure(
        &mut self,
        load: Load,
        active_cpus: ActiveCpus,
        measured: Option<CpuIndex>,
    ) -> Result<Option<Failure>, fmt::Error> {
        let cpus = self.bench.setting().cpus;
        let machine = self.bench.machine();
        let loaded_cpu =
            measured.and_then(|cpu| neighbor_of(machine, cpus, cpu, active_cpus, None));
        if active_cpus.has_neighbor() && loaded_cpu.is_none() {
            return Ok(None);
        }
        let mut window = Window {
            schedule: self.schedule,
            timers: measured.map_or(Participants::All, Participants::Only),
            load,
            loaded_cpu,
            power_state: self.power_state,
        };
        let timed: Vec<CpuIndex> = CpuIndex::all(cpus.len())
            .filter(|cpu| window.measures(*cpu))
            .collect();
        for cpu in &timed {
            if let Some(tally) = self.bench.tally(*cpu) {
                *tally = Default::default();
            }
        }
        let (total, window_max) = self.timer.expiries();
        let mut measurement = TimerMeasurement {
            frequency: self.bench.facts().frequency,
            period: self.schedule.period,
            total,
            done: 0,
            windows: 0,
            all: Account::default(),
        };
        let mpidr = |cpu: CpuIndex| cpus[cpu.index()].mpidr;
        let [timed_cpu, loaded_cpu] = [measured, loaded_cpu].map(|cpu| cpu.and_then(mpidr));
        measurement.print_begin(self.bench.out(), timed_cpu, loaded_cpu, load)?;
        let mut failure = None;
        while measurement.done < total && failure.is_none() {
            window.schedule.expiries = window_max.min(total - measurement.done);
            let result = self.measure_window(window, &timed);
            failure = result.failure;
            measurement.done += result.done;
            measurement.windows += 1;
            measurement.all.merge(&result.sum);
            measurement.print_window(self.bench.out(), &result.sum)?;
        }
        measurement.print_end(self.bench.out())?;
        for cpu in timed {
            self.add_cell(cpu, active_cpus, load);
        }
        Ok(failure)
    }

    /// Runs one window.
    fn measure_window(&mut self, window: Window, timed: &[CpuIndex]) -> WindowResult {
        for cpu in timed {
            // If a CPU does not start, its previous counts must not be added again.
            if let Some(tally) = self.bench.tally(*cpu) {
                tally.window = Account::default();
            }
        }
        let (period, expiries) = (window.schedule.period, window.schedule.expiries);
        let spans = Spans {
            sleep: period * u64::from(expiries),
            ..Spans::new(self.bench.lead_in(Participants::All))
        };
        let round = Round {
            afterwards: AfterRound::Stay,
            ..Round::new(Participants::All, window, spans)
        };
        let mut failure = self.bench.try_round(&round).err();
        self.bench.count_attempt();
        failure = failure.or(self.refused_suspend());
        let (mut sum, mut least) = (Account::default(), expiries);
        for cpu in timed {
            failure = failure.or(self.fault(*cpu));
            if let Some(tally) = self.bench.tally(*cpu) {
                tally.settle();
                sum.merge(&tally.window);
                least = least.min(tally.window.expiries);
            }
        }
        let done = failure.map_or(expiries, |_| least);
        WindowResult { sum, done, failure }
    }

    /// Returns a round without an action, after which all CPUs power off.
    fn round(&self) -> Round {
        Round::new(
            Participants::All,
            Action::None,
            Spans::new(self.bench.lead_in(Participants::All)),
        )
    }

    /// Returns the failure if the firmware refused the load's suspend on any CPU.
    fn refused_suspend(&self) -> Option<Failure> {
        let mut outcomes = CpuIndex::all(self.bench.cpu_count()).zip(self.bench.outcomes());
        let (cpu, outcome) = outcomes.find(|(_, outcome)| outcome.end == ActionEnd::GaveUp)?;
        let fault = TimerFault::Refused(psci::ReturnCode(outcome.code?));
        Some(Failure::Timer { cpu, fault })
    }

    /// Returns the failure if the CPU's timer did not complete the last window.
    fn fault(&mut self, cpu: CpuIndex) -> Option<Failure> {
        let end = self.bench.outcome(cpu).end;
        let tally = self.bench.tally(cpu)?;
        let fault = match (tally.stray, tally.exceeded) {
            _ if end == ActionEnd::Pending => TimerFault::Pending,
            (Some(intid), _) => TimerFault::Stray(intid),
            (_, Some(ticks)) => TimerFault::Late(ticks),
            _ if tally.is_complete() => return None,
            _ if tally.window.spurious > tally.window.expiries => TimerFault::Spurious,
            _ => TimerFault::Silent,
        };
        Some(Failure::Timer { cpu, fault })
    }

    /// Adds the cell for a CPU's timer. The series that ends at the handler includes a histogram.
    fn add_cell(&mut self, cpu: CpuIndex, active_cpus: ActiveCpus, load: Load) {
        let Some(tally) = self.bench.tally(cpu) else {
            return;
        };
        let mut series = Vec::with_capacity(FIGURES.len());
        for (kind, metric) in FIGURES {
            let histogram = &tally.histograms[kind as usize];
            let exact = tally.settled.latency(kind);
            series.push(Series {
                histogram: (kind == LatencyKind::Handler)
                    .then(|| BinCounts::from_histogram(histogram)),
                ..Series::with_summary(metric, histogram.summary(exact.min, exact.max))
            });
        }
        let mut rejected = Vec::new();
        if tally.settled.overruns > 0 {
            rejected.reserve_exact(1);
            rejected.push((Reason::Overrun, tally.settled.overruns));
        }
        let step = CellStep {
            cpus: active_cpus,
            ..CellStep::with_variant(Variant::new(load.word()))
        };
        let counts = Counts {
            valid: tally.settled.latency(LatencyKind::Handler).n,
            rejected,
            first: None,
        };
        self.bench.push_cell(cpu, step, series).counts = Some(counts);
    }
}
