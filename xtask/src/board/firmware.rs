//! The firmwares that a board can run: what each of them takes, and what can
//! be measured with it.

use std::num::NonZeroU32;

use anyhow::Result;
use clap::ValueEnum;
use psci_bench::spec::psci::StateFormat;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::state_id::StateId;

/// The layout of a power_state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// StateID, type and power level.
    #[default]
    Original,
    /// StateID and type.
    Extended,
}

impl Format {
    pub(super) fn layout(self) -> StateFormat {
        match self {
            Self::Original => StateFormat::Original,
            Self::Extended => StateFormat::Extended,
        }
    }

    pub(super) fn name(self) -> &'static str {
        self.layout().name()
    }
}

impl From<StateId> for Format {
    fn from(state_id: StateId) -> Self {
        match state_id {
            StateId::Original => Self::Original,
            StateId::Extended => Self::Extended,
        }
    }
}

/// A state that a CPU can be suspended to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IdleState {
    /// What it is called.
    pub name: String,
    /// CPU_SUSPEND's argument.
    pub power_state: Spanned<u32>,
    /// The highest power level that goes down; a board file always says it.
    #[serde(deserialize_with = "required_level")]
    pub level: Option<u8>,
    /// Which layout `power_state` has.
    #[serde(default)]
    pub format: Format,
    /// Whether the per-CPU timers stop in it.
    #[serde(default)]
    pub local_timer_stop: bool,
}

/// A key with a reader of its own is never left out.
fn required_level<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
    u8::deserialize(from).map(Some)
}

impl IdleState {
    /// Whether a CPU loses its context in it.
    #[must_use]
    pub fn is_powerdown(&self) -> bool {
        self.format
            .layout()
            .is_powerdown(*self.power_state.get_ref())
    }
}

/// TF-A's own platform for a board that has no overlay platform.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stock {
    /// `PLAT`.
    pub platform: String,
    /// Where BL1 looks for the FIP: an offset in the flash, in bytes.
    pub fip_base: usize,
    /// Whether BL33 is in memory, at the load address, before BL1 starts, and
    /// not in the FIP.
    #[serde(default)]
    pub preloaded: bool,
    /// Further `NAME=value` arguments of make; `{gic}` stands for 2 or 3.
    #[serde(default)]
    pub variables: Vec<String>,
    /// CPUs in a cluster of its power domain tree, where the board file's
    /// clusters are others and [`super::board::Cpus::continues`] has a rule for them.
    pub cluster: Option<NonZeroU32>,
}

/// Whether PMF's timestamps can be read, once the firmware is built with
/// `ENABLE_RUNTIME_INSTRUMENTATION=1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pmf {
    /// The platform's makefile adds `lib/pmf/pmf_smc.c`.
    Linked,
    /// It does not: the user has to, or the link fails.
    Unlinked,
    /// There is no PMF.
    None,
}

/// A firmware that the board can run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Firmware {
    /// How many CPUs it can have.
    pub max_cpus: Spanned<u32>,
    /// Whether PMF's timestamps can be read.
    pub pmf: Option<Pmf>,
    /// Whether CPUs come back after CPU_OFF.
    #[serde(default = "super::board::yes")]
    pub cpu_off: bool,
    /// What cannot be measured with it, and why.
    pub note: Option<Spanned<String>>,
    /// TF-A's own platform, where it is not the overlay platform.
    pub stock: Option<Stock>,
    /// What its CPU_SUSPEND takes.
    #[serde(default)]
    pub idle_state: Vec<Spanned<IdleState>>,
}

impl Firmware {
    /// The states in the format that the firmware was built for. Where all of
    /// them have the other one, there was no choice.
    #[must_use]
    pub fn idle_states(&self, state_id: StateId) -> Vec<IdleState> {
        let mut states = self.of_format(state_id.into());
        if states.is_empty() {
            states = self
                .idle_state
                .iter()
                .map(|state| state.get_ref().clone())
                .collect();
        }
        states
    }

    /// Returns the states of this format.
    pub(super) fn of_format(&self, format: Format) -> Vec<IdleState> {
        let states = self.idle_state.iter().map(Spanned::get_ref);
        let states = states.filter(|state| state.format == format);
        states.cloned().collect()
    }
}
