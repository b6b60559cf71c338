//! Tracks each figure across several releases for one board, or lists the figures of several boards
//! side by side.
//!
//! A figure is compared with the most recent earlier release that has it, using the rules of
//! `compare`. If a release lacks the figure, the gap is not filled in. Figures of different boards
//! are not compared.

use std::collections::HashSet;

use anyhow::{Result, ensure};
use itertools::Itertools as _;
use serde::Serialize;
use suite::model::{Scenario, ScenarioKey};

use super::release_names::{board_names, release_names};
use super::scenario_history::{HistoryRow, Releases, RowCpu, ScenarioHistory};
use crate::analysis::compare::RowPairing;
use crate::analysis::conditions::{COMPARED_RUNS, differences, is_ambiguous};
use crate::analysis::figure::has_figures;
use crate::log::LoggedRun;

/// One board's figures across several releases, or the figures of several boards.
#[derive(Clone, Debug, Serialize)]
pub struct History {
    /// The names of the releases, oldest first, or of the boards: one for each run in the report.
    pub(crate) releases: Vec<String>,
    /// True if the runs are from several boards. In that case, nothing is compared.
    pub(crate) has_several_boards: bool,
    /// The relative tolerance, in parts per million.
    pub(crate) tolerance_ppm: u32,
    /// How rows are matched to CPUs.
    pub(crate) row_pairing: RowPairing,
    pub(crate) scenarios: Vec<ScenarioHistory>,
}

impl History {
    /// Returns the rows for all figures.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &HistoryRow> + Clone {
        self.scenarios.iter().flat_map(ScenarioHistory::rows)
    }
}

/// Tracks the figures in `runs`, which are releases for one board, oldest first, or runs of several
/// boards.
///
/// # Errors
/// Returns an error if there is only one run, if runs have the same name, if releases are out of
/// order, if only some have a known counter frequency, or if a run has no CPUs or no scenarios in
/// common with the others.
pub fn history(runs: &[LoggedRun], tolerance_ppm: u32) -> Result<History> {
    let has_several_boards = are_from_several_boards(runs);
    let names = if has_several_boards {
        board_names(runs)?
    } else {
        release_names(runs)?
    };
    check_units(runs)?;
    let releases = Releases {
        runs,
        names: &names,
        has_several_boards,
        row_pairing: row_pairing(runs, has_several_boards),
        tolerance_ppm,
    };
    check_common(&releases)?;
    let scenarios = runs
        .iter()
        .flat_map(scenario_keys)
        .unique()
        .sorted_by_key(|key| key.id.index())
        .map(|key| releases.scenario(key))
        .collect();
    Ok(History {
        row_pairing: releases.row_pairing,
        scenarios,
        tolerance_ppm,
        releases: names,
        has_several_boards,
    })
}

/// Returns the scenarios for which a release has figures.
fn scenario_keys(logged: &LoggedRun) -> impl Iterator<Item = ScenarioKey> {
    logged
        .run
        .scenarios
        .iter()
        .filter(|scenario| has_figures(scenario))
        .map(Scenario::key)
}

/// Returns how rows are matched to CPUs. Boards number their CPUs differently, so MPIDRs identify
/// CPUs only within one board.
fn row_pairing(runs: &[LoggedRun], has_several_boards: bool) -> RowPairing {
    let mut cpus = runs.iter().flat_map(|logged| &logged.run.cpus);
    if !has_several_boards && cpus.all(|cpu| cpu.mpidr.is_some()) {
        RowPairing::Mpidr
    } else if runs.iter().any(|logged| is_ambiguous(&logged.run)) {
        RowPairing::Ambiguous
    } else {
        RowPairing::Labels
    }
}

/// Returns true if two of the runs are known to be from different boards.
fn are_from_several_boards(runs: &[LoggedRun]) -> bool {
    runs.iter().tuple_combinations().any(|(old_run, new_run)| {
        let boards = differences(COMPARED_RUNS, [(new_run, None), (old_run, None)], false);
        boards.count() > 0
    })
}

/// Rejects runs that have different units.
fn check_units(runs: &[LoggedRun]) -> Result<()> {
    for (old, new) in runs.iter().tuple_combinations() {
        let then = &old.source.input;
        let now = &new.source.input;
        ensure!(
            old.clock().is_known() == new.clock().is_known(),
            "only one of {then} and {now} has a known counter frequency; ticks cannot be \
             compared with nanoseconds"
        );
    }
    Ok(())
}

/// Rejects a run that has no scenarios, or no CPUs, in common with the other runs.
fn check_common(releases: &Releases<'_>) -> Result<()> {
    let scenarios: Vec<HashSet<ScenarioKey>> = releases
        .runs
        .iter()
        .map(|logged| scenario_keys(logged).collect())
        .collect();
    let cpus: Vec<HashSet<RowCpu>> = releases
        .runs
        .iter()
        .map(|logged| {
            let indices = logged.run.cpu_indices();
            indices
                .map(|cpu| RowCpu::of(logged, cpu, releases.row_pairing))
                .collect()
        })
        .collect();
    for (index, logged) in releases.runs.iter().enumerate() {
        let input = &logged.source.input;
        ensure!(
            has_common(&scenarios, index),
            "{input} has no scenarios in common with the other runs"
        );
        ensure!(
            releases.row_pairing == RowPairing::Ambiguous || has_common(&cpus, index),
            "{input} has no CPUs in common with the other runs"
        );
    }
    Ok(())
}

/// Returns true if `sets[index]` shares an element with any other set.
fn has_common<T: Eq + std::hash::Hash>(sets: &[HashSet<T>], index: usize) -> bool {
    sets.iter().enumerate().any(|(other_index, other_set)| {
        other_index != index && !other_set.is_disjoint(&sets[index])
    })
}
