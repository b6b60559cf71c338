//! The interface that drivers use to access a device's registers.

/// The width of one register access.
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
    /// Returns the width for 1, 2 or 4 bytes, which are the valid values of `reg-io-width`
    /// (Devicetree Specification v0.4, section 4.2).
    pub const fn from_bytes(bytes: u8) -> Option<Self> {
        match bytes {
            1 => Some(Self::Byte),
            2 => Some(Self::Half),
            4 => Some(Self::Word),
            _ => None,
        }
    }
}

/// A device's little-endian registers, each identified by its byte offset.
pub trait Bus {
    /// Reads the register at `offset` in a single access.
    fn read(&mut self, offset: u64, width: Width) -> u32;

    /// Writes the low bits of `value` to the register at `offset` in a single access.
    fn write(&mut self, offset: u64, width: Width, value: u32);

    /// Writes a 64-bit register, in a single access if the bus supports it.
    fn write_double(&mut self, offset: u64, value: u64) {
        self.write(offset, Width::Word, value as u32);
        self.write(offset + 4, Width::Word, (value >> 32) as u32);
    }

    /// Reads a 64-bit register, in a single access if the bus supports it.
    fn read_double(&mut self, offset: u64) -> u64 {
        let low = self.read(offset, Width::Word);
        let high = self.read(offset + 4, Width::Word);
        u64::from(high) << 32 | u64::from(low)
    }

    /// Pauses briefly between polls of a register.
    fn relax(&mut self) {}
}
