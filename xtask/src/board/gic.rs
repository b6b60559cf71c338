//! The version of a board's interrupt controller.

/// The version of the interrupt controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Gic {
    /// GICv2.
    #[value(name = "2", help = None)]
    V2 = 2,
    /// GICv3.
    #[value(name = "3", help = None)]
    V3 = 3,
}

impl Gic {
    /// Returns 2 or 3.
    pub fn number(self) -> u32 {
        self as u32
    }
}
