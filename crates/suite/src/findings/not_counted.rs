//! Attempts that do not count.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hardware::board::CpuIndex;
use hardware::text::join::append;

use super::sentence_parts;
use super::subject::Subject;
use crate::measure::Reason;
use crate::model::{Counts, Finding, FindingKind};

/// Attempts that do not count.
pub const NOT_COUNTED: FindingKind = FindingKind::new("not-counted");

/// Finds the attempts that do not count, with the reasons and the CPUs. Scenarios outside TFTF's
/// suite have separate tables and sentences for such attempts.
pub(super) fn find_not_counted(&Subject { run, scenario, .. }: &Subject<'_>) -> Vec<Finding> {
    let rejected: Vec<(CpuIndex, &Counts)> = scenario
        .suite_cells()
        .iter()
        .filter_map(|cell| Some((cell.cpu, cell.counts.as_ref()?)))
        .filter(|(_, counts)| !counts.rejected.is_empty())
        .collect();
    let mut all = 0;
    let mut by_reason = String::new();
    for reason in Reason::ALL {
        let of_reason = |(_, counts): &&(CpuIndex, &Counts)| counts.rejected_for(reason) > 0;
        let count = |(_, counts): &(CpuIndex, &Counts)| u64::from(counts.rejected_for(reason));
        let total: u64 = rejected.iter().map(count).sum();
        if total > 0 {
            all += total;
            let cpus = rejected.iter().filter(of_reason).map(|(cpu, _)| *cpu);
            let (key, cpus) = (reason.key(), sentence_parts::list_cpus(run, cpus));
            append(
                &mut by_reason,
                ", ",
                &format_args!("{total} {key} (CPU {cpus})"),
            );
        }
    }
    if all == 0 {
        return Vec::new();
    }
    // Skip companions: they shared a round with the CPU at fault but did not cause the rejection.
    let first = rejected.iter().find_map(|(cpu, counts)| {
        let first = counts
            .first
            .filter(|rejection| rejection.reason != Reason::Companion)?;
        Some(format!("; the first on CPU {}: {first}", run.label(*cpu)))
    });
    by_reason += &first.unwrap_or_default();
    let sentence = sentence_parts::not_counted_sentence(all, &by_reason);
    let cpus = rejected.iter().map(|(cpu, _)| *cpu);
    [Finding::by_counts(NOT_COUNTED, sentence, cpus)].into()
}
