//! Turns the outcomes of a step into statistics and cells.

use alloc::vec::Vec;

use hardware::board::CpuIndex;

use super::{Bench, too_few};
use crate::bench::cell_state::show_round;
use crate::measure::{Metric, Summary};
use crate::model::{Cell, CellStep, Counts, Failure, Series};

impl Bench<'_> {
    /// Returns the statistics for one metric of a CPU's samples.
    pub(crate) fn summary(&mut self, cpu: CpuIndex, metric: Metric) -> Summary {
        self.cells[cpu.index()].summary(metric, self.time_source, &mut self.memory.column)
    }

    /// Shows the CPU's sample whose leading figure is the median.
    pub(crate) fn show_median(&mut self, cpu: CpuIndex) {
        self.cells[cpu.index()].show_median(self.time_source, &mut self.memory.column);
    }

    /// Does the same for each CPU.
    pub(crate) fn show_medians(&mut self) {
        CpuIndex::all(self.cells.len()).for_each(|cpu| self.show_median(cpu));
    }

    /// Shows the same round for all CPUs, out of the `count` rounds that were kept, and computes
    /// the skew.
    pub(crate) fn show_round(&mut self, count: u32) {
        self.totals.skew = show_round(
            &mut self.cells,
            count as usize,
            self.time_source,
            &mut self.memory.column,
        );
    }

    /// Returns the finished cells of all CPUs except the helper, which is not measured.
    pub(crate) fn finish_cells(&mut self, is_parallel: bool) -> Vec<Cell> {
        let has_samples = self.setting.plan.sends_samples();
        let column = &mut self.memory.column;
        let mut cells = Vec::with_capacity(self.cells.len());
        for state in &mut self.cells {
            if self.step.helper != Some(state.cpu()) {
                cells.push(state.finish(is_parallel, self.time_source, has_samples, column));
            }
        }
        cells
    }

    /// Adds a cell with a CPU's columns, one for each of `metrics`. The samples come from `taken`
    /// attempts. Returns an error if too few samples for the first metric are valid; other metrics
    /// may have no samples.
    pub(crate) fn add_cell(
        &mut self,
        cpu: CpuIndex,
        step: CellStep,
        metrics: &[Metric],
        taken: u32,
    ) -> Result<(), Failure> {
        let state = &mut self.cells[cpu.index()];
        let valid = state.figures_in(0);
        let series = state.series_of_columns(metrics);
        let counts = Counts {
            valid,
            ..state.counts()
        };
        self.push_cell(cpu, step, series).counts = Some(counts);
        too_few(cpu, valid, taken).map_or(Ok(()), Err)
    }

    /// Adds a cell with these series, and everything that the CPU's state contains about the step.
    /// Returns the cell, for facts that only the scenario knows.
    pub(crate) fn push_cell(
        &mut self,
        cpu: CpuIndex,
        step: CellStep,
        series: Vec<Series>,
    ) -> &mut Cell {
        let has_samples = self.setting.plan.sends_samples();
        let state = &self.cells[cpu.index()];
        let cell = state.to_cell(step, series, has_samples, self.time_source);
        self.results.push_mut(cell)
    }

    /// Adds a cell for a step that was not measured.
    pub(crate) fn push_left_out(&mut self, cell: Cell) {
        self.results.push(cell);
    }
}
