//! The suite's figures by scenario, metric and CPU.

use hardware::board::{CpuIndex, LabelSource};
use itertools::Itertools as _;
use suite::measure::{Metric, Summary};
use suite::model::Scenario;
use suite::plan::ScenarioId;

use crate::analysis::value_text::cpus_text;
use crate::log::LoggedRun;

/// One figure in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableFigure {
    /// The scenario to which the table belongs.
    pub scenario: ScenarioId,
    /// The CPU's index in the run.
    pub cpu: CpuIndex,
    /// The metric in the column's heading.
    pub metric: Metric,
    /// The value, in ticks of the run's clock.
    pub ticks: u64,
}

/// A run's suite tables, measured with the TFTF method.
pub(in crate::analysis) struct SuiteTables<'r> {
    /// The run.
    pub logged: &'r LoggedRun,
    scenarios: Vec<Scenario>,
}

/// A CPU's cluster and MIDR_EL1. MIDR_EL1 is None if no record contains it.
pub(super) type CpuKind = (u16, Option<u64>);

/// One metric's figures in one scenario, for each of the run's CPUs in board order.
///
/// Holding one proves that there is at least one CPU and that the table has a figure for each of
/// them. It does not prove that there are samples behind the figures.
#[derive(Clone, Debug)]
pub(super) struct Column(Vec<TableFigure>);

impl<'r> SuiteTables<'r> {
    /// Returns a run's tables. Leaves out parallel tables if a helper stayed awake, because such a
    /// table combines rounds with different helpers, one of which stayed awake in each round.
    pub(in crate::analysis) fn of(logged: &'r LoggedRun) -> Self {
        let has_helper = |scenario: &Scenario| {
            scenario.helper.is_some() || scenario.cells.iter().any(|cell| cell.helper.is_some())
        };
        let mut scenarios = logged.suite_tables();
        scenarios.retain(|scenario| !scenario.id.is_parallel() || !has_helper(scenario));
        // If there is only one power-down state, or if `core=` is given, the core's state may not
        // be at level 0.
        let state = |id: ScenarioId| {
            let scenario = scenarios.iter().find(|scenario| scenario.id == id)?;
            scenario.conditions.as_ref()?.power_state
        };
        let deepest = state(ScenarioId::SUSPEND_DEEP_SERIAL);
        if deepest.is_some() && deepest == state(ScenarioId::CPU_SUSPEND_SERIAL) {
            scenarios.retain(|scenario| {
                !matches!(
                    scenario.id,
                    ScenarioId::CPU_SUSPEND_PARALLEL | ScenarioId::CPU_SUSPEND_SERIAL
                )
            });
        }
        Self { logged, scenarios }
    }

    /// Returns a metric's figures; None if the table is missing or lacks a figure for any CPU.
    pub(super) fn column(&self, scenario: ScenarioId, metric: Metric) -> Option<Column> {
        let table = self.scenario(scenario)?;
        let figure = |cpu: CpuIndex| {
            let ticks = table.cell(cpu)?.figure(metric)?;
            Some(TableFigure {
                scenario,
                cpu,
                metric,
                ticks,
            })
        };
        let figures = self.cpus().map(figure).collect::<Option<Vec<_>>>()?;
        (!figures.is_empty()).then_some(Column(figures))
    }

    /// Returns the scenario with its conditions and cells.
    pub(super) fn scenario(&self, id: ScenarioId) -> Option<&Scenario> {
        self.scenarios.iter().find(|scenario| scenario.id == id)
    }

    /// Returns all CPUs.
    pub(super) fn cpus(&self) -> impl Iterator<Item = CpuIndex> + Clone + use<> {
        self.logged.run.cpu_indices()
    }

    /// Returns a CPU's cluster.
    pub(super) fn cluster(&self, cpu: CpuIndex) -> u16 {
        self.logged.run.cpu(cpu).cluster
    }

    /// Returns true if the clusters are known. Labels derived from MPIDR may not match the power
    /// domains.
    pub(super) fn has_clusters(&self) -> bool {
        let head = self.logged.run.head.as_ref();
        let is_by_map = head.is_none_or(|head| head.labels == LabelSource::CpuMap);
        is_by_map && !self.logged.header.has_unknown_clusters
    }

    /// Returns a CPU's kind.
    pub(super) fn kind(&self, cpu: CpuIndex) -> CpuKind {
        let cpu = self.logged.run.cpu(cpu);
        (cpu.cluster, cpu.identity.map(|identity| identity.midr))
    }

    /// Returns true if the figures in a column have samples.
    pub(super) fn has_samples(&self, column: &Column) -> bool {
        column
            .figures()
            .all(|figure| self.summary(figure).is_some())
    }

    /// Returns the statistics of a figure's samples; None if there are no samples.
    fn summary(&self, figure: &TableFigure) -> Option<&Summary> {
        let cell = self.scenario(figure.scenario)?.cell(figure.cpu)?;
        cell.summary(figure.metric)
    }

    /// Returns the shortest and the longest sample of a figure. Without samples, both are the
    /// figure.
    pub(super) fn samples_of(&self, figure: &TableFigure) -> (u64, u64) {
        match self.summary(figure) {
            Some(summary) => (summary.min.min(figure.ticks), summary.max.max(figure.ticks)),
            None => (figure.ticks, figure.ticks),
        }
    }

    /// Returns the shortest and the longest sample of all `figures`.
    pub(super) fn sample_range<'f>(
        &self,
        figures: impl IntoIterator<Item = &'f TableFigure>,
    ) -> Option<(u64, u64)> {
        figures
            .into_iter()
            .map(|figure| self.samples_of(figure))
            .reduce(|range, samples| (range.0.min(samples.0), range.1.max(samples.1)))
    }

    /// Returns true if `more` exceeds `less` as [`exceeds`] says, and no sample contradicts that.
    pub(super) fn is_longer(&self, more: &TableFigure, less: &TableFigure, share: u64) -> bool {
        let are_apart = self.samples_of(more).0 > self.samples_of(less).1;
        are_apart && exceeds(more.ticks, less.ticks, share)
    }

    /// Returns the numbers of all clusters.
    pub(super) fn clusters(&self) -> Vec<u16> {
        self.cpus().map(|cpu| self.cluster(cpu)).unique().collect()
    }

    /// Returns the number of CPUs in a cluster.
    pub(super) fn size_of(&self, cluster: u16) -> usize {
        self.cpus()
            .filter(|cpu| self.cluster(*cpu) == cluster)
            .count()
    }

    /// Formats a duration for use in a sentence.
    pub(super) fn span(&self, ticks: u64) -> String {
        self.logged.clock().span(ticks).to_string()
    }

    /// Formats the range of `figures` for use in a sentence.
    pub(super) fn range<'f>(&self, figures: impl IntoIterator<Item = &'f TableFigure>) -> String {
        let ticks = figures.into_iter().map(|figure| figure.ticks);
        match ticks.minmax().into_option() {
            Some(range) => self.logged.clock().range(range).to_string(),
            None => String::new(),
        }
    }

    /// Formats the CPU names for use in a sentence: `CPU 0.0, 0.1`.
    pub(super) fn names(&self, cpus: impl IntoIterator<Item = CpuIndex>) -> String {
        cpus_text(&self.logged.run, cpus)
    }
}

impl Column {
    /// Returns the figures.
    pub(super) fn figures(&self) -> impl Iterator<Item = &TableFigure> + Clone {
        self.0.iter()
    }

    /// Returns a CPU's figure.
    pub(super) fn figure(&self, cpu: CpuIndex) -> Option<&TableFigure> {
        self.0.get(cpu.index())
    }

    /// Returns the largest value.
    pub(super) fn most(&self) -> u64 {
        let ticks = self.0.iter().map(|figure| figure.ticks);
        ticks.max().expect("a column has at least one figure")
    }

    /// Returns the figures for the CPUs that `is_wanted` accepts.
    pub(super) fn filtered(&self, is_wanted: impl Fn(CpuIndex) -> bool) -> Vec<TableFigure> {
        let wanted = self.0.iter().filter(|figure| is_wanted(figure.cpu));
        wanted.copied().collect()
    }
}

/// Returns a scenario's short name, for use in a sentence about several scenarios.
pub(super) fn short_name(scenario: ScenarioId) -> &'static str {
    match scenario {
        ScenarioId::SUSPEND_DEEP_PARALLEL => "deep parallel",
        ScenarioId::SUSPEND_DEEP_SERIAL => "deep serial",
        ScenarioId::CPU_SUSPEND_PARALLEL => "level 0 parallel",
        ScenarioId::CPU_SUSPEND_SERIAL => "level 0 serial",
        ScenarioId::CPU_OFF_SERIAL => "CPU_OFF",
        other => other.name(),
    }
}

/// Returns true if `values` differ by at most a quarter of the largest value.
pub(super) fn are_alike(values: impl IntoIterator<Item = u64>) -> bool {
    let range = values.into_iter().minmax().into_option();
    range.is_some_and(|(least_ns, most_ns)| most_ns - least_ns <= most_ns / 4)
}

/// Returns true if `more` exceeds `less` by at least `less / share` and by at least two ticks,
/// because a difference of one tick may be a quantization error.
pub(super) fn exceeds(more: u64, less: u64, share: u64) -> bool {
    let excess = more.checked_sub(less);
    excess.is_some_and(|excess| excess >= less.div_ceil(share).max(2))
}

/// The minimum number of even intervals.
const EVEN_INTERVALS_MIN: usize = 3;

/// Returns the range of the intervals between sorted values if the values rise evenly. An interval
/// is even if it differs from the median interval by at most a quarter. At most `odd_max`
/// intervals, and fewer than half, may be uneven, and the even ones must make up at least two
/// fifths of the total range. Returns None if fewer than three intervals are even.
pub(super) fn even_intervals(
    values: impl IntoIterator<Item = u64>,
    odd_max: usize,
) -> Option<(u64, u64)> {
    let intervals: Vec<u64> = values
        .into_iter()
        .sorted_unstable()
        .tuple_windows()
        .map(|(one, other)| other - one)
        .sorted_unstable()
        .collect();
    let median = *intervals.get(intervals.len() / 2)?;
    let even: Vec<u64> = intervals
        .iter()
        .copied()
        .filter(|interval| interval.abs_diff(median) <= median / 4)
        .collect();
    let are_most_even = even.len() + odd_max >= intervals.len() && 2 * even.len() > intervals.len();
    // Intervals are differences between sorted values, so neither sum can overflow.
    let whole: u64 = intervals.iter().sum();
    let covered: u64 = even.iter().sum();
    let is_large = covered / 2 >= whole / 5;
    let range = even.iter().copied().minmax().into_option()?;
    let is_even = even.len() >= EVEN_INTERVALS_MIN && are_most_even && is_large;
    (median > 0 && is_even).then_some(range)
}
