//! The choices that boot arguments offer, each a set of words.

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
    /// The timestamps that figures are computed from.
    pub enum Timestamps, word {
        /// PMF's, if they can be read.
        Pmf = "pmf",
        /// Only the caller's.
        Caller = "caller",
    }
}

words! {
    /// Whether a part of the machine is used, if it is there.
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub enum Use, word {
        On = "on",
        Off = "off",
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

words! {
    /// The CPUs on which a step was measured.
    #[derive(Default)]
    pub enum ActiveCpus, word {
        /// On one CPU. The other CPUs do what the scenario defines.
        #[default]
        Alone = "alone",
        /// On all CPUs at the same time.
        All = "all",
        /// On one CPU, while one other CPU in the same cluster is active.
        Near = "near",
        /// On one CPU, while one CPU in another cluster is active.
        Far = "far",
    }
}

impl ActiveCpus {
    /// Returns true if one other CPU is active beside the one that is measured.
    pub const fn has_neighbor(self) -> bool {
        matches!(self, Self::Near | Self::Far)
    }

    /// Describes the CPUs in words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Alone => "one CPU alone",
            Self::All => "all CPUs at once",
            Self::Near => "beside a CPU in the same cluster",
            Self::Far => "beside a CPU in another cluster",
        }
    }
}

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
