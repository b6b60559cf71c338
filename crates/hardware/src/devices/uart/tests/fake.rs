//! A fake UART that checks the driver against the manual.

use std::collections::BTreeMap;
use std::vec::Vec;

use crate::devices::fake::pairs;
use crate::devices::uart::{Layout, Uart, UartDescription, UartKind};
use crate::devices::{Bus, Width};

/// The state of the FIFO and shift register, as reported by status registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The FIFO is full.
    Full,
    /// The FIFO has room, but earlier bytes are still being sent.
    Room,
    /// All bytes have been sent.
    Rest,
}

/// A UART type, as described in its manual. Registers are given as hexadecimal offsets and values.
pub struct Manual {
    pub kind: UartKind,
    pub reg_shift: u8,
    /// The only supported access width, in bytes.
    pub io_width: u8,
    /// The data register.
    pub data: u32,
    /// The writes required before each byte, in the order specified by the manual.
    pub before_byte: &'static str,
    /// The status registers in each state. A state can have several rows.
    pub status: &'static [(State, &'static str)],
    /// The reset values of registers that keep their values.
    pub reset: &'static str,
    /// The values that board firmware leaves in these registers.
    pub firmware: &'static str,
    /// The writes that enable sending after reset.
    pub turn_on: &'static str,
    /// The writes that restore the firmware's values, in the order specified by the manual.
    pub restore: &'static str,
}

impl Manual {
    pub fn description(&self) -> UartDescription {
        let layout = Layout::new(self.reg_shift, self.io_width);
        UartDescription::new(self.kind, 0x900_0000, layout)
    }

    /// Returns a driver for an idle UART with these settings.
    pub fn uart(&'static self, settings: &str) -> Uart<Fake> {
        let rows = self.status.iter();
        let fake = Fake {
            manual: self,
            settings: pairs(settings).into_iter().collect(),
            status: rows
                .map(|(state, registers)| (*state, pairs(registers)))
                .collect(),
            state: State::Rest,
            held_up: (State::Rest, 0),
            polls: 0,
            sent: Vec::new(),
            writes: Vec::new(),
            prepared: Vec::new(),
        };
        Uart::new(fake, &self.description())
    }
}

pub struct Fake {
    manual: &'static Manual,
    pub settings: BTreeMap<u32, u32>,
    /// The status registers in each state. The first matching row is used.
    pub status: Vec<(State, Vec<(u32, u32)>)>,
    pub state: State,
    /// An initial state and the number of polls for which it is reported.
    pub held_up: (State, u32),
    polls: u32,
    pub sent: Vec<u8>,
    /// Writes to registers other than the data register.
    writes: Vec<(u32, u32)>,
    /// Writes that prepare for the next byte.
    prepared: Vec<(u32, u32)>,
}

impl Fake {
    /// Resets the settings, as a power loss would.
    pub fn lose_power(&mut self) {
        self.settings = pairs(self.manual.reset).into_iter().collect();
    }

    /// Returns the writes since the previous call, excluding writes to the data register.
    pub fn writes(&mut self) -> Vec<(u32, u32)> {
        std::mem::take(&mut self.writes)
    }

    /// Returns the number of polls since the previous call.
    pub fn polls(&mut self) -> u32 {
        std::mem::take(&mut self.polls)
    }

    /// Returns a status register.
    fn poll(&mut self, offset: u32) -> u32 {
        self.polls += 1;
        let (held, left) = &mut self.held_up;
        let state = if *left > 0 { *held } else { self.state };
        *left = left.saturating_sub(1);
        let mut rows = self.status.iter();
        let (_, registers) = rows
            .find(|(row_state, _)| *row_state == state)
            .expect("a state");
        let (_, value) = registers
            .iter()
            .find(|(register, _)| *register == offset)
            .expect("a status register");
        *value
    }

    fn check_width(&self, offset: u32, width: Width) {
        let right = Width::from_bytes(self.manual.io_width);
        assert_eq!(Some(width), right, "access to {offset:#x}");
    }
}

impl Bus for Fake {
    fn read(&mut self, offset: u64, width: Width) -> u32 {
        let register = offset as u32;
        self.check_width(register, width);
        let setting = self.settings.get(&register).copied();
        let value = setting.unwrap_or_else(|| self.poll(register));
        // If a read is wider than the register, the upper bits are undefined.
        match (self.manual.kind, width) {
            (UartKind::Ns16550, Width::Half) => value | 0x5a00,
            (UartKind::Ns16550, Width::Word) => value | 0xa5a5_5a00,
            _ => value,
        }
    }

    fn write(&mut self, offset: u64, width: Width, value: u32) {
        let register = offset as u32;
        self.check_width(register, width);
        let before_byte = pairs(self.manual.before_byte);
        if before_byte
            .iter()
            .any(|(needed_register, _)| *needed_register == register)
        {
            return self.prepared.push((register, value));
        }
        if register == self.manual.data {
            assert_eq!(std::mem::take(&mut self.prepared), before_byte);
            return self.sent.push(u8::try_from(value).expect("a byte"));
        }
        self.writes.push((register, value));
        let old = self.settings.insert(register, value);
        assert!(old.is_some(), "no setting at {register:#x}");
    }
}
