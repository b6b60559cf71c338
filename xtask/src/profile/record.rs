//! Reads the plugin's record: events of three words of 64 bits, little-endian.
//!
//! Bits 7:0 of the first word are the kind, bits 31:8 the CPU, bits 63:32 a number:
//! * 0, a new block: its number; its address and its number of instructions.
//! * 1, an execution: the block; the instructions that all CPUs have executed so far inside
//!   the firmware and outside.
//! * 2, a store by the block that was executed last: the instruction's place in the block; the
//!   offset in the memory of timestamps.
//! * 3, the end: instructions as of an execution.

use std::io::Read;

use anyhow::{Context, Result, bail};

const BLOCK: u8 = 0;
const EXECUTION: u8 = 1;
const STORE: u8 = 2;
const END: u8 = 3;

/// A block that a CPU executed.
#[derive(Debug)]
pub(super) struct Execution {
    /// The CPU, as the plugin identifies it.
    pub cpu: u32,
    /// The address of the first instruction.
    pub address: u64,
    /// The number of instructions that were executed.
    pub ran: u64,
    /// The number of instructions that all CPUs had executed before.
    pub at: u64,
    /// The place of the instruction and the offset of each store to the memory of timestamps.
    pub stores: Vec<(u64, u64)>,
}

/// Calls `take` for each block of `record` that was executed, in order.
///
/// # Errors
/// A record that is cut off, damaged, or that lacks an execution.
pub(super) fn read(mut record: impl Read, mut take: impl FnMut(&Execution)) -> Result<()> {
    let mut blocks: Vec<(u64, u64)> = Vec::new();
    // The last execution, with the instructions inside before it and the block's length.
    let mut last: Option<(Execution, u64, u64)> = None;
    loop {
        let mut event = [[0; 8]; 3];
        let read = record.read_exact(event.as_flattened_mut());
        read.context("the record is cut off: QEMU was killed, or the disk is full")?;
        let [first, a, b] = event.map(u64::from_le_bytes);
        let (kind, number) = (first as u8, first >> 32);
        match kind {
            BLOCK if number == blocks.len() as u64 => blocks.push((a, b)),
            EXECUTION | END => {
                let before = last.as_ref().map_or(0, |it| it.1);
                let ran = a
                    .checked_sub(before)
                    .context("the record is damaged: counts")?;
                if ran > last.as_ref().map_or(0, |it| it.2) {
                    bail!("the record lacks a block: instructions were executed that are in none");
                }
                if let Some((mut execution, ..)) = last.take() {
                    execution.ran = ran;
                    take(&execution);
                }
                if kind == END {
                    return Ok(());
                }
                let block = blocks.get(number as usize);
                let &(address, len) = block.context("the record is damaged: an unknown block")?;
                let execution = Execution {
                    cpu: (first >> 8) as u32 & 0xff_ffff,
                    address,
                    ran: 0,
                    at: a + b,
                    stores: Vec::new(),
                };
                last = Some((execution, a, len));
            }
            STORE => {
                let last = last
                    .as_mut()
                    .context("the record is damaged: a store of no block")?;
                last.0.stores.push((number, a));
            }
            _ => bail!("the record is damaged: an unknown event"),
        }
    }
}
