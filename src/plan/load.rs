//! The CPUs' load on the memory system while a timer is measured.

use crate::spec::words::words;

words! {
    /// A load.
    pub enum Load, word {
        /// None: the CPU waits for its next interrupt.
        Idle = "idle",
        /// Plain stores.
        Write = "write",
        /// DC ZVA.
        Zero = "zero",
        /// Non-temporal stores, STNP.
        Nontemporal = "nontemporal",
        /// Cleaning lines to the point of coherency, DC CVAC and DC CIVAC, each
        /// written to before.
        Clean = "clean",
        /// All four by turns, a page each.
        Mixed = "mixed",
    }
}
