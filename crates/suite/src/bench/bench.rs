//! A running scenario: rounds on a [`Machine`], with the samples kept in one [`CellState`] per CPU.
//! The results are stored as cells.
//!
//! A scenario uses a [`Bench`] in this order:
//!
//! 1. [`Bench::begin_step`] and the expectations of samples (this file, "Steps and rounds").
//! 2. [`Bench::run_action`] and the other ways to run a round (this file).
//! 3. Judging the round's outcomes, and keeping or rejecting them (`bench/kept_outcomes.rs`).
//! 4. At the end of a step, statistics and cells (`bench/results.rs`).
//!
//! Everything else here is what a scenario reads (this file, "What a scenario reads").

mod kept_outcomes;
mod results;

use alloc::vec::Vec;
use core::fmt::Write;
use core::sync::atomic::Ordering;

use crate::measure::{
    Action, AfterRound, Facts, Loss, Machine, OsInitiated, Outcome, Participants, Reason, Round,
    SampleCount, Spans, Summary, Tally, TimeSource, WakeUp, Waker,
};
use crate::model::{Cell, Conditions, Failure, Scenario, ScenarioKey, Status};
use crate::plan::{ActiveCpus, Method, Plan, RunSize};
use hardware::board::CpuIndex;
use hardware::spec::psci::ReturnCode;
use smccc::psci::SuspendMode;

use super::cell_state::CellState;
use super::request::{Request, Setting};
use super::step_rounds::StepRounds;
use super::trials::neighbor_of;
use super::waits::Waits;

/// The initial [`Spans::quiet`](crate::measure::Spans::quiet) in microseconds, until a trial provides a better value.
pub(crate) const FIRST_QUIET_US: u64 = 1_000;
/// The longest [`Spans::quiet`](crate::measure::Spans::quiet) in microseconds. Wake-ups that take longer cannot be measured.
pub(crate) const LONGEST_QUIET_US: u64 = 500_000;

/// The machine, the current step and the results.
///
/// Scenarios run rounds, and then keep or reject the outcomes. Only [`Self::waits`] is changed
/// directly, through its own methods.
pub(crate) struct Bench<'m> {
    machine: &'m mut dyn Machine,
    out: &'m mut dyn Write,
    setting: Setting<'m>,
    method: Method,
    time_source: TimeSource,
    /// The number of samples requested for each cell.
    requested_samples: u32,
    step: StepRounds,
    pub(crate) waits: Waits,
    totals: StepTotals,
    /// The state of each CPU in the current step.
    cells: Vec<CellState>,
    memory: RoundMemory,
    /// The cells of the completed steps.
    results: Vec<Cell>,
}

/// What a step counts and computes for all CPUs together.
#[derive(Clone, Copy, Default)]
pub(crate) struct StepTotals {
    pub(crate) attempts: u32,
    pub(crate) trials: u32,
    /// The ticks from the first to the last call in a round, if all CPUs take part.
    pub(crate) skew: Summary,
}

/// Memory that rounds reuse, so that none is allocated between them.
struct RoundMemory {
    /// The current round's outcomes, one for each CPU.
    outcomes: Vec<Outcome>,
    /// The CPU_OFF outcomes in a pair of rounds, one for each CPU.
    off_outcomes: Vec<Outcome>,
    /// One value per sample or per round.
    column: Vec<u64>,
}

/// The number of samples and results for which a [`Bench`] reserves memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BenchRoom {
    /// Outcomes per CPU.
    pub(crate) outcomes: usize,
    /// Values per CPU and metric.
    pub(crate) figures: usize,
    /// The number of cells in the scenario.
    pub(crate) cells: usize,
}

impl BenchRoom {
    /// Returns the room for the cells of a scenario, without room for samples.
    pub(crate) fn for_cells(request: &Request<'_>) -> Self {
        let Setting {
            plan, cpus, states, ..
        } = request.setting;
        let size = RunSize {
            plan,
            cpus: cpus.len(),
            idle_states: states.accepted.len() + states.foreign.len(),
        };
        Self {
            outcomes: 0,
            figures: 0,
            cells: request.key.id.cells(&size),
        }
    }
}

/// What one CPU's attempt is used for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttemptUse {
    /// The first attempt, which is kept separately.
    Cold,
    /// The attempt is not kept.
    WarmUp,
    /// The attempt is kept if it is valid.
    Measure,
}

/// The minimum number of retries before a scenario gives up. On a loaded host several attempts in a
/// row can fail, so three retries per iteration are too few if there are few iterations.
const RETRIES_MIN: u64 = 15;

/// Returns the number of ticks allowed for all participants to wake from a nap and read the start
/// time.
pub(crate) fn lead_in(facts: &Facts, participants: Participants, cpus: usize) -> u64 {
    facts.ticks(200 + 10 * participants.count(cpus) as u64)
}

/// Returns the failure for a lost CPU and a number of others.
fn cpus_lost((cpu, loss): (CpuIndex, Loss), others: usize) -> Failure {
    Failure::CpuLost {
        cpu,
        loss,
        others: others as u16,
    }
}

/// Returns the failure for a CPU with fewer than 90 % valid samples.
pub(crate) fn too_few(cpu: CpuIndex, valid: u32, requested: u32) -> Option<Failure> {
    let has_too_few = u64::from(valid) * 10 < u64::from(requested) * 9;
    has_too_few.then_some(Failure::TooFewSamples {
        cpu,
        valid,
        requested,
    })
}

impl<'m> Bench<'m> {
    /// Returns a bench with as much memory as `room` specifies.
    pub(crate) fn new(request: Request<'m>, room: BenchRoom) -> Self {
        let Request {
            machine,
            setting,
            key,
            out,
        } = request;
        let cpus = setting.cpus.len();
        let cells = CpuIndex::all(cpus).map(|cpu| CellState::new(cpu, room.outcomes, room.figures));
        Self {
            time_source: machine.facts().time_source(),
            machine,
            out,
            setting,
            method: key.method,
            requested_samples: 0,
            step: StepRounds::new(ActiveCpus::Alone, Action::None),
            waits: Waits::default(),
            totals: StepTotals::default(),
            memory: RoundMemory {
                outcomes: alloc::vec![Outcome::default(); cpus],
                off_outcomes: alloc::vec![Outcome::default(); cpus],
                column: Vec::with_capacity(room.outcomes.max(cpus)),
            },
            cells: cells.collect(),
            results: Vec::with_capacity(room.cells),
        }
    }

    /// Returns the results of a scenario outside the suite that does not consist of steps.
    pub(crate) fn finish(self, key: ScenarioKey, status: Status) -> Scenario {
        Scenario {
            status,
            conditions: Some(Conditions {
                requested_samples: self.requested_samples,
                attempts: self.totals.attempts,
                trials: self.totals.trials,
                ..Conditions::default()
            }),
            cells: self.results,
            ..Scenario::new(key)
        }
    }

    /// Returns the cells of the completed steps.
    pub(crate) fn into_results(self) -> Vec<Cell> {
        self.results
    }

    /// Records the number of samples requested for each cell.
    pub(crate) fn request_samples(&mut self, count: u32) {
        self.requested_samples = count;
    }
}

/// What a scenario reads.
impl<'m> Bench<'m> {
    pub(crate) fn machine(&self) -> &dyn Machine {
        self.machine
    }

    pub(crate) fn facts(&self) -> &Facts {
        self.machine.facts()
    }

    pub(crate) fn lead(&self) -> CpuIndex {
        self.facts().lead
    }

    pub(crate) fn is_lost(&self, cpu: CpuIndex) -> bool {
        self.machine.is_lost(cpu)
    }

    /// Returns the number of CPUs that are lost.
    pub(crate) fn count_lost(&self) -> usize {
        self.machine.count_lost(self.cpu_count())
    }

    /// Returns the failure for the first lost CPU, if any is lost.
    pub(crate) fn first_lost(&self) -> Option<Failure> {
        let cpus = CpuIndex::all(self.cpu_count());
        let mut lost = cpus.filter_map(|cpu| Some((cpu, self.machine.lost(cpu)?)));
        let first = lost.next()?;
        Some(cpus_lost(first, lost.count()))
    }

    /// Returns the CPU's timer tally, which scenarios empty before a window.
    pub(crate) fn tally(&mut self, cpu: CpuIndex) -> Option<&mut Tally> {
        self.machine.tally(cpu)
    }

    /// Returns the UART, for lines that are printed between rounds.
    pub(crate) fn out(&mut self) -> &mut dyn Write {
        self.out
    }

    pub(crate) const fn setting(&self) -> Setting<'m> {
        self.setting
    }

    pub(crate) const fn plan(&self) -> &'m Plan {
        self.setting.plan
    }

    pub(crate) const fn method(&self) -> Method {
        self.method
    }

    pub(crate) const fn time_source(&self) -> TimeSource {
        self.time_source
    }

    pub(crate) const fn has_pmf(&self) -> bool {
        self.time_source.has_pmf()
    }

    pub(crate) const fn cpu_count(&self) -> usize {
        self.cells.len()
    }

    pub(crate) const fn step(&self) -> &StepRounds {
        &self.step
    }

    pub(crate) const fn totals(&self) -> StepTotals {
        self.totals
    }

    /// Returns the state of each CPU in the current step.
    pub(crate) fn cells(&self) -> &[CellState] {
        &self.cells
    }

    pub(crate) fn cell(&self, cpu: CpuIndex) -> &CellState {
        &self.cells[cpu.index()]
    }

    pub(crate) fn cell_mut(&mut self, cpu: CpuIndex) -> &mut CellState {
        &mut self.cells[cpu.index()]
    }

    /// Returns the cells of the completed steps.
    pub(crate) fn results(&self) -> &[Cell] {
        &self.results
    }

    /// Returns the current round's outcomes, one for each CPU.
    pub(crate) fn outcomes(&self) -> &[Outcome] {
        &self.memory.outcomes
    }

    pub(crate) fn outcome(&self, cpu: CpuIndex) -> Outcome {
        self.memory.outcomes[cpu.index()]
    }

    /// Returns the outcome of the CPU's last CPU_OFF.
    pub(crate) fn off_outcome(&self, cpu: CpuIndex) -> Outcome {
        self.memory.off_outcomes[cpu.index()]
    }

    /// Returns the number of ticks in `microseconds`.
    pub(crate) fn us(&self, microseconds: u64) -> u64 {
        self.facts().ticks(microseconds)
    }

    /// Returns the number of ticks allowed for all participants to wake from a nap and read the
    /// start time.
    pub(crate) fn lead_in(&self, participants: Participants) -> u64 {
        lead_in(self.facts(), participants, self.cpu_count())
    }

    /// Returns the interrupt that wakes the CPUs in a round.
    pub(crate) fn waker(&self, participants: Participants) -> Waker {
        let Setting {
            wake_sources,
            cpus,
            plan,
            ..
        } = self.setting;
        if let Participants::Only(cpu) = participants
            && self.step.woken_by.has_neighbor()
        {
            let neighbor = neighbor_of(self.machine, cpus, cpu, self.step.woken_by, None);
            neighbor.map_or(Waker::NoHelper, Waker::Helper)
        } else if self.step.timers_stop {
            wake_sources.waker(self.machine, (cpus, plan), participants, self.step.helper)
        } else {
            Waker::OwnTimers
        }
    }

    /// Returns the interrupt that wakes one CPU in its rounds during this step.
    pub(crate) fn waker_of(&self, cpu: CpuIndex) -> Waker {
        self.waker(match self.step.cpus {
            ActiveCpus::All => self.step.participants,
            _ => Participants::Only(cpu),
        })
    }

    /// Returns true if `attempts` exceeds the number of attempts that a step needs by three times the
    /// number of samples requested, and by at least [`RETRIES_MIN`].
    pub(crate) fn retries_are_exhausted(&self, attempts: u32) -> bool {
        let plan = self.setting.plan;
        let iterations = u64::from(plan.iterations);
        let retries = RETRIES_MIN.max(3 * iterations);
        u64::from(attempts) >= u64::from(plan.warmup) + iterations + retries
    }

    /// Returns the status of the current step.
    pub(crate) fn status(&self) -> Status {
        let skips = || self.cells.iter().map(CellState::skipped);
        if let Some(Some(skip)) = skips().next()
            && skips().all(|skipped| skipped.is_some())
        {
            return Status::Skipped(skip);
        }
        let states = self.cells.iter();
        let mut lost = states.filter_map(|state| Some((state.cpu(), state.lost()?)));
        if let Some(first) = lost.next() {
            return Status::Failed(cpus_lost(first, lost.count()));
        }
        // If two CPUs have equally few samples, do not report the one that only shared a round with
        // the CPU at fault.
        let by_samples = |state: &&CellState| {
            let shared = state.rejected(Reason::Companion);
            2 * u64::from(state.valid()) + u64::from(shared == state.rejected_total())
        };
        let needing = self.cells.iter().filter(|state| state.needs_samples());
        let worst = needing.min_by_key(by_samples);
        let requested_samples = self.setting.plan.iterations;
        let failure =
            worst.and_then(|state| too_few(state.cpu(), state.valid(), requested_samples));
        failure.map_or(Status::Passed, Status::Failed)
    }

    /// Returns a round of the current step.
    pub(crate) fn round(&self, participants: Participants, action: Action) -> Round {
        let (sleep, osi) = (self.waits.sleep(), self.step.osi);
        let spans = Spans {
            lead_in: self.lead_in(participants),
            sleep: sleep * if osi { 3 } else { 1 },
            quiet: self.waits.quiet(),
            patience: None,
        };
        Round {
            wake_up: WakeUp {
                waker: if action.sleeps() {
                    self.waker(participants)
                } else {
                    Waker::OwnTimers
                },
                pattern: self.setting.plan.wake_by(self.method),
                interval: self.us(200),
                race: None,
            },
            dirty: self.step.dirty,
            // Each delay lasts a third of the round's sleep time, which is long enough for all CPUs
            // to go down.
            osi: osi.then_some(OsInitiated {
                states: self.step.ladder,
                delay: sleep,
            }),
            afterwards: match self.method {
                Method::Tftf => AfterRound::Off,
                Method::Warm => AfterRound::Stay,
            },
            ..Round::new(participants, action, spans)
        }
    }
}

/// Steps and rounds.
impl Bench<'_> {
    /// Starts a step: resets the totals and empties the cells.
    pub(crate) fn begin_step(&mut self, step: StepRounds) {
        self.step = step;
        self.reset_totals();
        let [quiet, longest] = [FIRST_QUIET_US, LONGEST_QUIET_US].map(|us| self.us(us));
        self.waits.begin_step(quiet, longest);
        self.clear_cells();
    }

    pub(crate) fn reset_totals(&mut self) {
        self.totals = StepTotals::default();
    }

    /// Discards all samples.
    pub(crate) fn clear_cells(&mut self) {
        for state in &mut self.cells {
            // CPUs that are already lost have no samples in this step either.
            state.clear(self.machine.lost(state.cpu()));
        }
    }

    /// Expects samples from the CPUs for which `is_expected` returns true.
    pub(crate) fn expect_samples(&mut self, is_expected: impl Fn(CpuIndex) -> bool) {
        for state in &mut self.cells {
            state.expect_samples(is_expected(state.cpu()));
        }
    }

    /// Expects samples from each CPU that takes part in a multi-CPU round, except the helper.
    pub(crate) fn expect_all(&mut self) {
        let (lead, step) = (self.lead(), self.step);
        self.expect_samples(|cpu| {
            step.participants.includes(cpu, lead) && step.helper != Some(cpu)
        });
    }

    /// Counts an attempt to get a sample, or to get one sample of each CPU.
    pub(crate) fn count_attempt(&mut self) {
        self.totals.attempts += 1;
    }

    /// Counts a round that prepares for the attempts.
    pub(crate) fn count_trial(&mut self) {
        self.totals.trials += 1;
    }

    /// Runs a round without updating the sample count.
    pub(crate) fn run_round(&mut self, round: &Round) {
        self.machine.run_round(round, &mut self.memory.outcomes);
    }

    /// Runs a round without updating the sample count, and returns an error if a CPU is lost.
    pub(crate) fn try_round(&mut self, round: &Round) -> Result<(), Failure> {
        self.run_round(round);
        self.first_lost().map_or(Ok(()), Err)
    }

    /// Runs a round, after updating the sample count that the host may read.
    pub(crate) fn run_action(&mut self, participants: Participants, action: Action) {
        let round = self.round(participants, action);
        self.run_counted(&round);
    }

    /// Runs a round in which CPUs that power down set a mark that shows whether they lose their
    /// power.
    pub(crate) fn run_marked(&mut self, participants: Participants, action: Action) {
        let round = Round {
            marks_power: true,
            ..self.round(participants, action)
        };
        self.run_counted(&round);
    }

    fn run_counted(&mut self, round: &Round) {
        let mut count = SampleCount::default();
        for state in self.cells.iter().filter(|state| state.needs_samples()) {
            count.kept += state.valid();
            count.requested += self.setting.plan.iterations;
        }
        debug_assert!(count.kept <= count.requested, "{count:?}");
        self.setting
            .samples
            .store(count.to_word(), Ordering::Relaxed);
        self.run_round(round);
    }

    /// Runs a round with one CPU, and returns its outcome.
    pub(crate) fn run_alone(&mut self, cpu: CpuIndex, action: Action) -> Outcome {
        self.run_action(Participants::Only(cpu), action);
        self.outcome(cpu)
    }

    /// Sets the suspend mode, after a round in which all CPUs except the lead power off.
    pub(crate) fn set_suspend_mode(&mut self, mode: SuspendMode) -> Result<(), ReturnCode> {
        self.step.osi = false;
        self.run_action(Participants::Only(self.lead()), Action::None);
        Ok(self.machine.set_suspend_mode(mode)?)
    }
}
