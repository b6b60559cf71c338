//! The payload's rules.

use alloc::vec::Vec;

use super::failed_checks::find_failed_checks;
use super::kept_power::find_kept_power;
use super::last_man::find_last_men;
use super::left_out::find_left_out;
use super::lock_queue::find_lock_queue;
use super::lost::find_lost;
use super::not_counted::find_not_counted;
use super::overruns::find_overruns;
use super::reached::find_reached;
use super::resolution::find_resolution;
use super::secure_interrupt::find_secure_interrupt;
use super::subject::{Rule, Subject};
use super::waited::find_waited;
use super::wake_source::find_wake_source;
use crate::model::Finding;

/// The rules that need nothing but integers and one scenario, in output order.
pub const RULES: &[Rule] = &[
    find_wake_source,
    find_last_men,
    find_lock_queue,
    find_waited,
    find_resolution,
    find_reached,
    find_kept_power,
    find_not_counted,
    find_lost,
    find_secure_interrupt,
    find_overruns,
    find_failed_checks,
    find_left_out,
];

/// Returns the findings of all [`RULES`].
pub fn findings_of(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in RULES {
        findings.append(&mut rule(subject));
    }
    findings
}
