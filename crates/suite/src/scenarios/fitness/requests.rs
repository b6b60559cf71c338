//! CPU_SUSPEND requests that the firmware should reject or accept, and the CPUs that make them.

use core::{fmt, mem};

use super::checks::{Answer, Fitness};
use super::listings::PLATFORM;
use crate::bench::lead_in;
use crate::bench::states::{States, UsableState};
use crate::measure::{
    Action, ActionEnd, AfterRound, LoneCall, Outcome, Part, Participants, Roles, Round, Spans,
    WakeUp, Waker,
};
use crate::model::{Check, CheckEnd, CpuSet, Function, Rule, Skip};
use hardware::board::CpuIndex;
use smccc::error::SUCCESS;
use smccc::psci::SuspendMode;
use smccc::psci::error::{DENIED, INVALID_PARAMETERS};

/// How long a CPU sleeps whose request is accepted, in microseconds. It is longer than any
/// power-down takes.
const SLEEP_US: u64 = 10_000;
/// The time allowed for the wake-up, in microseconds.
const QUIET_US: u64 = 200;
/// The time from the lead's SGI until a CPU that has not returned counts as lost, in microseconds.
const PATIENCE_US: u64 = 450_000;

/// The answers to a request that pass a check.
#[derive(Clone, Copy)]
pub(super) struct Permitted<'p> {
    /// The answers that the rule requires.
    pub(super) required: &'p [Answer],
    /// Answers that the specification also permits.
    pub(super) tolerated: &'p [Answer],
}

impl Permitted<'_> {
    /// The answers to a request for a level at which another CPU is running.
    pub(super) const WHILE_RUNNING: Self = Self {
        required: &[DENIED],
        tolerated: &[INVALID_PARAMETERS],
    };
}

impl Fitness<'_> {
    /// Performs checks in OS-initiated mode, if the firmware supports it. The other CPUs are off
    /// when the mode changes.
    pub(super) fn in_os_initiated_mode(
        &mut self,
        checks: impl FnOnce(&mut Self) -> fmt::Result,
    ) -> fmt::Result {
        let facts = self.facts();
        let may_change = facts.os_initiated && facts.no_cpu_off.is_none() && facts.gic.is_some();
        let lost = self.lost();
        // If the mode cannot be entered, another check fails. A lost CPU may be on.
        if !may_change
            || !lost.is_empty()
            || self.set_suspend_mode(SuspendMode::OsInitiated) != SUCCESS
        {
            return Ok(());
        }
        checks(self)?;
        let answer = self.set_suspend_mode(SuspendMode::PlatformCoordinated);
        if answer != SUCCESS && self.lost().is_empty() {
            self.add_check(Check {
                answer: Some(answer),
                ..Check::new(Function::SetSuspendMode, PLATFORM, CheckEnd::WrongAnswer)
            });
        }
        Ok(())
    }

    fn cluster(&self, cpu: CpuIndex) -> u16 {
        self.setting.cpus[cpu.index()].cluster
    }

    /// Returns the last CPU in the lead's cluster that is neither the lead nor lost.
    pub(super) fn sibling_of_lead(&self) -> Option<CpuIndex> {
        let cluster = self.cluster(self.lead());
        let is_candidate =
            |cpu: &CpuIndex| self.cluster(*cpu) == cluster && !self.machine.is_lost(*cpu);
        self.others().filter(is_candidate).last()
    }

    /// Returns the last CPU outside the lead's cluster that is not lost.
    pub(super) fn cpu_elsewhere(&self) -> Option<CpuIndex> {
        let cluster = self.cluster(self.lead());
        let is_candidate =
            |cpu: &CpuIndex| self.cluster(*cpu) != cluster && !self.machine.is_lost(*cpu);
        self.others().filter(is_candidate).last()
    }

    /// Returns two CPUs in one cluster that is not the lead's.
    pub(super) fn siblings_elsewhere(&self) -> Option<[CpuIndex; 2]> {
        let last = self.cpu_elsewhere()?;
        let is_sibling = |cpu: &CpuIndex| {
            *cpu != last && self.cluster(*cpu) == self.cluster(last) && !self.machine.is_lost(*cpu)
        };
        Some([self.others().find(is_sibling)?, last])
    }

    /// Returns a round in which the participants suspend to a state, except those with a role of
    /// their own. The CPUs' own timers wake them.
    pub(super) fn request_round(
        &self,
        participants: Participants,
        state: UsableState,
        roles: Roles,
    ) -> Round {
        let facts = self.facts();
        let shortest = self.setting.plan.shortest_sleep_us();
        let spans = Spans {
            lead_in: lead_in(facts, participants, self.setting.cpus.len()),
            sleep: facts.ticks(SLEEP_US.max(shortest)),
            quiet: facts.ticks(QUIET_US),
            patience: Some(facts.ticks(PATIENCE_US)),
        };
        // If the lead does not suspend, it wakes CPUs whose timers do not.
        let waker = if participants.includes(self.lead(), self.lead()) {
            Waker::OwnTimers
        } else {
            Waker::TimerTrial
        };
        Round {
            roles,
            wake_up: WakeUp {
                waker,
                ..WakeUp::default()
            },
            ..Round::new(participants, state.action(), spans)
        }
    }

    /// Returns a round in which one CPU suspends at the start, and then another CPU does.
    pub(super) fn pair_round(
        &self,
        (first, first_state): (CpuIndex, UsableState),
        (second, state): (CpuIndex, UsableState),
    ) -> Round {
        let first_part = Part {
            action: first_state.action(),
            call: 0,
        };
        let roles = Roles::new([
            (first, first_part),
            (second, self.late_part(state.action())),
        ]);
        self.request_round(Participants::Pair(first, second), state, roles)
    }

    /// Makes a call on the lead while a CPU is suspended to a state. Returns the return value, and
    /// the outcome of the suspend; None if the round does not test the call.
    pub(super) fn call_beside_suspend(
        &mut self,
        call: LoneCall,
        (cpu, state): (CpuIndex, UsableState),
    ) -> Option<(Answer, Outcome)> {
        let lead = self.lead();
        let roles = Roles::single(lead, self.late_part(Action::Call(call)));
        let round = self.request_round(Participants::Pair(lead, cpu), state, roles);
        let is_tested = self.run_requests(&round);
        let [caller, sleeper] = [lead, cpu].map(|cpu| self.outcomes[cpu.index()]);
        let has_returned = is_tested && sleeper.end.has_returned();
        Some((caller.code.filter(|_| has_returned)?, sleeper))
    }

    /// Returns the part of a CPU that acts halfway through the sleep of the others.
    fn late_part(&self, action: Action) -> Part {
        Part {
            action,
            call: self.facts().ticks(SLEEP_US) / 2,
        }
    }

    /// Runs a round of requests, and adds the answer to the CPU's request.
    pub(super) fn check_request(
        &mut self,
        rule: &'static Rule,
        (cpu, state): (CpuIndex, UsableState),
        round: &Round,
        permitted: Permitted<'_>,
    ) -> fmt::Result {
        self.announce(Function::CpuSuspend, Some(state.power_state))?;
        if self.run_requests(round) {
            self.add_request(rule, (cpu, state), permitted);
        }
        Ok(())
    }

    /// Runs a round of requests, and returns true if it tests them. CPUs that are lost before their
    /// requests, or after their wake-ups, are failures of other functions.
    pub(super) fn run_requests(&mut self, round: &Round) -> bool {
        let lost = self.lost();
        self.machine.run_round(round, &mut self.outcomes);
        !self.add_losses_since(&lost)
    }

    /// Adds the CPUs that the last round lost before or after its requests to the failures of other
    /// functions, and returns true if there are any. `lost` are those that were lost before.
    pub(super) fn add_losses_since(&mut self, lost: &CpuSet) -> bool {
        let outcomes = mem::take(&mut self.outcomes);
        let has_failed = self.add_failed_calls(lost, &outcomes);
        self.outcomes = outcomes;
        has_failed
    }

    /// Calls the firmware while another CPU is on, unless that CPU is lost first.
    pub(super) fn while_on(
        &mut self,
        cpu: CpuIndex,
        call: impl FnOnce(&mut Self) -> fmt::Result,
    ) -> fmt::Result {
        let goes_off = self.plain_round(Participants::Only(cpu), Action::Version);
        let stays_on = Round {
            afterwards: AfterRound::Stay,
            ..goes_off
        };
        if !self.run_requests(&stays_on) {
            return Ok(());
        }
        call(self)?;
        self.run_requests(&goes_off);
        Ok(())
    }

    /// Adds the answer to a CPU's request in the last round.
    pub(super) fn add_request(
        &mut self,
        rule: &'static Rule,
        (cpu, state): (CpuIndex, UsableState),
        permitted: Permitted<'_>,
    ) {
        let (end, answer) = judge_request(&self.outcomes[cpu.index()], permitted);
        let check = Check {
            value: Some(state.power_state),
            answer,
            ..Check::new(Function::CpuSuspend, rule, end)
        };
        self.add_check_for(cpu, check);
    }

    /// Adds a check that the board lacks the CPUs for.
    pub(super) fn lacks_cpus(&mut self, function: Function, rule: &'static Rule) -> fmt::Result {
        self.not_tried(function, rule, None, Skip::NoNeighbor);
        Ok(())
    }
}

/// Returns the result of a request, and its return value if the call returned or resumed.
fn judge_request(outcome: &Outcome, permitted: Permitted<'_>) -> (CheckEnd, Option<Answer>) {
    let answer = match outcome.end {
        // A CPU that comes back through its entry point has no return value: it powered down.
        ActionEnd::Returned | ActionEnd::Resumed | ActionEnd::WokenByFallback => {
            outcome.code.unwrap_or(SUCCESS)
        }
        _ => return (CheckEnd::no_effect(outcome), None),
    };
    let end = if permitted.required.contains(&answer) {
        CheckEnd::Works
    } else if permitted.tolerated.contains(&answer) {
        CheckEnd::Tolerated
    } else {
        CheckEnd::WrongAnswer
    };
    (end, Some(answer))
}

/// Returns the declared power-down states above the core level, shallowest first.
pub(super) fn states_above_core(states: &States) -> impl Iterator<Item = UsableState> + '_ {
    let accepted = states.accepted.iter().copied();
    accepted.filter(|state| state.powerdown && state.level.is_some_and(|level| level > 0))
}
