//! GICv2 (IHI 0048B): banked registers in the distributor, and a CPU
//! interface at one address that each CPU sees its own of.
//!
//! All sequences work in the non-secure view and without the Security Extension:
//! groups are left alone, and bit 0 of both control registers enables the group of
//! this view. Of the registers that CPUs share, the lead alone writes GICD_CTLR, when it
//! is set up and again after SYSTEM_SUSPEND, and the registers of one SPI, in rounds,
//! while others are on; GICD_SGIR takes single writes from any.

use core::sync::atomic::Ordering;

use psci_bench::devices::{Bus, Width, gicv2};

use crate::machine::gic::target::{Acknowledged, GicCpu, GicError, PRIORITY, WAKE_SGI};
use crate::machine::memory::mmio::{Mmio, Registers};
use crate::machine::memory::tables::MapError;

/// Registers of the distributor (table 4-1); those of private interrupts are banked.
const GICD_CTLR: u64 = 0x0;
const GICD_ISENABLER0: u64 = 0x100;
const GICD_ICENABLER0: u64 = 0x180;
const GICD_IPRIORITYR: u64 = 0x400;
/// Reads as this CPU's own bit in each byte.
const GICD_ITARGETSR0: u64 = 0x800;
const GICD_SGIR: u64 = 0xf00;

/// Registers of the CPU interface (table 4-2). Reading GICC_IAR acknowledges.
const GICC_IAR: u64 = 0xc;
const GICC_EOIR: u64 = 0x10;

pub struct GicV2 {
    pub distributor: Registers,
    cpu_interface: Registers,
}

impl GicV2 {
    /// Fails where one of the two is too small.
    pub fn new(distributor: Registers, cpu_interface: Registers) -> Result<Self, MapError> {
        distributor.register_at::<u32>(GICD_SGIR)?;
        cpu_interface.register_at::<u32>(GICC_EOIR)?;
        Ok(Self {
            distributor,
            cpu_interface,
        })
    }

    fn gicd(&self) -> Mmio {
        Mmio::new(self.distributor)
    }

    fn gicc(&self) -> Mmio {
        Mmio::new(self.cpu_interface)
    }

    pub fn init_distributor(&self) -> Result<(), GicError> {
        let enabled = self.gicd().read(GICD_CTLR, Width::Word) | 1;
        self.gicd().write(GICD_CTLR, Width::Word, enabled);
        Ok(())
    }

    pub fn init_cpu(&self, own: &GicCpu, timers: &[u32]) -> Result<(), GicError> {
        let mut gicd = self.gicd();
        gicd.write(GICD_ICENABLER0, Width::Word, !0);
        let mut enabled = 0;
        for intid in timers.iter().copied().chain([WAKE_SGI]) {
            enabled |= 1 << intid;
            // All four of the word: the others are disabled anyway.
            let four = GICD_IPRIORITYR + u64::from(intid & !3);
            gicd.write(four, Width::Word, u32::from_ne_bytes([PRIORITY; 4]));
        }
        // A single CPU's GIC reads 0 there: then any target bit will do.
        let bit = gicd.read(GICD_ITARGETSR0, Width::Word) & 0xff;
        own.place.store(u64::from(bit.max(1)), Ordering::Release);
        gicd.write(GICD_ISENABLER0, Width::Word, enabled);
        gicv2::enable_cpu_interface(&mut self.gicc());
        Ok(())
    }

    /// Sends the wake-up SGI to several CPUs by one write: GICD_SGIR has a bit for each.
    pub fn send_wake_sgis<'c>(&self, targets: impl Iterator<Item = &'c GicCpu>) {
        let bits = targets.map(|target| target.place.load(Ordering::Acquire) as u32);
        let list = bits.fold(0, |list, bit| list | bit);
        self.gicd()
            .write(GICD_SGIR, Width::Word, list << 16 | WAKE_SGI);
    }

    /// Returns the value for an SGI to the CPU itself: TargetListFilter (bits 25:24 of
    /// GICD_SGIR) is 2. The addresses of GICD_SGIR and of GICC_IAR follow.
    pub fn own_sgi(&self, _: &GicCpu) -> Option<[u64; 3]> {
        let (gicd, gicc) = (self.distributor.region(), self.cpu_interface.region());
        let value = u64::from(2 << 24 | WAKE_SGI);
        Some([value, gicd.base + GICD_SGIR, gicc.base + GICC_IAR])
    }

    pub fn acknowledge(&self) -> Option<Acknowledged> {
        let register = self.gicc().read(GICC_IAR, Width::Word);
        // The other bits are the source CPU's number. 1020 to 1023 are special: nothing
        // is pending for this view.
        let intid = register & 0x3ff;
        (intid < 1020).then_some(Acknowledged { intid, register })
    }

    pub fn end(&self, acknowledged: Acknowledged) {
        self.gicc()
            .write(GICC_EOIR, Width::Word, acknowledged.register);
    }
}
