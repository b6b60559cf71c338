//! A polled, transmit-only UART driver that keeps the firmware's configuration.
//!
//! All UART types share this driver. Each type is described in the table in `uart/kinds.rs`.

mod description;
mod descriptor;
mod kinds;

pub use self::description::UartDescription;
pub use self::descriptor::{Layout, UartDescriptor, UartModel};
pub use self::kinds::{AnyUart, UartKind};

use self::descriptor::{Bits, KEPT_MAX, RestoreWrite};
use super::bus::{Bus, Width};
use crate::spec::region::Region;

/// The maximum number of status register polls per wait. The limit prevents a UART that does not
/// drain from hanging the run. At 9600 baud, a byte takes about 1 ms.
pub const PATIENCE: u32 = 5_000_000;
/// The maximum number of polls per wait once a wait has timed out, until the UART sends again. A
/// log is tens of thousands of bytes long, and there may be nothing on the other end to receive it.
pub const PATIENCE_LEFT: u32 = 64;

/// The maximum number of polls when choosing between UARTs. These polls take tens of milliseconds,
/// long enough for a full FIFO to drain at 9600 baud.
const PATIENCE_FIRST: u32 = PATIENCE / 10;

/// Indices into `Uart::patience` for the two kinds of wait: until the FIFO has room, and until the
/// UART is idle.
const ROOM: usize = 0;
const IDLE: usize = 1;

/// Returns the register region of a UART.
pub const fn registers(uart: &UartDescription) -> Region {
    Region {
        base: uart.base,
        size: (uart.kind.descriptor().model.size as u64) << uart.shift(),
    }
}

/// Returns the offset of the status register that shows whether the UART has room. The driver reads
/// this register for each byte anyway, so additional reads are harmless.
pub const fn status(uart: &UartDescription) -> u64 {
    (uart.kind.descriptor().model.has_room.register as u64) << uart.shift()
}

/// Returns the byte offset of the data register for code that has no driver, or None if sending a
/// byte requires more than one write.
pub const fn mark_register(kind: UartKind) -> Option<u16> {
    let descriptor = kind.descriptor();
    // Register 0 has the same offset in every layout.
    assert!(!descriptor.is_numbered || descriptor.model.data == 0);
    if descriptor.model.before_byte.is_empty() {
        Some(descriptor.model.data)
    } else {
        None
    }
}

/// A UART and its boot-time settings.
pub struct Uart<B> {
    bus: B,
    model: &'static UartModel,
    shift: u8,
    width: Width,
    /// The boot-time value for each step in `model.restore`.
    kept: [u32; KEPT_MAX],
    /// The maximum number of polls for each kind of wait, indexed by `ROOM` and `IDLE`.
    patience: [u32; 2],
}

impl<B: Bus> Uart<B> {
    /// Takes over a UART without changing its settings. If its transmitter is off, turns it on at
    /// the configured baud rate.
    pub fn new(bus: B, description: &UartDescription) -> Self {
        let mut uart = Self {
            bus,
            model: &description.kind.descriptor().model,
            shift: description.shift(),
            width: Width::from_bytes(description.io_width).unwrap_or(Width::Word),
            kept: [0; KEPT_MAX],
            patience: [PATIENCE; 2],
        };
        for on in uart.model.turn_on {
            if !uart.has(on) {
                let others = uart.read(on.register) & !on.mask;
                uart.write(on.register, others | on.value);
            }
        }
        for (index, &(register, mask)) in uart.model.restore.iter().enumerate() {
            uart.kept[index] = uart.read(register) & mask;
        }
        uart
    }

    fn read(&mut self, register: u16) -> u32 {
        self.bus.read(u64::from(register) << self.shift, self.width)
    }

    fn write(&mut self, register: u16, value: u32) {
        let offset = u64::from(register) << self.shift;
        self.bus.write(offset, self.width, value);
    }

    fn has(&mut self, bits: &Bits) -> bool {
        self.read(bits.register) & bits.mask == bits.value
    }

    fn wait_for(&mut self, state: usize) {
        let bits = match state {
            ROOM => &self.model.has_room,
            _ => &self.model.is_idle,
        };
        for poll in 0..self.patience[state] {
            if self.has(bits) {
                // At least one byte has been sent since the UART was last full. Room on the first
                // poll proves nothing, because the UART may have had room all along.
                if state == IDLE || poll > 0 || self.patience[ROOM] < PATIENCE {
                    self.patience = [PATIENCE; 2];
                }
                return;
            }
            self.bus.relax();
        }
        self.patience[state] = PATIENCE_LEFT;
    }

    /// Returns true if the UART has room and becomes idle within a short time. A different device
    /// at this address might never become idle.
    pub fn accepts_bytes(&mut self) -> bool {
        (0..PATIENCE_FIRST).any(|_| {
            let is_ready = self.has(&self.model.has_room) && self.has(&self.model.is_idle);
            if !is_ready {
                self.bus.relax();
            }
            is_ready
        })
    }

    /// Sends one byte. Gives up and drops the byte after a bounded number of polls.
    pub fn send(&mut self, byte: u8) {
        self.wait_for(ROOM);
        for &(register, value) in self.model.before_byte {
            self.write(register, value);
        }
        self.write(self.model.data, u32::from(byte));
    }

    /// Waits until the last bit has been sent, but only for a bounded number of polls.
    pub fn wait_idle(&mut self) {
        self.wait_for(IDLE);
    }

    /// Restores the boot-time settings in case they were lost in a power state. The UART must be
    /// idle.
    pub fn restore(&mut self) {
        let steps = self.model.restore.iter().zip(self.kept);
        let is_lost = |(&(register, mask), kept_value): (&RestoreWrite, u32)| {
            self.read(register) & mask != kept_value
        };
        if steps.clone().any(is_lost) {
            steps.for_each(|(&(register, _), kept_value)| self.write(register, kept_value));
        }
    }
}

#[cfg(test)]
mod tests;
