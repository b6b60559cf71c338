//! A 16550 that sends, and receives nothing.

use std::io::{self, Write};

/// Line control: DLAB makes registers 0 and 1 the divisor.
const LCR: usize = 3;
const DLAB: u8 = 1 << 7;
/// Line status: the transmitter has room, and is idle.
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
            0 | 1 if self.divides() => self.divisor[offset],
            0 => 0,
            _ => self.written.get(offset).copied().unwrap_or(0),
        }
    }

    /// Writes register `offset`; a byte that is sent goes to stdout.
    pub fn write(&mut self, offset: usize, value: u8) {
        match offset {
            0 | 1 if self.divides() => self.divisor[offset] = value,
            // A failed write is ignored: the guest must not notice it.
            0 => drop(io::stdout().write_all(&[value])),
            _ => self
                .written
                .get_mut(offset)
                .into_iter()
                .for_each(|it| *it = value),
        }
    }

    fn divides(&self) -> bool {
        self.written[LCR] & DLAB != 0
    }
}
