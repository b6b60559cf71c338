//! The scenarios: what is measured, in which order, how often, and what
//! counts.
//!
//! Nothing here sees a register. A scenario asks a [`Machine`] for rounds,
//! lets [`crate::measure::outcome`] judge what came of them, and fills one [`Row`] for
//! each CPU. The six of TF-A's runtime instrumentation are in `parallel.rs`
//! (all CPUs at once: the two suspends and PSCI_VERSION), `serial.rs` (one
//! CPU after another) and `off.rs` (CPU_OFF).

use crate::board::Cpu;
use crate::measure::{
    Action, After, Machine, OsInitiated, Outcome, Reason, Round, Summary, Waker, Who,
};
use crate::model::{Failure, Row, Skip, Status};
use crate::plan::{Method, Plan, ScenarioId};
use crate::spec::stat::Ladder;

use super::states::{Chosen, States};
use super::wakers::Wakers;

/// The first [`Round::quiet`], in microseconds, until a trial has told.
pub(crate) const QUIET_US: u64 = 1_000;

/// The machine, and room that each test of the suite uses and leaves.
pub(crate) struct Scratch<'s, M> {
    pub(crate) machine: &'s mut M,
    pub(crate) wakers: &'s Wakers,
    pub(crate) outcomes: &'s mut [Outcome],
    pub(crate) firsts: &'s mut [Outcome],
    pub(crate) column: &'s mut [u64],
}

/// One scenario of the suite under way.
pub(crate) struct Bench<'b, M> {
    pub(crate) machine: &'b mut M,
    pub(crate) plan: &'b Plan,
    pub(crate) cpus: &'b [Cpu],
    pub(crate) method: Method,
    pub(crate) pmf: bool,
    pub(crate) wakers: &'b Wakers,
    /// Whether the CPUs' own timers stop in the state in hand.
    pub(crate) timers_stop: bool,
    /// The CPU that stays awake in rounds of several CPUs, by its index.
    pub(crate) helper: Option<usize>,
    /// Who has a part in a round of all.
    pub(crate) all: Who,
    /// Bytes to make dirty in each round.
    pub(crate) dirty: usize,
    /// The states to ask for in OS-initiated mode.
    pub(crate) osi: Option<Ladder>,
    pub(crate) outcomes: &'b mut [Outcome],
    pub(crate) firsts: &'b mut [Outcome],
    pub(crate) kept: &'b mut [Outcome],
    pub(crate) column: &'b mut [u64],
    pub(crate) rows: &'b mut [Row],
    pub(crate) attempts: u32,
    pub(crate) trials: u32,
    pub(crate) sleep: u64,
    pub(crate) longest_sleep: u64,
    /// See [`Round::quiet`].
    pub(crate) quiet: u64,
    /// Ticks from a CPU_OFF until the lead looks for OFF.
    pub(crate) off_sleep: u64,
    pub(crate) skew: Summary,
}

/// Why a scenario stops before its samples are complete.
pub(crate) enum Stop {
    Skip(Skip),
    Fail(Failure),
}

impl<M: Machine> Bench<'_, M> {
    pub(crate) fn measure(
        &mut self,
        scenario: ScenarioId,
        states: &States,
    ) -> (Status, Option<u32>) {
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
    pub(crate) fn expect_all(&mut self) {
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
    pub(crate) fn waker(&self, who: Who) -> Waker {
        if self.timers_stop {
            self.wakers.waker(self.machine, self.cpus, who, self.helper)
        } else {
            Waker::OwnTimers
        }
    }

    /// Rows of which nothing is known yet.
    pub(crate) fn begin_rows(&mut self) {
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
    pub(crate) fn look_for_losses(&mut self) {
        for row in self.rows.iter_mut() {
            row.lost = row.lost.or(self.machine.lost(row.cpu.into()));
        }
        if self.rows.iter().any(|row| row.lost.is_some()) {
            self.rows.iter_mut().for_each(|row| row.reached = None);
        }
    }

    /// Whether what was kept is enough.
    pub(crate) fn status(&self) -> Status {
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
    pub(crate) fn round(&self, who: Who, action: Action) -> Round {
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
    pub(crate) fn run(&mut self, who: Who, action: Action) {
        let round = self.round(who, action);
        self.machine.run(&round, self.outcomes);
    }

    /// Has one CPU do `action`, and gives what came of it.
    pub(crate) fn run_alone(&mut self, cpu: usize, action: Action) -> Outcome {
        self.run(Who::Only(cpu), action);
        self.outcomes[cpu]
    }

    pub(crate) fn us(&self, microseconds: u64) -> u64 {
        self.machine.facts().ticks(microseconds)
    }

    /// Whether attempts beyond those asked for are used up: three times as
    /// many again.
    pub(crate) fn retries_are_exhausted(&self, attempts: u32) -> bool {
        let asked = u64::from(self.plan.iterations);
        u64::from(attempts) >= u64::from(self.plan.warmup) + 4 * asked
    }
}
