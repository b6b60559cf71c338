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
    let overruns = |cell: &Cell| {
        let counts = cell.counts.as_ref();
        counts.map_or(0, |counts| u64::from(counts.rejected_for(Reason::Overrun)))
    };
    let all = |cell: &Cell| u64::from(cell.valid()) + overruns(cell);
    let has_many = |cell: &&Cell| overruns(cell) * 10 > all(cell);
    let cells = || scenario.cells.iter().filter(has_many);
    // Compare ratios. The products cannot overflow, because no measurement has 2^32 expiries.
    let is_worse =
        |one: &Cell, other: &Cell| overruns(one) * all(other) > overruns(other) * all(one);
    let worse = |worst_cell, cell| {
        if is_worse(cell, worst_cell) {
            cell
        } else {
            worst_cell
        }
    };
    let Some(worst) = cells().reduce(worse) else {
        return Vec::new();
    };
    let is_alone = worst.step.cpus == ActiveCpus::Alone;
    let how = if is_alone {
        "alone"
    } else {
        "all CPUs at once"
    };
    let (cpu, overruns, all) = (run.label(worst.cpu), overruns(worst), all(worst));
    let word = worst.step.variant.word();
    let sentence = format!(
        "Overruns: CPU {cpu} missed {overruns} of {all} expiries ({how}, {word}); min, median and \
         max exclude them."
    );
    let cpus = cells().map(|cell| cell.cpu);
    [Finding::by_counts(OVERRUNS, sentence, cpus)].into()
}
