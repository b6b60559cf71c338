//! What wakes CPUs from states that stop their own timers: the timer frame, or
//! an awake helper. Neither is relied on before a trial has shown that it does.

use arrayvec::ArrayVec;

use super::states::Chosen;
use crate::board::{Cpu, IDLE_STATES_MAX, NoFrame, TimerFrame};
use crate::plan::WakePattern;
use crate::report::Skip;
use crate::round::{After, Machine, Round, Waker, Who};
use crate::sample::{End, Outcome};
use crate::stat::Ladder;

/// Sleep of a trial in microseconds: longer than a way down takes.
const SLEEP_US: u64 = 10_000;
/// Time for the way up, in microseconds, until the lead looks.
const QUIET_US: u64 = 1_000;
/// Trials of one CPU from one state, until one is good.
const TRIES: u32 = 6;
/// States that are tried at most: the board's, and two of the user's.
const STATES: usize = IDLE_STATES_MAX + 2;

/// The wake-up sources that trials have shown to work.
#[derive(Clone, Debug)]
pub struct Wakers {
    /// Whether there is a GIC: without one no interrupt wakes a CPU.
    has_gic: bool,
    /// The timer frame, where it woke the lead from each state, or why it is not
    /// relied on.
    pub frame: Result<TimerFrame, NoFrame>,
    /// The states from which an SGI has woken a CPU, the shallowest first.
    pub proven: ArrayVec<u32, STATES>,
    /// The CPU, by index, that an SGI woke, and the one that woke the lead.
    pub tried: Option<[usize; 2]>,
    /// Why other states are not used.
    failed: Option<Skip>,
}

impl Wakers {
    /// Tries `states`, the shallowest first; none where no state stops a timer.
    ///
    /// A CPU that is not the lead goes first, while the lead is awake and waits
    /// for a bounded time. A CPU that an SGI does not wake is lost, and no CPU
    /// enters that state, or a deeper one, again. The lead goes last.
    pub fn try_out<M: Machine>(
        machine: &mut M,
        cpus: &[Cpu],
        outcomes: &mut [Outcome],
        states: &[Chosen],
    ) -> Self {
        let facts = machine.facts();
        let lead = facts.lead;
        let mut wakers = Self {
            has_gic: facts.gic != 0,
            frame: facts.frame.and(Err(NoFrame::NotTried)),
            proven: ArrayVec::new(),
            tried: None,
            failed: None,
        };
        if !wakers.has_gic || states.is_empty() {
            return wakers;
        }
        let others = 0..cpus.len();
        let mut others = others.filter(|cpu| *cpu != lead && !machine.is_lost(*cpu));
        let Some(first) = others.next() else {
            wakers.failed = Some(Skip::NoHelper);
            return wakers;
        };
        wakers.frame = facts.frame;
        let mut trial = Trial { machine, outcomes };
        for state in states {
            if let Err(why) = trial.run(first, Waker::Helper(lead), *state, cpus) {
                wakers.failed = Some(why);
                break;
            }
            // There is room.
            let _ = wakers.proven.try_push(state.power_state);
        }
        for state in states {
            let helper = helper_of(trial.machine, cpus, lead);
            let proven = wakers.proven.contains(&state.power_state);
            let Some(helper) = helper.filter(|_| proven) else {
                continue;
            };
            wakers.tried = Some([first, helper]);
            if wakers.frame.is_ok() {
                if trial
                    .run(lead, Waker::FrameTrial(helper), *state, cpus)
                    .is_err()
                {
                    wakers.frame = Err(NoFrame::DidNotWake);
                }
            } else if let Err(why) = trial.run(lead, Waker::Helper(helper), *state, cpus) {
                wakers.give_up(state.power_state, why);
            }
        }
        wakers
    }

    /// Takes back that this state and deeper ones can be used.
    fn give_up(&mut self, state: u32, why: Skip) {
        let place = self.proven.iter().position(|proven| *proven == state);
        self.proven.truncate(place.unwrap_or(0));
        self.failed.get_or_insert(why);
    }

    /// Why no CPU is suspended to this state, if so: there is none, or nothing
    /// wakes a CPU from it.
    #[must_use]
    pub fn skip(&self, state: Option<Chosen>) -> Option<Skip> {
        match state {
            _ if !self.has_gic => Some(Skip::NoGic),
            None => Some(Skip::NoIdleState),
            Some(state) if !state.timer_stops => None,
            Some(state) if self.proven.contains(&state.power_state) => None,
            Some(_) => Some(self.failed.unwrap_or(Skip::NoHelper)),
        }
    }

    /// What wakes the CPUs of a round from a state that stops their timers;
    /// `helper` is the CPU that stays awake in rounds of several CPUs.
    pub(super) fn waker<M: Machine>(
        &self,
        machine: &M,
        cpus: &[Cpu],
        who: Who,
        helper: Option<usize>,
    ) -> Waker {
        let lead = machine.facts().lead;
        match who {
            Who::Only(cpu) if cpu != lead => Waker::Helper(lead),
            _ if self.frame.is_ok() => Waker::Frame,
            // A lost helper is one that the machine lets no CPU depend on.
            Who::Only(_) => Waker::Helper(helper_of(machine, cpus, lead).unwrap_or(cpus.len())),
            Who::All | Who::First(_) => Waker::Helper(helper.unwrap_or(lead)),
        }
    }

    /// The helpers of a parallel scenario, one for each time that it is measured:
    /// the lead, and a CPU of another cluster, or else of the same. So each CPU
    /// has a row. None stands for no helper.
    pub(super) fn placements<M: Machine>(
        &self,
        machine: &M,
        cpus: &[Cpu],
        timers_stop: bool,
    ) -> [Option<Option<usize>>; 2] {
        if !timers_stop || self.frame.is_ok() {
            return [Some(None), None];
        }
        let lead = machine.facts().lead;
        [Some(Some(lead)), helper_of(machine, cpus, lead).map(Some)]
    }
}

/// The CPU that stays awake for another one: of another cluster where there is
/// one, as a CPU that is on keeps up its cluster.
fn helper_of<M: Machine>(machine: &M, cpus: &[Cpu], of: usize) -> Option<usize> {
    let own = cpus.get(of)?.cluster;
    let others = || (0..cpus.len()).filter(|cpu| *cpu != of && !machine.is_lost(*cpu));
    let elsewhere = others().find(|cpu| cpus[*cpu].cluster != own);
    elsewhere.or_else(|| others().next())
}

/// Trials, one after another.
struct Trial<'t, M> {
    machine: &'t mut M,
    outcomes: &'t mut [Outcome],
}

impl<M: Machine> Trial<'_, M> {
    /// Whether `waker` wakes the CPU from this state, or the firmware refuses
    /// it: then no CPU enters it.
    fn run(&mut self, cpu: usize, waker: Waker, state: Chosen, cpus: &[Cpu]) -> Result<(), Skip> {
        let facts = self.machine.facts();
        let mut round = Round {
            who: Who::Only(cpu),
            action: state.action(),
            lead_in: facts.ticks(200),
            sleep: facts.ticks(SLEEP_US),
            quiet: facts.ticks(QUIET_US),
            wake: WakePattern::Together,
            waker,
            wake_step: 0,
            after: After::Off,
            ladder: Ladder::default(),
            window: None,
            dirty: 0,
            osi: None,
        };
        let (mpidr, power_state) = (cpus[cpu].mpidr, state.power_state);
        for _ in 0..TRIES {
            self.machine.run(&round, self.outcomes);
            let outcome = self.outcomes[cpu];
            match outcome.end {
                // Of a frame's trial: the helper's SGI woke the lead.
                End::NotRung if round.waker.is_frame() => {
                    return Err(Skip::SgiDidNotWake { mpidr, power_state });
                }
                End::Lost(_) => return Err(Skip::SgiDidNotWake { mpidr, power_state }),
                End::Resumed | End::Returned if outcome.code < 0 => return Ok(()),
                End::Resumed | End::Returned if outcome.after >= outcome.due => return Ok(()),
                // It was not asleep when the SGI was sent.
                _ => round.sleep *= 2,
            }
        }
        Err(Skip::NotTried { mpidr, power_state })
    }
}
