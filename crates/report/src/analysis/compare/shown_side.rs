//! The figures that a run's tables show for one scenario, as comparable values.

use hardware::spec::ticks::Clock;
use itertools::Itertools as _;
use suite::findings::tick_ns;
use suite::measure::{Metric, Summary};
use suite::model::Scenario;
use suite::plan::Axis;

use super::change::ComparedValue;
use crate::analysis::figure::{Figure, FigureKey, figures};
use crate::analysis::interval::{by_position, notch, notch_of_bin};
use crate::log::LoggedRun;

/// A scenario's figures that are shown in tables.
pub(in crate::analysis) struct ShownSide<'r> {
    clock: Clock,
    /// One tick in nanoseconds.
    tick: f64,
    scenario: &'r Scenario,
    /// True if the run's CPUs share those of an emulator's host.
    shares_host_cpus: bool,
    pub(in crate::analysis) figures: Vec<Figure<'r>>,
}

impl<'r> ShownSide<'r> {
    /// Collects the figures: first those in table columns, in column order, then those for steps.
    /// Figures for an outcome at some offsets have the same key for all offsets.
    pub(in crate::analysis) fn of(logged: &'r LoggedRun, scenario: &'r Scenario) -> Self {
        let mut shown = figures(logged, scenario);
        shown.retain(|figure| figure.shown.is_some());
        if scenario.id.axis() == Some(Axis::Offset) {
            // The first and the last offset are results. They vary between runs, and a greater one
            // is neither better nor worse.
            shown.retain(|figure| figure.key.metric != Metric::LastOffset);
            for figure in &mut shown {
                figure.key.step.value = None;
            }
        }
        let columns = scenario.columns();
        let column_index = |figure: &Figure<'_>| {
            let metric = figure.key.suite_metric();
            let index = columns.iter().position(|column| Some(*column) == metric);
            index.unwrap_or(columns.len())
        };
        shown.sort_by_cached_key(column_index);
        Self {
            clock: logged.run.clock(),
            tick: tick_ns(&logged.run).unwrap_or(0) as f64,
            scenario,
            shares_host_cpus: logged.run.shares_host_cpus(),
            figures: shown,
        }
    }

    /// Returns the distinct keys of the figures, in order.
    pub(in crate::analysis) fn keys(&self) -> impl Iterator<Item = FigureKey> {
        self.figures.iter().map(|figure| figure.key).unique()
    }

    /// Returns a figure's resolution, in the same unit as the figure.
    pub(in crate::analysis) fn tick(&self, key: FigureKey) -> f64 {
        // A tick per sample is only a fraction of a tick per operation.
        if key.is_of_step() {
            key.per_operation(self.clock, 1)
        } else {
            self.tick
        }
    }

    /// Returns the figures for a key.
    pub(in crate::analysis) fn figures_of(
        &self,
        key: FigureKey,
    ) -> impl Iterator<Item = &Figure<'r>> {
        self.figures.iter().filter(move |figure| figure.key == key)
    }

    /// Returns the number of figures for a key.
    pub(in crate::analysis) fn count_of(&self, key: FigureKey) -> usize {
        self.figures_of(key).count()
    }

    /// Returns the statistics over all rounds for each position in the arrival order; None if only
    /// the round shown in tables is known.
    pub(in crate::analysis) fn position_summaries(&self, key: FigureKey) -> Option<Vec<Summary>> {
        if !self.scenario.id.is_parallel() {
            return None;
        }
        let summaries = by_position(self.scenario, key.suite_metric()?)?;
        (summaries.len() == self.count_of(key)).then_some(summaries)
    }

    /// Returns the figures for a key in ascending order, each with its value: computed over all
    /// rounds if `summaries` is given, otherwise as shown.
    pub(in crate::analysis) fn values_by_order(
        &self,
        key: FigureKey,
        summaries: Option<&[Summary]>,
    ) -> Vec<(&Figure<'r>, ComparedValue)> {
        self.figures_of(key)
            .sorted_by_key(|figure| (figure.shown, figure.cpu))
            .enumerate()
            .map(|(position, figure)| {
                let summary = summaries.and_then(|summaries| summaries.get(position));
                let value = match summary {
                    Some(summary) => self.value_of(figure, summary.median, Some(summary)),
                    None => self.value(figure),
                };
                (figure, value)
            })
            .collect()
    }

    /// Returns the value that tables show, with the interval of its samples if they are known.
    pub(in crate::analysis) fn value(&self, figure: &Figure<'_>) -> ComparedValue {
        let shown = figure.shown.unwrap_or(0);
        // The spread of a serial figure that is not a median is unknown.
        let has_spread =
            |summary: &&Summary| self.scenario.id.is_parallel() || summary.median == shown;
        self.value_of(figure, shown, figure.summary.filter(has_spread))
    }

    /// Returns the value `shown` with the interval that follows from `spread`.
    fn value_of(&self, figure: &Figure<'_>, shown: u64, spread: Option<&Summary>) -> ComparedValue {
        let value_per_operation = |ticks| figure.key.per_operation(self.clock, ticks);
        let interval = if figure.key.is_histogram_bound() {
            spread.and_then(notch_of_bin)
        } else {
            spread.and_then(notch)
        };
        ComparedValue {
            figure: value_per_operation(shown),
            interval: interval.map(|(lower_bound, upper_bound)| {
                (
                    value_per_operation(lower_bound),
                    value_per_operation(upper_bound),
                )
            }),
            is_doubtful: figure.is_doubtful,
            is_unsteady: self.shares_host_cpus,
        }
    }
}
