//! CPU_OFF and CPU_ON for all CPUs at the same time, so that whole clusters go down and come up.

use core::fmt;

use super::checks::{Fitness, returned};
use super::group::Group;
use crate::measure::{Action, ActionEnd, Outcome, Participants, RoundPhase};
use crate::model::{Check, CheckEnd, Function, Rule};
use hardware::board::CpuIndex;

/// How many times all CPUs turn off and on.
const TRIES: u32 = 3;

const ON_AT_ONCE: &Rule = &Rule {
    key: "on-at-once",
    title: "all CPUs at once",
    permitted: Some("SUCCESS"),
    statement: "CPUs that are turned on one right after another all start.",
    section: Some("5.6"),
    ..Rule::NONE
};

const OFF_AT_ONCE: &Rule = &Rule {
    key: "off-at-once",
    title: "all CPUs at once",
    statement: "CPUs that call CPU_OFF at the same time all turn off.",
    section: Some("5.5"),
    ..Rule::NONE
};

/// Rounds in which all CPUs except the lead are turned on, and then turn off at the same instant.
pub(super) const GROUP: Group = Group {
    rules: &[ON_AT_ONCE, OFF_AT_ONCE],
    check,
    ..Group::NONE
};

fn check(fitness: &mut Fitness<'_>) -> fmt::Result {
    if fitness.facts().no_cpu_off.is_some() || fitness.last_other().is_none() {
        return Ok(());
    }
    fitness.announce(Function::CpuOff, None)?;
    let round = fitness.plain_round(Participants::All, Action::Off);
    let before = fitness.lost();
    for _ in 0..TRIES {
        fitness.run_round(fitness.lead(), &round);
        for cpu in fitness.others().filter(|cpu| !before.contains(*cpu)) {
            let outcome = fitness.outcomes[cpu.index()];
            add_losses(fitness, cpu, &outcome);
        }
    }
    let lost = fitness.lost();
    for cpu in fitness.others().filter(|cpu| !lost.contains(*cpu)) {
        let works = CheckEnd::Works;
        fitness.add_check_for(cpu, Check::new(Function::CpuOn, ON_AT_ONCE, works));
        fitness.add_check_for(cpu, Check::new(Function::CpuOff, OFF_AT_ONCE, works));
    }
    Ok(())
}

/// Adds a failed check if the CPU was lost in the round.
fn add_losses(fitness: &mut Fitness<'_>, cpu: CpuIndex, outcome: &Outcome) {
    let ActionEnd::Lost(loss) = outcome.end else {
        return;
    };
    let (function, rule) = match loss.phase {
        RoundPhase::TurnOff => (Function::CpuOff, OFF_AT_ONCE),
        _ => (Function::CpuOn, ON_AT_ONCE),
    };
    let check = Check {
        answer: returned(loss),
        ..Check::new(function, rule, CheckEnd::no_effect(outcome))
    };
    fitness.add_check_for(cpu, check);
}
