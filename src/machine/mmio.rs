//! The registers of a device, by single loads and stores.

use core::ptr::NonNull;

use psci_bench::devices::{Bus, Width};
use safe_mmio::UniqueMmioPointer;
use safe_mmio::fields::ReadPureWrite;

use super::counter::relax;

/// What is mapped as a device.
pub struct Mmio {
    base: u64,
    size: u64,
}

impl Mmio {
    /// The device whose registers begin at `base`.
    ///
    /// # Safety
    /// `size` bytes from `base` on must be mapped as a device, for good, and
    /// nothing else may access them.
    pub const unsafe fn new(base: u64, size: u64) -> Self {
        Self { base, size }
    }

    /// The address of `bytes` bytes that are in the device, aligned to their
    /// number. A part of none of its callers, as they are many.
    #[inline(never)]
    fn address(&self, offset: u64, bytes: u64) -> NonNull<u8> {
        let address = self.base + offset;
        let inside = offset <= self.size && bytes <= self.size - offset;
        NonNull::new(address as *mut u8)
            .filter(|_| inside && address.is_multiple_of(bytes))
            .expect("a register outside its device")
    }

    fn register<T>(&mut self, offset: u64) -> UniqueMmioPointer<'_, ReadPureWrite<T>> {
        let pointer = self.address(offset, size_of::<T>() as u64).cast();
        // SAFETY: address() made sure that it is aligned and, with all its
        // bytes, in what new()'s caller mapped; it borrows self, the only way
        // to there.
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
