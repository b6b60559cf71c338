//! A fake UART that checks its driver against the manual.

use std::collections::BTreeMap;
use std::vec::Vec;

use crate::devices::fake::pairs;
use crate::devices::uart::{Description, Layout, Uart, UartKind};
use crate::devices::{Bus, Width};

/// The state of the FIFO and the shift register, as shown by status registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No byte may be sent.
    Full,
    /// A byte may be sent, but earlier bytes have not left.
    Room,
    /// All bytes have left.
    Rest,
}

/// A kind of UART, according to its manual. Registers are offsets and values in hexadecimal.
pub struct Manual {
    pub kind: UartKind,
    pub reg_shift: u8,
    /// The only access width that the UART accepts, in bytes.
    pub io_width: u8,
    /// The data register.
    pub data: u32,
    /// The writes required before each byte, in the manual's order.
    pub before_byte: &'static str,
    /// The status registers in each state, in one or more rows.
    pub status: &'static [(State, &'static str)],
    /// The reset values of the registers that keep their value.
    pub reset: &'static str,
    /// The values that a board's firmware leaves in these registers.
    pub firmware: &'static str,
    /// The writes that let the UART send after reset.
    pub turn_on: &'static str,
    /// The writes that restore the firmware's values, in the manual's order.
    pub restore: &'static str,
}

impl Manual {
    pub fn description(&self) -> Description {
        let layout = Layout::new(self.reg_shift, self.io_width);
        Description::new(self.kind, 0x900_0000, layout)
    }

    /// Returns the driver of an idle UART with these settings.
    pub fn uart(&'static self, settings: &str) -> Uart<Fake> {
        let fake = Fake {
            manual: self,
            settings: pairs(settings).into_iter().collect(),
            status: self.status.iter().map(|it| (it.0, pairs(it.1))).collect(),
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
    /// The status registers in each state; the first matching row is used.
    pub status: Vec<(State, Vec<(u32, u32)>)>,
    pub state: State,
    /// A different state to show first, and the number of polls to show it for.
    pub held_up: (State, u32),
    polls: u32,
    pub sent: Vec<u8>,
    /// Writes other than data.
    writes: Vec<(u32, u32)>,
    /// Writes that prepare for the next byte.
    prepared: Vec<(u32, u32)>,
}

impl Fake {
    /// Resets the settings, as after a loss of power.
    pub fn lose_power(&mut self) {
        self.settings = pairs(self.manual.reset).into_iter().collect();
    }

    /// Returns the writes since the previous call, except data.
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
        let mut rows = self.status.iter().filter(|it| it.0 == state);
        let mut registers = rows.next().expect("a state").1.iter();
        let found = registers.find(|it| it.0 == offset);
        found.expect("a status register").1
    }

    fn check_width(&self, offset: u32, width: Width) {
        let right = Width::from_bytes(self.manual.io_width);
        assert_eq!(Some(width), right, "access to {offset:#x}");
    }
}

impl Bus for Fake {
    fn read(&mut self, offset: u64, width: Width) -> u32 {
        let offset = offset as u32;
        self.check_width(offset, width);
        let setting = self.settings.get(&offset).copied();
        let value = setting.unwrap_or_else(|| self.poll(offset));
        // The bits above a narrow register are undefined in a wide read.
        match (self.manual.kind, width) {
            (UartKind::Ns16550, Width::Half) => value | 0x5a00,
            (UartKind::Ns16550, Width::Word) => value | 0xa5a5_5a00,
            _ => value,
        }
    }

    fn write(&mut self, offset: u64, width: Width, value: u32) {
        let offset = offset as u32;
        self.check_width(offset, width);
        let before_byte = pairs(self.manual.before_byte);
        if before_byte.iter().any(|it| it.0 == offset) {
            return self.prepared.push((offset, value));
        }
        if offset == self.manual.data {
            assert_eq!(std::mem::take(&mut self.prepared), before_byte);
            return self.sent.push(u8::try_from(value).expect("a byte"));
        }
        self.writes.push((offset, value));
        let old = self.settings.insert(offset, value);
        assert!(old.is_some(), "no setting at {offset:#x}");
    }
}
