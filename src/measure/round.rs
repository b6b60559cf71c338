//! The seam between scenarios and hardware: a *round* is some CPUs that meet at an instant of
//! the counter, do one [`Action`] each, and leave an [`Outcome`]. The bare-metal half
//! implements [`Machine`] with real CPUs, tests with a fake firmware and a fake clock.

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
    /// So many CPUs, lost ones counted: the lead, and others in the board's order.
    First(usize),
}

impl Who {
    /// Returns true if the CPU of this index is meant; `lead` is the lead's index.
    pub fn includes(self, index: usize, lead: usize) -> bool {
        match self {
            Self::All => true,
            Self::Only(only) => only == index,
            Self::First(count) if index == lead => count > 0,
            Self::First(count) => index + usize::from(index < lead) < count,
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
    /// The timer frame wakes the lead, which suspends alone; if it does not, the CPU of
    /// this index wakes the lead by SGI.
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

/// CPU_SUSPEND in OS-initiated mode (section 4.2.1): the last CPU asks for higher levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OsInitiated {
    /// The states to ask for, each with its level.
    pub states: Ladder,
    /// Ticks to the call of a cluster's last CPU, and from that to the call of the last of all.
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
    /// Ticks for which CPUs without a task touch no memory and call no firmware, from
    /// the first wake-up, or from the start where no CPU sleeps.
    pub quiet: u64,
    /// The order of wake-ups.
    pub wake: WakePattern,
    /// The interrupt that wakes the CPUs.
    pub waker: Waker,
    /// Ticks between two CPUs' wake-ups where the pattern has such a step.
    pub wake_step: u64,
    /// The participants' state afterwards.
    pub after: After,
    /// The states of which PSCI_STAT is read, in a round that gives no sample.
    pub ladder: Ladder,
    /// The timers of [`Action::Expire`], for `sleep` ticks.
    pub window: Option<Window>,
    /// Bytes that each CPU makes dirty in its cache before the start.
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

    /// Returns the action of the CPU of this index, and the ticks from the start to it.
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
        let later = || (index + 1..cpus.len()).filter(sleeps);
        let (mut limit, steps) = if later().next().is_none() {
            (None, 2)
        } else if later().any(|other| cluster(other) == cluster(index)) {
            // The board's order need not be that of clusters.
            (Some(0), 0)
        } else {
            (Some(1), 1)
        };
        // A request for a level above an awake CPU's would be DENIED.
        if let Some(helper) = helper {
            let most = u8::from(cluster(helper) != cluster(index));
            limit = Some(limit.map_or(most, |limit| most.min(limit)));
        }
        let suspend = |power_state| Action::Suspend {
            power_state,
            powerdown: true,
        };
        let action = osi.states.due(limit).map_or(Action::None, suspend);
        (action, steps * osi.step)
    }
}

/// Timers that expire periodically, and the load meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// When the timers expire: the first time a period after the start.
    pub schedule: Schedule,
    /// The timers: of all, or of one CPU alone.
    pub timers: Who,
    /// The load of all CPUs, but for one whose timer alone is measured.
    pub load: Load,
}

impl Window {
    /// Returns true if the timer of the CPU with this index is measured.
    pub fn measures(&self, cpu: usize) -> bool {
        !matches!(self.timers, Who::Only(only) if only != cpu)
    }

    /// Returns the CPU's load meanwhile.
    pub fn load_of(&self, cpu: usize) -> Load {
        if self.timers == Who::Only(cpu) {
            Load::Idle
        } else {
            self.load
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
        let Self::PhysicalTwice(erratum) = self else {
            return Ok(());
        };
        write!(f, " (read twice for {})", erratum.name())
    }
}

/// A CPU's own registers: model, caches and clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// MIDR_EL1: who made it, and which one it is.
    pub midr: u64,
    /// The caches.
    pub caches: Caches,
    /// The CPU's CNTFRQ_EL0, in Hz: firmware has to write each CPU's.
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
    /// GIC architecture version, 2 or 3; 0 without a GIC, and so without wake-ups.
    pub gic: u8,
    /// The conduit in use.
    pub conduit: Conduit,
    /// PSCI_VERSION's answer.
    pub psci_version: u32,
    /// SMCCC_VERSION's answer; None where PSCI_FEATURES does not know the call.
    pub smccc: Option<u32>,
    /// The service that handles PSCI's calls; None if it does not say.
    pub service: Option<Service>,
    /// Layout of `power_state`.
    pub state_format: StateFormat,
    /// The interface of timestamps, or the reason why they cannot be read.
    pub pmf: Result<pmf::Interface, pmf::ReadError>,
    /// The watchdog that resets the board without the lead, or why none does.
    pub watchdog: Result<Watchdog, NoWatchdog>,
    /// True if the firmware keeps PSCI_STAT_COUNT and PSCI_STAT_RESIDENCY.
    pub stat: bool,
    /// True if CPU_SUSPEND can be had in OS-initiated mode.
    pub os_initiated: bool,
    /// True if the firmware has SYSTEM_SUSPEND.
    pub system_suspend: bool,
    /// Index of the lead CPU in the board's order.
    pub lead: usize,
    /// Bytes of the second level of cache, or of the only one.
    pub outer_cache: Option<u64>,
    /// The lead's registers.
    #[serde(skip)]
    pub own: Identity,
    /// True if the lead has a performance monitors unit (ID_AA64DFR0_EL1).
    pub pmu: bool,
    /// True in a guest of KVM, where no cache is read: KVM makes their sizes up.
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

    /// Runs one round in bounded time, and writes one outcome for each CPU of the board. A
    /// CPU that is lost is [`super::outcome::End::Lost`] in that round, and has no part in
    /// later ones.
    fn run(&mut self, round: &Round, outcomes: &mut [Outcome]);

    /// Returns the counts of the CPU's timer handler; None without one, or for a lost CPU.
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

    /// Takes note of the samples that are kept, and of those that are asked for, of all CPUs.
    fn note_samples(&mut self, _kept: u32, _asked: u32) {}

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

    #[test]
    fn the_first_are_the_lead_and_then_the_others() {
        for (who, lead, members) in [
            (Who::First(0), 2, &[][..]),
            (Who::First(1), 2, &[2]),
            (Who::First(3), 2, &[0, 1, 2]),
            (Who::Only(3), 0, &[3]),
            (Who::All, 0, &[0, 1, 2, 3, 4]),
        ] {
            let found: Vec<usize> = (0..5).filter(|cpu| who.includes(*cpu, lead)).collect();
            assert_eq!(found, members, "{who:?}");
        }
    }

    #[test]
    fn the_last_of_a_cluster_and_of_all_ask_for_more() {
        let rung = |state, level: u8| Rung {
            state,
            level: level.into(),
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
        let part = |round: &Round, cpu, lost| round.part(&cpus, cpu, &|cpu| cpu != lost);
        // The helper's cluster stays up, and so does all that is above it.
        let waker = Waker::Helper(1);
        let helped = Round { waker, ..round };
        for (round, lost, cpu, power_state, delay) in [
            (&round, 9, 1, 1, 0),
            (&round, 9, 2, 2, 10),
            (&round, 9, 3, 3, 20),
            (&round, 3, 1, 2, 10),
            (&round, 2, 0, 2, 10),
            (&helped, 9, 2, 2, 10),
            (&helped, 9, 3, 1, 20),
        ] {
            let suspend = Action::Suspend {
                power_state,
                powerdown: true,
            };
            assert_eq!(part(round, cpu, lost), (suspend, delay), "{cpu} {lost}");
        }
        assert_eq!(part(&helped, 1, 9), (Action::Help, 0));
        let plain = Round { osi: None, ..round };
        assert_eq!(part(&plain, 0, 9), (Action::SystemSuspend, 0));
    }
}
