//! Helpers for building sentences.

use alloc::format;
use alloc::string::String;
use core::fmt::Display;

use crate::model::Run;
use hardware::board::CpuIndex;
use hardware::text::join::join;
use hardware::text::plural::Many;

/// Returns the first few items, separated by commas, and how many more there are. A list of
/// hundreds of CPUs or clusters would not help the reader.
pub fn list_first_few<T: Display>(mut items: impl Iterator<Item = T>) -> String {
    const SHOWN: usize = 8;
    let text = join(items.by_ref().take(SHOWN), ", ");
    match items.count() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// Returns the names of the CPUs, in the given order.
pub(crate) fn list_cpus(run: &Run, indices: impl Iterator<Item = CpuIndex>) -> String {
    list_first_few(indices.map(|cpu| run.label(cpu)))
}

/// Returns the sentence about attempts that do not count. `reasons` lists how many have each reason.
pub(crate) fn not_counted_sentence(attempts: u64, reasons: &str) -> String {
    format!("Not counted: {}: {reasons}.", Many(attempts, "attempt"))
}

/// Returns the minimum and maximum of `values`.
pub(crate) fn find_range(values: impl Iterator<Item = u64>) -> Option<(u64, u64)> {
    values.fold(None, |range, value| {
        let (least, most) = range.unwrap_or((value, value));
        Some((least.min(value), most.max(value)))
    })
}

#[cfg(test)]
mod tests {
    use super::list_first_few;

    #[test]
    fn lists_are_cut() {
        assert_eq!(list_first_few(0..3), "0, 1, 2");
        assert_eq!(list_first_few(0..11), "0, 1, 2, 3, 4, 5, 6, 7 and 3 more");
    }
}
