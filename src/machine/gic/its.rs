//! The interrupt translation service (ITS), which sends LPIs to the lead. Only the lead uses it,
//! and only if the plan measures LPIs.

use core::sync::atomic::AtomicU64;

use hardware::board::Region;
use hardware::devices::Bus;
use hardware::devices::its::{self, FRAME, GITS_CWRITER, ItsTables, LPI, NoLpi};
use hardware::devices::redistributor::GICR_PIDR2;
use spin::Once;

use crate::machine::cpu::cache_lines;
use crate::machine::gic::controller::GicDriver;
use crate::machine::gic::target::GicCpu;
use crate::machine::memory::mmio::{MappedRegisters, Mmio};
use crate::machine::memory::probe;
use crate::machine::memory::tables::TranslationTables;

/// The ITS and the memory for its tables. Holding one proves that its registers are mapped, not
/// that it responds: [`Self::enable`] finds that out.
pub struct ItsDriver {
    registers: MappedRegisters,
    tables: ItsTables<'static>,
    enabled: Once<Result<(), NoLpi>>,
}

impl ItsDriver {
    /// Maps the ITS that the device tree describes. Does not access it yet.
    pub fn map(
        tables: &mut TranslationTables,
        region: Option<Region>,
        words: &'static [AtomicU64],
    ) -> Result<Self, NoLpi> {
        let region = region.ok_or(NoLpi::NotInTree)?;
        let unusable = |_| NoLpi::NotInTree;
        let mapped = MappedRegisters::map(tables, region).map_err(unusable)?;
        Ok(Self {
            registers: mapped.require_size(FRAME).map_err(unusable)?,
            tables: ItsTables::new(words).ok_or(NoLpi::NotInTree)?,
            enabled: Once::new(),
        })
    }

    /// Enables LPIs on the lead, whose part of the GIC is `own`. Later calls return the first result.
    pub fn enable(&self, gic: &GicDriver, own: &GicCpu) -> Result<(), NoLpi> {
        *self.enabled.call_once(|| {
            let GicDriver::V3(gic) = gic else {
                return Err(NoLpi::NotInTree);
            };
            let redistributor = gic.own_redistributor(own).ok_or(NoLpi::Unresponsive)?;
            probe::try_read_word(self.registers.region().base + GICR_PIDR2)
                .ok_or(NoLpi::Unresponsive)?;
            its::enable_lpi(
                &mut Mmio::new(self.registers),
                &mut Mmio::new(redistributor),
                redistributor.region().base,
                &self.tables,
                // SAFETY: the tables are ordinary memory, borrowed by ItsTables.
                &|tables| unsafe { cache_lines::evict(tables.addresses()) },
            )
        })
    }

    /// Returns the arguments of the loop that sends LPIs: the address of GITS_CWRITER, its value,
    /// and the LPI's INTID. Returns None if LPIs are not enabled.
    pub fn loop_lpi(&self) -> Option<[u64; 3]> {
        self.enabled.get()?.ok()?;
        let written = Mmio::new(self.registers).read_double(GITS_CWRITER);
        let address = self.registers.region().base + GITS_CWRITER;
        Some([address, written, LPI.into()])
    }
}
