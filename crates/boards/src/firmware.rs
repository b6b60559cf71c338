//! Firmware that a board can run, and what can be measured with it.

use std::num::NonZeroU32;

use hardware::spec::psci::StateFormat;
use serde::{Deserialize, Deserializer};

/// A state that a CPU can be suspended to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StateEntry {
    /// The name of its device tree node.
    pub name: String,
    /// The argument to CPU_SUSPEND.
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
}

/// Reads a level. serde requires a key that has a custom deserializer, even if its type is an
/// `Option`.
fn required_level<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
    u8::deserialize(from).map(Some)
}

impl StateEntry {
    /// Returns true if a CPU loses its context in this state.
    pub fn is_powerdown(&self) -> bool {
        self.format.is_powerdown(self.power_state)
    }
}

/// The TF-A platform that runs on a board without an overlay platform.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stock {
    /// `PLAT`.
    pub platform: String,
    /// The offset in flash where BL1 looks for the FIP, in bytes.
    pub fip_base: usize,
    /// True if BL33 is not in the FIP but already at the load address when BL1 starts.
    #[serde(default)]
    pub preloaded: bool,
    /// Additional `NAME=value` arguments for make; `{gic}` is replaced with 2 or 3.
    #[serde(default)]
    pub variables: Vec<String>,
    /// The number of CPUs per cluster in its power domain tree, if different from the board file.
    /// Requires the rule `cpus.continues`.
    pub cluster: Option<NonZeroU32>,
}

/// Whether PMF timestamps exist in firmware built with `ENABLE_RUNTIME_INSTRUMENTATION=1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pmf {
    /// The platform's makefile adds `lib/pmf/pmf_smc.c`.
    Linked,
    /// The user must add that file; without it the link fails.
    Unlinked,
    /// There is no PMF.
    None,
}

/// A firmware variant that the board can run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Firmware {
    /// The maximum number of CPUs.
    pub max_cpus: u32,
    /// Whether there are PMF timestamps.
    pub pmf: Option<Pmf>,
    /// True if CPUs can be powered on again after CPU_OFF.
    #[serde(default = "yes")]
    pub cpu_off: bool,
    /// The measurements that are not possible with this firmware, and why.
    pub note: Option<String>,
    /// The TF-A platform, if the firmware is not built for the overlay platform.
    pub stock: Option<Stock>,
    /// The states accepted by its CPU_SUSPEND.
    #[serde(default)]
    pub idle_state: Vec<StateEntry>,
}

pub(super) fn yes() -> bool {
    true
}

impl Firmware {
    /// Returns the states in the format that the firmware was built for. If there is no state in
    /// that format, the firmware was built for the other format, and all states are returned.
    pub fn idle_states(&self, format: StateFormat) -> Vec<StateEntry> {
        match self.of_format(format) {
            none if none.is_empty() => self.idle_state.clone(),
            states => states,
        }
    }

    /// Returns the states that use this format.
    pub fn of_format(&self, format: StateFormat) -> Vec<StateEntry> {
        let states = self.idle_state.iter();
        states
            .filter(|state| state.format == format)
            .cloned()
            .collect()
    }
}
