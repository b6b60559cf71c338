//! The outcome of one CPU's action in a round. A round's timeline is at the top of `round.rs`. The
//! machine code fills an [`Outcome`] with raw counter values and return codes; [`Outcome::judge`]
//! decides whether it counts.

mod figures;
mod judge;

use hardware::spec::counter_value::{CounterValue, ticks_between};
use hardware::spec::pmf::{ReadError, Stamp, Stamps};
use hardware::spec::stat::Rise;

use super::action::{Action, Preparation, SingleCall};
use super::capture_sequence::CaptureSequence;
use super::rejection::Loss;
use super::stress::Stressed;

/// How a CPU's action ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ActionEnd {
    /// The CPU did not take part in the round, or did not perform its action.
    #[default]
    NotRun,
    /// The call returned to its caller.
    Returned,
    /// The CPU came back through the entry point given to CPU_SUSPEND.
    Resumed,
    /// The CPU called CPU_OFF, after which AFFINITY_INFO returned OFF for it.
    WentOff,
    /// The CPU was turned on by CPU_ON and read its timestamps.
    ReadBack,
    /// An interrupt stayed pending, so the call was not made.
    Pending,
    /// Like [`ActionEnd::Resumed`], but with a context ID other than the one given.
    WrongContext,
    /// The CPU does not support the loop's operation, or abandoned the loop.
    GaveUp,
    /// The SGI, timer frame or timer did not wake the CPU; something else did, much later.
    WokenByFallback,
    /// The CPU was lost.
    Lost(Loss),
}

impl ActionEnd {
    /// Returns true if the CPU came back from its call, either to its caller or through the entry
    /// point.
    pub const fn has_returned(self) -> bool {
        matches!(self, Self::Returned | Self::Resumed)
    }
}

/// A CPU's raw record of one round: what every action has, and the [`ActionDetails`] of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The order's action; [`Action::None`] if it had no order.
    pub action: Action,
    /// How it ended.
    pub end: ActionEnd,
    /// The low word of X0 after the call, or after the last call of a loop; None if no call
    /// returned.
    pub code: Option<i32>,
    /// When the order makes the CPU call: the round's start, or later in OS-initiated mode.
    pub start: Option<CounterValue>,
    /// The counter just before the call. Before a power-down, it is read earlier, because registers
    /// are lost. None if an erratum corrupted the read.
    pub before: Option<CounterValue>,
    /// The counter just after the call, or at the entry point. None if an erratum corrupted the
    /// read.
    pub returned_at: Option<CounterValue>,
    /// The round's quiet end. CPUs that are awake do nothing until then.
    pub quiet_end: Option<CounterValue>,
    /// The CPU's timestamps, read before its next PSCI call, or why they could not be read. All are
    /// None if PMF is not used.
    pub stamps: Result<Stamps, ReadError>,
    /// What only this kind of action has.
    pub details: ActionDetails,
}

/// The part of an [`Outcome`] that depends on its action. [`Outcome::new`] chooses the variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionDetails {
    /// Nothing: there was no call, or one that simply returns.
    None,
    /// The CPU slept. The timed call is the suspend itself or the first call after it.
    Suspend(Suspended),
    /// One of the rounds in which a CPU powers off and comes up again.
    PowerCycle(PowerCycle),
    /// The CPU took an interrupt during a call.
    Interrupt(InterruptTimes),
    /// The CPU took interrupts, or loaded the memory system, during a window. Its
    /// [`Tally`](super::Tally) has the results.
    Window,
    /// The CPU made random calls.
    Stress(Stressed),
    /// The CPU repeated an operation.
    Loop {
        /// The cycles of all repetitions, from PMCCNTR_EL0; None if that register does not count.
        cycles: Option<u64>,
    },
}

/// A CPU's sleep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Suspended {
    /// When the wake-up was due; for an SGI, just before it was sent.
    pub due: Option<CounterValue>,
    /// The increase in the PSCI_STAT values, if the round requested them.
    pub rise: Rise,
    /// What the suspend did to the CPU's context, if the round checks it.
    pub kept: Option<KeptContext>,
    /// True if the CPU kept its power although it came back through its entry point; None if that is
    /// unknown.
    pub kept_power: Option<bool>,
}

/// A CPU_OFF, and the CPU_ON before or after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerCycle {
    /// The order's due: when the lead, which stays idle while the CPU powers off, becomes active
    /// again.
    pub lead_active_at: Option<CounterValue>,
    /// When AFFINITY_INFO first returned OFF to the lead. If the lead floods the CPU with CPU_ON
    /// calls instead, when the firmware accepted one.
    pub seen_off: Option<CounterValue>,
    /// When the lead called CPU_ON for this CPU.
    pub turned_on: Option<CounterValue>,
    /// When this CPU executed its first instruction after CPU_ON. None if an erratum corrupted the
    /// read.
    pub entered: Option<CounterValue>,
}

/// The times of an interrupt that falls due during a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterruptTimes {
    /// When the CPU's timer expired.
    pub due: Option<CounterValue>,
    /// When this CPU executed the first instruction of its interrupt handler. None if it took no
    /// interrupt, or if an erratum corrupted the read.
    pub entered: Option<CounterValue>,
}

/// Whether each part of a CPU's context that later wake-ups depend on is the same after a suspend as
/// before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptContext {
    /// The timer that wakes the CPU: CVAL, and ENABLE and IMASK in CTL.
    pub timer: bool,
    /// The enable bits and priorities of the CPU's SGIs and PPIs.
    pub private_interrupts: bool,
    /// VBAR_ELx. None if the CPU came back through its entry point, where the payload sets
    /// VBAR_ELx.
    pub vectors: Option<bool>,
}

impl Default for Outcome {
    fn default() -> Self {
        Self::new(Action::None)
    }
}

impl Outcome {
    /// Returns the outcome of an action that was not performed.
    pub fn new(action: Action) -> Self {
        Self {
            action,
            end: ActionEnd::NotRun,
            code: None,
            start: None,
            before: None,
            returned_at: None,
            quiet_end: None,
            stamps: Ok(Stamps::default()),
            details: ActionDetails::of_action(action),
        }
    }

    /// Returns true if the CPU took part in the round.
    pub fn took_part(&self) -> bool {
        !matches!(self.action, Action::None | Action::Help)
    }

    /// Returns when the interrupt that wakes the CPU, or that disturbs its call, was due.
    pub const fn due(&self) -> Option<CounterValue> {
        match self.details {
            ActionDetails::Suspend(suspended) => suspended.due,
            ActionDetails::Interrupt(interrupt) => interrupt.due,
            ActionDetails::None
            | ActionDetails::PowerCycle(_)
            | ActionDetails::Window
            | ActionDetails::Stress(_)
            | ActionDetails::Loop { .. } => None,
        }
    }

    /// Returns one of the CPU's timestamps; None if it was never written or could not be read.
    pub fn stamp(&self, stamp: Stamp) -> Option<CounterValue> {
        self.stamps.ok()?.at(stamp)
    }

    /// Returns the timestamps that the call captures; None if it captures none.
    pub fn capture_sequence(&self) -> Option<CaptureSequence> {
        match (self.action, self.details) {
            (Action::ReadBack, ActionDetails::PowerCycle(PowerCycle { turned_on, .. })) => {
                Some(CaptureSequence::OffOn { turned_on })
            }
            (Action::Version, _) => Some(CaptureSequence::Call),
            (Action::ColdCall { call, .. }, _) => match call {
                SingleCall::Version => Some(CaptureSequence::Call),
                // PMF does not time its own calls.
                SingleCall::ReadStamp => None,
            },
            (action, _) => match action.sleep_is_powerdown() {
                Some(true) => Some(CaptureSequence::PowerDown),
                Some(false) => Some(CaptureSequence::Standby),
                None => None,
            },
        }
    }

    /// Returns true if the timestamps belong to this call.
    pub fn has_own_stamps(&self) -> bool {
        let Ok(stamps) = &self.stamps else {
            return false;
        };
        match (self.capture_sequence(), self.before, self.returned_at) {
            (Some(sequence), Some(before), Some(after)) => {
                sequence.check(stamps, before, after).is_ok()
            }
            _ => false,
        }
    }

    /// Returns the ticks from the round's quiet end to the return.
    pub fn lateness(&self) -> u64 {
        ticks_between(self.quiet_end, self.first_instruction_at())
    }

    /// Returns the counter at the CPU's first instruction after the call.
    const fn first_instruction_at(&self) -> Option<CounterValue> {
        match self.details {
            ActionDetails::PowerCycle(cycle) => cycle.entered,
            _ => self.returned_at,
        }
    }

    /// Returns the first instant after a suspend at which the CPU is known to be awake.
    fn awake(&self) -> Option<CounterValue> {
        if self.action.is_cold_call() {
            self.before
        } else {
            self.returned_at
        }
    }
}

impl ActionDetails {
    /// Returns the empty details of an action.
    fn of_action(action: Action) -> Self {
        match action {
            Action::None
            | Action::Help
            | Action::Version
            | Action::Call(_)
            | Action::ColdCall {
                preparation: Preparation::Warm | Preparation::Evict,
                ..
            } => Self::None,
            Action::Suspend { .. }
            | Action::SystemSuspend
            | Action::ColdCall {
                preparation: Preparation::Suspend { .. },
                ..
            } => Self::Suspend(Suspended::default()),
            Action::Off | Action::TimedOff { .. } | Action::ReadBack => {
                Self::PowerCycle(PowerCycle::default())
            }
            Action::Interrupt => Self::Interrupt(InterruptTimes::default()),
            Action::Expire => Self::Window,
            Action::Stress => Self::Stress(Stressed::default()),
            Action::Repeat { .. } => Self::Loop { cycles: None },
        }
    }
}

#[cfg(test)]
mod tests;
