//! The results of one scenario.

use alloc::vec::Vec;

use hardware::words;
use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::point::Point;
use super::row::Row;
use super::skip::Skip;
use crate::measure::{Metric, Reason, Summary};
use crate::plan::{Method, Procedure, ScenarioId, short_tag};

/// The results of a scenario by one method and with one helper, if any.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// The scenario.
    #[serde(with = "short_tag")]
    pub id: ScenarioId,
    /// The method.
    pub method: Method,
    /// Parallel scenarios: index of the CPU that stayed awake for the others.
    pub helper: Option<u16>,
    /// End of the scenario.
    pub status: Status,
    /// The conditions; None in TFTF's logs, and where the record was lost.
    pub conditions: Option<Conditions>,
    /// Samples of points that do not count, by reason; only reasons that occurred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<(Reason, u32)>,
    /// Rows of the suite's scenarios, one for each CPU but the helper.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Row>,
    /// Points of the other scenarios.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<Point>,
    /// Records of the scenario that did not come through: at least one if its own is lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_records: u32,
}

/// The name of a [`Scenario`] in its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ScenarioKey {
    /// The scenario.
    #[serde(rename = "s", with = "short_tag")]
    pub id: ScenarioId,
    /// The method; not named if it is TFTF's.
    #[serde(rename = "m", default, skip_serializing_if = "is_tftf")]
    pub method: Method,
    /// Index of the helper.
    #[serde(rename = "h", default, skip_serializing_if = "Option::is_none")]
    pub helper: Option<u16>,
}

/// The conditions under which a scenario was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conditions {
    /// True with PMF's timestamps; false if only the caller's view was measured.
    pub pmf: bool,
    /// The `power_state` that was asked for, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_state: Option<u32>,
    /// The interrupt that woke the CPUs.
    pub wake_source: WakeSource,
    /// Samples asked for on each CPU, or of each point.
    pub asked: u32,
    /// Parallel rounds, or attempts on all CPUs together.
    pub attempts: u32,
    /// Trial rounds, which are not attempts.
    pub trials: u32,
    /// Ticks from start to first wake-up, as calibrated; 0 without a suspend.
    pub sleep: u64,
    /// Parallel: ticks between the first and the last CPU's call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew: Option<Summary>,
    /// The reason why idle states were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states_left_out: Option<Skip>,
    /// The reason why OS-initiated mode was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode_left_out: Option<Skip>,
}

pub(crate) fn is_tftf(method: &Method) -> bool {
    *method == Method::Tftf
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// End of a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Measured, with enough samples on every CPU.
    Passed,
    /// Not run.
    Skipped(Skip),
    /// Run, and without enough samples.
    Failed(Failure),
    /// TFTF's word for one that ended in a reset.
    Crashed,
    /// Not in the log: the scenario was begun, or its record was lost.
    #[default]
    Unknown,
}

words! {
    /// The interrupt that wakes the CPUs of a scenario.
    #[derive(Default)]
    pub enum WakeSource, word {
        /// Each CPU's own timer.
        #[default]
        OwnTimers = "timer",
        /// The timer frame wakes the lead, and the lead the others by SGI.
        Frame = "frame",
        /// A CPU that stays awake wakes the others by SGI.
        Helper = "helper",
    }
}

impl Scenario {
    /// Returns the results of which nothing but the key is known.
    pub fn new(key: ScenarioKey) -> Self {
        Self {
            id: key.id,
            method: key.method,
            helper: key.helper,
            status: Status::Unknown,
            conditions: None,
            rejected: Vec::new(),
            rows: Vec::new(),
            points: Vec::new(),
            lost_records: 0,
        }
    }

    /// Returns the name in the run.
    pub const fn key(&self) -> ScenarioKey {
        ScenarioKey {
            id: self.id,
            method: self.method,
            helper: self.helper,
        }
    }

    /// Returns true if PMF's timestamps were used, as they are in TFTF's logs.
    pub fn has_pmf(&self) -> bool {
        let conditions = self.conditions.as_ref();
        conditions.is_none_or(|conditions| conditions.pmf)
    }

    /// Returns true if TFTF's lines stand around its table.
    pub fn is_framed(&self) -> bool {
        self.id.is_suite() && self.method == Method::Tftf
    }

    /// Returns true if all CPUs go down at once, and timestamps give the order.
    pub fn has_order(&self) -> bool {
        self.has_pmf()
            && self.id.has_queue()
            && self.id.is_suite()
            && self.rows.iter().any(|row| row.shown.is_some())
    }

    /// Returns the row of a CPU.
    pub fn row(&self, cpu: u16) -> Option<&Row> {
        self.rows.iter().find(|row| row.cpu == cpu)
    }

    /// Returns the status of a scenario over all placements of its helper.
    pub fn status_of(group: &[Self]) -> Status {
        let all = || group.iter().map(|scenario| scenario.status);
        let failed = all().find(|status| matches!(status, Status::Failed(_)));
        failed.or(all().next()).unwrap_or_default()
    }

    /// Returns the row that stands for a CPU: of the first placement whose helper is in
    /// another cluster, else in another core.
    pub fn row_of<'g>(
        group: &'g [Self],
        cpu: u16,
        cluster: &dyn Fn(u16) -> u16,
    ) -> Option<(&'g Self, &'g Row)> {
        let others = || group.iter().filter(|it| it.helper != Some(cpu));
        let mut rows = others().filter_map(|it| Some((it, it.row(cpu)?)));
        let first = rows.clone().next();
        let is_far = |helper: u16| cluster(helper) != cluster(cpu);
        rows.find(|(it, _)| it.helper.is_none_or(is_far)).or(first)
    }

    /// Returns the figure that stands for `row`'s CPU, in ticks.
    pub fn figure(&self, row: &Row, metric: Metric) -> Option<u64> {
        match metric {
            Metric::Powerdown | Metric::Latency => row.figures.powerdown,
            Metric::Wakeup => row.figures.wakeup,
            Metric::CacheFlush => row.figures.cache_flush,
            // A parallel row is one part of one round, on either side.
            _ if self.id.is_parallel() => {
                row.summary(metric)?;
                row.shown.as_ref()?.metric(metric)
            }
            _ => row.summary(metric).map(|summary| summary.median),
        }
    }

    /// Returns the metrics that are shown as columns, PMF's or those of the caller's side.
    pub fn columns(&self) -> Vec<Metric> {
        use Metric::{CacheFlush, Call, Latency, Powerdown, TurnOff, TurnOn, Wake, Wakeup};
        let candidates: &[Metric] = match (self.has_pmf(), self.id.procedure()) {
            (true, Procedure::Version) => &[Latency],
            (true, _) => &[Powerdown, Wakeup, CacheFlush],
            (false, _) => &[TurnOff, TurnOn, Call, Wake],
        };
        let is_shown = |metric: &Metric| {
            let mut rows = self.rows.iter();
            rows.any(|row| self.figure(row, *metric).is_some())
        };
        candidates.iter().copied().filter(is_shown).collect()
    }
}
