//! GICv2. Some distributor registers are banked per CPU. All CPU interfaces share one address; each
//! CPU accesses its own.

use core::sync::atomic::Ordering;

use hardware::devices::gicv2::{self, CPU_INTERFACE_SIZE, DISTRIBUTOR_SIZE, GICC_IAR, GICD_SGIR};
use hardware::devices::private_interrupts::{PrivateInterrupts, PrivateSettings};

use crate::machine::gic::target::{Acknowledged, GicCpu, GicError, PRIORITY, WAKE_SGI};
use crate::machine::memory::mmio::{MappedRegisters, Mmio};
use crate::machine::memory::tables::MapError;

/// The addresses of the distributor and the CPU interface. GICD_CTLR, the SPI registers and
/// GICD_SGIR are not banked. Only the lead writes GICD_CTLR (at set-up and again after
/// SYSTEM_SUSPEND) and the SPI registers (at set-up, and in rounds while other CPUs are on). Any
/// CPU may write GICD_SGIR, with single stores.
pub struct GicV2Driver {
    pub distributor: MappedRegisters,
    cpu_interface: MappedRegisters,
}

impl GicV2Driver {
    /// Returns an error if either region is too small.
    pub fn new(
        distributor: MappedRegisters,
        cpu_interface: MappedRegisters,
    ) -> Result<Self, MapError> {
        Ok(Self {
            distributor: distributor.require_size(DISTRIBUTOR_SIZE)?,
            cpu_interface: cpu_interface.require_size(CPU_INTERFACE_SIZE)?,
        })
    }

    fn distributor(&self) -> Mmio {
        Mmio::new(self.distributor)
    }

    fn cpu_interface(&self) -> Mmio {
        Mmio::new(self.cpu_interface)
    }

    pub fn init_distributor(&self) -> Result<(), GicError> {
        gicv2::forward_interrupts(&mut self.distributor());
        Ok(())
    }

    pub fn init_cpu(&self, own: &GicCpu, enabled: u32) -> Result<(), GicError> {
        let gicd = &mut self.distributor();
        let bit = gicv2::set_up_private_interrupts(gicd, enabled, PRIORITY);
        own.redistributor_or_bit
            .store(bit.into(), Ordering::Release);
        gicv2::enable_cpu_interface(&mut self.cpu_interface());
        Ok(())
    }

    pub fn private_settings(&self, _: &GicCpu) -> Option<PrivateSettings> {
        Some(PrivateInterrupts::BANKED.read_settings(&mut self.distributor()))
    }

    /// Sends the wake-up SGI to several CPUs with one write: GICD_SGIR has a bit for each CPU.
    pub fn send_wake_sgis<'c>(&self, targets: impl Iterator<Item = &'c GicCpu>) {
        let bits = targets.map(|target| target.redistributor_or_bit.load(Ordering::Acquire) as u8);
        let list = bits.fold(0, |list, bit| list | bit);
        gicv2::send_sgi(&mut self.distributor(), list, WAKE_SGI);
    }

    /// Returns the value that sends an SGI to the other CPU, or to the CPU itself if it is None,
    /// and the addresses of GICD_SGIR and GICC_IAR.
    pub fn loop_sgi(&self, _: &GicCpu, other: Option<&GicCpu>) -> Option<[u64; 3]> {
        let list = |other: &GicCpu| other.redistributor_or_bit.load(Ordering::Acquire) as u8;
        let value = match other {
            Some(other) => gicv2::sgi_to(list(other), WAKE_SGI),
            None => gicv2::own_sgi(WAKE_SGI),
        };
        let sgir = self.distributor.region().base + u64::from(GICD_SGIR.offset());
        Some([value.into(), sgir, self.iar()])
    }

    /// Returns the address of GICC_IAR.
    pub fn iar(&self) -> u64 {
        self.cpu_interface.region().base + u64::from(GICC_IAR.offset())
    }

    pub fn acknowledge(&self) -> Option<Acknowledged> {
        let (intid, register) = gicv2::acknowledge(&mut self.cpu_interface())?;
        Some(Acknowledged { intid, register })
    }

    pub fn end(&self, acknowledged: Acknowledged) {
        gicv2::end(&mut self.cpu_interface(), acknowledged.register);
    }
}
