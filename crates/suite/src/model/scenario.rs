//! A scenario's results.

use alloc::vec::Vec;

use hardware::board::CpuIndex;
use serde::{Deserialize, Serialize};

use super::cell::{Cell, CellSeries};
use super::check::Check;
use super::failure::Failure;
use super::skip::Skip;
use super::wake_source::WakeSource;
use crate::measure::{Metric, Reason, Summary};
use crate::plan::{Method, ScenarioId};

/// The results of a scenario with one method and at most one helper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Which scenario this is; an index into the list of all scenarios.
    pub id: ScenarioId,
    /// Whether CPUs power off between samples, as in TFTF, or stay on.
    pub method: Method,
    /// In parallel scenarios, the CPU that stayed awake for the others.
    pub helper: Option<CpuIndex>,
    /// How the scenario ended.
    pub status: Status,
    /// The conditions; None in TFTF's logs or if the record was lost.
    pub conditions: Option<Conditions>,
    /// The results. Scenarios in TFTF's suite have a cell for each CPU except the helper. Other
    /// scenarios have a cell for each step and CPU, and one for each omitted step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<Cell>,
    /// The checks, which measure nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// The number of the scenario's records that were lost; at least one if its own record is lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_records: u32,
}

/// Identifies a [`Scenario`] within its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ScenarioKey {
    /// The index into the list of all scenarios. Records contain its tag.
    #[serde(rename = "s")]
    pub id: ScenarioId,
    /// The method; omitted if it is TFTF's.
    #[serde(rename = "m", default, skip_serializing_if = "is_tftf")]
    pub method: Method,
    /// The index of the helper.
    #[serde(rename = "h", default, skip_serializing_if = "Option::is_none")]
    pub helper: Option<CpuIndex>,
}

/// A scenario's measurement conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conditions {
    /// True if PMF timestamps were used; false if only the caller's view was measured.
    pub pmf: bool,
    /// The requested `power_state`, if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_state: Option<u32>,
    /// The interrupt that woke the CPUs.
    pub wake_source: WakeSource,
    /// The number of samples requested for each cell.
    #[serde(alias = "asked")]
    pub requested_samples: u32,
    /// The number of parallel rounds or, in other scenarios, of attempts across all CPUs.
    pub attempts: u32,
    /// The number of trial rounds, which do not count as attempts.
    pub trials: u32,
    /// Ticks from the start to the first wake-up, as calibrated; 0 without a suspend.
    pub sleep: u64,
    /// In parallel scenarios, the ticks between the first and the last CPU's call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew: Option<Summary>,
    /// Why idle states were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states_left_out: Option<Skip>,
    /// Why OS-initiated mode was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode_left_out: Option<Skip>,
    /// A CPU at which a secure interrupt stayed pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secure_interrupt: Option<CpuIndex>,
}

pub(crate) fn is_tftf(method: &Method) -> bool {
    *method == Method::Tftf
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// How a scenario ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The scenario was measured, with enough samples on every CPU.
    Passed,
    /// The scenario was not run.
    Skipped(Skip),
    /// The scenario was run, but with too few samples.
    Failed(Failure),
    /// TFTF's term for a scenario that ended in a reset.
    Crashed,
    /// Not in the log: the scenario did not finish, or its record was lost.
    #[default]
    Unknown,
}

impl Status {
    /// Returns the reason if the scenario was not run.
    pub const fn skip(self) -> Option<Skip> {
        match self {
            Self::Skipped(skip) => Some(skip),
            Self::Passed | Self::Failed(_) | Self::Crashed | Self::Unknown => None,
        }
    }

    /// Returns the reason if the scenario failed, unless it ended in a reset.
    pub const fn failure(self) -> Option<Failure> {
        match self {
            Self::Failed(failure) => Some(failure),
            Self::Passed | Self::Skipped(_) | Self::Crashed | Self::Unknown => None,
        }
    }

    /// Returns true if the scenario failed or ended in a reset.
    pub const fn has_failed(self) -> bool {
        match self {
            Self::Failed(_) | Self::Crashed => true,
            Self::Passed | Self::Skipped(_) | Self::Unknown => false,
        }
    }
}

impl Scenario {
    /// Returns the results of a scenario of checks, which has failed if any check has.
    pub fn of_checks(key: ScenarioKey, checks: Vec<Check>) -> Self {
        let mut failed = checks.iter().filter(|check| check.has_failed());
        let status = match failed.next() {
            None => Status::Passed,
            Some(first) => Status::Failed(Failure::CheckFailed {
                function: first.function,
                rule: first.rule,
                failed: 1 + failed.count() as u32,
            }),
        };
        Self {
            status,
            checks,
            ..Self::new(key)
        }
    }

    /// Returns results with only the key filled in.
    pub fn new(key: ScenarioKey) -> Self {
        Self {
            id: key.id,
            method: key.method,
            helper: key.helper,
            status: Status::Unknown,
            conditions: None,
            cells: Vec::new(),
            checks: Vec::new(),
            lost_records: 0,
        }
    }

    /// Returns the scenario's key in the run.
    pub const fn key(&self) -> ScenarioKey {
        ScenarioKey {
            id: self.id,
            method: self.method,
            helper: self.helper,
        }
    }

    /// Returns true if PMF timestamps were used, which is always the case in TFTF's logs.
    pub fn has_pmf(&self) -> bool {
        let conditions = self.conditions.as_ref();
        conditions.is_none_or(|conditions| conditions.pmf)
    }

    /// Returns the number of samples requested for each cell; 0 if unknown.
    pub fn requested_samples(&self) -> u32 {
        let conditions = self.conditions.as_ref();
        conditions.map_or(0, |conditions| conditions.requested_samples)
    }

    /// Returns true if TFTF's lines enclose the scenario's table.
    pub fn has_tftf_lines(&self) -> bool {
        self.id.is_suite() && self.method == Method::Tftf
    }

    /// Returns true if all CPUs go down together and timestamps show the order.
    pub fn has_order(&self) -> bool {
        self.has_pmf()
            && self.id.has_queue()
            && self.id.is_suite()
            && self.cells.iter().any(|cell| cell.shown.is_some())
    }

    /// Returns a CPU's first cell, which is its only cell in TFTF's suite.
    pub fn cell(&self, cpu: CpuIndex) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.cpu == cpu)
    }

    /// Returns the cells of a scenario in TFTF's suite, one for each CPU; none for other scenarios.
    pub fn suite_cells(&self) -> &[Cell] {
        if self.id.is_suite() { &self.cells } else { &[] }
    }

    /// Returns all series of a scenario outside TFTF's suite; none for a scenario in the suite.
    pub fn step_series(&self) -> impl Iterator<Item = CellSeries<'_>> + Clone {
        let cells: &[Cell] = if self.id.is_suite() { &[] } else { &self.cells };
        cells.iter().flat_map(Cell::all_series)
    }

    /// Returns all series in all cells.
    pub fn all_series(&self) -> impl Iterator<Item = CellSeries<'_>> + Clone {
        self.cells.iter().flat_map(Cell::all_series)
    }

    /// Returns the number of attempts that do not count, by reason, across all cells. Only reasons
    /// that occurred are included.
    pub fn rejected(&self) -> impl Iterator<Item = (Reason, u64)> {
        let total = |reason| {
            let counts = self.cells.iter().filter_map(|cell| cell.counts.as_ref());
            counts
                .map(|counts| u64::from(counts.rejected_for(reason)))
                .sum()
        };
        Reason::ALL
            .into_iter()
            .map(move |reason| (reason, total(reason)))
            .filter(|(_, count)| *count > 0)
    }

    /// Returns a scenario's overall status across all helper placements.
    pub fn status_of(group: &[Self]) -> Status {
        let mut statuses = group.iter().map(|scenario| scenario.status);
        let first = statuses.clone().next();
        let failed = statuses.find(|status| status.failure().is_some());
        failed.or(first).unwrap_or_default()
    }

    /// Returns a CPU's representative cell in TFTF's suite, from the first placement whose helper
    /// is in another cluster or, if there is none, on another core.
    pub fn cell_of<'g>(
        group: impl Iterator<Item = &'g Self> + Clone,
        cpu: CpuIndex,
        cluster: &dyn Fn(CpuIndex) -> u16,
    ) -> Option<(&'g Self, &'g Cell)> {
        let mut cells = group
            .filter(|scenario| scenario.helper != Some(cpu))
            .filter_map(|scenario| Some((scenario, scenario.cell(cpu)?)));
        let first = cells.clone().next();
        let is_far = |helper: CpuIndex| cluster(helper) != cluster(cpu);
        let far = cells.find(|(scenario, _)| scenario.helper.is_none_or(is_far));
        far.or(first)
    }

    /// Returns the metrics shown as columns in tables of TFTF's suite, either PMF's or the
    /// caller's; none for other scenarios.
    pub fn columns(&self) -> Vec<Metric> {
        let candidates = if self.has_pmf() {
            self.id.columns()
        } else {
            &Metric::OF_CALLER
        };
        let is_shown = |metric: &Metric| {
            let mut cells = self.suite_cells().iter();
            cells.any(|cell| cell.figure(*metric).is_some())
        };
        candidates.iter().copied().filter(is_shown).collect()
    }
}
