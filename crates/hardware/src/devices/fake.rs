//! A fake device's registers. Registers keep the values written to them unless a test defines other
//! behavior. The width of an access has no effect, but must be at least 16 bits.

use std::boxed::Box;
use std::collections::BTreeMap;
use std::vec::Vec;

use super::bus::{Bus, Width};

/// An access to the register at an offset. A write includes the value.
#[derive(Clone, Copy, Debug)]
pub enum Access {
    Read(u32),
    Write(u32, u32),
}

type Registers = BTreeMap<u32, u32>;
type Behaviour = dyn FnMut(&mut Registers, Access) -> u32;

/// A device's registers. The behavior function returns the value for each read.
pub struct FakeDevice {
    registers: Registers,
    written: Vec<(u32, u32)>,
    behavior: Box<Behaviour>,
}

impl FakeDevice {
    /// Creates registers that keep their values. Registers that are not listed start at 0.
    pub fn new(registers: &[(u32, u32)]) -> Self {
        Self::with(registers, plain)
    }

    /// Creates registers with custom behavior.
    pub fn with(
        registers: &[(u32, u32)],
        behavior: impl FnMut(&mut Registers, Access) -> u32 + 'static,
    ) -> Self {
        Self {
            registers: registers.iter().copied().collect(),
            written: Vec::new(),
            behavior: Box::new(behavior),
        }
    }

    /// Returns the writes since the previous call, in order.
    pub fn writes(&mut self) -> Vec<(u32, u32)> {
        std::mem::take(&mut self.written)
    }
}

/// Parses offsets and values in hexadecimal, such as `45c=a0`.
pub fn pairs(text: &str) -> Vec<(u32, u32)> {
    let number = |digits| u32::from_str_radix(digits, 16).expect(digits);
    let words = text.split_whitespace();
    words
        .filter_map(|word| word.split_once('='))
        .map(|(offset, value)| (number(offset), number(value)))
        .collect()
}

/// The default behavior, which stores every write.
pub fn plain(registers: &mut Registers, access: Access) -> u32 {
    match access {
        Access::Read(offset) => registers.get(&offset).copied().unwrap_or(0),
        Access::Write(offset, value) => registers.insert(offset, value).unwrap_or(0),
    }
}

impl Bus for FakeDevice {
    fn read(&mut self, offset: u64, width: Width) -> u32 {
        assert_ne!(width, Width::Byte);
        (self.behavior)(&mut self.registers, Access::Read(offset as u32))
    }

    fn write(&mut self, offset: u64, width: Width, value: u32) {
        assert_ne!(width, Width::Byte);
        self.written.push((offset as u32, value));
        (self.behavior)(&mut self.registers, Access::Write(offset as u32, value));
    }
}
