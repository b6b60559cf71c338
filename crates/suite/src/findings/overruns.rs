//! Missed timer expiries.

use alloc::format;
use alloc::vec::Vec;

use super::subject::Subject;
use crate::measure::Reason;
use crate::model::{Cell, Finding, FindingKind};
use crate::plan::ActiveCpus;

/// Missed timer expiries.
pub(super) const OVERRUNS: FindingKind = FindingKind::new("overruns");

/// Finds CPUs that missed more than a tenth of their expiries. Missed expiries are a result, not
/// a failure.
pub(super) fn find_overruns(&Subject { run, scenario, .. }: &Subject<'_>) -> Vec<Finding> {
    let overrun_count = |cell: &Cell| {
        let counts = cell.counts.as_ref();
        counts.map_or(0, |counts| u64::from(counts.rejected_for(Reason::Overrun)))
    };
    let expiry_count = |cell: &Cell| u64::from(cell.valid()) + overrun_count(cell);
    let has_many = |cell: &&Cell| overrun_count(cell) * 10 > expiry_count(cell);
    let cells = || scenario.cells.iter().filter(has_many);
    // Compare ratios. The products cannot overflow, because no measurement has 2^32 expiries.
    let is_worse = |one: &Cell, other: &Cell| {
        overrun_count(one) * expiry_count(other) > overrun_count(other) * expiry_count(one)
    };
    let worse_cell = |worst_cell, cell| {
        if is_worse(cell, worst_cell) {
            cell
        } else {
            worst_cell
        }
    };
    let Some(worst) = cells().reduce(worse_cell) else {
        return Vec::new();
    };
    let is_alone = worst.step.cpus == ActiveCpus::Alone;
    let how = if is_alone {
        "alone"
    } else {
        "all CPUs at once"
    };
    let cpu = run.label(worst.cpu);
    let overruns = overrun_count(worst);
    let expiries = expiry_count(worst);
    let word = worst.step.variant.word();
    let sentence = format!(
        "Overruns: CPU {cpu} missed {overruns} of {expiries} expiries ({how}, {word}); min, median and \
         max exclude them."
    );
    let cpus = cells().map(|cell| cell.cpu);
    [Finding::by_counts(OVERRUNS, sentence, cpus)].into()
}
