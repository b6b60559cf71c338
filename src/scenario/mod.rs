//! The scenarios: what is measured, in which order, how often, and what
//! counts.
//!
//! Nothing here sees a register. A scenario asks a [`Machine`] for rounds,
//! lets [`crate::sample`] judge what came of them, and fills one [`Row`] for
//! each CPU. The six of TF-A's runtime instrumentation are in `parallel.rs`
//! (all CPUs at once: the two suspends and PSCI_VERSION), `serial.rs` (one
//! CPU after another) and `off.rs` (CPU_OFF).

mod calibrate;
mod needs;
mod off;
mod parallel;
mod reached;
mod serial;
mod states;
mod suite;
mod sweep;
mod tally;
mod wakers;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

use core::fmt::{self, Write};

use arrayvec::ArrayVec;

use crate::board::{Cpu, IdleState};
use crate::latency;
use crate::micro;
use crate::output::{self, Run};
use crate::plan::{Method, Plan, ScenarioId};
use crate::report::{Failure, Row, Skip, Status, TestReport, Totals, WakeSource};
use crate::round::{After, Facts, Machine, OsInitiated, Round, Waker, Who};
use crate::sample::{Action, Outcome, REASONS, Reason};
use crate::stage::{Stage, Taken};
use crate::stat::Ladder;
use crate::stats::Summary;
use crate::verdict::Verdict;

pub use needs::{Needs, Workspace};
pub use states::{Chosen, States};
pub use suite::PLACEMENTS;
pub use wakers::Wakers;

/// Tests at most: each scenario of the suite by each method and placement, and
/// the others.
pub const TESTS: usize = 2 * suite::PLACEMENTS * ScenarioId::SUITE.len() + ScenarioId::COUNT;

/// The first [`Round::quiet`], in microseconds, until a trial has told.
const QUIET_US: u64 = 1_000;

/// Measures one of the scenarios outside the suite.
fn measure<M: Machine>(
    stage: &mut Stage<'_, M>,
    scenario: ScenarioId,
    out: &mut dyn Write,
) -> Result<Status, fmt::Error> {
    Ok(match scenario {
        id if id.is_micro() => micro::measure(stage, id),
        ScenarioId::TimerLatency => return latency::measure(stage, out),
        // The suite's are measured elsewhere.
        _ => Status::Skipped(Skip::NotSupported(0)),
    })
}

/// Runs the plan's scenarios, writes what they found, and returns the
/// verdict.
///
/// # Errors
/// When `out` fails.
pub fn run_all<'w, M: Machine, W: Write>(
    machine: &mut M,
    run: &Run<'_>,
    idle_states: &[IdleState<'_>],
    workspace: Workspace<'w>,
    out: &mut W,
) -> Result<Verdict, fmt::Error> {
    let plan = run.plan;
    let states = States::choose(idle_states, plan, run.facts.state_format);
    let mut tests: ArrayVec<TestReport<'w>, TESTS> = ArrayVec::new();
    let mut totals = Totals::default();
    let Workspace {
        outcomes,
        firsts,
        kept,
        column,
        rows,
        mut points,
        mut histograms,
    } = workspace;
    output::header(out, run)?;
    let tried = states.that_stop_timers(plan, idle_states, run.facts.state_format);
    let wakers = Wakers::try_out(machine, run.cpus, outcomes, &tried);
    let facts = Facts {
        frame: wakers.frame,
        ..*run.facts
    };
    let run = &Run {
        facts: &facts,
        ..*run
    };
    output::wake_trials(out, run, &wakers)?;
    let mut room = suite::Room { rows, kept };
    for method in plan.methods.iter() {
        for scenario in plan.scenarios.suite().iter() {
            output::begin_test(out, scenario, method)?;
            let mut scratch = Scratch {
                machine: &mut *machine,
                wakers: &wakers,
                outcomes: &mut *outcomes,
                firsts: &mut *firsts,
                column: &mut *column,
            };
            let group = suite::measure(&mut scratch, run, &states, scenario, method, &mut room);
            output::test(out, run, &group)?;
            totals.add(&group);
            // There is room for all of them by each method.
            for test in group {
                let _ = tests.try_push(test);
            }
        }
    }
    let suite::Room { rows, kept } = room;
    // A placement that was not measured leaves its rows: a sweep has one a CPU.
    let most = run.cpus.len().min(rows.len());
    let rows = &mut rows[..most];
    for scenario in plan.scenarios.iter().filter(|id| !id.is_suite()) {
        // All that is left: each takes from it what it has found.
        let (free, spread) = (
            core::mem::take(&mut points),
            core::mem::take(&mut histograms),
        );
        // Only sweeps have CPUs turned on again for each sample.
        let method = if scenario.is_sweep() {
            plan.methods.first()
        } else {
            Method::Warm
        };
        output::begin_test(out, scenario, method)?;
        let mut stage = Stage {
            machine,
            plan,
            cpus: run.cpus,
            outcomes: &mut *outcomes,
            firsts: &mut *firsts,
            kept: &mut *kept,
            rows: &mut *rows,
            column: &mut *column,
            points: Taken::new(&mut *free),
            histograms: Taken::new(&mut *spread),
            asked: 0,
            attempts: 0,
            trials: 0,
            power_state: None,
            wake_source: WakeSource::OwnTimers,
            pmf: false,
            left_out: [None; 2],
            warmed: None,
            rejected: [0; REASONS],
        };
        let status = if scenario.is_sweep() {
            sweep::measure(&mut stage, scenario, &states, idle_states, &wakers)
        } else {
            measure(&mut stage, scenario, out)?
        };
        let (found, spreads) = (stage.points.len(), stage.histograms.len());
        let test = TestReport {
            scenario,
            method,
            status,
            pmf: stage.pmf,
            power_state: stage.power_state,
            wake_source: stage.wake_source,
            // A point names its own.
            helper: None,
            asked: stage.asked,
            attempts: stage.attempts,
            sleep: 0,
            trials: stage.trials,
            skew: Summary::default(),
            rows: &[],
            left_out: stage.left_out,
            warmed: stage.warmed,
            rejected: stage.rejected,
            points: part(&mut points, free, found),
            histograms: part(&mut histograms, spread, spreads),
            samples: &[],
        };
        output::test(out, run, core::slice::from_ref(&test))?;
        totals.add(core::slice::from_ref(&test));
        let _ = tests.try_push(test);
    }
    output::closing(out, run, &tests, &totals)?;
    Ok(Verdict::from_totals(&totals))
}

/// The first `len` of `all`; `rest` has what is left.
fn part<'w, T>(rest: &mut &'w mut [T], all: &'w mut [T], len: usize) -> &'w [T] {
    let (own, others) = all.split_at_mut(len.min(all.len()));
    *rest = others;
    own
}

/// The machine, and room that each test of the suite uses and leaves.
struct Scratch<'s, M> {
    machine: &'s mut M,
    wakers: &'s Wakers,
    outcomes: &'s mut [Outcome],
    firsts: &'s mut [Outcome],
    column: &'s mut [u64],
}

/// One scenario of the suite under way.
struct Bench<'b, M> {
    machine: &'b mut M,
    plan: &'b Plan,
    cpus: &'b [Cpu],
    method: Method,
    pmf: bool,
    wakers: &'b Wakers,
    /// Whether the CPUs' own timers stop in the state in hand.
    timers_stop: bool,
    /// The CPU that stays awake in rounds of several CPUs, by its index.
    helper: Option<usize>,
    /// Who has a part in a round of all.
    all: Who,
    /// Bytes to make dirty in each round.
    dirty: usize,
    /// The states to ask for in OS-initiated mode.
    osi: Option<Ladder>,
    outcomes: &'b mut [Outcome],
    firsts: &'b mut [Outcome],
    kept: &'b mut [Outcome],
    column: &'b mut [u64],
    rows: &'b mut [Row],
    attempts: u32,
    trials: u32,
    sleep: u64,
    longest_sleep: u64,
    /// See [`Round::quiet`].
    quiet: u64,
    /// Ticks from a CPU_OFF until the lead looks for OFF.
    off_sleep: u64,
    skew: Summary,
}

/// Why a scenario stops before its samples are complete.
enum Stop {
    Skip(Skip),
    Fail(Failure),
}

impl<M: Machine> Bench<'_, M> {
    fn measure(&mut self, scenario: ScenarioId, states: &States) -> (Status, Option<u32>) {
        self.begin_rows();
        let state = states.of(scenario);
        let needs_state = !matches!(
            scenario,
            ScenarioId::CpuOffSerial | ScenarioId::PsciVersionParallel
        );
        let power_state = state.map(|s| s.power_state);
        let lead = self.machine.facts().lead;
        let why = self.wakers.skip(state).map(|skip| states.explain(skip));
        match why {
            Some(skip) if needs_state => {
                let fault = self.wakers.fault(skip);
                let status = fault.map_or(Status::Skipped(skip), Status::Failed);
                return (status, power_state);
            }
            // The lead's part alone needs a state.
            Some(_) if scenario == ScenarioId::CpuOffSerial => self.rows[lead].skipped = why,
            _ => {}
        }
        let state = state.filter(|_| why.is_none());
        self.timers_stop = state.is_some_and(|state| state.timer_stops);
        self.quiet = self.us(QUIET_US);
        let action = state.map_or(Action::Version, Chosen::action);
        let ladder = state.map_or(Ladder::default(), |s| s.ladder);
        let measured = match scenario {
            ScenarioId::SuspendDeepSerial | ScenarioId::CpuSuspendSerial => {
                self.measure_serial(action, &ladder)
            }
            ScenarioId::CpuOffSerial => self.measure_off(state.map(Chosen::action)),
            _ => self.measure_parallel(action, &ladder),
        };
        self.look_for_losses();
        self.name_helpers(scenario);
        let status = match measured {
            Ok(()) => self.status(),
            Err(Stop::Skip(skip)) => Status::Skipped(skip),
            Err(Stop::Fail(failure)) => Status::Failed(failure),
        };
        (status, power_state)
    }

    /// Asks for samples of every CPU that has a part in a round of all.
    fn expect_all(&mut self) {
        let lead = self.machine.facts().lead;
        for row in self.rows.iter_mut() {
            let cpu = row.cpu.into();
            row.expected = self.all.includes(cpu, lead) && self.helper != Some(cpu);
        }
    }

    /// Notes in each row the CPU that stayed awake for it.
    fn name_helpers(&mut self, scenario: ScenarioId) {
        for cpu in 0..self.rows.len() {
            let who = if scenario.is_parallel() {
                self.all
            } else {
                Who::Only(cpu)
            };
            // CPU_OFF ends by CPU_ON: the lead alone is suspended.
            let is_suspended =
                scenario != ScenarioId::CpuOffSerial || cpu == self.machine.facts().lead;
            let helper = self
                .waker(who)
                .helper()
                .filter(|_| is_suspended && self.rows[cpu].valid > 0);
            self.rows[cpu].helper = helper.map(|index| index as u16);
        }
    }

    /// What wakes the CPUs of a round.
    fn waker(&self, who: Who) -> Waker {
        if self.timers_stop {
            self.wakers.waker(self.machine, self.cpus, who, self.helper)
        } else {
            Waker::OwnTimers
        }
    }

    /// Rows of which nothing is known yet.
    fn begin_rows(&mut self) {
        for (cpu, row) in self.rows.iter_mut().enumerate() {
            *row = Row {
                // One that is lost already has no samples here either.
                lost: self.machine.lost(cpu),
                ..Row::new(cpu as u16)
            };
        }
    }

    /// Takes over what the machine knows of CPUs that were lost: one may go
    /// astray when it is to go off for another one's turn, and has no outcome.
    /// What was reached before that is not what is reached now.
    fn look_for_losses(&mut self) {
        for row in self.rows.iter_mut() {
            row.lost = row.lost.or(self.machine.lost(row.cpu.into()));
        }
        if self.rows.iter().any(|row| row.lost.is_some()) {
            self.rows.iter_mut().for_each(|row| row.reached = None);
        }
    }

    /// Whether what was kept is enough.
    fn status(&self) -> Status {
        let asked = self.plan.iterations;
        let mut reasons = self.rows.iter().map(|row| row.skipped);
        if let Some(Some(skip)) = reasons.next()
            && reasons.all(|why| why.is_some())
        {
            return Status::Skipped(skip);
        }
        for row in self.rows.iter() {
            if let Some(loss) = row.lost {
                let cpu = row.cpu;
                return Status::Failed(Failure::CpuLost { cpu, loss });
            }
        }
        let worst = self
            .rows
            .iter()
            .filter(|row| row.needs_samples())
            // Of two with as few, whoever only shared a round with the cause
            // is not it.
            .min_by_key(|row| {
                let shared = row.rejected[Reason::Companion as usize];
                2 * u64::from(row.valid) + u64::from(shared == row.rejected_total())
            });
        match worst {
            Some(row) if u64::from(row.valid) * 10 < u64::from(asked) * 9 => {
                Status::Failed(Failure::TooFewSamples {
                    cpu: row.cpu,
                    valid: row.valid,
                    asked,
                })
            }
            _ => Status::Passed,
        }
    }

    /// A round of this scenario's method.
    fn round(&self, who: Who, action: Action) -> Round {
        let participants = match who {
            Who::All => self.rows.len() as u64,
            Who::First(count) => count as u64,
            Who::Only(_) => 1,
        };
        Round {
            who,
            action,
            // For the lead to tell all, and for all to hear it, who may be
            // in the middle of a nap.
            lead_in: self.us(200 + 10 * participants),
            sleep: self.sleep * if self.osi.is_some() { 3 } else { 1 },
            quiet: self.quiet,
            wake: self.plan.wake_by(self.method),
            waker: if action.sleeps().is_some() {
                self.waker(who)
            } else {
                Waker::OwnTimers
            },
            wake_step: self.us(200),
            ladder: Ladder::default(),
            window: None,
            dirty: self.dirty,
            // A third of the sleep is what all have time for.
            osi: self.osi.map(|states| OsInitiated {
                states,
                step: self.sleep,
            }),
            after: match self.method {
                Method::Tftf => After::Off,
                Method::Warm => After::Stay,
            },
        }
    }

    /// Has `who` do `action` in such a round.
    fn run(&mut self, who: Who, action: Action) {
        let round = self.round(who, action);
        self.machine.run(&round, self.outcomes);
    }

    /// Has one CPU do `action`, and gives what came of it.
    fn run_alone(&mut self, cpu: usize, action: Action) -> Outcome {
        self.run(Who::Only(cpu), action);
        self.outcomes[cpu]
    }

    fn us(&self, microseconds: u64) -> u64 {
        self.machine.facts().ticks(microseconds)
    }

    /// Whether attempts beyond those asked for are used up: three times as
    /// many again.
    fn retries_are_exhausted(&self, attempts: u32) -> bool {
        let asked = u64::from(self.plan.iterations);
        u64::from(attempts) >= u64::from(self.plan.warmup) + 4 * asked
    }
}
