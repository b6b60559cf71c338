//! In a *round*, several CPUs start at an agreed counter value. Each performs one [`Action`] and
//! records an [`super::outcome::Outcome`].
//!
//! # The timeline of a parallel suspend round
//!
//! ```text
//!              lead-in        sleep              quiet           work
//!             |<----->|<----------------->|<--------------->|<--------->|
//! ---+-----+--+-------+----+------+-------+--------+--------+-----------+-->
//!    |     |          |    |      |       |        |        |           |
//!  orders ready     start call   down    due     return  quiet end    finish
//!
//! If an SGI or the timer frame fails to wake a CPU:
//!
//!                  grace          quiet              patience
//!          |<----------------->|<------->|<------------------------------>|
//! ---------+-------------------+---------+--------------------------------+-->
//!         due               fallback  last return           the CPU is lost
//!
//! instant    set by                               waited for by
//! ---------  -----------------------------------  ----------------------------
//! orders     lead: gives each CPU its order, and  each participant
//!            calls CPU_ON if the CPU is off
//! ready      each participant                     lead: `RoundPhase::Arrive` or
//!                                                 `Begin`
//! start      lead: one lead-in after it           each participant
//!            publishes the start
//! call       order: at start, or later in         the participant
//!            OS-initiated mode
//! down       firmware; PMF records it             nobody: calibration finds a
//!                                                 sleep that is long enough
//! due        order: one sleep after start, or     the CPU's timer or the timer
//!            later if wake-ups are staggered      frame; a CPU that sends SGIs
//! return     firmware                             nobody: a return after quiet
//!                                                 end is not counted
//! quiet end  order: one quiet time after the      each CPU that is awake
//!            last due
//! finish     each participant: its outcome,       lead: `RoundPhase::Finish`
//!            with the timestamps it has read
//! fallback   order: one grace period after due    the CPU's own timer; the
//!                                                 helper, or the awake lead,
//!                                                 which sends SGIs again
//! ```
//!
//! Afterwards, the CPUs wait for their next orders, or call CPU_OFF; the lead then waits until
//! AFFINITY_INFO returns OFF for each of them (`RoundPhase::TurnOff`).
//!
//! Other rounds differ as follows:
//!
//! * **Plain calls** have no down, due or fallback. The quiet time counts from start.
//! * **CPU_OFF** ([`Action::Off`]) does not return, so a CPU finishes just before its call. Due is
//!   when the lead becomes active and starts to call AFFINITY_INFO. The next round,
//!   [`Action::ReadBack`], turns the CPU on and reads its timestamps. That round has no start; its
//!   quiet time follows CPU_ON, because the way from CPU_ON to ready is measured.
//! * **Timed CPU_OFF** ([`Action::TimedOff`]) has no sleep: the lead calls AFFINITY_INFO or CPU_ON
//!   from start on. The quiet time follows CPU_ON here too.
//! * **Loops** ([`Action::Repeat`]) begin at start and return after the last repetition. The quiet
//!   time counts from start, and is as long as the previous loop.
//! * **Roles** ([`Round::roles`]) give a CPU another action than the task's, at its own instant.
//! * **Windows** ([`Task::Expire`]) last from start for one sleep, while the timers expire
//!   periodically. Nobody makes a timed call.
//! * **Random calls** ([`Task::Stress`]) also last for one sleep. At its end, the lead turns on the
//!   CPUs that are off.

use hardware::board::{Cpu, CpuIndex};
use hardware::spec::stat::Ladder;

use super::action::{Action, LoneCall};
use super::stress::Stress;
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
    /// Ticks from start to the call of the last CPU in a cluster, and from then to the call of the
    /// last CPU overall.
    pub delay: u64,
}

/// The CPUs in a round whose parts differ from its task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles([Option<(CpuIndex, Part)>; Self::MAX]);

impl Roles {
    /// The maximum number of CPUs with a part of their own.
    const MAX: usize = 2;

    /// Returns the parts of these CPUs.
    pub fn new(parts: [(CpuIndex, Part); Self::MAX]) -> Self {
        Self(parts.map(Some))
    }

    /// Returns the part of one CPU.
    pub const fn single(cpu: CpuIndex, part: Part) -> Self {
        Self([Some((cpu, part)), None])
    }

    /// Returns the CPU's part, if it has one of its own.
    fn part(&self, cpu: CpuIndex) -> Option<Part> {
        let mut parts = self.0.iter().flatten();
        parts.find_map(|(other, part)| (*other == cpu).then_some(*part))
    }

    /// Returns the CPU that is turned on by another CPU's call, if there is one.
    pub fn turned_on(&self) -> Option<CpuIndex> {
        let mut parts = self.0.iter().flatten();
        parts.find_map(|(_, part)| match part.action {
            Action::Call(LoneCall::CpuOn(target)) => Some(target),
            _ => None,
        })
    }
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
    /// The CPUs make random calls, and turn each other on and off, for one sleep.
    Stress(Stress),
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

impl From<Stress> for Task {
    fn from(stress: Stress) -> Self {
        Self::Stress(stress)
    }
}

impl Task {
    /// Returns the action that is recorded for each CPU.
    pub const fn action(&self) -> Action {
        match self {
            Self::Act(action) => *action,
            Self::Interrupt(_) => Action::Interrupt,
            Self::Expire(_) => Action::Expire,
            Self::Stress(_) => Action::Stress,
        }
    }
}

/// The lengths of the parts of a round's timeline, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// From the instant at which the start is published to the start itself, so that all CPUs have
    /// time to read it.
    pub lead_in: u64,
    /// From start to the first due.
    pub sleep: u64,
    /// From the last due (or from start, if no CPU sleeps) to quiet end. In this time, CPUs that
    /// are awake do not access memory or call the firmware.
    pub quiet: u64,
    /// From the last return that is in time until a CPU that has not finished counts as lost. None
    /// selects the machine's limit, which is much longer.
    pub patience: Option<u64>,
}

impl Spans {
    /// Returns the spans of a round that only has a lead-in.
    pub fn new(lead_in: u64) -> Self {
        Self {
            lead_in,
            ..Self::default()
        }
    }
}

/// How the CPUs suspended in a round wake up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WakeUp {
    /// The interrupt that wakes the CPUs when their wake-up is due.
    pub waker: Waker,
    /// The order in which they wake up.
    pub pattern: WakePattern,
    /// Ticks from one CPU's due to the next one's, if the pattern is staggered.
    pub interval: u64,
    /// The timer that expires while its CPU suspends, instead of when its wake-up is due.
    pub race: Option<Race>,
}

/// One round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// The CPUs that are measured, except the helper.
    pub participants: Participants,
    /// What the participants do.
    pub task: Task,
    /// Each CPU's requests in OS-initiated mode, used instead of `task`.
    pub osi: Option<OsInitiated>,
    /// The participants that do something else instead.
    pub roles: Roles,
    /// How long the parts of the timeline are.
    pub spans: Spans,
    /// How suspended CPUs wake up.
    pub wake_up: WakeUp,
    /// The participants' state after the round.
    pub afterwards: AfterRound,
    /// The number of bytes that each CPU dirties in its cache before it is ready.
    pub dirty: usize,
    /// The states whose PSCI_STAT values are read. A round that reads such values yields no sample.
    pub ladder: Ladder,
    /// True if each CPU that suspends compares its context before and after the suspend.
    pub checks_context: bool,
    /// True if CPUs that wake up from a power-down record the registers with which they are entered.
    pub notes_entry: bool,
    /// True if a CPU that powers down sets a mark that shows whether it loses its power.
    pub marks_power: bool,
    /// True if each CPU_ON is called a second time as soon as it has returned.
    pub repeats_cpu_on: bool,
}

impl Round {
    /// Returns a round without suspends, after which all CPUs power off.
    pub fn new(participants: Participants, task: impl Into<Task>, spans: Spans) -> Self {
        Self {
            participants,
            task: task.into(),
            spans,
            ..Self::default()
        }
    }

    /// Returns the action of each participant, except the helper and in OS-initiated mode.
    pub const fn action(&self) -> Action {
        self.task.action()
    }

    /// Returns the CPU's part. `takes_part` returns true for each participant and the helper.
    pub fn part_of(
        &self,
        cpus: &[Cpu],
        cpu: CpuIndex,
        takes_part: &dyn Fn(CpuIndex) -> bool,
    ) -> Part {
        if self.wake_up.waker.helper() == Some(cpu) {
            return Part {
                action: Action::Help,
                call: 0,
            };
        }
        if let Some(part) = self.roles.part(cpu) {
            return part;
        }
        match &self.osi {
            Some(osi) => self.os_initiated_part(osi, cpus, cpu, takes_part),
            None => Part {
                action: self.action(),
                call: 0,
            },
        }
    }

    /// Returns the CPU's part in OS-initiated mode. CPUs go down in board order.
    fn os_initiated_part(
        &self,
        osi: &OsInitiated,
        cpus: &[Cpu],
        cpu: CpuIndex,
        takes_part: &dyn Fn(CpuIndex) -> bool,
    ) -> Part {
        let helper = self.wake_up.waker.helper();
        let cluster = |index: CpuIndex| cpus.get(index.index()).map(|cpu| cpu.cluster);
        let sleeps = |other: &CpuIndex| takes_part(*other) && helper != Some(*other);
        let later = || CpuIndex::all(cpus.len()).filter(|other| *other > cpu && sleeps(other));
        let last_of = if later().next().is_none() {
            LastOf::Round
        } else if later().any(|other| cluster(other) == cluster(cpu)) {
            // Board order may differ from cluster order.
            LastOf::Neither
        } else {
            LastOf::Cluster
        };
        let mut highest_level = last_of.highest_level();
        // A request for a level that includes an awake CPU would be DENIED.
        if let Some(helper) = helper {
            let below_helper = u8::from(cluster(helper) != cluster(cpu));
            highest_level =
                Some(highest_level.map_or(below_helper, |highest| below_helper.min(highest)));
        }
        let suspend = |power_state| Action::Suspend {
            power_state,
            powerdown: true,
        };
        Part {
            action: osi.states.due(highest_level).map_or(Action::None, suspend),
            call: last_of.delays() * osi.delay,
        }
    }
}

/// What one CPU does in a round, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The CPU's action.
    pub action: Action,
    /// Ticks from start to the call.
    pub call: u64,
}

/// Which CPUs are down once this CPU is, in OS-initiated mode.
#[derive(Clone, Copy)]
enum LastOf {
    /// Only some CPUs in its cluster.
    Neither,
    /// All CPUs in its cluster.
    Cluster,
    /// All CPUs in the round.
    Round,
}

impl LastOf {
    /// Returns the highest affinity level that the CPU may request; None if there is no limit.
    const fn highest_level(self) -> Option<u8> {
        match self {
            Self::Neither => Some(0),
            Self::Cluster => Some(1),
            Self::Round => None,
        }
    }

    /// Returns the time from start to the CPU's call, in units of [`OsInitiated::delay`].
    const fn delays(self) -> u64 {
        match self {
            Self::Neither => 0,
            Self::Cluster => 1,
            Self::Round => 2,
        }
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

/// What a CPU is measured for in a [`Window`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// It takes the interrupts of its periodic timer.
    Timer,
    /// It reads the counter in a loop, with interrupts masked, and notes the gaps between reads.
    Counter,
}

/// Measured CPUs, and the load while they are measured, for as long as [`Spans::sleep`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The timers' schedule. The timers first expire one period after the start.
    pub schedule: Schedule,
    /// The CPUs that are measured, either all of them or a single one.
    pub measured: Participants,
    /// What they do.
    pub watched: Watched,
    /// The load on all CPUs, except a CPU that is measured on its own.
    pub load: Load,
    /// The only CPU that runs the load, if there is one.
    pub loaded_cpu: Option<CpuIndex>,
    /// The `power_state` in [`Load::Suspend`].
    pub power_state: u32,
}

impl Window {
    /// Returns true if the CPU is measured.
    pub fn measures(&self, cpu: CpuIndex) -> bool {
        !matches!(self.measured, Participants::Only(only) if only != cpu)
    }

    /// Returns the instant of the last expiry if the window starts at `start`.
    pub fn end(&self, start: u64) -> u64 {
        start + self.schedule.period * u64::from(self.schedule.expiries)
    }

    /// Returns the instant at which CPUs that are not measured stop their load. By then,
    /// the others have most likely handled the last expiry.
    pub fn load_end(&self, start: u64) -> u64 {
        self.end(start) + self.schedule.period / 2
    }

    /// Returns the CPU's load during the measurement.
    pub fn load_of(&self, cpu: CpuIndex) -> Load {
        if self.measured == Participants::Only(cpu)
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
            ..Round::new(Participants::All, Action::SystemSuspend, Spans::default())
        };
        // The CPUs in a cluster are not always adjacent in board order.
        let cpus = [0, 1, 0, 1].map(|cluster| Cpu {
            cluster,
            ..Cpu::default()
        });
        let part = |round: &Round, cpu: usize, lost_index: usize| {
            let takes_part = |other: CpuIndex| other.index() != lost_index;
            let part = round.part_of(&cpus, CpuIndex::new(cpu), &takes_part);
            (part.action, part.call)
        };
        // The helper's cluster stays up, and so do all levels above it.
        let waker = Waker::Helper(1.into());
        let wake_up = WakeUp {
            waker,
            ..WakeUp::default()
        };
        let helped = Round { wake_up, ..round };
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
