//! GICv2 (IHI 0048B): banked registers in the distributor, and a CPU
//! interface at one address that each CPU sees its own of.
//!
//! All sequences work in the non-secure view and without the Security Extension:
//! groups are left alone, and bit 0 of both control registers enables the group of
//! this view.

use core::sync::atomic::Ordering;

use psci_bench::devices::{Bus, Width, gicv2};

use crate::machine::gic::target::{GicCpu, OwnSgi, PRIORITY, WAKE_SGI};
use crate::machine::memory::mmio::{Mmio, Registers};
use crate::machine::memory::tables::MapError;

// Offsets of the distributor's registers (IHI 0048B, table 4-1); those of private
// interrupts are banked.
const GICD_CTLR: u64 = 0x000;
const GICD_ISENABLER0: u64 = 0x100;
const GICD_ICENABLER0: u64 = 0x180;
/// A byte for each interrupt.
const GICD_IPRIORITYR: u64 = 0x400;
/// Reads as this CPU's own bit in each byte.
const GICD_ITARGETSR0: u64 = 0x800;
const GICD_SGIR: u64 = 0xf00;

// Offsets of the CPU interface's registers (table 4-2).
/// Reading it acknowledges.
const GICC_IAR: u64 = 0x0c;
const GICC_EOIR: u64 = 0x10;

/// A GICv2. Of the registers that CPUs share, the lead alone writes GICD_CTLR, when it
/// is set up and again after SYSTEM_SUSPEND, and the registers of one SPI, in rounds,
/// while others are on; GICD_SGIR takes single writes from any.
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

    fn write(&self, offset: u64, value: u32) {
        Mmio::new(self.distributor).write(offset, Width::Word, value);
    }

    fn read(&self, offset: u64) -> u32 {
        Mmio::new(self.distributor).read(offset, Width::Word)
    }

    pub fn init_distributor(&self) {
        self.write(GICD_CTLR, self.read(GICD_CTLR) | 1);
    }

    pub fn init_cpu(&self, own: &GicCpu, timers: &[u32]) {
        self.write(GICD_ICENABLER0, !0);
        let mut enabled = 0;
        for intid in timers.iter().copied().chain([WAKE_SGI]) {
            enabled |= 1 << intid;
            // All four of the word: the others are disabled anyway.
            let word = u64::from(intid & !3);
            self.write(GICD_IPRIORITYR + word, u32::from_ne_bytes([PRIORITY; 4]));
        }
        // A single CPU's GIC reads 0 there: then any target bit will do.
        let bit = self.read(GICD_ITARGETSR0) & 0xff;
        own.place.store(u64::from(bit.max(1)), Ordering::Release);
        self.write(GICD_ISENABLER0, enabled);

        gicv2::enable_cpu_interface(&mut Mmio::new(self.cpu_interface));
    }

    /// Sends the wake-up SGI to several CPUs by one write: GICD_SGIR has a bit for each.
    pub fn send_wake_sgis<'c>(&self, targets: impl Iterator<Item = &'c GicCpu>) {
        let bits = targets.map(|target| target.place.load(Ordering::Acquire) as u32);
        let list = bits.fold(0, |list, bit| list | bit);
        self.write(GICD_SGIR, list << 16 | WAKE_SGI);
    }

    /// Returns the accesses of an SGI to the CPU itself: TargetListFilter (bits 25:24 of
    /// GICD_SGIR) is 2.
    pub fn own_sgi(&self) -> OwnSgi {
        OwnSgi::Registers {
            value: u64::from(2 << 24 | WAKE_SGI),
            sgir: self.distributor.region().base + GICD_SGIR,
            iar: self.cpu_interface.region().base + GICC_IAR,
        }
    }

    /// Acknowledges an interrupt; returns GICC_IAR as read.
    pub fn acknowledge(&self) -> Option<u32> {
        let iar = Mmio::new(self.cpu_interface).read(GICC_IAR, Width::Word);
        // 1020 to 1023 are special: nothing is pending for this view.
        (iar & 0x3ff < 1020).then_some(iar)
    }

    /// Ends an interrupt by GICC_IAR as read, with the number of the source CPU.
    pub fn end(&self, iar: u32) {
        Mmio::new(self.cpu_interface).write(GICC_EOIR, Width::Word, iar);
    }
}
