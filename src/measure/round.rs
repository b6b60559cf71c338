//! The seam between scenarios and hardware: a round, and who can run one.
//!
//! A *round* is the smallest thing that a scenario asks for: some CPUs meet
//! at an instant of the counter, do one [`Action`] each, and leave an
//! [`Outcome`]. The bare-metal half implements [`Machine`] with real CPUs;
//! the tests of the portable half with a fake firmware and a fake clock.

use core::fmt;
use serde::{Deserialize, Serialize};

use smccc::psci::{Error, SuspendMode};

use crate::spec::counter::CounterErratum;

use super::outcome::{Action, Outcome};
use super::rejection::Loss;
use super::tally::{Schedule, Tally};
use crate::board::{Cpu, NoFrame, NoWatchdog, TimerFrame, Watchdog};
use crate::image::Conduit;
use crate::plan::{Load, WakePattern};
use crate::spec::caches::Caches;
use crate::spec::pmf;
use crate::spec::psci::StateFormat;
use crate::spec::smccc::Service;
use crate::spec::stat::Ladder;
use crate::spec::ticks::Clock;
use crate::spec::timer::TimerName;

/// Which CPUs have a part in a round. Every other CPU but the lead is OFF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Every CPU that is not lost, the lead among them.
    All,
    /// One CPU, by its index in the board's order.
    Only(usize),
    /// So many CPUs, lost ones counted: the lead, and then the others in the
    /// board's order.
    First(usize),
}

impl Who {
    /// Returns true if the CPU of this index is meant; `lead` is the lead's index.
    pub fn includes(self, index: usize, lead: usize) -> bool {
        match self {
            Self::All => true,
            Self::Only(only) => only == index,
            Self::First(count) => {
                let place = if index == lead {
                    0
                } else {
                    index + usize::from(index < lead)
                };
                place < count
            }
        }
    }
}

/// The interrupt that wakes the CPUs that suspend in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waker {
    /// Each CPU's own timer.
    #[default]
    OwnTimers,
    /// The timer frame's SPI wakes the lead, which wakes the others by SGI.
    Frame,
    /// An SGI from the CPU of this index, which stays awake.
    Helper(usize),
    /// As [`Waker::Frame`], of the lead alone. Where the SPI does not wake the
    /// lead, the CPU of this index, which stays awake, wakes it by SGI.
    FrameTrial(usize),
}

impl Waker {
    /// The CPU that stays awake for the others.
    pub const fn helper(self) -> Option<usize> {
        match self {
            Self::Helper(index) | Self::FrameTrial(index) => Some(index),
            Self::OwnTimers | Self::Frame => None,
        }
    }

    /// Returns true if the timer frame wakes the lead.
    pub const fn is_frame(self) -> bool {
        matches!(self, Self::Frame | Self::FrameTrial(_))
    }
}

/// A round of CPU_SUSPEND in OS-initiated mode (section 4.2.1): each
/// CPU asks for its own level, and the one that is down last in its cluster,
/// and last of all, for what is above, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OsInitiated {
    /// The states to ask for, each with its level.
    pub states: Ladder,
    /// Ticks from the start until the last of a cluster calls, and as many
    /// again until the last of all does: for the others to be down.
    pub step: u64,
}

/// The state of the participants after a round, the lead apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// They turn themselves off: the next round begins with CPU_ON.
    Off,
    /// They wait for the next round.
    Stay,
}

/// One round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The participants.
    pub who: Who,
    /// The action of each of them.
    pub action: Action,
    /// Ticks from the lead's word to the start, for all to hear it.
    pub lead_in: u64,
    /// Ticks from the start to the first wake-up.
    pub sleep: u64,
    /// Ticks for which CPUs that have nothing to do touch no memory and call no
    /// firmware, from the first wake-up, or from the start where no CPU sleeps.
    pub quiet: u64,
    /// The order of wake-ups.
    pub wake: WakePattern,
    /// The interrupt that wakes the CPUs.
    pub waker: Waker,
    /// Ticks between two CPUs' wake-ups where the pattern has such a step.
    pub wake_step: u64,
    /// The participants' state afterwards.
    pub after: After,
    /// The states of which PSCI_STAT is read before and after: in a round
    /// that gives no sample.
    pub ladder: Ladder,
    /// Of [`Action::Expire`]: whose timer is looked at. It lasts for `sleep`
    /// ticks.
    pub window: Option<Window>,
    /// Bytes that each CPU makes dirty in its cache before it is ready; the lead,
    /// before it says when the start is.
    pub dirty: usize,
    /// The requests of each CPU in OS-initiated mode: instead of `action`.
    pub osi: Option<OsInitiated>,
}

impl Round {
    /// Returns a round without suspends, after which all CPUs go off.
    pub fn new(who: Who, action: Action, lead_in: u64) -> Self {
        Self {
            who,
            action,
            lead_in,
            sleep: 0,
            quiet: 0,
            wake: WakePattern::Together,
            waker: Waker::OwnTimers,
            wake_step: 0,
            after: After::Off,
            ladder: Ladder::default(),
            window: None,
            dirty: 0,
            osi: None,
        }
    }

    /// Returns true if the CPU of this index has a part; a helper has one.
    pub fn includes(&self, index: usize, lead: usize) -> bool {
        self.who.includes(index, lead) || self.waker.helper() == Some(index)
    }

    /// The action of the CPU of this index, and the ticks from the start to it;
    /// `takes_part` tells which CPUs have a part.
    pub fn part(
        &self,
        cpus: &[Cpu],
        index: usize,
        takes_part: &dyn Fn(usize) -> bool,
    ) -> (Action, u64) {
        let helper = self.waker.helper();
        if helper == Some(index) {
            return (Action::Help, 0);
        }
        let Some(osi) = &self.osi else {
            return (self.action, 0);
        };
        let cluster = |index: usize| cpus.get(index).map(|cpu| cpu.cluster);
        let sleeps = |other: &usize| takes_part(*other) && helper != Some(*other);
        let mut later = (index + 1..cpus.len()).filter(sleeps);
        let (limit, steps) = match later.next() {
            None => (None, 2),
            // The board's order need not be that of clusters.
            Some(next)
                if core::iter::once(next)
                    .chain(later)
                    .any(|o| cluster(o) == cluster(index)) =>
            {
                (Some(0), 0)
            }
            Some(_) => (Some(1), 1),
        };
        // A request for a level above an awake CPU's would be DENIED.
        let limit = match helper.map(|helper| u8::from(cluster(helper) != cluster(index))) {
            Some(most) => Some(limit.map_or(most, |limit| most.min(limit))),
            None => limit,
        };
        let action = osi
            .states
            .due(limit)
            .map_or(Action::None, |power_state| Action::Suspend {
                power_state,
                powerdown: true,
            });
        (action, steps * osi.step)
    }
}

/// A look at timers: CPUs whose timer expires periodically, and what the others
/// do meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// When the timers expire: the first time a period after the start.
    pub schedule: Schedule,
    /// The timers: of all, or of one CPU alone.
    pub timers: Who,
    /// The load of all CPUs meanwhile; a CPU whose timer alone is measured waits
    /// for it.
    pub load: Load,
}

impl Window {
    /// Returns true if the timer of the CPU with this index is measured.
    pub fn measures(&self, cpu: usize) -> bool {
        match self.timers {
            Who::Only(only) => only == cpu,
            _ => true,
        }
    }

    /// Returns the CPU's load meanwhile.
    pub fn load_of(&self, cpu: usize) -> Load {
        match self.timers {
            Who::Only(only) if only == cpu => Load::Idle,
            _ => self.load,
        }
    }
}

/// Costs of measuring, in ticks: the least of many tries on the lead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overheads {
    /// One counter read after another.
    pub counter: u64,
    /// A timed region without a call in it.
    pub empty: u64,
    /// Reading one timestamp by GET_TIMESTAMP.
    pub pmf_read: Option<u64>,
}

/// The counter that everything is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counter {
    /// CNTPCT_EL0.
    Physical,
    /// CNTPCT_EL0, read twice for an erratum.
    PhysicalTwice(CounterErratum),
    /// CNTVCT_EL0, in a guest.
    Virtual,
}

impl Counter {
    /// The register's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Physical | Self::PhysicalTwice(_) => "CNTPCT",
            Self::Virtual => "CNTVCT",
        }
    }
}

/// The register's name, and how it is read where that is not once.
impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::PhysicalTwice(erratum) => write!(f, " (read twice for {})", erratum.name()),
            Self::Physical | Self::Virtual => Ok(()),
        }
    }
}

/// A CPU's own registers: model, caches and clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// MIDR_EL1: who made it, and which one it is.
    pub midr: u64,
    /// The caches.
    pub caches: Caches,
    /// The CPU's CNTFRQ_EL0, in Hz: each CPU has one, and firmware has to write
    /// them all.
    pub frequency: u64,
    /// The CPU's clock in MHz, by PMCCNTR_EL0; None where that does not count.
    pub clock_mhz: Option<u64>,
}

/// The machine as the payload found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Counter frequency in Hz as the lead's CNTFRQ_EL0 says, believed or not.
    pub frequency: u64,
    /// The counter in use.
    pub counter: Counter,
    /// The timer that wakes a CPU.
    pub timer: TimerName,
    /// The timer's interrupt ID.
    pub timer_intid: u32,
    /// The timer frame that wakes the lead where the CPUs' timers stop, or why none does.
    pub frame: Result<TimerFrame, NoFrame>,
    /// Exception level of the payload: 1 or 2.
    pub exception_level: u8,
    /// True if HCR_EL2.E2H is 1 at EL2, and cannot be cleared.
    pub e2h: bool,
    /// GIC architecture version in use: 2 or 3; 0 where there is no GIC, and so
    /// nothing that wakes a suspended CPU.
    pub gic: u8,
    /// The conduit in use.
    pub conduit: Conduit,
    /// PSCI_VERSION's answer.
    pub psci_version: u32,
    /// SMCCC_VERSION's answer: major version in bits 30:16, minor in 15:0;
    /// None where PSCI_FEATURES does not know the call.
    pub smccc: Option<u32>,
    /// The service that handles PSCI's calls; None if it does not say.
    pub service: Option<Service>,
    /// Layout of `power_state`.
    pub state_format: StateFormat,
    /// The interface of timestamps, or the reason why they cannot be read.
    pub pmf: Result<pmf::Interface, pmf::ReadError>,
    /// The watchdog that resets the board if the lead does not come back, or why
    /// none does.
    pub watchdog: Result<Watchdog, NoWatchdog>,
    /// True if the firmware keeps PSCI_STAT_COUNT and PSCI_STAT_RESIDENCY.
    pub stat: bool,
    /// True if CPU_SUSPEND can be had in OS-initiated mode.
    pub os_initiated: bool,
    /// True if the firmware has SYSTEM_SUSPEND.
    pub system_suspend: bool,
    /// Index of the lead CPU in the board's order.
    pub lead: usize,
    /// Bytes of the second level of cache, or of the only one, as the lead or
    /// the tree says.
    pub outer_cache: Option<u64>,
    /// The lead's registers.
    #[serde(skip)]
    pub own: Identity,
    /// True if the lead has a performance monitors unit (ID_AA64DFR0_EL1).
    pub pmu: bool,
    /// True in a guest of KVM, which makes the sizes of caches up, so that
    /// none is read.
    pub kvm: bool,
    /// True if DC ZVA may be used (DCZID_EL0.DZP).
    pub zero: bool,
    /// Costs of measuring.
    pub overheads: Overheads,
}

impl Facts {
    /// The counter as a clock.
    pub fn clock(&self) -> Clock {
        Clock { hz: self.frequency }
    }

    /// Counter ticks in so many microseconds: [`Clock::ticks`].
    pub fn ticks(&self, microseconds: u64) -> u64 {
        self.clock().ticks(microseconds)
    }
}

/// A machine that can run rounds.
pub trait Machine {
    /// Returns the facts about the machine.
    fn facts(&self) -> &Facts;

    /// Runs one round to its end, in bounded time whatever happens, and
    /// writes one outcome for each CPU of the board, in the board's order.
    ///
    /// A CPU that did not make it is reported as [`super::outcome::End::Lost`]
    /// once and has no part in later rounds.
    fn run(&mut self, round: &Round, outcomes: &mut [Outcome]);

    /// Returns the counts of the CPU's timer handler in rounds of
    /// [`Action::Expire`]; None where the plan has none, or when the CPU is lost.
    fn tally(&mut self, cpu: usize) -> Option<&mut Tally>;
    /// SET_SUSPEND_MODE, by the lead, while every other CPU is off.
    fn set_suspend_mode(&mut self, mode: SuspendMode) -> Result<(), Error>;

    /// Returns the loss of the CPU in an earlier round, if it was lost.
    fn lost(&self, cpu: usize) -> Option<Loss>;

    /// Returns true if the CPU was lost in an earlier round.
    fn is_lost(&self, cpu: usize) -> bool {
        self.lost(cpu).is_some()
    }

    /// Returns the identity of the CPU, once it has been on.
    fn identity(&self, cpu: usize) -> Option<Identity>;

    /// Marks the heap: no later block lives beyond [`Machine::release_heap`].
    fn mark_heap(&mut self) {}

    /// Frees the heap from its mark on, or panics if a block is still in use.
    fn release_heap(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::stat::Rung;
    use std::vec::Vec;

    fn members(who: Who, lead: usize) -> Vec<usize> {
        (0..5).filter(|cpu| who.includes(*cpu, lead)).collect()
    }

    #[test]
    fn the_first_are_the_lead_and_then_the_others() {
        assert_eq!(members(Who::First(0), 2), [0_usize; 0]);
        assert_eq!(members(Who::First(1), 2), [2]);
        assert_eq!(members(Who::First(3), 2), [0, 1, 2]);
        assert_eq!(members(Who::First(3), 0), [0, 1, 2]);
        assert_eq!(members(Who::First(9), 4), [0, 1, 2, 3, 4]);
        assert_eq!(members(Who::Only(3), 0), [3]);
        assert_eq!(members(Who::All, 0).len(), 5);
    }

    #[test]
    fn the_last_of_a_cluster_and_of_all_ask_for_more() {
        let rung = |state, level| Rung {
            state,
            level: Some(level),
        };
        let states = Ladder::new(rung(3, 2), [rung(2, 1), rung(1, 0)].into_iter());
        let round = Round {
            osi: Some(OsInitiated { states, step: 10 }),
            ..Round::new(Who::All, Action::SystemSuspend, 0)
        };
        // Clusters need not stand together in the board's order.
        let cpus = [0, 1, 0, 1].map(|cluster| Cpu {
            cluster,
            ..Cpu::default()
        });
        let parts = |lost: usize| -> Vec<(u32, u64)> {
            let takes_part = |cpu: usize| cpu != lost;
            let part = |cpu| match round.part(&cpus, cpu, &takes_part) {
                (
                    Action::Suspend {
                        power_state,
                        powerdown: true,
                    },
                    delay,
                ) => (power_state, delay),
                other => panic!("{other:?}"),
            };
            (0..4).filter(|cpu| takes_part(*cpu)).map(part).collect()
        };
        assert_eq!(parts(9), [(1, 0), (1, 0), (2, 10), (3, 20)]);
        assert_eq!(parts(3), [(1, 0), (2, 10), (3, 20)]);
        assert_eq!(parts(2), [(2, 10), (1, 0), (3, 20)]);
        let plain = Round { osi: None, ..round };
        let part = plain.part(&cpus, 0, &|_| true);
        assert_eq!(part, (Action::SystemSuspend, 0));

        // The helper's cluster stays up, and so does all that is above it.
        let helped = Round {
            waker: Waker::Helper(1),
            ..round
        };
        let part = |cpu| helped.part(&cpus, cpu, &|_| true);
        assert_eq!(part(1), (Action::Help, 0));
        let suspends = [0, 2, 3].map(part).map(|(action, delay)| match action {
            Action::Suspend { power_state, .. } => (power_state, delay),
            other => panic!("{other:?}"),
        });
        assert_eq!(suspends, [(1, 0), (2, 10), (1, 20)]);
    }
}
