//! How it is measured: preconditions, wake-ups, and what comes afterwards.

/// How a sample's preconditions are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Each sample is the first call after a fresh CPU_ON, as in TFTF.
    Tftf,
    /// The CPUs stay on between iterations.
    Warm,
}

impl Method {
    /// The word for it in boot arguments and records.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tftf => "tftf",
            Self::Warm => "warm",
        }
    }
}

/// Which methods to run; never none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Methods {
    /// [`Method::Tftf`] only.
    Tftf,
    /// [`Method::Warm`] only.
    Warm,
    /// Both, TFTF's first.
    Both,
}

impl Methods {
    /// The one that runs first.
    #[must_use]
    pub const fn first(self) -> Method {
        match self {
            Self::Tftf | Self::Both => Method::Tftf,
            Self::Warm => Method::Warm,
        }
    }

    /// The methods in the order in which they run.
    pub fn iter(self) -> impl Iterator<Item = Method> {
        let methods: &'static [Method] = match self {
            Self::Tftf => &[Method::Tftf],
            Self::Warm => &[Method::Warm],
            Self::Both => &[Method::Tftf, Method::Warm],
        };
        methods.iter().copied()
    }
}

/// When the CPUs of a parallel round wake up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakePattern {
    /// All at one deadline.
    Together,
    /// One after another, at deadlines a fixed step apart.
    Staggered,
    /// The lead, woken by its timer, wakes the others by SGI one after another,
    /// as in TFTF.
    Chain,
}

impl WakePattern {
    /// The word for it in boot arguments and records.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Together => "together",
            Self::Staggered => "staggered",
            Self::Chain => "chain",
        }
    }
}

/// What to do when all is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndAction {
    /// SYSTEM_OFF.
    Off,
    /// Wait for ever.
    Park,
    /// SYSTEM_RESET.
    Reset,
}
