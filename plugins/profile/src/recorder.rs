//! Writes the record: 32-bit words, little-endian. Most are blocks; all that can be known from
//! the words before is left out.

use std::io::{self, Write};

use qemu_abi::Counts;

const RAN: u32 = 0b100 << 29;
const OUTSIDE: u32 = 0b101 << 29;
const CPU: u32 = 0b1100 << 28;
const BLOCK: u32 = 0b1101 << 28;
const STORE: u32 = 0b1110 << 28;
const END: u32 = 0b1111 << 28;

pub struct Recorder<W> {
    out: W,
    error: Option<io::Error>,
    /// The number of instructions of each block.
    lengths: Vec<u32>,
    cpu: Option<u32>,
    /// The instructions up to the end of the last block, if all of it is executed.
    expected: Counts,
    lose: Option<u64>,
    executions: u64,
}

impl<W: Write> Recorder<W> {
    pub fn new(out: W, lose: Option<u64>) -> Self {
        Self {
            out,
            error: None,
            lengths: Vec::new(),
            cpu: None,
            expected: Counts::default(),
            lose,
            executions: 0,
        }
    }

    fn word(&mut self, word: u32) {
        if self.error.is_none() {
            self.error = self.out.write_all(&word.to_le_bytes()).err();
        }
    }

    fn long(&mut self, number: u64) {
        self.word(number as u32);
        self.word((number >> 32) as u32);
    }

    /// Defines a block, and returns its number.
    pub fn define(&mut self, address: u64, length: u32) -> u32 {
        self.word(BLOCK | length);
        self.long(address);
        self.lengths.push(length);
        self.lengths.len() as u32 - 1
    }

    /// Writes the differences of `counts` from what was expected.
    fn compare(&mut self, counts: Counts) {
        let last = self.expected;
        if counts.inside != last.inside {
            // Modulo 2^29, as a block that ended early is below zero.
            let more = counts.inside.wrapping_sub(last.inside) as u32 & !(0b111 << 29);
            self.word(RAN | more);
        }
        let mut outside = counts.outside - last.outside;
        while outside > 0 {
            let part = outside.min((1 << 29) - 1);
            self.word(OUTSIDE | part as u32);
            outside -= part;
        }
    }

    pub fn execute(&mut self, block: u32, cpu: u32, counts: Counts) {
        self.executions += 1;
        if self.lose == Some(self.executions) {
            return;
        }
        self.compare(counts);
        if self.cpu != Some(cpu) {
            self.word(CPU | cpu & ((1 << 28) - 1));
            self.cpu = Some(cpu);
        }
        self.word(block);
        let length = self.lengths.get(block as usize).copied().unwrap_or(0);
        self.expected = Counts {
            inside: counts.inside + u64::from(length),
            ..counts
        };
    }

    /// Writes that an instruction of the last block stored at `offset`.
    pub fn store(&mut self, instruction: u32, offset: u64) {
        self.word(STORE | (instruction & 0xfff) << 16 | (offset / 8) as u32 & 0xffff);
    }

    /// Ends the record, and returns the error by which it is not whole.
    pub fn end(&mut self, counts: Counts) -> Option<io::Error> {
        self.compare(counts);
        self.word(END);
        self.long(counts.inside);
        self.long(counts.outside);
        self.error.take().or_else(|| self.out.flush().err())
    }
}
