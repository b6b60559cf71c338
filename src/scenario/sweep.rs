//! PSCI by its circumstances: dirty lines in the caches, CPUs that go down
//! together, every idle state, SYSTEM_SUSPEND.
//!
//! A step of these is what a scenario of the suite is: the same trials, rounds
//! and rules of what counts. Its rows then become points.

use smccc::psci::{PSCI_SET_SUSPEND_MODE, PSCI_SYSTEM_SUSPEND_64, SuspendMode};

use super::bench::{Bench, QUIET_US, Stop};
use super::stage::{Room, Stage, Taken};
use super::states::{Chosen, States};
use super::wakers::Wakers;
use crate::board::{IDLE_STATES_MAX, IdleState};
use crate::measure::{Action, Facts, Machine, Metric, REASONS, Summary, Waker, Who};
use crate::model::{Failure, How, LEFT_OUT, Measure, Point, Row, Skip, Status, WakeSource};
use crate::plan::{Plan, ScenarioId, steps};
use crate::spec::stat::Ladder;

/// Figures of a CPU in a step where PMF has them.
const BY_PMF: [(Metric, Measure); 3] = [
    (Metric::Powerdown, Measure::Powerdown),
    (Metric::Wakeup, Measure::Wakeup),
    (Metric::CacheFlush, Measure::CacheFlush),
];
/// The same where the caller has them alone: two of a suspend, two of CPU_OFF.
const BY_CALLER: [(Metric, Measure); 4] = [
    (Metric::Call, Measure::Call),
    (Metric::Wake, Measure::Wake),
    (Metric::TurnOff, Measure::TurnOff),
    (Metric::TurnOn, Measure::TurnOn),
];
/// Points of a CPU in a step: three at most of those, and two by PSCI_STAT.
const PER_CPU: usize = 5;

/// What a scenario needs; None when the numbers do not fit a machine word.
pub(crate) fn room(scenario: ScenarioId, plan: &Plan, cpus: usize) -> Option<Room> {
    let parts = match scenario {
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
        // One CPU after another, all at once, and that in either mode.
        ScenarioId::IdleStates => cpus.checked_mul(3 * IDLE_STATES_MAX)?,
        _ => 1,
    };
    Some(Room {
        points: parts.checked_mul(PER_CPU)?,
        ..Room::default()
    })
}

/// How a step is measured.
#[derive(Clone, Copy)]
enum Turns {
    /// One CPU after another.
    Serial,
    /// All at once.
    Parallel,
    /// One after another, by CPU_OFF.
    Off,
}

/// What a step is about.
#[derive(Clone, Copy)]
struct Step {
    turns: Turns,
    variant: &'static str,
    x: Option<u64>,
    action: Action,
    /// Whether the CPUs' own timers stop.
    timers_stop: bool,
    ladder: Ladder,
}

/// One such scenario under way.
struct Sweep<'s, 'p, M> {
    /// Who measures a step.
    bench: Bench<'s, M>,
    points: &'s mut Taken<'p, Point>,
    /// Rounds of all steps, and for trial.
    attempts: [u32; 2],
    left_out: [Option<Skip>; 2],
    rejected: [u32; REASONS],
    failure: Option<Failure>,
    wake_source: WakeSource,
    measured: bool,
}

/// Measures one of the scenarios.
pub(crate) fn measure<M: Machine>(
    stage: &mut Stage<'_, M>,
    scenario: ScenarioId,
    states: &States,
    idle_states: &[IdleState<'_>],
    wakers: &Wakers,
) -> Status {
    let facts = stage.machine.facts();
    let pmf = facts.pmf.is_ok();
    let mut sweep = Sweep {
        bench: Bench {
            machine: &mut *stage.machine,
            plan: stage.plan,
            cpus: stage.cpus,
            method: stage.plan.methods.first(),
            pmf,
            wakers,
            timers_stop: false,
            helper: None,
            all: Who::All,
            dirty: 0,
            osi: None,
            outcomes: &mut *stage.outcomes,
            firsts: &mut *stage.firsts,
            kept: &mut *stage.kept,
            column: &mut *stage.column,
            rows: &mut *stage.rows,
            attempts: 0,
            trials: 0,
            sleep: 0,
            longest_sleep: 0,
            quiet: 0,
            off_sleep: 0,
            skew: Summary::default(),
        },
        points: &mut stage.points,
        attempts: [0; 2],
        left_out: [None; 2],
        rejected: [0; REASONS],
        failure: None,
        wake_source: WakeSource::OwnTimers,
        measured: false,
    };
    match scenario {
        ScenarioId::DirtySweep => sweep.dirty(states),
        ScenarioId::ContendSweep => sweep.contend(states),
        // The firmware may take a state of the other format for a standby state.
        ScenarioId::IdleStates if states.mismatch.is_some() => {}
        ScenarioId::IdleStates => sweep.idle_states(idle_states),
        _ => sweep.system_suspend(idle_states),
    }
    for why in sweep.left_out.iter_mut().flatten() {
        *why = states.explain(*why);
    }
    let status = match (sweep.failure, sweep.measured) {
        (Some(failure), _) => Status::Failed(failure),
        (None, true) => Status::Passed,
        (None, false) => {
            let why = sweep.left_out[0].take();
            Status::Skipped(why.unwrap_or(states.explain(Skip::NoIdleState)))
        }
    };
    [stage.attempts, stage.trials] = sweep.attempts;
    (stage.left_out, stage.rejected) = (sweep.left_out, sweep.rejected);
    (stage.asked, stage.pmf) = (stage.plan.iterations, pmf);
    stage.wake_source = sweep.wake_source;
    status
}

impl<M: Machine> Sweep<'_, '_, M> {
    fn facts(&self) -> &Facts {
        self.bench.machine.facts()
    }

    /// The state, if it can be suspended to.
    fn usable(&mut self, state: Option<Chosen>) -> Option<Chosen> {
        match self.bench.wakers.skip(state) {
            None => state,
            Some(why) => {
                self.leave_out(why);
                None
            }
        }
    }

    fn leave_out(&mut self, why: Skip) {
        let [states, _] = &mut self.left_out;
        states.get_or_insert(why);
    }

    /// The two states that sweeps are made with, by their variants.
    fn two_states(&mut self, states: &States) -> [(&'static str, Option<Chosen>); 2] {
        let deepest = self.usable(states.deepest);
        let core = states.core.filter(|core| states.deepest != Some(*core));
        let core = core.and_then(|core| self.usable(Some(core)));
        [("deepest", deepest), ("core", core)]
    }

    /// More and more dirty bytes in the cache of a CPU that goes down alone.
    fn dirty(&mut self, states: &States) {
        let Some(steps) = self.bench.plan.dirty_steps(self.facts().outer_cache) else {
            return self.leave_out(Skip::NoCacheSize);
        };
        let suspends = self.two_states(states).map(|(variant, state)| {
            let state = state?;
            Some((Turns::Serial, variant, state.action(), state.timer_stops))
        });
        // The lead can not go off: somebody has to turn it on again.
        let off = (self.bench.cpus.len() > 1).then_some((Turns::Off, "off", Action::Off, false));
        for (turns, variant, action, timers_stop) in suspends.into_iter().chain([off]).flatten() {
            for bytes in steps.as_slice() {
                self.bench.dirty = *bytes as usize;
                let goes_on = self.step(&Step {
                    turns,
                    variant,
                    x: Some(u64::from(*bytes)),
                    action,
                    timers_stop,
                    ladder: Ladder::default(),
                });
                if !goes_on {
                    break;
                }
            }
        }
    }

    /// More and more CPUs that go down together.
    fn contend(&mut self, states: &States) {
        let cpus = self.bench.cpus.len();
        let steps = self.bench.plan.contend;
        let steps = steps.unwrap_or_else(|| steps::contend(cpus));
        // The most CPUs that can go down together, by the state of which fewer can.
        let (mut most, mut any) = (cpus, false);
        for (variant, state) in self.two_states(states) {
            let Some(state) = state else { continue };
            // A helper goes down with none of them.
            let is_helped = state.timer_stops && self.bench.wakers.frame.is_err();
            let awake = usize::from(is_helped);
            most = most.min(cpus - awake);
            let fit = |count: &&u32| **count as usize + awake <= cpus;
            for count in steps.as_slice().iter().filter(fit) {
                any = true;
                self.bench.all = Who::First(*count as usize + awake);
                let goes_on = self.step(&Step {
                    turns: Turns::Parallel,
                    variant,
                    x: Some(u64::from(*count)),
                    action: state.action(),
                    timers_stop: state.timer_stops,
                    ladder: Ladder::default(),
                });
                if !goes_on {
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
            variant: LEFT_OUT,
            measure: figures(self.bench.pmf)[0].1,
            x: Some(x),
            per: 1,
            ..Point::default()
        });
    }

    /// Every state that the board names.
    fn idle_states(&mut self, idle_states: &[IdleState<'_>]) {
        let format = self.facts().state_format;
        for state in idle_states.iter().filter(|s| format.accepts(s.power_state)) {
            let chosen = Chosen::new(state.power_state, idle_states, format);
            if self.usable(Some(chosen)).is_none() {
                self.push_left_out(How::Alone, u64::from(state.power_state));
                continue;
            }
            for (turns, variant) in [(Turns::Serial, "serial"), (Turns::Parallel, "parallel")] {
                self.state(turns, variant, chosen);
            }
        }
        if let Err(why) = self.os_initiated(idle_states) {
            self.left_out[1] = Some(why);
        }
    }

    fn state(&mut self, turns: Turns, variant: &'static str, state: Chosen) {
        self.step(&Step {
            turns,
            variant,
            x: Some(u64::from(state.power_state)),
            action: state.action(),
            timers_stop: state.timer_stops,
            ladder: state.ladder,
        });
    }

    /// The states above a CPU's own in OS-initiated mode, which is left again.
    fn os_initiated(&mut self, idle_states: &[IdleState<'_>]) -> Result<(), Skip> {
        let facts = self.facts();
        let format = facts.state_format;
        if !facts.os_initiated {
            return Err(Skip::NotSupported(PSCI_SET_SUSPEND_MODE));
        }
        self.set_mode(SuspendMode::OsInitiated)?;
        for state in idle_states.iter().filter(|s| format.accepts(s.power_state)) {
            let chosen = Chosen::new(state.power_state, idle_states, format);
            let asks_for_more = chosen
                .ladder
                .due(Some(0))
                .is_some_and(|s| s != state.power_state);
            if chosen.powerdown && asks_for_more && self.usable(Some(chosen)).is_some() {
                self.bench.osi = Some(chosen.ladder);
                self.state(Turns::Parallel, "osi", chosen);
                self.bench.osi = None;
            }
        }
        // A firmware that stays in it would make other figures of what follows.
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

    /// SYSTEM_SUSPEND of the lead, with every other CPU off.
    fn system_suspend(&mut self, idle_states: &[IdleState<'_>]) {
        // A CPU that is lost may be on, which the firmware refuses it for.
        let machine = &*self.bench.machine;
        for cpu in 0..self.bench.cpus.len() {
            if let Some(loss) = machine.lost(cpu) {
                let cpu = cpu as u16;
                self.failure = Some(Failure::CpuLost { cpu, loss });
                return;
            }
        }
        let facts = self.facts();
        let timers_stop = idle_states.iter().any(|state| state.local_timer_stop);
        let timers_stop = match self.bench.wakers.frame {
            _ if facts.gic == 0 => return self.leave_out(Skip::NoGic),
            _ if !facts.system_suspend => {
                return self.leave_out(Skip::NotSupported(PSCI_SYSTEM_SUSPEND_64));
            }
            // What stops in a CPU's state does not go on in the system's.
            Err(why) if timers_stop => return self.leave_out(Skip::TimerStops(why)),
            frame => frame.is_ok(),
        };
        self.bench.all = Who::First(1);
        self.step(&Step {
            turns: Turns::Serial,
            variant: "system",
            x: None,
            action: Action::SystemSuspend,
            timers_stop,
            ladder: Ladder::default(),
        });
    }

    /// Measures one step: false where the next ones make no sense.
    fn step(&mut self, step: &Step) -> bool {
        let bench = &mut self.bench;
        bench.begin_rows();
        (bench.attempts, bench.trials) = (0, 0);
        (bench.sleep, bench.longest_sleep) = (0, 0);
        bench.quiet = bench.us(QUIET_US);
        bench.timers_stop = step.timers_stop;
        // One placement is enough for a curve: the lead stays awake.
        let helper = bench.machine.facts().lead;
        let is_helped = step.timers_stop && bench.wakers.frame.is_err();
        let needs_helper = is_helped && matches!(step.turns, Turns::Parallel);
        bench.helper = needs_helper.then_some(helper);
        let measured = match step.turns {
            Turns::Serial => bench.measure_serial(step.action, &step.ladder),
            Turns::Parallel => bench.measure_parallel(step.action, &step.ladder),
            Turns::Off => bench.measure_off(None),
        };
        bench.look_for_losses();
        let status = match measured {
            Ok(()) => bench.status(),
            Err(Stop::Skip(skip)) => Status::Skipped(skip),
            Err(Stop::Fail(failure)) => Status::Failed(failure),
        };
        self.attempts[0] += bench.attempts;
        self.attempts[1] += bench.trials;
        match status {
            Status::Skipped(why) => {
                self.leave_out(why);
                return false;
            }
            Status::Passed => self.measured = true,
            Status::Failed(failure) => {
                self.failure.get_or_insert(failure);
            }
        }
        if step.timers_stop {
            self.wake_source = match self.bench.wakers.frame {
                Ok(_) => WakeSource::Frame,
                Err(_) => WakeSource::Helper,
            };
        }
        for row in self.bench.rows.iter().filter(|row| row.needs_samples()) {
            let waker = self.bench.waker(match step.turns {
                Turns::Parallel => self.bench.all,
                Turns::Serial | Turns::Off => Who::Only(row.cpu.into()),
            });
            add_points(self.points, row, step, waker, self.bench.pmf);
            for (sum, count) in self.rejected.iter_mut().zip(row.rejected) {
                *sum += count;
            }
        }
        true
    }
}

/// The figures of a CPU in a step.
fn figures(pmf: bool) -> &'static [(Metric, Measure)] {
    if pmf { &BY_PMF } else { &BY_CALLER }
}

/// Makes points of what one CPU did in a step; one at least, if without
/// samples.
fn add_points(points: &mut Taken<'_, Point>, row: &Row, step: &Step, waker: Waker, pmf: bool) {
    let point = Point {
        cpu: row.cpu,
        how: match step.turns {
            Turns::Parallel => How::All,
            Turns::Serial | Turns::Off => How::Alone,
        },
        variant: step.variant,
        x: step.x,
        per: 1,
        lost: row.rejected_total().into(),
        waker,
        ..Point::default()
    };
    let mut any = false;
    for (metric, measure) in figures(pmf) {
        if let Some(summary) = row.summary(*metric) {
            points.push(Point {
                measure: *measure,
                figures: *summary,
                ..point
            });
            any = true;
        }
    }
    if !any {
        points.push(Point {
            measure: figures(pmf)[0].1,
            ..point
        });
    }
    if let Some(reached) = row.reached {
        let count = match step.x {
            Some(asked) if reached.state.map(u64::from) == Some(asked) => reached.times,
            _ => 0,
        };
        for (measure, figure) in [
            (Measure::Count, u64::from(count)),
            (Measure::Residency, u64::from(reached.residency_us)),
        ] {
            points.push(Point {
                measure,
                figures: Summary::of(&mut [figure]),
                lost: 0,
                ..point
            });
        }
    }
}
