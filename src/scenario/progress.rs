//! Reports on a measurement that takes long, while it goes on.

use core::fmt;

use crate::board::Cpu;
use crate::measure::Account;
use crate::plan::Load;
use crate::spec::ticks::Clock;

/// One load of the timers: how far its measurement has come.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// The counter's, in Hz.
    pub frequency: u64,
    /// Ticks from one expiry to the next.
    pub period: u64,
    /// Expiries of each timer that were asked for.
    pub total: u32,
    /// Those of them that were dealt with, of each.
    pub done: u32,
    /// Data lines so far.
    pub lines: u32,
    /// What became of them all.
    pub all: Account,
}

impl Stretch {
    /// The counter as a clock.
    pub(crate) fn clock(&self) -> Clock {
        Clock { hz: self.frequency }
    }
}

/// Takes reports of `timer_latency` while it is measured.
///
/// # Errors
/// Each method: those of what it writes to.
pub(crate) trait Progress {
    /// Says that no memory is zeroed, as DC ZVA is prohibited.
    fn without_zero(&mut self) -> fmt::Result;
    /// Begins a stretch: of one CPU alone, or of all.
    fn begin(&mut self, stretch: &Stretch, cpu: Option<&Cpu>, load: Load) -> fmt::Result;
    /// Adds one window to the stretch: the CPUs together.
    fn window(&mut self, stretch: &mut Stretch, sum: &Account) -> fmt::Result;
    /// Ends the stretch.
    fn end(&mut self, stretch: &Stretch) -> fmt::Result;
}
