//! The firmwares that a board can run, with what can be measured on each.

use std::num::NonZeroU32;

use hardware::spec::psci::StateFormat;
use serde::{Deserialize, Deserializer};

/// A state that a CPU can be suspended to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StateEntry {
    /// The name of its node.
    pub name: String,
    /// CPU_SUSPEND's argument.
    pub power_state: u32,
    /// The highest power level that goes down; a board file always has it.
    #[serde(deserialize_with = "required_level")]
    pub level: Option<u8>,
    /// The layout of `power_state`.
    #[serde(default)]
    pub format: StateFormat,
    /// True if the per-CPU timers stop in it.
    #[serde(default)]
    pub local_timer_stop: bool,
}

/// Reads a level. A key with a reader of its own is never left out.
fn required_level<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
    u8::deserialize(from).map(Some)
}

impl StateEntry {
    /// Returns true if a CPU loses its context in it.
    pub fn is_powerdown(&self) -> bool {
        self.format.is_powerdown(self.power_state)
    }
}

/// TF-A's own platform for a board that has no overlay platform.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stock {
    /// `PLAT`.
    pub platform: String,
    /// Offset in the flash at which BL1 looks for the FIP, in bytes.
    pub fip_base: usize,
    /// True if BL33 is at the load address before BL1 starts, and not in the FIP.
    #[serde(default)]
    pub preloaded: bool,
    /// Further `NAME=value` arguments of make; `{gic}` stands for 2 or 3.
    #[serde(default)]
    pub variables: Vec<String>,
    /// CPUs in a cluster of its power domain tree, if other than the board file's; needs
    /// the rule `cpus.continues`.
    pub cluster: Option<NonZeroU32>,
}

/// PMF's timestamps in a firmware that is built with `ENABLE_RUNTIME_INSTRUMENTATION=1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pmf {
    /// The platform's makefile adds `lib/pmf/pmf_smc.c`.
    Linked,
    /// The user has to add that file, or the link fails.
    Unlinked,
    /// There is no PMF.
    None,
}

/// A firmware that the board can run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Firmware {
    /// The most CPUs that it can have.
    pub max_cpus: u32,
    /// The way to PMF's timestamps.
    pub pmf: Option<Pmf>,
    /// True if CPUs can be powered on again after CPU_OFF.
    #[serde(default = "yes")]
    pub cpu_off: bool,
    /// The measurements that are not possible with it, and the reason.
    pub note: Option<String>,
    /// TF-A's own platform, if the firmware is not the overlay platform.
    pub stock: Option<Stock>,
    /// The states that its CPU_SUSPEND takes.
    #[serde(default)]
    pub idle_state: Vec<StateEntry>,
}

pub(super) fn yes() -> bool {
    true
}

impl Firmware {
    /// Returns the states in the format that the firmware was built for, or all of them
    /// if there is no choice: all have the other format.
    pub fn idle_states(&self, format: StateFormat) -> Vec<StateEntry> {
        match self.of_format(format) {
            none if none.is_empty() => self.idle_state.clone(),
            states => states,
        }
    }

    /// Returns the states of this format.
    pub fn of_format(&self, format: StateFormat) -> Vec<StateEntry> {
        let states = self.idle_state.iter();
        states
            .filter(|state| state.format == format)
            .cloned()
            .collect()
    }
}
