//! CPUs that came back from a power-down without having lost their power.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hardware::board::CpuIndex;

use super::sentence_parts;
use super::subject::Subject;
use crate::model::{Finding, FindingKind};

/// A CPU kept its power in a state in which it should lose it.
const KEPT_POWER: FindingKind = FindingKind::new("kept-power");

/// Lists the CPUs that kept their power, once for each state.
pub(super) fn find_kept_power(&Subject { run, scenario, .. }: &Subject<'_>) -> Vec<Finding> {
    let of_scenario = scenario
        .conditions
        .as_ref()
        .and_then(|conditions| conditions.power_state);
    let kept: Vec<(Option<u32>, CpuIndex)> = scenario
        .cells
        .iter()
        .filter(|cell| cell.kept_power)
        .map(|cell| (cell.power_state.or(of_scenario), cell.cpu))
        .collect();
    let mut states: Vec<Option<u32>> = kept.iter().map(|(state, _)| *state).collect();
    states.sort_unstable();
    states.dedup();
    let finding = |state: Option<u32>| {
        let cpus = || {
            kept.iter()
                .filter(move |(of_cpu, _)| *of_cpu == state)
                .map(|(_, cpu)| *cpu)
        };
        let list = sentence_parts::list_cpus(run, cpus());
        let state = state.map_or_else(String::new, |state| format!(" in {state:#010x}"));
        let sentence = format!(
            "Warning: CPU {list} kept its power{state}: a register that a power-down clears still had \
             its value. A debugger may keep the power on, or the firmware only waits."
        );
        Finding::by_counts(KEPT_POWER, sentence, cpus())
    };
    states.into_iter().map(finding).collect()
}
