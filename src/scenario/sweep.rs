//! PSCI under varied conditions: dirty lines in the caches, CPUs that go down
//! together, every idle state, SYSTEM_SUSPEND.
//!
//! A step of these is measured as a scenario of the suite is: by the same trials,
//! rounds and rules. Its rows then become points.

use alloc::vec::Vec;

use smccc::psci::{PSCI_SET_SUSPEND_MODE, PSCI_SYSTEM_SUSPEND_64, SuspendMode};

use super::bench::{Bench, Setting, Stop, Target, first_lost};
use super::off::measure_off;
use super::parallel::measure_parallel;
use super::rows::{RowState, by_reason};
use super::serial::measure_serial;
use super::states::{Chosen, States};
use crate::board::IdleState;
use crate::measure::{Action, Facts, Machine, Metric, REASONS, Summary, Waker, Who};
use crate::model::{
    Conditions, Failure, How, Measure, Point, Scenario, ScenarioKey, Skip, Status, Variant,
};
use crate::plan::{Plan, ScenarioId, steps};
use crate::spec::psci::StateFormat;
use crate::spec::stat::Ladder;

/// Figures of a CPU in a step with PMF.
const BY_PMF: [(Metric, Measure); 3] = [
    (Metric::Powerdown, Measure::Powerdown),
    (Metric::Wakeup, Measure::Wakeup),
    (Metric::CacheFlush, Measure::CacheFlush),
];
/// Figures of the caller's side: two of a suspend, two of CPU_OFF.
const BY_CALLER: [(Metric, Measure); 4] = [
    (Metric::Call, Measure::Call),
    (Metric::Wake, Measure::Wake),
    (Metric::TurnOff, Measure::TurnOff),
    (Metric::TurnOn, Measure::TurnOn),
];
/// Points of a CPU in a step: three at most of those, and two by PSCI_STAT.
const PER_CPU: usize = 5;

/// Returns the most points that a scenario has; None if that overflows.
pub(crate) fn points(
    id: ScenarioId,
    plan: &Plan,
    cpus: usize,
    idle_states: usize,
) -> Option<usize> {
    let parts = match id {
        // By the deepest state, the core's, and CPU_OFF.
        ScenarioId::DirtySweep => {
            let steps = plan
                .dirty
                .map_or(steps::DIRTY_STEPS, |s| s.as_slice().len());
            cpus.checked_mul(3 * steps)?
        }
        // By two states.
        ScenarioId::ContendSweep => {
            let steps = plan.contend.unwrap_or_else(|| steps::contend(cpus));
            let parts = steps.as_slice().iter().map(|step| *step as usize);
            let parts = parts.filter(|step| *step <= cpus).sum::<usize>();
            // And one point for each step that is left out.
            2 * parts + steps.as_slice().len()
        }
        // One CPU after another, all at once, and all at once in OS-initiated mode.
        ScenarioId::IdleStates => cpus.checked_mul(3 * idle_states)?,
        _ => 1,
    };
    parts.checked_mul(PER_CPU)
}

/// The order in which a step measures CPUs.
#[derive(Clone, Copy)]
enum Turns {
    /// One CPU after another.
    Serial,
    /// All at once.
    Parallel,
    /// One after another, by CPU_OFF.
    Off,
}

/// One step.
#[derive(Clone, Copy)]
struct Step {
    turns: Turns,
    variant: Variant,
    x: Option<u64>,
    action: Action,
    /// True if the CPUs' own timers stop.
    timers_stop: bool,
    ladder: Ladder,
}

impl Step {
    fn new(turns: Turns, variant: Variant, action: Action) -> Self {
        Self {
            turns,
            variant,
            x: None,
            action,
            timers_stop: false,
            ladder: Ladder::default(),
        }
    }

    /// Returns a step by an idle state; `x` is the quantity that is varied.
    fn to_state(turns: Turns, variant: Variant, state: Chosen, x: u64) -> Self {
        Self {
            x: Some(x),
            timers_stop: state.timer_stops,
            ..Self::new(turns, variant, state.action())
        }
    }
}

/// One such scenario under way.
struct Sweep<'m, M> {
    bench: Bench<'m, M>,
    points: Vec<Point>,
    conditions: Conditions,
    rejected: [u32; REASONS],
    failure: Option<Failure>,
    is_measured: bool,
}

/// Measures one of the scenarios.
pub(crate) fn measure<M: Machine>(
    machine: &mut M,
    setting: Setting<'_>,
    key: ScenarioKey,
) -> Scenario {
    let Setting {
        plan,
        cpus,
        states,
        idle_states,
        ..
    } = setting;
    let points = points(key.id, plan, cpus.len(), idle_states.len());
    let bench = Bench::new(machine, setting, key.method);
    let mut sweep = Sweep {
        conditions: Conditions {
            pmf: bench.pmf,
            asked: plan.iterations,
            ..Conditions::default()
        },
        bench,
        points: Vec::with_capacity(points.unwrap_or_default()),
        rejected: [0; REASONS],
        failure: None,
        is_measured: false,
    };
    match key.id {
        ScenarioId::DirtySweep => sweep.dirty(states),
        ScenarioId::ContendSweep => sweep.contend(states),
        // The firmware may take a state of the other format for a standby state.
        ScenarioId::IdleStates if states.mismatch.is_some() => {}
        ScenarioId::IdleStates => sweep.idle_states(),
        _ => sweep.system_suspend(),
    }
    sweep.finish(key, states)
}

impl<M: Machine> Sweep<'_, M> {
    /// Returns the results.
    fn finish(self, key: ScenarioKey, states: &States) -> Scenario {
        let mut conditions = self.conditions;
        let left_out = conditions.states_left_out.map(|why| states.explain(why));
        conditions.states_left_out = left_out;
        let status = match (self.failure, self.is_measured) {
            (Some(failure), _) => Status::Failed(failure),
            (None, true) => Status::Passed,
            (None, false) => {
                conditions.states_left_out = None;
                Status::Skipped(left_out.unwrap_or(states.explain(Skip::NoIdleState)))
            }
        };
        Scenario {
            status,
            conditions: Some(conditions),
            rejected: by_reason(&self.rejected),
            points: self.points,
            ..Scenario::new(key)
        }
    }

    fn facts(&self) -> &Facts {
        self.bench.machine.facts()
    }

    /// Returns the state, if CPUs can be suspended to it.
    fn usable(&mut self, state: Option<Chosen>) -> Option<Chosen> {
        match self.bench.setting.wakers.skip(state) {
            None => state,
            Some(why) => {
                self.leave_out(why);
                None
            }
        }
    }

    fn leave_out(&mut self, why: Skip) {
        self.conditions.states_left_out.get_or_insert(why);
    }

    /// Returns the two states of the sweeps, by their variants.
    fn two_states(&mut self, states: &States) -> [(Variant, Option<Chosen>); 2] {
        let deepest = self.usable(states.deepest);
        let core = states.core.filter(|core| states.deepest != Some(*core));
        let core = core.and_then(|core| self.usable(Some(core)));
        [(Variant::Deepest, deepest), (Variant::Core, core)]
    }

    /// Measures more and more dirty bytes in the cache of a CPU that goes down alone.
    fn dirty(&mut self, states: &States) {
        let plan = self.bench.setting.plan;
        let Some(steps) = plan.dirty_steps(self.facts().outer_cache) else {
            return self.leave_out(Skip::NoCacheSize);
        };
        let suspends = self
            .two_states(states)
            .map(|(variant, state)| Some(Step::to_state(Turns::Serial, variant, state?, 0)));
        // The lead cannot power off: no CPU would turn it on again.
        let off = Step::new(Turns::Off, Variant::Off, Action::Off);
        let off = (self.bench.rows.len() > 1).then_some(off);
        for step in suspends.into_iter().chain([off]).flatten() {
            for bytes in steps.as_slice() {
                self.bench.target.dirty = *bytes as usize;
                let x = Some(u64::from(*bytes));
                if !self.step(&Step { x, ..step }) {
                    break;
                }
            }
        }
    }

    /// Measures more and more CPUs that go down together.
    fn contend(&mut self, states: &States) {
        let cpus = self.bench.rows.len();
        let steps = self.bench.setting.plan.contend;
        let steps = steps.unwrap_or_else(|| steps::contend(cpus));
        // The most CPUs that can go down together, by the state of which fewer can.
        let (mut most, mut any) = (cpus, false);
        for (variant, state) in self.two_states(states) {
            let Some(state) = state else { continue };
            // A helper goes down with none of them.
            let is_helped = state.timer_stops && self.bench.setting.wakers.frame.is_err();
            let awake = usize::from(is_helped);
            most = most.min(cpus - awake);
            let fit = |count: &&u32| **count as usize + awake <= cpus;
            for count in steps.as_slice().iter().filter(fit) {
                any = true;
                self.bench.target.who = Who::First(*count as usize + awake);
                let x = u64::from(*count);
                if !self.step(&Step::to_state(Turns::Parallel, variant, state, x)) {
                    break;
                }
            }
        }
        if !any {
            return self.leave_out(Skip::TooFewCpus);
        }
        let beyond = |count: &&u32| **count as usize > most;
        for count in steps.as_slice().iter().filter(beyond) {
            self.push_left_out(How::All, u64::from(*count));
        }
    }

    /// Adds the point of a step that is not measured.
    fn push_left_out(&mut self, how: How, x: u64) {
        self.points.push(Point {
            how,
            x: Some(x),
            ..Point::new(0, Variant::LeftOut, figures(self.bench.pmf)[0].1)
        });
    }

    /// Measures every state that the board names.
    fn idle_states(&mut self) {
        let format = self.facts().state_format;
        for state in accepted(self.bench.setting.idle_states, format) {
            if self.usable(Some(state)).is_none() {
                self.push_left_out(How::Alone, u64::from(state.power_state));
                continue;
            }
            self.step_to(Turns::Serial, Variant::Serial, state);
            self.step_to(Turns::Parallel, Variant::Parallel, state);
        }
        self.conditions.mode_left_out = self.os_initiated().err();
    }

    fn step_to(&mut self, turns: Turns, variant: Variant, state: Chosen) {
        let x = u64::from(state.power_state);
        self.step(&Step {
            ladder: state.ladder,
            ..Step::to_state(turns, variant, state, x)
        });
    }

    /// Measures the states above a CPU's own in OS-initiated mode, and leaves the mode.
    fn os_initiated(&mut self) -> Result<(), Skip> {
        if !self.facts().os_initiated {
            return Err(Skip::NotSupported(PSCI_SET_SUSPEND_MODE));
        }
        self.set_mode(SuspendMode::OsInitiated)?;
        let format = self.facts().state_format;
        for state in accepted(self.bench.setting.idle_states, format) {
            let own = state.ladder.due(Some(0));
            let asks_for_more = own.is_some_and(|own| own != state.power_state);
            if state.powerdown && asks_for_more && self.usable(Some(state)).is_some() {
                self.bench.target.osi = Some(state.ladder);
                self.step_to(Turns::Parallel, Variant::Osi, state);
                self.bench.target.osi = None;
            }
        }
        // In a firmware that stays in it, the figures of later scenarios would differ.
        if let Err(Skip::ModeRefused(error)) = self.set_mode(SuspendMode::PlatformCoordinated) {
            self.failure.get_or_insert(Failure::ModeStuck(error));
        }
        Ok(())
    }

    /// Changes the mode, with every other CPU off.
    fn set_mode(&mut self, mode: SuspendMode) -> Result<(), Skip> {
        let lead = self.facts().lead;
        self.bench.run(Who::Only(lead), Action::None);
        let machine = &mut *self.bench.machine;
        machine
            .set_suspend_mode(mode)
            .map_err(|error| Skip::ModeRefused(error.into()))
    }

    /// Measures SYSTEM_SUSPEND of the lead, with every other CPU off.
    fn system_suspend(&mut self) {
        // A CPU that is lost may be on, and then the firmware refuses the call.
        self.failure = first_lost(self.bench.machine, self.bench.rows.len());
        if self.failure.is_some() {
            return;
        }
        let Setting {
            idle_states,
            wakers,
            ..
        } = self.bench.setting;
        let facts = self.facts();
        let timers_stop = idle_states.iter().any(|state| state.local_timer_stop);
        let timers_stop = match wakers.frame {
            _ if facts.gic == 0 => return self.leave_out(Skip::NoGic),
            _ if !facts.system_suspend => {
                return self.leave_out(Skip::NotSupported(PSCI_SYSTEM_SUSPEND_64));
            }
            // A timer that stops in a CPU's state stops in the system's.
            Err(why) if timers_stop => return self.leave_out(Skip::TimerStops(why)),
            frame => frame.is_ok(),
        };
        self.bench.target.who = Who::First(1);
        self.step(&Step {
            timers_stop,
            ..Step::new(Turns::Serial, Variant::System, Action::SystemSuspend)
        });
    }

    /// Measures one step; returns false if the next ones cannot be measured either.
    fn step(&mut self, step: &Step) -> bool {
        let bench = &mut self.bench;
        let wakers = bench.setting.wakers;
        // One placement is enough for a curve: the lead stays awake.
        let lead = bench.machine.facts().lead;
        let is_helped = step.timers_stop && wakers.frame.is_err();
        let needs_helper = is_helped && matches!(step.turns, Turns::Parallel);
        bench.begin(Target {
            timers_stop: step.timers_stop,
            helper: needs_helper.then_some(lead),
            ..bench.target
        });
        let measured = match step.turns {
            Turns::Serial => measure_serial(bench, step.action, &step.ladder),
            Turns::Parallel => measure_parallel(bench, step.action, &step.ladder),
            Turns::Off => measure_off(bench, None),
        };
        bench.note_losses();
        let status = match measured {
            Ok(()) => bench.status(),
            Err(Stop::Skip(skip)) => Status::Skipped(skip),
            Err(Stop::Fail(failure)) => Status::Failed(failure),
        };
        self.conditions.attempts += bench.attempts;
        self.conditions.trials += bench.trials;
        match status {
            Status::Skipped(why) => {
                self.leave_out(why);
                return false;
            }
            Status::Failed(failure) => {
                self.failure.get_or_insert(failure);
            }
            _ => self.is_measured = true,
        }
        if step.timers_stop {
            self.conditions.wake_source = wakers.source(true);
        }
        for cpu in 0..self.bench.rows.len() {
            self.add_points(cpu, step);
        }
        true
    }

    /// Adds the points of a CPU in a step; one at least, if without samples.
    fn add_points(&mut self, cpu: usize, step: &Step) {
        let bench = &mut self.bench;
        let waker = bench.waker(match step.turns {
            Turns::Parallel => bench.target.who,
            Turns::Serial | Turns::Off => Who::Only(cpu),
        });
        let row = &bench.rows[cpu];
        if !row.needs_samples() {
            return;
        }
        for (sum, count) in self.rejected.iter_mut().zip(row.rejected) {
            *sum += count;
        }
        let point = |measure| point_of(row, step, waker, measure);
        let before = self.points.len();
        for (metric, measure) in figures(bench.pmf) {
            let summary = row.summary(*metric, bench.pmf, &mut bench.column);
            if summary.n > 0 {
                self.points.push(Point {
                    figures: summary,
                    ..point(*measure)
                });
            }
        }
        if self.points.len() == before {
            self.points.push(point(figures(bench.pmf)[0].1));
        }
        let Some(reached) = row.row.reached else {
            return;
        };
        let count = match step.x {
            Some(asked) if reached.state.map(u64::from) == Some(asked) => reached.times,
            _ => 0,
        };
        for (measure, figure) in [
            (Measure::Count, u64::from(count)),
            (Measure::Residency, u64::from(reached.residency_us)),
        ] {
            self.points.push(Point {
                figures: Summary::of(&mut [figure]),
                lost: 0,
                ..point(measure)
            });
        }
    }
}

/// Returns the board's states that the firmware takes.
fn accepted<'s>(
    idle_states: &'s [IdleState<'s>],
    format: StateFormat,
) -> impl Iterator<Item = Chosen> {
    let accepted = idle_states.iter();
    let accepted = accepted.filter(move |state| format.accepts(state.power_state));
    accepted.map(move |state| Chosen::new(state.power_state, idle_states, format))
}

/// Returns the figures of a CPU in a step.
fn figures(pmf: bool) -> &'static [(Metric, Measure)] {
    if pmf { &BY_PMF } else { &BY_CALLER }
}

/// Returns the point of a CPU in a step, without samples.
fn point_of(row: &RowState, step: &Step, waker: Waker, measure: Measure) -> Point {
    Point {
        how: match step.turns {
            Turns::Parallel => How::All,
            Turns::Serial | Turns::Off => How::Alone,
        },
        x: step.x,
        lost: row.rejected_total().into(),
        waker,
        ..Point::new(row.row.cpu, step.variant, measure)
    }
}
