//! The interrupt that wakes CPUs.

use hardware::words;

use crate::measure::Waker;

words! {
    /// The interrupt that wakes the CPUs in a scenario.
    #[derive(Default)]
    pub enum WakeSource, word {
        /// Each CPU's own timer.
        #[default]
        OwnTimers = "timer",
        /// The timer frame wakes the lead, and the lead wakes the others with SGIs.
        Frame = "frame",
        /// A CPU that stays awake wakes the others with SGIs.
        Helper = "helper",
    }
}

impl From<Waker> for WakeSource {
    fn from(waker: Waker) -> Self {
        match waker {
            Waker::OwnTimers | Waker::TimerTrial => Self::OwnTimers,
            Waker::Frame | Waker::FrameTrial(_) => Self::Frame,
            Waker::Helper(_) | Waker::NoHelper => Self::Helper,
        }
    }
}
