//! The loads under which timers are measured.

use hardware::words;

words! {
    /// What CPUs do while a timer is measured.
    pub enum Load, word {
        /// No load: the CPU waits for its next interrupt.
        Idle = "idle",
        /// Plain stores.
        Write = "write",
        /// DC ZVA.
        Zero = "zero",
        /// Non-temporal stores, STNP.
        Nontemporal = "nontemporal",
        /// Stores followed by a clean and invalidate to the point of coherency (DC CIVAC).
        Clean = "clean",
        /// All four loads in turn, for one page each.
        Mixed = "mixed",
        /// PSCI_VERSION calls, without a pause.
        Smc = "smc",
        /// CPU_SUSPEND to a power-down state, again and again.
        Suspend = "suspend",
    }
}

impl Load {
    /// Returns true if the load writes to a CPU's buffer.
    pub const fn needs_buffer(self) -> bool {
        !matches!(self, Self::Idle | Self::Smc | Self::Suspend)
    }
}
