//! The reasons for skipping a scenario or a cell.

use core::fmt;

use hardware::board::{Mpidr, NoFrame};
use hardware::devices::its::NoLpi;
use hardware::spec::psci;

use crate::hex;
use serde::{Deserialize, Serialize};

use crate::measure::NoCpuOff;

/// Why a scenario or one of its cells was not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the Display impl describes each variant")]
pub enum Skip {
    NoIdleState,
    /// The format that the firmware uses; the state, or a deeper one, is in the other format.
    OtherFormat(psci::StateFormat),
    /// The device tree has states, but it does not show which one is meant.
    Undecided(Undecided),
    NotSupported(u32),
    TimerStops(NoFrame),
    /// No wake-up trial was possible, and the state stops the CPUs' own timers.
    NotTried {
        #[serde(with = "hex")]
        mpidr: Mpidr,
        power_state: u32,
    },
    NoHelper,
    NoGic,
    NoInterrupts,
    NoZero,
    NoSgi,
    NoLpi(NoLpi),
    NoPmu,
    NoPmf,
    OneCpu,
    NoCpuOff(NoCpuOff),
    NoCacheSize,
    NoNeighbor,
    OwnTimerStops,
    TooFewCpus,
    ModeRefused(psci::ReturnCode),
    SgiDidNotWake {
        #[serde(with = "hex")]
        mpidr: Mpidr,
        power_state: u32,
    },
    NothingWoke {
        #[serde(with = "hex")]
        mpidr: Mpidr,
        power_state: u32,
    },
    /// TFTF does not give a reason, or the record was lost.
    NotStated,
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stops = "the idle state stops the CPUs' own timers, and";
        f.write_str(match *self {
            Self::OtherFormat(format) => return other_format(f, format),
            Self::Undecided(why) => {
                return write!(f, "{why}; set the state with deepest= or core=");
            }
            Self::NotSupported(id) => {
                return write!(f, "the firmware does not implement function {id:#010x}");
            }
            Self::TimerStops(why) => return write!(f, "{stops} {why}"),
            Self::NoLpi(why) => return write!(f, "{why}"),
            Self::NoCpuOff(why) => return write!(f, "{why}"),
            Self::NoHelper => return write!(f, "{stops} there is no second CPU to wake the first"),
            Self::ModeRefused(error) => {
                return write!(f, "SET_SUSPEND_MODE is advertised, but returned {error}");
            }
            Self::NotTried {
                mpidr,
                power_state: state,
            } => {
                return write!(f, "no trial of {state:#010x} on CPU {mpidr} succeeded");
            }
            Self::SgiDidNotWake {
                mpidr,
                power_state: state,
            } => {
                return write!(f, "SGI did not wake CPU {mpidr} from {state:#010x}");
            }
            Self::NothingWoke {
                mpidr,
                power_state: state,
            } => {
                return write!(
                    f,
                    "neither its timer nor an SGI woke CPU {mpidr} from {state:#010x}"
                );
            }
            Self::NoIdleState => {
                "the board has no idle state of this kind; set one with deepest= or core="
            }
            Self::NoGic => "no GIC: nothing can wake a suspended CPU",
            Self::NoInterrupts => "no GIC, so no timer interrupts",
            Self::NoZero => "DC ZVA is prohibited here (DCZID_EL0.DZP)",
            Self::NoSgi => "no GIC, so no SGIs",
            Self::NoPmu => "the CPU has no performance monitors",
            Self::NoPmf => "PMF's timestamps cannot be read",
            Self::OneCpu => "there is no other CPU to turn on",
            Self::NoCacheSize => {
                "neither the CPU nor the device tree states a cache size; set steps with \
                 dirty="
            }
            Self::OwnTimerStops => "the idle state stops the CPUs' own timers",
            Self::NoNeighbor => "there is no other CPU that can take part",
            Self::TooFewCpus => {
                "contend= requests more CPUs than the board has; if the CPUs' timers stop, one \
                 more must stay awake"
            }
            Self::NotStated => "the log does not give the reason",
        })
    }
}

/// Why the device tree does not show which idle state is the deepest one or a CPU's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undecided {
    /// No CPU lists the states.
    NotListed,
    /// Only some of the CPUs list this state.
    NotOnAllCpus(u32),
    /// The state may be one of [`Run::left_out`](super::Run::left_out).
    LeftOut,
    /// Either state may be the deeper one.
    OrderUnknown(u32, u32),
}

impl fmt::Display for Undecided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NotListed => {
                f.write_str("no CPU or power domain lists an idle state of this kind")
            }
            Self::NotOnAllCpus(state) => {
                write!(f, "only some of the CPUs list the idle state {state:#010x}")
            }
            Self::LeftOut => f.write_str(
                "an idle state that was left out could be the right one (see the header)",
            ),
            Self::OrderUnknown(one, other) => write!(
                f,
                "neither the CPUs' cpu-idle-states nor the latencies show which of {one:#010x} and \
                 {other:#010x} is deeper"
            ),
        }
    }
}

fn other_format(f: &mut fmt::Formatter<'_>, format: psci::StateFormat) -> fmt::Result {
    let (takes, has) = (format.name(), format.other().name());
    write!(
        f,
        "the firmware uses {takes} power_state values, but the device tree has {has} ones. Use a \
         tree with {takes} ones (see --state-format of cargo xtask), or set values with deepest= \
         and core="
    )
}
