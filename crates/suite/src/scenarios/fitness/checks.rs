//! The state and the functions that all checks share.

use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::measure::{
    Action, ActionEnd, Cause, Facts, Loss, Machine, Outcome, Participants, Round, RoundPhase, Spans,
};
use crate::model::{Check, CheckEnd, CpuSet, Function, Rule, Skip};
use hardware::board::{CpuIndex, Mpidr};
use smccc::psci::SuspendMode;

use crate::bench::trials::last_other_before;
use crate::bench::{Setting, lead_in};

/// A call's return value: the low word of X0.
pub(super) type Answer = i32;

/// AFFINITY_INFO's value for OFF.
pub(super) const OFF: Answer = 1;

pub(super) const ARRIVES: &Rule = &Rule {
    key: "arrives",
    title: "CPU arrives",
    permitted: Some("SUCCESS"),
    statement: "The CPU starts at the entry point, with the context ID in X0.",
    ..Rule::NONE
};

pub(super) const IS_OFF: &Rule = &Rule {
    key: "is-off",
    title: "OFF",
    permitted: Some("OFF"),
    statement: "AFFINITY_INFO returns OFF for a CPU that is off.",
    ..Rule::NONE
};

pub(super) const GOES_OFF: &Rule = &Rule {
    key: "goes-off",
    title: "CPU turns off",
    statement: "The call does not return, and the CPU powers down.",
    ..Rule::NONE
};

/// The machine, and the checks made so far.
pub(super) struct Fitness<'m> {
    pub(super) machine: &'m mut dyn Machine,
    pub(super) out: &'m mut dyn Write,
    pub(super) setting: Setting<'m>,
    /// The outcomes of the last round, one for each CPU.
    pub(super) outcomes: Vec<Outcome>,
    pub(super) checks: Vec<Check>,
}

/// A call whose return value is checked.
#[derive(Clone, Copy)]
pub(super) struct CheckedCall {
    function: Function,
    rule: &'static Rule,
    /// The value that the check is about, such as a power level.
    value: Option<u32>,
    /// The CPU that the check is about.
    cpu: Option<CpuIndex>,
}

impl CheckedCall {
    /// Returns a call that concerns no particular CPU.
    pub(super) const fn new(function: Function, rule: &'static Rule) -> Self {
        Self {
            function,
            rule,
            value: None,
            cpu: None,
        }
    }

    /// Returns the call as a check of this CPU.
    pub(super) const fn for_cpu(self, cpu: CpuIndex) -> Self {
        Self {
            cpu: Some(cpu),
            ..self
        }
    }

    /// Returns the call as a check of this value.
    pub(super) const fn with_value(self, value: u32) -> Self {
        Self {
            value: Some(value),
            ..self
        }
    }
}

impl Fitness<'_> {
    pub(super) fn facts(&self) -> &Facts {
        self.machine.facts()
    }

    pub(super) fn lead(&self) -> CpuIndex {
        self.facts().lead
    }

    /// Returns the CPUs other than the lead, in board order, including lost ones.
    pub(super) fn others(&self) -> impl Iterator<Item = CpuIndex> + use<> {
        let lead = self.lead();
        CpuIndex::all(self.setting.cpus.len()).filter(move |cpu| *cpu != lead)
    }

    /// Returns the last CPU that is neither the lead nor lost.
    pub(super) fn last_other(&self) -> Option<CpuIndex> {
        last_other_before(self.machine, self.setting.cpus, None)
    }

    pub(super) fn mpidr(&self, cpu: CpuIndex) -> Mpidr {
        self.setting.cpus[cpu.index()]
            .mpidr
            .expect("a CPU on the board has an MPIDR")
    }

    /// Returns a round in which the participants do the same at the same instant, and then turn off.
    pub(super) fn plain_round(&self, participants: Participants, action: Action) -> Round {
        let lead_in = lead_in(self.facts(), participants, self.setting.cpus.len());
        Round::new(participants, action, Spans::new(lead_in))
    }

    /// Calls SET_SUSPEND_MODE on the lead, and returns the return value.
    pub(super) fn set_suspend_mode(&mut self, mode: SuspendMode) -> Answer {
        let set = self.machine.set_suspend_mode(mode);
        set.map_or_else(i64::from, |()| 0) as Answer
    }

    /// Runs one round, and returns the CPU's outcome.
    pub(super) fn run_round(&mut self, cpu: CpuIndex, round: &Round) -> Outcome {
        self.machine.run_round(round, &mut self.outcomes);
        self.outcomes[cpu.index()]
    }

    /// Prints the function that is about to be called, so that the output shows which function it
    /// was if the run ends during the call.
    pub(super) fn announce(&mut self, function: Function, power_state: Option<u32>) -> fmt::Result {
        match power_state {
            Some(power_state) => {
                writeln!(self.out, "  {} {power_state:#010x} ...", function.name())
            }
            None => writeln!(self.out, "  {} ...", function.name()),
        }
    }

    /// Prints the function that is about to be called on the lead, and its arguments.
    pub(super) fn announce_call(
        &mut self,
        function: Function,
        [first, second, third]: &[u64; 3],
    ) -> fmt::Result {
        let name = function.name();
        writeln!(self.out, "  {name} {first:#x} {second:#x} {third:#x} ...")
    }

    /// Calls a function on the lead.
    pub(super) fn call_firmware(&mut self, function: Function, arguments: [u64; 3]) -> Answer {
        self.machine.call_firmware(function.id(), arguments) as Answer
    }

    /// Returns whether the firmware lists the function, or None if no list covers it.
    pub(super) fn promised(&mut self, function: Function) -> Option<bool> {
        Some(self.listing(function)? >= 0)
    }

    /// Adds a check that is not tied to a particular CPU.
    pub(super) fn add_check(&mut self, check: Check) {
        let promised = check.promised.or_else(|| self.promised(check.function));
        self.checks.push(Check { promised, ..check });
    }

    /// Adds one CPU's result. CPUs with the same result share a check.
    pub(super) fn add_check_for(&mut self, cpu: CpuIndex, check: Check) {
        let promised = self.promised(check.function);
        let mut check = Check { promised, ..check };
        let mut known = self.checks.iter_mut();
        match known.find(|known_check| !known_check.cpus.is_empty() && known_check.is_alike(&check))
        {
            Some(known) => known.insert(cpu),
            None => {
                check.insert(cpu);
                self.checks.push(check);
            }
        }
    }

    /// Returns the CPUs that are lost.
    pub(super) fn lost(&self) -> CpuSet {
        let cpus = CpuIndex::all(self.setting.cpus.len());
        cpus.filter(|cpu| self.machine.is_lost(*cpu)).collect()
    }

    /// Adds a failed check for each CPU that has been lost since `before` in a call that only
    /// prepares or ends a round. `outcomes` are those of the round. Returns true if it
    /// added any, because the round then does not test the call.
    pub(super) fn add_failed_calls(&mut self, before: &CpuSet, outcomes: &[Outcome]) -> bool {
        let lost = self.lost();
        let mut has_failed = false;
        for cpu in lost.iter().filter(|cpu| !before.contains(*cpu)) {
            let outcome = &outcomes[cpu.index()];
            if let ActionEnd::Lost(loss) = outcome.end
                && let Some((function, rule)) = failed_call(loss)
            {
                let check = Check {
                    answer: returned(loss),
                    ..Check::new(function, rule, CheckEnd::no_effect(outcome))
                };
                self.add_check_for(cpu, check);
                has_failed = true;
            }
        }
        has_failed
    }

    /// Adds a check that a call returned one of the `permitted` values.
    pub(super) fn add_answer(&mut self, call: CheckedCall, answer: Answer, permitted: &[Answer]) {
        let check = Check {
            value: call.value,
            answer: Some(answer),
            ..Check::new(
                call.function,
                call.rule,
                end_of(permitted.contains(&answer)),
            )
        };
        match call.cpu {
            Some(cpu) => self.add_check_for(cpu, check),
            None => self.add_check(check),
        }
    }

    /// Adds a check that is not performed.
    pub(super) fn not_tried(
        &mut self,
        function: Function,
        rule: &'static Rule,
        power_state: Option<u32>,
        why: Skip,
    ) {
        let why = self.setting.states.explain(why);
        self.add_check(Check {
            value: power_state,
            ..Check::new(function, rule, CheckEnd::NotTried(why))
        });
    }
}

/// Returns the function that failed, and how, if a CPU was lost before or after the call under
/// test.
pub(super) const fn failed_call(loss: Loss) -> Option<(Function, &'static Rule)> {
    match (loss.phase, loss.cause) {
        (RoundPhase::TurnOn | RoundPhase::Arrive | RoundPhase::Begin, _) => {
            Some((Function::CpuOn, ARRIVES))
        }
        (RoundPhase::Finish, _) => None,
        // It was AFFINITY_INFO, not CPU_OFF, that returned a wrong value.
        (RoundPhase::TurnOff, Cause::Firmware(_) | Cause::OffTooEarly) => {
            Some((Function::AffinityInfo, IS_OFF))
        }
        (RoundPhase::TurnOff, _) => Some((Function::CpuOff, GOES_OFF)),
    }
}

/// Returns the return value of the call that caused the loss, if that call returned.
pub(super) fn returned(loss: Loss) -> Option<Answer> {
    match loss.cause {
        Cause::Firmware(code) | Cause::CpuOff(code) => Some(code.0),
        Cause::Timeout if loss.phase == RoundPhase::Arrive => Some(0),
        Cause::Timeout | Cause::Exception | Cause::Context | Cause::OffTooEarly => None,
    }
}

/// Returns the result of a check of a call's return value.
pub(super) fn end_of(is_permitted: bool) -> CheckEnd {
    if is_permitted {
        CheckEnd::Works
    } else {
        CheckEnd::WrongAnswer
    }
}
