//! Random calls on all CPUs at once: what a CPU calls, and which answers are right.
//!
//! The CPUs do not coordinate, so what a caller knows about another CPU may be outdated by the time
//! the firmware answers. Each answer is therefore judged by what was known before and after the
//! call: it is wrong only if it was wrong for the whole time in between.

use hardware::board::CpuIndex;
use hardware::words;
use serde::{Deserialize, Serialize};
use smccc::error::SUCCESS;
use smccc::psci::error::{ALREADY_ON, ON_PENDING};

use crate::measure::Action;

/// The maximum number of idle states that CPUs suspend to.
pub const STRESS_STATES: usize = 6;
/// The number of calls of each CPU that are kept.
pub const RECENT_CALLS: usize = 32;

/// AFFINITY_INFO's value for a CPU that is on.
const ON: i32 = 0;
/// AFFINITY_INFO's value for a CPU that is starting. The values from ON to this one are valid.
const STARTING: i32 = 2;

/// What determines the calls in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stress {
    /// The seed. Each CPU has random numbers of its own.
    pub seed: u32,
    /// The `power_state` values that CPUs suspend to.
    pub states: [Option<u32>; STRESS_STATES],
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StressCall {
    /// CPU_SUSPEND to this `power_state`.
    Suspend(u32),
    /// CPU_ON for this CPU.
    CpuOn(CpuIndex),
    /// CPU_OFF.
    CpuOff,
    /// AFFINITY_INFO for this CPU, at level 0.
    AffinityInfo(CpuIndex),
}

impl StressCall {
    /// The number of kinds of calls.
    pub const KINDS: usize = 4;

    /// Returns the kind's index.
    pub const fn kind(self) -> usize {
        match self {
            Self::Suspend(_) => 0,
            Self::CpuOn(_) => 1,
            Self::CpuOff => 2,
            Self::AffinityInfo(_) => 3,
        }
    }

    /// Returns the call as a number, from which [`Self::decode`] recovers it.
    pub fn encode(self) -> u64 {
        let argument = match self {
            Self::Suspend(power_state) => power_state,
            Self::CpuOn(cpu) | Self::AffinityInfo(cpu) => cpu.into(),
            Self::CpuOff => 0,
        };
        (self.kind() as u64) << 32 | u64::from(argument)
    }

    /// Returns the call that was encoded as this number.
    pub fn decode(number: u64) -> Self {
        let argument = number as u32;
        let cpu = || CpuIndex::new(argument as usize);
        match number >> 32 {
            0 => Self::Suspend(argument),
            1 => Self::CpuOn(cpu()),
            2 => Self::CpuOff,
            _ => Self::AffinityInfo(cpu()),
        }
    }
}

/// A call that a CPU has made, or has begun to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecentCall {
    /// Ticks from the round's start to the call.
    pub at: u64,
    /// The call.
    pub call: StressCall,
    /// The low word of X0; None if the call has not returned. A CPU that comes back through an entry
    /// point has SUCCESS.
    pub answer: Option<i32>,
}

words! {
    /// What is wrong with a call.
    pub enum Violation, word {
        /// PSCI does not permit this return value here.
        WrongAnswer = "wrong-answer",
        /// CPU_ON succeeded for a CPU that was on all the time.
        WasOn = "was-on",
        /// CPU_ON succeeded twice before the CPU arrived.
        AcceptedTwice = "accepted-twice",
        /// CPU_ON succeeded, but the CPU did not arrive.
        NotArrived = "not-arrived",
        /// CPU_OFF returned.
        StillOn = "still-on",
        /// A suspended CPU came back with a context ID other than the one given.
        WrongContext = "wrong-context",
        /// A suspended CPU was woken long after its timer had expired.
        LateWake = "late-wake",
    }
}

impl Violation {
    /// Returns a clause that says what is wrong.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::WrongAnswer => "no order of the CPUs' calls permits this return value",
            Self::WasOn => "CPU_ON succeeded for a CPU that was on during the whole call",
            Self::AcceptedTwice => "CPU_ON succeeded twice before the CPU arrived",
            Self::NotArrived => "CPU_ON succeeded, but the CPU did not arrive",
            Self::StillOn => "CPU_OFF returned",
            Self::WrongContext => "the CPU came back with the wrong context ID",
            Self::LateWake => "the CPU was woken long after its timer had expired",
        }
    }
}

/// What a caller knows about another CPU at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetView {
    /// True if the CPU has arrived and has not begun to turn off.
    pub is_on: bool,
    /// How many times it has begun to turn off.
    pub departures: u32,
    /// How many CPU_ON calls for it have succeeded.
    pub accepted: u32,
    /// How many times it has arrived after such a call.
    pub arrivals: u32,
}

/// Judges the answer to a call about another CPU, given what was known before and after the call.
/// `after` includes the call itself, if it is a CPU_ON that succeeded.
pub fn judge_stress_call(
    call: StressCall,
    answer: i32,
    before: TargetView,
    after: TargetView,
) -> Option<Violation> {
    let stayed_on = before.is_on && after.is_on && before.departures == after.departures;
    let is_right = match call {
        StressCall::CpuOn(_) if answer == SUCCESS => {
            if stayed_on {
                return Some(Violation::WasOn);
            }
            // The count of successes lags behind the firmware, so it never is too high.
            if after.accepted.wrapping_sub(after.arrivals) as i32 > 1 {
                return Some(Violation::AcceptedTwice);
            }
            true
        }
        StressCall::CpuOn(_) => answer == ALREADY_ON || answer == ON_PENDING && !stayed_on,
        StressCall::AffinityInfo(_) if stayed_on => answer == ON,
        StressCall::AffinityInfo(_) => (ON..=STARTING).contains(&answer),
        StressCall::Suspend(_) => answer == SUCCESS,
        StressCall::CpuOff => return Some(Violation::StillOn),
    };
    (!is_right).then_some(Violation::WrongAnswer)
}

/// What a CPU did in a round of random calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stressed {
    /// The number of calls of each kind.
    pub calls: [u32; StressCall::KINDS],
    /// What was wrong with the last call. No CPU makes another call after it. Small, because every
    /// outcome has room for it.
    pub violation: Option<Violation>,
}

/// A violation that a CPU found, as records have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StressViolation {
    /// What is wrong.
    pub what: Violation,
    /// The seed with which it occurred.
    pub seed: u32,
}

impl Action {
    /// Returns true if the CPUs make random calls.
    pub const fn is_stress(self) -> bool {
        matches!(self, Self::Stress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smccc::psci::error::DENIED;

    const CPU: CpuIndex = CpuIndex::new(3);

    #[test]
    fn calls_survive_encoding() {
        for call in [
            StressCall::Suspend(0x8101_0022),
            StressCall::CpuOn(CPU),
            StressCall::CpuOff,
            StressCall::AffinityInfo(CPU),
        ] {
            assert_eq!(StressCall::decode(call.encode()), call);
        }
    }

    #[test]
    fn answer_is_wrong_only_if_it_was_wrong_all_the_time() {
        let on = TargetView {
            is_on: true,
            ..TargetView::default()
        };
        let left = TargetView {
            departures: 1,
            ..TargetView::default()
        };
        let back = TargetView {
            is_on: true,
            departures: 1,
            accepted: 1,
            arrivals: 1,
        };
        let accepted = TargetView {
            accepted: 1,
            ..left
        };
        let twice = TargetView {
            accepted: 2,
            ..left
        };
        let [cpu_on, info] = [StressCall::CpuOn(CPU), StressCall::AffinityInfo(CPU)];
        for (call, answer, before, after, expected) in [
            (cpu_on, SUCCESS, on, on, Some(Violation::WasOn)),
            (cpu_on, SUCCESS, on, back, None),
            (cpu_on, SUCCESS, left, accepted, None),
            (cpu_on, SUCCESS, left, twice, Some(Violation::AcceptedTwice)),
            (cpu_on, ALREADY_ON, on, on, None),
            (cpu_on, ON_PENDING, on, on, Some(Violation::WrongAnswer)),
            (cpu_on, ON_PENDING, left, back, None),
            (cpu_on, DENIED, left, left, Some(Violation::WrongAnswer)),
            (info, 0, on, on, None),
            (info, 1, on, on, Some(Violation::WrongAnswer)),
            (info, 1, on, left, None),
            (info, 2, left, back, None),
            (info, 3, left, back, Some(Violation::WrongAnswer)),
            (StressCall::CpuOff, 0, on, on, Some(Violation::StillOn)),
        ] {
            let found = judge_stress_call(call, answer, before, after);
            assert_eq!(found, expected, "{call:?} -> {answer}");
        }
    }
}
