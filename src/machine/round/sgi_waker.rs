//! Wake-ups of other CPUs by SGI.

use psci_bench::measure::order::{Order, SgiTargets};

use crate::machine::round::channel::CpuChannel;
use crate::machine::time::waiter::Waiter;

/// The CPUs that can be woken.
pub struct SgiWaker {
    /// All CPUs, in the board's order.
    pub channels: &'static [CpuChannel],
    pub lead: usize,
}

impl SgiWaker {
    /// Returns the CPUs of the current round, except `own`, that have not returned.
    /// An SGI to a CPU that is off would ask its redistributor for a wake-up, and
    /// stay pending.
    fn sleeping_cpus(
        &self,
        own: usize,
        includes_lead: bool,
    ) -> impl Iterator<Item = &'static CpuChannel> + Clone {
        let lead = includes_lead.then_some(self.lead);
        let sleeps = move |cpu: &&CpuChannel| cpu.handover.is_busy() || Some(cpu.index) == lead;
        self.channels
            .iter()
            .filter(move |cpu| cpu.index != own && sleeps(cpu))
    }

    fn wake(waiter: &Waiter, target: &CpuChannel) {
        target.handover.record_sgi_sent(waiter.timebase.now());
        waiter.gic.send_wake_sgi(&target.gic);
    }

    /// Wakes the CPUs that `targets` names, the first of them at once.
    pub fn wake_others(&self, waiter: &Waiter, own: usize, targets: SgiTargets) {
        match targets {
            SgiTargets::None => {}
            SgiTargets::One(index) => Self::wake(waiter, &self.channels[index]),
            SgiTargets::OneByOne {
                includes_lead,
                step,
            } => {
                let first = waiter.timebase.now();
                for (place, target) in self.sleeping_cpus(own, includes_lead).enumerate() {
                    if step > 0 {
                        waiter.sleep_until(first + place as u64 * step);
                    }
                    Self::wake(waiter, target);
                }
            }
            SgiTargets::AllAtOnce { includes_lead } => {
                let targets = self.sleeping_cpus(own, includes_lead);
                let now = waiter.timebase.now();
                targets
                    .clone()
                    .for_each(|target| target.handover.record_sgi_sent(now));
                waiter.gic.send_wake_sgis(targets.map(|target| &target.gic));
            }
        }
    }

    /// Wakes the CPUs that `order` names, from a CPU that was to be woken itself and
    /// may have returned too early: not before its own wake-up is due, so that the
    /// next CPU is down by then.
    pub fn wake_others_when_due(&self, waiter: &Waiter, own: usize, order: &Order, start: u64) {
        let targets = order.wake.wakes_others_by_sgi;
        if !matches!(targets, SgiTargets::None) {
            waiter.sleep_until(start + order.times.wake_due_after);
            self.wake_others(waiter, own, targets);
        }
    }

    /// Wakes all others that still sleep: those whose first SGI was lost, or whose
    /// turn in a chain never came.
    pub fn wake_again(&self, waiter: &Waiter, own: usize, includes_lead: bool) {
        self.sleeping_cpus(own, includes_lead)
            .for_each(|target| Self::wake(waiter, target));
    }
}
