//! What CPUs do to the memory system while a timer is looked at.

/// A load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Load {
    /// None: the CPU waits for its next interrupt.
    Idle,
    /// Plain stores.
    Write,
    /// DC ZVA.
    Zero,
    /// Non-temporal stores, STNP.
    Nontemporal,
    /// Cleaning lines to the point of coherency, DC CVAC and DC CIVAC, each
    /// written to before.
    Clean,
    /// All four by turns, a page each.
    Mixed,
}

impl Load {
    /// All of them, in the order in which they are laid on.
    pub const ALL: [Self; 6] = [
        Self::Idle,
        Self::Write,
        Self::Zero,
        Self::Nontemporal,
        Self::Clean,
        Self::Mixed,
    ];

    /// The word for it in boot arguments and records.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Write => "write",
            Self::Zero => "zero",
            Self::Nontemporal => "nontemporal",
            Self::Clean => "clean",
            Self::Mixed => "mixed",
        }
    }
}
