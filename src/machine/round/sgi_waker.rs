//! Wake-ups by SGI, and the awake helper: a CPU that stays awake while others
//! suspend to a state that stops their own timers.

use crate::machine::env;
use crate::machine::env::Env;
use crate::machine::round::channel::CpuChannel;
use crate::machine::round::order::Order;
use crate::machine::round::order::SgiTargets;
use psci_bench::measure::{Action, Cause, End, Outcome};

/// The own timer of a CPU that an SGI or the timer frame should wake goes off
/// this many microseconds after that was due, and a helper sends a second SGI
/// then: one that was lost costs a sample and not the CPU.
const GRACE_US: u64 = 500_000;

impl Env {
    /// Ticks from a due wake-up by SGI or timer frame to the second one.
    pub fn wake_grace(&self) -> u64 {
        self.us(GRACE_US)
    }

    /// The CPUs of the round in hand, but `own`, that have not returned. An SGI
    /// to a CPU that is off would ask its redistributor for a wake-up, and stay
    /// pending.
    fn asleep(&self, own: usize, lead: bool) -> impl Iterator<Item = &'static CpuChannel> + Clone {
        let lead = lead.then_some(self.lead);
        let sleeps = move |slot: &&CpuChannel| slot.is_busy() || Some(slot.index) == lead;
        self.slots
            .iter()
            .filter(move |s| s.index != own && sleeps(s))
    }

    /// Wakes one CPU by SGI.
    fn wake(&self, target: &CpuChannel) {
        target.set_rung_at(self.way.now());
        self.gic.ring(target);
    }

    /// Wakes the CPUs that `wakes` names, the first of them at once.
    pub fn wake_others(&self, own: &CpuChannel, wakes: SgiTargets) {
        match wakes {
            SgiTargets::None => {}
            SgiTargets::One(index) => self.wake(&self.slots[index]),
            SgiTargets::InTurn { lead, step } => {
                let first = self.way.now();
                for (place, target) in self.asleep(own.index, lead).enumerate() {
                    if step > 0 {
                        self.sleep_until(first + place as u64 * step);
                    }
                    self.wake(target);
                }
            }
            SgiTargets::AtOnce { lead } => {
                let targets = self.asleep(own.index, lead);
                let now = self.way.now();
                targets.clone().for_each(|target| target.set_rung_at(now));
                self.gic.ring_at_once(targets);
            }
        }
    }

    /// The same for a CPU that was to be woken itself, and may be back too early:
    /// not before its own wake-up is due, so that the next one is down by then.
    pub fn wake_others_when_due(&self, own: &CpuChannel, order: &Order, start: u64) {
        if !matches!(order.wakes, SgiTargets::None) {
            self.sleep_until(start + order.due);
            self.wake_others(own, order.wakes);
        }
    }

    /// Wakes all others that still sleep: those whose first SGI was lost, or
    /// whose turn in a chain never came.
    pub fn wake_again(&self, own: usize, lead: bool) {
        self.asleep(own, lead).for_each(|target| self.wake(target));
    }
}

/// The helper's part: waits for the deadline in WFI on its own timer, without a
/// call of the firmware, wakes the others, and stays on until the lead says that
/// all of them are back. The lead as helper looks after that itself.
pub fn help_others(
    env: &'static Env,
    slot: &'static CpuChannel,
    order: &Order,
    start: &mut dyn FnMut() -> Option<u64>,
) -> Outcome {
    let outcome = Outcome {
        action: Action::Help,
        end: End::Returned,
        ..Outcome::default()
    };
    let Some(start) = start() else {
        return outcome;
    };
    env.sleep_until(start + order.due);
    env.wake_others(slot, order.wakes);
    if slot.index == env.lead {
        return outcome;
    }
    env.sleep_until(start + order.quiet);
    let again = start + order.alarm;
    let mut is_late = false;
    env.attend(slot, || {
        if !is_late && env.way.now() >= again {
            is_late = true;
            env.wake_again(slot.index, true);
        }
        slot.is_released().then_some(())
    });
    outcome
}

/// Stops this CPU, which is not the lead, after an exception or a panic. The CPUs
/// that it was to wake, the lead among them, may have nothing else that does.
pub fn stop_after_fault() -> ! {
    if let (Some(env), Some(slot)) = (env::env(), env::own_channel()) {
        // A second exception, in the SGIs, must not lead here again.
        let is_first = slot.fault().is_none();
        slot.set_fault(Cause::Exception);
        let helps = slot.order().is_some_and(|it| it.action == Action::Help);
        if is_first && helps {
            env.wake_again(slot.index, true);
        }
    }
    env::park()
}
