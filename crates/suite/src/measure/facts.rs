//! The machine as detected by the payload, and each CPU's registers.

use core::fmt;

use hardware::board::{CpuIndex, GicVersion, IntId, NoFrame, NoWatchdog, TimerFrame, Watchdog};
use hardware::image::Conduit;
use hardware::spec::caches::Caches;
use hardware::spec::counter::{CounterErratum, TimerName};
use hardware::spec::pmf;
use hardware::spec::psci::StateFormat;
use hardware::spec::smccc::Service;
use hardware::spec::ticks::Clock;
use serde::{Deserialize, Serialize};

use super::time_source::TimeSource;

/// The measurement overhead in ticks: the minimum of many attempts on the lead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overheads {
    /// Two consecutive counter reads.
    pub counter: u64,
    /// An empty timed region.
    pub empty: u64,
    /// One timestamp read with GET_TIMESTAMP.
    pub pmf_read: Option<u64>,
}

/// The counter used for all measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counter {
    /// CNTPCT_EL0.
    Physical,
    /// CNTPCT_EL0, read twice because of an erratum.
    PhysicalTwice(CounterErratum),
    /// CNTVCT_EL0, in a guest.
    Virtual,
}

impl Counter {
    /// Returns the register name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Physical | Self::PhysicalTwice(_) => "CNTPCT",
            Self::Virtual => "CNTVCT",
        }
    }
}

/// Formats the register name, with a note if it is read twice.
impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        let Self::PhysicalTwice(erratum) = self else {
            return Ok(());
        };
        write!(f, " (read twice for {})", erratum.name())
    }
}

/// Why CPUs are not turned off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoCpuOff {
    /// PSCI_FEATURES does not list CPU_OFF.
    NotListed,
    /// The device tree rules out CPU_OFF.
    Forbidden,
    /// CPU_OFF is listed, but returned NOT_SUPPORTED.
    NotSupported,
    /// The boot arguments rule out CPU_OFF.
    Argument,
}

impl fmt::Display for NoCpuOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotListed => "PSCI_FEATURES does not list CPU_OFF",
            Self::Forbidden => "according to the device tree, CPU_OFF is permanent",
            Self::NotSupported => "CPU_OFF is advertised, but returned NOT_SUPPORTED",
            Self::Argument => "cpu-off=off was given",
        })
    }
}

/// Data from a CPU's own registers, which describe its model, caches and clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// MIDR_EL1: the implementer and part number.
    pub midr: u64,
    /// The sizes of its caches, from CLIDR_EL1 and CCSIDR_EL1.
    pub caches: Caches,
    /// The CPU's CNTFRQ_EL0, in Hz. Firmware must set it on each CPU.
    pub frequency: u64,
    /// The CPU's clock in MHz, measured with PMCCNTR_EL0; None if that register does not count.
    pub clock_mhz: Option<u64>,
    /// True if a debugger keeps the CPU's power on (DBGPRCR_EL1.CORENPDRQ).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub power_kept_on: bool,
}

/// The machine as detected by the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The counter frequency in Hz, from the device tree or the lead's CNTFRQ_EL0, even if it is
    /// implausible.
    pub frequency: u64,
    /// The counter in use.
    pub counter: Counter,
    /// The timer that wakes a CPU.
    pub timer: TimerName,
    /// The timer's interrupt ID.
    pub timer_intid: IntId,
    /// The timer frame that wakes the lead from states that stop the CPUs' timers, or why there is
    /// none.
    pub frame: Result<TimerFrame, NoFrame>,
    /// The payload's exception level: 1 or 2.
    pub exception_level: u8,
    /// True if HCR_EL2.E2H is 1 at EL2 and cannot be cleared.
    pub e2h: bool,
    /// The GIC version. Without a GIC, nothing can wake a CPU.
    #[serde(with = "gic_number")]
    pub gic: Option<GicVersion>,
    /// The conduit in use.
    pub conduit: Conduit,
    /// The return value of PSCI_VERSION.
    pub psci_version: u32,
    /// The return value of SMCCC_VERSION; None if PSCI_FEATURES does not list the call.
    pub smccc: Option<u32>,
    /// The service that handles PSCI calls; None if it does not identify itself.
    pub service: Option<Service>,
    /// The layout of `power_state`.
    pub state_format: StateFormat,
    /// The interface for reading timestamps, or why they cannot be read.
    pub pmf: Result<pmf::Interface, pmf::ReadError>,
    /// The watchdog that can reset the board without the lead's help, or why there is none.
    pub watchdog: Result<Watchdog, NoWatchdog>,
    /// True if the firmware supports PSCI_STAT_COUNT and PSCI_STAT_RESIDENCY.
    pub stat: bool,
    /// True if CPU_SUSPEND supports OS-initiated mode.
    pub os_initiated: bool,
    /// True if the firmware supports SYSTEM_SUSPEND.
    pub system_suspend: bool,
    /// Why CPUs stay on once they have been turned on; None if CPU_OFF turns them off again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_cpu_off: Option<NoCpuOff>,
    /// The lead CPU's index, in board order.
    pub lead: CpuIndex,
    /// The size in bytes of the L2 cache, or of the L1 cache if there is no L2 cache.
    pub outer_cache: Option<u64>,
    /// The lead's registers.
    #[serde(skip)]
    pub own: Identity,
    /// True if the lead has a performance monitors unit (ID_AA64DFR0_EL1).
    pub pmu: bool,
    /// True in a KVM guest. In a guest, cache sizes are not read, because KVM makes them up.
    pub kvm: bool,
    /// True if DC ZVA may be used (DCZID_EL0.DZP).
    pub zero: bool,
    /// What the measurement itself costs, in ticks.
    pub overheads: Overheads,
}

/// The GIC version as stored in records: 2, 3, or 0 for none. For serde's `with`.
mod gic_number {
    use super::{Deserialize, GicVersion, Serialize as _};
    use serde::{Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(
        gic: &Option<GicVersion>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        gic.map_or(0, GicVersion::number).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<GicVersion>, D::Error> {
        match u32::deserialize(from)? {
            0 => Ok(None),
            number => GicVersion::try_from(number)
                .map(Some)
                .map_err(D::Error::custom),
        }
    }
}

impl Facts {
    /// Returns the counter as a clock.
    pub fn clock(&self) -> Clock {
        Clock { hz: self.frequency }
    }

    /// Returns the number of counter ticks in `microseconds`; see [`Clock::ticks`].
    pub fn ticks(&self, microseconds: u64) -> u64 {
        self.clock().ticks(microseconds)
    }

    /// Returns the readings that are available on this machine.
    pub fn time_source(&self) -> TimeSource {
        if self.pmf.is_ok() {
            TimeSource::CounterAndPmf
        } else {
            TimeSource::Counter
        }
    }
}
