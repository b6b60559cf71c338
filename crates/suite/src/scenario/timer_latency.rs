//! The scenario `timer_latency`. A *stretch* is one load, with the timer of one CPU or those
//! of all. It is measured in *windows* of a second at most, each a round: a line is printed
//! after each, while the timers are stopped. All CPUs are on all the time.

use core::fmt;

use hardware::text::words::Word;
use run::measure::{
    Account, Action, After, End, Machine, Metric, Round, Schedule, TimerFault, Until, Who, Window,
};
use run::model::{Failure, Point, Scenario, ScenarioKey, Skip, Spread, Status, Variant};
use run::plan::{Load, TimerPlan};

use super::bench::{Setting, lead_in};
use super::point_bench::{MEASURES, PointBench, how};
use super::progress::{Progress, Stretch};

const FIGURES: [(Until, Metric); MEASURES] = [
    (Until::Entry, Metric::Entry),
    (Until::Handler, Metric::Handler),
];

/// Measures the scenario, and reports each window to `progress`.
pub(crate) fn measure(
    machine: &mut dyn Machine,
    setting: Setting<'_>,
    key: ScenarioKey,
    progress: &mut dyn Progress,
) -> Result<Scenario, fmt::Error> {
    let mut timer = setting.plan.timer;
    let bench = PointBench::new(machine, setting, key.id, 0);
    let facts = bench.machine.facts();
    if facts.gic == 0 {
        return Ok(bench.finish(key, Status::Skipped(Skip::NoInterrupts)));
    }
    if !facts.zero && timer.leave_out(Load::Zero) {
        progress.without_zero()?;
        if timer.loads().next().is_none() {
            return Ok(bench.finish(key, Status::Skipped(Skip::NoZero)));
        }
    }
    let mut timers = Timers {
        schedule: Schedule {
            period: facts.ticks(timer.period.into()),
            expiries: 0,
            threshold: timer.threshold.map(|us| facts.ticks(us.into())),
        },
        timer,
        bench,
        progress,
    };
    let failure = timers.run()?;
    // Other scenarios expect that the CPUs are off.
    let _ = timers.bench.run(&timers.round());
    let status = failure.map_or(Status::Passed, Status::Failed);
    Ok(timers.bench.finish(key, status))
}

struct Timers<'s, 'm> {
    bench: PointBench<'m>,
    progress: &'s mut dyn Progress,
    timer: TimerPlan,
    /// The schedule of all windows, each with its own number of expiries.
    schedule: Schedule,
}

impl Timers<'_, '_> {
    /// Runs all stretches, up to the first that fails.
    fn run(&mut self) -> Result<Option<Failure>, fmt::Error> {
        let cpus = self.bench.setting.cpus.len();
        let timer = self.timer;
        self.bench.conditions.asked = timer.expiries().0;
        for load in timer.loads() {
            let each = (0..timer.alone_under(load, cpus)).map(Who::Only);
            for who in each.chain(timer.all().then_some(Who::All)) {
                let failure = self.stretch(load, who)?;
                if failure.is_some() {
                    return Ok(failure);
                }
            }
        }
        Ok(None)
    }

    fn stretch(&mut self, load: Load, who: Who) -> Result<Option<Failure>, fmt::Error> {
        let cpus = self.bench.setting.cpus;
        let mut window = Window {
            schedule: self.schedule,
            timers: who,
            load,
        };
        let measured = (0..cpus.len()).filter(move |cpu| window.measures(*cpu));
        for cpu in measured.clone() {
            if let Some(tally) = self.bench.machine.tally(cpu) {
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
        let mpidr = match who {
            Who::Only(cpu) => cpus[cpu].mpidr,
            _ => None,
        };
        self.progress.begin(&stretch, mpidr, load)?;
        let mut failure = None;
        while stretch.done < total && failure.is_none() {
            window.schedule.expiries = most.min(total - stretch.done);
            let (sum, done);
            (sum, done, failure) = self.window(window, measured.clone());
            stretch.done += done;
            stretch.windows += 1;
            stretch.all.merge(&sum);
            self.progress.window(&stretch, &sum)?;
        }
        self.progress.end(&stretch)?;
        for cpu in measured {
            self.add_points(cpu, who, load);
        }
        Ok(failure)
    }

    /// Runs one window; returns the sum of the CPUs' accounts, and the number of
    /// expiries: after a failure, the least of a CPU.
    fn window(
        &mut self,
        window: Window,
        measured: impl Iterator<Item = usize> + Clone,
    ) -> (Account, u32, Option<Failure>) {
        for cpu in measured.clone() {
            // A CPU that does not begin must not have its last account counted again.
            if let Some(tally) = self.bench.machine.tally(cpu) {
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
        let mut failure = self.bench.run(&round).err();
        self.bench.conditions.attempts += 1;
        let (mut sum, mut least) = (Account::default(), expiries);
        for cpu in measured {
            failure = failure.or(self.fault(cpu));
            if let Some(tally) = self.bench.machine.tally(cpu) {
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

    fn fault(&mut self, cpu: usize) -> Option<Failure> {
        let end = self.bench.outcomes.get(cpu)?.end;
        let tally = self.bench.machine.tally(cpu)?;
        let fault = match (tally.stray, tally.exceeded) {
            _ if end == End::Pending => TimerFault::Pending,
            (Some(intid), _) => TimerFault::Stray(intid),
            (_, Some(ticks)) => TimerFault::Late(ticks),
            _ if tally.is_complete() => return None,
            _ if tally.window.spurious > tally.window.expiries => TimerFault::Spurious,
            _ => TimerFault::Silent,
        };
        let cpu = cpu as u16;
        Some(Failure::Timer { cpu, fault })
    }

    /// Adds the points of a CPU's timer, the one to the handler with its spread.
    fn add_points(&mut self, cpu: usize, who: Who, load: Load) {
        let Some(tally) = self.bench.machine.tally(cpu) else {
            return;
        };
        // A load's variant has its name.
        let variant = Variant::from_word(load.word()).unwrap_or(Variant::Idle);
        for (until, measure) in FIGURES {
            let histogram = &tally.histograms[until as usize];
            let series = tally.settled.until(until);
            self.bench.points.push(Point {
                how: how(who),
                figures: histogram.summary(series.min, series.max),
                lost: tally.settled.overruns.into(),
                spread: (until == Until::Handler).then(|| Spread::of(histogram)),
                ..Point::new(cpu as u16, variant, measure)
            });
        }
    }
}
