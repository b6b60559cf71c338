//! Runs a measurement round from the lead CPU. Every wait for another CPU has a deadline.
//!
//! `suite::measure::round` has a round's timeline. [`Lead::run_round`] takes these steps, each a
//! function of [`Lead`]:
//!
//! 1. `begin_round` silences the console and clears the outcomes.
//! 2. `power_off_non_participants` turns off the CPUs that must be off.
//! 3. `give_orders` gives each participant its order, with CPU_ON if it is off.
//! 4. `wait_until_ready` waits for all of them.
//! 5. `replace_missing_helper` makes the lead the helper if there is no other.
//! 6. `run_lead_part` publishes the start and executes the lead's own order.
//! 7. `collect_outcomes` has an order of its own, because the lead must not disturb the CPUs that
//!    are measured:
//!    1. It waits for quiet end, before it accesses anything that the other CPUs use.
//!    2. `release_participants` tells all CPUs except the helper that the lead has returned.
//!    3. `wake_late_cpus` sends an SGI at the fallback, if the lead stayed awake.
//!    4. `collect_reports` waits until each CPU finishes. The helper is last, because it stays on
//!       until the others have returned.
//!    5. `collect_power_offs` waits until AFFINITY_INFO returns OFF for each CPU that powers off.
//!
//!    In a timed CPU_OFF, only the second and the last of these happen, right after start.
//! 8. `end_round` restores the console and names the CPUs that were lost.

use core::cell::Cell;

use hardware::board::{Cpu, CpuIndex};
use hardware::devices::its::NoLpi;
use hardware::image::BootStage;
use hardware::spec::counter_value::CounterValue;
use hardware::spec::psci::ReturnCode;
use smccc::psci::{AffinityState, Error, SuspendMode};
use suite::measure::order::{Order, OrderBook};
use suite::measure::{
    Action, ActionDetails, ActionEnd, AfterRound, Cause, EntryState, Facts, Identity, Loss,
    Machine, NoCpuOff, Outcome, RECENT_CALLS, RecentCall, Round, RoundPhase, Tally, Task, Waker,
};
use suite::plan::Plan;

use crate::machine::allocator::HEAP;
use crate::machine::boot::layout;
use crate::machine::call::{conduit, firmware};
use crate::machine::gic::secure_interrupt;
use crate::machine::round::channel::{CpuChannel, CpuHandover, cause_of};
use crate::machine::round::cpu_states::{CpuState, CpuStates};
use crate::machine::round::participant::Participant;
use crate::machine::round::stress;
use crate::machine::time::waiter::{NAP_US, Waiter};
use crate::machine::{boot_marks, console};

/// The time between two AFFINITY_INFO calls, in microseconds, if they do not disturb a CPU being
/// measured. There is no pause if the round measures the time until OFF.
const LOOK_US: u64 = 50;
/// The time between two AFFINITY_INFO calls if PMF records the times of this CPU_OFF. Each call
/// accesses firmware data, so frequent calls would slow down a CPU that is powering down.
const LOOK_WITH_PMF_US: u64 = 1_000;

/// The loss that is recorded if AFFINITY_INFO returns OFF for a CPU before its order is done.
const OFF_TOO_EARLY: Loss = Loss {
    phase: RoundPhase::TurnOff,
    cause: Cause::OffTooEarly,
};

/// The lead CPU, which gives the other CPUs their orders and collects the outcomes.
pub struct Lead {
    own: Participant,
    channels: &'static [CpuChannel],
    facts: Facts,
    cpus: &'static [Cpu],
    states: CpuStates,
    /// The number of ticks from the first AFFINITY_INFO that returns OFF for a CPU to its next
    /// CPU_ON.
    cpu_on_after: u64,
    /// True once CPU_OFF has returned NOT_SUPPORTED.
    lacks_cpu_off: Cell<bool>,
    /// The value returned by the second CPU_ON in the current round.
    second_cpu_on: Cell<Option<i32>>,
}

impl Lead {
    /// Returns the lead for these CPUs and `plan`. All other CPUs are off.
    pub fn new(own: Participant, facts: Facts, cpus: &'static [Cpu], plan: &Plan) -> Self {
        Self {
            cpu_on_after: facts.ticks(plan.cpu_on_after.into()),
            own,
            channels: own.parts.channels,
            facts,
            cpus,
            states: CpuStates::new(cpus),
            lacks_cpu_off: Cell::new(false),
            second_cpu_on: Cell::new(None),
        }
    }

    fn index(&self) -> CpuIndex {
        self.own.channel.index
    }

    fn waiter(&self) -> &'static Waiter {
        &self.own.parts.waiter
    }

    fn begin_phase(&self, phase: RoundPhase, deadline: u64) {
        let parts = self.own.parts;
        parts.watch.begin_phase(&parts.waiter, phase, deadline);
    }

    /// Returns the longest wait in a phase, in ticks.
    fn longest(&self, phase: RoundPhase) -> u64 {
        self.waiter().ticks_of_us(self.states.longest_us(phase))
    }

    /// Returns the deadline for a phase that starts now.
    fn deadline_of(&self, phase: RoundPhase) -> u64 {
        self.waiter().now() + self.longest(phase)
    }

    /// Waits until every CPU that is off and will be turned on has been off for long enough.
    fn let_settle(&self, orders: &OrderBook<'_>) {
        let mut settled_at = 0;
        let target = orders.round.roles.turned_on();
        let participants = self.participants(orders).map(|channel| channel.index);
        for cpu in participants.chain(target) {
            if let CpuState::Off { seen_at } = self.states.get(cpu) {
                settled_at = settled_at.max(seen_at + self.cpu_on_after);
            }
        }
        if settled_at > self.waiter().now() {
            self.begin_phase(RoundPhase::TurnOn, settled_at);
            self.waiter().sleep_until(settled_at);
        }
    }

    /// Turns on a CPU that is off, and gives it its order. Returns the counter value just before
    /// the CPU_ON that the firmware accepted.
    fn turn_on(
        &self,
        channel: &CpuChannel,
        order: Order,
        nap_us: u64,
        deadline: u64,
    ) -> Result<u64, Loss> {
        let phase = RoundPhase::TurnOn;
        self.begin_phase(phase, deadline);
        // If no call is accepted before the deadline, the last return value is the loss cause.
        let mut cause = Cause::Timeout;
        channel.give_first_order(order);
        let accepted = self.waiter().poll_every(nap_us, deadline, || {
            // The counter is read again for each call, because the time before the accepted call is
            // not part of the power-up.
            let called_at = self.waiter().now();
            match self.call_cpu_on(channel) {
                Ok(()) => Some(Ok(called_at)),
                // The previous CPU_OFF or CPU_ON is still in progress. ZynqMP firmware returns
                // INTERNAL_FAILURE while its power controller is still suspending the CPU.
                Err(error @ (Error::AlreadyOn | Error::OnPending | Error::InternalFailure)) => {
                    cause = Cause::Firmware(error.into());
                    None
                }
                Err(error) => Some(Err(Cause::Firmware(error.into()))),
            }
        });
        let result = accepted.unwrap_or(Err(cause));
        result.map_err(|cause| Loss { phase, cause })
    }

    /// Calls CPU_ON for a CPU that is already on or powering up, and records the return code.
    fn repeat_cpu_on(&self, channel: &CpuChannel) {
        let code = firmware::code_of(self.call_cpu_on(channel));
        self.second_cpu_on.set(Some(code));
    }

    fn call_cpu_on(&self, channel: &CpuChannel) -> Result<(), Error> {
        let context = channel.context_id(self.waiter().path);
        firmware::cpu_on(channel.mpidr(), layout::secondary_entry_address(), context)
    }

    /// Begins a phase and polls until it succeeds or fails with a loss cause.
    fn poll_phase<T>(
        &self,
        phase: RoundPhase,
        nap_us: u64,
        deadline: u64,
        condition: impl FnMut() -> Option<Result<T, Cause>>,
    ) -> Result<T, Loss> {
        self.begin_phase(phase, deadline);
        let polled = self.waiter().poll_every(nap_us, deadline, condition);
        let result = polled.unwrap_or(Err(Cause::Timeout));
        result.map_err(|cause| Loss { phase, cause })
    }

    /// Waits until AFFINITY_INFO returns OFF for the CPU, and returns the counter value at the
    /// time of that call.
    fn wait_until_off(
        &self,
        channel: &CpuChannel,
        action: Action,
        deadline: u64,
    ) -> Result<u64, Loss> {
        let nap = if action.is_timed_off() {
            0
        } else if action == Action::Off && self.own.parts.pmf.is_ok() {
            LOOK_WITH_PMF_US
        } else {
            LOOK_US
        };
        self.poll_phase(RoundPhase::TurnOff, nap, deadline, || {
            if let Some(code) = channel.handover.cpu_off_failure() {
                return Some(Err(Cause::CpuOff(ReturnCode(code))));
            }
            if let Some(stop) = channel.handover.stop() {
                return Some(Err(cause_of(stop)));
            }
            match firmware::affinity_info(channel.mpidr()) {
                Ok(AffinityState::Off) => Some(Ok(self.waiter().now())),
                Ok(_) => None,
                // PSCI does not define this affinity state.
                Err(Error::Unknown(state)) if state > 0 => None,
                Err(error) => Some(Err(Cause::Firmware(error.into()))),
            }
        })
    }

    /// Waits until the CPU has finished its order in `phase` and powered off.
    fn wait_finished_off(&self, channel: &CpuChannel, phase: RoundPhase) -> Result<CpuState, Loss> {
        let finish_by = self.deadline_of(phase);
        self.wait(channel, phase, finish_by, CpuHandover::is_done)?;
        let off_by = self.deadline_of(RoundPhase::TurnOff);
        let seen_at = self.wait_until_off(channel, Action::None, off_by)?;
        Ok(CpuState::Off { seen_at })
    }

    /// Waits until `condition` is met for the CPU, or returns the reason why it cannot be met.
    fn wait(
        &self,
        channel: &CpuChannel,
        phase: RoundPhase,
        deadline: u64,
        condition: fn(&CpuHandover) -> bool,
    ) -> Result<(), Loss> {
        self.poll_phase(phase, NAP_US, deadline, || {
            if condition(&channel.handover) {
                return Some(Ok(()));
            }
            let stop = channel.handover.stop()?;
            Some(Err(cause_of(stop)))
        })
    }

    fn others(&self) -> impl Iterator<Item = &'static CpuChannel> + use<> {
        let lead = self.index();
        self.channels
            .iter()
            .filter(move |channel| channel.index != lead)
    }

    /// Returns the other CPUs in the round, except those that are already lost when the iterator
    /// reaches them.
    fn participants(&self, orders: &OrderBook<'_>) -> impl Iterator<Item = &'static CpuChannel> {
        self.others()
            .filter(|channel| orders.participates(channel.index))
    }

    /// Records the result of a CPU's phase: sets the CPU's state, or marks the CPU as lost. A lost
    /// CPU that arrives late powers off. A CPU that does not support CPU_OFF stays on.
    fn note(
        &self,
        round: &Round,
        channel: &CpuChannel,
        result: Result<CpuState, Loss>,
        outcomes: &mut [Outcome],
    ) {
        let state = match result {
            Ok(state) => state,
            Err(loss) => self.note_loss(round, channel, loss, &mut outcomes[channel.index.index()]),
        };
        self.states.set(channel.index, state);
    }

    /// Records a loss in the CPU's outcome, and returns the CPU's state.
    fn note_loss(
        &self,
        round: &Round,
        channel: &CpuChannel,
        loss: Loss,
        outcome: &mut Outcome,
    ) -> CpuState {
        if loss.cause == Cause::CpuOff(Error::NotSupported.into()) {
            self.lacks_cpu_off.set(true);
            if outcome.action.turns_off() {
                outcome.end = ActionEnd::Lost(loss);
            }
            return CpuState::On;
        }
        channel.handover.dismiss();
        // A round may set a shorter limit for reports.
        if loss.phase != RoundPhase::Finish || round.spans.patience.is_none() {
            self.states.shorten_waits(loss);
        }
        outcome.end = ActionEnd::Lost(loss);
        CpuState::Lost(loss)
    }

    /// Powers off CPUs that are on but do not participate in the round.
    fn power_off_non_participants(&self, orders: &OrderBook<'_>, outcomes: &mut [Outcome]) {
        for channel in self.others() {
            if self.states.get(channel.index) != CpuState::On || orders.participates(channel.index)
            {
                continue;
            }
            channel.handover.give_order(Order::default());
            let off = self.wait_finished_off(channel, RoundPhase::Finish);
            self.note(&orders.round, channel, off, outcomes);
        }
    }

    /// Gives every other CPU in the round its order, turning it on if it is off.
    fn give_orders(&self, orders: &OrderBook<'_>, outcomes: &mut [Outcome]) {
        self.let_settle(orders);
        let turn_on_by = self.deadline_of(RoundPhase::TurnOn);
        for channel in self.participants(orders) {
            let order = orders.order_for(channel.index);
            let outcome = &mut outcomes[channel.index.index()];
            *outcome = Outcome::new(order.action);
            if self.states.get(channel.index) == CpuState::On {
                channel.handover.give_order(order);
                continue;
            }
            match self.turn_on(channel, order, NAP_US, turn_on_by) {
                Ok(turned_on) => {
                    if let ActionDetails::PowerCycle(cycle) = &mut outcome.details {
                        cycle.turned_on = CounterValue::new(turned_on);
                    }
                    if orders.round.repeats_cpu_on {
                        self.repeat_cpu_on(channel);
                    }
                }
                Err(loss) => self.note(&orders.round, channel, Err(loss), outcomes),
            }
        }
    }

    /// Waits until every other CPU in the round is ready.
    fn wait_until_ready(&self, orders: &OrderBook<'_>, outcomes: &mut [Outcome]) {
        if orders.round.action().measures_arrival() {
            let quiet_end = self.waiter().now() + orders.round.spans.quiet;
            self.waiter().sleep_until(quiet_end);
        }
        let arrive_by = self.deadline_of(RoundPhase::Arrive);
        for channel in self.participants(orders) {
            let phase = match self.states.get(channel.index) {
                CpuState::On => RoundPhase::Begin,
                _ => RoundPhase::Arrive,
            };
            let ready = self.wait(channel, phase, arrive_by, CpuHandover::is_ready);
            self.note(
                &orders.round,
                channel,
                ready.map(|()| CpuState::On),
                outcomes,
            );
        }
    }

    /// Returns the deadline for all reports in a round that started at `start`.
    fn finish_deadline(&self, orders: &OrderBook<'_>, start: u64) -> u64 {
        orders.finish_deadline(start, self.waiter().now(), self.longest(RoundPhase::Finish))
    }

    /// Publishes the start time and executes the lead's own order. The lead's cache lines are
    /// already dirty when the start time is chosen.
    fn run_lead_part(&self, orders: &OrderBook<'_>, since: u64, outcomes: &mut [Outcome]) -> u64 {
        self.begin_phase(
            RoundPhase::Finish,
            self.finish_deadline(orders, self.waiter().now()),
        );
        if !orders.participates(self.index()) || orders.round.action().turns_off() {
            return self.publish_start(orders, since);
        }
        let order = orders.order_for(self.index());
        let mut start = 0;
        outcomes[self.index().index()] = self.own.execute_order(&order, &mut || {
            start = self.publish_start(orders, since);
            Some(start)
        });
        start
    }

    /// Chooses the start time, publishes it to the other CPUs and returns it. These CPUs were
    /// started one after another from `since` onwards, so the first CPU may already be polling less
    /// often.
    fn publish_start(&self, orders: &OrderBook<'_>, since: u64) -> u64 {
        let waiter = self.waiter();
        let now = waiter.now();
        let start = now + orders.round.spans.lead_in + waiter.nap_length(now - since, 0);
        for channel in self.participants(orders) {
            channel.handover.publish_start(start);
        }
        start
    }

    /// Makes the lead the helper if no CPU was available as the helper, or if the helper has just
    /// been lost, and returns true if so. The other CPUs already have their orders, so the lead
    /// stays awake to wake them, and the round is discarded.
    fn replace_missing_helper(&self, orders: &mut OrderBook<'_>) -> bool {
        let waker = &mut orders.round.wake_up.waker;
        let is_missing =
            *waker == Waker::NoHelper || waker.helper().is_some_and(|cpu| self.is_lost(cpu));
        if is_missing {
            *waker = Waker::Helper(self.index());
        }
        is_missing
    }

    /// Collects the other CPUs' outcomes, and waits until those that power off are off.
    fn collect_outcomes(&self, orders: &OrderBook<'_>, start: u64, outcomes: &mut [Outcome]) {
        let round = &orders.round;
        if round.action().is_timed_off() {
            // Waiting for the outcome would delay polling for OFF, so the outcome is read once the
            // CPU is off.
            self.release_participants(orders);
            self.collect_power_offs(orders, outcomes);
            return;
        }
        // No CPU finishes before quiet end, and polling would disturb CPUs that are powering down
        // or up.
        self.waiter().sleep_until(start + orders.quiet_end());
        self.release_participants(orders);
        if round.action().is_stress() {
            self.bring_all_back(orders);
        }
        if let Some(fallback) = orders.lead_fallback() {
            self.wake_late_cpus(start + fallback);
        }
        self.collect_reports(orders, start, outcomes);
        if round.afterwards == AfterRound::Off || round.action().turns_off() {
            self.collect_power_offs(orders, outcomes);
        }
    }

    /// Turns on each CPU that is off after random calls, until all CPUs have finished, or for as long
    /// as a CPU may take to arrive.
    fn bring_all_back(&self, orders: &OrderBook<'_>) {
        let deadline = self.deadline_of(RoundPhase::Arrive);
        self.begin_phase(RoundPhase::Arrive, deadline);
        self.waiter().poll(deadline, || {
            let mut others = self.participants(orders);
            let is_missing = others.any(|channel| !stress::bring_back(self.waiter(), channel));
            (!is_missing).then_some(())
        });
    }

    /// Informs the other CPUs, except the helper, that the lead has returned.
    fn release_participants(&self, orders: &OrderBook<'_>) {
        for channel in self.participants(orders) {
            if Some(channel.index) != orders.helper() {
                channel.handover.release();
            }
        }
    }

    /// Waits until the other CPUs' orders are done, the helper's last, and takes their outcomes.
    fn collect_reports(&self, orders: &OrderBook<'_>, start: u64, outcomes: &mut [Outcome]) {
        let deadline = self.finish_deadline(orders, start);
        for is_helper in [false, true] {
            for channel in self.participants(orders) {
                if (Some(channel.index) == orders.helper()) == is_helper {
                    self.collect_report(channel, &orders.round, deadline, outcomes);
                }
            }
        }
    }

    /// Releases the CPU, waits until its order is done, and takes its outcome.
    fn collect_report(
        &self,
        channel: &CpuChannel,
        round: &Round,
        deadline: u64,
        outcomes: &mut [Outcome],
    ) {
        channel.handover.release();
        let finished = self.wait(channel, RoundPhase::Finish, deadline, CpuHandover::is_done);
        if finished.is_ok() {
            take_outcome(channel, round, outcomes);
        }
        self.note(round, channel, finished.map(|()| CpuState::On), outcomes);
    }

    /// Waits until the other CPUs are off.
    fn collect_power_offs(&self, orders: &OrderBook<'_>, outcomes: &mut [Outcome]) {
        let round = &orders.round;
        let deadline = self.deadline_of(RoundPhase::TurnOff);
        for channel in self.participants(orders) {
            let off = if round.action() == (Action::TimedOff { floods: true }) {
                self.flood(channel, round, outcomes)
            } else {
                self.collect_power_off(channel, round, deadline, outcomes)
            };
            self.note(round, channel, off, outcomes);
        }
    }

    /// Waits until the CPU is off, and takes its outcome.
    fn collect_power_off(
        &self,
        channel: &CpuChannel,
        round: &Round,
        deadline: u64,
        outcomes: &mut [Outcome],
    ) -> Result<CpuState, Loss> {
        let seen_at = self.wait_until_off(channel, round.action(), deadline)?;
        let outcome = take_outcome(channel, round, outcomes).ok_or(OFF_TOO_EARLY)?;
        note_seen_off(outcome, seen_at);
        Ok(CpuState::Off { seen_at })
    }

    /// Calls CPU_ON for a CPU that powers off until the firmware accepts the call, and then waits
    /// until the CPU has powered off again.
    fn flood(
        &self,
        channel: &CpuChannel,
        round: &Round,
        outcomes: &mut [Outcome],
    ) -> Result<CpuState, Loss> {
        let finish_by = self.deadline_of(RoundPhase::Finish);
        // Without naps, so that the first call comes before the CPU is off.
        self.waiter()
            .poll_every(0, finish_by, || channel.handover.is_done().then_some(()));
        let outcome = take_outcome(channel, round, outcomes).ok_or(OFF_TOO_EARLY)?;
        let turn_on_by = self.deadline_of(RoundPhase::TurnOff);
        let accepted = self.turn_on(channel, Order::default(), 0, turn_on_by)?;
        note_seen_off(outcome, accepted);
        self.wait_finished_off(channel, RoundPhase::Arrive)
    }

    /// Sends an SGI from the lead to CPUs that have not returned by `fallback`.
    fn wake_late_cpus(&self, fallback: u64) {
        self.begin_phase(RoundPhase::Finish, fallback);
        let all_returned = self.waiter().poll(fallback, || {
            let is_any_busy = self
                .channels
                .iter()
                .any(|channel| channel.handover.is_busy());
            (!is_any_busy).then_some(())
        });
        if all_returned.is_none() {
            self.own.wake_again(false);
        }
    }

    /// Silences the console, so that the round is not disturbed, and clears the outcomes.
    fn begin_round(&self, round: &Round, outcomes: &mut [Outcome]) {
        if self
            .others()
            .any(|channel| round.participants.includes(channel.index, self.index()))
        {
            boot_marks::reach(BootStage::CpuOn);
        }
        console::wait_idle();
        HEAP.begin_round();
        outcomes.fill(Outcome::default());
        self.second_cpu_on.set(None);
        for channel in self.channels {
            channel.set_wake_entry(round.notes_entry);
        }
    }

    /// Restores the console, and names the CPUs that were lost.
    fn end_round(&mut self) {
        if self.lacks_cpu_off.get() {
            self.facts.no_cpu_off = Some(NoCpuOff::NotSupported);
        }
        HEAP.end_round();
        self.own.parts.watch.end_round();
        console::restore();
        self.states.name_losses();
    }

    /// Dismisses all CPUs that are still on, so that they power off.
    pub fn dismiss_all(&self) {
        for channel in self.channels {
            channel.handover.dismiss();
        }
    }
}

/// Takes the CPU's outcome, or returns None if its order is not done. Keeps `turned_on`, which the
/// lead recorded when it called CPU_ON for this CPU.
fn take_outcome<'o>(
    channel: &CpuChannel,
    round: &Round,
    outcomes: &'o mut [Outcome],
) -> Option<&'o mut Outcome> {
    let own = &mut outcomes[channel.index.index()];
    let noted = own.details;
    *own = channel.handover.outcome()?;
    if let (ActionDetails::PowerCycle(cycle), ActionDetails::PowerCycle(noted)) =
        (&mut own.details, noted)
    {
        cycle.turned_on = noted.turned_on;
        if own.action.measures_arrival()
            && let Some(turned_on) = noted.turned_on
        {
            own.quiet_end = Some(turned_on + round.spans.quiet);
        }
    }
    Some(own)
}

/// Records when the lead first saw that the CPU was off.
fn note_seen_off(outcome: &mut Outcome, seen_at: u64) {
    if let ActionDetails::PowerCycle(cycle) = &mut outcome.details {
        cycle.seen_off = CounterValue::new(seen_at);
    }
}

impl Machine for Lead {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn run_round(&mut self, round: &Round, outcomes: &mut [Outcome]) {
        self.begin_round(round, outcomes);
        let lead = self.index();
        let mut orders = OrderBook {
            clock: self.waiter().clock,
            lead,
            cpus: self.cpus,
            round: *round,
            is_lost: &|cpu| self.is_lost(cpu),
        };
        if self.facts.no_cpu_off.is_some() {
            orders.round.afterwards = AfterRound::Stay;
        } else {
            self.power_off_non_participants(&orders, outcomes);
        }
        let since = self.waiter().now();
        self.give_orders(&orders, outcomes);
        self.wait_until_ready(&orders, outcomes);
        if let Task::Stress(stress) = &round.task {
            stress::prepare(self.channels, stress, |cpu| orders.participates(cpu));
        }
        if let Some(target) = round.roles.turned_on() {
            // The CPU stays on until both callers have called.
            self.channels[target.index()].give_first_order(Order {
                waits_for_release: true,
                ..Order::default()
            });
        }
        // Losses are reported before the lead executes its part, from which it might not return.
        self.states.name_losses();
        if round.action().sleeps() {
            boot_marks::reach(BootStage::Suspend);
            console::wait_idle();
        }
        let lacks_helper = self.replace_missing_helper(&mut orders);
        let start = self.run_lead_part(&orders, since, outcomes);
        self.collect_outcomes(&orders, start, outcomes);
        if let Some(target) = round.roles.turned_on() {
            let channel = &self.channels[target.index()];
            channel.handover.release();
            let off = self.wait_finished_off(channel, RoundPhase::Arrive);
            self.note(round, channel, off, outcomes);
        }
        if lacks_helper {
            outcomes[lead.index()] = Outcome::new(round.action());
        }
        self.end_round();
    }

    fn tally(&mut self, cpu: CpuIndex) -> Option<&mut Tally> {
        let handover = &self.channels.get(cpu.index())?.handover;
        if cpu != self.index() && !handover.is_done() {
            return None;
        }
        // SAFETY: the order has been carried out, or none was given, so the tally belongs
        // to the lead, which is this CPU. The returned reference borrows this value, and only this
        // value hands out orders and tallies.
        unsafe { handover.tally_mut() }
    }

    fn set_suspend_mode(&mut self, mode: SuspendMode) -> Result<(), Error> {
        firmware::set_suspend_mode(mode)
    }

    fn call_firmware(&mut self, function: u32, arguments: [u64; 3]) -> u64 {
        let [x0, ..] = conduit::call(function, arguments);
        x0
    }

    fn enable_lpi(&mut self) -> Result<(), NoLpi> {
        let its = self.own.parts.its.as_ref().map_err(|reason| *reason)?;
        its.enable(&self.waiter().gic, &self.own.channel.gic)
    }

    fn set_cpu_on_after(&mut self, ticks: u64) {
        self.cpu_on_after = ticks;
    }

    fn second_cpu_on(&self) -> Option<i32> {
        self.second_cpu_on.get()
    }

    fn take_secure_interrupt(&mut self) -> Option<CpuIndex> {
        let mpidr = secure_interrupt::take_recorded()?;
        let channel = self
            .channels
            .iter()
            .find(|channel| channel.mpidr() == mpidr)?;
        Some(channel.index)
    }

    fn entry_point(&self) -> u64 {
        layout::secondary_entry_address()
    }

    fn identity(&self, cpu: CpuIndex) -> Option<Identity> {
        self.channels.get(cpu.index())?.identity.get().copied()
    }

    fn recent_call(&self, cpu: CpuIndex, age: usize) -> Option<RecentCall> {
        self.channels
            .get(cpu.index())?
            .stress
            .recent_call(age)
            .filter(|_| age < RECENT_CALLS)
    }

    fn entry_state(&self, cpu: CpuIndex) -> Option<EntryState> {
        let channel = self.channels.get(cpu.index())?;
        channel.identity.get()?;
        Some(channel.entry_state())
    }

    fn lost(&self, cpu: CpuIndex) -> Option<Loss> {
        self.states.lost(cpu)
    }
}
