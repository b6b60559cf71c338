//! A UART that holds its driver to the manual. A byte needs some reads of status
//! registers to leave.

use std::collections::{BTreeMap, VecDeque};
use std::vec::Vec;

use crate::devices::uart::Uart;
use crate::devices::{Bus, Width};
use crate::image::{Uart as Description, UartKind};

/// Status reads that a byte stays in the shift register for.
const BYTE_TIME: u32 = 7;
/// Status reads that are enough for all that a test sends.
const ENOUGH: u32 = 100_000;

/// Tells by the bytes in FIFO and shift register, and by the FIFO's depth, if a status bit
/// is 1.
type Sign = fn(usize, usize) -> bool;

/// The meanings of a status bit that is 1.
const SIGNS: [(&str, Sign); 6] = [
    // The FIFO is empty, though the shift register may not be.
    ("empty", |len, _| len <= 1),
    ("full", |len, depth| len > depth),
    ("room", |len, depth| len <= depth),
    ("idle", |len, _| len == 0),
    ("busy", |len, _| len > 0),
    ("always", |_, _| true),
];

/// Reads groups of numbers in hexadecimal, such as `30=300,301`.
pub fn groups(text: &str) -> impl Iterator<Item = Vec<u32>> {
    text.split_whitespace().map(|group| {
        let numbers = group.split(['=', ',']);
        let numbers = numbers.map(|digits| u32::from_str_radix(digits, 16).expect(group));
        numbers.collect()
    })
}

/// A kind of UART, as its manual has it.
pub struct Manual {
    pub kind: UartKind,
    pub reg_shift: u8,
    /// Bytes an access, the only width that the UART takes.
    pub io_width: u8,
    /// The register for bytes to send.
    pub data: u32,
    /// The bytes that fit in front of the shift register.
    pub depth: usize,
    /// The bits of status registers: offset, bit, meaning.
    pub status: &'static str,
    /// The registers that keep their value: offset, value after reset, and the value
    /// that the firmware of a board leaves.
    pub settings: &'static str,
    /// The settings with which the UART sends: offset, mask, value.
    pub sends: &'static str,
    /// The writes that restore the firmware's values, in the manual's order.
    pub restores: &'static str,
}

pub struct Fake {
    manual: &'static Manual,
    /// Offset, bit and meaning.
    status: Vec<(u32, u32, Sign)>,
    sends: Vec<Vec<u32>>,
    pub settings: BTreeMap<u32, u32>,
    /// The shift register, and the FIFO after it.
    pub queue: VecDeque<u8>,
    /// The reads for which the first byte stays.
    time: u32,
    /// The bytes that have left.
    pub sent: Vec<u8>,
    /// Nothing leaves for so many reads.
    held_up: u32,
    polls: u32,
    /// Writes but for those of data.
    writes: Vec<(u32, u32)>,
}

impl Manual {
    pub fn description(&self) -> Description {
        Description::new(self.kind, 0x900_0000, (self.reg_shift, self.io_width))
    }

    fn after_reset(&self) -> BTreeMap<u32, u32> {
        groups(self.settings).map(|it| (it[0], it[1])).collect()
    }

    /// Returns the driver of a UART just out of reset.
    pub fn off(&'static self) -> Uart<Fake> {
        self.uart(self.after_reset())
    }

    /// Returns the driver of a UART that the firmware has set up, with these changes.
    pub fn set_up(&'static self, changes: &[(u32, u32)]) -> Uart<Fake> {
        let firmware = groups(self.settings).map(|it| (it[0], it[2]));
        self.uart(firmware.chain(changes.iter().copied()).collect())
    }

    fn uart(&'static self, settings: BTreeMap<u32, u32>) -> Uart<Fake> {
        let sign = |name| SIGNS.iter().find(|it| it.0 == name).expect(name).1;
        let status = self.status.split(' ').map(|bit| {
            let (numbers, name) = bit.split_once(',').expect(bit);
            let numbers = groups(numbers).next().expect(bit);
            (numbers[0], numbers[1], sign(name))
        });
        let fake = Fake {
            manual: self,
            status: status.collect(),
            sends: groups(self.sends).collect(),
            settings,
            queue: VecDeque::new(),
            time: 0,
            sent: Vec::new(),
            held_up: 0,
            polls: 0,
            writes: Vec::new(),
        };
        Uart::new(fake, &self.description())
    }
}

impl Fake {
    /// Resets the settings, as after a loss of power.
    pub fn lose_power(&mut self) {
        self.settings = self.manual.after_reset();
        self.queue.clear();
    }

    /// Returns the writes since the last call, except data.
    pub fn writes(&mut self) -> Vec<(u32, u32)> {
        std::mem::take(&mut self.writes)
    }

    /// Returns the polls since the last call.
    pub fn polls(&mut self) -> u32 {
        std::mem::take(&mut self.polls)
    }

    /// Holds the line up for so many reads.
    pub fn hold_up(&mut self, reads: u32) {
        self.polls = 0;
        self.held_up = reads;
    }

    /// Fills shift register and FIFO of a line that is held up for so many reads.
    pub fn fill(&mut self, reads: u32) {
        self.hold_up(reads);
        (0..=self.manual.depth).for_each(|_| self.push(b'x'));
    }

    /// Lets time pass until so many bytes of a full FIFO are left.
    pub fn drain(&mut self, left: usize) {
        self.hold_up(0);
        self.queue.truncate(self.manual.depth + 1);
        while self.queue.len() > left {
            self.tick();
        }
    }

    fn tick(&mut self) {
        if self.held_up > 0 {
            self.held_up -= 1;
        } else if self.time > 0 {
            self.time -= 1;
        } else {
            self.sent.extend(self.queue.pop_front());
            self.time = BYTE_TIME;
        }
    }

    /// Takes a byte, room or not.
    fn push(&mut self, byte: u8) {
        if self.queue.is_empty() {
            self.time = BYTE_TIME;
        }
        self.queue.push_back(byte);
    }

    fn status(&self, offset: u32) -> u32 {
        let bits = self.status.iter().filter(|it| it.0 == offset);
        assert!(bits.clone().count() > 0, "no register at {offset:#x}");
        let (len, depth) = (self.queue.len(), self.manual.depth);
        let bits = bits.map(|(_, bit, is_set)| u32::from(is_set(len, depth)) << bit);
        bits.sum()
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
        let value = self.settings.get(&offset).copied().unwrap_or_else(|| {
            self.polls += 1;
            let is_long = self.polls > ENOUGH && self.held_up == 0;
            assert!(!is_long, "a wait for what does not come");
            self.tick();
            self.status(offset)
        });
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
        if offset == self.manual.data {
            let mut sends = self.sends.iter();
            let sends = sends.all(|it| self.settings[&it[0]] & it[1] == it[2]);
            assert!(sends, "it does not send");
            let has_room = self.queue.len() <= self.manual.depth;
            assert!(has_room || self.held_up > 0, "overrun");
            return self.push(u8::try_from(value).expect("a byte"));
        }
        self.writes.push((offset, value));
        let old = self.settings.insert(offset, value);
        assert!(old.is_some(), "no setting at {offset:#x}");
    }
}
