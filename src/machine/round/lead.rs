//! How the lead conducts a round: who is on, who does what, when it starts,
//! what came of it. It never waits for another CPU without a deadline.

use crate::machine::boot::layout;
use crate::machine::console;
use crate::machine::cpu::instructions;
use crate::machine::env::Env;
use crate::machine::round::channel::CpuChannel;
use crate::machine::round::order::Order;
use crate::machine::round::orders;
use crate::machine::round::orders::OrderBook;
use crate::machine::round::participant;
use psci_bench::board::Cpu;
use psci_bench::measure::{
    Action, After, Cause, End, Facts, Loss, Machine, Outcome, Round, Step, Tally, Waker,
};
use psci_bench::spec::psci::{Affinity, Error, SuspendMode};

/// CPU_ON of all until it is accepted: an earlier CPU_OFF may still be under
/// way.
const TURN_ON_US: u64 = 2_000_000;
/// First instruction and report of a CPU after CPU_ON.
const ARRIVE_US: u64 = 10_000_000;
/// Beyond the last wake-up: the way back, and reading the timestamps.
pub const FINISH_US: u64 = 10_000_000;
/// CPU_OFF of all until AFFINITY_INFO says OFF.
const TURN_OFF_US: u64 = 10_000_000;

/// Between two looks at AFFINITY_INFO where the time until it says OFF is one of
/// the figures; none at all where it is what the round is for.
const LOOK_US: u64 = 50;
/// The same where PMF has the figures. Each look is a call that touches the
/// firmware's data: it must not disturb the CPU that is on its way down.
const LOOK_WITH_PMF_US: u64 = 1_000;

/// What the lead knows of another CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuState {
    /// Off, as AFFINITY_INFO said.
    Off,
    /// On and waiting for an order.
    On,
    /// Not to be relied on any more.
    Lost(Loss),
}

/// The lead, as the machine that rounds run on.
pub struct Lead {
    env: &'static Env,
    facts: Facts,
    cpus: &'static [Cpu],
    states: &'static mut [CpuState],
}

impl Lead {
    /// A conductor over the CPUs of `env`, all but the lead off. `cpus` and
    /// `states` have one element for each.
    pub fn new(
        env: &'static Env,
        facts: Facts,
        cpus: &'static [Cpu],
        states: &'static mut [CpuState],
    ) -> Self {
        Self {
            env,
            facts,
            cpus,
            states,
        }
    }

    fn lead(&self) -> &'static CpuChannel {
        &self.env.slots[self.env.lead]
    }

    /// The instant so many microseconds from now.
    fn within(&self, microseconds: u64) -> u64 {
        self.env.way.now() + self.env.us(microseconds)
    }

    /// Turns a CPU on, with its order waiting for it.
    fn turn_on(&self, slot: &CpuChannel, order: Order, deadline: u64) -> Result<(), Loss> {
        let step = Step::TurnOn;
        self.env.begin_watch(step, deadline);
        let context = core::ptr::from_ref(slot) as u64 | self.env.way.context_flag();
        let entry = layout::secondary_entry as *const () as u64;
        let mut last = None;
        slot.issue(Order {
            turned_on: self.env.way.now(),
            ..order
        });
        // What the CPU is to see is in memory before it is called for.
        instructions::complete_accesses();
        self.env
            .poll(deadline, || {
                match self.env.firmware.cpu_on(slot.mpidr, entry, context) {
                    Ok(_) => Some(Ok(())),
                    // Its last CPU_OFF, or CPU_ON, is not over yet.
                    Err(error @ (Error::AlreadyOn | Error::OnPending)) => {
                        last = Some(error);
                        None
                    }
                    Err(error) => Some(Err(Cause::Firmware(error))),
                }
            })
            .unwrap_or(Err(last.map_or(Cause::Timeout, Cause::Firmware)))
            .map_err(|cause| Loss { step, cause })
    }

    /// Waits until AFFINITY_INFO says that the CPU is off, and returns the
    /// counter at that look.
    fn wait_off(&self, slot: &CpuChannel, action: Action, deadline: u64) -> Result<u64, Loss> {
        let step = Step::TurnOff;
        let way = self.env.way;
        self.env.begin_watch(step, deadline);
        let nap = match self.env.pmf {
            _ if action == Action::OnOff => 0,
            Ok(_) => LOOK_WITH_PMF_US,
            Err(_) => LOOK_US,
        };
        self.env
            .poll_every(nap, deadline, || {
                if let Some(code) = slot.off_code() {
                    return Some(Err(Cause::Firmware(Error::from_code(code))));
                }
                if let Some(cause) = slot.fault() {
                    return Some(Err(cause));
                }
                match self.env.firmware.affinity_info(slot.mpidr) {
                    Ok(Affinity::Off) => Some(Ok(way.now())),
                    Ok(_) => None,
                    Err(error) => Some(Err(Cause::Firmware(error))),
                }
            })
            .unwrap_or(Err(Cause::Timeout))
            .map_err(|cause| Loss { step, cause })
    }

    /// Waits until `condition` holds for the CPU, or says why it will not.
    fn wait(
        &self,
        slot: &CpuChannel,
        step: Step,
        deadline: u64,
        condition: impl Fn(&CpuChannel) -> bool,
    ) -> Result<(), Loss> {
        self.env.begin_watch(step, deadline);
        self.env
            .poll(deadline, || {
                if condition(slot) {
                    Some(Ok(()))
                } else {
                    slot.fault().map(Err)
                }
            })
            .unwrap_or(Err(Cause::Timeout))
            .map_err(|cause| Loss { step, cause })
    }

    /// Whether the CPU has a part in the round, the helper too; lost ones not.
    fn takes_part(&self, round: &Round, index: usize) -> bool {
        self.lost(index).is_none() && round.includes(index, self.env.lead)
    }

    /// The order of the CPU of this index, the `place`th of those measured.
    fn order(&self, round: &Round, index: usize, place: u64) -> Order {
        let takes_part = |cpu| self.takes_part(round, cpu);
        let orders = OrderBook {
            env: self.env,
            cpus: self.cpus,
            round,
            takes_part: &takes_part,
        };
        orders.of(index, place)
    }

    /// Whether the CPU is measured in the round: it has a part, and is not the
    /// helper.
    fn is_measured(&self, round: &Round, index: usize) -> bool {
        self.takes_part(round, index) && round.waker.helper() != Some(index)
    }

    /// Marks a CPU as lost. Should it come all the same, it is to go off.
    fn lose(&mut self, index: usize, loss: Loss, outcomes: &mut [Outcome]) {
        self.env.slots[index].dismiss();
        self.states[index] = CpuState::Lost(loss);
        outcomes[index].end = End::Lost(loss);
    }

    /// Turns off who is on and has no part in the round, by an order to do
    /// nothing and go.
    fn clear_the_stage(&mut self, round: &Round, outcomes: &mut [Outcome]) {
        for (index, slot) in self.env.slots.iter().enumerate() {
            if index == self.env.lead
                || self.states[index] != CpuState::On
                || self.takes_part(round, index)
            {
                continue;
            }
            slot.issue(Order {
                action: Action::None,
                after: After::Off,
                holds: false,
                ..self.order(round, index, 0)
            });
            let done = CpuChannel::is_done;
            let gone = self
                .wait(slot, Step::Finish, self.within(FINISH_US), done)
                .and_then(|()| self.wait_off(slot, Action::None, self.within(TURN_OFF_US)));
            match gone {
                Ok(_) => self.states[index] = CpuState::Off,
                Err(loss) => self.lose(index, loss, outcomes),
            }
        }
    }

    /// Gives every other CPU of the round its order, turning it on if need
    /// be, and waits until all are ready.
    fn gather(&mut self, round: &Round, outcomes: &mut [Outcome]) {
        let slots = self.env.slots;
        let mut place = 0;
        let deadline = self.within(TURN_ON_US);
        for (index, slot) in slots.iter().enumerate() {
            if !self.takes_part(round, index) {
                continue;
            }
            let order = self.order(round, index, place);
            outcomes[index].action = order.action;
            place += u64::from(self.is_measured(round, index));
            if index == self.env.lead {
                continue;
            }
            if self.states[index] == CpuState::On {
                slot.issue(order);
            } else if let Err(loss) = self.turn_on(slot, order, deadline) {
                self.lose(index, loss, outcomes);
            } else if round.action == Action::ReadBack {
                // The way up is what is measured.
                self.env.sleep_until(self.env.way.now() + round.quiet);
            }
        }
        let deadline = self.within(ARRIVE_US);
        for (index, slot) in slots.iter().enumerate() {
            if index == self.env.lead || !self.takes_part(round, index) {
                continue;
            }
            let step = match self.states[index] {
                CpuState::On => Step::Begin,
                _ => Step::Arrive,
            };
            match self.wait(slot, step, deadline, CpuChannel::is_ready) {
                Ok(()) => self.states[index] = CpuState::On,
                Err(loss) => self.lose(index, loss, outcomes),
            }
        }
    }

    /// By when every CPU of the round is to be done, if it starts at `start`.
    fn last_finish(&self, round: &Round, start: u64) -> u64 {
        let env = self.env;
        let asleep = match round.action {
            action if action.sleeps().is_some() => {
                round.sleep + orders::wake_spread(env, round) + orders::wake_grace(env, round)
            }
            Action::Expire | Action::Off => round.sleep,
            _ => 0,
        };
        start + asleep + round.quiet + env.us(FINISH_US)
    }

    /// Publishes the start and does the lead's own part. What that has to do
    /// before, making its cache dirty, it has done when the start is chosen. The
    /// CPUs have been gathered since `since`: the first of them may be in a nap
    /// as long as that makes it.
    fn play(&mut self, round: &Round, since: u64, outcomes: &mut [Outcome]) -> u64 {
        let env = self.env;
        env.begin_watch(Step::Finish, self.last_finish(round, env.way.now()));
        let mut start = 0;
        let mut publish = || {
            let now = env.way.now();
            start = now + round.lead_in + env.nap_after(now - since, 0);
            for (index, slot) in env.slots.iter().enumerate() {
                if index != env.lead && self.takes_part(round, index) {
                    slot.set_start(start);
                }
            }
            Some(start)
        };
        if self.takes_part(round, env.lead) && !round.action.turns_off() {
            let ahead = (0..env.lead).filter(|i| self.is_measured(round, *i));
            let order = self.order(round, env.lead, ahead.count() as u64);
            let own = participant::execute_order(env, self.lead(), &order, &mut publish);
            outcomes[env.lead] = own;
        } else {
            publish();
        }
        start
    }

    /// Collects what the other CPUs have to say, and sees those off that are
    /// to go.
    fn collect(&mut self, round: &Round, start: u64, outcomes: &mut [Outcome]) {
        let env = self.env;
        // There is nothing to see before, and looking would disturb those that
        // are on their way down or up.
        if round.action != Action::OnOff {
            env.sleep_until(start + orders::quiet_ticks(env, round));
        }
        // The lead is back, as they can see now.
        let others = |index: &usize| *index != env.lead;
        let helper = round.waker.helper();
        for index in (0..env.slots.len()).filter(others) {
            if self.is_measured(round, index) {
                env.slots[index].release();
            }
        }
        if helper == Some(env.lead) {
            self.wake_late(round, start);
        }
        let deadline = self.last_finish(round, start.max(env.way.now()));
        // The helper stays on until the others are back.
        let all = (0..env.slots.len()).filter(|index| Some(*index) != helper);
        for index in all.chain(helper).filter(others) {
            // Who waits for that looks for OFF too late: what the CPU has to
            // say is read when it is off.
            if !self.takes_part(round, index) || round.action == Action::OnOff {
                continue;
            }
            let slot = &env.slots[index];
            slot.release();
            let done = CpuChannel::is_done;
            match self.wait(slot, Step::Finish, deadline, done) {
                Ok(()) => outcomes[index] = slot.outcome().unwrap_or_default(),
                Err(loss) => self.lose(index, loss, outcomes),
            }
        }
        if round.after != After::Off && !round.action.turns_off() {
            return;
        }
        let deadline = self.within(TURN_OFF_US);
        for index in (0..env.slots.len()).filter(others) {
            if !self.takes_part(round, index) {
                continue;
            }
            match self.wait_off(&env.slots[index], round.action, deadline) {
                Ok(seen) => {
                    outcomes[index] = Outcome {
                        seen_off: seen,
                        ..env.slots[index].outcome().unwrap_or_default()
                    };
                    self.states[index] = CpuState::Off;
                }
                Err(loss) => self.lose(index, loss, outcomes),
            }
        }
    }

    /// The lead as helper: sends a second SGI to CPUs that do not come back.
    fn wake_late(&self, round: &Round, start: u64) {
        let env = self.env;
        let late =
            start + round.sleep + orders::wake_spread(env, round) + orders::wake_grace(env, round);
        let sleeps = |slot: &CpuChannel| slot.is_busy() && slot.fault().is_none();
        let all_are_back = || (!env.slots.iter().any(sleeps)).then_some(());
        env.begin_watch(Step::Finish, late);
        if env.poll(late, all_are_back).is_none() {
            env.wake_again(env.lead, false);
        }
    }

    /// Sends away whoever is still on: nothing more is asked of them.
    pub fn dismiss_all(&self) {
        self.env.slots.iter().for_each(CpuChannel::dismiss);
    }
}

impl Machine for Lead {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn run(&mut self, round: &Round, outcomes: &mut [Outcome]) {
        console::wait_idle();
        outcomes.fill(Outcome::default());
        self.clear_the_stage(round, outcomes);
        let since = self.env.way.now();
        self.gather(round, outcomes);
        let lead = self.env.lead;
        let helper = round.waker.helper();
        let can_help = |index| matches!(self.states.get(index), Some(CpuState::Off | CpuState::On));
        if helper.is_some_and(|index| !can_help(index)) {
            // No CPU was left to help, or it was lost just now. The others have
            // their orders. So that none of them sleeps for ever the lead stays
            // awake, and the round does not count.
            let helped = Round {
                waker: Waker::Helper(lead),
                ..*round
            };
            let start = self.play(&helped, since, outcomes);
            self.collect(&helped, start, outcomes);
            outcomes[lead] = Outcome {
                action: round.action,
                ..Outcome::default()
            };
        } else {
            let start = self.play(round, since, outcomes);
            self.collect(round, start, outcomes);
        }
        self.env.end_watch();
        console::restore();
    }

    fn tally(&mut self, cpu: usize) -> Option<&mut Tally> {
        let slot = self.env.slots.get(cpu)?;
        if cpu != self.env.lead {
            // Its order is done, or none was given.
            slot.outcome()?;
        }
        // SAFETY: so the slot is the lead's, which this is; and what is returned
        // borrows the conductor, who alone gives orders, and this.
        unsafe { slot.tally() }
    }

    fn set_suspend_mode(&mut self, mode: SuspendMode) -> Result<(), Error> {
        self.env.firmware.set_suspend_mode(mode)
    }

    fn lost(&self, cpu: usize) -> Option<Loss> {
        match self.states[cpu] {
            CpuState::Lost(loss) => Some(loss),
            CpuState::Off | CpuState::On => None,
        }
    }
}
