//! The summary at the end of a run. It fits on one screen and contains a row for each scenario,
//! with the median across the CPUs, the worst CPU and the maximum; total counts; and everything that
//! was skipped.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt::{self, Write};

use crate::findings::list_first_few;
use crate::measure::{Metric, lower_median};
use crate::model::{
    Cell, CellSeries, CpuSet, FigureScale, Run, Scenario, Skip, Status, Totals, skipped_name,
};
use crate::plan::sweep_values::SweepValues;
use crate::plan::{Axis, Method, Plan, ScenarioId};
use hardware::board::CpuIndex;
use hardware::text::plural::Many;
use hardware::text::prose::paragraph;
use serde::Serialize;

use super::table::{ABSENT, Table, TableStyle, text_or_absent, write_table};

/// The maximum number of [`Skipped`] items for one scenario across both helper placements. An item
/// covers the scenario itself, its steps, or CPUs (up to two reasons per placement).
const SKIPS_MAX: usize = 4;

/// Results of earlier scenarios that are printed at the end of a run, after the scenarios
/// themselves have been dropped.
///
/// All memory is reserved at the start.
#[derive(Debug, Default)]
pub struct ClosingSummary {
    /// The counts printed on the last line.
    pub totals: Totals,
    results: Vec<SummaryRow>,
    skipped: Vec<Skipped>,
}

/// A row in the summary, kept without the scenario's results.
#[derive(Debug)]
struct SummaryRow {
    id: ScenarioId,
    method: Method,
    status: Status,
    has_pmf: bool,
    samples: u64,
    checks: usize,
    failed_checks: usize,
    figures: Option<FigureSummary>,
}

/// A summary of a scenario's results across its CPUs. It owns no heap block, because it outlives
/// the scenario.
#[derive(Clone, Copy, Debug, Serialize)]
struct FigureSummary {
    metric: Metric,
    #[serde(skip)]
    scale: FigureScale,
    /// The median of the CPUs' figures.
    median: u64,
    /// The largest of the CPUs' figures, which are medians unless the scenario is parallel.
    worst: u64,
    worst_cpu: CpuIndex,
    /// The largest sample of this metric on any CPU and in any step; None if it is unknown.
    max: Option<u64>,
}

/// A part of a scenario that was skipped, and why.
#[derive(Debug)]
struct Skipped {
    id: ScenarioId,
    method: Method,
    part: Part,
    why: Skip,
}

/// The part of a scenario that was skipped.
#[derive(Debug)]
enum Part {
    Whole,
    /// These CPUs, in TFTF's suite.
    Cpus(CpuSet),
    /// The omitted values of `contend=` or `power_state`.
    Values(SweepValues),
}

impl ClosingSummary {
    /// Reserves the memory that `plan` needs.
    pub fn new(plan: &Plan) -> Self {
        Self {
            results: Vec::with_capacity(plan.tests()),
            skipped: Vec::with_capacity(SKIPS_MAX * plan.tests()),
            ..Self::default()
        }
    }

    /// Adds one scenario with all its helper placements.
    pub fn add(&mut self, run: &Run, group: &[Scenario]) {
        self.totals.add(group);
        if self.results.len() < self.results.capacity() {
            self.results.extend(SummaryRow::from_group(run, group));
        }
        group.iter().for_each(|scenario| self.add_skips(scenario));
    }

    /// Counts the TFTF tests that were skipped, passed or failed. A test without timestamps or a
    /// clock frequency has no rows and counts as skipped.
    pub(crate) fn tests_of_tftf(&self, run: &Run) -> [usize; 3] {
        let mut counts = [0; 3];
        let [skipped, passed, failed] = &mut counts;
        let has_tftf_lines = |row: &&SummaryRow| row.id.is_suite() && row.method == Method::Tftf;
        for row in self.results.iter().filter(has_tftf_lines) {
            let has_rows = row.has_pmf && run.clock().is_known();
            if row.status.has_failed() {
                *failed += 1;
            } else if row.status == Status::Passed && has_rows {
                *passed += 1;
            } else {
                *skipped += 1;
            }
        }
        counts
    }

    /// Adds what a scenario with one helper placement skipped.
    fn add_skips(&mut self, scenario: &Scenario) {
        match scenario.status.skip() {
            Some(skip) => self.push(scenario, Part::Whole, skip),
            None => self.add_left_out(scenario),
        }
        let cells = scenario.suite_cells();
        for (index, cell) in cells.iter().enumerate() {
            let is_same = |other: &&Cell| other.skipped == cell.skipped;
            if let Some(skip) = cell.skipped
                && !cells[..index]
                    .iter()
                    .any(|earlier_cell| is_same(&earlier_cell))
            {
                let cpus = cells.iter().filter(is_same).map(|cell| cell.cpu);
                self.push(scenario, Part::Cpus(cpus.collect()), skip);
            }
        }
    }

    /// Adds the steps and states that a scenario omitted.
    fn add_left_out(&mut self, scenario: &Scenario) {
        let why = if scenario.id.axis() == Some(Axis::Cpus) {
            Some(Skip::TooFewCpus)
        } else {
            let conditions = scenario.conditions.as_ref();
            conditions.and_then(|conditions| conditions.states_left_out)
        };
        let is_left_out = |cell: &&Cell| cell.skipped.is_some() && !scenario.id.is_suite();
        let mut values = SweepValues::EMPTY;
        for cell in scenario.cells.iter().filter(is_left_out) {
            if let Some(value) = cell.step.value.and_then(|value| u32::try_from(value).ok()) {
                // A sweep never has more steps than a `SweepValues` can hold.
                let _ = values.add(value);
            }
        }
        if let Some(why) = why
            && !values.as_slice().is_empty()
        {
            self.push(scenario, Part::Values(values), why);
        }
    }

    /// Adds one skipped part, if there is room.
    fn push(&mut self, scenario: &Scenario, part: Part, why: Skip) {
        debug_assert!(self.skipped.len() < self.skipped.capacity());
        if self.skipped.len() < self.skipped.capacity() {
            let (id, method) = (scenario.id, scenario.method);
            self.skipped.push(Skipped {
                id,
                method,
                part,
                why,
            });
        }
    }

    /// Writes a row for each scenario that measures something, everything that failed or was
    /// skipped and why, and the number of samples and checks.
    pub(crate) fn write(&self, out: &mut dyn Write, run: &Run) -> fmt::Result {
        write_table(out, table(run, &self.results), &TableStyle::SIMPLE)?;
        for row in &self.results {
            if let Some(failure) = row.status.failure() {
                let text = format!(
                    "{}: {}",
                    row.id.tag(),
                    failure.sentence(&run.cpus, run.clock())
                );
                paragraph(out, "Failed: ", 2, &text)?;
            }
        }
        for skipped in &self.skipped {
            paragraph(out, "Skipped: ", 2, &skipped.text(run))?;
        }
        if self.totals.failed > 0 || !self.skipped.is_empty() {
            out.write_char('\n')?;
        }
        self.counts(out, run)
    }

    /// Prints the counts. Each line starts with the run's identity, which shows that the summary
    /// belongs to the records before it.
    fn counts(&self, out: &mut dyn Write, run: &Run) -> fmt::Result {
        let id = run.id.map_or_else(String::new, |id| format!("Run {id}: "));
        if self.results.iter().any(SummaryRow::measures) {
            let samples = Many(self.totals.samples, "sample");
            let text = format!("{id}{samples}, {}.", self.totals.not_counted_text());
            paragraph(out, "", 0, &text)?;
        }
        for row in self.results.iter().filter(|row| !row.measures()) {
            let checks = Many(row.checks as u64, "check");
            let text = format!("{id}{checks}, {} failed.", row.failed_checks);
            paragraph(out, "", 0, &text)?;
        }
        Ok(())
    }
}

/// A row of a run's summary, for programs. Figures are samples, in their own unit.
#[derive(Debug, Serialize)]
pub struct ScenarioSummary {
    scenario: ScenarioId,
    /// None if this kind of scenario is measured with one method only.
    method: Option<Method>,
    /// None if it is unknown.
    result: Option<&'static str>,
    /// The number of samples that count, on all CPUs; None if it is unknown.
    samples: Option<u64>,
    #[serde(flatten)]
    figure: Option<FigureSummary>,
}

/// Returns the summary of a run as a table, with a row for each scenario; None if none of them
/// measures anything.
pub fn summary_table(run: &Run) -> Option<Table> {
    table(run, &rows(run)).finished()
}

/// Returns the summary of a run, with an entry for each scenario that measures something.
pub fn scenario_summaries(run: &Run) -> Vec<ScenarioSummary> {
    let measuring = rows(run).into_iter().filter(SummaryRow::measures);
    let summaries = measuring.map(|row| ScenarioSummary {
        scenario: row.id,
        method: row.method(),
        result: row.word(),
        samples: row.known_samples(),
        figure: row.figures,
    });
    summaries.collect()
}

/// Returns a row for each scenario.
fn rows(run: &Run) -> Vec<SummaryRow> {
    let is_same =
        |one: &Scenario, other: &Scenario| (one.id, one.method) == (other.id, other.method);
    let groups = run.scenarios.chunk_by(is_same);
    groups
        .filter_map(|group| SummaryRow::from_group(run, group))
        .collect()
}

/// Returns the table, with a row for each scenario that measures something.
fn table(run: &Run, rows: &[SummaryRow]) -> Table {
    let rows = || rows.iter().filter(|row| row.measures());
    // If the plan has a single method, omit the column, because every row would contain the
    // same value.
    let methods = || rows().filter_map(SummaryRow::method);
    let has_methods = methods().any(|method| Some(method) != methods().next());
    let units = || rows().filter_map(|row| Some(row.figures?.scale.name()));
    let unit = units()
        .next()
        .filter(|first_unit| units().all(|unit| unit == *first_unit));
    let title = "Summary: the first figure's median, worst CPU and maximum";
    let mut table = Table::titled(match unit {
        Some(unit) => format!("{title} ({unit})"),
        None => title.into(),
    });
    table.words(["Scenario"]);
    table.words(has_methods.then_some("Method"));
    table.end_names();
    table.optional_words(["Result"]);
    table.optional_numbers(&["n"], ABSENT);
    table.words(["Figure"]);
    table.numbers(["Median", "Worst"]);
    table.words(["CPU"]);
    table.optional_numbers(&["Max"], ABSENT);
    let has_units = unit.is_none() && units().next().is_some();
    table.words(has_units.then_some("Unit"));
    for row in rows() {
        let mut entries = vec![row.id.short_tag().into()];
        entries.extend(has_methods.then(|| text_or_absent(row.method().map(Method::word))));
        let result = row.word().unwrap_or_default();
        entries.extend([result.into(), text_or_absent(row.known_samples())]);
        let text = |text: fn(FigureSummary, &Run) -> String| {
            text_or_absent(row.figures.map(|figures| text(figures, run)))
        };
        entries.push(text(|figures, _| figures.metric.heading().into()));
        entries.push(text(|figures, _| figures.scale.text(figures.median)));
        entries.push(text(|figures, _| figures.scale.text(figures.worst)));
        entries.push(text(|figures, run| {
            run.label(figures.worst_cpu).to_string()
        }));
        entries.push(text(|figures, _| {
            text_or_absent(figures.max.map(|max| figures.scale.text(max)))
        }));
        if has_units {
            entries.push(text(|figures, _| figures.scale.name().into()));
        }
        table.rows.push(entries);
    }
    table
}

impl SummaryRow {
    /// Returns the row for a scenario with all its helper placements; None if there are none.
    fn from_group(run: &Run, group: &[Scenario]) -> Option<Self> {
        let first = group.first()?;
        let mut totals = Totals::default();
        totals.add(group);
        let checks = || group.iter().flat_map(|scenario| &scenario.checks);
        Some(Self {
            id: first.id,
            method: first.method,
            status: Scenario::status_of(group),
            has_pmf: group.iter().all(Scenario::has_pmf),
            samples: totals.samples,
            checks: checks().filter(|check| check.is_made()).count(),
            failed_checks: checks().filter(|check| check.has_failed()).count(),
            figures: if first.id.is_suite() {
                of_suite(run, group)
            } else {
                of_steps(run, group)
            },
        })
    }

    /// Returns the result as the table shows it; None for published tables, which do not say it.
    fn word(&self) -> Option<&'static str> {
        match self.status {
            Status::Passed => Some("passed"),
            Status::Skipped(_) => Some("skipped"),
            Status::Failed(_) | Status::Crashed => Some("failed"),
            Status::Unknown => None,
        }
    }

    /// Returns the number of samples that count; None for published tables, which have figures but
    /// do not say how many samples they are from.
    fn known_samples(&self) -> Option<u64> {
        let is_known = self.samples > 0 || self.figures.is_none();
        is_known.then_some(self.samples)
    }

    /// Returns true if the scenario measures something, rather than only checking functions.
    fn measures(&self) -> bool {
        self.id.measures()
    }

    /// Returns the method, if this kind of scenario is measured with more than one.
    fn method(&self) -> Option<Method> {
        self.id.follows_method().then_some(self.method)
    }
}

/// Summarizes the first column of the main tables, using each CPU's representative placement.
fn of_suite(run: &Run, group: &[Scenario]) -> Option<FigureSummary> {
    let first_column = |scenario: &Scenario| scenario.columns().first().copied();
    let metric = group.iter().find_map(first_column)?;
    let cluster = |cpu: CpuIndex| run.cpu(cpu).cluster;
    let figure_of = |cpu| {
        let (_, cell) = Scenario::cell_of(group.iter(), cpu, &cluster)?;
        if cell.skipped.is_some() {
            return None;
        }
        Some((cell.figure(metric)?, cpu))
    };
    let figures = run.cpu_indices().filter_map(figure_of).collect();
    let scale = FigureScale::of_tables(run.clock(), metric, 1);
    let cells = group.iter().flat_map(Scenario::suite_cells);
    let samples = cells.filter_map(|cell| Some(cell.summary(metric)?.max));
    summarize(metric, scale, figures, samples.max())
}

/// Summarizes the medians of the cells that differ from the first only in their CPU.
fn of_steps(run: &Run, group: &[Scenario]) -> Option<FigureSummary> {
    let measured = || {
        group
            .iter()
            .flat_map(Scenario::all_series)
            .filter(|cell_series| cell_series.series.summary.n > 0)
    };
    let masked = measured().find(|cell_series| cell_series.series.metric == Metric::Masked);
    let first = masked
        .or_else(|| measured().find(|cell_series| !cell_series.cell.step.variant.is_baseline()))
        .or_else(|| measured().next())?;
    let key = |cell_series: &CellSeries<'_>| (cell_series.series.metric, cell_series.cell.step);
    let figures = measured()
        .filter(|cell_series| key(cell_series) == key(&first))
        .map(|cell_series| (cell_series.series.summary.median, cell_series.cell.cpu))
        .collect();
    let scale = FigureScale::of_series(run.clock(), first);
    let is_alike = |cell_series: &CellSeries<'_>| {
        let (step, of_first) = (cell_series.cell.step, first.cell.step);
        cell_series.series.metric == first.series.metric
            && step.operations == of_first.operations
            && step.variant.is_baseline() == of_first.variant.is_baseline()
    };
    let samples = measured().filter(is_alike);
    let max = samples
        .map(|cell_series| cell_series.series.summary.max)
        .max();
    summarize(first.series.metric, scale, figures, max)
}

/// Summarizes the CPUs' figures; None if there are none. `max` is the largest sample, if it is
/// known.
fn summarize(
    metric: Metric,
    scale: FigureScale,
    figures: Vec<(u64, CpuIndex)>,
    max: Option<u64>,
) -> Option<FigureSummary> {
    let by_figure = |(figure, cpu): &&(u64, CpuIndex)| (*figure, Reverse(*cpu));
    let (worst, worst_cpu) = *figures.iter().max_by_key(by_figure)?;
    let mut values: Vec<u64> = figures.iter().map(|(figure, _)| *figure).collect();
    Some(FigureSummary {
        metric,
        scale,
        median: lower_median(&mut values),
        worst,
        worst_cpu,
        max,
    })
}

impl Skipped {
    fn text(&self, run: &Run) -> String {
        let name = skipped_name(self.id, self.method);
        let part = match &self.part {
            Part::Whole => String::new(),
            Part::Cpus(cpus) => format!(
                ", CPU {}",
                list_first_few(cpus.iter().map(|cpu| run.label(cpu)))
            ),
            Part::Values(counts) if self.id.axis() == Some(Axis::Cpus) => {
                format!(", contend={}", list_first_few(counts.as_slice().iter()))
            }
            Part::Values(values) => {
                let axis = self.id.axis();
                let text = |value: &u32| match axis {
                    Some(axis) => axis.text((*value).into()),
                    None => value.to_string(),
                };
                let heading = axis.map_or("x", Axis::heading);
                format!(
                    ", {heading} {}",
                    list_first_few(values.as_slice().iter().map(text))
                )
            }
        };
        format!("{name}{part}: {}", self.why)
    }
}
