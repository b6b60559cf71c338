//! The list of rules.

use super::group::Group;
use super::{
    after_denial, all_at_once, child_stays_on, entry_state, features_agree, last_down, listings,
    migrate, modes, power, sibling_in_standby, sibling_runs, states, suspended_is_on, two_callers,
    wrong_arguments,
};
use crate::model::Rule;
use crate::scenarios::stress::RANDOM_CALLS;

/// All checks, in the order in which they are performed: from harmless to dangerous, because a
/// check can cause a CPU to be lost.
pub(super) const GROUPS: &[Group] = &[
    listings::LISTINGS,
    features_agree::GROUP,
    migrate::GROUP,
    power::ON_AND_OFF,
    states::STATES,
    entry_state::GROUP,
    suspended_is_on::GROUP,
    modes::GROUP,
    sibling_runs::GROUP,
    sibling_in_standby::GROUP,
    after_denial::GROUP,
    child_stays_on::GROUP,
    last_down::GROUP,
    all_at_once::GROUP,
    two_callers::GROUP,
    power::PAUSES,
    wrong_arguments::WRONG_ARGUMENTS,
];

/// Returns all rules, in the order of the list, and that of the `stress` scenario.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let rules = GROUPS.iter().flat_map(|group| group.rules.iter().copied());
    rules.chain([RANDOM_CALLS])
}
