//! The reasons for skipping a scenario or a cell.

use alloc::format;
use alloc::string::String;

use hardware::board::{Mpidr, NoFrame};
use hardware::devices::its::NoLpi;
use hardware::spec::psci;

use crate::hex;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::measure::NoCpuOff;
use crate::plan::{Method, ScenarioId};

/// Returns the name of a scenario in a list of what was skipped. Names the method only if it is not
/// TFTF's, and only if the scenario is in TFTF's suite.
pub fn skipped_name(id: ScenarioId, method: Method) -> String {
    let is_warm = id.is_suite() && method == Method::Warm;
    let suffix = if is_warm { ", method warm" } else { "" };
    format!("{}{suffix}", id.tag())
}

/// Why a scenario or one of its cells was not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the messages describe each variant")]
pub enum Skip {
    #[error("the board has no idle state of this kind; set one with deepest= or core=")]
    NoIdleState,
    /// The format that the firmware uses; the state, or a deeper one, is in the other format.
    #[error(
        "the firmware uses {takes} power_state values, but the device tree has {has} ones. Use a \
         tree with {takes} ones (see --state-format of cargo xtask), or set values with deepest= \
         and core=",
        takes = _0.name(),
        has = _0.other().name()
    )]
    OtherFormat(psci::StateFormat),
    /// The device tree has states, but it does not show which one is meant.
    #[error("{0}; set the state with deepest= or core=")]
    Undecided(Undecided),
    #[error("the firmware does not implement function {0:#010x}")]
    NotSupported(u32),
    #[error("the idle state stops the CPUs' own timers, and {0}")]
    TimerStops(NoFrame),
    /// No wake-up trial was possible, and the state stops the CPUs' own timers.
    #[error("no trial of {power_state:#010x} on CPU {mpidr} succeeded")]
    NotTried {
        #[serde(with = "hex")]
        mpidr: Mpidr,
        power_state: u32,
    },
    #[error(
        "the idle state stops the CPUs' own timers, and there is no second CPU to wake the first"
    )]
    NoHelper,
    #[error("only=first does not suspend the lead")]
    First,
    #[error("no GIC: nothing can wake a suspended CPU")]
    NoGic,
    #[error("no GIC, so no timer interrupts")]
    NoInterrupts,
    #[error("DC ZVA is prohibited here (DCZID_EL0.DZP)")]
    NoZero,
    #[error("no GIC, so no SGIs")]
    NoSgi,
    #[error("{0}")]
    NoLpi(NoLpi),
    #[error("the CPU has no performance monitors")]
    NoPmu,
    #[error("PMF's timestamps cannot be read")]
    NoPmf,
    #[error("there is no other CPU to turn on")]
    OneCpu,
    #[error("{0}")]
    NoCpuOff(NoCpuOff),
    #[error("neither the CPU nor the device tree states a cache size; set steps with dirty=")]
    NoCacheSize,
    #[error("there is no other CPU that can take part")]
    NoNeighbor,
    #[error("neither the GIC's distributor nor the UART has a register that can be read")]
    NoReadableRegister,
    #[error("the idle state stops the CPUs' own timers")]
    OwnTimerStops,
    #[error(
        "contend= requests more CPUs than the board has; if the CPUs' timers stop, one more must \
         stay awake"
    )]
    TooFewCpus,
    #[error("SET_SUSPEND_MODE is advertised, but returned {0}")]
    ModeRefused(psci::ReturnCode),
    #[error("SGI did not wake CPU {mpidr} from {power_state:#010x}")]
    SgiDidNotWake {
        #[serde(with = "hex")]
        mpidr: Mpidr,
        power_state: u32,
    },
    #[error("neither its timer nor an SGI woke CPU {mpidr} from {power_state:#010x}")]
    NothingWoke {
        #[serde(with = "hex")]
        mpidr: Mpidr,
        power_state: u32,
    },
    /// TFTF does not give a reason, or the record was lost.
    #[error("the log does not give the reason")]
    NotStated,
}

/// Why the device tree does not show which idle state is the deepest one or a CPU's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(rename_all = "kebab-case")]
pub enum Undecided {
    /// No CPU lists the states.
    #[error("no CPU or power domain lists an idle state of this kind")]
    NotListed,
    /// Only some of the CPUs list this state.
    #[error("only some of the CPUs list the idle state {0:#010x}")]
    NotOnAllCpus(u32),
    /// The state may be one of [`Run::left_out`](super::Run::left_out).
    #[error("an idle state that was left out could be the right one (see the header)")]
    LeftOut,
    /// Either state may be the deeper one.
    #[error(
        "neither the CPUs' cpu-idle-states nor the latencies show which of {0:#010x} and \
         {1:#010x} is deeper"
    )]
    OrderUnknown(u32, u32),
}
