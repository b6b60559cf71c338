//! The states reached according to PSCI_STAT, and mismatches with the requested ones.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use hardware::board::CpuIndex;
use hardware::spec::stat::{Mismatch, Reached};
use hardware::text::join::join;

use super::sentence_parts;
use super::subject::Subject;
use crate::model::{Evidence, Finding, FindingKind, Run, Scenario};

/// The states that were reached.
pub(super) const REACHED: FindingKind = FindingKind::new("reached");

/// Determines which states were reached. Adds one warning for each kind of mismatch.
pub(super) fn find_reached(&Subject { run, scenario, .. }: &Subject<'_>) -> Vec<Finding> {
    let cells: Vec<(CpuIndex, Reached)> = scenario
        .suite_cells()
        .iter()
        .filter_map(|cell| Some((cell.cpu, cell.reached?)))
        .collect();
    if cells.is_empty() {
        return unknown(run, scenario).into_iter().collect();
    }
    // List each state once, shallowest first.
    let mut states: Vec<u32> = cells
        .iter()
        .filter_map(|(_, reached_state)| reached_state.state)
        .collect();
    states.sort_unstable();
    states.dedup();
    let by_state = states.iter().map(|state| {
        let is_here =
            |(_, reached_state): &&(CpuIndex, Reached)| reached_state.state == Some(*state);
        let cpus =
            sentence_parts::list_cpus(run, cells.iter().filter(is_here).map(|(cpu, _)| *cpu));
        format!("{state:#010x} (CPU {cpus})")
    });
    let by_state = if states.is_empty() {
        "no CPU reached any of the states".into()
    } else {
        join(by_state, ", ")
    };
    let sentence = format!("Reached, by PSCI_STAT_COUNT: {by_state}.");
    let cpus = cells.iter().map(|(cpu, _)| *cpu);
    let mut findings = vec![Finding::by_counts(REACHED, sentence, cpus)];
    for mismatch in [Mismatch::State, Mismatch::Count, Mismatch::Residency] {
        let is_wrong =
            |(_, reached_state): &&(CpuIndex, Reached)| reached_state.mismatch() == Some(mismatch);
        if let Some((cpu, reached)) = cells.iter().find(is_wrong) {
            let sentence = warning(run, mismatch, *cpu, reached);
            findings.push(Finding::by_counts(REACHED, sentence, [*cpu]));
        }
    }
    findings
}

/// Reports that the reached state is unknown although it could have been read.
fn unknown(run: &Run, scenario: &Scenario) -> Option<Finding> {
    let conditions = scenario.conditions.as_ref()?;
    let suspends = conditions.power_state.is_some() && !scenario.id.only_lead_suspends();
    let has_stat = run.facts.is_some_and(|facts| facts.stat);
    if !has_stat || !suspends || scenario.suite_cells().is_empty() {
        return None;
    }
    let why = if scenario
        .suite_cells()
        .iter()
        .any(|cell| cell.lost.is_some())
    {
        "a lost CPU may be on"
    } else {
        "no valid round read PSCI_STAT, or the states' levels are unknown"
    };
    let sentence = format!("Reached: unknown, because {why}.");
    Some(Finding {
        evidence: Evidence::Unknown,
        ..Finding::by_counts(REACHED, sentence, [])
    })
}

fn warning(run: &Run, mismatch: Mismatch, cpu: CpuIndex, reached: &Reached) -> String {
    let cpu = run.label(cpu);
    let (due, us) = (reached.due, reached.residency_us);
    let times = u32::from(reached.times);
    match mismatch {
        Mismatch::State => {
            let state = reached.state.map(|state| format!("{state:#010x}"));
            let state = state.unwrap_or_else(|| "no state with a PSCI_STAT_COUNT".into());
            format!("Warning: CPU {cpu} should have reached {due:#010x}, but reached {state}.")
        }
        Mismatch::Count => {
            format!("Warning: PSCI_STAT_COUNT rose by {times} during one suspend of CPU {cpu}.")
        }
        Mismatch::Residency => match reached.most_us {
            Some(most) => format!(
                "Warning: PSCI_STAT_RESIDENCY rose by {us} us during a suspend of CPU {cpu} that \
                 took at most {most} us."
            ),
            None => {
                format!("Warning: PSCI_STAT_RESIDENCY did not rise during a suspend of CPU {cpu}.")
            }
        },
    }
}
