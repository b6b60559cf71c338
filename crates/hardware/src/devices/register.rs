//! Device registers with named fields.

use core::marker::PhantomData;

use tock_registers::fields::FieldValue;
use tock_registers::{LocalRegisterCopy, RegisterLongName};

use super::bus::{Bus, Width};

/// A 32-bit register, identified by its offset in bytes. `R` defines its fields, if any.
pub struct Register<R: RegisterLongName = ()> {
    offset: u32,
    fields: PhantomData<R>,
}

impl<R: RegisterLongName> Register<R> {
    /// Returns the register at this offset.
    pub const fn at(offset: u32) -> Self {
        let fields = PhantomData;
        Self { offset, fields }
    }

    /// Returns the offset.
    pub const fn offset(&self) -> u32 {
        self.offset
    }

    /// Reads the register as a number.
    #[inline(always)]
    pub(super) fn get(&self, bus: &mut (impl Bus + ?Sized)) -> u32 {
        bus.read(self.offset.into(), Width::Word)
    }

    /// Writes a number.
    #[inline(always)]
    pub(super) fn set(&self, bus: &mut (impl Bus + ?Sized), value: u32) {
        bus.write(self.offset.into(), Width::Word, value);
    }

    /// Reads the register as fields.
    #[inline(always)]
    pub(super) fn read(&self, bus: &mut (impl Bus + ?Sized)) -> LocalRegisterCopy<u32, R> {
        LocalRegisterCopy::new(self.get(bus))
    }

    /// Writes these fields and sets all the others to 0.
    #[inline(always)]
    pub(super) fn write(&self, bus: &mut (impl Bus + ?Sized), fields: FieldValue<u32, R>) {
        self.set(bus, fields.value);
    }

    /// Changes these fields with a read-modify-write sequence.
    pub(super) fn modify(&self, bus: &mut (impl Bus + ?Sized), fields: FieldValue<u32, R>) {
        let old = self.get(bus);
        self.set(bus, fields.modify(old));
    }
}
