//! The wake-up sources for states that stop the CPUs' own timers: the timer frame, or
//! an awake helper. Neither is used before a good trial.

use alloc::vec::Vec;

use super::states::Chosen;
use crate::board::{NoFrame, TimerFrame};
use crate::measure::{
    Cause, End, Loss, Machine, Outcome, Reason, Rejection, Round, Step, Waker, Who,
};
use crate::model::{Cpu, Failure, Skip, WakeSource};

/// Sleep of a trial in microseconds: longer than a way down takes.
const SLEEP_US: u64 = 10_000;
/// Time for the way up, in microseconds, until the lead looks.
const QUIET_US: u64 = 1_000;
/// Trials of one CPU from one state, until one is good.
const TRIES: u32 = 6;
/// CPUs that are tried from each state, until one is good.
const CPUS: usize = 3;
/// The loss of a CPU that nothing wakes.
const ASLEEP: Loss = Loss {
    step: Step::Finish,
    cause: Cause::Timeout,
};

/// The wake-up sources that trials have shown to work.
#[derive(Clone, Debug)]
pub struct Wakers {
    /// True with a GIC: without one no interrupt wakes a CPU.
    has_gic: bool,
    /// The timer frame, if it woke the lead from each state, or the reason why it is
    /// not used.
    pub(crate) frame: Result<TimerFrame, NoFrame>,
    /// The states from which an SGI has woken a CPU, the shallowest first.
    pub(crate) proven: Vec<u32>,
    /// The states that the firmware refuses: no CPU enters them.
    refused: Vec<u32>,
    /// The CPU, by index, that an SGI woke last.
    pub(crate) woken: Option<usize>,
    /// The CPU, by index, whose SGI woke the lead.
    pub(crate) woke_lead: Option<usize>,
    /// The reason why other states are not used.
    failed: Option<Skip>,
    /// The failure of the last trial of a CPU of which none was good.
    wrong: Option<Failure>,
}

impl Wakers {
    /// Tries `states`, the shallowest first: with a CPU that is not the lead, while the lead
    /// is awake and waits for a bounded time, and then with the lead. After an SGI that did
    /// not wake a CPU, no CPU enters that state, or a deeper one, again.
    pub(crate) fn try_out(machine: &mut dyn Machine, cpus: &[Cpu], states: &[Chosen]) -> Self {
        let facts = machine.facts();
        let (frame, lead) = (facts.frame, facts.lead);
        let mut wakers = Self {
            has_gic: facts.gic != 0,
            frame: frame.and(Err(NoFrame::NotTried)),
            proven: Vec::with_capacity(states.len()),
            refused: Vec::with_capacity(states.len()),
            woken: None,
            woke_lead: None,
            failed: None,
            wrong: None,
        };
        if !wakers.has_gic || states.is_empty() {
            return wakers;
        }
        if helper_of(machine, cpus, lead).is_none() {
            wakers.failed = Some(Skip::NoHelper);
            return wakers;
        }
        wakers.frame = frame;
        let mut trial = Trial {
            machine,
            outcomes: alloc::vec![Outcome::default(); cpus.len()],
            cpus,
            wrong: None,
        };
        for state in states {
            match trial.of_another(*state) {
                Ok(Some(cpu)) => {
                    wakers.woken = Some(cpu);
                    wakers.proven.push(state.power_state);
                }
                Ok(None) => wakers.refused.push(state.power_state),
                Err(why) => {
                    wakers.failed = Some(why);
                    break;
                }
            }
        }
        for state in states {
            let proven = wakers.proven.iter();
            let place = proven.clone().position(|it| *it == state.power_state);
            if let Some(place) = place
                && let Err(why) = wakers.try_lead(&mut trial, *state)
            {
                // This state and deeper ones are not used.
                wakers.proven.truncate(place);
                wakers.failed.get_or_insert(why);
            }
        }
        wakers.wrong = trial.wrong;
        wakers
    }

    /// Tries the lead: by the timer frame, until a trial of that fails.
    fn try_lead(&mut self, trial: &mut Trial<'_>, state: Chosen) -> Result<(), Skip> {
        if self.frame.is_ok() {
            match trial.of_lead(state, Waker::FrameTrial) {
                Ok(_) => return Ok(()),
                Err((Skip::SgiDidNotWake { .. }, helper)) => {
                    // The helper's SGI woke the lead.
                    self.frame = Err(NoFrame::DidNotWake);
                    self.woke_lead = Some(helper);
                    return Ok(());
                }
                Err(_) => self.frame = Err(NoFrame::NotTried),
            }
        }
        let woken = trial.of_lead(state, Waker::Helper);
        self.woke_lead = woken.map_err(|(why, _)| why)?.or(self.woke_lead);
        Ok(())
    }

    /// Returns the failure of the trials, if `skip` is that none was good.
    pub(crate) fn fault(&self, skip: Skip) -> Option<Failure> {
        self.wrong.filter(|_| matches!(skip, Skip::NotTried { .. }))
    }

    pub(crate) fn source(&self, timers_stop: bool) -> WakeSource {
        match self.frame {
            _ if !timers_stop => WakeSource::OwnTimers,
            Ok(_) => WakeSource::Frame,
            Err(_) => WakeSource::Helper,
        }
    }

    /// Returns the reason why no CPU is suspended to this state, if any: there is no
    /// state, or nothing wakes a CPU from it.
    pub(crate) fn skip(&self, state: Option<Chosen>) -> Option<Skip> {
        match state {
            _ if !self.has_gic => Some(Skip::NoGic),
            None => Some(Skip::NoIdleState),
            Some(state) if !state.timer_stops => None,
            Some(state) if self.proven.contains(&state.power_state) => None,
            Some(state) if self.refused.contains(&state.power_state) => None,
            Some(_) => Some(self.failed.unwrap_or(Skip::NoHelper)),
        }
    }

    /// Returns the interrupt that wakes CPUs from a state that stops their timers;
    /// `helper` is the CPU that stays awake in rounds of several CPUs.
    pub(crate) fn waker(
        &self,
        machine: &dyn Machine,
        cpus: &[Cpu],
        who: Who,
        helper: Option<usize>,
    ) -> Waker {
        let lead = machine.facts().lead;
        match who {
            Who::Only(cpu) if cpu != lead => Waker::Helper(lead),
            _ if self.frame.is_ok() => Waker::Frame,
            // No CPU depends on a helper that the machine does not have.
            Who::Only(_) => Waker::Helper(helper_of(machine, cpus, lead).unwrap_or(cpus.len())),
            Who::All | Who::First(_) => Waker::Helper(helper.unwrap_or(lead)),
        }
    }

    /// Returns the helpers of a parallel scenario, one for each time that it is measured, so
    /// that each CPU has a row. The inner None stands for no helper.
    pub(crate) fn placements(
        &self,
        machine: &dyn Machine,
        cpus: &[Cpu],
        timers_stop: bool,
    ) -> [Option<Option<usize>>; 2] {
        if self.source(timers_stop) != WakeSource::Helper {
            return [Some(None), None];
        }
        let lead = machine.facts().lead;
        [Some(Some(lead)), helper_of(machine, cpus, lead).map(Some)]
    }
}

/// Returns the CPU that stays awake for another one: of another cluster if possible, as
/// a CPU that is on keeps up its cluster.
fn helper_of(machine: &dyn Machine, cpus: &[Cpu], of: usize) -> Option<usize> {
    let own = cpus.get(of)?.cluster;
    let others = || (0..cpus.len()).filter(|cpu| *cpu != of && !machine.is_lost(*cpu));
    let elsewhere = others().find(|cpu| cpus[*cpu].cluster != own);
    elsewhere.or_else(|| others().next())
}

struct Trial<'t> {
    machine: &'t mut dyn Machine,
    outcomes: Vec<Outcome>,
    cpus: &'t [Cpu],
    /// The failure of the last one of a CPU of which none was good.
    wrong: Option<Failure>,
}

impl Trial<'_> {
    /// Tries CPUs that the lead wakes until one is woken from this state, and returns it;
    /// None if the firmware refuses the state to all that were tried.
    fn of_another(&mut self, state: Chosen) -> Result<Option<usize>, Skip> {
        let lead = self.machine.facts().lead;
        let mut verdict = Err(Skip::NoHelper);
        let mut left = CPUS;
        for cpu in (0..self.cpus.len()).filter(|cpu| *cpu != lead) {
            if left == 0 || self.machine.is_lost(cpu) {
                continue;
            }
            left -= 1;
            match self.run(cpu, Waker::Helper(lead), state) {
                Ok(true) => return Ok(Some(cpu)),
                Ok(false) => verdict = Ok(None),
                Err(why @ Skip::SgiDidNotWake { .. }) => return Err(why),
                Err(why) if verdict.is_err() => verdict = Err(why),
                Err(_) => {}
            }
        }
        verdict
    }

    /// Tries the lead with one CPU after another as its helper, while helpers are lost.
    /// Returns the helper, if the lead was woken; an error comes with the helper, too.
    fn of_lead(
        &mut self,
        state: Chosen,
        waker: fn(usize) -> Waker,
    ) -> Result<Option<usize>, (Skip, usize)> {
        let lead = self.machine.facts().lead;
        let mut last = (Skip::NoHelper, lead);
        while let Some(helper) = helper_of(self.machine, self.cpus, lead) {
            match self.run(lead, waker(helper), state) {
                Ok(is_woken) => return Ok(Some(helper).filter(|_| is_woken)),
                Err(why) => last = (why, helper),
            }
            if !self.machine.is_lost(helper) {
                break;
            }
        }
        Err(last)
    }

    /// Returns true if `waker` wakes the CPU from this state; false if the firmware
    /// refuses it, so that no CPU enters it.
    fn run(&mut self, cpu: usize, waker: Waker, state: Chosen) -> Result<bool, Skip> {
        let facts = self.machine.facts();
        let mut round = Round {
            sleep: facts.ticks(SLEEP_US),
            quiet: facts.ticks(QUIET_US),
            waker,
            ..Round::new(Who::Only(cpu), state.action(), facts.ticks(200))
        };
        let mpidr = self.cpus[cpu].mpidr.unwrap_or_default();
        let power_state = state.power_state;
        let mut slept = 0;
        for _ in 0..TRIES {
            if waker.helper().is_some_and(|it| self.machine.is_lost(it)) {
                break;
            }
            self.machine.run(&round, &mut self.outcomes);
            slept = round.sleep;
            let outcome = self.outcomes[cpu];
            let is_asleep = match outcome.end {
                // Of a frame's trial: the helper's SGI woke the lead.
                End::NotRung => waker.is_frame(),
                end => end == End::Lost(ASLEEP),
            };
            match outcome.end {
                _ if is_asleep => return Err(Skip::SgiDidNotWake { mpidr, power_state }),
                End::Lost(_) => break,
                End::Resumed | End::Returned if outcome.code < 0 => return Ok(false),
                End::Resumed | End::Returned if outcome.after >= outcome.due => return Ok(true),
                // It was not asleep when the SGI was sent.
                _ => round.sleep *= 2,
            }
        }
        let early = Rejection::plain(Reason::EarlyWake);
        self.wrong = Some(Failure::NotCalibrated {
            sleep: slept,
            last: self.outcomes[cpu].judge(false).err().unwrap_or(early),
            cpu: cpu as u16,
        });
        Err(Skip::NotTried { mpidr, power_state })
    }
}
