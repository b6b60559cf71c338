//! Reports on a scenario while it is measured.

use core::fmt;

use hardware::board::Mpidr;
use hardware::spec::ticks::Clock;
use run::measure::Account;
use run::plan::Load;

/// The progress of one load of the timers.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// Frequency of the counter, in Hz.
    pub(crate) frequency: u64,
    /// Ticks from one expiry to the next.
    pub(crate) period: u64,
    /// Expiries of each timer that the plan asks for.
    pub(crate) total: u32,
    /// Those of them that have passed.
    pub(crate) done: u32,
    /// Windows so far.
    pub(crate) windows: u32,
    /// The account of all CPUs.
    pub(crate) all: Account,
}

impl Stretch {
    pub(crate) fn clock(&self) -> Clock {
        Clock { hz: self.frequency }
    }
}

/// Takes reports of a scenario between its rounds. Methods that print return the errors of
/// their output; all of them but [`Progress::note_samples`] are for `timer_latency`.
pub trait Progress {
    /// Notes how many samples are kept and how many are asked for, on all CPUs together. Called
    /// before each round of the suite's scenarios and of sweeps.
    fn note_samples(&mut self, kept: u32, asked: u32);
    /// Reports that no memory is zeroed, as DC ZVA is prohibited.
    fn without_zero(&mut self) -> fmt::Result;
    /// Begins a stretch: of this CPU alone, or of all.
    fn begin(&mut self, stretch: &Stretch, cpu: Option<Mpidr>, load: Load) -> fmt::Result;
    /// Reports a window, which is in the stretch already: the CPUs together.
    fn window(&mut self, stretch: &Stretch, sum: &Account) -> fmt::Result;
    /// Ends the stretch.
    fn end(&mut self, stretch: &Stretch) -> fmt::Result;
}
