//! Trials of one CPU in one state with one wake-up source. Each trial is bounded in time: the CPU
//! that waits for the sleeping CPU eventually sends it an SGI.

use alloc::vec::Vec;

use crate::measure::{
    ActionEnd, Cause, Loss, Machine, Outcome, Participants, Reason, Rejection, Round, RoundPhase,
    Spans, TimeSource, WakeUp, Waker,
};
use crate::model::{Cpu, Failure, Skip};
use crate::plan::{ActiveCpus, Plan};
use hardware::board::{CpuIndex, Mpidr};
use hardware::spec::pmf::Stamp;
use hardware::spec::stat::Ladder;

use super::states::UsableState;
use super::waits::SLEEP_MAX_US;

/// The first sleep of a trial with the CPU's own timer, in microseconds. The sleep is short because
/// every run includes these trials. PMF shows whether the power-down took longer. On a board, the
/// plan's shortest sleep is longer.
const TIMER_SLEEP_US: u64 = 2_500;
/// The first sleep of a trial with any other source, which is longer than any power-down takes.
const OTHER_SLEEP_US: u64 = 10_000;
/// The time allowed for the wake-up before the lead checks on the CPU, in microseconds.
const TRIAL_QUIET_US: u64 = 200;
/// The time from the lead's SGI until a CPU that has not returned counts as lost, in microseconds.
/// The lead sends the SGI half a second after the wake-up was due, so a failed trial takes at most
/// a second.
const PATIENCE_US: u64 = 450_000;
/// How many times to try a CPU's own timer in each state before giving up.
const TIMER_TRIES: u32 = 3;
/// How many times to try any other source before giving up.
const OTHER_TRIES: u32 = 6;
/// How many CPUs to try in each state before giving up.
const CPUS_TO_TRY: usize = 3;
/// The loss recorded for a CPU that cannot be woken.
const ASLEEP: Loss = Loss {
    phase: RoundPhase::Finish,
    cause: Cause::Timeout,
};

/// Returns the helper that the plan names, unless it is lost.
pub(crate) fn planned_helper(machine: &dyn Machine, cpus: &[Cpu], plan: &Plan) -> Option<CpuIndex> {
    plan.helper?;
    let mut available = CpuIndex::all(cpus.len()).filter(|cpu| !machine.is_lost(*cpu));
    available.find(|cpu| cpus[cpu.index()].mpidr == plan.helper)
}

/// Returns the CPU that stays awake to wake `sleeper`: the one that the plan names or, if it names
/// none, one in a different cluster if possible, because a CPU that is on keeps its cluster up.
pub(crate) fn helper_of(
    machine: &dyn Machine,
    cpus: &[Cpu],
    plan: &Plan,
    sleeper: CpuIndex,
) -> Option<CpuIndex> {
    let cluster = |cpu: CpuIndex| cpus[cpu.index()].cluster;
    let is_candidate = |cpu: &CpuIndex| *cpu != sleeper && !machine.is_lost(*cpu);
    let candidates = || CpuIndex::all(cpus.len()).filter(is_candidate);
    let in_other_cluster = || candidates().find(|cpu| cluster(*cpu) != cluster(sleeper));
    planned_helper(machine, cpus, plan)
        .filter(is_candidate)
        .or_else(in_other_cluster)
        .or_else(|| candidates().next())
}

/// Returns the CPU that is active beside `cpu`: the next one in the same cluster, or the first one
/// in the next cluster. Returns None for other values of `active_cpus`, and if there is no such CPU.
/// The helper stays awake, so it is not active.
pub(crate) fn neighbor_of(
    machine: &dyn Machine,
    cpus: &[Cpu],
    cpu: CpuIndex,
    active_cpus: ActiveCpus,
    helper: Option<CpuIndex>,
) -> Option<CpuIndex> {
    let is_near = match active_cpus {
        ActiveCpus::Near => true,
        ActiveCpus::Far => false,
        ActiveCpus::Alone | ActiveCpus::All => return None,
    };
    let cluster = |cpu: CpuIndex| cpus[cpu.index()].cluster;
    let is_neighbor = |other: &CpuIndex| (cluster(*other) == cluster(cpu)) == is_near;
    let (earlier, later) = (0..cpu.index(), cpu.index() + 1..cpus.len());
    let mut neighbors = later.chain(earlier).map(CpuIndex::new).filter(is_neighbor);
    neighbors.find(|other| helper != Some(*other) && !machine.is_lost(*other))
}

/// Returns the last CPU (before `end`, if given) that is neither the lead nor lost. The last CPU is
/// tried first, because readers mostly look at the results of the first CPUs in board order.
pub(crate) fn last_other_before(
    machine: &dyn Machine,
    cpus: &[Cpu],
    end: Option<CpuIndex>,
) -> Option<CpuIndex> {
    let lead = machine.facts().lead;
    let is_candidate =
        |cpu: &CpuIndex| *cpu != lead && end.is_none_or(|range_end| *cpu < range_end);
    let mut candidates = CpuIndex::all(cpus.len()).rev().filter(is_candidate);
    candidates.find(|cpu| !machine.is_lost(*cpu))
}

/// How a CPU's own timer behaves in a state.
pub(crate) enum OwnTimer {
    /// The timer wakes the CPU. This is also the result if there is no CPU other than the lead, or
    /// if every trial failed but each CPU woke up on its own, in which case the lead will, too.
    Wakes,
    /// The timer did not wake this CPU, but an SGI did.
    Stops(CpuIndex),
}

/// The result of one CPU's trials.
pub(crate) enum TrialVerdict {
    /// The source under test woke the CPU.
    Woken,
    /// The CPU was woken by the SGI that is sent if the source under test fails.
    WokenInstead,
    /// The firmware rejects the state, so no CPU enters it.
    Refused,
    /// Nothing woke the CPU, so it is lost.
    Asleep,
    /// The CPU was lost while waking up, so no other CPU may enter the state.
    Lost,
    /// Every trial failed for another reason, such as an early wake-up.
    Unclear,
}

/// The result of the lead's trials.
pub(crate) enum LeadTrial {
    /// The source under test woke the lead; this helper stayed awake.
    Woken(CpuIndex),
    /// The source under test did not wake the lead. In a trial of the timer frame, an SGI from this
    /// helper did.
    WokenInstead(CpuIndex),
    /// The firmware rejects the state, so no CPU enters it.
    Refused,
    /// The trials failed for this reason.
    Failed(Skip),
}

/// A machine on which trials are made.
pub(crate) struct Trials<'t> {
    machine: &'t mut dyn Machine,
    outcomes: Vec<Outcome>,
    cpus: &'t [Cpu],
    plan: &'t Plan,
    /// True if the PSCI_STAT values are read in each trial.
    pub(crate) reads_statistics: bool,
    /// True if the CPU's context is compared before and after each trial.
    pub(crate) checks_context: bool,
    /// The failure in the last trial of a CPU whose trials all failed.
    pub(crate) last_failure: Option<Failure>,
}

impl<'t> Trials<'t> {
    /// Returns trials according to `plan` that read no statistics and check no context.
    pub(crate) fn new(machine: &'t mut dyn Machine, cpus: &'t [Cpu], plan: &'t Plan) -> Self {
        Self {
            machine,
            outcomes: alloc::vec![Outcome::default(); cpus.len()],
            cpus,
            plan,
            reads_statistics: false,
            checks_context: false,
            last_failure: None,
        }
    }

    /// Tests whether the CPUs' own timers wake them from this state.
    pub(crate) fn try_own_timer(&mut self, state: UsableState) -> Result<OwnTimer, Skip> {
        let mut next = self.last_other_before(None);
        for _ in 0..CPUS_TO_TRY {
            let Some(cpu) = next else { break };
            match self.try_waker(cpu, Waker::TimerTrial, state) {
                TrialVerdict::Woken | TrialVerdict::Refused => break,
                TrialVerdict::WokenInstead => return Ok(OwnTimer::Stops(cpu)),
                TrialVerdict::Asleep => {
                    return Err(Skip::NothingWoke {
                        mpidr: self.mpidr(cpu),
                        power_state: state.power_state,
                    });
                }
                TrialVerdict::Lost => return Err(self.not_tried(cpu, state)),
                TrialVerdict::Unclear => next = self.last_other_before(Some(cpu)),
            }
        }
        Ok(OwnTimer::Wakes)
    }

    /// Makes the lead try to wake one CPU after another from this state until one wakes up. Returns
    /// that CPU, or None if the firmware rejected the state for one of them.
    pub(crate) fn try_sgi(&mut self, state: UsableState) -> Result<Option<CpuIndex>, Skip> {
        let lead = self.machine.facts().lead;
        let mut verdict = Err(Skip::NoHelper);
        let mut next = self.last_other_before(None);
        for _ in 0..CPUS_TO_TRY {
            let Some(cpu) = next else { break };
            match self.try_waker(cpu, Waker::Helper(lead), state) {
                TrialVerdict::Woken => return Ok(Some(cpu)),
                TrialVerdict::Refused => verdict = Ok(None),
                TrialVerdict::Asleep => return Err(self.did_not_wake(cpu, state)),
                TrialVerdict::Lost => return Err(self.not_tried(cpu, state)),
                TrialVerdict::WokenInstead | TrialVerdict::Unclear => {
                    verdict = verdict.or(Err(self.not_tried(cpu, state)));
                }
            }
            next = self.last_other_before(Some(cpu));
        }
        verdict
    }

    /// Tries to wake the lead, using another helper each time one is lost.
    pub(crate) fn try_lead(
        &mut self,
        state: UsableState,
        waker: fn(CpuIndex) -> Waker,
    ) -> LeadTrial {
        let lead = self.machine.facts().lead;
        let mut last = LeadTrial::Failed(Skip::NoHelper);
        while let Some(helper) = helper_of(self.machine, self.cpus, self.plan, lead) {
            last = match self.try_waker(lead, waker(helper), state) {
                TrialVerdict::Woken => return LeadTrial::Woken(helper),
                TrialVerdict::Refused => return LeadTrial::Refused,
                TrialVerdict::WokenInstead | TrialVerdict::Asleep => {
                    LeadTrial::WokenInstead(helper)
                }
                TrialVerdict::Lost | TrialVerdict::Unclear => {
                    LeadTrial::Failed(self.not_tried(lead, state))
                }
            };
            if !self.machine.is_lost(helper) {
                break;
            }
        }
        last
    }

    pub(super) fn lead(&self) -> CpuIndex {
        self.machine.facts().lead
    }

    /// Returns the CPU's outcome in the last trial.
    pub(crate) fn outcome(&self, cpu: CpuIndex) -> &Outcome {
        &self.outcomes[cpu.index()]
    }

    /// Returns all outcomes of the last trial.
    pub(crate) fn into_outcomes(self) -> Vec<Outcome> {
        self.outcomes
    }

    /// Returns the number of CPUs that are lost.
    pub(crate) fn count_lost(&self) -> usize {
        self.machine.count_lost(self.cpus.len())
    }

    fn last_other_before(&self, end: Option<CpuIndex>) -> Option<CpuIndex> {
        last_other_before(self.machine, self.cpus, end)
    }

    fn mpidr(&self, cpu: CpuIndex) -> Mpidr {
        self.cpus[cpu.index()]
            .mpidr
            .expect("the machine has an outcome for each CPU")
    }

    /// Returns the reason to skip a state from which an SGI did not wake the CPU.
    pub(super) fn did_not_wake(&self, cpu: CpuIndex, state: UsableState) -> Skip {
        let (mpidr, power_state) = (self.mpidr(cpu), state.power_state);
        Skip::SgiDidNotWake { mpidr, power_state }
    }

    /// Returns the reason to skip a state if none of the CPU's trials succeeded.
    fn not_tried(&self, cpu: CpuIndex, state: UsableState) -> Skip {
        let (mpidr, power_state) = (self.mpidr(cpu), state.power_state);
        Skip::NotTried { mpidr, power_state }
    }

    /// Tests whether `waker` wakes the CPU from this state, with increasingly long sleeps.
    pub(crate) fn try_waker(
        &mut self,
        cpu: CpuIndex,
        waker: Waker,
        state: UsableState,
    ) -> TrialVerdict {
        let times = self.machine.facts().time_source();
        let is_own_timer = waker == Waker::TimerTrial;
        let tries = if is_own_timer {
            TIMER_TRIES
        } else {
            OTHER_TRIES
        };
        let mut round = self.trial_round(cpu, waker, state);
        let (mut slept, mut has_failed_before) = (0, false);
        for _ in 0..tries {
            if waker
                .helper()
                .is_some_and(|helper| self.machine.is_lost(helper))
            {
                break;
            }
            self.machine.run_round(&round, &mut self.outcomes);
            slept = round.spans.sleep;
            let outcome = &self.outcomes[cpu.index()];
            match outcome.end {
                ActionEnd::WokenByFallback if waker.is_frame() || has_failed_before => {
                    return TrialVerdict::WokenInstead;
                }
                // A single failure proves nothing: the timer's wake-up may just have been late.
                ActionEnd::WokenByFallback if is_own_timer => has_failed_before = true,
                ActionEnd::Lost(ASLEEP) => return TrialVerdict::Asleep,
                ActionEnd::Lost(loss) if loss.phase == RoundPhase::Finish => {
                    self.last_failure = Some(Failure::CpuLost {
                        cpu,
                        loss,
                        others: 0,
                    });
                    return TrialVerdict::Lost;
                }
                ActionEnd::Lost(_) => break,
                end if end.has_returned() && outcome.code.is_some_and(|code| code < 0) => {
                    return TrialVerdict::Refused;
                }
                end if end.has_returned() && slept_when_due(outcome, times) => {
                    return TrialVerdict::Woken;
                }
                // Every other end leaves open what wakes the CPU.
                _ => {
                    let longest = self.machine.facts().ticks(SLEEP_MAX_US);
                    round.spans.sleep = (round.spans.sleep * 2).min(longest);
                }
            }
        }
        self.note_last(cpu, slept);
        TrialVerdict::Unclear
    }

    /// Returns the round of a first trial.
    fn trial_round(&self, cpu: CpuIndex, waker: Waker, state: UsableState) -> Round {
        let facts = self.machine.facts();
        let sleep = if waker == Waker::TimerTrial {
            TIMER_SLEEP_US
        } else {
            OTHER_SLEEP_US
        };
        let spans = Spans {
            lead_in: facts.ticks(200),
            sleep: facts.ticks(sleep.max(self.plan.shortest_sleep_us())),
            quiet: facts.ticks(TRIAL_QUIET_US),
            patience: Some(facts.ticks(PATIENCE_US)),
        };
        Round {
            wake_up: WakeUp {
                waker,
                ..WakeUp::default()
            },
            ladder: if self.reads_statistics {
                state.ladder
            } else {
                Ladder::default()
            },
            checks_context: self.checks_context,
            ..Round::new(Participants::Only(cpu), state.action(), spans)
        }
    }

    /// Records why the CPU did not wake up on time in the last attempt, which has the longest
    /// sleep.
    fn note_last(&mut self, cpu: CpuIndex, sleep: u64) {
        let early = Rejection::plain(Reason::EarlyWake);
        let last = self.outcomes[cpu.index()].judge(TimeSource::Counter).err();
        self.last_failure = Some(Failure::NotCalibrated {
            sleep,
            last: last.unwrap_or(early),
            cpu,
        });
    }
}

/// Returns true unless there is evidence that the CPU was not asleep when its wake-up was due.
/// Neither a late return nor a wrong or missing timestamp is evidence of that.
fn slept_when_due(outcome: &Outcome, times: TimeSource) -> bool {
    let was_awake = match outcome.judge(times) {
        Ok(()) => false,
        Err(Rejection { reason, .. }) => !reason.is_about_stamps() && reason != Reason::LateReturn,
    };
    let down = outcome.stamp(Stamp::EnterHwLowPwr);
    let is_late = outcome.has_own_stamps() && down >= outcome.due();
    !was_awake && !is_late
}
