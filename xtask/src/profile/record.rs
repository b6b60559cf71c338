//! Reads the plugin's record of executed blocks.
//!
//! Words of 32 bits, little-endian, by their highest bits: `0`, a block by its number is
//! executed; `100`, it ended earlier, by so many instructions (29 bits, two's complement);
//! `101`, so many instructions were executed outside the firmware; `1100`, the CPU of the
//! blocks that follow; `1101`, a new block, of so many instructions, with its address in two
//! words; `1110`, its instruction (12 bits) stored at an offset (16 bits) of 8 bytes; `1111`,
//! the end, with all instructions inside and outside in two words each.

use anyhow::{Context, Result, bail};

/// A block that a CPU executed.
#[derive(Debug)]
pub(super) struct Execution {
    /// The CPU, as the plugin identifies it.
    pub cpu: u32,
    /// The address of the first instruction.
    pub address: u64,
    /// The number of instructions that were executed.
    pub ran: u32,
    /// The number of instructions that all CPUs had executed before.
    pub at: u64,
    /// The instruction and the offset of each store to the memory of timestamps.
    pub stores: Vec<(u32, u64)>,
}

const LOST: &str = "the record lacks a block: instructions were counted that are in none";

/// Calls `take` for each block of `record` that was executed, in order.
pub(super) fn read(record: &[u8], mut take: impl FnMut(&Execution)) -> Result<()> {
    let words = record.chunks_exact(4);
    let mut words = words.map(|it| u32::from_le_bytes([it[0], it[1], it[2], it[3]]));
    let mut next = || {
        words
            .next()
            .context("the record is cut off: QEMU was killed, or the disk is full")
    };
    let mut blocks: Vec<(u64, u32)> = Vec::new();
    let (mut cpu, mut inside, mut outside) = (0, 0u64, 0u64);
    let mut last: Option<Execution> = None;
    loop {
        let word = next()?;
        match word >> 28 {
            0b0000..=0b0111 => {
                last.iter().for_each(&mut take);
                let block = blocks.get(word as usize);
                let &(address, ran) = block.context("the record is damaged: an unknown block")?;
                last = Some(Execution {
                    cpu,
                    address,
                    ran,
                    at: inside + outside,
                    stores: Vec::new(),
                });
                inside += u64::from(ran);
            }
            0b1000 | 0b1001 => {
                let fewer = (word << 3).wrapping_neg() >> 3;
                let last = last.as_mut().filter(|it| fewer <= it.ran).context(LOST)?;
                last.ran -= fewer;
                inside -= u64::from(fewer);
            }
            0b1010 | 0b1011 => outside += u64::from(word & ((1 << 29) - 1)),
            0b1100 => cpu = word & ((1 << 28) - 1),
            0b1101 => {
                let address = u64::from(next()?) | u64::from(next()?) << 32;
                blocks.push((address, word & 0xfff));
            }
            0b1110 => {
                let last = last
                    .as_mut()
                    .context("the record is damaged: a store of no block")?;
                let store = (word >> 16 & 0xfff, u64::from(word & 0xffff) * 8);
                last.stores.push(store);
            }
            _ => {
                last.iter().for_each(&mut take);
                let mut long = || anyhow::Ok(u64::from(next()?) | u64::from(next()?) << 32);
                if (long()?, long()?) != (inside, outside) {
                    bail!(LOST);
                }
                return Ok(());
            }
        }
    }
}
