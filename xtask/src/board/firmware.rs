//! The firmwares that a board can run: what each of them takes, and what can
//! be measured with it.

use std::num::NonZeroU32;

use anyhow::Result;
use clap::ValueEnum;
use psci_bench::board::IDLE_STATES_MAX;
use psci_bench::spec::psci::{StateFormat, WrongLevel};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::board::{Board, Source};
use super::check::{NAME, is_name};
use super::state_id::StateId;
use super::status;

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

/// Refuses the first firmware with more CPUs than there are, or with fewer than
/// a run has that asks for no number. The CPUs have been checked.
pub(super) fn check_cpus(board: &Board, source: &Source<'_>) -> Result<()> {
    let cpus: usize = board.all_clusters().iter().map(Vec::len).sum();
    let default = board.default_cpus()?;
    for firmware in board.firmware.values() {
        let most = *firmware.max_cpus.get_ref();
        let fail = |reason: &str| Err(source.error(firmware.max_cpus.span(), reason));
        if most == 0 || most as usize > cpus {
            return fail(&format!("max-cpus is 1 to {cpus}: so many CPUs there are"));
        }
        if most < default {
            return fail(&format!(
                "max-cpus is less than the {default} CPUs that are used when no number is asked \
                 for: those of [qemu], else all that are listed"
            ));
        }
    }
    Ok(())
}

/// Refuses the first firmware that cannot be.
pub(super) fn check(board: &Board, source: &Source<'_>) -> Result<()> {
    let default = &board.default_firmware;
    if !board.firmware.contains_key(default.get_ref()) {
        let reason = "there is no [firmware] of that name";
        return Err(source.error(default.span(), reason));
    }
    for (name, firmware) in &board.firmware {
        let fail = |reason: &str| Err(source.error(source.table(&["firmware", name]), reason));
        if firmware.pmf.is_none() && board.qemu.is_none() {
            return fail("pmf is missing: \"linked\", \"unlinked\" or \"none\"");
        }
        let cluster = firmware.stock.as_ref().and_then(|stock| stock.cluster);
        if cluster.is_some() && board.cpus.continues.is_none() {
            return fail("stock.cluster needs the rule cpus.continues");
        }
        if let Some(note) = &firmware.note {
            status::text(note, source)?;
        } else if firmware.idle_state.is_empty() {
            return fail("no idle-state and no note that says why");
        } else if !firmware.cpu_off {
            return fail("cpu-off = false and no note that says why");
        }
        states(&firmware.idle_state, source)?;
    }
    Ok(())
}

fn states(states: &[Spanned<IdleState>], source: &Source<'_>) -> Result<()> {
    for (index, state) in states.iter().enumerate() {
        idle_state(state, source)?;
        let this = state.get_ref();
        let same = |other: &Spanned<IdleState>| {
            let other = other.get_ref();
            other.format == this.format
                && (other.name == this.name
                    || other.power_state.get_ref() == this.power_state.get_ref())
        };
        let before = states.iter().take(index);
        let format = |other: &&Spanned<IdleState>| other.get_ref().format == this.format;
        if before.filter(format).count() == IDLE_STATES_MAX {
            let reason = format!("more than {IDLE_STATES_MAX} idle states of one format");
            return Err(source.error(state.span(), &reason));
        }
        if states.iter().take(index).any(same) {
            let reason = "another idle state has the same name or power-state";
            return Err(source.error(state.span(), reason));
        }
    }
    Ok(())
}

fn idle_state(state: &Spanned<IdleState>, source: &Source<'_>) -> Result<()> {
    let span = state.span();
    let state = state.get_ref();
    if !is_name(&state.name) {
        let reason = format!("{:?} is no name for a node: {NAME}", state.name);
        return Err(source.error(span, &reason));
    }
    let level = state.level.unwrap_or(0);
    if level > 3 {
        return Err(source.error(span, "PSCI has power levels 0 to 3"));
    }
    let value = *state.power_state.get_ref();
    let fail = |reason: &str| Err(source.error(state.power_state.span(), reason));
    let layout = state.format.layout();
    if !layout.accepts(value) {
        let format = state.format;
        return fail(&format!(
            "{value:#x} sets bits that the {format:?} format reserves"
        ));
    }
    match layout.check_level(value, level) {
        Ok(()) => Ok(()),
        Err(WrongLevel::Names(named)) => fail(&format!(
            "{value:#x} is of power level {named}, and not {level}"
        )),
        Err(WrongLevel::Standby) => fail(&format!(
            "{value:#x} is a standby state, and those are level 0 here"
        )),
    }
}
