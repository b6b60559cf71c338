//! The interrupt controller, limited to the interrupts that wake CPUs: one timer PPI and one SGI,
//! enabled on each CPU, and the timer frame's SPI on the lead. These interrupts are polled and
//! never taken, except the timer interrupt in `call/interrupted_call` and in `round/timer_load`,
//! which also enables a second timer's PPI. Firmware may have reset a CPU's part of the GIC while
//! the CPU was down, so each entry reprograms it completely, except for LPIs (`its`), which only one
//! scenario uses, before any CPU goes down.

use core::sync::atomic::Ordering;

use hardware::board::{Gic as Description, GicVersion, IntId, Region};
use hardware::devices::private_interrupts::PrivateSettings;
use hardware::devices::spi::{self, SpiTarget};

use crate::machine::cpu::instructions;
use crate::machine::gic::target::{Acknowledged, GicCpu, GicError, PRIORITY, WAKE_SGI};
use crate::machine::gic::{secure_interrupt, v2, v3};
use crate::machine::memory::mmio::{MappedRegisters, Mmio};
use crate::machine::memory::tables::{MapError, TranslationTables};

/// The number of interrupts that [`GicDriver::drain`] acknowledges before giving up. This is more
/// than the number of private interrupts.
const DRAIN_LIMIT: u32 = 64;

/// The number of ISR_EL1 polls after which the GIC must have withdrawn an interrupt that is no
/// longer asserted.
const SETTLE_POLLS: u32 = 10_000;

/// A GICv2 or GICv3, or no GIC. Without a GIC, interrupts are never pending and CPUs cannot be
/// woken.
pub enum GicDriver {
    Absent,
    V2(v2::GicV2Driver),
    V3(v3::GicV3Driver),
}

/// Evaluates the same expression for either kind of GIC, or `$absent` if there is no GIC.
macro_rules! with_gic {
    ($of:expr, $gic:ident => $act:expr, $absent:expr) => {
        match $of {
            GicDriver::Absent => $absent,
            GicDriver::V2($gic) => $act,
            GicDriver::V3($gic) => $act,
        }
    };
}

impl GicDriver {
    /// Maps the GIC that the device tree describes. Returns an error if its registers cannot be
    /// mapped or the region is too small.
    pub fn new(
        tables: &mut TranslationTables,
        gic: Option<&Description>,
    ) -> Result<Self, MapError> {
        let mut map = |region: &Region| MappedRegisters::map(tables, *region);
        Ok(match gic {
            None => Self::Absent,
            Some(Description::V2 {
                distributor,
                cpu_interface,
            }) => Self::V2(v2::GicV2Driver::new(
                map(distributor)?,
                map(cpu_interface)?,
            )?),
            Some(Description::V3 {
                distributor,
                redistributors,
                stride,
            }) => {
                let distributor = map(distributor)?;
                let redistributors = redistributors.iter().map(map).collect::<Result<_, _>>()?;
                Self::V3(v3::GicV3Driver::new(distributor, redistributors, *stride)?)
            }
        })
    }

    /// Returns true if there is no GIC. This function is always inlined, because every nap calls
    /// it.
    #[inline(always)]
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Returns the version, or None if there is no GIC.
    pub fn version(&self) -> Option<GicVersion> {
        match self {
            Self::Absent => None,
            Self::V2(_) => Some(GicVersion::V2),
            Self::V3(_) => Some(GicVersion::V3),
        }
    }

    /// Enables forwarding of non-secure interrupts in the distributor. The lead calls this function
    /// at set-up and again after SYSTEM_SUSPEND.
    pub fn init_distributor(&self) -> Result<(), GicError> {
        with_gic!(self, gic => gic.init_distributor(), Ok(()))
    }

    /// Checks that the GIC in the device tree has a redistributor for this CPU (if it is a GICv3).
    /// The CPU may be off.
    pub fn check_redistributor(&self, cpu: &GicCpu) -> Result<(), GicError> {
        match self {
            Self::Absent | Self::V2(_) => Ok(()),
            Self::V3(gic) => gic.locate(cpu).map(drop),
        }
    }

    /// Disables SPIs that an earlier stage left enabled. The lead calls this function once, before
    /// it enables any SPI.
    pub fn silence_spis(&self) -> Result<(), GicError> {
        let Some(mut distributor) = self.distributor() else {
            return Ok(());
        };
        let is_silent = spi::silence_all(&mut distributor)
            && (!matches!(self, Self::V3(_)) || spi::silence_extended(&mut distributor));
        is_silent.then_some(()).ok_or(GicError::Timeout)
    }

    /// Sets up this CPU's part of the GIC, regardless of its state, for the wake-up SGI and the
    /// PPIs of these timers. Called on every entry.
    pub fn init_cpu(&self, own: &GicCpu, timers: &[IntId]) -> Result<(), GicError> {
        let bits = timers.iter().map(|intid| 1 << intid.number());
        let enabled = bits.fold(1 << WAKE_SGI.number(), |bits, bit| bits | bit);
        with_gic!(self, gic => gic.init_cpu(own, enabled), Ok(()))
    }

    /// Returns the settings of this CPU's private interrupts, or None if there is no GIC.
    pub fn private_settings(&self, own: &GicCpu) -> Option<PrivateSettings> {
        with_gic!(self, gic => gic.private_settings(own), None)
    }

    /// Sends the wake-up SGI to several CPUs, with as few writes as possible: one with GICv2, one
    /// per cluster with GICv3.
    pub fn send_wake_sgis<'s>(&self, targets: impl Iterator<Item = &'s GicCpu>) {
        instructions::complete_accesses();
        with_gic!(self, gic => gic.send_wake_sgis(targets), ());
        instructions::complete_accesses();
    }

    /// Returns the values that a CPU uses to send the wake-up SGI to another CPU, or to itself
    /// (`operation_loop.S`). Returns None if it cannot.
    pub fn loop_sgi(&self, own: &GicCpu, other: Option<&GicCpu>) -> Option<[u64; 3]> {
        with_gic!(self, gic => gic.loop_sgi(own, other), None)
    }

    /// Returns the address of the distributor's first register, or None if there is no GIC.
    pub fn distributor_base(&self) -> Option<u64> {
        with_gic!(self, gic => Some(gic.distributor.region().base), None)
    }

    /// Routes a level-sensitive SPI to the CPU given by `own`, whose part of the GIC is already set
    /// up. Only the lead calls this. Returns false if the SPI cannot be enabled.
    pub fn enable_spi(&self, intid: IntId, own: &GicCpu) -> bool {
        let target = match self {
            Self::V2(_) => SpiTarget::List(own.redistributor_or_bit.load(Ordering::Relaxed) as u8),
            _ => SpiTarget::Affinity(own.mpidr),
        };
        let enable = |mut bus| spi::enable(&mut bus, intid, target, PRIORITY);
        self.distributor().is_some_and(enable)
    }

    /// Disables an SPI. Returns false if the GIC does not complete the operation.
    pub fn disable_spi(&self, intid: IntId) -> bool {
        let disable = |mut bus| spi::disable(&mut bus, intid);
        self.distributor().is_some_and(disable)
    }

    /// Returns the distributor, for the SPI registers, which only the lead uses.
    fn distributor(&self) -> Option<Mmio> {
        with_gic!(self, gic => Some(Mmio::new(gic.distributor)), None)
    }

    /// Acknowledges the pending interrupt, if any. The caller must complete it with [`Self::end`].
    pub fn acknowledge(&self) -> Option<Acknowledged> {
        with_gic!(self, gic => gic.acknowledge(), None)
    }

    pub fn end(&self, acknowledged: Acknowledged) {
        with_gic!(self, gic => gic.end(acknowledged), ());
    }

    /// Acknowledges and completes the pending interrupt, if any.
    pub fn acknowledge_and_end(&self) -> Option<IntId> {
        let acknowledged = self.acknowledge()?;
        let intid = acknowledged.intid;
        self.end(acknowledged);
        Some(intid)
    }

    /// Acknowledges and completes all pending interrupts. Returns false if an interrupt is still
    /// pending.
    pub fn drain_interrupts(&self) -> bool {
        let _ = (0..DRAIN_LIMIT).any(|_| self.acknowledge_and_end().is_none());
        instructions::complete_accesses();
        let is_quiet = (0..SETTLE_POLLS).any(|_| !instructions::is_interrupt_pending());
        if !is_quiet {
            secure_interrupt::record_if_pending();
        }
        is_quiet
    }
}
