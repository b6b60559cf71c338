//! All findings of a scenario.

use alloc::vec::Vec;

use super::words::Detail;
use crate::model::{Finding, Run, Scenario};

/// A function that finds one kind of result in the figures of a scenario.
type Finder = fn(&Run, &Scenario, Detail) -> Vec<Finding>;

/// All finders, in the order of their sentences.
const FINDERS: &[Finder] = &[
    super::wake_source::find_wake_source,
    super::last_man::find_last_men,
    super::lock_queue::find_lock_queue,
    super::waited::find_waited,
    super::resolution::find_resolution,
    super::reached::find_reached,
    super::not_counted::find_not_counted,
    super::lost::find_lost,
    super::overruns::find_overruns,
];

/// Returns the findings that the figures of `scenario` support by themselves.
pub fn findings_of(run: &Run, scenario: &Scenario, detail: Detail) -> Vec<Finding> {
    let all = FINDERS.iter();
    all.flat_map(|find| find(run, scenario, detail)).collect()
}
