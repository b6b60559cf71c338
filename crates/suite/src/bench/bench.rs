//! A running scenario: rounds on a [`Machine`], with the samples kept in one [`CellState`] per CPU.
//! The results are stored as cells.

use alloc::vec::Vec;
use core::fmt::Write;
use core::sync::atomic::Ordering;

use crate::measure::{
    Action, After, Facts, Loss, Machine, Metric, OsInitiated, Outcome, Reason, Rejection, Round,
    SampleCount, Summary, Waker, Who,
};
use crate::model::{
    Cell, CellStep, Conditions, Counts, Failure, Scenario, ScenarioKey, Series, Status,
};
use crate::plan::{ActiveCpus, Method, RunSize};
use hardware::board::CpuIndex;
use hardware::spec::stat::Ladder;

use super::cell_state::CellState;
use super::measure::{Request, Setting};
use super::states::UsableState;

/// The initial [`Round::quiet`] in microseconds, until a trial provides a better value.
pub(crate) const QUIET_US: u64 = 1_000;
/// The longest [`Round::quiet`] in microseconds. Wake-ups that take longer cannot be measured.
pub(crate) const LONGEST_QUIET_US: u64 = 500_000;

/// The machine, the current step and the results.
pub(crate) struct Bench<'m> {
    pub(crate) machine: &'m mut dyn Machine,
    pub(crate) out: &'m mut dyn Write,
    pub(crate) setting: Setting<'m>,
    pub(crate) method: Method,
    pub(crate) pmf: bool,
    pub(crate) step: StepRounds,
    pub(crate) sleep: Sleep,
    /// The number of samples requested for each cell.
    pub(crate) requested_samples: u32,
    pub(crate) attempts: u32,
    pub(crate) trials: u32,
    pub(crate) skew: Summary,
    /// The current round's outcomes, one for each CPU.
    pub(crate) outcomes: Vec<Outcome>,
    /// The CPU_OFF outcomes in a pair of rounds, one for each CPU.
    pub(crate) off_outcomes: Vec<Outcome>,
    /// The state of each CPU in the current step.
    pub(crate) cells: Vec<CellState>,
    /// The cells of the completed steps.
    pub(crate) results: Vec<Cell>,
    /// Memory for one value per sample or per round.
    pub(crate) column: Vec<u64>,
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

/// The rounds in a scenario, or in one of its steps.
#[derive(Clone, Copy)]
pub(crate) struct StepRounds {
    /// The CPUs that are active at the same time: one, or all of [`Self::who`].
    pub(crate) cpus: ActiveCpus,
    /// The action of each CPU. If CPUs turn off, the action of the lead.
    pub(crate) action: Action,
    /// True if the CPUs other than the lead call CPU_OFF, one after another.
    pub(crate) turns_off: bool,
    /// The states whose PSCI_STAT values are read.
    pub(crate) ladder: Ladder,
    pub(crate) timers_stop: bool,
    /// The CPUs in a multi-CPU round.
    pub(crate) who: Who,
    /// The CPU that stays awake in multi-CPU rounds.
    pub(crate) helper: Option<CpuIndex>,
    pub(crate) dirty: usize,
    /// True in OS-initiated mode, in which CPUs request the states in `ladder`.
    pub(crate) osi: bool,
}

impl StepRounds {
    /// Returns a step in which all CPUs are woken by their own timers.
    pub(crate) fn new(cpus: ActiveCpus, action: Action) -> Self {
        Self {
            cpus,
            action,
            turns_off: false,
            ladder: Ladder::default(),
            timers_stop: false,
            who: Who::All,
            helper: None,
            dirty: 0,
            osi: false,
        }
    }

    /// Returns a step in which the CPUs other than the lead turn off, one after another.
    pub(crate) fn off(action_of_lead: Action) -> Self {
        Self {
            turns_off: true,
            ..Self::new(ActiveCpus::Alone, action_of_lead)
        }
    }

    /// Returns a step in which all CPUs suspend to an idle state.
    pub(crate) fn to_state(cpus: ActiveCpus, state: UsableState) -> Self {
        Self {
            ladder: state.ladder,
            timers_stop: state.timer_stops,
            ..Self::new(cpus, state.action())
        }
    }
}

/// The waits in a round, in ticks.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sleep {
    /// The time from the start to the first wake-up.
    pub(crate) now: u64,
    /// The upper limit for [`Self::lengthen`].
    pub(crate) longest: u64,
    /// [`Round::quiet`].
    pub(crate) quiet: u64,
    /// The upper limit for [`Self::lengthen_quiet`].
    pub(crate) longest_quiet: u64,
    /// The time from a CPU_OFF until the lead first calls AFFINITY_INFO.
    pub(crate) off: u64,
}

impl Sleep {
    /// Doubles the sleep time, up to its limit, after a wake-up that came too soon.
    pub(crate) fn lengthen(&mut self) {
        self.now = (self.now * 2).min(self.longest);
    }

    /// After a CPU returned `late` ticks too late, sets the quiet time to twice what would have
    /// been enough, up to its limit.
    pub(crate) fn lengthen_quiet(&mut self, late: u64) {
        self.quiet = (2 * (self.quiet + late)).min(self.longest_quiet);
    }
}

/// The minimum number of retries before a scenario gives up. On a loaded host several attempts in a
/// row can fail, so three retries per iteration are too few if there are few iterations.
const RETRIES_MIN: u64 = 15;

/// Returns the number of ticks allowed for all participants to wake from a nap and read the start
/// time.
pub(crate) fn lead_in(facts: &Facts, who: Who, cpus: usize) -> u64 {
    facts.ticks(200 + 10 * who.count(cpus) as u64)
}

/// Returns the failure for the first lost CPU, if any is lost.
pub(crate) fn first_lost(machine: &dyn Machine, cpus: usize) -> Option<Failure> {
    let mut lost = CpuIndex::all(cpus).filter_map(|cpu| Some((cpu, machine.lost(cpu)?)));
    lost.next()
        .map(|first_cpu| cpus_lost(first_cpu, lost.count()))
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
        let cells = (0..cpus).map(|_| CellState::with_capacity(room.outcomes, room.figures));
        Self {
            pmf: machine.facts().pmf.is_ok(),
            machine,
            out,
            setting,
            method: key.method,
            step: StepRounds::new(ActiveCpus::Alone, Action::None),
            sleep: Sleep::default(),
            requested_samples: 0,
            attempts: 0,
            trials: 0,
            skew: Summary::default(),
            outcomes: alloc::vec![Outcome::default(); cpus],
            off_outcomes: alloc::vec![Outcome::default(); cpus],
            cells: cells.collect(),
            results: Vec::with_capacity(room.cells),
            column: Vec::with_capacity(room.outcomes.max(cpus)),
        }
    }

    /// Returns the results of a scenario outside the suite that does not consist of steps.
    pub(crate) fn finish(self, key: ScenarioKey, status: Status) -> Scenario {
        Scenario {
            status,
            conditions: Some(Conditions {
                requested_samples: self.requested_samples,
                attempts: self.attempts,
                trials: self.trials,
                ..Conditions::default()
            }),
            cells: self.results,
            ..Scenario::new(key)
        }
    }

    /// Discards all samples.
    pub(crate) fn clear_cells(&mut self) {
        for (cpu, state) in CpuIndex::all(self.cells.len()).zip(&mut self.cells) {
            // CPUs that are already lost have no samples in this step either.
            state.clear(cpu, self.machine.lost(cpu));
        }
    }

    /// Runs a round without updating the sample count. Returns an error if a CPU is lost.
    pub(crate) fn run_round(&mut self, round: &Round) -> Result<(), Failure> {
        self.machine.run(round, &mut self.outcomes);
        first_lost(self.machine, self.setting.cpus.len()).map_or(Ok(()), Err)
    }

    /// Adds a cell with a CPU's columns, one for each of `metrics`. The samples come from `taken`
    /// attempts. Returns an error if too few samples for the first metric are valid; other metrics
    /// may have no samples.
    pub(crate) fn add_cell(
        &mut self,
        cpu: CpuIndex,
        step: CellStep,
        metrics: &[Metric],
        taken: u32,
    ) -> Result<(), Failure> {
        let state = &mut self.cells[cpu.index()];
        let valid = state.columns[0].len() as u32;
        let mut series = Vec::with_capacity(metrics.len());
        for (index, (metric, column)) in metrics.iter().zip(&mut state.columns).enumerate() {
            if index == 0 || !column.is_empty() {
                series.push(Series::of(*metric, Summary::of(column)));
            }
        }
        let counts = Counts {
            valid,
            ..state.counts()
        };
        self.push_cell(cpu, step, series).counts = Some(counts);
        too_few(cpu, valid, taken).map_or(Ok(()), Err)
    }

    /// Adds a cell with these series. Everything that the CPU's state knows about the step is filled
    /// in: the counts, the loss, the PSCI_STAT readings, the representative sample and, with
    /// `samples=all`, every sample. Returns the cell, for facts that only the scenario knows.
    pub(crate) fn push_cell(
        &mut self,
        cpu: CpuIndex,
        step: CellStep,
        series: Vec<Series>,
    ) -> &mut Cell {
        let state = &self.cells[cpu.index()];
        let has_samples = self.setting.plan.sends_samples();
        self.results.push_mut(Cell {
            counts: Some(state.counts()),
            reached: state.cell.reached,
            lost: state.cell.lost,
            series,
            shown: state.cell.shown,
            samples: state.samples(has_samples, self.pmf),
            ..Cell::new(cpu, step)
        })
    }

    /// Starts a step: resets the counts and empties the cells.
    pub(crate) fn begin_step(&mut self, step: StepRounds) {
        self.step = step;
        (self.attempts, self.trials) = (0, 0);
        self.skew = Summary::default();
        self.sleep = Sleep {
            quiet: self.us(QUIET_US),
            longest_quiet: self.us(LONGEST_QUIET_US),
            off: self.sleep.off,
            ..Sleep::default()
        };
        self.clear_cells();
    }

    /// Expects samples from each CPU that takes part in a multi-CPU round, except the helper.
    pub(crate) fn expect_all(&mut self) {
        let (lead, step) = (self.lead(), self.step);
        for (cpu, state) in CpuIndex::all(self.cells.len()).zip(&mut self.cells) {
            state.is_expected = step.who.includes(cpu, lead) && step.helper != Some(cpu);
        }
    }

    pub(crate) fn lead(&self) -> CpuIndex {
        self.machine.facts().lead
    }

    /// Returns the interrupt that wakes the CPUs in a round.
    pub(crate) fn waker(&self, who: Who) -> Waker {
        let Setting {
            wake_trials, cpus, ..
        } = self.setting;
        if self.step.timers_stop {
            wake_trials.waker(self.machine, cpus, who, self.step.helper)
        } else {
            Waker::OwnTimers
        }
    }

    /// Returns the interrupt that wakes one CPU in its rounds during this step.
    pub(crate) fn waker_of(&self, cpu: CpuIndex) -> Waker {
        self.waker(match self.step.cpus {
            ActiveCpus::All => self.step.who,
            _ => Who::Only(cpu),
        })
    }

    /// Copies the machine's list of lost CPUs, because a CPU may be lost without an outcome while
    /// it powers off for another CPU's turn. Discards the states that were reached earlier, because
    /// they may no longer be current.
    pub(crate) fn note_losses(&mut self) {
        for (cpu, state) in CpuIndex::all(self.cells.len()).zip(&mut self.cells) {
            state.cell.lost = state.cell.lost.or(self.machine.lost(cpu));
        }
        if self.cells.iter().any(|state| state.cell.lost.is_some()) {
            self.cells
                .iter_mut()
                .for_each(|state| state.cell.reached = None);
        }
    }

    /// Returns the status of the current step.
    pub(crate) fn status(&self) -> Status {
        let cells = || self.cells.iter().map(|state| &state.cell);
        if let Some(Some(skip)) = cells().next().map(|cell| cell.skipped)
            && cells().all(|cell| cell.skipped.is_some())
        {
            return Status::Skipped(skip);
        }
        let mut lost = cells().filter_map(|cell| Some((cell.cpu, cell.lost?)));
        if let Some(first) = lost.next() {
            return Status::Failed(cpus_lost(first, lost.count()));
        }
        // If two CPUs have equally few samples, do not report the one that only shared a round with
        // the CPU at fault.
        let by_samples = |state: &&CellState| {
            let shared = state.rejected[Reason::Companion as usize];
            2 * u64::from(state.valid()) + u64::from(shared == state.rejected_total())
        };
        let needing = self.cells.iter().filter(|state| state.needs_samples());
        let worst = needing.min_by_key(by_samples);
        let requested_samples = self.setting.plan.iterations;
        let failure =
            worst.and_then(|state| too_few(state.cell.cpu, state.valid(), requested_samples));
        failure.map_or(Status::Passed, Status::Failed)
    }

    /// Returns a round of the current step.
    pub(crate) fn round(&self, who: Who, action: Action) -> Round {
        let lead_in = lead_in(self.machine.facts(), who, self.cells.len());
        let (sleep, osi) = (self.sleep.now, self.step.osi);
        Round {
            sleep: sleep * if osi { 3 } else { 1 },
            quiet: self.sleep.quiet,
            wake: self.setting.plan.wake_by(self.method),
            waker: if action.sleeps() {
                self.waker(who)
            } else {
                Waker::OwnTimers
            },
            wake_interval: self.us(200),
            dirty: self.step.dirty,
            // Each delay lasts a third of the round's sleep time, which is long enough for all CPUs
            // to go down.
            osi: osi.then_some(OsInitiated {
                states: self.step.ladder,
                delay: sleep,
            }),
            afterwards: match self.method {
                Method::Tftf => After::Off,
                Method::Warm => After::Stay,
            },
            ..Round::new(who, action, lead_in)
        }
    }

    /// Runs a round, after updating the sample count that the host may read.
    pub(crate) fn run_action(&mut self, who: Who, action: Action) {
        let round = self.round(who, action);
        let mut count = SampleCount::default();
        for state in self.cells.iter().filter(|state| state.needs_samples()) {
            count.kept += state.valid();
            count.requested += self.setting.plan.iterations;
        }
        debug_assert!(count.kept <= count.requested, "{count:?}");
        self.setting
            .samples
            .store(count.to_word(), Ordering::Relaxed);
        self.machine.run(&round, &mut self.outcomes);
    }

    /// Runs a round with one CPU, and returns its outcome.
    pub(crate) fn run_alone(&mut self, cpu: CpuIndex, action: Action) -> Outcome {
        self.run_action(Who::Only(cpu), action);
        self.outcomes[cpu.index()]
    }

    /// Keeps one CPU's attempt or counts its rejection, depending on `attempt_use` and `verdict`.
    pub(crate) fn record_attempt(
        &mut self,
        cpu: CpuIndex,
        outcome: &Outcome,
        verdict: Result<(), Rejection>,
        attempt_use: AttemptUse,
    ) {
        let state = &mut self.cells[cpu.index()];
        let is_counted =
            attempt_use == AttemptUse::Measure && state.valid() < self.setting.plan.iterations;
        match verdict {
            Ok(()) if is_counted => state.kept.push(*outcome),
            Ok(()) if attempt_use == AttemptUse::Cold => {
                state.cold.get_or_insert(*outcome);
            }
            Ok(()) => {}
            Err(rejection) if is_counted => state.reject(rejection),
            Err(rejection) => state.note_loss(rejection),
        }
    }

    /// Returns the number of ticks in `microseconds`.
    pub(crate) fn us(&self, microseconds: u64) -> u64 {
        self.machine.facts().ticks(microseconds)
    }

    /// Returns true if `attempts` exceeds the number of attempts that a step needs by three times the
    /// number of samples requested, and by at least [`RETRIES_MIN`].
    pub(crate) fn retries_are_exhausted(&self, attempts: u32) -> bool {
        let plan = self.setting.plan;
        let iterations = u64::from(plan.iterations);
        let retries = RETRIES_MIN.max(3 * iterations);
        u64::from(attempts) >= u64::from(plan.warmup) + iterations + retries
    }
}
