//! Counts across all scenarios in a run.

use serde::{Deserialize, Serialize};

use super::check::CheckEnd;
use super::failure::Failure;
use super::finding::CpuSet;
use super::scenario::{Scenario, Status};
use crate::measure::Reason;

/// Counts across all scenarios, as in the TFTF frame and the closing line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Scenarios that passed.
    pub passed: u32,
    /// Scenarios that were not run.
    pub skipped: u32,
    /// Scenarios that failed.
    pub failed: u32,
    /// The number of passed scenarios that were measured only from the caller's side.
    pub caller_side: u32,
    /// Samples that count, across all CPUs and scenarios.
    pub samples: u64,
    /// Attempts that do not count.
    pub rejected: u64,
    /// Skipped cells (for CPUs, steps or states) in scenarios that were not skipped.
    pub rows_skipped: u64,
    /// Lost CPUs.
    pub lost: u32,
}

impl Totals {
    /// Adds one scenario, with all its helper placements.
    pub fn add(&mut self, group: &[Scenario]) {
        let status = Scenario::status_of(group);
        match status {
            Status::Passed => self.passed += 1,
            Status::Skipped(_) => self.skipped += 1,
            Status::Failed(_) | Status::Crashed => self.failed += 1,
            Status::Unknown => {}
        }
        if status == Status::Passed && group.iter().any(|scenario| !scenario.has_pmf()) {
            self.caller_side += 1;
        }
        group.iter().for_each(|scenario| self.add_samples(scenario));
    }

    fn add_samples(&mut self, scenario: &Scenario) {
        let is_skipped = matches!(scenario.status, Status::Skipped(_));
        let mut lost = CpuSet::default();
        for cell in &scenario.cells {
            let counts = cell.counts.as_ref();
            self.samples += u64::from(cell.valid());
            self.rejected += counts.map_or(0, |it| u64::from(it.rejected_total()));
            self.rows_skipped += u64::from(cell.skipped.is_some() && !is_skipped);
            if cell.lost.is_some() {
                lost.insert(cell.cpu);
            }
        }
        for check in &scenario.checks {
            if let CheckEnd::NoEffect(rejection) = check.end
                && rejection.reason == Reason::Lost
            {
                check.cpus.iter().for_each(|cpu| lost.insert(cpu));
            }
        }
        // A CPU stays lost, so later scenarios count it again.
        let lost = (lost.iter().count() as u32).max(match scenario.status {
            Status::Failed(Failure::CpuLost { .. }) => 1,
            Status::Passed
            | Status::Skipped(_)
            | Status::Failed(_)
            | Status::Crashed
            | Status::Unknown => 0,
        });
        self.lost = self.lost.max(lost);
    }
}
