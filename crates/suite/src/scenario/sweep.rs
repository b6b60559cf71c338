//! PSCI under varied conditions: dirty lines in the caches, CPUs that go down together, every
//! idle state, SYSTEM_SUSPEND. A step is measured as a scenario of the suite is; its rows
//! then become points.

use alloc::vec::Vec;

use hardware::spec::psci::ReturnCode;
use hardware::spec::stat::Ladder;
use hardware::text::words::Word;
use run::measure::{Action, Facts, Machine, Metric, REASONS, Summary, Who};
use run::model::{
    Conditions, Failure, How, Measure, Point, Scenario, ScenarioKey, Skip, Status, Variant,
    WakeSource,
};
use run::plan::{Plan, ScenarioId, steps};
use smccc::psci::{PSCI_SET_SUSPEND_MODE, PSCI_SYSTEM_SUSPEND_64, SuspendMode};

use super::bench::{Bench, BenchStep, Setting, Turns, first_lost};
use super::progress::Progress;
use super::rows::by_reason;
use super::states::Chosen;
use super::suite::measure_step;

/// Points of a CPU in a step: three at most of those, and two by PSCI_STAT.
const PER_CPU: usize = 5;

/// Returns the most points that a scenario has.
pub(crate) fn points(id: ScenarioId, plan: &Plan, cpus: usize, idle_states: usize) -> usize {
    let parts = match id {
        // By the deepest state, the core's, and CPU_OFF.
        ScenarioId::DirtySweep => {
            let steps = plan.dirty.as_ref().map(|steps| steps.as_slice().len());
            cpus * 3 * steps.unwrap_or(steps::DIRTY_STEPS)
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
        ScenarioId::IdleStates => cpus * 3 * idle_states,
        _ => 1,
    };
    parts * PER_CPU
}

struct Sweep<'m> {
    bench: Bench<'m>,
    points: Vec<Point>,
    conditions: Conditions,
    rejected: [u32; REASONS],
    failure: Option<Failure>,
    is_measured: bool,
}

pub(crate) fn measure(
    machine: &mut dyn Machine,
    setting: Setting<'_>,
    key: ScenarioKey,
    progress: &mut dyn Progress,
) -> Scenario {
    let (plan, states) = (setting.plan, setting.states);
    let idle_states = states.accepted.len() + states.foreign.len();
    let points = points(key.id, plan, setting.cpus.len(), idle_states);
    let bench = Bench::new(machine, setting, key.method, progress);
    let mut sweep = Sweep {
        conditions: Conditions {
            pmf: bench.pmf,
            asked: plan.iterations,
            ..Conditions::default()
        },
        bench,
        points: Vec::with_capacity(points),
        rejected: [0; REASONS],
        failure: None,
        is_measured: false,
    };
    match key.id {
        ScenarioId::DirtySweep => sweep.dirty(),
        ScenarioId::ContendSweep => sweep.contend(),
        ScenarioId::IdleStates => sweep.idle_states(),
        ScenarioId::SystemSuspend => sweep.system_suspend(),
        _ => unreachable!("no sweep"),
    }
    sweep.finish(key)
}

impl Sweep<'_> {
    fn finish(self, key: ScenarioKey) -> Scenario {
        let mut conditions = self.conditions;
        let states = self.bench.setting.states;
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
        let why = self.bench.setting.wakers.skip(state);
        why.inspect(|why| self.leave_out(*why));
        state.filter(|_| why.is_none())
    }

    fn leave_out(&mut self, why: Skip) {
        self.conditions.states_left_out.get_or_insert(why);
    }

    /// Returns steps to the deepest state and to the core's, which do not read
    /// PSCI_STAT.
    fn two_states(&mut self, turns: Turns) -> impl Iterator<Item = (Variant, BenchStep)> + use<> {
        let states = self.bench.setting.states;
        let deepest = self.usable(states.deepest);
        let core = states.core.filter(|core| states.deepest != Some(*core));
        let core = core.and_then(|core| self.usable(Some(core)));
        let both = [(Variant::Deepest, deepest), (Variant::Core, core)];
        both.into_iter().filter_map(move |(variant, state)| {
            let step = BenchStep {
                ladder: Ladder::default(),
                ..BenchStep::to_state(turns, state?)
            };
            Some((variant, step))
        })
    }

    /// Measures more and more dirty bytes in the cache of a CPU that goes down alone.
    fn dirty(&mut self) {
        let plan = self.bench.setting.plan;
        let Some(steps) = plan.dirty_steps(self.facts().outer_cache) else {
            return self.leave_out(Skip::NoCacheSize);
        };
        // The lead cannot power off: no CPU would turn it on again.
        let off = BenchStep::new(Turns::Off, Action::Off);
        let no_cpu_off = self.facts().no_cpu_off;
        no_cpu_off.inspect(|why| self.leave_out(Skip::NoCpuOff(*why)));
        let has_off = self.bench.rows.len() > 1 && no_cpu_off.is_none();
        let off = has_off.then_some((Variant::Off, off));
        for (variant, step) in self.two_states(Turns::Serial).chain(off) {
            for bytes in steps.as_slice() {
                let dirty = *bytes as usize;
                if !self.step(variant, Some(dirty as u64), BenchStep { dirty, ..step }) {
                    break;
                }
            }
        }
    }

    /// Measures more and more CPUs that go down together.
    fn contend(&mut self) {
        let cpus = self.bench.rows.len();
        let steps = self.bench.setting.plan.contend;
        let steps = steps.unwrap_or_else(|| steps::contend(cpus));
        let steps = || steps.as_slice().iter().map(|count| *count as usize);
        // The most CPUs that can go down together, by the state of which fewer can.
        let (mut most, mut any) = (cpus, false);
        for (variant, step) in self.two_states(Turns::Parallel) {
            // A helper goes down with none of them.
            let awake = usize::from(self.needs_helper(&step));
            most = most.min(cpus - awake);
            for count in steps().filter(|count| count + awake <= cpus) {
                any = true;
                let who = Who::First(count + awake);
                if !self.step(variant, Some(count as u64), BenchStep { who, ..step }) {
                    break;
                }
            }
        }
        if !any {
            return self.leave_out(Skip::TooFewCpus);
        }
        for count in steps().filter(|count| *count > most) {
            self.push_left_out(How::All, count as u64);
        }
    }

    fn push_left_out(&mut self, how: How, x: u64) {
        self.points.push(Point {
            how,
            x: Some(x),
            ..Point::new(0, Variant::LeftOut, measure_of(figures(self.bench.pmf)[0]))
        });
    }

    fn idle_states(&mut self) {
        let states = self.bench.setting.states;
        for state in &states.foreign {
            self.leave_out(Skip::OtherFormat(states.format));
            self.push_left_out(How::Alone, u64::from(*state));
        }
        for state in &states.accepted {
            let x = u64::from(state.power_state);
            if self.usable(Some(*state)).is_none() {
                self.push_left_out(How::Alone, x);
                continue;
            }
            for (variant, turns) in [
                (Variant::Serial, Turns::Serial),
                (Variant::Parallel, Turns::Parallel),
            ] {
                self.step(variant, Some(x), BenchStep::to_state(turns, *state));
            }
        }
        self.conditions.mode_left_out = self.os_initiated().err();
    }

    /// Measures the states above a CPU's own in OS-initiated mode, and leaves the mode.
    fn os_initiated(&mut self) -> Result<(), Skip> {
        if !self.facts().os_initiated {
            return Err(Skip::NotSupported(PSCI_SET_SUSPEND_MODE));
        }
        self.set_mode(SuspendMode::OsInitiated)
            .map_err(Skip::ModeRefused)?;
        for state in &self.bench.setting.states.accepted {
            let own = state.ladder.due(Some(0));
            let asks_for_more = own.is_some_and(|own| own != state.power_state);
            if state.powerdown && asks_for_more && self.usable(Some(*state)).is_some() {
                let step = BenchStep {
                    osi: true,
                    ..BenchStep::to_state(Turns::Parallel, *state)
                };
                self.step(Variant::Osi, Some(state.power_state.into()), step);
            }
        }
        // In a firmware that stays in it, the figures of later scenarios would differ.
        if let Err(error) = self.set_mode(SuspendMode::PlatformCoordinated) {
            self.failure.get_or_insert(Failure::ModeStuck(error));
        }
        Ok(())
    }

    fn set_mode(&mut self, mode: SuspendMode) -> Result<(), ReturnCode> {
        let bench = &mut self.bench;
        bench.step.osi = false;
        bench.run(Who::Only(bench.lead()), Action::None);
        Ok(bench.machine.set_suspend_mode(mode)?)
    }

    fn system_suspend(&mut self) {
        // A CPU that is lost may be on, and then the firmware refuses the call.
        self.failure = first_lost(self.bench.machine, self.bench.rows.len());
        if self.failure.is_some() {
            return;
        }
        let Setting { states, wakers, .. } = self.bench.setting;
        let facts = self.facts();
        let timers_stop = match wakers.frame {
            _ if facts.gic == 0 => return self.leave_out(Skip::NoGic),
            _ if !facts.system_suspend => {
                return self.leave_out(Skip::NotSupported(PSCI_SYSTEM_SUSPEND_64));
            }
            // A timer that stops in a CPU's state stops in the system's.
            Err(why) if states.any_stops => return self.leave_out(Skip::TimerStops(why)),
            frame => frame.is_ok(),
        };
        let step = BenchStep {
            timers_stop,
            who: Who::First(1),
            ..BenchStep::new(Turns::Serial, Action::SystemSuspend)
        };
        self.step(Variant::System, None, step);
    }

    fn needs_helper(&self, step: &BenchStep) -> bool {
        let source = self.bench.setting.wakers.source(step.timers_stop);
        step.turns == Turns::Parallel && source == WakeSource::Helper
    }

    /// Measures one step, in which `x` is the quantity that is varied; returns false if
    /// the next ones cannot be measured either.
    fn step(&mut self, variant: Variant, x: Option<u64>, step: BenchStep) -> bool {
        // One placement is enough for a curve: the lead stays awake.
        let helper = self.needs_helper(&step).then_some(self.bench.lead());
        let bench = &mut self.bench;
        bench.begin(BenchStep { helper, ..step });
        let status = measure_step(bench);
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
            self.conditions.wake_source = bench.setting.wakers.source(true);
        }
        for cpu in 0..self.bench.rows.len() {
            self.add_points(cpu, variant, x);
        }
        true
    }

    /// Adds the points of a CPU in a step; one at least, if without samples.
    fn add_points(&mut self, cpu: usize, variant: Variant, x: Option<u64>) {
        let bench = &mut self.bench;
        let row = &bench.rows[cpu];
        if !row.needs_samples() {
            return;
        }
        for (sum, count) in self.rejected.iter_mut().zip(row.rejected) {
            *sum += count;
        }
        let metrics = figures(bench.pmf);
        let plain = Point {
            how: match bench.step.turns {
                Turns::Parallel => How::All,
                Turns::Serial | Turns::Off => How::Alone,
            },
            x,
            lost: row.rejected_total().into(),
            waker: bench.waker_of(cpu),
            ..Point::new(row.row.cpu, variant, measure_of(metrics[0]))
        };
        let point = |measure, figures| Point {
            measure,
            figures,
            ..plain.clone()
        };
        let before = self.points.len();
        for metric in metrics {
            let figures = row.summary(*metric, bench.pmf, &mut bench.column);
            if figures.n > 0 {
                self.points.push(point(measure_of(*metric), figures));
            }
        }
        if self.points.len() == before {
            self.points.push(plain.clone());
        }
        if let Some(reached) = row.row.reached {
            let is_asked = x.is_some() && reached.state.map(u64::from) == x;
            let count = if is_asked { reached.times.into() } else { 0 };
            let residency = (Measure::Residency, reached.residency_us.into());
            let both = [(Measure::Count, count), residency];
            self.points.extend(both.map(|(measure, figure)| Point {
                lost: 0,
                ..point(measure, Summary::of(&mut [figure]))
            }));
        }
    }
}

/// Returns the metrics of a step. Without PMF these are the caller's: two of a suspend
/// and two of CPU_OFF.
const fn figures(pmf: bool) -> &'static [Metric] {
    use Metric::{CacheFlush, Call, Powerdown, TurnOff, TurnOn, Wake, Wakeup};
    if pmf {
        &[Powerdown, Wakeup, CacheFlush]
    } else {
        &[Call, Wake, TurnOff, TurnOn]
    }
}

/// Returns the measure of a metric, which has its name.
fn measure_of(metric: Metric) -> Measure {
    Measure::from_word(metric.key()).unwrap_or_default()
}
