//! All findings of a scenario.

use alloc::vec::Vec;

use super::detail::Detail;
use crate::model::{Finding, Run, Scenario};

/// Returns what the figures of `scenario` show by themselves.
///
/// The last CPU down is known by the order of timestamps, never by the size of a
/// figure: a large cache flush would otherwise be its own explanation.
#[must_use]
pub fn findings_of(run: &Run, scenario: &Scenario, detail: Detail) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(super::wake_source::wake_source(run, scenario));
    found.extend(super::last_man::last_man(run, scenario, detail));
    found.extend(super::lock_queue::lock_queue(run, scenario, detail));
    found.extend(super::waited::waited(run, scenario, detail));
    found.extend(super::resolution::resolution(run, scenario, detail));
    found.extend(super::reached::reached(run, scenario));
    found.extend(super::counts::not_counted(run, scenario));
    found.extend(super::counts::lost(run, scenario));
    found.extend(super::overruns::overruns(run, scenario));
    found
}
