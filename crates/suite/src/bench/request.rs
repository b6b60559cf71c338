//! What a scenario's code receives.

use core::fmt::Write;
use core::sync::atomic::AtomicU64;

use crate::measure::Machine;
use crate::model::{Cpu, ScenarioKey};
use crate::plan::Plan;

use super::states::States;
use super::wakers::Wakers;

/// Data shared by all scenarios in a run.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'r> {
    pub(crate) plan: &'r Plan,
    pub(crate) cpus: &'r [Cpu],
    pub(crate) states: &'r States,
    pub(crate) wakers: &'r Wakers,
    /// The [`crate::measure::SampleCount`] before the current round, for the host to read from memory.
    pub(crate) samples: &'r AtomicU64,
}

/// Everything that a scenario's code receives.
pub struct Request<'m> {
    /// The machine.
    pub machine: &'m mut dyn Machine,
    /// The data that all scenarios share.
    pub setting: Setting<'m>,
    /// The scenario and its method.
    pub key: ScenarioKey,
    /// The UART, for lines that are printed between rounds.
    pub out: &'m mut dyn Write,
}
