//! The list of rules.

use super::group::Group;
use crate::model::Rule;
use crate::scenarios::stress::RANDOM_CALLS;

/// All checks, in the order in which they are performed: from harmless to dangerous, because a
/// check can cause a CPU to be lost.
pub(super) const GROUPS: &[Group] = &[
    super::listings::LISTINGS,
    super::features_agree::GROUP,
    super::migrate::GROUP,
    super::power::ON_AND_OFF,
    super::level_off::GROUP,
    super::states::STATES,
    super::entry_state::GROUP,
    super::suspended_is_on::GROUP,
    super::modes::GROUP,
    super::sibling_runs::GROUP,
    super::sibling_in_standby::GROUP,
    super::after_denial::GROUP,
    super::child_stays_on::GROUP,
    super::last_down::GROUP,
    super::all_at_once::GROUP,
    super::two_callers::GROUP,
    super::power::PAUSES,
    super::wrong_arguments::WRONG_ARGUMENTS,
];

/// Returns all rules, in the order of the list, and that of the `stress` scenario.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let rules = GROUPS.iter().flat_map(|group| group.rules.iter().copied());
    rules.chain([RANDOM_CALLS])
}
