//! The levels of detail in findings, and helpers for building sentences.

use alloc::format;
use alloc::string::String;
use core::fmt::Display;

use crate::model::Run;
use hardware::board::CpuIndex;
use hardware::text::join::append;

/// The level of detail in findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verbosity {
    /// One sentence for each finding, for the UART.
    Short,
    /// More sentences, plus findings about what the figures cannot show, for reports.
    Full,
}

impl Verbosity {
    pub(crate) fn is_full(self) -> bool {
        self == Self::Full
    }
}

/// Returns the first few items, separated by commas, and how many more there are. A list of
/// hundreds of CPUs or clusters would not help the reader.
pub fn list<T: Display>(items: impl Iterator<Item = T>) -> String {
    let mut list = List::default();
    items.for_each(|item| list.add(&item));
    list.finish()
}

/// A list being built. The type's methods are compiled only once, because they do not depend on the
/// type of the items.
#[derive(Default)]
struct List {
    text: String,
    count: usize,
}

impl List {
    const SHOWN: usize = 8;

    fn add(&mut self, item: &dyn Display) {
        if self.count < Self::SHOWN {
            append(&mut self.text, ", ", item);
        }
        self.count += 1;
    }

    fn finish(self) -> String {
        let Self { text, count } = self;
        match count.saturating_sub(Self::SHOWN) {
            0 => text,
            more => format!("{text} and {more} more"),
        }
    }
}

/// Returns the names of the CPUs, in the given order.
pub(crate) fn cpus(run: &Run, indices: impl Iterator<Item = CpuIndex>) -> String {
    list(indices.map(|cpu| run.label(cpu)))
}

/// Returns the minimum and maximum of `values`.
pub(crate) fn range(values: impl Iterator<Item = u64>) -> Option<(u64, u64)> {
    values.fold(None, |range, value| {
        let (least, most) = range.unwrap_or((value, value));
        Some((least.min(value), most.max(value)))
    })
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn lists_are_cut() {
        assert_eq!(list(0..3), "0, 1, 2");
        assert_eq!(list(0..11), "0, 1, 2, 3, 4, 5, 6, 7 and 3 more");
    }
}
