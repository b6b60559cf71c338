//! Devices as sequences of register accesses.
//!
//! What is written to a device, in which order and after which wait, needs no
//! hardware to be right or wrong. So it is here, over a [`Bus`]: the machine's
//! is single loads and stores to what is mapped as a device, a test's is a
//! device that holds what it is told against its manual.

pub mod frame;
pub mod gicc;
pub mod redistributor;
pub mod sgi;
pub mod spi;
pub mod uart;
pub mod watchdog;

#[cfg(test)]
mod fake;

/// How many bits one access to a register has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 8 bits.
    Byte,
    /// 16 bits.
    Half,
    /// 32 bits.
    Word,
}

impl Width {
    /// That of accesses of 1, 2 or 4 bytes, as `reg-io-width` has it
    /// (Devicetree Specification v0.4, section 4.2).
    #[must_use]
    pub const fn of_bytes(bytes: u8) -> Option<Self> {
        match bytes {
            1 => Some(Self::Byte),
            2 => Some(Self::Half),
            4 => Some(Self::Word),
            _ => None,
        }
    }
}

/// The registers of one device, little-endian, each by its offset in bytes
/// from the first.
pub trait Bus {
    /// Reads the register at `offset` by one access.
    fn read(&mut self, offset: u64, width: Width) -> u32;

    /// Writes the low bits of `value` to the register at `offset` by one
    /// access.
    fn write(&mut self, offset: u64, width: Width, value: u32);

    /// Writes a register of 64 bits, by one access where the bus can.
    fn write_double(&mut self, offset: u64, value: u64) {
        self.write(offset, Width::Word, value as u32);
        self.write(offset + 4, Width::Word, (value >> 32) as u32);
    }

    /// Gives way, between two polls of a register.
    fn relax(&mut self) {}
}

/// Reads a register of 32 bits.
fn read32(bus: &mut dyn Bus, offset: u32) -> u32 {
    bus.read(offset.into(), Width::Word)
}

/// Writes a register of 32 bits.
fn write32(bus: &mut dyn Bus, offset: u32, value: u32) {
    bus.write(offset.into(), Width::Word, value);
}
