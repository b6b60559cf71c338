//! Firmware that a board can run, and the measurements that it supports.

use hardware::spec::psci::StateFormat;
use serde::{Deserialize, Deserializer};

use super::stock::Stock;

/// The latencies that a device tree declares for a state, in microseconds.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LatencyEntry {
    /// The longest time to enter the state.
    pub entry: u32,
    /// The longest time to leave the state.
    pub exit: u32,
    /// The shortest time in the state that saves energy.
    pub min_residency: u32,
}

/// A power state for CPU_SUSPEND.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StateEntry {
    /// The device tree node name.
    pub name: String,
    /// The first argument to CPU_SUSPEND, in the layout `format`.
    pub power_state: u32,
    /// The highest power level that is powered down. Required in a board file.
    #[serde(deserialize_with = "required_level")]
    pub level: Option<u8>,
    /// The layout of `power_state`.
    #[serde(default)]
    pub format: StateFormat,
    /// True if the per-CPU timers stop in this state.
    #[serde(default)]
    pub local_timer_stop: bool,
    /// The latencies, if they are known.
    pub latency_us: Option<LatencyEntry>,
}

/// Deserializes a level. With a custom deserializer, serde treats the key as required even though
/// its type is `Option`.
fn required_level<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
    u8::deserialize(from).map(Some)
}

impl StateEntry {
    /// Returns true if a CPU loses its context in this state.
    pub fn is_powerdown(&self) -> bool {
        self.format.is_powerdown(self.power_state)
    }
}

/// Whether firmware built with `ENABLE_RUNTIME_INSTRUMENTATION=1` has PMF timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pmf {
    /// The platform's makefile adds `lib/pmf/pmf_smc.c`.
    Linked,
    /// The makefile does not add `lib/pmf/pmf_smc.c`, and linking fails without the file.
    /// `fip build` adds the file on the make command line if this version of TF-A has it.
    Unlinked,
    /// PMF is not available.
    None,
}

/// A firmware variant that the board can run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Firmware {
    /// The maximum number of CPUs.
    pub max_cpus: u32,
    /// Whether PMF timestamps are available.
    pub pmf: Option<Pmf>,
    /// True if CPUs can be powered on again after CPU_OFF.
    #[serde(default = "yes")]
    pub cpu_off: bool,
    /// What cannot be measured with this firmware, and why.
    pub note: Option<String>,
    /// The TF-A platform, if the firmware is not built for the overlay platform.
    pub stock: Option<Stock>,
    /// The power states that CPU_SUSPEND accepts.
    #[serde(default)]
    pub idle_state: Vec<StateEntry>,
}

pub(super) fn yes() -> bool {
    true
}

impl Firmware {
    /// Returns the states in this format. If there are none, the firmware was built for the other
    /// format, and all states are returned.
    pub fn idle_states(&self, format: StateFormat) -> Vec<StateEntry> {
        match self.of_format(format) {
            none if none.is_empty() => self.idle_state.clone(),
            states => states,
        }
    }

    /// Returns only the states in this format.
    pub fn of_format(&self, format: StateFormat) -> Vec<StateEntry> {
        let states = self.idle_state.iter();
        states
            .filter(|state| state.format == format)
            .cloned()
            .collect()
    }
}
