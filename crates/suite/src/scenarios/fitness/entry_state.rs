//! The state in which CPUs are entered after CPU_ON and after a power-down.

use core::fmt;

use super::checks::Fitness;
use super::group::Group;
use crate::bench::states::UsableState;
use crate::measure::{Action, ActionEnd, Participants, Roles, Round};
use crate::model::{Check, CheckEnd, Function, Rule};
use hardware::board::CpuIndex;

const LEVEL: &Rule = &Rule {
    key: "entry-level",
    title: "entry: exception level",
    statement: "A CPU is entered at the exception level of its caller.",
    section: Some("6.4"),
    ..Rule::NONE
};

const MASKED: &Rule = &Rule {
    key: "entry-masked",
    title: "entry: DAIF masked",
    statement: "A CPU is entered with D, A, I and F masked.",
    section: Some("6.4"),
    ..Rule::NONE
};

const UNCACHED: &Rule = &Rule {
    key: "entry-uncached",
    title: "entry: MMU, caches off",
    statement: "A CPU is entered with its MMU and data caches off.",
    section: Some("6.4"),
    ..Rule::NONE
};

const ENDIANNESS: &Rule = &Rule {
    key: "entry-endianness",
    title: "entry: endianness",
    statement: "A CPU is entered with the endianness of its caller.",
    section: Some("6.4"),
    ..Rule::NONE
};

const STACK: &Rule = &Rule {
    key: "entry-stack",
    title: "entry: SP_ELx",
    statement: "A CPU is entered with the stack pointer of its exception level selected.",
    section: Some("6.4"),
    ..Rule::NONE
};

const RESERVED: &Rule = &Rule {
    key: "entry-reserved",
    title: "entry: SCTLR's RES1 bits",
    statement: "The bits of SCTLR_ELx that are RES1 in Armv8.0 are set. Later versions of the \
                architecture define some of them.",
    section: Some("6.4"),
    ..Rule::NONE
};

/// The registers of each CPU at its entry points.
pub(super) const GROUP: Group = Group {
    rules: &[LEVEL, MASKED, UNCACHED, ENDIANNESS, STACK, RESERVED],
    check,
    ..Group::NONE
};

fn check(fitness: &mut Fitness<'_>) -> fmt::Result {
    fitness.announce(Function::CpuOn, None)?;
    for cpu in fitness.others() {
        if !fitness.machine.is_lost(cpu) {
            check_cpu_on(fitness, cpu);
        }
    }
    let states = fitness.setting.states;
    let mut powerdowns = states.accepted.iter().copied();
    let state = powerdowns.find(|state| state.powerdown && !state.timer_stops);
    let (Some(state), Some(_)) = (state, fitness.facts().gic) else {
        return Ok(());
    };
    fitness.announce(Function::CpuSuspend, Some(state.power_state))?;
    for cpu in fitness.others() {
        if !fitness.machine.is_lost(cpu) {
            check_wake_up(fitness, cpu, state);
        }
    }
    Ok(())
}

fn check_cpu_on(fitness: &mut Fitness<'_>, cpu: CpuIndex) {
    let round = fitness.plain_round(Participants::Only(cpu), Action::Version);
    let outcome = fitness.run_round(cpu, &round);
    if outcome.end == ActionEnd::Returned {
        add_entry(fitness, Function::CpuOn, cpu);
    }
}

fn check_wake_up(fitness: &mut Fitness<'_>, cpu: CpuIndex, state: UsableState) {
    let round = Round {
        notes_entry: true,
        ..fitness.request_round(Participants::Only(cpu), state, Roles::default())
    };
    let outcome = fitness.run_round(cpu, &round);
    if outcome.end == ActionEnd::Resumed {
        add_entry(fitness, Function::CpuSuspend, cpu);
    }
}

/// Adds a check of each register field.
fn add_entry(fitness: &mut Fitness<'_>, function: Function, cpu: CpuIndex) {
    let Some(state) = fitness.machine.entry_state(cpu) else {
        return;
    };
    let is_callers_level = state.exception_level() == fitness.facts().exception_level;
    let wrong = CheckEnd::WrongEntry(state);
    for (rule, is_right, otherwise) in [
        (LEVEL, is_callers_level, wrong),
        (MASKED, state.is_masked(), wrong),
        (UNCACHED, state.is_uncached(), wrong),
        (ENDIANNESS, state.is_little_endian(), wrong),
        // Software sets both before it relies on them.
        (STACK, state.uses_own_stack_pointer(), CheckEnd::Tolerated),
        (
            RESERVED,
            state.has_reserved_bits(fitness.facts().e2h),
            CheckEnd::Tolerated,
        ),
    ] {
        let end = if is_right { CheckEnd::Works } else { otherwise };
        fitness.add_check_for(cpu, Check::new(function, rule, end));
    }
}
