//! A UART that holds its driver to the manual.
//!
//! Time goes by with the reads of status registers: a byte needs some of them
//! to leave. What the manual forbids is a panic.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::vec::Vec;

use crate::devices::uart::Uart;
use crate::devices::{Bus, Width};
use crate::image::UartKind;

/// Status reads that a byte stays in the shift register for.
const BYTE_TIME: u32 = 7;
/// Status reads that are enough for all that a test sends.
const ENOUGH: u32 = 100_000;

/// The bytes on their way.
#[derive(Debug, Default)]
pub struct Line {
    /// The shift register, and the FIFO after it.
    pub queue: VecDeque<u8>,
    /// The reads for which the first byte stays.
    time: u32,
    /// The bytes that have left.
    pub sent: Vec<u8>,
    /// The other side holds it up: nothing leaves for so many reads.
    pub held_up: u32,
}

impl Line {
    /// Time goes by.
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

    pub fn has_empty_fifo(&self) -> bool {
        self.queue.len() <= 1
    }

    pub fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    pub fn has_full_fifo(&self, depth: usize) -> bool {
        self.queue.len() > depth
    }
}

/// Registers that keep what is written, by offset.
pub type Settings = BTreeMap<u64, u32>;

/// A kind of UART, as its manual has it.
pub struct Manual {
    pub kind: UartKind,
    pub reg_shift: u8,
    /// Bytes an access, the only width that it takes.
    pub io_width: u8,
    /// The register for bytes to send.
    pub data: u64,
    /// The bytes that fit in front of the shift register.
    pub depth: usize,
    /// A status register, where there is one at the offset.
    pub status: fn(u64, &Line) -> Option<u32>,
    /// The registers that keep their value: offset, value after reset, and the value
    /// that the firmware of a board leaves.
    pub settings: &'static [(u64, u32, u32)],
    /// True where it sends, with these settings.
    pub sends: fn(&Settings) -> bool,
    /// The reason, by the manual, against writing a value to a setting.
    pub against: fn(&Settings, u64, u32) -> Option<&'static str>,
}

/// The UART.
pub struct Fake {
    manual: &'static Manual,
    pub settings: Settings,
    pub line: Line,
    /// Reads of status registers.
    pub polls: u32,
    /// Writes but for those of data.
    pub writes: Vec<(u64, u32)>,
}

/// The UART, as the test and the driver hold it.
#[derive(Clone)]
pub struct Shared(pub Rc<RefCell<Fake>>);

impl Manual {
    fn after_reset(&self) -> Settings {
        let settings = self.settings.iter();
        settings
            .map(|(offset, reset, _)| (*offset, *reset))
            .collect()
    }

    /// Returns a UART just out of reset.
    pub fn off(&'static self) -> Shared {
        Shared(Rc::new(RefCell::new(Fake {
            manual: self,
            settings: self.after_reset(),
            line: Line::default(),
            polls: 0,
            writes: Vec::new(),
        })))
    }

    /// Returns a UART that the firmware has set up, and its driver.
    pub fn set_up(&'static self) -> (Shared, Uart<Shared>) {
        self.changed(&[])
    }

    /// Returns one in which the firmware has left other values in these registers.
    pub fn changed(&'static self, values: &[(u64, u32)]) -> (Shared, Uart<Shared>) {
        let bus = self.off();
        let settings = self.settings.iter();
        let settings = settings.map(|(offset, _, firmware)| (*offset, *firmware));
        let all = settings.chain(values.iter().copied());
        bus.0.borrow_mut().settings.extend(all);
        let uart = self.driver(&bus);
        (bus, uart)
    }

    pub fn driver(&self, bus: &Shared) -> Uart<Shared> {
        Uart::new(bus.clone(), self.kind, self.reg_shift, self.io_width)
    }
}

impl Shared {
    /// Resets the settings, as after a loss of power.
    pub fn lose_power(&self) {
        let mut fake = self.0.borrow_mut();
        fake.settings = fake.manual.after_reset();
        fake.line.queue.clear();
    }

    /// Returns the writes since the last call, except data.
    pub fn writes(&self) -> Vec<(u64, u32)> {
        std::mem::take(&mut self.0.borrow_mut().writes)
    }

    /// Returns the polls since the last call.
    pub fn polls(&self) -> u32 {
        std::mem::take(&mut self.0.borrow_mut().polls)
    }

    pub fn sent(&self) -> Vec<u8> {
        self.0.borrow().line.sent.clone()
    }

    /// Holds the line up for so many reads.
    pub fn hold_up(&self, reads: u32) {
        self.polls();
        self.0.borrow_mut().line.held_up = reads;
    }

    /// Fills shift register and FIFO of a line that is held up for so many reads.
    pub fn fill(&self, reads: u32) {
        self.hold_up(reads);
        let mut fake = self.0.borrow_mut();
        (0..=fake.manual.depth).for_each(|_| fake.line.push(b'x'));
    }

    /// Lets time pass until so many bytes of a full FIFO are left.
    pub fn drain(&self, left: usize) {
        self.hold_up(0);
        let mut fake = self.0.borrow_mut();
        let depth = fake.manual.depth;
        fake.line.queue.truncate(depth + 1);
        while fake.line.queue.len() > left {
            fake.line.tick();
        }
    }
}

impl Fake {
    fn check_width(&self, offset: u64, width: Width) {
        let right = Width::from_bytes(self.manual.io_width);
        assert_eq!(Some(width), right, "access to {offset:#x}");
    }
}

impl Bus for Shared {
    fn read(&mut self, offset: u64, width: Width) -> u32 {
        let mut fake = self.0.borrow_mut();
        fake.check_width(offset, width);
        let value = match fake.settings.get(&offset) {
            Some(value) => *value,
            None => {
                fake.polls += 1;
                let is_long = fake.polls > ENOUGH && fake.line.held_up == 0;
                assert!(!is_long, "a wait for what does not come");
                fake.line.tick();
                let status = (fake.manual.status)(offset, &fake.line);
                status.unwrap_or_else(|| panic!("no register at {offset:#x}"))
            }
        };
        // The bits above a narrow register are undefined in a wide read.
        match (fake.manual.kind, width) {
            (UartKind::Ns16550, Width::Half) => value | 0x5a00,
            (UartKind::Ns16550, Width::Word) => value | 0xa5a5_5a00,
            _ => value,
        }
    }

    fn write(&mut self, offset: u64, width: Width, value: u32) {
        let mut fake = self.0.borrow_mut();
        fake.check_width(offset, width);
        let manual = fake.manual;
        if offset == manual.data {
            assert!((manual.sends)(&fake.settings), "it does not send");
            let has_room = !fake.line.has_full_fifo(manual.depth);
            assert!(has_room || fake.line.held_up > 0, "overrun");
            fake.line.push(u8::try_from(value).expect("a byte"));
            return;
        }
        if let Some(reason) = (manual.against)(&fake.settings, offset, value) {
            panic!("{value:#x} to {offset:#x}: {reason}");
        }
        fake.writes.push((offset, value));
        let setting = fake.settings.get_mut(&offset);
        *setting.unwrap_or_else(|| panic!("no setting at {offset:#x}")) = value;
    }
}
