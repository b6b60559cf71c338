//! UARTs: polled, transmit only, as the firmware left them configured.

mod ns16550;
mod pl011;

use psci_bench::board::Uart as Description;
use psci_bench::image::{EmergencyUart, UartKind};

/// Polls of "is there room" before a byte is given up: a UART that does not
/// drain must not hang the run. At 9600 baud a byte takes about 1 ms.
const PATIENCE: u32 = 5_000_000;

/// A UART of any kind.
pub enum Uart {
    /// Arm PrimeCell PL011.
    Pl011(pl011::Pl011),
    /// 16550 and its kin.
    Ns16550(ns16550::Ns16550),
}

impl Uart {
    /// A UART by its description in the device tree.
    ///
    /// # Safety
    /// Its registers must be mapped as a device.
    pub unsafe fn new(uart: &Description) -> Self {
        match uart.kind {
            UartKind::Pl011 => {
                // SAFETY: the caller's promise.
                Self::Pl011(unsafe { pl011::Pl011::new(uart.base) })
            }
            UartKind::Ns16550 => {
                let (base, shift, width) = (uart.base, uart.reg_shift, uart.io_width);
                // SAFETY: the caller's promise.
                Self::Ns16550(unsafe { ns16550::Ns16550::new(base, shift, width) })
            }
        }
    }

    /// Sends one byte, in bounded time.
    pub fn send(&mut self, byte: u8) {
        match self {
            Self::Pl011(uart) => uart.send(byte),
            Self::Ns16550(uart) => uart.send(byte),
        }
    }

    /// Waits until the last bit has left, in bounded time.
    pub fn wait_idle(&mut self) {
        match self {
            Self::Pl011(uart) => uart.wait_idle(),
            Self::Ns16550(uart) => uart.wait_idle(),
        }
    }

    /// Puts the control registers back as they were at boot, where a power
    /// state took them along.
    pub fn restore(&mut self) {
        match self {
            Self::Pl011(uart) => uart.restore(),
            Self::Ns16550(uart) => uart.restore(),
        }
    }
}

/// The parameter block's UART as a device tree would describe it.
pub fn describe(uart: &EmergencyUart) -> Description {
    Description {
        kind: uart.kind,
        base: uart.base,
        size: 0x1000,
        reg_shift: uart.reg_shift,
        io_width: uart.io_width,
    }
}
