//! Runs one measurement round from the lead CPU. The lead never waits for another CPU
//! without a deadline.

use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

use psci_bench::board::Cpu;
use psci_bench::measure::order::{
    Order, OrderBook, OrderEnd, quiet_ticks, wake_grace, wake_spread,
};
use psci_bench::measure::{
    Action, After, Cause, End, Facts, Identity, Loss, Machine, Outcome, Round, Step, Tally, Waker,
};
use psci_bench::spec::psci::ReturnCode;
use smccc::psci::{AffinityState, Error, SuspendMode};

use crate::machine::allocator::HEAP;
use crate::machine::boot::layout;
use crate::machine::call::firmware;
use crate::machine::console;
use crate::machine::cpu::instructions;
use crate::machine::round::channel::{self, CpuChannel};
use crate::machine::round::handover::Handover;
use crate::machine::round::lead_watch::FINISH_US;
use crate::machine::round::participant::Participant;
use crate::machine::time::waiter::{NAP_US, Waiter};

/// CPU_ON of all CPUs until it is accepted, in microseconds: an earlier CPU_OFF may
/// still be in progress.
const TURN_ON_US: u64 = 2_000_000;
/// First instruction and report of a CPU after CPU_ON.
const ARRIVE_US: u64 = 10_000_000;
/// CPU_OFF of all CPUs until AFFINITY_INFO returns OFF.
const TURN_OFF_US: u64 = 10_000_000;

/// The time between two calls of AFFINITY_INFO, in microseconds, where the time until
/// it returns OFF is one of the figures; 0 where it is the round's purpose.
const LOOK_US: u64 = 50;
/// The time between two such calls where PMF has the figures. Each call touches the
/// firmware's data: it must not disturb the CPU that is on its way down.
const LOOK_WITH_PMF_US: u64 = 1_000;

/// The samples that the scenario under way has, and in the upper half those that it is to
/// have. The host tool reads this word in QEMU's memory.
#[used]
static SAMPLES: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuState {
    /// Off, as AFFINITY_INFO said.
    Off,
    On,
    Lost(Loss),
}

pub struct Lead {
    own: Participant,
    channels: &'static [CpuChannel],
    facts: Facts,
    cpus: &'static [Cpu],
    states: Vec<CpuState>,
}

impl Lead {
    /// Returns the lead of these CPUs, all others off.
    pub fn new(own: Participant, facts: Facts, cpus: &'static [Cpu]) -> Self {
        Self {
            own,
            channels: own.parts.channels,
            facts,
            cpus,
            states: vec![CpuState::Off; cpus.len()],
        }
    }

    fn index(&self) -> usize {
        self.own.channel.index
    }

    fn waiter(&self) -> &'static Waiter {
        &self.own.parts.waiter
    }

    fn begin_step(&self, step: Step, deadline: u64) {
        let parts = self.own.parts;
        parts.watch.begin_step(&parts.waiter, step, deadline);
    }

    fn deadline_in(&self, microseconds: u64) -> u64 {
        self.waiter().now() + self.waiter().ticks_of_us(microseconds)
    }

    fn turn_on(&self, cpu: &CpuChannel, order: Order, deadline: u64) -> Result<(), Loss> {
        let step = Step::TurnOn;
        self.begin_step(step, deadline);
        let context = core::ptr::from_ref(cpu) as u64 | self.waiter().path.context_flag();
        let entry = layout::secondary_entry as *const () as u64;
        // The cause where no call is accepted until the deadline.
        let mut cause = Cause::Timeout;
        cpu.handover.give_order(Order {
            cpu_on_at: self.waiter().now(),
            ..order
        });
        // The order is in memory before CPU_ON.
        instructions::complete_accesses();
        let accepted = self.waiter().poll(deadline, || {
            match firmware::cpu_on(cpu.mpidr(), entry, context) {
                Ok(()) => Some(Ok(())),
                // The last CPU_OFF, or CPU_ON, is not over yet.
                Err(error @ (Error::AlreadyOn | Error::OnPending)) => {
                    cause = Cause::Firmware(error.into());
                    None
                }
                Err(error) => Some(Err(Cause::Firmware(error.into()))),
            }
        });
        let accepted = accepted.unwrap_or(Err(cause));
        accepted.map_err(|cause| Loss { step, cause })
    }

    /// Begins a step and polls until it ends well or by a cause of loss.
    fn poll_step<T>(
        &self,
        step: Step,
        nap_us: u64,
        deadline: u64,
        condition: impl FnMut() -> Option<Result<T, Cause>>,
    ) -> Result<T, Loss> {
        self.begin_step(step, deadline);
        let polled = self.waiter().poll_every(nap_us, deadline, condition);
        let polled = polled.unwrap_or(Err(Cause::Timeout));
        polled.map_err(|cause| Loss { step, cause })
    }

    /// Waits until AFFINITY_INFO returns OFF for the CPU, and returns the counter at that
    /// call.
    fn wait_off(&self, cpu: &CpuChannel, action: Action, deadline: u64) -> Result<u64, Loss> {
        let nap = match self.own.parts.pmf {
            _ if action == Action::OnOff => 0,
            Ok(_) => LOOK_WITH_PMF_US,
            Err(_) => LOOK_US,
        };
        self.poll_step(Step::TurnOff, nap, deadline, || {
            if let Some(code) = cpu.handover.cpu_off_failure() {
                return Some(Err(Cause::Firmware(ReturnCode(code))));
            }
            if let Some(cause) = cpu.handover.fault() {
                return Some(Err(cause));
            }
            match firmware::affinity_info(cpu.mpidr()) {
                Ok(AffinityState::Off) => Some(Ok(self.waiter().now())),
                Ok(_) => None,
                // A state that PSCI does not define.
                Err(Error::Unknown(state)) if state > 0 => None,
                Err(error) => Some(Err(Cause::Firmware(error.into()))),
            }
        })
    }

    /// Waits until `condition` holds for the CPU, or returns the reason why it cannot.
    fn wait(
        &self,
        cpu: &CpuChannel,
        step: Step,
        deadline: u64,
        condition: impl Fn(&Handover) -> bool,
    ) -> Result<(), Loss> {
        self.poll_step(step, NAP_US, deadline, || match condition(&cpu.handover) {
            true => Some(Ok(())),
            false => cpu.handover.fault().map(Err),
        })
    }

    /// Returns true if the CPU has a part in the round, as the helper has; lost CPUs have none.
    fn participates(&self, round: &Round, index: usize) -> bool {
        self.lost(index).is_none() && round.includes(index, self.index())
    }

    /// Returns true if the CPU is measured in the round: it has a part, and is not the helper.
    fn is_measured(&self, round: &Round, index: usize) -> bool {
        self.participates(round, index) && round.waker.helper() != Some(index)
    }

    /// Returns the order of the CPU of this index, at `place` among those measured.
    fn order(&self, round: &Round, index: usize, place: u64) -> Order {
        let orders = OrderBook {
            clock: self.waiter().clock,
            lead: self.index(),
            cpus: self.cpus,
            round,
            participates: &|cpu| self.participates(round, cpu),
        };
        orders.order_for(index, place)
    }

    fn others(&self) -> impl Iterator<Item = (usize, &'static CpuChannel)> + use<> {
        let (channels, lead) = (self.channels, self.index());
        channels.iter().enumerate().filter(move |it| it.0 != lead)
    }

    /// Takes the result of a CPU's step: sets its state, or marks it as lost. A lost CPU
    /// powers off should it still arrive.
    fn note(&mut self, index: usize, result: Result<CpuState, Loss>, outcomes: &mut [Outcome]) {
        self.states[index] = result.unwrap_or_else(|loss| {
            self.channels[index].handover.dismiss();
            outcomes[index].end = End::Lost(loss);
            CpuState::Lost(loss)
        });
    }

    /// Powers off the CPUs that are on and have no part in the round, by an order
    /// without an action.
    fn power_off_non_participants(&mut self, round: &Round, outcomes: &mut [Outcome]) {
        for (index, cpu) in self.others() {
            if self.states[index] != CpuState::On || self.participates(round, index) {
                continue;
            }
            cpu.handover.give_order(Order {
                action: Action::None,
                end: OrderEnd {
                    after: After::Off,
                    waits_for_release: false,
                },
                ..self.order(round, index, 0)
            });
            let done = Handover::is_done;
            let gone = self
                .wait(cpu, Step::Finish, self.deadline_in(FINISH_US), done)
                .and_then(|()| self.wait_off(cpu, Action::None, self.deadline_in(TURN_OFF_US)));
            self.note(index, gone.map(|_| CpuState::Off), outcomes);
        }
    }

    /// Gives each other CPU of the round its order, turning it on where it is off, and
    /// waits until all are ready.
    fn start_participants(&mut self, round: &Round, outcomes: &mut [Outcome]) {
        let mut place = 0;
        let deadline = self.deadline_in(TURN_ON_US);
        for (index, cpu) in self.channels.iter().enumerate() {
            if !self.participates(round, index) {
                continue;
            }
            let order = self.order(round, index, place);
            outcomes[index].action = order.action;
            place += u64::from(self.is_measured(round, index));
            if index == self.index() {
                continue;
            }
            if self.states[index] == CpuState::On {
                cpu.handover.give_order(order);
            } else if let Err(loss) = self.turn_on(cpu, order, deadline) {
                self.note(index, Err(loss), outcomes);
            } else if round.action == Action::ReadBack {
                // The way up is what is measured.
                let until = self.waiter().now() + round.quiet;
                self.waiter().sleep_until(until);
            }
        }
        let deadline = self.deadline_in(ARRIVE_US);
        for (index, cpu) in self.others() {
            if self.participates(round, index) {
                let step = match self.states[index] {
                    CpuState::On => Step::Begin,
                    _ => Step::Arrive,
                };
                let ready = self.wait(cpu, step, deadline, Handover::is_ready);
                self.note(index, ready.map(|()| CpuState::On), outcomes);
            }
        }
    }

    /// Returns the instant by which each CPU of a round that starts at `start` is done.
    fn last_finish(&self, round: &Round, start: u64) -> u64 {
        let asleep = match round.action {
            action if action.sleeps().is_some() => self.last_wake_up(round),
            Action::Expire | Action::Off => round.sleep,
            _ => 0,
        };
        start + asleep + round.quiet + self.waiter().ticks_of_us(FINISH_US)
    }

    /// Returns the ticks from a round's start to its last wake-up, second SGIs included.
    fn last_wake_up(&self, round: &Round) -> u64 {
        let cpus = self.channels.len();
        let grace = wake_grace(self.waiter().clock, cpus, round);
        round.sleep + wake_spread(cpus, round) + grace
    }

    /// Publishes the start and executes the lead's own order. Its cache has been made
    /// dirty when the start is chosen. The CPUs have been started since `since`: the
    /// first of them may be in a nap as long as that makes it.
    fn run_lead_part(&mut self, round: &Round, since: u64, outcomes: &mut [Outcome]) -> u64 {
        let waiter = self.waiter();
        self.begin_step(Step::Finish, self.last_finish(round, waiter.now()));
        let mut start = 0;
        let mut publish = || {
            let now = waiter.now();
            start = now + round.lead_in + waiter.nap_length(now - since, 0);
            for (index, cpu) in self.others() {
                if self.participates(round, index) {
                    cpu.handover.publish_start(start);
                }
            }
            Some(start)
        };
        if self.participates(round, self.index()) && !round.action.turns_off() {
            let ahead = (0..self.index()).filter(|i| self.is_measured(round, *i));
            let order = self.order(round, self.index(), ahead.count() as u64);
            outcomes[self.index()] = self.own.execute_order(&order, &mut publish);
        } else {
            publish();
        }
        start
    }

    /// Collects the outcomes of the other CPUs, and waits until those are off that power
    /// off.
    fn collect_outcomes(&mut self, round: &Round, start: u64, outcomes: &mut [Outcome]) {
        // No CPU is done before, and polling would disturb those that are on their way
        // down or up.
        if round.action != Action::OnOff {
            let quiet = quiet_ticks(self.channels.len(), round);
            self.waiter().sleep_until(start + quiet);
        }
        // The lead has returned, as the others see by this.
        let helper = round.waker.helper();
        for (index, cpu) in self.others() {
            if self.is_measured(round, index) {
                cpu.handover.release();
            }
        }
        if helper == Some(self.index()) {
            self.wake_late_cpus(round, start);
        }
        let deadline = self.last_finish(round, start.max(self.waiter().now()));
        // The helper stays on until the others are back.
        let all = (0..self.channels.len()).filter(|index| Some(*index) != helper);
        for index in all.chain(helper) {
            let is_other = index != self.index() && self.participates(round, index);
            // A wait for that would poll for OFF too late: the outcome is read when the
            // CPU is off.
            if !is_other || round.action == Action::OnOff {
                continue;
            }
            let cpu = &self.channels[index];
            cpu.handover.release();
            let done = self.wait(cpu, Step::Finish, deadline, Handover::is_done);
            if done.is_ok() {
                outcomes[index] = cpu.handover.outcome().unwrap_or_default();
            }
            self.note(index, done.map(|()| CpuState::On), outcomes);
        }
        if round.after != After::Off && !round.action.turns_off() {
            return;
        }
        let deadline = self.deadline_in(TURN_OFF_US);
        for (index, cpu) in self.others() {
            if !self.participates(round, index) {
                continue;
            }
            let off = self.wait_off(cpu, round.action, deadline);
            if let Ok(seen_off) = off {
                outcomes[index] = Outcome {
                    seen_off,
                    ..cpu.handover.outcome().unwrap_or_default()
                };
            }
            self.note(index, off.map(|_| CpuState::Off), outcomes);
        }
    }

    /// Sends a second SGI, from the lead as helper, to CPUs that do not return.
    fn wake_late_cpus(&self, round: &Round, start: u64) {
        let late = start + self.last_wake_up(round);
        let sleeps = |cpu: &CpuChannel| cpu.handover.is_busy() && cpu.handover.fault().is_none();
        let all_are_back = || (!self.channels.iter().any(sleeps)).then_some(());
        self.begin_step(Step::Finish, late);
        if self.waiter().poll(late, all_are_back).is_none() {
            self.own.wake_again(false);
        }
    }

    /// Gives up all CPUs that are still on: they power off.
    pub fn dismiss_all(&self) {
        self.channels.iter().for_each(|cpu| cpu.handover.dismiss());
    }
}

impl Machine for Lead {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn run(&mut self, round: &Round, outcomes: &mut [Outcome]) {
        console::wait_idle();
        HEAP.begin_round();
        outcomes.fill(Outcome::default());
        self.power_off_non_participants(round, outcomes);
        let since = self.waiter().now();
        self.start_participants(round, outcomes);
        let lead = self.index();
        let can_help = |index| matches!(self.states.get(index), Some(CpuState::Off | CpuState::On));
        let lacks_helper = round.waker.helper().is_some_and(|index| !can_help(index));
        // No CPU was left to help, or it was lost just now. The others have their orders. So
        // that none of them sleeps for ever the lead stays awake, and the round does not
        // count.
        let waker = match lacks_helper {
            true => Waker::Helper(lead),
            false => round.waker,
        };
        let round = &Round { waker, ..*round };
        let start = self.run_lead_part(round, since, outcomes);
        self.collect_outcomes(round, start, outcomes);
        if lacks_helper {
            outcomes[lead] = Outcome {
                action: round.action,
                ..Outcome::default()
            };
        }
        HEAP.end_round();
        self.own.parts.watch.end();
        console::restore();
    }

    fn tally(&mut self, cpu: usize) -> Option<&mut Tally> {
        let handover = &self.channels.get(cpu)?.handover;
        if cpu != self.index() && !handover.is_done() {
            return None;
        }
        // SAFETY: the order is done, or none was given, so that the tally is the lead's,
        // which this is. The returned reference borrows this value, which alone gives
        // orders and tallies.
        unsafe { handover.tally_mut() }
    }

    fn set_suspend_mode(&mut self, mode: SuspendMode) -> Result<(), Error> {
        firmware::set_suspend_mode(mode)
    }

    fn identity(&self, cpu: usize) -> Option<Identity> {
        channel::identity_of(cpu)
    }

    fn note_samples(&mut self, kept: u32, asked: u32) {
        let word = u64::from(asked) << 32 | u64::from(kept);
        SAMPLES.store(word, Ordering::Relaxed);
    }

    fn mark_heap(&mut self) {
        HEAP.mark();
    }

    fn release_heap(&mut self) {
        HEAP.release();
    }

    fn lost(&self, cpu: usize) -> Option<Loss> {
        match self.states[cpu] {
            CpuState::Lost(loss) => Some(loss),
            CpuState::Off | CpuState::On => None,
        }
    }
}
