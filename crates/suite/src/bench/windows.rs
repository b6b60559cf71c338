//! Measurements that last for a given time, under load: each is of one CPU or of all CPUs, with
//! one load. A measurement is divided into *windows* of at most a second. A window is a round,
//! after which output is possible. All CPUs stay on throughout.

use alloc::vec::Vec;
use core::fmt;

use hardware::board::{CpuIndex, Mpidr};
use hardware::spec::psci;
use hardware::text::prose::paragraph;

use super::bench::{Bench, BenchRoom};
use super::cell_state::COLUMNS;
use super::memory::{bench_bytes, cells_bytes, list};
use super::request::{Request, Setting};
use super::trials::neighbor_of;
use crate::measure::{
    Account, Action, ActionEnd, AfterRound, DurationKind, Facts, Histogram, Metric, Participants,
    Round, Schedule, Spans, Tally, Watched, Window,
};
use crate::model::{BinCounts, CellStep, Failure, Scenario, Series, Skip, Status, TimerFault};
use crate::plan::{ActiveCpus, Load, RunSize, TimerPlan, Variant, Work};

/// The loads, as variants.
pub(crate) const LOADS: [Variant; Load::COUNT] = {
    let mut variants = [Variant::PLAIN; Load::COUNT];
    let mut index = 0;
    while index < variants.len() {
        variants[index] = Variant::new(Load::ALL[index].word());
        index += 1;
    }
    variants
};

/// Printed if the load is left out.
const WITHOUT_ZERO: &str = "DC ZVA is prohibited here (DCZID_EL0.DZP): zero is skipped, and mixed \
    uses plain stores instead.";
const WITHOUT_STATE: &str =
    "No power-down state keeps the CPUs' timers running: suspend is skipped.";

/// What is measured in the windows of a scenario, and how it is shown. An error means that output
/// cannot be written.
pub(crate) trait Watch {
    /// What the measured CPUs do.
    const WATCHED: Watched;

    /// Prints the start of a measurement.
    fn begin(&mut self, bench: &mut Bench<'_>, measured: &Measurement) -> fmt::Result;

    /// Prints the last window.
    fn end_window(&mut self, bench: &mut Bench<'_>, window: &WindowResult) -> fmt::Result;

    /// Prints the end of a measurement.
    fn end(&mut self, bench: &mut Bench<'_>) -> fmt::Result;

    /// Adds the cell of a CPU that has been measured.
    fn add_cell(&mut self, bench: &mut Bench<'_>, cpu: CpuIndex, step: CellStep);
}

/// One measurement.
pub(crate) struct Measurement {
    /// The CPU that is measured; None if all are.
    pub(crate) cpu: Option<Mpidr>,
    /// The only CPU that runs the load, if there is one.
    pub(crate) loaded: Option<Mpidr>,
    pub(crate) load: Load,
    /// The number of expiries that the plan requests for each timer.
    pub(crate) total: u32,
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let load = self.load.word();
        match (self.cpu, self.loaded) {
            (Some(cpu), Some(loaded)) => write!(f, "CPU {cpu}, CPU {loaded} {load}"),
            (Some(cpu), None) => write!(f, "CPU {cpu}, others {load}"),
            (None, _) => write!(f, "all CPUs, {load}"),
        }
    }
}

/// The result of one window.
pub(crate) struct WindowResult {
    /// The sum of the CPUs' accounts.
    pub(crate) sum: Account,
    /// The number of expiries; after a failure, the lowest on any CPU.
    pub(crate) done: u32,
    failure: Option<Failure>,
}

/// Returns a cell's series. That of the durations `in_bins` includes a histogram.
pub(crate) fn series(
    tally: &Tally,
    figures: &[(DurationKind, Metric)],
    in_bins: DurationKind,
) -> Vec<Series> {
    let mut series = Vec::with_capacity(figures.len());
    for (kind, metric) in figures {
        series.push(Series {
            histogram: (*kind == in_bins)
                .then(|| BinCounts::from_histogram(tally.histogram(*kind))),
            ..Series::with_summary(*metric, tally.summary(*kind))
        });
    }
    series
}

/// Returns the maximum number of cells.
pub(crate) fn cells(size: &RunSize<'_>) -> usize {
    let timer = TimerPlan::from_plan(size.plan);
    size.cpus * timer.timers.iter().count() * timer.loads().count()
}

/// Returns the heap that a scenario with these cells needs.
pub(crate) fn heap(size: &RunSize<'_>, cells: usize) -> usize {
    let histogram = list::<u32>(Histogram::default().counts().count());
    bench_bytes(size.cpus, 0, 0) + cells * histogram + cells_bytes(cells, COLUMNS)
}

/// Each load takes one period for each CPU that is measured on its own, plus one period for all CPUs
/// together.
pub(crate) fn work(size: &RunSize<'_>, _: usize) -> Work {
    let timer = TimerPlan::from_plan(size.plan);
    let measurements = timer.measurements(size.cpus) as u64;
    Work {
        timers_s: measurements.saturating_mul(timer.duration.into()),
        ..Work::default()
    }
}

/// Measures a scenario. `make_watch` returns what is measured, and may change the period.
pub(crate) fn measure<W: Watch>(
    request: Request<'_>,
    make_watch: fn(&Facts, &mut TimerPlan) -> W,
) -> Result<Vec<Scenario>, fmt::Error> {
    let (key, setting) = (request.key, request.setting);
    let mut timer = TimerPlan::from_plan(setting.plan);
    let room = BenchRoom::for_cells(&request);
    let mut bench = Bench::new(request, room);
    let facts = *bench.facts();
    if facts.gic.is_none() {
        let status = Status::Skipped(Skip::NoInterrupts);
        return Ok(alloc::vec![bench.finish(key, status)]);
    }
    let watch = make_watch(&facts, &mut timer);
    let power_state = power_state(setting);
    if let Some(skip) = leave_out_loads(&mut bench, &mut timer, power_state)? {
        return Ok(alloc::vec![bench.finish(key, Status::Skipped(skip))]);
    }
    let mut windows = Windows {
        schedule: Schedule {
            period: facts.ticks(timer.period.into()),
            expiries: 0,
            threshold: setting.plan.threshold.map(|us| facts.ticks(us.into())),
        },
        power_state: power_state.unwrap_or(0),
        timer,
        bench,
        watch,
    };
    let failure = windows.measure_loads()?;
    // Other scenarios expect the CPUs to be off.
    let _ = windows.bench.try_round(&windows.round());
    let status = match failure {
        Some(failure) => Status::Failed(failure),
        None if windows.bench.results().is_empty() => Status::Skipped(Skip::NoNeighbor),
        None => Status::Passed,
    };
    Ok(alloc::vec![windows.bench.finish(key, status)])
}

/// Returns the deepest state in which a CPU's own timer wakes it.
fn power_state(setting: Setting<'_>) -> Option<u32> {
    let states = [setting.states.deepest, setting.states.core];
    let mut usable = states.into_iter().flatten();
    let state = usable.find(|state| !state.timer_stops)?;
    Some(state.power_state)
}

/// Leaves out the loads that are impossible on this machine. Returns the reason if none are left.
fn leave_out_loads(
    bench: &mut Bench<'_>,
    timer: &mut TimerPlan,
    power_state: Option<u32>,
) -> Result<Option<Skip>, fmt::Error> {
    let has_zero = bench.facts().zero;
    for (load, is_possible, skip, why) in [
        (Load::Zero, has_zero, Skip::NoZero, WITHOUT_ZERO),
        (
            Load::Suspend,
            power_state.is_some(),
            Skip::NoIdleState,
            WITHOUT_STATE,
        ),
    ] {
        if !is_possible && timer.leave_out(load) {
            paragraph(bench.out(), "  ", 2, &why)?;
            if timer.loads().next().is_none() {
                return Ok(Some(skip));
            }
        }
    }
    Ok(None)
}

/// The state of a running scenario.
struct Windows<'m, W> {
    bench: Bench<'m>,
    timer: TimerPlan,
    /// The schedule for all windows; only the number of expiries differs.
    schedule: Schedule,
    /// The deepest state in which a CPU's own timer wakes it; 0 if there is none.
    power_state: u32,
    watch: W,
}

impl<W: Watch> Windows<'_, W> {
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

    /// Measures each CPU under a load until one fails.
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

    /// Measures one CPU, or all CPUs. Does nothing if the CPU that is to run the load does not
    /// exist.
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
            measured: measured.map_or(Participants::All, Participants::Only),
            watched: W::WATCHED,
            load,
            loaded_cpu,
            power_state: self.power_state,
        };
        let measured_cpus: Vec<CpuIndex> = CpuIndex::all(cpus.len())
            .filter(|cpu| window.measures(*cpu))
            .collect();
        for cpu in &measured_cpus {
            if let Some(tally) = self.bench.tally(*cpu) {
                *tally = Default::default();
            }
        }
        let (total, window_max) = self.timer.expiries();
        let mpidr = |cpu: CpuIndex| cpus[cpu.index()].mpidr;
        let [cpu, loaded] = [measured, loaded_cpu].map(|cpu| cpu.and_then(mpidr));
        let measurement = Measurement {
            cpu,
            loaded,
            load,
            total,
        };
        self.watch.begin(&mut self.bench, &measurement)?;
        let (mut done, mut failure) = (0, None);
        while done < total && failure.is_none() {
            window.schedule.expiries = window_max.min(total - done);
            let result = self.measure_window(window, &measured_cpus);
            done += result.done;
            self.watch.end_window(&mut self.bench, &result)?;
            failure = result.failure;
        }
        self.watch.end(&mut self.bench)?;
        for cpu in measured_cpus {
            let step = CellStep {
                cpus: active_cpus,
                ..CellStep::with_variant(Variant::new(load.word()))
            };
            self.watch.add_cell(&mut self.bench, cpu, step);
        }
        Ok(failure)
    }

    /// Runs one window.
    fn measure_window(&mut self, window: Window, measured_cpus: &[CpuIndex]) -> WindowResult {
        for cpu in measured_cpus {
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
        for cpu in measured_cpus {
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

    /// Returns the failure if the CPU did not complete the last window.
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
}
