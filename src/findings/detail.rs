//! The two lengths of a finding's text.

/// The amount of detail that findings have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// One sentence for each, for the UART: it begins the full one, so that reports pair them.
    Short,
    /// More sentences, and findings on what the figures cannot show: for reports.
    Full,
}

impl Detail {
    pub(crate) fn is_full(self) -> bool {
        self == Self::Full
    }
}
