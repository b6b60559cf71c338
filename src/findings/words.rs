//! The two lengths of a finding's text, and parts of sentences.

use alloc::string::String;
use core::fmt::Display;

use crate::model::Run;
use crate::spec::prose::listed;

/// The amount of detail that findings have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// One sentence for each, for the UART.
    Short,
    /// More sentences, and findings on what the figures cannot show: for reports.
    Full,
}

impl Detail {
    pub(crate) fn is_full(self) -> bool {
        self == Self::Full
    }
}

/// Returns the first of these by comma, and how many more there are.
pub(crate) fn list<T: Display>(mut items: impl Iterator<Item = T>) -> String {
    let mut text = String::new();
    // A String takes all.
    let _ = listed(&mut text, &mut items);
    text
}

/// Returns the names of CPUs, in the order given.
pub(crate) fn cpus(run: &Run, indices: impl Iterator<Item = u16>) -> String {
    list(indices.map(|cpu| run.label(cpu)))
}

/// Returns the least and the greatest of some values.
pub(crate) fn range(values: impl Iterator<Item = u64>) -> Option<(u64, u64)> {
    values.fold(None, |range, value| {
        let (least, most) = range.unwrap_or((value, value));
        Some((least.min(value), most.max(value)))
    })
}
