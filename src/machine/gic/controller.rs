//! The interrupt controller, as far as waking CPUs needs it: one timer PPI
//! and one SGI, enabled on each CPU, and the timer frame's SPI on the lead. All
//! are polled and never taken, but for the timer's in `latency`, which has
//! another timer's PPI beside it.
//!
//! Firmware may have reset a CPU's part of the GIC while it was down, so all
//! of it is programmed again on every entry: [`Gic::init_cpu`].

use crate::machine::gic::target::{GicError, OwnSgi, PRIORITY};
use crate::machine::gic::{v2, v3};
use core::sync::atomic::Ordering;

use psci_bench::board::{Gic as Description, Region};
use psci_bench::devices::spi::{self, Target};

use crate::machine::cpu::instructions;
use crate::machine::memory::mmio::Mmio;
use crate::machine::memory::mmio::Registers;
use crate::machine::memory::tables::MapError;
use crate::machine::memory::tables::TranslationTables;
use crate::machine::round::channel::CpuChannel;

/// Acknowledged interrupts until [`Gic::drain`] gives up: more than there
/// are private interrupts.
const DRAIN_LIMIT: u32 = 64;

/// Polls of ISR_EL1 for the GIC to take back an interrupt that is no more
/// asserted.
const SETTLE_POLLS: u32 = 10_000;

/// A GIC of either kind, or none: then nothing is pending, and nobody is woken.
pub enum Gic {
    /// No GIC.
    Absent,
    /// GICv2: memory-mapped CPU interface.
    V2(v2::GicV2),
    /// GICv3 and later: CPU interface in system registers.
    V3(v3::GicV3),
}

/// An interrupt that was acknowledged, as the GIC told it.
pub struct Claim(u32);

impl Gic {
    /// A GIC by its description in the device tree.
    ///
    /// # Errors
    /// Where its registers can not be mapped, or are too few.
    pub fn new(
        tables: &mut TranslationTables,
        gic: Option<&Description>,
    ) -> Result<Self, MapError> {
        let mut map = |region: &Region| Registers::map(tables, *region);
        Ok(match gic {
            None => Self::Absent,
            Some(Description::V2 {
                distributor,
                cpu_interface,
            }) => Self::V2(v2::GicV2::new(map(distributor)?, map(cpu_interface)?)?),
            Some(Description::V3 {
                distributor,
                redistributors,
                stride,
            }) => {
                let distributor = map(distributor)?;
                let redistributors = redistributors.iter().map(map).collect::<Result<_, _>>()?;
                Self::V3(v3::GicV3::new(distributor, redistributors, *stride)?)
            }
        })
    }

    /// The architecture's version: 2 or 3; 0 without a GIC.
    pub fn version(&self) -> u8 {
        match self {
            Self::Absent => 0,
            Self::V2(_) => 2,
            Self::V3(_) => 3,
        }
    }

    /// Lets the distributor forward non-secure interrupts. The lead's: once, and
    /// again after SYSTEM_SUSPEND.
    pub fn init_distributor(&self) -> Result<(), GicError> {
        match self {
            Self::Absent => Ok(()),
            Self::V2(gic) => {
                gic.init_distributor();
                Ok(())
            }
            Self::V3(gic) => gic.init_distributor(),
        }
    }

    /// Sets up this CPU's part, whatever its state, for the PPIs of these timers
    /// and the SGI: on every entry.
    pub fn init_cpu(&self, slot: &CpuChannel, timers: &[u32]) -> Result<(), GicError> {
        match self {
            Self::Absent => Ok(()),
            Self::V2(gic) => {
                gic.init_cpu(slot, timers);
                Ok(())
            }
            Self::V3(gic) => gic.init_cpu(slot, timers),
        }
    }

    /// Sends the wake-up SGI to another CPU.
    pub fn ring(&self, target: &CpuChannel) {
        self.ring_at_once(core::iter::once(target));
    }

    /// Sends the wake-up SGI to several CPUs, by as few writes as name them: one
    /// with GICv2, one for each cluster with GICv3.
    pub fn ring_at_once<'s>(&self, targets: impl Iterator<Item = &'s CpuChannel>) {
        instructions::complete_accesses();
        match self {
            Self::Absent => {}
            Self::V2(gic) => gic.ring(targets),
            Self::V3(_) => v3::GicV3::ring(targets.map(|target| target.mpidr)),
        }
        instructions::complete_accesses();
    }

    /// How the CPU of `slot` sends itself an SGI; None without a GIC, or where
    /// that can not name the CPU.
    pub fn own_sgi(&self, slot: &CpuChannel) -> Option<OwnSgi> {
        match self {
            Self::Absent => None,
            Self::V2(gic) => Some(gic.own_sgi()),
            Self::V3(_) => v3::GicV3::own_sgi(slot.mpidr),
        }
    }

    /// The lead's: lets an SPI, level-sensitive, come to the CPU of `slot`,
    /// whose part of the GIC is set up. False when it is not to be had.
    pub fn enable_spi(&self, intid: u32, slot: &CpuChannel) -> bool {
        let target = match self {
            Self::Absent => return false,
            Self::V2(_) => Target::List(slot.gic.load(Ordering::Relaxed) as u8),
            Self::V3(_) => Target::Affinity(slot.mpidr),
        };
        let enable = |mut bus| spi::enable(&mut bus, intid, target, PRIORITY);
        self.distributor().is_some_and(enable)
    }

    /// The lead's: lets it come no more. False when the GIC does not get that
    /// done.
    pub fn disable_spi(&self, intid: u32) -> bool {
        let disable = |mut bus| spi::disable(&mut bus, intid);
        self.distributor().is_some_and(disable)
    }

    fn distributor(&self) -> Option<Mmio> {
        // Of the registers of SPIs the lead alone makes use, here; whatever
        // else of the distributor is written elsewhere is not touched.
        match self {
            Self::Absent => None,
            Self::V2(gic) => Some(Mmio::new(gic.distributor)),
            Self::V3(gic) => Some(Mmio::new(gic.distributor)),
        }
    }

    /// Acknowledges the interrupt that is pending, if one is; it is to be
    /// completed.
    pub fn claim(&self) -> Option<Claim> {
        match self {
            Self::Absent => None,
            Self::V2(gic) => gic.claim().map(Claim),
            Self::V3(_) => v3::GicV3::claim().map(Claim),
        }
    }

    /// Ends it.
    pub fn complete(&self, claim: Claim) {
        match self {
            Self::Absent => {}
            Self::V2(gic) => gic.complete(claim.0),
            Self::V3(_) => v3::GicV3::complete(claim.0),
        }
    }

    /// Acknowledges and ends the interrupt that is pending, if one is.
    pub fn acknowledge(&self) -> Option<u32> {
        let claim = self.claim()?;
        let intid = self.intid(&claim);
        self.complete(claim);
        Some(intid)
    }

    /// Which interrupt it is.
    pub fn intid(&self, claim: &Claim) -> u32 {
        match self {
            // The other bits are the source CPU's number.
            Self::V2(_) => claim.0 & 0x3ff,
            _ => claim.0,
        }
    }

    /// Acknowledges and ends what is pending, until nothing is. False when
    /// something stays.
    pub fn drain(&self) -> bool {
        for _ in 0..DRAIN_LIMIT {
            if self.acknowledge().is_none() {
                break;
            }
        }
        instructions::complete_accesses();
        (0..SETTLE_POLLS).any(|_| !instructions::is_interrupt_pending())
    }
}
