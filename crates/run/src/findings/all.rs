//! All findings of a scenario.

use alloc::vec::Vec;

use super::words::Detail;
use super::{counts, last_man, lock_queue, reached, resolution, waited, wake_source};
use crate::model::{Finding, Run, Scenario};

/// Returns what the figures of `scenario` show by themselves.
pub fn findings_of(run: &Run, scenario: &Scenario, detail: Detail) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(wake_source::wake_source(run, scenario));
    found.extend(last_man::last_man(run, scenario, detail));
    found.extend(lock_queue::lock_queue(run, scenario, detail));
    found.extend(waited::waited(run, scenario, detail));
    found.extend(resolution::resolution(run, scenario, detail));
    found.extend(reached::reached(run, scenario));
    found.extend(counts::not_counted(run, scenario));
    found.extend(counts::lost(run, scenario));
    found.extend(counts::overruns(run, scenario));
    found
}
