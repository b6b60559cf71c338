//! The order that each CPU gets in a round.

use crate::machine::env::Env;
use crate::machine::round::order::Order;
use crate::machine::round::order::SgiTargets;
use psci_bench::board::Cpu;
use psci_bench::measure::{Action, After, Round, Waker, Who};
use psci_bench::plan::WakePattern;

/// How late each CPU of a helper's chain may wake the next, and all of them
/// together, in microseconds.
const HOP_US: u64 = 50_000;
const HOPS_US: u64 = 500_000;

/// Gives each CPU of a round its order.
pub struct OrderBook<'o> {
    /// The lead, the clock.
    pub env: &'o Env,
    /// All CPUs, in the board's order.
    pub cpus: &'o [Cpu],
    /// The round.
    pub round: &'o Round,
    /// Whether the CPU of an index has a part in the round, the helper too.
    pub takes_part: &'o dyn Fn(usize) -> bool,
}

impl OrderBook<'_> {
    /// The order of the CPU of this index, the `place`th of those measured.
    pub fn of(&self, index: usize, place: u64) -> Order {
        let (env, round) = (self.env, self.round);
        let (action, delay) = round.part(self.cpus, index, self.takes_part);
        let helps = action == Action::Help;
        let due = match (round.waker, round.wake) {
            (Waker::OwnTimers, WakePattern::Staggered) if !self.is_alone() => {
                round.sleep + place * round.wake_step
            }
            // Half of the grace is left for the second SGI.
            (Waker::FrameTrial(_), _) if helps => round.sleep + env.wake_grace() / 2,
            _ => round.sleep,
        };
        let frame = index == env.lead && round.waker.is_frame();
        let by_sgi = round.waker.helper().is_some() || self.is_chain() && index != env.lead;
        // An SGI, or the timer frame, comes first, if it comes.
        let grace = if frame || by_sgi {
            wake_grace(env, round)
        } else {
            0
        };
        Order {
            action,
            delay,
            dirty: round.dirty,
            alarm: due + grace,
            due,
            turned_on: 0,
            frame,
            wakes: self.wakes(index),
            quiet: if action.turns_off() {
                0
            } else {
                quiet_ticks(env, round)
            },
            after: round.after,
            holds: !self.is_alone() && !helps && round.after == After::Off,
            ladder: round.ladder,
            window: round.window,
        }
    }

    fn is_alone(&self) -> bool {
        matches!(self.round.who, Who::Only(_))
    }

    fn is_measured(&self, index: usize) -> bool {
        (self.takes_part)(index) && self.round.waker.helper() != Some(index)
    }

    /// Whether the lead, woken by its own timer or the timer frame, wakes all
    /// others.
    fn is_chain(&self) -> bool {
        let chained = match self.round.waker {
            Waker::OwnTimers => self.round.wake == WakePattern::Chain,
            Waker::Frame => true,
            Waker::Helper(_) | Waker::FrameTrial(_) => false,
        };
        chained && !self.is_alone()
    }

    /// The CPUs that the one of this index wakes by SGI.
    fn wakes(&self, index: usize) -> SgiTargets {
        let (lead, round) = (self.env.lead, self.round);
        let next = |from: usize| {
            let next = (from..self.cpus.len()).find(|other| self.is_measured(*other));
            next.map_or(SgiTargets::None, SgiTargets::One)
        };
        let lead_sleeps = self.is_measured(lead);
        match (round.waker.helper(), round.wake) {
            (None, _) if self.is_chain() && index == lead => SgiTargets::InTurn {
                lead: false,
                step: 0,
            },
            (None, _) => SgiTargets::None,
            // The helper wakes the first, and each woken CPU the next.
            (Some(helper), WakePattern::Chain) => next(if helper == index { 0 } else { index + 1 }),
            (Some(helper), _) if helper != index => SgiTargets::None,
            (Some(_), WakePattern::Staggered) => SgiTargets::InTurn {
                lead: lead_sleeps,
                step: round.wake_step,
            },
            (Some(_), WakePattern::Together) => SgiTargets::AtOnce { lead: lead_sleeps },
        }
    }
}

/// Ticks from the first wake-up to the last one that a round asks for.
pub fn wake_spread(env: &Env, round: &Round) -> u64 {
    match round.wake {
        WakePattern::Staggered => env.slots.len() as u64 * round.wake_step,
        WakePattern::Together | WakePattern::Chain => 0,
    }
}

/// Ticks from a due wake-up by SGI or timer frame to the second SGI. Of a helper's
/// chain each CPU waits for all those before it.
pub fn wake_grace(env: &Env, round: &Round) -> u64 {
    let chained = round.waker.helper().is_some() && round.wake == WakePattern::Chain;
    let hops = if chained { env.slots.len() as u64 } else { 0 };
    env.wake_grace() + env.us((hops * HOP_US).min(HOPS_US))
}

/// Ticks from the start until CPUs that have nothing to do are active again.
pub fn quiet_ticks(env: &Env, round: &Round) -> u64 {
    let asleep = match round.action {
        Action::Off => round.sleep,
        action if action.sleeps().is_some() => round.sleep + wake_spread(env, round),
        _ => 0,
    };
    asleep + round.quiet
}
