//! The two lengths of a finding's text.

/// The amount of detail that findings have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// One sentence for each finding from timestamps and counts: for the UART. The
    /// sentence is the beginning of the full one, so that reports can pair the two.
    Short,
    /// More sentences, and findings on what the figures cannot show: for reports.
    Full,
}

impl Detail {
    /// Returns true for reports.
    pub(crate) fn is_full(self) -> bool {
        self == Self::Full
    }
}
