//! The `timer_latency` scenario. A *stretch* is a measurement under one load, with either one CPU's
//! timer or all CPUs' timers running. A stretch is measured in *windows* of at most a second. Each
//! window is a round, after which the timers stop and a line is printed. All CPUs stay on
//! throughout.

use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::measure::{
    Account, Action, ActionEnd, After, Machine, Metric, Reason, Round, Schedule, TimerFault, Until,
    Who, Window,
};
use crate::model::{
    Cell, CellStep, Counts, Failure, Scenario, ScenarioKey, Series, Skip, Spread, Status, Variant,
};
use crate::plan::{How, Load, TimerPlan};
use hardware::board::CpuIndex;
use hardware::spec::psci;
use hardware::text::prose::paragraph;

use super::bench::{Bench, BenchRoom, Setting, lead_in};
use super::stretch::Stretch;
use super::trials::neighbor_of;

const FIGURES: [(Until, Metric); 2] = [
    (Until::Entry, Metric::Entry),
    (Until::Handler, Metric::Handler),
];

/// Printed if the load is left out.
const WITHOUT_ZERO: &str = "DC ZVA is prohibited here (DCZID_EL0.DZP): zero is skipped, and mixed \
    uses plain stores instead.";
const WITHOUT_STATE: &str =
    "No power-down state keeps the CPUs' timers running: suspend is skipped.";

/// Measures the scenario, and prints each window to `out`.
pub(crate) fn measure(
    machine: &mut dyn Machine,
    setting: Setting<'_>,
    key: ScenarioKey,
    out: &mut dyn Write,
) -> Result<Scenario, fmt::Error> {
    let mut timer = setting.plan.timer;
    let room = BenchRoom {
        outcomes: 0,
        figures: 0,
        cells: setting.plan.cells(key.id, setting.cpus.len(), 0),
    };
    let bench = Bench::new(machine, setting, key.method, out, room);
    let facts = bench.machine.facts();
    if facts.gic.is_none() {
        return Ok(bench.finish(key, Status::Skipped(Skip::NoInterrupts)));
    }
    let states = [setting.states.deepest, setting.states.core];
    let mut states = states.into_iter().flatten();
    let state = states.find(|state| !state.timer_stops);
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
            paragraph(bench.out, "  ", 2, &why)?;
            if timer.loads().next().is_none() {
                return Ok(bench.finish(key, Status::Skipped(skip)));
            }
        }
    }
    let mut timers = Timers {
        schedule: Schedule {
            period: facts.ticks(timer.period.into()),
            expiries: 0,
            threshold: timer.threshold.map(|us| facts.ticks(us.into())),
        },
        power_state: state.map_or(0, |state| state.power_state),
        timer,
        bench,
    };
    let failure = timers.run()?;
    // Other scenarios expect the CPUs to be off.
    let _ = timers.bench.run_round(&timers.round());
    let status = match failure {
        Some(failure) => Status::Failed(failure),
        None if timers.bench.results.is_empty() => Status::Skipped(Skip::NoNeighbor),
        None => Status::Passed,
    };
    Ok(timers.bench.finish(key, status))
}

struct Timers<'m> {
    bench: Bench<'m>,
    timer: TimerPlan,
    /// The schedule for all windows; only the number of expiries differs.
    schedule: Schedule,
    /// The deepest state in which a CPU's own timer wakes it; 0 if there is none.
    power_state: u32,
}

impl Timers<'_> {
    /// Runs the stretches until one fails.
    fn run(&mut self) -> Result<Option<Failure>, fmt::Error> {
        let cpus = self.bench.setting.cpus.len();
        let timer = self.timer;
        self.bench.asked = timer.expiries().0;
        for load in timer.loads() {
            for how in timer.timers.iter() {
                if !TimerPlan::is_possible(load, how, cpus) {
                    continue;
                }
                let failure = match how {
                    How::All => self.stretch(load, how, None)?,
                    How::Alone | How::Near | How::Far => self.stretch_on_each(load, how)?,
                };
                if failure.is_some() {
                    return Ok(failure);
                }
            }
        }
        Ok(None)
    }

    fn stretch_on_each(&mut self, load: Load, how: How) -> Result<Option<Failure>, fmt::Error> {
        for cpu in CpuIndex::all(self.bench.setting.cpus.len()) {
            let failure = self.stretch(load, how, Some(cpu))?;
            if failure.is_some() {
                return Ok(failure);
            }
        }
        Ok(None)
    }

    /// Measures the timer of one CPU, or of all CPUs. Does nothing if the CPU that is to run the
    /// load does not exist.
    fn stretch(
        &mut self,
        load: Load,
        how: How,
        measured: Option<CpuIndex>,
    ) -> Result<Option<Failure>, fmt::Error> {
        let cpus = self.bench.setting.cpus;
        let machine = &*self.bench.machine;
        let only = measured.and_then(|cpu| neighbor_of(machine, cpus, cpu, how, None));
        if matches!(how, How::Near | How::Far) && only.is_none() {
            return Ok(None);
        }
        let mut window = Window {
            schedule: self.schedule,
            timers: measured.map_or(Who::All, Who::Only),
            load,
            only,
            power_state: self.power_state,
        };
        let timed = CpuIndex::all(cpus.len()).filter(|cpu| window.measures(*cpu));
        let timed: Vec<CpuIndex> = timed.collect();
        for cpu in &timed {
            if let Some(tally) = self.bench.machine.tally(*cpu) {
                *tally = Default::default();
            }
        }
        let (total, most) = self.timer.expiries();
        let mut stretch = Stretch {
            frequency: self.bench.machine.facts().frequency,
            period: self.schedule.period,
            total,
            done: 0,
            windows: 0,
            all: Account::default(),
        };
        let mpidr = |cpu: CpuIndex| cpus[cpu.place()].mpidr;
        let [own, other] = [measured, only].map(|cpu| cpu.and_then(mpidr));
        stretch.print_begin(self.bench.out, own, other, load)?;
        let mut failure = None;
        while stretch.done < total && failure.is_none() {
            window.schedule.expiries = most.min(total - stretch.done);
            let (sum, done);
            (sum, done, failure) = self.window(window, &timed);
            stretch.done += done;
            stretch.windows += 1;
            stretch.all.merge(&sum);
            stretch.print_window(self.bench.out, &sum)?;
        }
        stretch.print_end(self.bench.out)?;
        for cpu in timed {
            self.add_cell(cpu, how, load);
        }
        Ok(failure)
    }

    /// Runs one window. Returns the sum of the CPUs' accounts, and the number of expiries. After a
    /// failure, the number of expiries is the lowest on any CPU.
    fn window(&mut self, window: Window, timed: &[CpuIndex]) -> (Account, u32, Option<Failure>) {
        for cpu in timed {
            // If a CPU does not start, its previous counts must not be added again.
            if let Some(tally) = self.bench.machine.tally(*cpu) {
                tally.window = Account::default();
            }
        }
        let (period, expiries) = (window.schedule.period, window.schedule.expiries);
        let round = Round {
            sleep: period * u64::from(expiries),
            action: Action::Expire,
            after: After::Stay,
            window: Some(window),
            ..self.round()
        };
        let mut failure = self.bench.run_round(&round).err();
        self.bench.attempts += 1;
        failure = failure.or(self.refused_suspend());
        let (mut sum, mut least) = (Account::default(), expiries);
        for cpu in timed {
            failure = failure.or(self.fault(*cpu));
            if let Some(tally) = self.bench.machine.tally(*cpu) {
                tally.settle();
                sum.merge(&tally.window);
                least = least.min(tally.window.expiries);
            }
        }
        let done = failure.map_or(expiries, |_| least);
        (sum, done, failure)
    }

    /// Returns a round without an action, after which all CPUs power off.
    fn round(&self) -> Round {
        let cpus = self.bench.setting.cpus.len();
        let lead_in = lead_in(self.bench.machine.facts(), Who::All, cpus);
        Round::new(Who::All, Action::None, lead_in)
    }

    fn refused_suspend(&self) -> Option<Failure> {
        let mut outcomes = CpuIndex::all(self.bench.outcomes.len()).zip(&self.bench.outcomes);
        let (cpu, outcome) = outcomes.find(|(_, it)| it.end == ActionEnd::GaveUp)?;
        let fault = TimerFault::Refused(psci::ReturnCode(outcome.code?));
        Some(Failure::Timer { cpu, fault })
    }

    fn fault(&mut self, cpu: CpuIndex) -> Option<Failure> {
        let end = self.bench.outcomes.get(cpu.place())?.end;
        let tally = self.bench.machine.tally(cpu)?;
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
    fn add_cell(&mut self, cpu: CpuIndex, how: How, load: Load) {
        let Some(tally) = self.bench.machine.tally(cpu) else {
            return;
        };
        let mut series = Vec::with_capacity(FIGURES.len());
        for (until, metric) in FIGURES {
            let histogram = &tally.histograms[until as usize];
            let own = tally.settled.until(until);
            series.push(Series {
                histogram: (until == Until::Handler).then(|| Spread::of(histogram)),
                ..Series::of(metric, histogram.summary(own.min, own.max))
            });
        }
        let mut rejected = Vec::new();
        if tally.settled.overruns > 0 {
            rejected.reserve_exact(1);
            rejected.push((Reason::Overrun, tally.settled.overruns));
        }
        let step = CellStep {
            how,
            ..CellStep::of(Variant::from(load))
        };
        let mut cell = Cell::new(cpu, step);
        cell.counts = Some(Counts {
            valid: tally.settled.until(Until::Handler).n,
            rejected,
            first: None,
        });
        cell.series = series;
        self.bench.results.push(cell);
    }
}
