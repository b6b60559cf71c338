//! GICv2, by the sequences of [`gicv2`].

use core::sync::atomic::Ordering;

use psci_bench::devices::gicv2::{self, GICC_EOIR, GICC_IAR, GICD_SGIR};

use crate::machine::gic::target::{GicCpu, OwnSgi, PRIORITY, WAKE_SGI};
use crate::machine::memory::mmio::{Mmio, Registers};
use crate::machine::memory::tables::MapError;

/// The registers of distributor and CPU interface. Each CPU sees its own banked
/// ones there. Of the shared ones, the lead alone writes GICD_CTLR and the registers
/// of one SPI; GICD_SGIR takes single writes from any CPU.
pub struct GicV2 {
    /// All registers of the distributor.
    pub distributor: Registers,
    cpu_interface: Registers,
}

impl GicV2 {
    /// # Errors
    /// Where one of the two is too small.
    pub fn new(distributor: Registers, cpu_interface: Registers) -> Result<Self, MapError> {
        distributor.register_at::<u32>(GICD_SGIR.into())?;
        cpu_interface.register_at::<u32>(GICC_EOIR.into())?;
        Ok(Self {
            distributor,
            cpu_interface,
        })
    }

    pub fn init_distributor(&self) {
        gicv2::enable_distributor(&mut Mmio::new(self.distributor));
    }

    pub fn init_cpu(&self, own: &GicCpu, timers: &[u32]) {
        let gicd = &mut Mmio::new(self.distributor);
        let bit = gicv2::reset_private_interrupts(gicd, timers, WAKE_SGI, PRIORITY);
        own.place.store(bit.into(), Ordering::Release);
        gicv2::enable_private_interrupts(gicd, timers, WAKE_SGI);
        gicv2::enable_cpu_interface(&mut Mmio::new(self.cpu_interface));
    }

    /// Sends the wake-up SGI to several CPUs by one write: GICD_SGIR has a bit for
    /// each.
    pub fn send_wake_sgis<'c>(&self, targets: impl Iterator<Item = &'c GicCpu>) {
        let bits = targets.map(|target| target.place.load(Ordering::Acquire) as u8);
        let list = bits.fold(0, |list, bit| list | bit);
        let value = gicv2::sgi_value(list, WAKE_SGI);
        gicv2::send_sgi(&mut Mmio::new(self.distributor), value);
    }

    /// Returns the accesses of an SGI to the CPU itself.
    pub fn own_sgi(&self) -> OwnSgi {
        OwnSgi::Registers {
            value: gicv2::own_sgi_value(WAKE_SGI).into(),
            sgir: self.distributor.region().base + u64::from(GICD_SGIR),
            iar: self.cpu_interface.region().base + u64::from(GICC_IAR),
        }
    }

    /// Acknowledges an interrupt; returns GICC_IAR as read.
    pub fn acknowledge(&self) -> Option<u32> {
        gicv2::acknowledge(&mut Mmio::new(self.cpu_interface))
    }

    /// Ends an interrupt by GICC_IAR as read, with the number of the source CPU.
    pub fn end(&self, iar: u32) {
        gicv2::end(&mut Mmio::new(self.cpu_interface), iar);
    }
}
