//! GICv2 (IHI 0048B): banked registers in the distributor, and a CPU
//! interface at one address that each CPU sees its own of.
//!
//! All sequences work in the non-secure view and without the Security Extension:
//! groups are left alone, and bit 0 of both control registers enables the group of
//! this view.

use core::ptr::NonNull;
use core::sync::atomic::Ordering;

use psci_bench::devices::gicv2;
use safe_mmio::fields::{ReadOnly, ReadPure, ReadPureWrite, WriteOnly};
use safe_mmio::{UniqueMmioPointer, field, field_shared, split_fields};

use crate::machine::gic::target::{Acknowledged, GicCpu, GicError, PRIORITY, WAKE_SGI};
use crate::machine::memory::mmio::{Mmio, Registers};
use crate::machine::memory::tables::MapError;

/// The distributor's registers that are used (IHI 0048B, table 4-1), those
/// of private interrupts banked.
#[repr(C)]
struct Distributor {
    /// 0x000 GICD_CTLR.
    ctlr: ReadPureWrite<u32>,
    _0: [u32; 63],
    /// 0x100 GICD_ISENABLER0.
    isenabler0: ReadPureWrite<u32>,
    _1: [u32; 31],
    /// 0x180 GICD_ICENABLER0.
    icenabler0: ReadPureWrite<u32>,
    _2: [u32; 159],
    /// 0x400 GICD_IPRIORITYR0 to 7: the 32 private interrupts.
    ipriorityr: [ReadPureWrite<u32>; 8],
    _3: [u32; 248],
    /// 0x800 GICD_ITARGETSR0: reads as this CPU's own bit in each byte.
    itargetsr0: ReadPure<u32>,
    _4: [u32; 447],
    /// 0xf00 GICD_SGIR.
    sgir: WriteOnly<u32>,
}

/// The CPU interface's registers that are used (table 4-2).
#[repr(C)]
struct CpuInterface {
    _0: [u32; 3],
    /// 0x0c GICC_IAR: reading acknowledges.
    iar: ReadOnly<u32>,
    /// 0x10 GICC_EOIR.
    eoir: WriteOnly<u32>,
}

pub struct GicV2 {
    pub distributor: Registers,
    gicd: NonNull<Distributor>,
    gicc: Registers,
    cpu_interface: NonNull<CpuInterface>,
}

// SAFETY: plain addresses of what is mapped as devices. Each CPU sees its own
// banked registers there. Of the shared ones, the lead alone writes GICD_CTLR,
// when it is set up and again after SYSTEM_SUSPEND, and the registers of one SPI,
// in rounds, while others are on; GICD_SGIR takes single writes from any.
unsafe impl Sync for GicV2 {}
// SAFETY: as for Sync: an address is the same on every CPU.
unsafe impl Send for GicV2 {}

impl GicV2 {
    /// Fails where one of the two is too small.
    pub fn new(distributor: Registers, cpu_interface: Registers) -> Result<Self, MapError> {
        Ok(Self {
            distributor,
            gicd: distributor.register_at(0)?,
            gicc: cpu_interface,
            cpu_interface: cpu_interface.register_at(0)?,
        })
    }

    fn registers(&self) -> UniqueMmioPointer<'_, Distributor> {
        // SAFETY: Registers::register_at() gave it, so all of it is mapped as a device;
        // see Sync for who writes what.
        unsafe { UniqueMmioPointer::new(self.gicd) }
    }

    fn cpu_interface(&self) -> UniqueMmioPointer<'_, CpuInterface> {
        // SAFETY: Registers::register_at() gave it, so all of it is mapped as a device;
        // every CPU reaches its own.
        unsafe { UniqueMmioPointer::new(self.cpu_interface) }
    }

    pub fn init_distributor(&self) -> Result<(), GicError> {
        let mut gicd = self.registers();
        let enabled = field_shared!(gicd, ctlr).read() | 1;
        field!(gicd, ctlr).write(enabled);
        Ok(())
    }

    pub fn init_cpu(&self, own: &GicCpu, timers: &[u32]) -> Result<(), GicError> {
        let mut gicd = self.registers();
        field!(gicd, icenabler0).write(!0);
        // SAFETY: the fields of one register block are distinct.
        let fields = unsafe { split_fields!(gicd, ipriorityr, isenabler0, itargetsr0) };
        let (mut priorities, mut enable, targets) = fields;
        let word = u32::from_ne_bytes([PRIORITY; 4]);
        let mut enabled = 0;
        let mut add = |intid: u32| {
            enabled |= 1 << intid;
            // All four of the word: the others are disabled anyway.
            if let Some(mut four) = priorities.get(intid as usize / 4) {
                four.write(word);
            }
        };
        timers.iter().for_each(|intid| add(*intid));
        add(WAKE_SGI);
        // A single CPU's GIC reads 0 there: then any target bit will do.
        let bit = targets.read() & 0xff;
        own.place.store(u64::from(bit.max(1)), Ordering::Release);
        enable.write(enabled);

        gicv2::enable_cpu_interface(&mut Mmio::new(self.gicc));
        Ok(())
    }

    /// Sends the wake-up SGI to several CPUs by one write: GICD_SGIR has a bit for each.
    pub fn send_wake_sgis<'c>(&self, targets: impl Iterator<Item = &'c GicCpu>) {
        let bits = targets.map(|target| target.place.load(Ordering::Acquire) as u32);
        let list = bits.fold(0, |list, bit| list | bit);
        let mut gicd = self.registers();
        field!(gicd, sgir).write(list << 16 | WAKE_SGI);
    }

    /// Returns the value for an SGI to the CPU itself: TargetListFilter (bits 25:24 of
    /// GICD_SGIR) is 2. The addresses of GICD_SGIR and of GICC_IAR follow.
    pub fn own_sgi(&self, _: &GicCpu) -> Option<[u64; 3]> {
        let iar = core::mem::offset_of!(CpuInterface, iar) as u64;
        let sgir = core::mem::offset_of!(Distributor, sgir) as u64;
        let gicd = self.gicd.as_ptr() as u64;
        let gicc = self.cpu_interface.as_ptr() as u64;
        Some([u64::from(2 << 24 | WAKE_SGI), gicd + sgir, gicc + iar])
    }

    pub fn acknowledge(&self) -> Option<Acknowledged> {
        let mut gicc = self.cpu_interface();
        let register = field!(gicc, iar).read();
        // The other bits are the source CPU's number. 1020 to 1023 are special: nothing
        // is pending for this view.
        let intid = register & 0x3ff;
        (intid < 1020).then_some(Acknowledged { intid, register })
    }

    pub fn end(&self, acknowledged: Acknowledged) {
        let mut gicc = self.cpu_interface();
        field!(gicc, eoir).write(acknowledged.register);
    }
}
