//! Joins records to a run.

use alloc::vec::Vec;

use hardware::board::CPU_MAX;

use super::record::Record;
use crate::measure::Identity;
use crate::model::{Cpu, Point, Row, Run, Scenario, ScenarioKey, Spread};

/// Joins records to a run. Parts of scenarios and rows whose own record is lost
/// are kept; records may come in any order, and each once.
#[derive(Default)]
pub struct RunBuilder {
    run: Run,
    /// Points, by scenario and place.
    points: Vec<((usize, u32), Point)>,
    /// Parts of the points' spreads.
    spreads: Vec<((usize, u32), Spread)>,
    /// The numbers of records, by scenario.
    counts: Vec<Counts>,
}

/// The numbers of a scenario's records.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    added: u32,
    /// None until the scenario's own record is added.
    sent: Option<u32>,
}

impl Counts {
    fn lost(self) -> u32 {
        self.sent.map_or(1, |sent| sent.saturating_sub(self.added))
    }
}

impl RunBuilder {
    /// Adds a record.
    pub fn add(&mut self, record: Record) {
        match record {
            Record::Run(head) => self.run.head = Some(head),
            Record::Facts(facts) => self.run.facts = Some(facts),
            Record::Plan(plan) => self.run.plan = Some(plan),
            Record::Cpus(first, cpus) => {
                for (index, cpu) in (usize::from(first)..).zip(cpus) {
                    if let Some(place) = self.cpu(index) {
                        let identity = place.identity;
                        *place = Cpu { identity, ..cpu };
                    }
                }
            }
            Record::Identity(cpus, identity, clocks) => {
                for (index, clock_mhz) in cpus.iter().zip(clocks) {
                    if let Some(place) = self.cpu(index.into()) {
                        place.identity = Some(Identity {
                            clock_mhz,
                            ..identity
                        });
                    }
                }
            }
            Record::Scenario(key, status, conditions, rejected, records) => {
                let place = self.counted(key);
                self.counts[place].sent = Some(records);
                let scenario = &mut self.run.scenarios[place];
                scenario.status = status;
                scenario.conditions = conditions;
                scenario.rejected = rejected;
            }
            Record::Row((key, mut row)) => {
                let place = self.counted(key);
                let place = row_of(&mut self.run.scenarios[place], row.cpu);
                // A part of a row has nothing but statistics and instants.
                if !row.lacks_own_record() {
                    row.samples = core::mem::take(&mut place.samples);
                    core::mem::swap(place, &mut row);
                }
                place.shown = place.shown.or(row.shown);
                place.statistics.extend(row.statistics);
            }
            Record::Sample(key, cpu, sample) => {
                let place = self.counted(key);
                let row = row_of(&mut self.run.scenarios[place], cpu);
                row.samples.push(sample);
            }
            Record::Point(key, place, point) => {
                let at = (self.counted(key), place);
                self.points.push((at, point));
            }
            Record::Spread(key, place, part) => {
                let at = (self.counted(key), place);
                self.spreads.push((at, part));
            }
            Record::End(end) => self.run.end = Some(end),
        }
    }

    /// Returns the run.
    pub fn run(mut self) -> Run {
        let cpus = self.run.head.as_ref().map_or(0, |head| head.cpus);
        let cpus = usize::from(cpus).min(CPU_MAX).max(self.run.cpus.len());
        self.run.cpus.resize(cpus, Cpu::default());
        if let Some(facts) = &mut self.run.facts {
            let lead = self.run.cpus.get(facts.lead);
            facts.own = lead.and_then(|cpu| cpu.identity).unwrap_or_default();
        }
        self.points.sort_by_key(|(at, _)| *at);
        for (at, part) in self.spreads {
            // The spread of a point that is lost is of no use.
            if let Ok(place) = self.points.binary_search_by_key(&at, |(at, _)| *at) {
                let point = &mut self.points[place].1;
                add_part(point.spread.get_or_insert_default(), part);
            }
        }
        for ((scenario, _), point) in self.points {
            self.run.scenarios[scenario].points.push(point);
        }
        for (scenario, counts) in self.run.scenarios.iter_mut().zip(self.counts) {
            scenario.lost_records = counts.lost();
        }
        self.run
    }

    /// Returns the CPU at `index`, in front of which there may be ones without a
    /// record; None if no board has so many.
    fn cpu(&mut self, index: usize) -> Option<&mut Cpu> {
        let cpus = &mut self.run.cpus;
        if index >= cpus.len() && index < CPU_MAX {
            cpus.resize(index + 1, Cpu::default());
        }
        cpus.get_mut(index)
    }

    /// Counts a record of a scenario, and returns the scenario's place. A new one is added.
    fn counted(&mut self, key: ScenarioKey) -> usize {
        let scenarios = &mut self.run.scenarios;
        let known = scenarios.iter().rposition(|it| it.key() == key);
        let place = known.unwrap_or_else(|| {
            scenarios.push(Scenario::new(key));
            self.counts.push(Counts::default());
            scenarios.len() - 1
        });
        let added = &mut self.counts[place].added;
        *added = added.saturating_add(1);
        place
    }
}

/// Returns the row of a CPU, which is added in the CPUs' order if it is new.
fn row_of(scenario: &mut Scenario, cpu: u16) -> &mut Row {
    let rows = &mut scenario.rows;
    let after = rows.partition_point(|row| row.cpu <= cpu);
    match after.checked_sub(1) {
        Some(last) if rows[last].cpu == cpu => &mut rows[last],
        _ => {
            let row = Row {
                cpu,
                ..Row::default()
            };
            rows.insert(after, row);
            &mut rows[after]
        }
    }
}

/// Adds a part of a spread to the others; bins between them are empty.
fn add_part(whole: &mut Spread, mut part: Spread) {
    if whole.counts.is_empty() || part.first < whole.first {
        core::mem::swap(whole, &mut part);
    }
    if !part.counts.is_empty() {
        let place = usize::from(part.first - whole.first);
        whole.counts.resize(place, 0);
        whole.counts.extend(part.counts);
    }
}
