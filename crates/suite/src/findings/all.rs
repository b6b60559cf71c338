//! All findings for a scenario.

use alloc::vec::Vec;

use super::failed_checks::find_failed_checks;
use super::last_man::find_last_men;
use super::left_out::find_left_out;
use super::lock_queue::find_lock_queue;
use super::lost::find_lost;
use super::not_counted::find_not_counted;
use super::overruns::find_overruns;
use super::reached::find_reached;
use super::resolution::find_resolution;
use super::waited::find_waited;
use super::wake_source::find_wake_source;
use super::words::Verbosity;
use crate::model::{Finding, Run, Scenario};

/// Returns the findings that depend only on the figures in `scenario`.
pub fn findings_of(run: &Run, scenario: &Scenario, verbosity: Verbosity) -> Vec<Finding> {
    let mut all = find_wake_source(run, scenario);
    all.extend(find_last_men(run, scenario, verbosity));
    all.extend(find_lock_queue(run, scenario, verbosity));
    all.extend(find_waited(run, scenario, verbosity));
    all.extend(find_resolution(run, scenario, verbosity));
    all.extend(find_reached(run, scenario));
    all.extend(find_not_counted(run, scenario));
    all.extend(find_lost(run, scenario));
    all.extend(find_overruns(run, scenario));
    all.extend(find_failed_checks(run, scenario));
    all.extend(find_left_out(run, scenario, verbosity));
    all
}
