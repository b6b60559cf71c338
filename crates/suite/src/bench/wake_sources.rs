//! The interrupts that wake the CPUs: their own timers or, in states that stop them, the timer
//! frame's interrupt or an SGI from an awake helper. No interrupt is used to end a power-down until
//! a trial has succeeded.

use alloc::vec::Vec;
use core::fmt;

use crate::measure::{Facts, Machine, Participants, Waker};
use crate::model::{Cpu, Failure, Skip, WakeSource};
use crate::plan::Plan;
use hardware::board::{CpuIndex, NoFrame, TimerFrame};

use super::states::{States, UsableState};
use super::trials::{LeadTrial, OwnTimer, Trials, helper_of, planned_helper};

/// The maximum number of times that a scenario is measured: once for each placement of the helper,
/// which has no cell in a multi-CPU round.
pub(crate) const PLACEMENTS: usize = 2;

/// Which CPU stays awake while a scenario is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// All CPUs are measured.
    NoHelper,
    /// This CPU wakes the others.
    Helper(CpuIndex),
}

impl Placement {
    /// Returns the CPU that wakes the others.
    pub(crate) const fn helper(self) -> Option<CpuIndex> {
        match self {
            Self::NoHelper => None,
            Self::Helper(cpu) => Some(cpu),
        }
    }
}

/// The wake-up sources, and the results of their trials. A state in `proven` shows that an SGI has
/// woken one CPU from that state, not that every CPU can be woken from it.
#[derive(Clone, Debug)]
pub struct WakeSources {
    /// True if there is a GIC; without one, no interrupt can wake a CPU.
    has_gic: bool,
    /// The timer frame if it woke the lead from every state, or the reason it is not used.
    pub(crate) frame: Result<TimerFrame, NoFrame>,
    /// The states from which an SGI has woken a CPU, shallowest first.
    pub(crate) proven: Vec<u32>,
    /// The states that the firmware rejects; no CPU enters them.
    refused: Vec<u32>,
    /// States that stop the CPUs' own timers even though the board file does not say so. Each is
    /// paired with the CPU whose own timer did not wake it.
    pub(crate) undeclared: Vec<(u32, CpuIndex)>,
    /// States that no CPU enters after a failed trial: the state that was tried and all deeper
    /// ones.
    barred: Vec<u32>,
    /// The CPU that was last woken by an SGI.
    pub(crate) woken: Option<CpuIndex>,
    /// The CPU whose SGI woke the lead.
    pub(crate) woke_lead: Option<CpuIndex>,
    /// The reason for skipping barred states and states from which no trial has woken a CPU.
    failed: Option<Skip>,
    /// The failure in the last trial of a CPU whose trials all failed.
    last_failure: Option<Failure>,
}

impl WakeSources {
    /// Returns the wake-up sources before any trials.
    pub(crate) fn untried(facts: &Facts) -> Self {
        Self {
            has_gic: facts.gic.is_some(),
            frame: facts.frame.and(Err(NoFrame::NotTried)),
            proven: Vec::new(),
            refused: Vec::new(),
            undeclared: Vec::new(),
            barred: Vec::new(),
            woken: None,
            woke_lead: None,
            failed: None,
            last_failure: None,
        }
    }

    /// Tries the states in `plan`, shallowest first, on a CPU that is not the lead. The lead stays
    /// awake and waits for a bounded time. After a trial in which a CPU was lost, no CPU enters
    /// that state or a deeper one. If the CPUs' own timers stop, the lead is tried last, with
    /// another CPU awake, except in a board's first run. Records in `states` which states stop
    /// timers. Calls `announce` before each state.
    ///
    /// # Errors
    /// Returns `announce`'s error.
    pub(crate) fn try_out(
        &mut self,
        machine: &mut dyn Machine,
        (cpus, plan): (&[Cpu], &Plan),
        states: &mut States,
        announce: &mut dyn FnMut(u32) -> fmt::Result,
    ) -> fmt::Result {
        let to_try = states.to_try(plan);
        if !self.has_gic || to_try.is_empty() {
            return Ok(());
        }
        self.proven.reserve_exact(to_try.len());
        self.refused.reserve_exact(to_try.len());
        self.undeclared.reserve_exact(to_try.len());
        self.barred.reserve_exact(to_try.len());
        let frame = machine.facts().frame;
        let mut trials = Trials::new(machine, cpus, plan);
        for (index, state) in to_try.iter().enumerate() {
            announce(state.power_state)?;
            let lost_before = trials.count_lost();
            let Err(why) = self.try_state(&mut trials, *state, states) else {
                continue;
            };
            if trials.count_lost() > lost_before {
                self.failed = Some(why);
                let barred = to_try[index..].iter().map(|state| state.power_state);
                self.barred.extend(barred);
                break;
            }
            self.failed.get_or_insert(why);
        }
        if plan.scenarios.is_first() {
            self.last_failure = trials.last_failure;
            return Ok(());
        }
        if !self.proven.is_empty() {
            self.frame = frame;
        }
        for state in to_try {
            let is_this = |proven_state: &u32| *proven_state == state.power_state;
            if let Some(index) = self.proven.iter().position(is_this)
                && let Err(why) = self.try_lead(&mut trials, state)
            {
                // This state and deeper ones are not used.
                self.proven.truncate(index);
                self.failed.get_or_insert(why);
            }
        }
        self.last_failure = trials.last_failure;
        Ok(())
    }

    /// Tries to wake a CPU that is not the lead, with its own timer and, if that timer stops, with
    /// an SGI.
    fn try_state(
        &mut self,
        trials: &mut Trials<'_>,
        state: UsableState,
        states: &mut States,
    ) -> Result<(), Skip> {
        if !state.timer_stops {
            match trials.try_own_timer(state)? {
                OwnTimer::Wakes => return Ok(()),
                OwnTimer::Stops(cpu) => {
                    self.undeclared.push((state.power_state, cpu));
                    states.note_timer_stops(state.power_state);
                }
            }
        }
        match trials.try_sgi(state)? {
            Some(cpu) => {
                self.woken = Some(cpu);
                self.proven.push(state.power_state);
            }
            None => self.refused.push(state.power_state),
        }
        Ok(())
    }

    /// Tries to wake the lead with the timer frame or, if a trial with the frame has failed, with a
    /// helper's SGI.
    fn try_lead(&mut self, trials: &mut Trials<'_>, state: UsableState) -> Result<(), Skip> {
        if self.frame.is_ok() {
            match trials.try_lead(state, Waker::FrameTrial) {
                LeadTrial::Woken(_) | LeadTrial::Refused => return Ok(()),
                // This also shows that the helper's SGI wakes the lead.
                LeadTrial::WokenInstead(helper) => {
                    self.frame = Err(NoFrame::DidNotWake);
                    self.woke_lead = Some(helper);
                    return Ok(());
                }
                LeadTrial::Failed(_) => self.frame = Err(NoFrame::NotTried),
            }
        }
        match trials.try_lead(state, Waker::Helper) {
            LeadTrial::Woken(helper) => {
                self.woke_lead = Some(helper);
                Ok(())
            }
            LeadTrial::Refused => Ok(()),
            LeadTrial::WokenInstead(_) => Err(trials.did_not_wake(trials.lead(), state)),
            LeadTrial::Failed(reason) => Err(reason),
        }
    }

    /// Returns the failure from the trials, if `skip` shows that all of them failed.
    pub(crate) fn fault(&self, skip: Skip) -> Option<Failure> {
        match skip {
            Skip::NotTried { .. } => self.last_failure,
            _ => None,
        }
    }

    /// Returns the wake-up source for states that stop the CPUs' own timers, or for states that
    /// do not.
    pub(crate) fn source(&self, timers_stop: bool) -> WakeSource {
        match self.frame {
            _ if !timers_stop => WakeSource::OwnTimers,
            Ok(_) => WakeSource::Frame,
            Err(_) => WakeSource::Helper,
        }
    }

    /// Returns the reason, if any, why no CPU can be suspended in this state: either there is no
    /// such state, or nothing wakes a CPU from it.
    pub(crate) fn skip(&self, state: Option<UsableState>) -> Option<Skip> {
        match state {
            _ if !self.has_gic => Some(Skip::NoGic),
            None => Some(Skip::NoIdleState),
            Some(state) if self.barred.contains(&state.power_state) => self.failed,
            Some(state) if !state.timer_stops => None,
            Some(state) if self.proven.contains(&state.power_state) => None,
            Some(state) if self.refused.contains(&state.power_state) => None,
            Some(_) => Some(self.failed.unwrap_or(Skip::NoHelper)),
        }
    }

    /// Returns the interrupt that wakes CPUs from a state that stops their timers; `helper` is the
    /// CPU that stays awake in multi-CPU rounds.
    pub(crate) fn waker(
        &self,
        machine: &dyn Machine,
        (cpus, plan): (&[Cpu], &Plan),
        participants: Participants,
        helper: Option<CpuIndex>,
    ) -> Waker {
        let lead = machine.facts().lead;
        match participants {
            Participants::Only(cpu) if cpu != lead => Waker::Helper(lead),
            _ if self.frame.is_ok() => Waker::Frame,
            Participants::Only(_) => {
                helper_of(machine, cpus, plan, lead).map_or(Waker::NoHelper, Waker::Helper)
            }
            Participants::All | Participants::Pair(..) | Participants::First(_) => {
                Waker::Helper(helper.unwrap_or(lead))
            }
        }
    }

    /// Returns the helpers for a parallel scenario, one for each time it is measured, so that every
    /// CPU gets a row, unless the plan names a helper.
    pub(crate) fn placements(
        &self,
        machine: &dyn Machine,
        (cpus, plan): (&[Cpu], &Plan),
        timers_stop: bool,
    ) -> [Option<Placement>; PLACEMENTS] {
        if self.source(timers_stop) != WakeSource::Helper {
            return [Some(Placement::NoHelper), None];
        }
        let lead = machine.facts().lead;
        let helpers = match planned_helper(machine, cpus, plan) {
            Some(planned) => [Some(planned), None],
            None => [Some(lead), helper_of(machine, cpus, plan, lead)],
        };
        helpers.map(|helper| helper.map(Placement::Helper))
    }
}
