//! Device registers, accessed with single loads and stores.
//!
//! Loads have acquire semantics, because on Cortex-A57 r0p0 to r1p2 (Juno r0 and r1), a plain load
//! from Device memory next to an exclusive access to write-back memory may never complete (erratum
//! 832075). Each access is one instruction with only a base register, which a hypervisor can
//! emulate. A compiler may turn volatile accesses into instructions that a hypervisor cannot
//! emulate.

use core::arch::asm;

use hardware::board::Region;
use hardware::devices::{Bus, Width};

use crate::machine::cpu::instructions::relax;
use crate::machine::memory::tables::{MapError, Mapping, TranslationTables};

/// A device's registers.
///
/// Holding a value proves that the region is permanently mapped as device memory, that it never
/// contains program data, and that an access affects only the device. It does not prove that a
/// device is there, that it has registers everywhere in the region, or that no other driver uses
/// it: the value can be copied.
#[derive(Clone, Copy)]
pub struct MappedRegisters(Region);

impl MappedRegisters {
    /// Maps a device's registers. Returns an error if a page is in use as memory or the tables are
    /// exhausted.
    pub fn map(tables: &mut TranslationTables, region: Region) -> Result<Self, MapError> {
        tables.map(region, Mapping::Device)?;
        Ok(Self(region))
    }

    pub const fn region(self) -> Region {
        self.0
    }

    /// Returns the registers in `region`, or None if the region is not entirely within these
    /// registers.
    pub fn subset(self, region: Region) -> Option<Self> {
        self.0.contains(&region).then_some(Self(region))
    }

    /// Returns an error if the region is misaligned or too small for a driver.
    pub fn require_size(self, size: u64) -> Result<Self, MapError> {
        let region = self.0;
        if region.size >= size && region.base.is_multiple_of(4) {
            Ok(self)
        } else {
            Err(MapError::RegionTooSmall(region.base))
        }
    }
}

/// Accesses to a device's registers. Panics if an offset is outside the mapped region.
pub struct Mmio(MappedRegisters);

impl Mmio {
    pub const fn new(registers: MappedRegisters) -> Self {
        Self(registers)
    }

    /// Returns the address of a register of `size` bytes.
    #[inline(always)]
    fn address(&self, offset: u64, size: u64) -> u64 {
        let Region {
            base,
            size: region_size,
        } = self.0.0;
        let is_inside = offset.saturating_add(size) <= region_size;
        let is_aligned = (base + offset).is_multiple_of(size);
        assert!(is_inside && is_aligned, "register outside its device");
        base + offset
    }
}

macro_rules! load {
    ($instruction:literal, $address:expr, $value:ty) => {{
        let address: u64 = $address;
        let value: $value;
        // SAFETY: Mmio::address() ensures that the register is aligned and lies entirely in memory
        // mapped as a device, where no program data is stored.
        unsafe {
            asm!(
                $instruction,
                out(reg) value,
                in(reg) address,
                options(nostack, preserves_flags)
            );
        }
        value
    }};
}

macro_rules! store {
    ($instruction:literal, $address:expr, $value:expr) => {{
        // SAFETY: as in load!(). If another driver also used the device, only the device itself
        // would be affected.
        unsafe {
            asm!(
                $instruction,
                in(reg) $value,
                in(reg) $address,
                options(nostack, preserves_flags)
            );
        }
    }};
}

impl Bus for Mmio {
    #[inline(always)]
    fn read(&mut self, offset: u64, width: Width) -> u32 {
        match width {
            Width::Byte => load!("ldarb {:w}, [{}]", self.address(offset, 1), u32),
            Width::Half => load!("ldarh {:w}, [{}]", self.address(offset, 2), u32),
            Width::Word => load!("ldar {:w}, [{}]", self.address(offset, 4), u32),
        }
    }

    #[inline(always)]
    fn write(&mut self, offset: u64, width: Width, value: u32) {
        match width {
            Width::Byte => store!("strb {:w}, [{}]", self.address(offset, 1), value),
            Width::Half => store!("strh {:w}, [{}]", self.address(offset, 2), value),
            Width::Word => store!("str {:w}, [{}]", self.address(offset, 4), value),
        }
    }

    fn read_double(&mut self, offset: u64) -> u64 {
        load!("ldar {}, [{}]", self.address(offset, 8), u64)
    }

    fn write_double(&mut self, offset: u64, value: u64) {
        store!("str {}, [{}]", self.address(offset, 8), value);
    }

    fn relax(&mut self) {
        relax();
    }
}
