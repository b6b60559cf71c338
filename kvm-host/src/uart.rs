//! A 16550 that sends, and receives nothing.

use std::io::{self, Write};

/// Line control: whether registers 0 and 1 are the divisor.
const LCR: usize = 3;
const DLAB: u8 = 1 << 7;
/// Line status: the transmitter has room, and is at rest.
const LSR: usize = 5;
const THRE_TEMT: u8 = 0x60;
/// Interrupt identification: none is pending, FIFOs are on.
const IIR: usize = 2;
const NONE_PENDING: u8 = 0xc1;

/// The eight registers, a byte each.
#[derive(Debug, Default)]
pub struct Uart {
    written: [u8; 8],
    divisor: [u8; 2],
}

impl Uart {
    /// The size of the address space in bytes.
    pub const SIZE: u64 = 8;

    /// Returns the value of register `offset`.
    pub fn read(&self, offset: usize) -> u8 {
        match offset {
            IIR => NONE_PENDING,
            LSR => THRE_TEMT,
            0 if !self.divides() => 0,
            _ => {
                let divisor = self.divisor.get(offset).filter(|_| self.divides());
                divisor.or(self.written.get(offset)).copied().unwrap_or(0)
            }
        }
    }

    /// Register `offset` is written; what is sent goes to stdout.
    pub fn write(&mut self, offset: usize, value: u8) {
        if self.divides()
            && let Some(register) = self.divisor.get_mut(offset)
        {
            *register = value;
        } else if offset == 0 {
            // A failed write is ignored: the guest must not notice it.
            let _ = io::stdout().write_all(&[value]);
        } else if let Some(register) = self.written.get_mut(offset) {
            *register = value;
        }
    }

    fn divides(&self) -> bool {
        self.written.get(LCR).is_some_and(|lcr| lcr & DLAB != 0)
    }
}
