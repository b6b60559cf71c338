//! The orders that CPUs receive in a round. A round's timeline is at the top of `round.rs`.

use hardware::board::{Cpu, CpuIndex};
use hardware::spec::ticks::Clock;

use super::action::Action;
use super::round::{AfterRound, Round, Waker};
use crate::plan::WakePattern;

/// The time in microseconds allowed for an SGI or the timer frame to wake a CPU before a second
/// attempt is made, by the CPU's own timer or by another SGI from a helper. Because of the second
/// attempt, a lost SGI costs a sample, but not the CPU.
const GRACE_US: u64 = 500_000;

/// The time in microseconds added by each CPU in a helper's chain.
const HOP_US: u64 = 50_000;
/// The limit on the time added by all CPUs in a helper's chain, in microseconds.
const HOPS_US: u64 = 500_000;

/// The CPUs that a CPU wakes with SGIs in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SgiTargets {
    /// No CPU.
    #[default]
    None,
    /// All other sleeping CPUs, one after another in board order.
    OneByOne {
        /// True if the lead also sleeps.
        includes_lead: bool,
        /// Ticks from one SGI to the next.
        interval: u64,
    },
    /// All other sleeping CPUs, with a single write if the GIC allows it.
    AllAtOnce {
        /// True if the lead also sleeps.
        includes_lead: bool,
    },
    /// Only this CPU.
    One(CpuIndex),
}

/// The instants on the timeline that an order sets, in ticks from the round's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrderTimes {
    /// When the call is made.
    pub call: u64,
    /// When the wake-up is due. No other CPU wakes this one earlier. For a CPU that powers off,
    /// when the lead becomes active again.
    pub due: u64,
    /// When the CPU's own timer expires, and a helper sends its SGIs again. Equal to `due` if
    /// the CPU's own timer is what wakes it.
    pub fallback: u64,
    /// Until this instant, a CPU that has returned does not access memory or call the firmware.
    pub quiet_end: u64,
}

/// One CPU's task in a round. The default is to power off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The round to which the order belongs.
    pub round: Round,
    /// What this CPU does, which may differ from [`Round::action`] for a helper and in OS-initiated
    /// mode.
    pub action: Action,
    /// When the CPU acts, in ticks from the round's start.
    pub times: OrderTimes,
    /// True if the timer frame wakes this CPU when its wake-up is due; the CPU's own timer expires
    /// later.
    pub is_woken_by_frame: bool,
    /// The CPUs that this one wakes.
    pub sgi_targets: SgiTargets,
    /// Ticks until the CPU's timer expires, as in [`Race::expires_in`](super::Race::expires_in).
    pub race: Option<u64>,
    /// True if the CPU stays on until the lead has returned and released it.
    pub waits_for_release: bool,
}

/// The orders for one round.
pub struct OrderBook<'o> {
    /// The clock shared by all CPUs.
    pub clock: Clock,
    /// The lead CPU.
    pub lead: CpuIndex,
    /// All CPUs, in board order.
    pub cpus: &'o [Cpu],
    /// The round for which the orders are.
    pub round: Round,
    /// Returns true for a lost CPU.
    pub is_lost: &'o dyn Fn(CpuIndex) -> bool,
}

impl Order {
    /// Returns true if an SGI to this CPU in the round means that nothing else woke it.
    pub const fn expects_no_sgi(&self) -> bool {
        self.is_woken_by_frame
            || matches!(self.round.wake_up.waker, Waker::TimerTrial)
            || self.race.is_some()
    }
}

impl OrderBook<'_> {
    /// Returns the CPU that stays awake to wake the others.
    pub fn helper(&self) -> Option<CpuIndex> {
        self.round.wake_up.waker.helper()
    }

    /// Returns true if the CPU takes part, including the helper.
    pub fn participates(&self, cpu: CpuIndex) -> bool {
        let is_meant =
            self.round.participants.includes(cpu, self.lead) || self.helper() == Some(cpu);
        is_meant && !(self.is_lost)(cpu)
    }

    /// Returns true if the CPU takes part and is not the helper.
    pub fn is_measured(&self, cpu: CpuIndex) -> bool {
        self.participates(cpu) && self.helper() != Some(cpu)
    }

    /// Returns the CPU's order.
    pub fn order_for(&self, cpu: CpuIndex) -> Order {
        let round = self.round;
        let part = round.part_of(self.cpus, cpu, &|other| self.participates(other));
        let race = round.wake_up.race.filter(|race| race.cpu == cpu);
        let is_helper = part.action == Action::Help;
        let is_alone = round.participants.is_single();
        let is_woken_by_frame = cpu == self.lead && round.wake_up.waker.is_frame();
        let is_woken_by_helper = self.helper().is_some();
        let is_woken_by_lead = self.is_chain() && cpu != self.lead;
        let due = self.due(cpu, is_helper);
        // The CPU's own timer expires after the SGI or the timer frame interrupt, if there is one.
        let grace = if is_woken_by_frame || is_woken_by_helper || is_woken_by_lead {
            self.grace()
        } else {
            0
        };
        Order {
            round,
            action: part.action,
            times: OrderTimes {
                call: part.call,
                due,
                fallback: due + grace,
                quiet_end: if part.action.turns_off() {
                    0
                } else {
                    self.quiet_end()
                },
            },
            is_woken_by_frame,
            sgi_targets: self.sgi_targets(cpu),
            race: race.map(|race| race.expires_in),
            waits_for_release: !is_alone && !is_helper && round.afterwards == AfterRound::Off,
        }
    }

    /// Returns when the CPU's wake-up is due. For a helper, this is when it sends its SGIs.
    fn due(&self, cpu: CpuIndex, is_helper: bool) -> u64 {
        let Round { spans, wake_up, .. } = self.round;
        let is_alone = self.round.participants.is_single();
        match (wake_up.waker, wake_up.pattern) {
            (Waker::OwnTimers, WakePattern::Staggered) if !is_alone => {
                let is_earlier = |other: &CpuIndex| *other < cpu && self.is_measured(*other);
                let earlier = CpuIndex::all(self.cpus.len()).filter(is_earlier).count();
                spans.sleep + earlier as u64 * wake_up.interval
            }
            // Leaves half of the grace period for the second SGI.
            (Waker::FrameTrial(_), _) if is_helper => spans.sleep + self.clock.ticks(GRACE_US) / 2,
            _ => spans.sleep,
        }
    }

    /// Returns true if the lead wakes all other CPUs.
    fn is_chain(&self) -> bool {
        let is_chained = match self.round.wake_up.waker {
            Waker::OwnTimers => self.round.wake_up.pattern == WakePattern::Chain,
            Waker::Frame => true,
            Waker::Helper(_) | Waker::NoHelper | Waker::FrameTrial(_) | Waker::TimerTrial => false,
        };
        is_chained && !self.round.participants.is_single()
    }

    /// Returns the CPUs that this one wakes with SGIs.
    fn sgi_targets(&self, cpu: CpuIndex) -> SgiTargets {
        let (lead, round) = (self.lead, &self.round);
        let includes_lead = self.is_measured(lead);
        match (self.helper(), round.wake_up.pattern) {
            (None, _) if self.is_chain() && cpu == lead => SgiTargets::OneByOne {
                includes_lead: false,
                interval: 0,
            },
            (None, _) => SgiTargets::None,
            // The helper wakes the first CPU, and each woken CPU wakes the next.
            (Some(helper), WakePattern::Chain) => {
                let is_next =
                    |other: &CpuIndex| (helper == cpu || *other > cpu) && self.is_measured(*other);
                let next = CpuIndex::all(self.cpus.len()).find(is_next);
                next.map_or(SgiTargets::None, SgiTargets::One)
            }
            (Some(helper), _) if helper != cpu => SgiTargets::None,
            (Some(_), WakePattern::Staggered) => SgiTargets::OneByOne {
                includes_lead,
                interval: round.wake_up.interval,
            },
            (Some(_), WakePattern::Together) => SgiTargets::AllAtOnce { includes_lead },
        }
    }

    /// Returns the number of ticks from due to the fallback, in which an SGI or the timer frame
    /// should wake a CPU.
    fn grace(&self) -> u64 {
        let is_chained =
            self.helper().is_some() && self.round.wake_up.pattern == WakePattern::Chain;
        let hops = if is_chained {
            self.cpus.len() as u64
        } else {
            0
        };
        self.clock.ticks(GRACE_US) + self.clock.ticks((hops * HOP_US).min(HOPS_US))
    }

    /// Returns the number of ticks from the first due to the last, rounded up to one interval for
    /// each CPU.
    fn first_to_last_due(&self) -> u64 {
        match self.round.wake_up.pattern {
            WakePattern::Staggered => self.cpus.len() as u64 * self.round.wake_up.interval,
            WakePattern::Together | WakePattern::Chain => 0,
        }
    }

    /// Returns the number of ticks from start to quiet end.
    pub fn quiet_end(&self) -> u64 {
        let round = &self.round;
        let last_due = if round.action().sleeps() {
            round.spans.sleep + self.first_to_last_due()
        } else if matches!(round.action(), Action::Off | Action::Stress) {
            round.spans.sleep
        } else {
            0
        };
        last_due + round.spans.quiet
    }

    /// Returns the number of ticks from start to the last CPU's fallback.
    pub fn last_fallback(&self) -> u64 {
        self.round.spans.sleep + self.first_to_last_due() + self.grace()
    }

    /// Returns the number of ticks from start until the lead sends an SGI to CPUs that have not
    /// returned; None if the lead is not awake to do so.
    pub fn lead_fallback(&self) -> Option<u64> {
        let is_awake =
            self.helper() == Some(self.lead) || self.round.wake_up.waker == Waker::TimerTrial;
        is_awake.then(|| self.last_fallback())
    }

    /// Returns the number of ticks from start to the last return that is in time.
    pub fn last_return(&self) -> u64 {
        let round = &self.round;
        let busy = if round.action().sleeps() {
            self.last_fallback()
        } else if matches!(
            round.action(),
            Action::Expire | Action::Stress | Action::Off
        ) {
            round.spans.sleep
        } else {
            0
        };
        busy + round.spans.quiet
    }

    /// Returns the deadline for every CPU to finish, if the round started at `start` and the lead
    /// starts waiting at `now`. `limit` is the maximum wait in ticks, unless the round sets its own
    /// limit.
    pub fn finish_deadline(&self, start: u64, now: u64, limit: u64) -> u64 {
        (start + self.last_return()).max(now) + self.round.spans.patience.unwrap_or(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Participants, Spans, WakeUp};

    #[test]
    fn each_cpu_has_one_wake_up_and_one_that_wakes_it() {
        use WakePattern::{Chain, Staggered, Together};
        const NONE: SgiTargets = SgiTargets::None;
        let one_by_one = |includes_lead, interval| SgiTargets::OneByOne {
            includes_lead,
            interval,
        };
        let at_once = SgiTargets::AllAtOnce {
            includes_lead: true,
        };
        // The number of ticks until the wake-up, the number until the CPU's own timer expires, and
        // the CPUs that this CPU wakes.
        let by_timer = |due_ticks: u64| (due_ticks, due_ticks, NONE);
        let wakes = |grace: u64, targets| (1_000, 1_000 + grace, targets);
        let (grace, chain_grace) = (GRACE_US, GRACE_US + 3 * HOP_US);
        let (by_sgi, last_in_chain) = (wakes(grace, NONE), wakes(chain_grace, NONE));
        let (timers, helper) = (Waker::OwnTimers, Waker::Helper(2.into()));
        let (at_a_stretch, staggered) = (one_by_one(false, 0), one_by_one(true, 7));
        let [to_lead, to_first] =
            [1, 0].map(|cpu| wakes(chain_grace, SgiTargets::One(CpuIndex::new(cpu))));
        // Each case has a waker and a pattern, with three CPUs. CPU 1 is the lead.
        let spans = Spans {
            sleep: 1_000,
            ..Spans::default()
        };
        for (waker, pattern, expected) in [
            (timers, Together, [by_timer(1_000); 3]),
            (timers, Staggered, [1_000, 1_007, 1_014].map(by_timer)),
            (timers, Chain, [by_sgi, wakes(0, at_a_stretch), by_sgi]),
            (
                Waker::Frame,
                Together,
                [by_sgi, wakes(grace, at_a_stretch), by_sgi],
            ),
            (helper, Together, [by_sgi, by_sgi, wakes(grace, at_once)]),
            (helper, Staggered, [by_sgi, by_sgi, wakes(grace, staggered)]),
            (helper, Chain, [to_lead, last_in_chain, to_first]),
        ] {
            let round = Round {
                wake_up: WakeUp {
                    waker,
                    pattern,
                    interval: 7,
                    race: None,
                },
                ..Round::new(Participants::All, Action::SystemSuspend, spans)
            };
            let book = OrderBook {
                clock: Clock { hz: 1_000_000 },
                lead: 1.into(),
                cpus: &[Cpu::default(); 3],
                round,
                is_lost: &|_| false,
            };
            for (cpu, expected) in CpuIndex::all(3).zip(expected) {
                let order = book.order_for(cpu);
                let (times, targets) = (order.times, order.sgi_targets);
                let found = (times.due, times.fallback, targets);
                assert_eq!(found, expected, "{waker:?}, {pattern:?}, CPU {cpu}");
            }
        }
    }
}
