//! A scenario across several releases: its figures by CPU or, if CPUs wait for each other or cannot
//! be told apart, by size rank.

use std::collections::BTreeMap;

use hardware::board::{CpuIndex, Mpidr};
use itertools::Itertools as _;
use serde::Serialize;
use suite::measure::Summary;
use suite::model::{Scenario, ScenarioKey};

use crate::analysis::compare::{
    ChangeList, ChangeOutcome, ComparedValue, RowPairing, ShownSide, percent,
};
use crate::analysis::conditions::{COMPARED, COMPARED_IF_KNOWN, differences};
use crate::analysis::figure::{FigureKey, is_sorted_by_size};
use crate::log::LoggedRun;

/// A scenario across the releases that have it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ScenarioHistory {
    #[serde(flatten)]
    pub(crate) key: ScenarioKey,
    /// Whether each row is for a CPU or for a rank.
    pub(crate) judged_by: ChangeList,
    pub(crate) figures: Vec<FigureHistory>,
    /// Notes on releases that are not comparable and therefore have no change between them.
    pub(crate) notes: Vec<String>,
}

/// A figure across all releases.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FigureHistory {
    #[serde(flatten)]
    pub(crate) key: FigureKey,
    pub(crate) rows: Vec<HistoryRow>,
}

/// One CPU's figure, or the figure in one position, across all releases.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct HistoryRow {
    /// The size rank, counting from 0; None if the row is for a CPU.
    #[serde(rename = "place")]
    pub(crate) rank: Option<usize>,
    /// One point per release; None if the release lacks the figure.
    pub(crate) points: Vec<Option<HistoryPoint>>,
}

/// A figure in one release.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct HistoryPoint {
    /// The CPU's index in the release's run.
    pub(crate) cpu: CpuIndex,
    #[serde(flatten)]
    pub(crate) value: ComparedValue,
    /// The index of the most recent earlier release that has the figure; None if no earlier release
    /// has it or the two releases are not comparable.
    pub(crate) since: Option<usize>,
    /// The change since the earlier release.
    pub(crate) outcome: Option<ChangeOutcome>,
}

/// A change between two releases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReleaseChange<'h> {
    /// The indices of the two releases, older one first.
    pub(crate) releases: [usize; 2],
    pub(crate) old: &'h ComparedValue,
    pub(crate) new: &'h ComparedValue,
    pub(crate) outcome: ChangeOutcome,
}

impl ReleaseChange<'_> {
    /// Returns true if the change is significant: it exceeds both the tolerance and the noise.
    pub(crate) fn is_significant(&self) -> bool {
        !self.outcome.is_still()
    }

    /// Returns the change as a percentage of the old figure; None if the old figure is zero.
    pub(crate) fn percent(&self) -> Option<f64> {
        percent(self.new.figure, self.old.figure)
    }

    /// Returns the ratio of the larger figure to the smaller one.
    pub(crate) fn ratio(&self) -> f64 {
        let [old, new] = [self.old.figure, self.new.figure];
        old.max(new) / old.min(new)
    }
}

impl HistoryRow {
    /// Returns the significant changes, oldest first.
    pub(crate) fn significant_changes(&self) -> impl Iterator<Item = ReleaseChange<'_>> + Clone {
        let changes = (0..self.points.len()).filter_map(|release_index| self.change(release_index));
        changes.filter(ReleaseChange::is_significant)
    }

    /// Returns the change in a release; None if the release lacks the figure or was not compared.
    pub(crate) fn change(&self, release: usize) -> Option<ReleaseChange<'_>> {
        let point = self.points[release].as_ref()?;
        let (since, outcome) = point.since.zip(point.outcome)?;
        Some(ReleaseChange {
            releases: [since, release],
            old: &self.points[since].as_ref()?.value,
            new: &point.value,
            outcome,
        })
    }
}

impl ScenarioHistory {
    /// Returns the rows for all figures.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &HistoryRow> + Clone {
        self.figures.iter().flat_map(|figure| &figure.rows)
    }
}

/// How a CPU is identified across releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum RowCpu {
    Mpidr(Option<Mpidr>),
    /// Cluster and core.
    Label(u16, u64),
}

impl RowCpu {
    pub(super) fn of(logged: &LoggedRun, cpu: CpuIndex, row_pairing: RowPairing) -> Self {
        let facts = logged.run.cpu(cpu);
        match row_pairing {
            RowPairing::Mpidr => Self::Mpidr(facts.mpidr),
            RowPairing::Labels | RowPairing::Ambiguous => {
                Self::Label(facts.cluster, logged.run.core_number(&facts))
            }
        }
    }
}

/// The releases, and how they are compared.
#[derive(Clone, Copy)]
pub(super) struct Releases<'r> {
    pub(super) runs: &'r [LoggedRun],
    pub(super) names: &'r [String],
    pub(super) has_several_boards: bool,
    pub(super) row_pairing: RowPairing,
    pub(super) tolerance_ppm: u32,
}

/// A scenario in one release.
struct ReleaseSide<'r> {
    release: usize,
    logged: &'r LoggedRun,
    scenario: &'r Scenario,
    shown: ShownSide<'r>,
}

impl<'r> Releases<'r> {
    /// Tracks a scenario across the releases.
    pub(super) fn scenario(self, key: ScenarioKey) -> ScenarioHistory {
        let sides: Vec<ReleaseSide<'r>> = self
            .runs
            .iter()
            .enumerate()
            .filter_map(|(release, logged)| {
                let scenario = logged.run.scenario(key)?;
                Some(ReleaseSide {
                    release,
                    logged,
                    scenario,
                    shown: ShownSide::of(logged, scenario),
                })
            })
            .collect();
        let is_sorted = is_sorted_by_size(key.id) || self.row_pairing == RowPairing::Ambiguous;
        let judged_by = if is_sorted {
            ChangeList::Order
        } else {
            ChangeList::Cpu
        };
        let mut figures = Vec::new();
        let mut notes = Vec::new();
        for key in sides.iter().flat_map(|side| side.shown.keys()).unique() {
            let mut rows = match judged_by {
                ChangeList::Cpu => self.rows_by_cpu(&sides, key),
                ChangeList::Order => self.rows_by_order(&sides, key),
            };
            if !self.has_several_boards {
                for row in &mut rows {
                    self.judge(row, &sides, (key, judged_by), &mut notes);
                }
            }
            figures.push(FigureHistory { key, rows });
        }
        ScenarioHistory {
            key,
            judged_by,
            figures,
            notes: notes.into_iter().unique().collect(),
        }
    }

    /// Returns a figure's rows, one for each CPU.
    fn rows_by_cpu(&self, sides: &[ReleaseSide<'r>], key: FigureKey) -> Vec<HistoryRow> {
        let mut rows: BTreeMap<RowCpu, HistoryRow> = BTreeMap::new();
        for side in sides {
            for figure in side.shown.figures_of(key) {
                let cpu = RowCpu::of(side.logged, figure.cpu, self.row_pairing);
                let row = rows.entry(cpu).or_insert_with(|| self.empty_row(None));
                let point = HistoryPoint::new(figure.cpu, side.shown.value(figure));
                row.points[side.release] = Some(point);
            }
        }
        rows.into_values().collect()
    }

    /// Returns a row without points.
    fn empty_row(&self, rank: Option<usize>) -> HistoryRow {
        HistoryRow {
            rank,
            points: vec![None; self.runs.len()],
        }
    }

    /// Returns a figure's rows, one for each size rank.
    fn rows_by_order(&self, sides: &[ReleaseSide<'r>], key: FigureKey) -> Vec<HistoryRow> {
        let with_figure: Vec<&ReleaseSide<'_>> = sides
            .iter()
            .filter(|side| side.shown.count_of(key) > 0)
            .collect();
        // Use all rounds if every release has them, otherwise the round shown in tables.
        let summaries: Option<Vec<Vec<Summary>>> = with_figure
            .iter()
            .map(|side| side.shown.position_summaries(key))
            .collect();
        let mut rows: Vec<HistoryRow> = Vec::new();
        for (index, side) in with_figure.iter().enumerate() {
            let side_summaries = summaries.as_ref().map(|sides| sides[index].as_slice());
            let values = side.shown.values_by_order(key, side_summaries);
            for (rank, (figure, value)) in values.into_iter().enumerate() {
                if rows.len() == rank {
                    rows.push(self.empty_row(Some(rank)));
                }
                rows[rank].points[side.release] = Some(HistoryPoint::new(figure.cpu, value));
            }
        }
        rows
    }

    /// Compares each figure with the figure from the most recent earlier release that has it.
    fn judge(
        &self,
        row: &mut HistoryRow,
        sides: &[ReleaseSide<'r>],
        (key, judged_by): (FigureKey, ChangeList),
        notes: &mut Vec<String>,
    ) {
        let mut last: Option<(&ReleaseSide<'r>, ComparedValue)> = None;
        for side in sides {
            let Some(point) = &mut row.points[side.release] else {
                continue;
            };
            if let Some((before, old)) = last {
                match self.difference([before, side], key, judged_by) {
                    Some(difference) => notes.push(difference),
                    None => {
                        let tick = before.shown.tick(key).max(side.shown.tick(key));
                        let new = &point.value;
                        let tolerance = self.tolerance_ppm;
                        let outcome = ChangeOutcome::of_figures(key, new, &old, tolerance, tick);
                        (point.since, point.outcome) = (Some(before.release), Some(outcome));
                    }
                }
            }
            last = Some((side, point.value));
        }
    }

    /// Returns a sentence saying why a figure cannot be compared between two releases; None if it
    /// can be.
    fn difference(
        &self,
        [old, new]: [&ReleaseSide<'r>; 2],
        key: FigureKey,
        judged_by: ChangeList,
    ) -> Option<String> {
        let [then, now] = [old, new].map(|side| &self.names[side.release]);
        let compared = [new, old].map(|side| (side.logged, Some(side.scenario)));
        let mut differing = differences(COMPARED, compared, false).chain(differences(
            COMPARED_IF_KNOWN,
            compared,
            false,
        ));
        if let Some(difference) = differing.next() {
            let name = difference.name;
            let [new, old] = difference.values;
            return Some(format!(
                "{then} and {now} are not compared: {name} changed from {old} to {new}."
            ));
        }
        let [olds, news] = [old, new].map(|side| side.shown.count_of(key));
        (judged_by == ChangeList::Order && olds != news).then(|| {
            format!(
                "{then} and {now} are not compared: they have {olds} and {news} figures, but \
                 comparing by rank requires the same number."
            )
        })
    }
}

impl HistoryPoint {
    /// Returns a point that has not been compared.
    const fn new(cpu: CpuIndex, value: ComparedValue) -> Self {
        Self {
            cpu,
            value,
            since: None,
            outcome: None,
        }
    }
}
