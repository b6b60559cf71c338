//! In a *round*, several CPUs start at an agreed counter value. Each performs one [`Action`] and
//! records an [`super::outcome::Outcome`].

use hardware::board::{Cpu, CpuIndex};
use hardware::spec::stat::Ladder;

use super::action::Action;
use super::tally::Schedule;
use crate::plan::{Load, WakePattern};

/// The CPUs that take part in a round. All other CPUs except the lead are OFF.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Participants {
    /// Every CPU that is not lost, including the lead.
    #[default]
    All,
    /// Only this CPU.
    Only(CpuIndex),
    /// These two CPUs.
    Pair(CpuIndex, CpuIndex),
    /// The first few CPUs, including lost ones: the lead, then others in board order.
    First(usize),
}

impl Participants {
    /// Returns how many of `cpus` CPUs are selected.
    pub fn count(self, cpus: usize) -> usize {
        match self {
            Self::All => cpus,
            Self::Only(_) => 1,
            Self::Pair(..) => 2,
            Self::First(count) => count,
        }
    }

    /// Returns true if the round is for one particular CPU.
    pub const fn is_single(self) -> bool {
        matches!(self, Self::Only(_))
    }

    /// Returns the other CPU of a pair.
    pub fn other(self, cpu: CpuIndex) -> Option<CpuIndex> {
        match self {
            Self::Pair(one, other) => Some(if cpu == one { other } else { one }),
            Self::All | Self::Only(_) | Self::First(_) => None,
        }
    }

    /// Returns true for the second CPU of a pair.
    pub fn replies(self, cpu: CpuIndex) -> bool {
        matches!(self, Self::Pair(_, other) if other == cpu)
    }

    /// Returns true if the CPU is selected.
    pub fn includes(self, cpu: CpuIndex, lead: CpuIndex) -> bool {
        match self {
            Self::All => true,
            Self::Only(only) => only == cpu,
            Self::Pair(one, other) => one == cpu || other == cpu,
            Self::First(count) if cpu == lead => count > 0,
            Self::First(count) => cpu.index() + usize::from(cpu < lead) < count,
        }
    }
}

/// The interrupt that wakes the CPUs suspended in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waker {
    /// Each CPU's own timer.
    #[default]
    OwnTimers,
    /// The timer frame's SPI wakes the lead, which wakes the others with SGIs.
    Frame,
    /// An SGI from this CPU, which stays awake.
    Helper(CpuIndex),
    /// An SGI, but there is no CPU left to send it; the round is not counted.
    NoHelper,
    /// The timer frame wakes the lead, the only CPU that suspends. If it does not, this CPU wakes
    /// the lead with an SGI.
    FrameTrial(CpuIndex),
    /// The CPU's own timer wakes it. If it does not, the lead wakes the CPU with an SGI.
    TimerTrial,
}

impl Waker {
    /// Returns the CPU that stays awake to wake the others.
    pub const fn helper(self) -> Option<CpuIndex> {
        match self {
            Self::Helper(cpu) | Self::FrameTrial(cpu) => Some(cpu),
            Self::OwnTimers | Self::Frame | Self::NoHelper | Self::TimerTrial => None,
        }
    }

    /// Returns true if the timer frame wakes the lead.
    pub const fn is_frame(self) -> bool {
        matches!(self, Self::Frame | Self::FrameTrial(_))
    }
}

/// CPU_SUSPEND in OS-initiated mode (section 4.2.1): the last CPU to go down requests the higher
/// levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OsInitiated {
    /// The states to request, each with its level.
    pub states: Ladder,
    /// Ticks from the start until the last CPU in a cluster makes its call, and from then until the
    /// last CPU overall makes its call.
    pub delay: u64,
}

/// What all participants except the lead do after a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterRound {
    /// The CPUs turn themselves off; the next round starts with CPU_ON.
    #[default]
    Off,
    /// The CPUs wait for the next round.
    Stay,
}

/// What the CPUs in a round do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Each CPU performs this action.
    Act(Action),
    /// Each CPU makes this call while it takes the interrupt of its timer.
    Interrupt(Interrupt),
    /// The CPUs take the interrupts of these timers, load the memory system, or both.
    Expire(Window),
}

impl Default for Task {
    fn default() -> Self {
        Self::Act(Action::None)
    }
}

impl From<Action> for Task {
    fn from(action: Action) -> Self {
        Self::Act(action)
    }
}

impl From<Interrupt> for Task {
    fn from(interrupt: Interrupt) -> Self {
        Self::Interrupt(interrupt)
    }
}

impl From<Window> for Task {
    fn from(window: Window) -> Self {
        Self::Expire(window)
    }
}

impl Task {
    /// Returns the action that is recorded for each CPU.
    pub const fn action(&self) -> Action {
        match self {
            Self::Act(action) => *action,
            Self::Interrupt(_) => Action::Interrupt,
            Self::Expire(_) => Action::Expire,
        }
    }
}

/// One round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// The CPUs that are measured, except the helper.
    pub participants: Participants,
    /// What the participants do.
    pub task: Task,
    /// How many ticks in advance the start is published, so that all CPUs have time to read it.
    pub lead_in: u64,
    /// Ticks from the start to the first wake-up.
    pub sleep: u64,
    /// The number of ticks, counting from the first wake-up (or from the start if no CPU sleeps),
    /// during which CPUs without a task do not access memory or call the firmware.
    pub quiet: u64,
    /// The wake-up order.
    pub wake: WakePattern,
    /// The interrupt that wakes the CPUs.
    pub waker: Waker,
    /// Ticks between consecutive wake-ups, if the pattern staggers them.
    pub wake_interval: u64,
    /// The participants' state after the round.
    pub afterwards: AfterRound,
    /// Ticks from the last wake-up until a CPU that has not returned counts as lost. None selects
    /// the machine's limit, which is much longer.
    pub patience: Option<u64>,
    /// The states whose PSCI_STAT values are read. A round that reads such values yields no sample.
    pub ladder: Ladder,
    /// The timer that expires while its CPU suspends. None if every wake-up follows the schedule
    /// given by [`Self::sleep`].
    pub race: Option<Race>,
    /// The number of bytes that each CPU dirties in its cache before the start.
    pub dirty: usize,
    /// Each CPU's requests in OS-initiated mode, used instead of `task`.
    pub osi: Option<OsInitiated>,
    /// True if each CPU that suspends compares its context before and after the suspend.
    pub checks_context: bool,
    /// True if each CPU_ON is called a second time as soon as it has returned.
    pub repeats_cpu_on: bool,
}

impl Round {
    /// Returns a round without suspends, after which all CPUs power off.
    pub fn new(participants: Participants, task: impl Into<Task>, lead_in: u64) -> Self {
        Self {
            participants,
            task: task.into(),
            lead_in,
            ..Self::default()
        }
    }

    /// Returns the action of each participant, except the helper and in OS-initiated mode.
    pub const fn action(&self) -> Action {
        self.task.action()
    }

    /// Returns the CPU's action and the number of ticks from the start to that action.
    pub fn part(
        &self,
        cpus: &[Cpu],
        cpu: CpuIndex,
        takes_part: &dyn Fn(CpuIndex) -> bool,
    ) -> (Action, u64) {
        let helper = self.waker.helper();
        if helper == Some(cpu) {
            return (Action::Help, 0);
        }
        let Some(osi) = &self.osi else {
            return (self.action(), 0);
        };
        let cluster = |index: CpuIndex| cpus.get(index.index()).map(|cpu| cpu.cluster);
        let sleeps = |other: &CpuIndex| takes_part(*other) && helper != Some(*other);
        let later = || CpuIndex::all(cpus.len()).filter(|other| *other > cpu && sleeps(other));
        let (mut limit, delays) = if later().next().is_none() {
            (None, 2)
        } else if later().any(|other| cluster(other) == cluster(cpu)) {
            // Board order may differ from cluster order.
            (Some(0), 0)
        } else {
            (Some(1), 1)
        };
        // A request for a level that includes an awake CPU would be DENIED.
        if let Some(helper) = helper {
            let highest = u8::from(cluster(helper) != cluster(cpu));
            limit = Some(limit.map_or(highest, |limit| highest.min(limit)));
        }
        let suspend = |power_state| Action::Suspend {
            power_state,
            powerdown: true,
        };
        let action = osi.states.due(limit).map_or(Action::None, suspend);
        (action, delays * osi.delay)
    }
}

/// A call during which a CPU's timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// The call that the CPU makes.
    pub call: InterruptedCall,
    /// Ticks until the timer expires, counted from a fixed number of instructions before the call.
    pub expires_in: u64,
}

/// The call in an [`Interrupt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterruptedCall {
    /// A call to any function.
    Function {
        /// The function ID.
        id: u32,
        /// X1 to X3.
        arguments: [u64; 3],
    },
    /// CPU_ON for a CPU that is off. That CPU powers off again before the round ends.
    CpuOn {
        /// The CPU to turn on. It is not one of the round's participants.
        target: CpuIndex,
        /// The number of ticks from AFFINITY_INFO returning OFF for it to the end of the round.
        cpu_on_after: u64,
    },
}

/// A CPU whose timer expires while it suspends. It suspends even if the interrupt is already
/// pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The CPU.
    pub cpu: CpuIndex,
    /// Ticks until the timer expires, counted from a fixed number of instructions before the call.
    pub expires_in: u64,
}

/// Periodic timers, and the load while they run, for as long as [`Round::sleep`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The timers' schedule. The timers first expire one period after the start.
    pub schedule: Schedule,
    /// The CPUs whose timers are measured, either all of them or a single one.
    pub timers: Participants,
    /// The load on all CPUs, except a CPU whose timer is measured on its own.
    pub load: Load,
    /// The only CPU that runs the load, if there is one.
    pub loaded_cpu: Option<CpuIndex>,
    /// The `power_state` in [`Load::Suspend`].
    pub power_state: u32,
}

impl Window {
    /// Returns true if the CPU's timer is measured.
    pub fn measures(&self, cpu: CpuIndex) -> bool {
        !matches!(self.timers, Participants::Only(only) if only != cpu)
    }

    /// Returns the instant of the last expiry if the window starts at `start`.
    pub fn end(&self, start: u64) -> u64 {
        start + self.schedule.period * u64::from(self.schedule.expiries)
    }

    /// Returns the instant at which CPUs whose timers are not measured stop their load. By then,
    /// the others have most likely handled the last expiry.
    pub fn load_end(&self, start: u64) -> u64 {
        self.end(start) + self.schedule.period / 2
    }

    /// Returns the CPU's load during the measurement.
    pub fn load_of(&self, cpu: CpuIndex) -> Load {
        if self.timers == Participants::Only(cpu)
            || self.loaded_cpu.is_some_and(|loaded_cpu| loaded_cpu != cpu)
        {
            Load::Idle
        } else {
            self.load
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use hardware::spec::stat::Rung;

    use super::*;

    #[test]
    fn the_first_are_the_lead_and_then_the_others() {
        for (participants, lead, members) in [
            (Participants::First(0), 2, &[][..]),
            (Participants::First(1), 2, &[2]),
            (Participants::First(3), 2, &[0, 1, 2]),
            (Participants::Only(3.into()), 0, &[3]),
            (Participants::All, 0, &[0, 1, 2, 3, 4]),
        ] {
            let lead = CpuIndex::new(lead);
            let selected: Vec<usize> = CpuIndex::all(5)
                .filter(|cpu| participants.includes(*cpu, lead))
                .map(CpuIndex::index)
                .collect();
            assert_eq!(selected, members, "{participants:?}");
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
            osi: Some(OsInitiated { states, delay: 10 }),
            ..Round::new(Participants::All, Action::SystemSuspend, 0)
        };
        // The CPUs in a cluster are not always adjacent in board order.
        let cpus = [0, 1, 0, 1].map(|cluster| Cpu {
            cluster,
            ..Cpu::default()
        });
        let part = |round: &Round, cpu: usize, lost_index: usize| {
            round.part(&cpus, CpuIndex::new(cpu), &|other| {
                other.index() != lost_index
            })
        };
        // The helper's cluster stays up, and so do all levels above it.
        let waker = Waker::Helper(1.into());
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
