//! Exits from level 0 that take about the same time, which shows that no CPU waits for a lock on
//! its way up.

use std::collections::HashMap;

use itertools::Itertools as _;
use suite::measure::Metric::Wakeup;
use suite::model::FindingKind;
use suite::plan::ScenarioId;

use super::suite_tables::{Column, CpuKind, SuiteTables, TableFigure, exceeds};
use crate::analysis::findings::BasedFinding;

/// Exits without a queue.
const UNIFORM_EXITS: FindingKind = FindingKind::new("uniform-exits");

/// The minimum number of CPUs that can form a queue.
const CPUS_MIN: usize = 3;

/// Applies if parallel exits from level 0 are no longer than serial ones.
pub(in crate::analysis) fn uniform_exits(tables: &SuiteTables<'_>) -> Option<BasedFinding> {
    let exits = UniformExits::of(tables)?;
    if tables.cpus().count() < CPUS_MIN {
        return None;
    }
    let clock = tables.logged.clock();
    let [parallel, serial] = [&exits.parallel, &exits.serial].map(|column| {
        let ticks = tables.sample_range(column.figures());
        ticks.map_or_else(String::new, |ticks| clock.range(ticks).to_string())
    });
    let within = match exits.varies_by {
        0 => String::new(),
        ticks => format!(
            ", within the {} by which serial exits on CPUs of one kind differ",
            tables.span(ticks)
        ),
    };
    Some(BasedFinding::of_tables(
        UNIFORM_EXITS,
        format!(
            "At level 0, parallel exits take no longer than serial ones ({parallel} compared with \
             {serial}){within}: no CPU waits for a lock on its way up."
        ),
        exits.figures(),
    ))
}

/// Parallel exits at level 0 that are no longer than serial ones.
///
/// Holding one proves that no parallel exit shows a wait, as far as the figures can: see
/// [`Self::of`]. It does not prove that there are enough CPUs for a queue.
pub(super) struct UniformExits {
    /// The parallel exits.
    pub parallel: Column,
    serial: Column,
    /// If parallel exits are longer than the longest serial exit on a CPU of the same kind: the
    /// largest difference between serial exits on CPUs of one kind. Otherwise 0.
    varies_by: u64,
}

impl UniformExits {
    /// Returns the exits; None if a table is missing or if a parallel exit takes longer than serial
    /// ones. With samples, none may be longer than the same CPU's serial ones. Published figures
    /// are single samples, and only the differences between CPUs of one kind show by how much such
    /// figures vary.
    pub(super) fn of(tables: &SuiteTables<'_>) -> Option<Self> {
        let parallel = tables.column(ScenarioId::CPU_SUSPEND_PARALLEL, Wakeup)?;
        let serial = tables.column(ScenarioId::CPU_SUSPEND_SERIAL, Wakeup)?;
        let varies_by = if tables.has_samples(&parallel) && tables.has_samples(&serial) {
            are_no_longer(tables, &parallel, &serial).then_some(0)?
        } else {
            excess_within_variation(tables, &parallel, &serial)?
        };
        Some(Self {
            parallel,
            serial,
            varies_by,
        })
    }

    /// Returns all figures.
    pub(super) fn figures(&self) -> Vec<TableFigure> {
        let figures = self.parallel.figures().chain(self.serial.figures());
        figures.copied().collect()
    }
}

/// Returns true if no CPU has a parallel exit that is longer than all its serial ones.
fn are_no_longer(tables: &SuiteTables<'_>, parallel: &Column, serial: &Column) -> bool {
    let longest_sample = |figure| tables.samples_of(figure).1;
    let mut pairs = parallel.figures().zip(serial.figures());
    pairs.all(|(parallel_figure, serial_figure)| {
        longest_sample(parallel_figure) <= longest_sample(serial_figure)
    })
}

/// Returns 0 if no parallel exit is longer than the longest serial one on a CPU of the same kind;
/// otherwise by how much serial exits on CPUs of one kind differ, if that explains the excess.
fn excess_within_variation(
    tables: &SuiteTables<'_>,
    parallel: &Column,
    serial: &Column,
) -> Option<u64> {
    let ranges: HashMap<CpuKind, (u64, u64)> = serial
        .figures()
        .into_group_map_by(|exit| tables.kind(exit.cpu))
        .into_iter()
        .filter_map(|(kind, figures)| Some((kind, tables.sample_range(figures)?)))
        .collect();
    let varies_by = ranges
        .values()
        .map(|(least_ns, most_ns)| most_ns - least_ns)
        .max()?;
    let mut pairs = parallel.figures().zip(serial.figures());
    // CPUs of one kind may differ among themselves by more than a wait.
    if pairs.any(|(parallel_figure, serial_figure)| {
        exceeds(parallel_figure.ticks, serial_figure.ticks, 4)
    }) {
        return None;
    }
    let excess = |exit: &TableFigure| {
        let (_, longest) = ranges[&tables.kind(exit.cpu)];
        exit.ticks.saturating_sub(longest)
    };
    match parallel.figures().map(excess).max()? {
        0 => Some(0),
        excess => (excess <= varies_by).then_some(varies_by),
    }
}
