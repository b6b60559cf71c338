//! Attempts that do not count.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hardware::text::join::append;
use hardware::text::plural::Many;

use super::subject::Subject;
use super::words;
use crate::measure::Reason;
use crate::model::{Finding, Kind};

/// Attempts that do not count.
pub const NOT_COUNTED: Kind = Kind::new("not-counted");

/// Finds the attempts that do not count, with the reasons and the CPUs. Scenarios outside TFTF's
/// suite have separate tables and sentences for such attempts.
pub(super) fn find_not_counted(&Subject { run, scenario, .. }: &Subject<'_>) -> Vec<Finding> {
    let cells = scenario.suite_cells().iter();
    let rejected = cells.filter_map(|cell| Some((cell.cpu, cell.counts.as_ref()?)));
    let rejected: Vec<_> = rejected.filter(|it| !it.1.rejected.is_empty()).collect();
    let mut all = 0;
    let mut each = String::new();
    for reason in Reason::ALL {
        let here = rejected.iter().filter(|it| it.1.rejected_for(reason) > 0);
        let counts = here.clone().map(|it| u64::from(it.1.rejected_for(reason)));
        let (total, key) = (counts.sum::<u64>(), reason.key());
        if total > 0 {
            all += total;
            let cpus = words::cpus(run, here.map(|it| it.0));
            append(&mut each, ", ", &format_args!("{total} {key} (CPU {cpus})"));
        }
    }
    if all == 0 {
        return Vec::new();
    }
    // Skip companions: they shared a round with the CPU at fault but did not cause the rejection.
    let first = rejected.iter().find_map(|(cpu, counts)| {
        let first = counts.first.filter(|it| it.reason != Reason::Companion)?;
        Some(format!("; the first on CPU {}: {first}", run.label(*cpu)))
    });
    let (attempts, first) = (Many(all, "attempt"), first.unwrap_or_default());
    let sentence = format!("Not counted: {attempts}: {each}{first}.");
    let cpus = rejected.iter().map(|it| it.0);
    [Finding::by_counts(NOT_COUNTED, sentence, cpus)].into()
}
