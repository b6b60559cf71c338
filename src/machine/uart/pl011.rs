//! Arm PrimeCell UART PL011 (DDI 0183), and the SBSA Generic UART, its
//! subset.

use core::ptr::NonNull;

use safe_mmio::fields::{ReadPure, ReadPureWrite, WriteOnly};
use safe_mmio::{UniqueMmioPointer, field, field_shared};

use super::PATIENCE;
use crate::machine::counter::relax;

/// The registers that are used (DDI 0183, table 3-1).
#[repr(C)]
struct Registers {
    /// 0x00 UARTDR.
    data: WriteOnly<u32>,
    _0: [u32; 5],
    /// 0x18 UARTFR.
    flags: ReadPure<u32>,
    _1: [u32; 2],
    /// 0x24 UARTIBRD.
    integer_divisor: ReadPureWrite<u32>,
    /// 0x28 UARTFBRD.
    fraction_divisor: ReadPureWrite<u32>,
    /// 0x2c UARTLCR_H.
    line_control: ReadPureWrite<u32>,
    /// 0x30 UARTCR.
    control: ReadPureWrite<u32>,
}

/// UARTFR: busy sending.
const BUSY: u32 = 1 << 3;
/// UARTFR: no room in the transmit FIFO.
const FULL: u32 = 1 << 5;

/// A PL011 and its boot-time settings.
pub struct Pl011 {
    registers: UniqueMmioPointer<'static, Registers>,
    /// UARTIBRD, UARTFBRD, UARTLCR_H, UARTCR.
    kept: [u32; 4],
}

impl Pl011 {
    /// Takes the UART over as it is.
    ///
    /// # Safety
    /// A PL011's registers must be mapped at `base` as a device.
    pub unsafe fn new(base: u64) -> Self {
        let pointer = NonNull::new(base as *mut Registers).expect("UART at address 0");
        // SAFETY: the caller's promise; one console exists, so no alias.
        let registers = unsafe { UniqueMmioPointer::new(pointer) };
        let mut uart = Self {
            registers,
            kept: [0; 4],
        };
        uart.kept = uart.settings();
        uart
    }

    fn settings(&self) -> [u32; 4] {
        [
            field_shared!(self.registers, integer_divisor).read(),
            field_shared!(self.registers, fraction_divisor).read(),
            field_shared!(self.registers, line_control).read(),
            field_shared!(self.registers, control).read(),
        ]
    }

    fn wait_while(&self, bit: u32) {
        for _ in 0..PATIENCE {
            if field_shared!(self.registers, flags).read() & bit == 0 {
                return;
            }
            relax();
        }
    }

    /// Sends one byte.
    pub fn send(&mut self, byte: u8) {
        self.wait_while(FULL);
        field!(self.registers, data).write(u32::from(byte));
    }

    /// Waits until nothing is being sent.
    pub fn wait_idle(&mut self) {
        self.wait_while(BUSY);
    }

    /// Writes the boot-time settings back, if they are gone.
    pub fn restore(&mut self) {
        if self.settings() == self.kept {
            return;
        }
        let [integer, fraction, line, control] = self.kept;
        // Disabled while it is set up, and LCR_H last of the three, since
        // writing it is what makes the divisors count (DDI 0183, 3.3.7).
        field!(self.registers, control).write(0);
        field!(self.registers, integer_divisor).write(integer);
        field!(self.registers, fraction_divisor).write(fraction);
        field!(self.registers, line_control).write(line);
        field!(self.registers, control).write(control);
    }
}
