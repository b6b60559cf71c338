//! The scenario `timer_latency`.
//!
//! A *stretch* is one load, with the timer of one CPU or those of all; it
//! lasts as long as was asked for. It is measured in *windows* of a second at
//! most, each a round: nothing is printed within one, and a line after each,
//! while the timers stand. All CPUs are on all the time.

use core::fmt;

use super::progress::{Progress, Stretch};
use super::stage::{Room, Stage};
use crate::measure::{
    Account, Action, After, End, Fault, Machine, Round, Schedule, Tally, Until, Who, Window,
};
use crate::model::{Failure, How, Measure, Point, Skip, Spread, Status};
use crate::plan::{Load, Plan, TimerPlan};

/// What the scenario needs; None when the numbers do not fit a machine word.
#[must_use]
pub fn room(plan: &Plan, cpus: usize) -> Option<Room> {
    let timer = &plan.timer;
    let hows = usize::from(timer.alone()) + usize::from(timer.all());
    let histograms = (hows * timer.loads().count()).checked_mul(cpus)?;
    Some(Room {
        points: histograms.checked_mul(2)?,
        histograms,
        tallies: true,
        buffer: timer.buffer(),
        ..Room::default()
    })
}

/// Measures it, and writes lines as it goes on.
///
/// # Errors
/// Those of `out`.
pub fn measure<M: Machine>(
    stage: &mut Stage<'_, M>,
    out: &mut dyn Progress,
) -> Result<Status, fmt::Error> {
    let facts = stage.machine.facts();
    if facts.gic == 0 {
        return Ok(Status::Skipped(Skip::NoInterrupts));
    }
    let mut timer = stage.plan.timer;
    if !facts.zero && timer.leave_out(Load::Zero) {
        out.without_zero()?;
        if timer.loads().next().is_none() {
            return Ok(Status::Skipped(Skip::NoZero));
        }
    }
    let mut timers = Timers {
        period: facts.ticks(timer.period.into()),
        threshold: timer.threshold.map(|us| facts.ticks(us.into())),
        lead_in: facts.ticks(200 + 10 * stage.cpus.len() as u64),
        stage,
        out,
    };
    let measured = timers.run(&timer)?;
    timers.leave();
    Ok(match measured {
        None => Status::Passed,
        Some(failure) => Status::Failed(failure),
    })
}

struct Timers<'s, 'b, M> {
    stage: &'s mut Stage<'b, M>,
    out: &'s mut dyn Progress,
    period: u64,
    threshold: Option<u64>,
    lead_in: u64,
}

impl<M: Machine> Timers<'_, '_, M> {
    /// Runs all stretches, up to the first that fails.
    fn run(&mut self, timer: &TimerPlan) -> Result<Option<Failure>, fmt::Error> {
        let cpus = self.stage.cpus.len();
        self.stage.asked = timer.expiries().0;
        for load in timer.loads() {
            let each = (0..timer.alone_under(load, cpus)).map(Who::Only);
            for who in each.chain(timer.all().then_some(Who::All)) {
                let failure = self.stretch(timer, load, who)?;
                if failure.is_some() {
                    return Ok(failure);
                }
            }
        }
        Ok(None)
    }

    /// One stretch, and the points that come of it.
    fn stretch(
        &mut self,
        timer: &TimerPlan,
        load: Load,
        who: Who,
    ) -> Result<Option<Failure>, fmt::Error> {
        let mut window = Window {
            schedule: Schedule {
                period: self.period,
                expiries: 0,
                threshold: self.threshold,
            },
            timers: who,
            load,
        };
        let measured = (0..self.stage.cpus.len()).filter(move |cpu| window.measures(*cpu));
        for cpu in measured.clone() {
            if let Some(tally) = self.stage.machine.tally(cpu) {
                tally.reset();
            }
        }
        let (total, most) = timer.expiries();
        let mut stretch = Stretch {
            frequency: self.stage.machine.facts().frequency,
            period: self.period,
            total,
            done: 0,
            lines: 0,
            all: Account::default(),
        };
        let cpu = match who {
            Who::Only(cpu) => self.stage.cpus.get(cpu),
            _ => None,
        };
        self.out.begin(&stretch, cpu, load)?;
        let mut failure = None;
        while stretch.done < total && failure.is_none() {
            let expiries = most.min(total - stretch.done);
            window.schedule.expiries = expiries;
            for cpu in measured.clone() {
                // Whoever does not come to begin has nothing to be counted again.
                if let Some(tally) = self.stage.machine.tally(cpu) {
                    tally.window = Account::default();
                }
            }
            self.look(window);
            failure = self.stage.lost();
            let (mut sum, mut least) = (Account::default(), None);
            for cpu in measured.clone() {
                failure = failure.or(self.fault(cpu));
                if let Some(tally) = self.stage.machine.tally(cpu) {
                    tally.settle();
                    sum.merge(&tally.window);
                    let dealt = tally.window.expiries;
                    least = Some(least.map_or(dealt, |least: u32| least.min(dealt)));
                }
            }
            // Of what failed only what was measured; else that is all.
            stretch.done += least.filter(|_| failure.is_some()).unwrap_or(expiries);
            self.out.window(&mut stretch, &sum)?;
        }
        self.out.end(&stretch)?;
        let how = match who {
            Who::Only(_) => How::Alone,
            _ => How::All,
        };
        for cpu in measured {
            self.keep(cpu, how, load);
        }
        Ok(failure)
    }

    /// Runs one window.
    fn look(&mut self, window: Window) {
        let schedule = &window.schedule;
        let round = Round {
            sleep: schedule.period * u64::from(schedule.expiries),
            action: Action::Expire,
            after: After::Stay,
            window: Some(window),
            ..self.round()
        };
        self.stage.machine.run(&round, self.stage.outcomes);
        self.stage.attempts += 1;
    }

    /// A round in which nobody does anything, and all go off.
    fn round(&self) -> Round {
        Round::new(Who::All, Action::None, self.lead_in)
    }

    /// Sends the CPUs off, as other scenarios expect them.
    fn leave(&mut self) {
        let round = self.round();
        self.stage.machine.run(&round, self.stage.outcomes);
    }

    /// What went wrong with a CPU's timer in the last window.
    fn fault(&mut self, cpu: usize) -> Option<Failure> {
        let end = self.stage.outcomes.get(cpu)?.end;
        let tally = self.stage.machine.tally(cpu)?;
        let fault = match tally {
            _ if end == End::Pending => Fault::Pending,
            Tally {
                stray: Some(intid), ..
            } => Fault::Stray(*intid),
            Tally {
                exceeded: Some(ticks),
                ..
            } => Fault::Late(*ticks),
            _ if tally.is_complete() => return None,
            _ if tally.window.spurious > tally.window.expiries => Fault::Spurious,
            _ => Fault::Silent,
        };
        let cpu = cpu as u16;
        Some(Failure::Timer { cpu, fault })
    }

    /// Keeps what a CPU's handler has found: both figures, and how the one to
    /// the handler is spread.
    fn keep(&mut self, cpu: usize, how: How, load: Load) {
        let Some(tally) = self.stage.machine.tally(cpu) else {
            return;
        };
        let cpu = cpu as u16;
        let variant = load.word();
        let settled = &tally.settled;
        for (until, measure) in [
            (Until::Entry, Measure::Entry),
            (Until::Handler, Measure::Handler),
        ] {
            let series = settled.until(until);
            self.stage.points.push(Point {
                cpu,
                how,
                variant,
                x: None,
                measure,
                per: 1,
                figures: tally.histogram(until).summary(series.min, series.max),
                lost: settled.overruns.into(),
                ..Point::default()
            });
        }
        self.stage.histograms.push(Spread {
            cpu,
            how,
            variant,
            measure: Measure::Handler,
            histogram: *tally.histogram(Until::Handler),
        });
    }
}
