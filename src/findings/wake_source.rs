//! The interrupt that woke the CPUs.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::model::{Confidence, CpuSet, Finding, Kind, Run, Scenario, WakeSource};
use crate::plan::ScenarioId;
use crate::spec::prose::append;

/// Finds what woke the CPUs, if that is not as the header has it.
pub(crate) fn wake_source(run: &Run, scenario: &Scenario) -> Option<Finding> {
    let source = scenario.conditions.as_ref()?.wake_source;
    let of_lead = helper_of_lead(run, scenario);
    // The other CPUs are turned on.
    let lead_alone = scenario.id == ScenarioId::CpuOffSerial;
    let is_own = source == WakeSource::OwnTimers
        || lead_alone && source == WakeSource::Helper && of_lead.is_none();
    if is_own {
        return None;
    }
    let mut sentence = String::from(if scenario.id.is_suite() {
        "The CPUs' own timers stop in this state: "
    } else {
        "In states that stop the CPUs' own timers: "
    });
    sentence += &match (source, scenario.helper) {
        (WakeSource::Frame, _) if lead_alone => "the timer frame wakes the lead".into(),
        (WakeSource::Frame, _) => {
            "the timer frame wakes the lead, and the lead the others, by SGI".into()
        }
        (_, Some(helper)) => format!(
            "CPU {} stays awake and wakes the others by SGI; its cluster stays on",
            run.label(helper)
        ),
        (_, None) if lead_alone => String::new(),
        (_, None) => "the lead wakes each other CPU by SGI".into(),
    };
    if let Some(helper) = of_lead {
        let (mark, by) = if lead_alone {
            ("", " by SGI")
        } else {
            ("; ", "")
        };
        let helper = run.label(helper);
        append(
            &mut sentence,
            format_args!("{mark}CPU {helper} stays awake and wakes the lead{by}"),
        );
    }
    sentence += if lead_alone {
        "; CPU_ON turns on each other CPU."
    } else {
        "."
    };
    Some(Finding {
        kind: Kind::WakeSource,
        sentence,
        cpus: CpuSet::default(),
        metrics: Vec::new(),
        confidence: Confidence::Counts,
    })
}

/// Returns the CPU that stays awake to wake the lead alone, by a row or a point of
/// the lead.
fn helper_of_lead(run: &Run, scenario: &Scenario) -> Option<u16> {
    let lead = run.lead()? as u16;
    let row = scenario.row(lead).filter(|_| scenario.helper.is_none());
    let mut points = scenario.points.iter().filter(|point| point.cpu == lead);
    let mut of_point = || points.find_map(|point| point.waker.helper());
    row.and_then(|row| row.helper)
        .or_else(|| of_point().map(|helper| helper as u16))
}
