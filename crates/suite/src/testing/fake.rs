//! Fake firmware and a fake clock, for testing scenarios on a host. The last CPU to go down in a
//! cluster has a long flush. In a parallel round, the CPUs queue for a lock, in an order that
//! changes from round to round. Nothing is random.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use hardware::board::{Cpu, CpuIndex, GicVersion, IntId, NoFrame, NoWatchdog, TimerFrame};
use hardware::devices::its::NoLpi;
use hardware::image::Conduit;
use hardware::spec::counter::TimerName;
use hardware::spec::counter_value::CounterValue;
use hardware::spec::pmf::{Interface, ReadError, Stamp, Stamps};
use hardware::spec::psci::StateFormat;
use hardware::spec::stat::Rise;
use smccc::psci::{self, SuspendMode};

use super::fake_firmware::{ENTRY, FakeFirmware};
use super::fake_timers::FakeTimers;
use crate::measure::{
    Action, ActionDetails, ActionEnd, AfterRound, Cause, Counter, EntryState, Facts, Identity,
    Interrupt, InterruptTimes, InterruptedCall, KeptContext, Loss, Machine, NoCpuOff, Operation,
    Outcome, Overheads, PowerCycle, Preparation, RecentCall, Round, RoundPhase, SingleCall,
    Suspended, Tally, Task, Waker,
};
use crate::model::TimerFault;

/// The number of ticks needed to flush a core.
pub const CORE_FLUSH: u64 = 440;
/// The number of ticks needed to flush the whole cluster.
pub const CLUSTER_FLUSH: u64 = 26_000;
/// The number of cache lines in a core; each takes a tick to flush if it is dirty.
pub const CORE_LINES: u64 = 512;
/// The number of ticks for which each CPU holds the lock.
pub const QUEUE_STEP: u64 = 600;
/// The duration, in ticks, of PSCI_VERSION (from its timestamps) and of reading a timestamp (from
/// the caller's counter).
pub const WARM_CALL: u64 = 20;
/// The additional ticks for the first call after waking up from a power-down.
pub const COLD_CALL: u64 = 70;
/// The additional ticks for a call if the caller's cache lines were evicted.
pub const EVICTED_CALL: u64 = 3;
/// The number of ticks from an interrupt that is not held back to its handler.
pub const FAKE_VECTOR: u64 = 4;
/// The reserved bits of a `power_state` in the original format.
const RESERVED: u32 = 0xfcfe_0000;
/// The [`Loss`] value that tests use for lost CPUs.
pub const LOSS: Loss = Loss {
    phase: RoundPhase::Finish,
    cause: Cause::Timeout,
};

/// A change that a test makes to an outcome, by round number and CPU.
type Edit = Box<dyn FnMut(u64, CpuIndex, &mut Outcome)>;
/// A change that a test makes to the outcome of a trial with the CPU's own timer.
type TrialEdit = Box<dyn FnMut(CpuIndex, &mut Outcome)>;

/// A machine that computes its outcomes instead of measuring them.
pub struct Fake {
    facts: Facts,
    clock: u64,
    /// The number of rounds so far, except trials of the CPUs' own timers.
    pub rounds: u64,
    /// The rounds requested, except trials of the CPUs' own timers.
    pub requested_rounds: Vec<Round>,
    /// The trials of the CPUs' own timers.
    pub trials: Vec<Round>,
    /// The number of rounds before the first trial of a CPU's own timer.
    pub trials_began_at: Option<usize>,
    lost: Vec<bool>,
    off_at: Vec<u64>,
    off_dirty: Vec<usize>,
    edit: Edit,
    edit_trial: TrialEdit,
    timers: FakeTimers,
    firmware: FakeFirmware,
    /// The mode that SET_SUSPEND_MODE rejects.
    pub refuses: Option<SuspendMode>,
    /// The reason why LPIs cannot be enabled.
    pub no_lpi: Option<NoLpi>,
    map: Vec<Cpu>,
    /// True if the first CPU_OFF reveals that CPU_OFF is not supported.
    pub lacks_cpu_off: bool,
    /// The state in which CPUs are entered.
    pub entry_state: EntryState,
}

/// Returns an instant on the fake clock.
fn at(ticks: u64) -> Option<CounterValue> {
    CounterValue::new(ticks)
}

/// Returns a number of ticks that differs between CPUs.
fn ticks_of(cpu: CpuIndex) -> u64 {
    u32::from(cpu).into()
}

fn facts() -> Facts {
    Facts {
        frequency: 62_500_000,
        counter: Counter::Physical,
        timer: TimerName::Cntp,
        timer_intid: IntId::new(30),
        frame: Err(NoFrame::NotInTree),
        exception_level: 2,
        e2h: false,
        gic: Some(GicVersion::V3),
        conduit: Conduit::Smc,
        psci_version: 0x1_0001,
        smccc: None,
        service: None,
        state_format: StateFormat::Original,
        pmf: Ok(Interface::VendorEl3),
        lead: CpuIndex::default(),
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
        no_cpu_off: None,
        kvm: false,
        outer_cache: Some(1 << 20),
        overheads: Overheads {
            counter: 1,
            empty: 2,
            pmf_read: Some(40),
        },
    }
}

impl Fake {
    /// Returns a machine with `cpus` CPUs in clusters of four; CPU 0 is the lead.
    pub fn new(cpus: usize) -> Self {
        let cpu = |cpu| Cpu {
            cluster: (cpu / 4) as u16,
            ..Cpu::default()
        };
        Self {
            facts: facts(),
            clock: 1_000_000,
            rounds: 0,
            requested_rounds: Vec::new(),
            trials: Vec::new(),
            trials_began_at: None,
            lost: vec![false; cpus],
            off_at: vec![0; cpus],
            off_dirty: vec![0; cpus],
            edit: Box::new(|_, _, _| {}),
            edit_trial: Box::new(|_, _| {}),
            timers: FakeTimers::new(cpus),
            firmware: FakeFirmware::new(cpus),
            refuses: None,
            no_lpi: None,
            map: (0..cpus).map(cpu).collect(),
            lacks_cpu_off: false,
            entry_state: EntryState {
                pstate: 0x3c9,
                sctlr: 0x30c5_0830,
            },
        }
    }

    /// Returns the number of CPUs.
    pub fn cpus(&self) -> usize {
        self.lost.len()
    }

    /// Changes the facts.
    pub fn with_facts(mut self, edit: impl FnOnce(&mut Facts)) -> Self {
        edit(&mut self.facts);
        self
    }

    /// Returns a machine whose firmware has no PMF.
    pub fn without_pmf(cpus: usize) -> Self {
        Self::new(cpus).with_facts(|facts| facts.pmf = Err(ReadError::NotImplemented))
    }

    /// Adds a memory-mapped timer frame.
    pub fn with_frame(self) -> Self {
        let frame = TimerFrame {
            control: 0x2a81_0000,
            number: 1,
            base: 0x2a83_0000,
            intid: IntId::new(92),
        };
        self.with_facts(|facts| facts.frame = Ok(frame))
    }

    /// Removes the GIC.
    pub fn without_gic(self) -> Self {
        self.with_facts(|facts| facts.gic = None)
    }

    /// Adds the PSCI_STAT functions.
    pub fn with_statistics(self) -> Self {
        self.with_facts(|facts| facts.stat = true)
    }

    /// Adds PSCI_SET_SUSPEND_MODE.
    pub fn with_modes(self) -> Self {
        self.with_facts(|facts| (facts.os_initiated, facts.system_suspend) = (true, true))
    }

    /// Changes outcomes, by round number and CPU.
    pub fn with(mut self, edit: impl FnMut(u64, CpuIndex, &mut Outcome) + 'static) -> Self {
        self.edit = Box::new(edit);
        self
    }

    /// Changes outcomes of trials with the CPU's own timer.
    pub fn with_trials(mut self, edit: impl FnMut(CpuIndex, &mut Outcome) + 'static) -> Self {
        self.edit_trial = Box::new(edit);
        self
    }

    /// Sets how many ticks late a CPU's timer is handled, by CPU and by expiry number.
    pub fn with_lateness(mut self, lateness: impl FnMut(CpuIndex, u32) -> u64 + 'static) -> Self {
        self.timers.lateness = Box::new(lateness);
        self
    }

    /// Makes CPUs that read the counter find these gaps. `gaps` receives the CPU and the window's
    /// number, and returns the begin of each gap in ticks from the window's start, and its length.
    pub fn with_gaps(
        mut self,
        gaps: impl FnMut(CpuIndex, u64) -> Vec<(u64, u64)> + 'static,
    ) -> Self {
        self.timers.gaps = Box::new(gaps);
        self
    }

    /// Changes what the lead's calls between rounds return, by function ID and first argument.
    pub fn with_answers(mut self, edit: impl FnMut(u32, u64, i32) -> i32 + 'static) -> Self {
        self.firmware.edit = Box::new(edit);
        self
    }

    /// Injects a fault into a `timer_latency` window on one CPU.
    pub fn with_fault(mut self, cpu: CpuIndex, window: u64, fault: TimerFault) -> Self {
        self.timers.fault = Some((cpu, window, fault));
        self
    }

    /// Returns how many ticks the CPU at `position` in `queue` takes to flush. `queue` is in
    /// power-down order.
    fn flush(&self, round: &Round, action: Action, queue: &[CpuIndex], position: usize) -> u64 {
        let (cpu, lead) = (queue[position], self.facts.lead);
        let dirty = if round.action() == Action::ReadBack {
            self.off_dirty[cpu.index()]
        } else {
            round.dirty
        };
        let is_deep = match action {
            // A state is deep if its level is above the core level.
            Action::Suspend { .. } | Action::ColdCall { .. } => {
                action.power_state().is_some_and(|state| state >> 24 != 0)
            }
            _ => true,
        };
        // The lead stays awake while another CPU powers down on its own.
        let awake_lead = (!queue.contains(&lead)).then_some(lead);
        let later = queue[position + 1..].iter().copied();
        let mut awake = later.chain(awake_lead).chain(round.wake_up.waker.helper());
        let cluster = |cpu: CpuIndex| self.map[cpu.index()].cluster;
        let is_cluster_up = awake.any(|other| cluster(other) == cluster(cpu));
        let lines = dirty as u64 / 64;
        if is_deep && !is_cluster_up {
            CLUSTER_FLUSH + lines
        } else {
            CORE_FLUSH + lines.min(CORE_LINES)
        }
    }

    /// Returns the outcome of `count` operations; every seventh round takes 500 more ticks.
    fn repeat(&self, before: u64, operation: Operation, count: u32) -> Outcome {
        let (cost, code) = match operation {
            Operation::Call(function) if function >> 24 == 0xaf => (30, Some(-1)),
            Operation::Call(_) | Operation::CallWith(..) => (30, Some(0x1_0002)),
            Operation::SelfSgi | Operation::Lpi => (12, None),
            Operation::ReadStamp => (45, None),
            Operation::RoundTrip => (50, None),
            Operation::Eoi | Operation::DistributorRead | Operation::UartRead => (5, None),
            Operation::Nothing | Operation::SysregRead => (1, None),
        };
        let more = u64::from(self.rounds.is_multiple_of(7)) * 500;
        let took = cost * u64::from(count) + more;
        Outcome {
            end: ActionEnd::Returned,
            code,
            start: at(before),
            before: at(before),
            returned_at: at(before + took),
            details: ActionDetails::Loop {
                cycles: self.facts.pmu.then_some(16 * took),
            },
            ..Outcome::new(Action::Repeat { operation, count })
        }
    }

    /// Returns the outcome of a suspend whose wake-up may come too early. Until 60 ticks after its
    /// beginning, the call returns.
    fn race(&self, round: &Round, start: u64, expires_in: u64, cpu: CpuIndex) -> Outcome {
        let (before, due) = (start + 20, start + expires_in);
        let flush = self.flush(round, round.action(), &[cpu], 0);
        let down = before + 110 + flush;
        let outcome = Outcome {
            start: at(start),
            before: at(before),
            details: ActionDetails::Suspend(Suspended {
                due: at(due),
                ..Suspended::default()
            }),
            ..Outcome::new(round.action())
        };
        if due < before + 60 {
            return Outcome {
                end: ActionEnd::Returned,
                code: Some(0),
                returned_at: at(before + 90),
                stamps: Ok(Stamps::new([before + 10, before + 80, 7, 9, 5, 6])),
                ..outcome
            };
        }
        let up = due.max(down) + 30;
        Outcome {
            end: ActionEnd::Resumed,
            returned_at: at(up + 400),
            stamps: Ok(Stamps::new([
                before + 10,
                up + 300,
                down,
                up,
                before + 100,
                down - 10,
            ])),
            ..outcome
        }
    }

    /// Returns the CPUs in the round, except the helper, in the order in which they go down.
    fn queue(&self, round: &Round) -> Vec<CpuIndex> {
        let (helper, lead) = (round.wake_up.waker.helper(), self.facts.lead);
        let has_part =
            |cpu: CpuIndex| !self.lost[cpu.index()] && round.participants.includes(cpu, lead);
        let mut queue: Vec<CpuIndex> = CpuIndex::all(self.lost.len())
            .filter(|cpu| has_part(*cpu) && helper != Some(*cpu))
            .collect();
        if !queue.is_empty() {
            let turn = self.rounds as usize % queue.len();
            queue.rotate_left(turn);
        }
        if round.osi.is_some() {
            let participants = queue.clone();
            let takes_part = |cpu: CpuIndex| participants.contains(&cpu);
            queue.sort_by_key(|cpu| round.part_of(&self.map, *cpu, &takes_part).call);
        }
        queue
    }

    /// Returns the outcome of an action that only has a return value: a call that is not timed, or a
    /// suspend with a reserved bit in its `power_state`.
    fn answer(&mut self, action: Action, start: u64) -> Option<Outcome> {
        let is_original = self.facts.state_format == StateFormat::Original;
        let code = match action {
            Action::Call(call) => self.firmware.lone_call(call),
            Action::Suspend { power_state, .. } if is_original && power_state & RESERVED != 0 => {
                psci::error::INVALID_PARAMETERS
            }
            _ => return None,
        };
        Some(Outcome {
            end: ActionEnd::Returned,
            code: Some(code),
            start: at(start),
            before: at(start),
            returned_at: at(start + 20),
            ..Outcome::new(action)
        })
    }

    /// Returns the outcome of a suspend or of PSCI_VERSION on one CPU in a queue.
    fn call(
        &self,
        round: &Round,
        agreed_start: u64,
        queue: &[CpuIndex],
        position: usize,
    ) -> Outcome {
        let cpu = queue[position];
        let part = round.part_of(&self.map, cpu, &|cpu| queue.contains(&cpu));
        let start = agreed_start + part.call;
        let before = start + ticks_of(cpu);
        let enter = before + 10;
        let due = agreed_start + round.spans.sleep;
        let mut rise = Rise::default();
        (rise.counts[0], rise.residency_us) = (1, 3);
        let mut outcome = Outcome {
            end: ActionEnd::Returned,
            start: at(start),
            before: at(before),
            quiet_end: at(due + round.spans.quiet),
            ..Outcome::new(part.action)
        };
        if let ActionDetails::Suspend(suspended) = &mut outcome.details {
            suspended.due = at(due);
            suspended.rise = rise;
            suspended.kept = round.checks_context.then_some(KeptContext {
                timer: true,
                private_interrupts: true,
                vectors: None,
            });
        }
        if !round.action().sleeps() {
            return Outcome {
                code: Some(0x1_0001),
                quiet_end: at(agreed_start + round.spans.quiet),
                returned_at: at(enter + 30),
                stamps: Ok(Stamps::new([enter, enter + 20, 0, 0, 0, 0])),
                ..outcome
            };
        }
        let flush = enter + 100 + QUEUE_STEP * position as u64;
        let flushed = flush + self.flush(round, part.action, queue, position);
        let down = flushed + 20;
        if down > due {
            // The timer fired on the way down, so the suspend is abandoned and the other four
            // timestamps are still from an earlier call.
            return Outcome {
                code: Some(0),
                returned_at: at(enter + 60),
                stamps: Ok(Stamps::new([enter, enter + 50, 7, 9, 5, 6])),
                ..outcome
            };
        }
        let up = due + 30;
        Outcome {
            end: ActionEnd::Resumed,
            returned_at: at(up + 400),
            stamps: Ok(Stamps::new([
                enter,
                up + 300 + ticks_of(cpu),
                down,
                up,
                flush,
                flushed,
            ])),
            ..outcome
        }
    }

    /// Returns the outcome of a call that holds back an interrupt from 3 ticks after it begins
    /// until it returns.
    fn interrupt(interrupt: &Interrupt, start: u64) -> Outcome {
        let length = match interrupt.call {
            InterruptedCall::Function { id, .. } => 100 + u64::from(id & 0xff),
            InterruptedCall::CpuOn { .. } => 400,
        };
        let before = start + 20;
        let (masked, after) = (before + 3, before + length);
        let due = start + interrupt.expires_in;
        let entered = if (masked..after).contains(&due) {
            after
        } else {
            due
        };
        Outcome {
            end: ActionEnd::Returned,
            start: at(start),
            before: at(before),
            returned_at: at(after),
            details: ActionDetails::Interrupt(InterruptTimes {
                due: at(due),
                entered: at(entered + FAKE_VECTOR),
            }),
            ..Outcome::new(Action::Interrupt)
        }
    }

    /// Turns the outcome of a suspend or PSCI_VERSION into the outcome of the single call that
    /// follows it.
    fn cold_call(outcome: Outcome, call: SingleCall, preparation: Preparation) -> Outcome {
        let suspends = matches!(preparation, Preparation::Suspend { .. });
        let extra = match preparation {
            Preparation::Warm => 0,
            Preparation::Evict => EVICTED_CALL,
            Preparation::Suspend { powerdown, .. } => u64::from(powerdown) * COLD_CALL,
        };
        let ready_at = if suspends {
            outcome.returned_at
        } else {
            outcome.before
        };
        let before = ready_at.map_or(0, CounterValue::number) + 5;
        let took = WARM_CALL + extra;
        let mut stamps = outcome.stamps.expect("the fake reads timestamps");
        let around = match call {
            SingleCall::Version => 10,
            SingleCall::ReadStamp => 0,
        };
        if call == SingleCall::Version {
            stamps.set(Stamp::EnterPsci, before + around);
            stamps.set(Stamp::ExitPsci, before + around + took);
        }
        let version = (call == SingleCall::Version).then_some(0x1_0001);
        Outcome {
            code: outcome
                .code
                .filter(|code| *code < 0)
                .or(version)
                .or(Some(0)),
            before: at(before),
            returned_at: at(before + around + took + around),
            stamps: Ok(stamps),
            ..outcome
        }
    }

    /// Returns the outcome of the CPU_ON that follows a CPU_OFF, with the timestamps of both.
    fn read_back(&self, round: &Round, start: u64, cpu: CpuIndex) -> Outcome {
        let enter = self.off_at[cpu.index()] + 8;
        let flushed = enter + 100 + self.flush(round, Action::Off, &[cpu], 0);
        let on = start + 1000;
        let stamps = [enter, on + 450, flushed + 20, on, enter + 100, flushed];
        Outcome {
            end: ActionEnd::ReadBack,
            quiet_end: at(start + round.spans.quiet),
            returned_at: at(on + 600),
            stamps: Ok(Stamps::new(stamps)),
            details: ActionDetails::PowerCycle(PowerCycle {
                turned_on: at(start),
                entered: at(on + 500),
                ..PowerCycle::default()
            }),
            ..Outcome::new(Action::ReadBack)
        }
    }

    /// Panics if the machine cannot run the round.
    fn check_round(&self, round: &Round) {
        let helper = round.wake_up.waker.helper();
        assert!(helper.is_none_or(|helper| helper.index() < self.cpus()));
        assert!(!round.wake_up.waker.is_frame() || self.facts.frame.is_ok());
        if let Task::Expire(window) = &round.task {
            assert_eq!(
                round.spans.sleep,
                window.end(0),
                "a round lasts as long as its window"
            );
        }
    }

    /// Returns the outcome of the CPU at `position` in `queue`.
    fn outcome_of(
        &mut self,
        round: &Round,
        start: u64,
        queue: &[CpuIndex],
        position: usize,
    ) -> Outcome {
        let cpu = queue[position];
        let action = round.action();
        let outcome = Outcome::new(action);
        match action {
            // A round without a helper does not count.
            _ if round.wake_up.waker == Waker::NoHelper => outcome,
            Action::None | Action::Help | Action::Call(_) | Action::Stress => outcome,
            Action::Suspend { .. } | Action::SystemSuspend | Action::Version => {
                match round.wake_up.race {
                    Some(race) if race.cpu == cpu => self.race(round, start, race.expires_in, cpu),
                    _ => self.call(round, start, queue, position),
                }
            }
            Action::ColdCall { call, preparation } => {
                Self::cold_call(self.call(round, start, queue, position), call, preparation)
            }
            Action::Off | Action::TimedOff { .. } => {
                self.off_at[cpu.index()] = start;
                self.off_dirty[cpu.index()] = round.dirty;
                Outcome {
                    end: ActionEnd::WentOff,
                    quiet_end: if action.is_timed_off() {
                        at(start - 800 + round.spans.quiet)
                    } else {
                        None
                    },
                    before: at(start),
                    details: ActionDetails::PowerCycle(PowerCycle {
                        lead_active_at: None,
                        seen_off: at(start + 900),
                        turned_on: at(start - 800),
                        // The lead stays on, so it has no entry time.
                        entered: if cpu == self.facts.lead {
                            None
                        } else {
                            at(start - 100)
                        },
                    }),
                    ..outcome
                }
            }
            Action::ReadBack => self.read_back(round, start, cpu),
            Action::Interrupt | Action::Expire => match &round.task {
                Task::Interrupt(interrupt) => Self::interrupt(interrupt, start),
                Task::Act(_) | Task::Expire(_) | Task::Stress(_) => Outcome {
                    end: ActionEnd::Returned,
                    start: at(start),
                    ..outcome
                },
            },
            Action::Repeat { operation, count } => {
                self.repeat(start + ticks_of(cpu), operation, count)
            }
        }
    }
}

impl Machine for Fake {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn run_round(&mut self, round: &Round, outcomes: &mut [Outcome]) {
        let (cpus, lead) = (self.lost.len(), self.facts.lead);
        let helper = round.wake_up.waker.helper();
        assert_eq!(outcomes.len(), cpus);
        self.check_round(round);
        outcomes.fill(Outcome::default());
        self.firmware.begin_round();
        let is_trial = round.wake_up.waker == Waker::TimerTrial;
        if is_trial {
            self.trials_began_at
                .get_or_insert(self.requested_rounds.len());
            self.trials.push(*round);
        } else {
            self.requested_rounds.push(*round);
        }
        let start = self.clock + round.spans.lead_in;
        let queue = self.queue(round);
        if let Task::Expire(window) = &round.task {
            self.timers.expire(window, start, &self.lost);
        }
        let turns_off = round.afterwards == AfterRound::Off || round.action().turns_off();
        // In the scenario in which CPU_OFF turns out to be missing, the remaining rounds still
        // request it.
        assert!(is_trial || self.facts.no_cpu_off.is_none() || self.lacks_cpu_off || !turns_off);
        for (position, cpu) in queue.iter().enumerate() {
            assert_ne!(helper, Some(*cpu), "a helper stays awake during the round");
            let outcome = &mut outcomes[cpu.index()];
            let action = round
                .part_of(&self.map, *cpu, &|other| queue.contains(&other))
                .action;
            *outcome = match self.answer(action, start) {
                Some(answer) => answer,
                None => self.outcome_of(round, start, &queue, position),
            };
            if is_trial {
                (self.edit_trial)(*cpu, outcome)
            } else {
                (self.edit)(self.rounds, *cpu, outcome)
            }
            self.lost[cpu.index()] = matches!(outcome.end, ActionEnd::Lost(_));
            self.firmware.set(*cpu, *cpu == lead || !turns_off);
        }
        self.rounds += u64::from(!is_trial);
        if turns_off && self.lacks_cpu_off {
            self.facts.no_cpu_off = Some(NoCpuOff::NotSupported);
        }
        self.clock = match round.action() {
            Action::Repeat { .. } => {
                let last = outcomes
                    .iter()
                    .filter_map(|outcome| outcome.returned_at)
                    .max();
                last.map_or(start, CounterValue::number)
            }
            _ => start + round.spans.sleep + 10_000_000,
        };
    }

    fn tally(&mut self, cpu: CpuIndex) -> Option<&mut Tally> {
        if self.lost[cpu.index()] {
            return None;
        }
        self.timers.tally(cpu)
    }

    fn set_suspend_mode(&mut self, mode: SuspendMode) -> Result<(), psci::Error> {
        assert!(self.facts.os_initiated, "not advertised");
        if self.refuses == Some(mode) {
            return Err(psci::Error::Denied);
        }
        Ok(())
    }

    fn call_firmware(&mut self, function: u32, arguments: [u64; 3]) -> u64 {
        self.firmware
            .call(self.facts.psci_version, function, arguments)
    }

    fn enable_lpi(&mut self) -> Result<(), NoLpi> {
        self.no_lpi.map_or(Ok(()), Err)
    }

    fn set_cpu_on_after(&mut self, _: u64) {}

    fn second_cpu_on(&self) -> Option<i32> {
        let last = self.requested_rounds.last()?;
        last.repeats_cpu_on.then_some(psci::error::ON_PENDING)
    }

    fn take_secure_interrupt(&mut self) -> Option<CpuIndex> {
        None
    }

    fn entry_point(&self) -> u64 {
        ENTRY
    }

    fn identity(&self, _: CpuIndex) -> Option<Identity> {
        None
    }

    fn recent_call(&self, _: CpuIndex, _: usize) -> Option<RecentCall> {
        None
    }

    fn entry_state(&self, _: CpuIndex) -> Option<EntryState> {
        Some(self.entry_state)
    }

    fn lost(&self, cpu: CpuIndex) -> Option<Loss> {
        self.lost[cpu.index()].then_some(LOSS)
    }
}
