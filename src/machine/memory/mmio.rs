//! The registers of a device, by single loads and stores.

use core::ptr::NonNull;

use psci_bench::board::Region;
use psci_bench::devices::{Bus, Width};
use safe_mmio::UniqueMmioPointer;
use safe_mmio::fields::ReadPureWrite;

use crate::machine::cpu::instructions::relax;
use crate::machine::memory::tables::{MapError, Mapping, TranslationTables};

/// Registers of a device, mapped as such for good: no value of the program's is
/// there, and accesses do to the device what they do.
#[derive(Clone, Copy)]
pub struct Registers(Region);

impl Registers {
    /// Maps a device's registers. Fails where a page is in use as memory, or no table is
    /// left.
    pub fn map(tables: &mut TranslationTables, region: Region) -> Result<Self, MapError> {
        tables.map(region, Mapping::Device)?;
        Ok(Self(region))
    }

    pub const fn region(self) -> Region {
        self.0
    }

    /// Returns the registers of `region`; None where it is not all within these.
    pub fn subset(self, region: Region) -> Option<Self> {
        self.0.contains(&region).then_some(Self(region))
    }

    /// Returns the address of a register, or of a block of them, at this offset.
    /// Fails where it is not all within these, or not aligned as its type needs.
    pub fn register_at<T>(self, offset: u64) -> Result<NonNull<T>, MapError> {
        let Region { base, size } = self.0;
        let is_inside = offset <= size && size_of::<T>() as u64 <= size - offset;
        let pointer = NonNull::new((base + offset) as *mut T);
        let pointer = pointer.filter(|it| is_inside && it.is_aligned());
        pointer.ok_or(MapError::TooFew(base))
    }
}

pub struct Mmio(Registers);

impl Mmio {
    pub const fn new(registers: Registers) -> Self {
        Self(registers)
    }

    fn register<T>(&mut self, offset: u64) -> UniqueMmioPointer<'_, ReadPureWrite<T>> {
        let pointer = self.0.register_at(offset);
        let pointer = pointer.expect("a register outside its device");
        // SAFETY: register_at() made sure that it is aligned and, with all its bytes, in
        // what is mapped as a device: no value of the program's is there. It
        // borrows self; another driver would disturb the device, and no more,
        // since each access is one load or store in assembly.
        unsafe { UniqueMmioPointer::new(pointer) }
    }
}

impl Bus for Mmio {
    fn read(&mut self, offset: u64, width: Width) -> u32 {
        match width {
            Width::Byte => self.register::<u8>(offset).read().into(),
            Width::Half => self.register::<u16>(offset).read().into(),
            Width::Word => self.register::<u32>(offset).read(),
        }
    }

    fn write(&mut self, offset: u64, width: Width, value: u32) {
        match width {
            Width::Byte => self.register(offset).write(value as u8),
            Width::Half => self.register(offset).write(value as u16),
            Width::Word => self.register(offset).write(value),
        }
    }

    fn relax(&mut self) {
        relax();
    }
}
