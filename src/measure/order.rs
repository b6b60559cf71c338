//! The order that each CPU gets in a round.

use crate::board::Cpu;
use crate::plan::WakePattern;
use crate::spec::stat::Ladder;

use super::outcome::Action;
use super::round::{After, Round, Waker, Who, Window};
use crate::spec::ticks::Clock;

/// Microseconds from a due wake-up by SGI or timer frame to the next attempt, by the CPU's
/// own timer or a helper's second SGI: a lost SGI costs a sample and not the CPU.
const GRACE_US: u64 = 500_000;

/// Microseconds that each CPU in a helper's chain adds, and the most that all add.
const HOP_US: u64 = 50_000;
const HOPS_US: u64 = 500_000;

/// The CPUs of a round that one CPU wakes by SGI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SgiTargets {
    /// None.
    None,
    /// All others that sleep, one after another in the board's order.
    OneByOne {
        /// The lead sleeps, too.
        includes_lead: bool,
        /// Ticks from one SGI to the next.
        step: u64,
    },
    /// All others that sleep, by one write where the GIC allows it.
    AllAtOnce {
        /// The lead sleeps, too.
        includes_lead: bool,
    },
    /// The CPU of this index.
    One(usize),
}

/// The instants of an order, in ticks from the round's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderTimes {
    /// The call.
    pub call_after: u64,
    /// The interrupt of this CPU's own timer.
    pub own_timer_after: u64,
    /// The wake-up. No other CPU wakes this one before.
    pub wake_due_after: u64,
    /// Until then a CPU that is done touches no memory and calls no firmware.
    pub quiet_until: u64,
}

/// The wake-ups of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderWake {
    /// The timer frame wakes this CPU when it is due; its own timer comes later.
    pub by_timer_frame: bool,
    /// The CPUs that this one wakes.
    pub wakes_others_by_sgi: SgiTargets,
}

/// The end of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderEnd {
    /// The state that the CPU is left in.
    pub after: After,
    /// The CPU stays on until the lead releases it, which has returned by then.
    pub waits_for_release: bool,
}

/// The task of one CPU in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The call.
    pub action: Action,
    /// Bytes that are made dirty in the CPU's cache before the call.
    pub dirty_bytes: usize,
    /// The counter at the lead's CPU_ON; 0 for a CPU that was on before.
    pub cpu_on_at: u64,
    /// Instants.
    pub times: OrderTimes,
    /// Wake-ups.
    pub wake: OrderWake,
    /// End.
    pub end: OrderEnd,
    /// The states of which PSCI_STAT is read.
    pub ladder: Ladder,
    /// The expiries of a timer that are measured.
    pub window: Option<Window>,
}

/// The orders of one round.
pub struct OrderBook<'o> {
    /// The clock that all CPUs share.
    pub clock: Clock,
    /// The lead's index.
    pub lead: usize,
    /// All CPUs, in the board's order.
    pub cpus: &'o [Cpu],
    /// The round.
    pub round: &'o Round,
    /// True for the index of a CPU that has a part in the round, or helps.
    pub participates: &'o dyn Fn(usize) -> bool,
}

impl OrderBook<'_> {
    /// Returns the order of the CPU of this index, at `place` among those measured.
    pub fn order_for(&self, index: usize, place: u64) -> Order {
        let (cpus, round) = (self.cpus.len(), self.round);
        let (action, delay) = round.part(self.cpus, index, self.participates);
        let helps = action == Action::Help;
        let due = match (round.waker, round.wake) {
            (Waker::OwnTimers, WakePattern::Staggered) if !self.is_alone() => {
                round.sleep + place * round.wake_step
            }
            // Half of the grace is left for the second SGI.
            (Waker::FrameTrial(_), _) if helps => round.sleep + self.clock.ticks(GRACE_US) / 2,
            _ => round.sleep,
        };
        let by_timer_frame = index == self.lead && round.waker.is_frame();
        let by_sgi = round.waker.helper().is_some() || self.is_chain() && index != self.lead;
        // An SGI, or the timer frame, comes first, if it comes.
        let comes_first = by_timer_frame || by_sgi;
        let grace = if comes_first {
            wake_grace(self.clock, cpus, round)
        } else {
            0
        };
        let quiet_until = if action.turns_off() {
            0
        } else {
            quiet_ticks(cpus, round)
        };
        Order {
            action,
            dirty_bytes: round.dirty,
            cpu_on_at: 0,
            times: OrderTimes {
                call_after: delay,
                own_timer_after: due + grace,
                wake_due_after: due,
                quiet_until,
            },
            wake: OrderWake {
                by_timer_frame,
                wakes_others_by_sgi: self.sgi_targets(index),
            },
            end: OrderEnd {
                after: round.after,
                waits_for_release: !self.is_alone() && !helps && round.after == After::Off,
            },
            ladder: round.ladder,
            window: round.window,
        }
    }

    fn is_alone(&self) -> bool {
        matches!(self.round.who, Who::Only(_))
    }

    fn is_measured(&self, index: usize) -> bool {
        (self.participates)(index) && self.round.waker.helper() != Some(index)
    }

    /// Returns true if the lead wakes all others.
    fn is_chain(&self) -> bool {
        let chained = match self.round.waker {
            Waker::OwnTimers => self.round.wake == WakePattern::Chain,
            Waker::Frame => true,
            Waker::Helper(_) | Waker::FrameTrial(_) => false,
        };
        chained && !self.is_alone()
    }

    /// Returns the CPUs that the one of this index wakes by SGI.
    fn sgi_targets(&self, index: usize) -> SgiTargets {
        let (lead, round) = (self.lead, self.round);
        let next = |from: usize| {
            let next = (from..self.cpus.len()).find(|other| self.is_measured(*other));
            next.map_or(SgiTargets::None, SgiTargets::One)
        };
        let includes_lead = self.is_measured(lead);
        match (round.waker.helper(), round.wake) {
            (None, _) if self.is_chain() && index == lead => SgiTargets::OneByOne {
                includes_lead: false,
                step: 0,
            },
            (None, _) => SgiTargets::None,
            // The helper wakes the first, and each woken CPU the next.
            (Some(helper), WakePattern::Chain) => next(if helper == index { 0 } else { index + 1 }),
            (Some(helper), _) if helper != index => SgiTargets::None,
            (Some(_), WakePattern::Staggered) => SgiTargets::OneByOne {
                includes_lead,
                step: round.wake_step,
            },
            (Some(_), WakePattern::Together) => SgiTargets::AllAtOnce { includes_lead },
        }
    }
}

/// Returns the ticks from the first wake-up of a round to the last one.
pub fn wake_spread(cpus: usize, round: &Round) -> u64 {
    match round.wake {
        WakePattern::Staggered => cpus as u64 * round.wake_step,
        WakePattern::Together | WakePattern::Chain => 0,
    }
}

/// Returns the ticks from a due wake-up by SGI or timer frame to the second SGI.
pub fn wake_grace(clock: Clock, cpus: usize, round: &Round) -> u64 {
    let chained = round.waker.helper().is_some() && round.wake == WakePattern::Chain;
    let hops = if chained { cpus as u64 } else { 0 };
    clock.ticks(GRACE_US) + clock.ticks((hops * HOP_US).min(HOPS_US))
}

/// Returns the ticks from the start until CPUs without a task are active again.
pub fn quiet_ticks(cpus: usize, round: &Round) -> u64 {
    let asleep = match round.action {
        Action::Off => round.sleep,
        action if action.sleeps().is_some() => round.sleep + wake_spread(cpus, round),
        _ => 0,
    };
    asleep + round.quiet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cpu_has_one_wake_up_and_one_that_wakes_it() {
        use WakePattern::{Chain, Staggered, Together};
        const NONE: SgiTargets = SgiTargets::None;
        let one_by_one = |includes_lead, step| SgiTargets::OneByOne {
            includes_lead,
            step,
        };
        let at_once = SgiTargets::AllAtOnce {
            includes_lead: true,
        };
        // Ticks to the wake-up and to the CPU's own timer, and the CPUs that it wakes.
        let own = |due: u64| (due, due, NONE);
        let wakes = |grace: u64, whom| (1_000, 1_000 + grace, whom);
        let (near, far) = (GRACE_US, GRACE_US + 3 * HOP_US);
        let (by_sgi, late) = (wakes(near, NONE), wakes(far, NONE));
        let (timers, helper) = (Waker::OwnTimers, Waker::Helper(2));
        let (all, each) = (one_by_one(false, 0), one_by_one(true, 7));
        let [to_lead, to_first] = [1, 0].map(|cpu| wakes(far, SgiTargets::One(cpu)));
        // Waker and pattern, and three CPUs, of which CPU 1 is the lead.
        for (waker, wake, expected) in [
            (timers, Together, [own(1_000); 3]),
            (timers, Staggered, [own(1_000), own(1_007), own(1_014)]),
            (timers, Chain, [by_sgi, wakes(0, all), by_sgi]),
            (Waker::Frame, Together, [by_sgi, wakes(near, all), by_sgi]),
            (helper, Together, [by_sgi, by_sgi, wakes(near, at_once)]),
            (helper, Staggered, [by_sgi, by_sgi, wakes(near, each)]),
            (helper, Chain, [to_lead, late, to_first]),
        ] {
            let round = Round {
                sleep: 1_000,
                wake,
                waker,
                wake_step: 7,
                ..Round::new(Who::All, Action::SystemSuspend, 0)
            };
            let book = OrderBook {
                clock: Clock { hz: 1_000_000 },
                lead: 1,
                cpus: &[Cpu::default(); 3],
                round: &round,
                participates: &|_| true,
            };
            for (index, expected) in expected.into_iter().enumerate() {
                let order = book.order_for(index, index as u64);
                let (times, targets) = (order.times, order.wake.wakes_others_by_sgi);
                let found = (times.wake_due_after, times.own_timer_after, targets);
                assert_eq!(found, expected, "{waker:?}, {wake:?}, CPU {index}");
            }
        }
    }
}
