//! The limits on the lead's waits for other CPUs. The timeline at the top of
//! `round.rs` shows where each wait belongs.

use super::rejection::{Loss, RoundPhase};

/// The time allowed for all CPU_ON calls to be accepted, when the orders are given, in
/// microseconds. An earlier CPU_OFF may still be in progress.
const TURN_ON_US: u64 = 2_000_000;
/// The time allowed from a CPU's order until it is ready, in microseconds, including its first
/// instruction after CPU_ON.
const ARRIVE_US: u64 = 10_000_000;
/// The patience of a round that sets none, in microseconds: the time allowed for the CPUs to return
/// and read their timestamps.
pub const FINISH_US: u64 = 10_000_000;
/// The time allowed for AFFINITY_INFO to return OFF after all CPUs have called CPU_OFF, in
/// microseconds.
const TURN_OFF_US: u64 = 10_000_000;
/// The limit in microseconds on further waits in a phase in which a CPU has been lost. The limit is
/// a thousand times the phase's duration on a working machine, but short enough for all of a
/// board's CPUs to be reported lost before a runner times out.
const AGAIN_US: u64 = 1_000_000;

/// The limits on the lead's waits, depending on the losses so far.
#[derive(Clone, Debug, Default)]
pub struct WaitLimits {
    /// True for each phase in which a CPU was lost.
    lost_in: [bool; RoundPhase::COUNT],
}

impl WaitLimits {
    /// Shortens later waits for the phase in which the CPU was lost.
    pub fn note(&mut self, loss: Loss) {
        self.lost_in[loss.phase as usize] = true;
    }

    /// Returns the longest wait allowed in `phase`, in microseconds.
    pub fn longest_us(&self, phase: RoundPhase) -> u64 {
        let first = match phase {
            RoundPhase::TurnOn => TURN_ON_US,
            RoundPhase::Arrive | RoundPhase::Begin => ARRIVE_US,
            RoundPhase::Finish => FINISH_US,
            RoundPhase::TurnOff => TURN_OFF_US,
        };
        if self.lost_in[phase as usize] {
            first.min(AGAIN_US)
        } else {
            first
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Cause;

    /// A third of a runner's default timeout of 120 s is left for everything else.
    #[test]
    fn sixty_four_losses_of_one_kind_leave_time_to_name_them() {
        for phase in RoundPhase::ALL {
            let mut limits = WaitLimits::default();
            let mut sum = 0;
            for _ in 0..64 {
                sum += limits.longest_us(phase);
                let cause = Cause::Timeout;
                limits.note(Loss { phase, cause });
            }
            assert!(sum < 80_000_000, "{phase:?}: {sum}");
            let others = RoundPhase::ALL.into_iter().filter(|other| *other != phase);
            let first = WaitLimits::default();
            for other in others {
                assert_eq!(limits.longest_us(other), first.longest_us(other));
            }
        }
    }
}
