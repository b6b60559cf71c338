//! The SGIs that a participant sends to wake the other CPUs in its round.

use suite::measure::order::{Order, SgiTargets};

use crate::machine::round::channel::CpuChannel;
use crate::machine::round::participant::Participant;

impl Participant {
    /// Returns the other CPUs in the current round that have not returned. An SGI to a CPU that is
    /// off would stay pending and make the CPU's redistributor request a wake-up. An SGI to a CPU
    /// that has stopped would stay pending and keep that CPU from waiting in WFI.
    fn sleeping_cpus(
        &self,
        includes_lead: bool,
    ) -> impl Iterator<Item = &'static CpuChannel> + Clone {
        let own = self.channel.index;
        let lead = includes_lead.then_some(self.parts.lead);
        let sleeps =
            move |channel: &&CpuChannel| channel.handover.is_busy() || Some(channel.index) == lead;
        let channels = self.parts.channels.iter();
        channels.filter(move |channel| channel.index != own && sleeps(channel))
    }

    fn wake(&self, target: &CpuChannel) {
        target.handover.record_sgi_sent(self.parts.waiter.now());
        let gic = &self.parts.waiter.gic;
        gic.send_wake_sgis(core::iter::once(&target.gic));
    }

    /// Wakes the CPUs in `targets`, starting immediately.
    pub(super) fn wake_others(&self, targets: SgiTargets) {
        let waiter = &self.parts.waiter;
        match targets {
            SgiTargets::None => {}
            SgiTargets::One(cpu) => self.wake(&self.parts.channels[cpu.index()]),
            SgiTargets::OneByOne {
                includes_lead,
                interval,
            } => {
                let first = waiter.now();
                for (index, target) in self.sleeping_cpus(includes_lead).enumerate() {
                    if interval > 0 {
                        waiter.sleep_until(first + index as u64 * interval);
                    }
                    self.wake(target);
                }
            }
            SgiTargets::AllAtOnce { includes_lead } => {
                let sleeping = self.sleeping_cpus(includes_lead);
                let now = waiter.now();
                for target in sleeping.clone() {
                    target.handover.record_sgi_sent(now);
                }
                waiter
                    .gic
                    .send_wake_sgis(sleeping.map(|target| &target.gic));
            }
        }
    }

    /// Wakes the CPUs in `order`. The caller is one of the CPUs that are woken in this round, and
    /// may have returned too early. Waits until the caller's own wake-up is due, so that the next
    /// CPU is already down.
    pub(super) fn wake_others_when_due(&self, order: &Order, start: u64) {
        let targets = order.sgi_targets;
        if !matches!(targets, SgiTargets::None) {
            let due = start + order.times.due;
            self.parts.waiter.sleep_until(due);
            self.wake_others(targets);
        }
    }

    /// Wakes all other CPUs that are still asleep because their first SGI was lost or the chain
    /// never reached them.
    pub fn wake_again(&self, includes_lead: bool) {
        let sleeping = self.sleeping_cpus(includes_lead);
        sleeping.for_each(|target| self.wake(target));
    }
}
