//! The states reached according to PSCI_STAT, and mismatches with the requested ones.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use hardware::board::CpuIndex;
use hardware::spec::stat::{Mismatch, Reached};
use hardware::text::join::join;

use super::subject::Subject;
use super::words;
use crate::model::{Cell, Evidence, Finding, Kind, Run, Scenario};

/// The states that were reached.
pub(super) const REACHED: Kind = Kind::new("reached");

/// Determines which states were reached. Adds one warning for each kind of mismatch.
pub(super) fn find_reached(&Subject { run, scenario, .. }: &Subject<'_>) -> Vec<Finding> {
    let cells = scenario.suite_cells().iter();
    let cells: Vec<_> = cells
        .filter_map(|cell| Some((cell, cell.reached?)))
        .collect();
    if cells.is_empty() {
        return unknown(run, scenario).into_iter().collect();
    }
    // List each state once, shallowest first.
    let states = cells.iter().filter_map(|it| it.1.state);
    let mut states: Vec<u64> = states.map(u64::from).collect();
    states.sort_unstable();
    states.dedup();
    let each = states.iter().map(|state| {
        let here = cells
            .iter()
            .filter(|it| it.1.state.map(u64::from) == Some(*state));
        let cpus = words::cpus(run, here.map(|it| it.0.cpu));
        format!("{state:#010x} (CPU {cpus})")
    });
    let each = match states.is_empty() {
        true => "no CPU reached any of the states".into(),
        false => join(each, ", "),
    };
    let sentence = format!("Reached, by PSCI_STAT_COUNT: {each}.");
    let all = cells.iter().map(|it| it.0.cpu);
    let mut found = vec![Finding::by_counts(REACHED, sentence, all)];
    for mismatch in [Mismatch::State, Mismatch::Count, Mismatch::Residency] {
        let is_wrong = |it: &&(&Cell, Reached)| it.1.mismatch() == Some(mismatch);
        if let Some((cell, reached)) = cells.iter().find(is_wrong) {
            let sentence = warning(run, mismatch, cell.cpu, reached);
            found.push(Finding::by_counts(REACHED, sentence, [cell.cpu]));
        }
    }
    found
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
