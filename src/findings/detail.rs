//! The amount of detail that findings have.

/// The amount of detail that findings have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// One sentence each, of what timestamps and counts show: for the UART.
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
