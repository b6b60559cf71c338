//! Counts across all scenarios in a run.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::cell::Counts;
use super::check::CheckEnd;
use super::failure::Failure;
use super::finding::CpuSet;
use super::scenario::{Scenario, Status};
use crate::measure::Reason;

/// Counts across all scenarios, as in TFTF's summary and the closing line.
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
    /// The number of the step that ended a board's first run before its last step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_step: Option<u32>,
}

impl Totals {
    /// Says how many attempts do not count, with their share if it is 1 % or more.
    pub fn not_counted_text(&self) -> String {
        let attempts = self.samples.saturating_add(self.rejected).max(1);
        let percent = u128::from(self.rejected) * 100 / u128::from(attempts);
        if percent == 0 {
            format!("{} not counted", self.rejected)
        } else {
            format!("{} not counted ({percent} %)", self.rejected)
        }
    }

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

    /// Adds the samples, rejections, skipped cells and losses of a scenario with one placement.
    fn add_samples(&mut self, scenario: &Scenario) {
        let is_skipped = scenario.status.skip().is_some();
        let mut lost = CpuSet::default();
        for cell in &scenario.cells {
            let rejected = cell.counts.as_ref().map_or(0, Counts::rejected_total);
            self.samples += u64::from(cell.valid());
            self.rejected += u64::from(rejected);
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
        let of_failure = match scenario.status.failure() {
            Some(Failure::CpuLost { others, .. }) => 1 + u32::from(others),
            _ => 0,
        };
        let count = (lost.iter().count() as u32).max(of_failure);
        // A CPU stays lost, so later scenarios count it again.
        self.lost = self.lost.max(count);
    }
}
