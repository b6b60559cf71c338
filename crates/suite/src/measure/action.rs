//! What a CPU does in a round.

use hardware::board::CpuIndex;

/// A CPU's action in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// Do nothing: the CPU does not take part in the round.
    #[default]
    None,
    /// CPU_SUSPEND with this `power_state`.
    Suspend {
        /// The argument, in the firmware's format.
        power_state: u32,
        /// True if it requests a power-down (the type bit is set).
        powerdown: bool,
    },
    /// SYSTEM_SUSPEND.
    SystemSuspend,
    /// Stay awake and wake the others with SGIs. The helper itself is not measured.
    Help,
    /// CPU_OFF at the agreed start time.
    Off,
    /// Read the timestamps left by CPU_OFF and the subsequent CPU_ON.
    ReadBack,
    /// PSCI_VERSION.
    Version,
    /// Make a call for its return value. It is not timed.
    Call(LoneCall),
    /// Make one individually timed call, after a preparation that may leave caches cold.
    ColdCall {
        /// The call that is timed.
        call: SingleCall,
        /// The preparation just before the call.
        preparation: Preparation,
    },
    /// Make a call while this CPU takes the interrupt of its timer, as specified by
    /// [`super::Task::Interrupt`].
    Interrupt,
    /// Handle timer expiries, load the memory system, or both, as specified by
    /// [`super::Task::Expire`].
    Expire,
    /// Make random calls until the window ends, as specified by [`super::Task::Stress`].
    Stress,
    /// CPU_OFF at the agreed start time. The lead begins to poll for OFF before then.
    TimedOff {
        /// True if the lead calls CPU_ON instead of AFFINITY_INFO until the CPU is off. The CPU then
        /// powers off a second time.
        floods: bool,
    },
    /// Repeat one operation, timing the batch.
    Repeat {
        /// What each repetition does.
        operation: Operation,
        /// The number of repetitions; at least 1.
        count: u32,
    },
}

/// A call made by [`Action::Call`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoneCall {
    /// CPU_ON for a CPU that is off and takes no other part in the round. If it arrives, it turns
    /// off again.
    CpuOn(CpuIndex),
    /// AFFINITY_INFO for this CPU, at level 0.
    AffinityInfo(CpuIndex),
    /// SET_SUSPEND_MODE with this mode.
    SetSuspendMode(u32),
}

/// A call timed by [`Action::ColdCall`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingleCall {
    /// PSCI_VERSION.
    Version,
    /// GET_TIMESTAMP for one PMF timestamp.
    ReadStamp,
}

/// A CPU's preparation just before [`Action::ColdCall`] times a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// The CPU makes the same call.
    Warm,
    /// The CPU makes the same call, then evicts the cache lines that the payload uses for it (code,
    /// stack and results).
    Evict,
    /// The CPU suspends; the timed call is the first one after the wake-up.
    Suspend {
        /// The argument, in the firmware's format.
        power_state: u32,
        /// True if it requests a power-down.
        powerdown: bool,
    },
}

/// The operation in a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Operation {
    Nothing,
    /// A call without arguments to the function with this ID.
    Call(u32),
    /// A call to the function with this ID, with this argument in W1.
    CallWith(u32, u32),
    /// An SGI to this CPU, acknowledged and completed.
    SelfSgi,
    /// An SGI to the other CPU of a pair, which answers with an SGI. The second CPU of the pair
    /// answers.
    RoundTrip,
    /// A write to the end-of-interrupt register when there is no interrupt to complete.
    Eoi,
    /// An LPI from the ITS to the lead, acknowledged and completed. Only the lead supports it.
    Lpi,
    /// A read of GICD_IIDR.
    DistributorRead,
    /// A read of the console's status register.
    UartRead,
    /// A PMSELR_EL0 read.
    SysregRead,
    ReadStamp,
}

impl Operation {
    /// Returns true if the operation ends with an interrupt.
    pub const fn awaits_interrupt(self) -> bool {
        matches!(self, Self::SelfSgi | Self::RoundTrip | Self::Lpi)
    }
}

impl Action {
    /// Returns true if the action turns the CPU off.
    pub const fn turns_off(self) -> bool {
        matches!(self, Self::Off | Self::TimedOff { .. })
    }

    /// Returns true if the lead polls for OFF before the CPU calls CPU_OFF.
    pub const fn is_timed_off(self) -> bool {
        matches!(self, Self::TimedOff { .. })
    }

    /// Returns true if the action measures how long the CPU takes to come up after CPU_ON.
    pub const fn measures_arrival(self) -> bool {
        matches!(self, Self::ReadBack | Self::TimedOff { .. })
    }

    /// Returns true if the action takes the CPU down.
    pub fn goes_down(self) -> bool {
        self.sleeps() || self.turns_off()
    }

    /// Returns true if the CPU suspends, whether or not the suspend itself is timed.
    pub fn sleeps(self) -> bool {
        self.sleep_is_powerdown().is_some()
    }

    /// Returns true if the CPU sleeps in a power-down state, false if it sleeps in standby, and
    /// None if it does not sleep.
    pub fn sleep_is_powerdown(self) -> Option<bool> {
        match self {
            Self::Suspend { powerdown, .. }
            | Self::ColdCall {
                preparation: Preparation::Suspend { powerdown, .. },
                ..
            } => Some(powerdown),
            Self::SystemSuspend => Some(true),
            Self::None
            | Self::Help
            | Self::Off
            | Self::ReadBack
            | Self::Version
            | Self::Call(_)
            | Self::ColdCall { .. }
            | Self::Interrupt
            | Self::Expire
            | Self::Stress
            | Self::TimedOff { .. }
            | Self::Repeat { .. } => None,
        }
    }

    /// Returns the `power_state` that the CPU passes to CPU_SUSPEND.
    pub const fn power_state(self) -> Option<u32> {
        if let Self::Suspend { power_state, .. }
        | Self::ColdCall {
            preparation: Preparation::Suspend { power_state, .. },
            ..
        } = self
        {
            Some(power_state)
        } else {
            None
        }
    }

    /// Returns true if the action times a single call, which comes after the suspend, if there is
    /// one.
    pub const fn is_cold_call(self) -> bool {
        matches!(self, Self::ColdCall { .. })
    }
}
