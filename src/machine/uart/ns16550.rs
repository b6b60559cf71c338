//! 16550-compatible UARTs: registers one byte wide, at a stride and with an
//! access width that the board chooses (reg-shift, reg-io-width).

use core::ptr::NonNull;

use safe_mmio::UniqueMmioPointer;
use safe_mmio::fields::ReadPureWrite;

use super::PATIENCE;
use crate::machine::counter::relax;

/// Transmit holding register (write).
const THR: u64 = 0;
/// Line control register.
const LCR: u64 = 3;
/// Modem control register.
const MCR: u64 = 4;
/// Line status register.
const LSR: u64 = 5;

/// LCR: divisor latch access.
const DLAB: u8 = 1 << 7;
/// LSR: holding register (or FIFO) empty.
const THRE: u8 = 1 << 5;
/// LSR: shift register empty, too.
const TEMT: u8 = 1 << 6;

/// A 16550 and its boot-time settings.
pub struct Ns16550 {
    base: u64,
    shift: u8,
    wide: bool,
    /// LCR, MCR.
    kept: [u8; 2],
}

impl Ns16550 {
    /// Takes the UART over as it is.
    ///
    /// # Safety
    /// Eight registers, `1 << reg_shift` bytes apart and to be accessed
    /// `io_width` bytes at a time, must be mapped at `base` as a device.
    pub unsafe fn new(base: u64, reg_shift: u8, io_width: u8) -> Self {
        let mut uart = Self {
            base,
            shift: reg_shift,
            wide: io_width == 4,
            kept: [0; 2],
        };
        uart.kept = [uart.read(LCR), uart.read(MCR)];
        uart
    }

    fn register<T>(&self, number: u64) -> UniqueMmioPointer<'_, ReadPureWrite<T>> {
        let address = self.base + (number << self.shift);
        let pointer = NonNull::new(address as *mut _).expect("UART at address 0");
        // SAFETY: new()'s caller mapped the eight registers; the pointer
        // borrows self, which is the only owner, and is used up at once.
        unsafe { UniqueMmioPointer::new(pointer) }
    }

    fn read(&self, number: u64) -> u8 {
        if self.wide {
            self.register::<u32>(number).read() as u8
        } else {
            self.register::<u8>(number).read()
        }
    }

    fn write(&mut self, number: u64, value: u8) {
        if self.wide {
            self.register::<u32>(number).write(u32::from(value));
        } else {
            self.register::<u8>(number).write(value);
        }
    }

    fn wait_for(&self, bit: u8) {
        for _ in 0..PATIENCE {
            if self.read(LSR) & bit != 0 {
                return;
            }
            relax();
        }
    }

    /// Sends one byte.
    pub fn send(&mut self, byte: u8) {
        self.wait_for(THRE);
        self.write(THR, byte);
    }

    /// Waits until nothing is being sent.
    pub fn wait_idle(&mut self) {
        self.wait_for(TEMT);
    }

    /// Writes the boot-time settings back, if they are gone. The divisor is
    /// not kept: reading it would take the UART out of use for a moment at
    /// boot, while the firmware may still be sending.
    pub fn restore(&mut self) {
        let [line, modem] = self.kept;
        if self.read(LCR) != line {
            self.write(LCR, line & !DLAB);
        }
        if self.read(MCR) != modem {
            self.write(MCR, modem);
        }
    }
}
