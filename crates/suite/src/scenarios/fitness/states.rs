//! Suspends each CPU to each declared state, wakes it in every possible way, and checks the
//! statistics. Undeclared states are not tried, because some firmware panics on them.

use core::fmt;

use crate::measure::{ActionDetails, Outcome, Reason, Rejection, Suspended, Waker};
use crate::model::{Check, CheckEnd, Function, Rule, Skip};
use hardware::board::CpuIndex;
use hardware::spec::stat::Mismatch;

use super::checks::Fitness;
use super::group::Group;
use crate::bench::reached::reached_in;
use crate::bench::states::UsableState;
use crate::bench::trials::{TrialVerdict, Trials, helper_of};

/// The highest power level (DEN0022F, section 5.4.2).
const LEVEL_MAX: u8 = 3;
/// The number of CPUs that may be lost in one state. Once this limit is reached, no other CPU
/// enters the state.
const LOSSES: usize = 2;

const OWN_TIMER: &Rule = &Rule {
    key: "own-timer",
    title: "woken by its timer",
    permitted: Some("SUCCESS"),
    statement: "The interrupt of the CPU's timer, which is pending and enabled, wakes the CPU.",
    is_of_state: true,
    ..Rule::NONE
};

const SGI: &Rule = &Rule {
    key: "sgi",
    title: "woken by an SGI",
    permitted: Some("SUCCESS"),
    statement: "An SGI to the CPU wakes it.",
    is_of_state: true,
    ..Rule::NONE
};

const FRAME: &Rule = &Rule {
    key: "frame",
    title: "woken by timer frame",
    permitted: Some("SUCCESS"),
    statement: "The interrupt of the memory-mapped timer wakes the CPU that it targets.",
    is_of_state: true,
    ..Rule::NONE
};

const RISES: &Rule = &Rule {
    key: "rises",
    title: "rises after",
    statement: "A suspend to the state increases its count by one, and its residency by the time spent in it.",
    is_of_state: true,
    ..Rule::NONE
};

const TIMER_KEPT: &Rule = &Rule {
    key: "timer-kept",
    title: "keeps timer",
    statement: "Standby retains the CPU's context, including the settings of its timer.",
    is_of_state: true,
    ..Rule::NONE
};

const INTERRUPTS_KEPT: &Rule = &Rule {
    key: "interrupts-kept",
    title: "keeps SGIs and PPIs",
    statement: "Standby retains the CPU's context, including the settings of its SGIs and PPIs.",
    is_of_state: true,
    ..Rule::NONE
};

const VECTORS_KEPT: &Rule = &Rule {
    key: "vectors-kept",
    title: "keeps VBAR",
    statement: "Standby retains the CPU's context, including VBAR_ELx.",
    is_of_state: true,
    ..Rule::NONE
};

/// CPU_SUSPEND to each declared state.
pub(super) const STATES: Group = Group {
    rules: &[
        OWN_TIMER,
        SGI,
        FRAME,
        RISES,
        TIMER_KEPT,
        INTERRUPTS_KEPT,
        VECTORS_KEPT,
    ],
    check: check_states,
    ..Group::NONE
};

fn check_states(fitness: &mut Fitness<'_>) -> fmt::Result {
    let states = fitness.setting.states;
    let function = Function::CpuSuspend;
    if fitness.facts().gic.is_none() {
        fitness.not_tried(function, OWN_TIMER, None, Skip::NoGic);
        return Ok(());
    }
    if states.accepted.is_empty() {
        fitness.not_tried(function, OWN_TIMER, None, Skip::NoIdleState);
    }
    for state in &states.foreign {
        let why = Skip::OtherFormat(states.format);
        fitness.not_tried(function, OWN_TIMER, Some(*state), why);
    }
    // Check the shallowest states first.
    for level in 0..=LEVEL_MAX {
        let is_of_level = |state: &&UsableState| state.level.unwrap_or(0) == level;
        for state in states.accepted.iter().filter(is_of_level) {
            fitness.announce(function, Some(state.power_state))?;
            check_state(fitness, *state);
        }
    }
    Ok(())
}

/// Suspends each CPU to the state, with each interrupt that should wake it.
fn check_state(fitness: &mut Fitness<'_>, state: UsableState) {
    let lead = fitness.lead();
    let lost_before = fitness.count_lost();
    for cpu in fitness.others() {
        for (rule, waker) in [(OWN_TIMER, Waker::TimerTrial), (SGI, Waker::Helper(lead))] {
            // In a state that stops the CPU's own timer, the timer is not expected to wake the CPU.
            let is_meant = rule != OWN_TIMER || !state.timer_stops;
            let may_try = fitness.count_lost() - lost_before < LOSSES;
            if is_meant && may_try && !fitness.machine.is_lost(cpu) {
                check_waker(fitness, cpu, state, (rule, waker));
            }
        }
    }
    // After a loss, there may be no way to wake the lead.
    if fitness.count_lost() > lost_before {
        return;
    }
    let setting = fitness.setting;
    let helper = helper_of(fitness.machine, setting.cpus, setting.plan, lead);
    match helper {
        Some(helper) => {
            check_waker(fitness, lead, state, (SGI, Waker::Helper(helper)));
            if fitness.facts().frame.is_ok() {
                check_waker(fitness, lead, state, (FRAME, Waker::FrameTrial(helper)));
            }
        }
        None => {
            let power_state = Some(state.power_state);
            let why = match fitness.setting.cpus.len() {
                1 => Skip::OneCpu,
                _ => Skip::NoNeighbor,
            };
            fitness.not_tried(Function::CpuSuspend, SGI, power_state, why);
        }
    }
    // If all other CPUs are lost, no CPU is known to return from this state. If the lead did not
    // return, the results would be lost.
    let may_suspend = helper.is_some() || fitness.setting.cpus.len() == 1;
    if state.timer_stops || !fitness.timers_wake(state) {
        return;
    }
    if may_suspend {
        check_waker(fitness, lead, state, (OWN_TIMER, Waker::OwnTimers));
    } else {
        let power_state = Some(state.power_state);
        fitness.not_tried(
            Function::CpuSuspend,
            OWN_TIMER,
            power_state,
            Skip::NoNeighbor,
        );
    }
}

impl Fitness<'_> {
    /// Returns the number of CPUs that are lost.
    fn count_lost(&self) -> usize {
        self.machine.count_lost(self.setting.cpus.len())
    }

    /// Returns true unless a CPU's own timer has failed to wake it from this state.
    fn timers_wake(&self, state: UsableState) -> bool {
        let mut trials = self.checks_of(OWN_TIMER, state);
        !trials.any(Check::has_failed)
    }

    /// Returns true if the CPU has this check for this state.
    fn is_checked(&self, cpu: CpuIndex, rule: &'static Rule, state: UsableState) -> bool {
        let mut checks = self.checks_of(rule, state);
        checks.any(|check| check.cpus.contains(cpu))
    }

    /// Returns the checks of this kind that were made for this state.
    fn checks_of(&self, rule: &'static Rule, state: UsableState) -> impl Iterator<Item = &Check> {
        let value = Some(state.power_state);
        let checks = self.checks.iter();
        checks.filter(move |check| check.rule == rule && check.value == value)
    }

    /// Returns the result of a suspend from which the CPU was not woken as expected.
    fn no_wake_up(&self, cpu: CpuIndex, state: UsableState, outcome: &Outcome) -> CheckEnd {
        match CheckEnd::no_effect(outcome) {
            // The CPU came back, so the trial failed because of an early wake-up.
            CheckEnd::NoEffect(Rejection {
                reason: Reason::Lost,
                ..
            }) if !self.machine.is_lost(cpu) => {
                CheckEnd::NoEffect(Rejection::plain(Reason::EarlyWake))
            }
            // The interrupt has woken the CPU.
            CheckEnd::NoEffect(Rejection {
                reason: Reason::LateReturn,
                ..
            }) => CheckEnd::Works,
            // The call was not made.
            CheckEnd::NoEffect(Rejection {
                reason: Reason::Pending,
                ..
            }) => CheckEnd::NotTried(Skip::NotTried {
                mpidr: self.mpidr(cpu),
                power_state: state.power_state,
            }),
            end => end,
        }
    }
}

/// Suspends one CPU and wakes it with one interrupt source.
fn check_waker(
    fitness: &mut Fitness<'_>,
    cpu: CpuIndex,
    state: UsableState,
    (rule, waker): (&'static Rule, Waker),
) {
    let has_statistics = fitness.facts().stat;
    let lost_before = fitness.lost();
    let setting = fitness.setting;
    let mut trials = Trials::new(fitness.machine, setting.cpus, setting.plan);
    trials.reads_statistics = has_statistics;
    trials.checks_context = true;
    let verdict = trials.try_waker(cpu, waker, state);
    let outcome = *trials.outcome(cpu);
    let outcomes = trials.into_outcomes();
    if fitness.add_failed_calls(&lost_before, &outcomes) {
        let (mpidr, power_state) = (fitness.mpidr(cpu), state.power_state);
        let why = CheckEnd::NotTried(Skip::NotTried { mpidr, power_state });
        let check = Check {
            value: Some(power_state),
            ..Check::new(Function::CpuSuspend, rule, why)
        };
        fitness.add_check_for(cpu, check);
        return;
    }
    let end = match verdict {
        TrialVerdict::Woken => CheckEnd::Works,
        TrialVerdict::Refused => CheckEnd::WrongAnswer,
        TrialVerdict::WokenInstead => CheckEnd::NoEffect(Rejection::plain(Reason::WokenByFallback)),
        TrialVerdict::Asleep | TrialVerdict::Lost | TrialVerdict::Unclear => {
            fitness.no_wake_up(cpu, state, &outcome)
        }
    };
    let check = Check {
        value: Some(state.power_state),
        answer: if end == CheckEnd::WrongAnswer {
            outcome.code
        } else {
            None
        },
        ..Check::new(Function::CpuSuspend, rule, end)
    };
    fitness.add_check_for(cpu, check);
    if end == CheckEnd::Works {
        add_context(fitness, cpu, state, &outcome);
    }
    // A lost CPU may still be on. In that case, the statistics rightly omit the levels that it
    // keeps powered.
    if end == CheckEnd::Works && has_statistics && fitness.count_lost() == 0 {
        add_statistics(fitness, cpu, state, (&outcome, waker));
    }
}

/// Checks that the suspend has kept the CPU's context, once for each CPU and state. A power-down
/// may lose all of it (DEN0022F, section 5.4).
fn add_context(fitness: &mut Fitness<'_>, cpu: CpuIndex, state: UsableState, outcome: &Outcome) {
    let ActionDetails::Suspend(Suspended {
        kept: Some(kept), ..
    }) = outcome.details
    else {
        return;
    };
    let if_lost = if state.powerdown {
        CheckEnd::Tolerated
    } else {
        CheckEnd::ContextLost
    };
    let vectors_kept = if state.powerdown { None } else { kept.vectors };
    for (rule, is_kept) in [
        (TIMER_KEPT, Some(kept.timer)),
        (INTERRUPTS_KEPT, Some(kept.private_interrupts)),
        (VECTORS_KEPT, vectors_kept),
    ] {
        let Some(is_kept) = is_kept else { continue };
        if fitness.is_checked(cpu, rule, state) {
            continue;
        }
        let check = Check {
            value: Some(state.power_state),
            ..Check::new(
                Function::CpuSuspend,
                rule,
                if is_kept { CheckEnd::Works } else { if_lost },
            )
        };
        fitness.add_check_for(cpu, check);
    }
}

/// Checks that PSCI_STAT_COUNT and PSCI_STAT_RESIDENCY have increased as expected for the state
/// that the CPU must have reached.
fn add_statistics(
    fitness: &mut Fitness<'_>,
    cpu: CpuIndex,
    state: UsableState,
    (outcome, waker): (&Outcome, Waker),
) {
    let lead = fitness.lead();
    let awake = match waker.helper() {
        Some(helper) => Some(helper),
        None => Some(lead).filter(|lead| *lead != cpu),
    };
    let cluster = |cpu: CpuIndex| fitness.setting.cpus[cpu.index()].cluster;
    let limit = if fitness.facts().no_cpu_off.is_some() {
        // CPUs that are never turned off keep all higher levels powered.
        Some(0)
    } else {
        // A CPU that is on keeps its cluster powered. The cluster is assumed to be level 1.
        awake.map(|awake| u8::from(cluster(awake) != cluster(cpu)))
    };
    let clock = fitness.facts().clock();
    let Some(reached) = reached_in(outcome, &state.ladder, limit, clock) else {
        return;
    };
    let end_unless = |wrong_mismatches: &[Mismatch]| match reached.mismatch() {
        Some(mismatch) if wrong_mismatches.contains(&mismatch) => CheckEnd::WrongStatistics,
        _ => CheckEnd::Works,
    };
    let count = end_unless(&[Mismatch::State, Mismatch::Count]);
    let residency = end_unless(&[Mismatch::Residency]);
    for (function, end) in [
        (Function::StatCount, count),
        (Function::StatResidency, residency),
    ] {
        let check = Check {
            value: Some(state.power_state),
            ..Check::new(function, RISES, end)
        };
        fitness.add_check_for(cpu, check);
    }
}
