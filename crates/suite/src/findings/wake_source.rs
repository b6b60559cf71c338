//! The interrupt that woke the CPUs.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::subject::Subject;
use crate::model::{Finding, FindingKind, Run, Scenario, WakeSource};
use hardware::board::CpuIndex;

/// The interrupt that woke the CPUs.
pub(super) const WAKE_SOURCE: FindingKind = FindingKind::new("wake-source");

/// Determines what woke the CPUs, if it differs from what the header shows.
pub(super) fn find_wake_source(&Subject { run, scenario, .. }: &Subject<'_>) -> Vec<Finding> {
    let Some(conditions) = &scenario.conditions else {
        return Vec::new();
    };
    let source = conditions.wake_source;
    let of_lead = helper_of_lead(run, scenario);
    // CPU_ON turns on the other CPUs.
    let lead_alone = scenario.id.only_lead_suspends();
    let is_own = source == WakeSource::OwnTimers
        || lead_alone && source == WakeSource::Helper && of_lead.is_none();
    if is_own {
        return Vec::new();
    }
    let lead = if scenario.id.is_suite() {
        "The CPUs' own timers stop in this state: "
    } else {
        "In states that stop the CPUs' own timers: "
    };
    let others = match (source, scenario.helper) {
        (WakeSource::Frame, _) if lead_alone => "the timer frame wakes the lead".into(),
        (WakeSource::Frame, _) => {
            "the timer frame wakes the lead, which wakes the others by SGI".into()
        }
        (_, Some(helper)) => {
            let helper = run.label(helper);
            format!("CPU {helper} stays awake and wakes the others by SGI; its cluster stays on")
        }
        (_, None) if lead_alone => String::new(),
        (_, None) => "the lead wakes every other CPU by SGI".into(),
    };
    let (mark, by, end) = if lead_alone {
        ("", " by SGI", "; CPU_ON turns on the others.")
    } else {
        ("; ", "", ".")
    };
    let helper_of_lead = match of_lead {
        Some(helper) => {
            let helper = run.label(helper);
            format!("{mark}CPU {helper} stays awake and wakes the lead{by}")
        }
        None => String::new(),
    };
    let sentence = format!("{lead}{others}{helper_of_lead}{end}");
    [Finding::by_counts(WAKE_SOURCE, sentence, [])].into()
}

/// Returns the CPU that stays awake only to wake the lead, according to the lead's cell.
fn helper_of_lead(run: &Run, scenario: &Scenario) -> Option<CpuIndex> {
    let lead = run.lead()?;
    if scenario.helper.is_some() {
        // A helper used for the entire scenario also wakes the other CPUs.
        return None;
    }
    let mut cells = scenario.cells.iter().filter(|cell| cell.cpu == lead);
    cells.find_map(|cell| cell.helper)
}
