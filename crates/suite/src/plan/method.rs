//! How to measure: preconditions, wake-ups and the final action.

use hardware::words;

words! {
    /// The preconditions for a sample.
    #[derive(Default)]
    pub enum Method, word {
        /// Each sample is the first call after a fresh CPU_ON, as in TFTF.
        #[default]
        Tftf = "tftf",
        /// The CPUs stay on between iterations.
        Warm = "warm",
    }
}

/// Appended to a scenario name in the title if the method is warm.
pub const WARM_TITLE: &str = ", CPUs kept on between samples";

words! {
    /// When the CPUs in a parallel round wake up.
    #[derive(Default)]
    pub enum WakePattern, word {
        /// All at the same deadline. With a helper, all are woken by a single SGI if the GIC
        /// supports it.
        #[default]
        Together = "together",
        /// One after another, at deadlines a fixed interval apart.
        Staggered = "staggered",
        /// The lead wakes the others one after another with SGIs, as in TFTF. A helper wakes the
        /// first, and each woken CPU wakes the next.
        Chain = "chain",
    }
}

words! {
    /// The action taken after everything has been printed.
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub enum EndAction, word {
        Off = "off",
        /// Wait forever.
        Park = "park",
        Reset = "reset",
    }
}

words! {
    /// The number of times that each block of records is written.
    #[derive(Default)]
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub enum Records, word {
        #[default]
        Once = "once",
        /// Twice, with the same numbers, in case the serial line loses bytes.
        Twice = "twice",
        None = "none",
    }
}

impl Records {
    /// Returns the number of copies.
    pub const fn copies(self) -> usize {
        [1, 2, 0][self as usize]
    }
}

words! {
    /// The samples that are sent as records.
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub enum SentSamples, word {
        None = "none",
        All = "all",
    }
}

words! {
    /// The calls that `fitness` makes.
    pub enum CheckedCalls, word {
        /// Calls with valid arguments.
        Harmless = "harmless",
        /// Also calls with invalid arguments.
        Destructive = "destructive",
    }
}
