//! Devices described in a board file: UART, timers, interrupt controller and watchdog.

use std::num::NonZeroU32;

use hardware::board::{GicVersion, IntId, Region};
use hardware::devices::uart::Layout;
use hardware::image::{self, UartKind};
use hardware::spec::counter::CounterErratum;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UartEntry {
    pub kind: UartKind,
    pub base: u64,
    pub size: u64,
    /// The left shift from register number to byte offset. Only for a 16550.
    pub reg_shift: Option<u8>,
    /// The width of a register access in bytes. Only for a 16550.
    pub reg_io_width: Option<u8>,
    /// The baud rate that the firmware sets, if it is not 115200.
    pub baud: Option<NonZeroU32>,
    /// The base address of the UART on which the firmware at EL3 reports a crash, if it is another
    /// one.
    pub el3_base: Option<u64>,
}

impl UartEntry {
    /// Returns the `follow` option that sets this baud rate, preceded by a space. Returns an empty
    /// string if the rate is the default.
    pub fn follow_option(&self) -> String {
        match self.baud {
            Some(baud) => format!(" --baud {baud}"),
            None => String::new(),
        }
    }

    pub fn registers(&self) -> Region {
        Region {
            base: self.base,
            size: self.size,
        }
    }

    /// Returns the UART in the format used by the parameter block.
    pub fn emergency(&self) -> image::UartDescription {
        let layout = Layout::new(self.reg_shift.unwrap_or(0), self.reg_io_width.unwrap_or(1));
        image::UartDescription::new(self.kind, self.base, layout)
    }
}

/// The INTIDs of the per-CPU timers, all of which are PPIs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Timer {
    pub secure_physical: IntId,
    pub physical: IntId,
    pub r#virtual: IntId,
    pub hypervisor: IntId,
    #[serde(default, deserialize_with = "counter_erratum")]
    pub erratum: Option<CounterErratum>,
    /// The frame that wakes CPUs from states in which the per-CPU timers stop.
    pub frame: Option<Frame>,
}

/// Deserializes an erratum from its device tree property name.
fn counter_erratum<'d, D: Deserializer<'d>>(value: D) -> Result<Option<CounterErratum>, D::Error> {
    let name = String::deserialize(value)?;
    let mut errata = CounterErratum::OF_SOCS.into_iter();
    match errata.find(|erratum| erratum.name() == name) {
        Some(erratum) => Ok(Some(erratum)),
        None => {
            let names = CounterErratum::OF_SOCS.map(CounterErratum::name).join(", ");
            Err(D::Error::custom(format!("{name:?} is not one of {names}")))
        }
    }
}

impl Timer {
    /// Returns the INTIDs in device tree binding order.
    pub fn intids(&self) -> [IntId; 4] {
        [
            self.secure_physical,
            self.physical,
            self.r#virtual,
            self.hypervisor,
        ]
    }
}

/// A non-secure frame of the memory-mapped timer. The frame wakes CPUs from states in which the
/// per-CPU timers stop.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// The base address of CNTBaseN.
    pub base: u64,
    /// The size of CNTBaseN in bytes.
    pub size: u32,
    /// The physical timer's interrupt, an SPI.
    pub interrupt: IntId,
    /// CNTCTLBase.
    pub control: Region,
    /// The frame number in CNTCTLBase.
    pub number: u32,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GicV2 {
    pub distributor: Region,
    pub cpu_interface: Region,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GicV3 {
    pub distributor: Region,
    /// The redistributor regions, in CPU order.
    pub redistributors: Vec<Region>,
    /// The registers of the interrupt translation service (ITS), if there is one.
    pub its: Option<Region>,
}

/// The interrupt controller. An emulated board can support more than one GIC version.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GicChoice {
    /// The version used unless the user requests the other one. It has an entry below.
    pub default: GicVersion,
    pub v2: Option<GicV2>,
    pub v3: Option<GicV3>,
}

impl GicChoice {
    pub(super) fn has(&self, version: GicVersion) -> bool {
        match version {
            GicVersion::V2 => self.v2.is_some(),
            GicVersion::V3 => self.v3.is_some(),
        }
    }
}

/// A non-secure watchdog that resets the board.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(
    tag = "kind",
    deny_unknown_fields,
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case"
)]
pub enum WatchdogEntry {
    /// Arm PrimeCell SP805.
    Sp805 {
        registers: Region,
        /// The frequency of WDOGCLK in Hz.
        clock: u32,
        /// The INTID, an SPI.
        interrupt: Option<IntId>,
    },
    /// SBSA generic watchdog, which counts at the system counter frequency.
    SbsaGwdt {
        control: Region,
        refresh: Region,
        /// The INTID of WS0, an SPI.
        interrupt: IntId,
    },
    /// WDOG of an i.MX.
    Imx { registers: Region },
}

impl WatchdogEntry {
    /// Returns the frames in device tree binding order.
    pub fn frames(&self) -> Vec<Region> {
        match *self {
            Self::Sp805 { registers, .. } | Self::Imx { registers } => vec![registers],
            Self::SbsaGwdt {
                control, refresh, ..
            } => vec![control, refresh],
        }
    }

    pub fn interrupt(&self) -> Option<IntId> {
        match *self {
            Self::Sp805 { interrupt, .. } => interrupt,
            Self::SbsaGwdt { interrupt, .. } => Some(interrupt),
            Self::Imx { .. } => None,
        }
    }
}
