//! The generic timer's per-CPU timers (DDI 0487, chapter D12).

use crate::words;

words! {
    /// A per-CPU timer, named after its register prefix.
    pub enum TimerName, word {
        /// The EL1 physical timer.
        Cntp = "CNTP",
        /// The EL2 physical timer.
        Cnthp = "CNTHP",
        /// The EL1 virtual timer.
        Cntv = "CNTV",
    }
}
