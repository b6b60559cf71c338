//! A machine that is not there: a fake firmware and a fake clock, so that the
//! scenarios can be tested on a host.
//!
//! It models what shapes the figures: a CPU's flush is short when its cluster
//! stays up and long when it is the last man in it, and in a parallel round
//! the CPUs queue for a lock on their way down, in an order that changes from
//! round to round. Nothing is random.

pub(crate) mod timers;

use std::boxed::Box;
use std::vec::Vec;

use smccc::psci::{self, SuspendMode};

use crate::board::{Cpu, NoFrame, NoWatchdog, TimerFrame};
use crate::image::Conduit;
use crate::measure::{
    Action, After, Cause, Counter, End, Facts, Fault, Identity, Loss, Machine, Operation, Outcome,
    Overheads, Round, Step, Tally,
};
use crate::spec::pmf::{Interface, Stamps};
use crate::spec::psci::StateFormat;
use crate::spec::stat::Rise;

use timers::Timers;

/// Ticks of a flush that stays in the core.
pub const CORE_FLUSH: u64 = 440;
/// Ticks of a flush of the whole cluster.
pub const CLUSTER_FLUSH: u64 = 26_000;
/// Lines that a core has room for: dirty ones take a tick each to flush.
pub const CORE_LINES: u64 = 512;
/// Ticks in the queue for the lock, a CPU.
pub const QUEUE_STEP: u64 = 600;

/// What a test wants to go wrong: called with the round's number, the CPU and
/// its outcome, before the machine hands it over.
pub type Mischief = Box<dyn FnMut(u64, usize, &mut Outcome)>;

/// The machine.
pub struct Fake {
    facts: Facts,
    clusters: usize,
    clock: u64,
    /// Rounds run so far.
    pub rounds: u64,
    /// All rounds as they were asked for.
    pub asked: Vec<Round>,
    lost: Vec<bool>,
    off_at: Vec<u64>,
    off_dirty: Vec<usize>,
    vanishes: Option<(u64, usize)>,
    mischief: Mischief,
    timers: Timers,
    /// Whether it stays in OS-initiated mode.
    pub stuck: bool,
    /// After the last round.
    others_are_off: bool,
    /// How the levels above a CPU are decided about.
    pub mode: SuspendMode,
    /// Where the CPUs stand.
    map: Vec<Cpu>,
}

impl Fake {
    /// So many CPUs in clusters of four; the first is the lead.
    pub fn new(cpus: usize) -> Self {
        Self {
            facts: Facts {
                frequency: 62_500_000,
                counter: Counter::Physical,
                timer: "CNTP",
                timer_intid: 30,
                frame: Err(NoFrame::NotInTree),
                exception_level: 2,
                e2h: false,
                gic: 3,
                conduit: Conduit::Smc,
                psci_version: 0x1_0001,
                smccc: None,
                service: None,
                state_format: StateFormat::Original,
                pmf: Ok(Interface::VendorEl3),
                lead: 0,
                own: Identity {
                    midr: 0x411f_d070,
                    ..Identity::default()
                },
                watchdog: Err(NoWatchdog::NotInTree),
                stat: false,
                pmu: true,
                zero: true,
                os_initiated: false,
                system_suspend: false,
                kvm: false,
                outer_cache: Some(1 << 20),
                overheads: Overheads {
                    counter: 1,
                    empty: 2,
                    pmf_read: Some(40),
                },
            },
            clusters: 4,
            clock: 1_000_000,
            rounds: 0,
            asked: Vec::new(),
            lost: std::vec![false; cpus],
            off_at: std::vec![0; cpus],
            off_dirty: std::vec![0; cpus],
            vanishes: None,
            mischief: Box::new(|_, _, _| {}),
            timers: Timers::new(cpus),
            stuck: false,
            others_are_off: true,
            mode: SuspendMode::PlatformCoordinated,
            map: (0..cpus)
                .map(|cpu| Cpu {
                    cluster: (cpu / 4) as u16,
                    ..Cpu::default()
                })
                .collect(),
        }
    }

    /// The same, whose firmware takes `format`.
    pub fn taking(cpus: usize, format: StateFormat) -> Self {
        let mut fake = Self::new(cpus);
        fake.facts.state_format = format;
        fake
    }

    /// The same, without PMF.
    pub fn without_pmf(cpus: usize) -> Self {
        let mut fake = Self::new(cpus);
        fake.facts.pmf = Err(crate::spec::pmf::ReadError::NotImplemented);
        fake
    }

    /// Has a timer frame.
    pub fn with_frame(mut self) -> Self {
        self.facts.frame = Ok(TimerFrame {
            control: 0x2a81_0000,
            number: 1,
            base: 0x2a83_0000,
            intid: 92,
        });
        self
    }

    /// Has no GIC.
    pub fn without_gic(mut self) -> Self {
        self.facts.gic = 0;
        self
    }

    /// Has no PMU.
    pub fn without_pmu(mut self) -> Self {
        self.facts.pmu = false;
        self
    }

    /// Keeps PSCI_STAT.
    pub fn with_statistics(mut self) -> Self {
        self.facts.stat = true;
        self
    }

    /// How large its cache is, nobody knows.
    pub fn without_cache_size(mut self) -> Self {
        self.facts.outer_cache = None;
        self
    }

    /// Has OS-initiated mode and SYSTEM_SUSPEND.
    pub fn with_modes(mut self) -> Self {
        self.facts.os_initiated = true;
        self.facts.system_suspend = true;
        self
    }

    /// Loses a CPU in a round in which it has no part.
    pub fn without(mut self, cpu: usize, round: u64) -> Self {
        self.vanishes = Some((round, cpu));
        self
    }

    /// Lets things go wrong.
    pub fn with(mut self, mischief: impl FnMut(u64, usize, &mut Outcome) + 'static) -> Self {
        self.mischief = Box::new(mischief);
        self
    }

    /// Has a firmware or hypervisor that prohibits DC ZVA.
    pub fn without_zero(mut self) -> Self {
        self.facts.zero = false;
        self
    }

    /// Handles each expiry so late.
    pub fn with_lateness(mut self, lateness: impl FnMut(usize, u32) -> u64 + 'static) -> Self {
        self.timers.lateness = Box::new(lateness);
        self
    }

    /// Has a CPU whose timer goes wrong in the window of this number, from 0.
    pub fn with_fault(mut self, cpu: usize, window: u64, fault: Fault) -> Self {
        self.timers.fault = Some((cpu, window, fault));
        self
    }

    fn cluster(&self, cpu: usize) -> usize {
        cpu / self.clusters
    }

    fn takes_part(&self, round: &Round, cpu: usize) -> bool {
        !self.lost[cpu] && round.who.includes(cpu, self.facts.lead)
    }

    /// Ticks that the flush of `cpu` takes when it goes down as the `place`th
    /// of `queue`.
    fn flush(&self, round: &Round, action: Action, queue: &[usize], place: usize) -> u64 {
        let dirty = if matches!(round.action, Action::ReadBack) {
            self.off_dirty[queue[place]]
        } else {
            round.dirty
        };
        let cpu = queue[place];
        let deep = match action {
            Action::Suspend { power_state, .. } => power_state >> 24 != 0,
            _ => true,
        };
        // The lead is awake while others go down alone.
        let lead_awake = !queue.contains(&self.facts.lead);
        let mates_up = queue[place + 1..]
            .iter()
            .any(|other| self.cluster(*other) == self.cluster(cpu))
            || lead_awake && self.cluster(self.facts.lead) == self.cluster(cpu)
            || round.waker.helper().map(|helper| self.cluster(helper)) == Some(self.cluster(cpu));
        let lines = dirty as u64 / 64;
        if deep && !mates_up {
            CLUSTER_FLUSH + lines
        } else {
            CORE_FLUSH + lines.min(CORE_LINES)
        }
    }

    /// Whether the CPU is the last man of what it asks for, as OS-initiated
    /// mode has it: all others below that node are down, or off.
    fn is_last(&self, action: Action, queue: &[usize], place: usize) -> bool {
        let Action::Suspend { power_state, .. } = action else {
            return true;
        };
        let level = power_state >> 24;
        let mut later = queue[place + 1..].iter();
        !later.any(|other| {
            level > 1 || level == 1 && self.cluster(*other) == self.cluster(queue[place])
        })
    }

    /// What PSCI_STAT says of a suspend of `cpu` when all of `queue` are down,
    /// and all others but the lead are off.
    fn rise(&self, round: &Round, queue: &[usize], cpu: usize) -> Rise {
        let awake = round.waker.helper();
        let down = |other: usize| {
            let off = other != self.facts.lead && !self.lost[other];
            awake != Some(other) && (queue.contains(&other) || off)
        };
        let mut all = 0..self.lost.len();
        let system = all.clone().all(down);
        let cluster = all.all(|o| self.cluster(o) != self.cluster(cpu) || down(o));
        let mut rise = Rise::default();
        for (place, rung) in round.ladder.rungs() {
            rise.counts[place] = u8::from(match rung.level {
                Some(0) => true,
                Some(1) => cluster,
                _ => system,
            });
            rise.residency_us = 3;
        }
        rise
    }

    /// Ticks that an operation takes so many times: every seventh round has a
    /// hiccup.
    fn repeated(&self, operation: Operation, count: u32) -> u64 {
        let cost = match operation {
            Operation::Nothing => 1,
            Operation::Call(_) => 30,
            Operation::SelfSgi => 12,
            Operation::SysregRead => 2,
            Operation::ReadStamp => 45,
        };
        let hiccup = if self.rounds.is_multiple_of(7) {
            500
        } else {
            0
        };
        cost * u64::from(count) + hiccup
    }

    /// Suspend or version call of one CPU in a queue.
    fn call(&self, round: &Round, start: u64, queue: &[usize], place: usize) -> Outcome {
        let cpu = queue[place];
        let (action, delay) = round.part(&self.map, cpu, &|cpu| queue.contains(&cpu));
        let (agreed, start) = (start, start + delay);
        let before = start + cpu as u64;
        let enter = before + 10;
        let outcome = Outcome {
            action,
            start,
            before,
            due: agreed + round.sleep,
            rise: self.rise(round, queue, cpu),
            ..Outcome::default()
        };
        if round.action == Action::Version {
            return Outcome {
                end: End::Returned,
                due: 0,
                after: enter + 30,
                stamps: Stamps([enter, enter + 20, 0, 0, 0, 0]),
                ..outcome
            };
        }
        let flush = enter + 100 + QUEUE_STEP * place as u64;
        let flushed = flush + self.flush(round, action, queue, place);
        let down = flushed + 20;
        let due = agreed + round.sleep;
        // Those before are to be down by then.
        let queued = QUEUE_STEP * queue.len() as u64;
        let too_soon = delay > 0 && round.osi.is_some_and(|osi| osi.step < queued);
        let is_last = self.is_last(action, queue, place) && !too_soon;
        if self.mode == SuspendMode::OsInitiated && !is_last {
            return Outcome {
                end: End::Returned,
                code: psci::error::DENIED,
                after: enter + 60,
                ..outcome
            };
        }
        if down > due {
            // The timer fired on the way down: given up, stamps left as the
            // last call's.
            return Outcome {
                end: End::Returned,
                after: enter + 60,
                stamps: Stamps([enter, enter + 50, 7, 9, 5, 6]),
                ..outcome
            };
        }
        let up = due + 30;
        Outcome {
            end: End::Resumed,
            after: up + 400,
            stamps: Stamps([enter, up + 300 + cpu as u64, down, up, flush, flushed]),
            ..outcome
        }
    }
}

impl Machine for Fake {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn run(&mut self, round: &Round, outcomes: &mut [Outcome]) {
        assert_eq!(outcomes.len(), self.lost.len());
        assert!(matches!(round.after, After::Off | After::Stay));
        let helper = round.waker.helper();
        assert!(helper.is_none_or(|helper| helper < self.lost.len()));
        if round.waker.is_frame() {
            assert!(self.facts.frame.is_ok(), "there is no timer frame");
        }
        outcomes.fill(Outcome::default());
        self.asked.push(*round);
        let start = self.clock + round.lead_in;
        let mut queue: Vec<usize> = (0..outcomes.len())
            .filter(|cpu| self.takes_part(round, *cpu) && helper != Some(*cpu))
            .collect();
        if !queue.is_empty() {
            let turn = self.rounds as usize % queue.len();
            queue.rotate_left(turn);
        }
        if round.action == Action::Expire {
            self.timers.run(round, start, &self.lost);
        }
        if round.osi.is_some() {
            assert_eq!(self.mode, SuspendMode::OsInitiated);
            let all = queue.clone();
            let part = |cpu: &usize| round.part(&self.map, *cpu, &|cpu| all.contains(&cpu));
            queue.sort_by_key(|cpu| part(cpu).1);
        }
        let others_have_a_part = queue.iter().any(|cpu| *cpu != self.facts.lead);
        self.others_are_off = !others_have_a_part || round.after == After::Off;
        for place in 0..queue.len() {
            let cpu = queue[place];
            outcomes[cpu] = match round.action {
                Action::None | Action::Help => Outcome::default(),
                Action::Suspend { .. } | Action::SystemSuspend | Action::Version => {
                    self.call(round, start, &queue, place)
                }
                Action::Off | Action::OnOff => {
                    self.off_at[cpu] = start;
                    self.off_dirty[cpu] = round.dirty;
                    Outcome {
                        action: round.action,
                        end: End::WentOff,
                        turned_on: start - 800,
                        entered: if cpu == self.facts.lead {
                            0
                        } else {
                            start - 100
                        },
                        before: start,
                        seen_off: start + 900,
                        ..Outcome::default()
                    }
                }
                Action::ReadBack => {
                    let enter = self.off_at[cpu] + 8;
                    let flushed = enter + 100 + self.flush(round, Action::Off, &[cpu], 0);
                    let on = start + 1000;
                    Outcome {
                        action: Action::ReadBack,
                        end: End::ReadBack,
                        turned_on: start,
                        entered: on + 500,
                        after: on + 600,
                        stamps: Stamps([enter, on + 450, flushed + 20, on, enter + 100, flushed]),
                        ..Outcome::default()
                    }
                }
                Action::Expire => Outcome {
                    action: round.action,
                    end: End::Returned,
                    start,
                    ..Outcome::default()
                },
                Action::Repeat { operation, count } => {
                    let before = start + cpu as u64;
                    let took = self.repeated(operation, count);
                    Outcome {
                        action: round.action,
                        end: End::Returned,
                        code: match operation {
                            Operation::Call(function) if function >> 24 == 0xaf => -1,
                            Operation::Call(_) => 0x1_0002,
                            _ => 0,
                        },
                        start,
                        before,
                        after: before + took,
                        cycles: self.facts.pmu.then_some(16 * took),
                        ..Outcome::default()
                    }
                }
            };
            (self.mischief)(self.rounds, cpu, &mut outcomes[cpu]);
            if let End::Lost(_) = outcomes[cpu].end {
                self.lost[cpu] = true;
            }
        }
        if let Some((_, cpu)) = self.vanishes.filter(|v| v.0 == self.rounds) {
            self.lost[cpu] = true;
        }
        self.rounds += 1;
        self.clock = match round.action {
            Action::Repeat { .. } => outcomes.iter().map(|o| o.after).max().unwrap_or(start),
            _ => start + round.sleep + 10_000_000,
        };
    }

    fn tally(&mut self, cpu: usize) -> Option<&mut Tally> {
        self.timers.tallies.get_mut(cpu).filter(|_| !self.lost[cpu])
    }

    fn set_suspend_mode(&mut self, mode: SuspendMode) -> Result<(), psci::Error> {
        assert!(self.facts.os_initiated, "not advertised");
        if !self.others_are_off {
            return Err(psci::Error::Denied);
        }
        if self.stuck && mode == SuspendMode::PlatformCoordinated {
            return Err(psci::Error::Denied);
        }
        self.mode = mode;
        Ok(())
    }

    fn lost(&self, cpu: usize) -> Option<Loss> {
        self.lost[cpu].then_some(LOSS)
    }
}

/// A loss, for tests that need one.
pub const LOSS: Loss = Loss {
    step: Step::Finish,
    cause: Cause::Timeout,
};
