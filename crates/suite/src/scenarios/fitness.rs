//! The `fitness` scenario, which shows which PSCI functions work. It looks up each function in the
//! firmware's list, calls it if that is harmless, and observes the effect. It measures nothing.
//!
//! A check can cause a CPU to be lost, so `list.rs` orders the checks from harmless to dangerous.
//! Functions that turn off or reset the system are called only if requested, with arguments that
//! correct firmware rejects.

mod after_denial;
mod all_at_once;
mod checks;
mod child_stays_on;
mod entry_state;
mod features_agree;
mod group;
mod last_down;
mod level_off;
mod list;
mod listings;
mod migrate;
mod modes;
mod power;
mod requests;
mod sibling_in_standby;
mod sibling_runs;
mod states;
mod suspended_is_on;
mod two_callers;
mod wrong_arguments;

use alloc::vec::Vec;
use core::fmt;

use crate::bench::Request;
use crate::bench::memory::checks_bytes;
use crate::measure::Outcome;
use crate::model::{CheckEnd, Function, Scenario};
use crate::plan::{CheckedCalls, Group, Key, NotCounted, RunSize, Work};

use self::checks::Fitness;
use self::list::GROUPS;
pub use self::list::rules;

use super::descriptor::Descriptor;

pub(super) const FITNESS: Descriptor = Descriptor {
    tag: "fitness",
    name: "Which PSCI functions work",
    group: Group::None,
    is_in_all: false,
    arguments: &[&[Key::Fitness, Key::Seed]],
    columns: &[],
    variants: &[],
    not_counted: NotCounted::Nothing,
    // Each CPU may fail in its own way.
    cells: |size| 130 + size.cpus * (24 + 14 * size.idle_states),
    heap: |size, checks| checks_bytes(checks, size.cpus),
    work: |_, _| Work::default(),
    measure: check,
    ..Descriptor::SUITE
};

/// Checks all functions.
fn check(request: Request<'_>) -> Result<Vec<Scenario>, fmt::Error> {
    let Request {
        machine,
        setting,
        key,
        out,
    } = request;
    let cpus = setting.cpus.len();
    let states = setting.states.accepted.len() + setting.states.foreign.len();
    let mut fitness = Fitness {
        machine,
        out,
        setting,
        outcomes: alloc::vec![Outcome::default(); cpus],
        checks: Vec::with_capacity(key.id.cells(&RunSize {
            plan: setting.plan,
            cpus,
            idle_states: states,
        })),
    };
    let is_destructive = setting.plan.fitness == CheckedCalls::Destructive;
    for group in GROUPS {
        if is_destructive || !group.is_destructive {
            (group.check)(&mut fitness)?;
        }
    }
    let Fitness { mut checks, .. } = fitness;
    // A group may have called a function that was only looked up at first.
    let called: Vec<Function> = checks
        .iter()
        .filter(|check| check.is_made())
        .map(|check| check.function)
        .collect();
    checks.retain(|check| check.end != CheckEnd::NotCalled || !called.contains(&check.function));
    Ok(alloc::vec![Scenario::of_checks(key, checks)])
}
