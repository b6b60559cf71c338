//! The figures that a run's tables show for one scenario, as comparable values.

use hardware::spec::ticks::Clock;
use itertools::Itertools as _;
use suite::findings::tick_ns;
use suite::measure::{Metric, Summary};
use suite::model::Scenario;
use suite::plan::Axis;

use super::change::ComparedValue;
use crate::analysis::figure::{Figure, FigureKey, figures};
use crate::analysis::interval::{by_place, notch, notch_of_class};
use crate::log::LoggedRun;

/// A scenario's figures that are shown in tables.
pub(in crate::analysis) struct ShownSide<'r> {
    clock: Clock,
    /// One tick in nanoseconds.
    tick: f64,
    scenario: &'r Scenario,
    pub(in crate::analysis) figures: Vec<Figure<'r>>,
}

impl<'r> ShownSide<'r> {
    /// Collects the figures: first those in table columns, in column order, then those for steps.
    /// Figures for an outcome at some offsets have the same key for all offsets.
    pub(in crate::analysis) fn of(run: &'r LoggedRun, scenario: &'r Scenario) -> Self {
        let mut all = figures(run, scenario);
        all.retain(|it| it.shown.is_some());
        if scenario.id.axis() == Some(Axis::Offset) {
            // The first and the last offset are results. They vary between runs, and a greater one
            // is neither better nor worse.
            all.retain(|it| it.key.metric != Metric::LastOffset);
            for figure in &mut all {
                figure.key.step.value = None;
            }
        }
        let columns = scenario.columns();
        let column = |key: FigureKey| {
            columns
                .iter()
                .position(|it| Some(*it) == key.suite_metric())
        };
        all.sort_by_cached_key(|it| column(it.key).unwrap_or(columns.len()));
        Self {
            clock: run.run.clock(),
            tick: tick_ns(&run.run).unwrap_or(0) as f64,
            scenario,
            figures: all,
        }
    }

    /// Returns the keys, in order.
    pub(in crate::analysis) fn keys(&self) -> impl Iterator<Item = FigureKey> {
        self.figures.iter().map(|it| it.key).unique()
    }

    /// Returns a figure's resolution, in the same unit as the figure.
    pub(in crate::analysis) fn tick(&self, key: FigureKey) -> f64 {
        // A tick per sample is only a fraction of a tick per operation.
        match key.is_of_step() {
            true => key.per_operation(self.clock, 1),
            false => self.tick,
        }
    }

    /// Returns the figures for a key.
    pub(in crate::analysis) fn figures_of(
        &self,
        key: FigureKey,
    ) -> impl Iterator<Item = &Figure<'r>> {
        self.figures.iter().filter(move |it| it.key == key)
    }

    /// Returns the number of figures for a key.
    pub(in crate::analysis) fn count_of(&self, key: FigureKey) -> usize {
        self.figures_of(key).count()
    }

    /// Returns the statistics over all rounds for each position in the arrival order; None if only
    /// the round shown in tables is known.
    pub(in crate::analysis) fn places(&self, key: FigureKey) -> Option<Vec<Summary>> {
        let scenario = Some(self.scenario).filter(|it| it.id.is_parallel());
        let places = by_place(scenario?, key.suite_metric()?)?;
        (places.len() == self.count_of(key)).then_some(places)
    }

    /// Returns the figures for a key in ascending order, each with its value: computed over all
    /// rounds if `places` is given, otherwise as shown.
    pub(in crate::analysis) fn values_by_order(
        &self,
        key: FigureKey,
        places: Option<&[Summary]>,
    ) -> Vec<(&Figure<'r>, ComparedValue)> {
        let sorted = self.figures_of(key).sorted_by_key(|it| (it.shown, it.cpu));
        let sorted = sorted.enumerate();
        let values = sorted.map(|(place, figure)| {
            let summary = places.and_then(|all| all.get(place));
            let value = match summary {
                Some(it) => self.value_of(figure, it.median, Some(it)),
                None => self.value(figure),
            };
            (figure, value)
        });
        values.collect()
    }

    pub(in crate::analysis) fn value(&self, figure: &Figure<'_>) -> ComparedValue {
        let shown = figure.shown.unwrap_or(0);
        // The spread of a serial figure that is not a median is unknown.
        let is_known = |it: &&Summary| self.scenario.id.is_parallel() || it.median == shown;
        self.value_of(figure, shown, figure.summary.filter(is_known))
    }

    fn value_of(&self, figure: &Figure<'_>, shown: u64, spread: Option<&Summary>) -> ComparedValue {
        let each = |it| figure.key.per_operation(self.clock, it);
        let interval = spread.and_then(match figure.key.is_histogram_bound() {
            true => notch_of_class,
            false => notch,
        });
        ComparedValue {
            figure: each(shown),
            interval: interval.map(|(low, high)| (each(low), each(high))),
            is_doubtful: figure.is_doubtful,
        }
    }
}
