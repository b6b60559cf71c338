//! GICv3 and later (IHI 0069): a redistributor for each CPU, and a CPU interface in system
//! registers, accessed through the `arm-gic` crate.
//!
//! That crate's memory-mapped registers are not used, because its loads do not have acquire
//! semantics ([`Mmio`]), and because it numbers redistributors by their order in memory, which need
//! not match the order of the CPUs. In this program, each CPU may access only its own
//! redistributor. The redistributor frame is therefore looked up once, using the affinity in
//! GICR_TYPER, and stored in [`GicCpu`].

use core::sync::atomic::Ordering;

use aarch64_cpu::registers::{Readable, Writeable};
use arm_gic::gicv3::{GicCpuInterface, InterruptGroup};
use arrayvec::ArrayVec;
use hardware::board::{IntId, Mpidr, REDISTRIBUTOR_REGIONS_MAX, Region};
use hardware::devices::private_interrupts::{PrivateInterrupts, PrivateSettings};
use hardware::devices::redistributor::{self, GICR_PIDR2, is_redistributor};
use hardware::devices::{gicv3, sgi};

use crate::machine::cpu::sysreg::{
    ICC_AP1R0_EL1, ICC_AP1R1_EL1, ICC_AP1R2_EL1, ICC_AP1R3_EL1, ICC_BPR1_EL1, ICC_CTLR_EL1,
    ICC_EOIR1_EL1, ICC_SGI1R_EL1, ICC_SRE_EL1,
};
use crate::machine::cpu::{instructions, registers};
use crate::machine::gic::target::{Acknowledged, GicCpu, GicError, PRIORITY, WAKE_SGI};
use crate::machine::memory::mmio::{MappedRegisters, Mmio};
use crate::machine::memory::probe;
use crate::machine::memory::tables::MapError;

/// The addresses of the distributor and the redistributors. Only the lead accesses the distributor.
/// Each CPU accesses its own redistributor, and reads only the constant registers of the others
/// (GICR_PIDR2, GICR_TYPER).
pub struct GicV3Driver {
    pub distributor: MappedRegisters,
    redistributors: ArrayVec<MappedRegisters, REDISTRIBUTOR_REGIONS_MAX>,
    stride: Option<u64>,
}

impl GicV3Driver {
    pub fn new(
        distributor: MappedRegisters,
        redistributors: ArrayVec<MappedRegisters, REDISTRIBUTOR_REGIONS_MAX>,
        stride: Option<u64>,
    ) -> Result<Self, MapError> {
        Ok(Self {
            distributor: distributor.require_size(gicv3::DISTRIBUTOR_SIZE)?,
            redistributors,
            stride,
        })
    }

    pub fn init_distributor(&self) -> Result<(), GicError> {
        let is_done = gicv3::forward_interrupts(&mut Mmio::new(self.distributor));
        is_done.then_some(()).ok_or(GicError::Timeout)
    }

    pub fn init_cpu(&self, own: &GicCpu, enabled: u32) -> Result<(), GicError> {
        if !probe::has_icc_sre() {
            return Err(GicError::NoSystemRegisters);
        }
        if registers::exception_level() == 2 {
            GicCpuInterface::enable_system_register_el2(true, true);
            instructions::complete_accesses();
        }
        GicCpuInterface::enable_system_register_el1(true);
        instructions::complete_accesses();
        if !ICC_SRE_EL1.is_set(ICC_SRE_EL1::SRE) {
            return Err(GicError::NoSystemRegisters);
        }

        let base = self.locate(own)?;
        let frame = self.registers(base).ok_or(GicError::NoRedistributor)?;
        // find() found a redistributor with this CPU's affinity at `base`, and no other CPU uses
        // it.
        let gicr = &mut Mmio::new(frame);
        if !redistributor::power_on_and_wake(gicr) {
            return Err(GicError::Asleep);
        }
        if !gicv3::set_up_private_interrupts(gicr, enabled, PRIORITY) {
            return Err(GicError::Timeout);
        }
        // The reset values of these registers are undefined. An EOI also deactivates the interrupt
        // (EOImode 0), and all priority bits determine preemption.
        ICC_CTLR_EL1.set(0);
        ICC_BPR1_EL1.set(0);
        clear_active_priorities();
        GicCpuInterface::set_priority_mask(0xff);
        GicCpuInterface::enable_group1(true);
        instructions::complete_accesses();
        Ok(())
    }

    pub fn private_settings(&self, own: &GicCpu) -> Option<PrivateSettings> {
        let frame = self.own_redistributor(own)?;
        Some(PrivateInterrupts::SGI_FRAME.read_settings(&mut Mmio::new(frame)))
    }

    /// Returns the address of a CPU's redistributor. Any CPU may call this function.
    pub fn locate(&self, cpu: &GicCpu) -> Result<u64, GicError> {
        match cpu.redistributor_or_bit.load(Ordering::Relaxed) {
            0 => {
                let found = self.find(cpu.mpidr)?;
                cpu.redistributor_or_bit.store(found, Ordering::Relaxed);
                Ok(found)
            }
            found => Ok(found),
        }
    }

    /// Returns the registers of this CPU's redistributor.
    pub fn own_redistributor(&self, own: &GicCpu) -> Option<MappedRegisters> {
        self.registers(self.locate(own).ok()?)
    }

    fn registers(&self, base: u64) -> Option<MappedRegisters> {
        let size = redistributor::STRIDE;
        let mut regions = self.redistributors.iter();
        regions.find_map(|region| region.subset(Region { base, size }))
    }

    fn find(&self, cpu: Mpidr) -> Result<u64, GicError> {
        let typer = &mut |base: u64| {
            // A region may be larger than the redistributors it contains.
            probe::try_read_word(base + GICR_PIDR2).filter(|pidr2| is_redistributor(*pidr2))?;
            let registers = self.registers(base)?;
            Some(redistributor::read_type(&mut Mmio::new(registers)))
        };
        let regions = self.redistributors.iter().map(|frames| frames.region());
        let found = redistributor::find_redistributor(regions, self.stride, cpu, typer);
        found.ok_or(GicError::NoRedistributor)
    }

    /// Sends the wake-up SGI to these CPUs if the register can address them. A CPU that does not
    /// receive its SGI reports this (`woken-by-fallback`).
    pub fn send_wake_sgis<'c>(&self, targets: impl Iterator<Item = &'c GicCpu>) {
        let mut held: Option<u64> = None;
        for value in targets.filter_map(|target| wake_sgi(target.mpidr)) {
            let Some(earlier) = held else {
                held = Some(value);
                continue;
            };
            if let Some(merged) = sgi::merge_targets(earlier, value) {
                held = Some(merged);
            } else {
                ICC_SGI1R_EL1.set(earlier);
                held = Some(value);
            }
        }
        if let Some(last) = held {
            ICC_SGI1R_EL1.set(last);
        }
    }

    /// Returns the value that sends an SGI to the other CPU, or to the CPU itself if it is None.
    /// Returns None if the register cannot address it.
    pub fn loop_sgi(&self, own: &GicCpu, other: Option<&GicCpu>) -> Option<[u64; 3]> {
        wake_sgi(other.unwrap_or(own).mpidr).map(|value| [value, 0, 0])
    }

    pub fn acknowledge(&self) -> Option<Acknowledged> {
        let acknowledged = GicCpuInterface::get_and_acknowledge_interrupt(InterruptGroup::Group1)?;
        let intid = IntId::new(acknowledged.into());
        // The crate recognizes only one of the special INTIDs.
        if intid.is_special() {
            return None;
        }
        let register = intid.number();
        Some(Acknowledged { intid, register })
    }

    pub fn end(&self, acknowledged: Acknowledged) {
        ICC_EOIR1_EL1.set(acknowledged.register.into());
    }
}

/// Clears the active priorities of interrupts that an earlier stage acknowledged but never
/// completed. Otherwise, these interrupts would block all others with the same priority. The number
/// of active priority registers depends on the number of priority bits, and accesses to nonexistent
/// registers are UNDEFINED.
fn clear_active_priorities() {
    let bits = ICC_CTLR_EL1.read(ICC_CTLR_EL1::PRIBITS) + 1;
    ICC_AP1R0_EL1.set(0);
    if bits > 5 {
        ICC_AP1R1_EL1.set(0);
    }
    if bits > 6 {
        ICC_AP1R2_EL1.set(0);
        ICC_AP1R3_EL1.set(0);
    }
}

/// Returns the ICC_SGI1R_EL1 value for this target, or None if this CPU cannot address it.
fn wake_sgi(target: Mpidr) -> Option<u64> {
    sgi::sgi_for_cpu(target, WAKE_SGI, ICC_CTLR_EL1.get())
}
