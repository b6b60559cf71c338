//! Builds a run from records.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use hardware::board::CPU_MAX;

use super::packed::cpu_of;
use super::record::Record;
use crate::measure::{Identity, Metric};
use crate::model::{BinCounts, Cell, CellStep, Cpu, Run, Scenario, ScenarioKey};
use crate::plan::Plan;

/// Builds a run from records. Keeps parts of scenarios and cells even if their own records are
/// lost. Records may be added in any order, but each one only once.
#[derive(Default)]
pub struct RunBuilder {
    run: Run,
    /// The cells, by the scenario's index in the run and the cell's index in the scenario.
    cells: BTreeMap<(usize, u32), Cell>,
    /// Parts of the cell histograms.
    histograms: Vec<((usize, u32), Metric, BinCounts)>,
    /// The record counts, by scenario.
    counts: Vec<RecordCounts>,
}

/// A scenario's record counts.
#[derive(Clone, Copy, Debug, Default)]
struct RecordCounts {
    added: u32,
    /// None until the scenario's own record is added.
    sent: Option<u32>,
}

impl RecordCounts {
    /// Returns the number of lost records; at least one if the scenario's own record is lost.
    fn lost(self) -> u32 {
        self.sent
            .map_or(1, |sent_count| sent_count.saturating_sub(self.added))
    }
}

impl RunBuilder {
    /// Adds a record.
    pub fn add_record(&mut self, record: Record) {
        match record {
            Record::Run(head) => self.run.head = Some(head),
            Record::Facts(facts) => self.run.facts = Some(facts),
            Record::Plan(part) => {
                self.run.plan.get_or_insert_with(Plan::unknown).merge(&part);
            }
            Record::Cpus(first, cpus) => {
                for (index, cpu) in (first.index()..).zip(cpus) {
                    if let Some(known) = self.cpu(index) {
                        let identity = known.identity;
                        *known = Cpu { identity, ..cpu };
                    }
                }
            }
            Record::Identity(cpus, identity, clocks) => {
                for (index, clock_mhz) in cpus.iter().zip(clocks) {
                    if let Some(cpu) = self.cpu(index.index()) {
                        cpu.identity = Some(Identity {
                            clock_mhz,
                            ..identity
                        });
                    }
                }
            }
            Record::LeftOut(state) => self.run.left_out.push(state),
            Record::Scenario(key, status, conditions, records) => {
                let index = self.count_record(key);
                self.counts[index].sent = Some(records);
                let scenario = &mut self.run.scenarios[index];
                scenario.status = status;
                scenario.conditions = conditions;
            }
            Record::Cell((key, index, mut cell)) => {
                let known = self.cell(key, index);
                // A partial cell contains only series and instants.
                if !cell.lacks_own_record() {
                    cell.samples = core::mem::take(&mut known.samples);
                    core::mem::swap(known, &mut cell);
                }
                known.shown = known.shown.or(cell.shown);
                known.series.extend(cell.series);
            }
            Record::Sample(key, index, sample) => self.cell(key, index).samples.push(sample),
            Record::Histogram(key, index, metric, part) => {
                let at = (self.count_record(key), index);
                self.histograms.push((at, metric, part));
            }
            Record::Check(key, check) => {
                let index = self.count_record(key);
                self.run.scenarios[index].checks.push(check);
            }
            Record::End(end) => self.run.end = Some(end),
        }
    }

    /// Returns the run.
    pub fn finish(mut self) -> Run {
        let in_head = self.run.head.as_ref().map_or(0, |head| head.cpus);
        let count = usize::from(in_head).min(CPU_MAX).max(self.run.cpus.len());
        self.run.cpus.resize(count, Cpu::default());
        if let Some(facts) = &mut self.run.facts {
            let lead = self.run.cpus.get(facts.lead.index());
            facts.own = lead.and_then(|cpu| cpu.identity).unwrap_or_default();
        }
        for (at, metric, part) in self.histograms {
            // Without its series, a histogram is useless.
            if let Some(cell) = self.cells.get_mut(&at)
                && let Some(series) = cell
                    .series
                    .iter_mut()
                    .find(|series| series.metric == metric)
            {
                add_part(series.histogram.get_or_insert_default(), part);
            }
        }
        for ((scenario, _), mut cell) in self.cells {
            let scenario = &mut self.run.scenarios[scenario];
            // The index alone identifies a cell only in TFTF's suite.
            if scenario.id.is_suite() || !cell.lacks_own_record() {
                cell.series.sort_by_key(|series| series.metric);
                cell.series.shrink_to_fit();
                cell.samples.shrink_to_fit();
                cell.choose_figures(scenario.id.is_parallel());
                scenario.cells.push(cell);
            }
        }
        for (scenario, counts) in self.run.scenarios.iter_mut().zip(self.counts) {
            scenario.lost_records = counts.lost();
            scenario.cells.shrink_to_fit();
        }
        self.run
    }

    /// Returns the CPU at `index`, adding CPUs before it that have no record; None if no board has
    /// that many CPUs.
    fn cpu(&mut self, index: usize) -> Option<&mut Cpu> {
        let cpus = &mut self.run.cpus;
        if index >= cpus.len() && index < CPU_MAX {
            cpus.resize(index + 1, Cpu::default());
        }
        cpus.get_mut(index)
    }

    /// Counts a record of a scenario, and returns the cell with that index. Adds the cell if it is
    /// new.
    fn cell(&mut self, key: ScenarioKey, index: u32) -> &mut Cell {
        let at = (self.count_record(key), index);
        let new = || Cell::new(cpu_of(index), CellStep::default());
        self.cells.entry(at).or_insert_with(new)
    }

    /// Counts a record of a scenario, and returns the scenario's index. Adds the scenario if it is
    /// new.
    fn count_record(&mut self, key: ScenarioKey) -> usize {
        let scenarios = &mut self.run.scenarios;
        let known = scenarios.iter().rposition(|scenario| scenario.key() == key);
        let index = known.unwrap_or_else(|| {
            scenarios.push(Scenario::new(key));
            self.counts.push(RecordCounts::default());
            scenarios.len() - 1
        });
        let added = &mut self.counts[index].added;
        *added = added.saturating_add(1);
        index
    }
}

/// Merges part of a histogram into the other parts. The bins between the parts are empty.
fn add_part(whole: &mut BinCounts, mut part: BinCounts) {
    if whole.counts.is_empty() || part.first < whole.first {
        core::mem::swap(whole, &mut part);
    }
    if !part.counts.is_empty() {
        let start = usize::from(part.first - whole.first);
        whole.counts.resize(start, 0);
        whole.counts.extend(part.counts);
    }
}
