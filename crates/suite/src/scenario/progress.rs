//! Progress reports while a scenario is measured.

use core::fmt;

use hardware::board::Mpidr;
use hardware::spec::ticks::Clock;
use run::measure::Account;
use run::model::Function;
use run::plan::Load;

/// The progress of the timer measurement under one load.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// The counter frequency, in Hz.
    pub(crate) frequency: u64,
    /// Ticks from one expiry to the next.
    pub(crate) period: u64,
    /// The number of expiries that the plan requests for each timer.
    pub(crate) total: u32,
    /// The number of expiries that have passed.
    pub(crate) done: u32,
    /// The number of windows measured so far.
    pub(crate) windows: u32,
    /// The combined account for all CPUs.
    pub(crate) all: Account,
}

impl Stretch {
    pub(crate) fn clock(&self) -> Clock {
        Clock { hz: self.frequency }
    }
}

/// Receives reports from a scenario between its rounds. Methods that print may return output
/// errors.
pub trait Progress {
    /// Reports the function that is about to be called, so that the output shows which function it
    /// was if the run ends during the call.
    fn checking(&mut self, function: Function, x: Option<u32>) -> fmt::Result;
    /// Reports that a load cannot be measured on this machine.
    fn without(&mut self, load: Load) -> fmt::Result;
    /// Starts a `timer_latency` measurement on `cpu` or, if it is None, on all CPUs. `other` is the
    /// only CPU that runs the load, if there is one.
    fn begin(
        &mut self,
        stretch: &Stretch,
        cpu: Option<Mpidr>,
        other: Option<Mpidr>,
        load: Load,
    ) -> fmt::Result;
    /// Reports a window that `stretch` already includes; `sum` is the total for all CPUs.
    fn window(&mut self, stretch: &Stretch, sum: &Account) -> fmt::Result;
    /// Ends the measurement.
    fn end(&mut self, stretch: &Stretch) -> fmt::Result;
}
