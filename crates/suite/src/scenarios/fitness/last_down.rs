//! In OS-initiated mode, the last CPU that goes down may request the levels above its core.

use core::fmt;

use super::checks::Fitness;
use super::group::Group;
use super::requests::states_above_core;
use crate::bench::states::UsableState;
use crate::bench::trials::helper_of;
use crate::measure::{OsInitiated, Outcome, Participants, Roles, Round, Spans, Waker};
use crate::model::{Check, CheckEnd, Function, Rule};
use hardware::board::CpuIndex;

/// How many times the CPUs go down before a rejection counts, with longer and longer pauses. A CPU
/// that is not down yet makes the firmware right to reject the next one's request.
const TRIES: u32 = 3;

const LAST_DOWN: &Rule = &Rule {
    key: "last-down",
    title: "by the last CPU down",
    permitted: Some("SUCCESS"),
    statement: "In OS-initiated mode, the last CPU at a level may request a power-down of that \
                level, once all other CPUs are down.",
    section: Some("4.2.3.2"),
    is_of_state: true,
};

/// Rounds in which all CPUs go down one after another.
pub(super) const GROUP: Group = Group {
    rules: &[LAST_DOWN],
    check,
    ..Group::NONE
};

fn check(fitness: &mut Fitness<'_>) -> fmt::Result {
    fitness.in_os_initiated_mode(|fitness| {
        for state in states_above_core(fitness.setting.states) {
            fitness.announce(Function::CpuSuspend, Some(state.power_state))?;
            check_state(fitness, state);
        }
        Ok(())
    })
}

fn check_state(fitness: &mut Fitness<'_>, state: UsableState) {
    let lead = fitness.lead();
    let helper = if state.timer_stops {
        let setting = fitness.setting;
        match helper_of(fitness.machine, setting.cpus, setting.plan, lead) {
            Some(helper) => Waker::Helper(helper),
            None => return,
        }
    } else {
        Waker::OwnTimers
    };
    let mut round = all_down(fitness, state, helper);
    let mut refused = None;
    for _ in 0..TRIES {
        if !fitness.run_requests(&round) {
            return;
        }
        refused = first_refusal(&fitness.outcomes);
        if refused.is_none() {
            break;
        }
        round = with_longer_pauses(&round);
    }
    let (end, answer) = match refused {
        Some((_, code)) => (CheckEnd::WrongAnswer, Some(code)),
        None => (CheckEnd::Works, None),
    };
    let check = Check {
        value: Some(state.power_state),
        answer,
        ..Check::new(Function::CpuSuspend, LAST_DOWN, end)
    };
    fitness.add_check_for(refused.map_or(lead, |(cpu, _)| cpu), check);
}

/// Returns a round in which each CPU goes down, the last CPU of a level with a request for it.
fn all_down(fitness: &Fitness<'_>, state: UsableState, waker: Waker) -> Round {
    let mut round = fitness.request_round(Participants::All, state, Roles::default());
    round.wake_up.waker = waker;
    round.osi = Some(OsInitiated {
        states: state.ladder,
        delay: round.spans.sleep,
    });
    round.spans.sleep *= 3;
    round
}

fn with_longer_pauses(round: &Round) -> Round {
    let osi = round.osi.map(|osi| OsInitiated {
        delay: 4 * osi.delay,
        ..osi
    });
    Round {
        osi,
        spans: Spans {
            sleep: 4 * round.spans.sleep,
            ..round.spans
        },
        ..*round
    }
}

/// Returns the first CPU whose request was rejected, and the return value.
fn first_refusal(outcomes: &[Outcome]) -> Option<(CpuIndex, i32)> {
    let mut all = CpuIndex::all(outcomes.len()).zip(outcomes);
    all.find_map(|(cpu, outcome)| Some((cpu, outcome.code.filter(|code| *code < 0)?)))
}
