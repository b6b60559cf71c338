//! Reads the record that the plugin writes, whose format `record_format.rs` describes.

use std::collections::HashMap;
use std::io::Read;

use anyhow::{Context, Result, bail};

use crate::attribution::record_format::{
    ACCESS, BLOCK, CONTROL, END, EXECUTION, IS_CACHEABLE, IS_STORE, POWER_LEVEL,
};

/// The number of bytes to read at once, enough for a few thousand events.
const CHUNK: u64 = 24 << 12;

const CUT_OFF: &str = "the record is truncated: QEMU was killed, or the disk is full";
const LACKS_BLOCK: &str =
    "the record lacks a block: some executed instructions are not in any block";

const NO_BLOCK: &str = "the record is damaged: it does not begin with a block";

/// Consecutive executions of a block on one CPU.
#[derive(Debug)]
pub(crate) struct Execution {
    /// The CPU, as identified by the plugin.
    pub cpu: u32,
    /// The address of the first instruction.
    pub address: u64,
    /// The number of instructions in the block.
    pub len: u64,
    /// The number of instructions executed. Every execution covers the whole block, except possibly
    /// the last one.
    pub ran: u64,
    /// The number of instructions that all CPUs had executed when the first execution began.
    pub at: u64,
    /// SCTLR_EL3.
    pub control: u64,
    /// The last execution's memory accesses.
    pub accesses: Vec<MemoryAccess>,
    /// The power level of the power-down that the last execution starts, if it starts one.
    pub power_level: Option<u64>,
}

/// A memory access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryAccess {
    /// The address of the instruction.
    pub pc: u64,
    /// The address.
    pub address: u64,
    /// The size in bytes.
    pub size: u64,
    /// True for a store.
    pub is_store: bool,
    /// True for Normal Cacheable memory, if the MMU is on.
    pub is_cacheable: bool,
}

/// The most recent executions, with the event for the last one.
struct Last {
    event: [u64; 3],
    /// The executions; `ran` does not include the last one.
    execution: Execution,
}

impl Last {
    /// Returns the execution for `event`, which refers to a block in `blocks` (addresses and
    /// lengths), with SCTLR_EL3 from `controls`.
    fn new(event: [u64; 3], blocks: &[(u64, u64)], controls: &HashMap<u32, u64>) -> Result<Self> {
        let [first, inside, outside] = event;
        let cpu = cpu_of(first);
        let control = *controls
            .get(&cpu)
            .context("the record is damaged: no SCTLR_EL3")?;
        let block = blocks.get((first >> 32) as usize);
        let &(address, len) = block.context("the record is damaged: unknown block")?;
        let execution = Execution {
            cpu,
            address,
            len,
            ran: 0,
            at: inside + outside,
            control,
            accesses: Vec::new(),
            power_level: None,
        };
        Ok(Self { event, execution })
    }

    /// Returns true if `event` is another execution of the same block, directly after a complete
    /// execution without memory accesses. Most events are repeats, because caches are cleaned by
    /// set and way in a loop.
    fn is_repeated_by(&self, event: [u64; 3]) -> bool {
        let [first, inside, outside] = self.event;
        event[0] == first
            && event[1] == inside + self.execution.len
            && event[2] == outside
            && self.execution.accesses.is_empty()
            && self.execution.power_level.is_none()
    }

    /// Adds a memory access to the last execution.
    fn add_access(&mut self, [first, address, pc]: [u64; 3]) -> Result<()> {
        let access = MemoryAccess {
            pc: pc & !(IS_STORE | IS_CACHEABLE),
            address,
            size: first >> 32,
            is_store: pc & IS_STORE != 0,
            is_cacheable: pc & IS_CACHEABLE != 0,
        };
        let block = self.execution.address..self.execution.address + 4 * self.execution.len;
        if !block.contains(&access.pc) || address.checked_add(access.size).is_none() {
            bail!("the record is damaged: impossible memory access");
        }
        self.execution.accesses.push(access);
        Ok(())
    }

    /// Returns the executions. `inside` is the number of firmware instructions that all CPUs had
    /// executed when the last execution ended.
    fn end(mut self, inside: u64) -> Result<Execution> {
        let ran = inside
            .checked_sub(self.event[1])
            .context("the record is damaged: inconsistent counts")?;
        if ran > self.execution.len {
            bail!(LACKS_BLOCK);
        }
        self.execution.ran += ran;
        Ok(self.execution)
    }
}

fn cpu_of(first: u64) -> u32 {
    (first >> 8) as u32 & 0xff_ffff
}

/// Calls `take` on each execution in `record`, in order.
///
/// # Errors
/// Returns an error if the record is truncated or damaged, or if an execution is missing.
pub(crate) fn read(mut record: impl Read, mut take: impl FnMut(&Execution)) -> Result<()> {
    let mut blocks: Vec<(u64, u64)> = Vec::new();
    let mut controls = HashMap::new();
    let mut current: Option<Last> = None;
    let mut chunk = Vec::new();
    loop {
        chunk.clear();
        let read = record.by_ref().take(CHUNK).read_to_end(&mut chunk);
        read.context(CUT_OFF)?;
        let (events, _) = chunk.as_chunks::<8>().0.as_chunks::<3>();
        if events.is_empty() {
            bail!(CUT_OFF);
        }
        for [first, a, b] in events {
            let first = u64::from_le_bytes(*first);
            let a = u64::from_le_bytes(*a);
            let b = u64::from_le_bytes(*b);
            let event = [first, a, b];
            if let Some(last) = &mut current
                && last.is_repeated_by(event)
            {
                last.execution.ran += last.execution.len;
                last.event = event;
                continue;
            }
            match first as u8 {
                BLOCK if first >> 32 == blocks.len() as u64 => blocks.push((a, b)),
                kind @ (EXECUTION | END) => {
                    match current.take() {
                        Some(last) => take(&last.end(a)?),
                        None if a > 0 => bail!(LACKS_BLOCK),
                        None => {}
                    }
                    if kind == END {
                        return Ok(());
                    }
                    current = Some(Last::new(event, &blocks, &controls)?);
                }
                ACCESS => current.as_mut().context(NO_BLOCK)?.add_access(event)?,
                CONTROL => {
                    controls.insert(cpu_of(first), a);
                }
                POWER_LEVEL => {
                    let last = current.as_mut().context(NO_BLOCK)?;
                    last.execution.power_level = Some(a);
                }
                _ => bail!("the record is damaged: unknown event"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the address, instruction count, start and number of accesses of each execution.
    fn read_events(events: &[[u64; 3]]) -> Result<Vec<(u64, u64, u64, usize)>> {
        let words = events.as_flattened().iter();
        let bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        let mut executions = Vec::new();
        read(&bytes[..], |execution| {
            let accesses = execution.accesses.len();
            executions.push((execution.address, execution.ran, execution.at, accesses));
        })?;
        Ok(executions)
    }

    fn event(kind: u8, cpu: u64, number: u64, counts: [u64; 2]) -> [u64; 3] {
        let first = u64::from(kind) | cpu << 8 | number << 32;
        [first, counts[0], counts[1]]
    }

    #[test]
    fn whole_executions_in_a_row_are_read_as_one() {
        let block = event(BLOCK, 0, 0, [0x1000, 4]);
        let run = |cpu, inside_count, outside_count| {
            event(EXECUTION, cpu, 0, [inside_count, outside_count])
        };
        let store = |index: u64| event(ACCESS, 0, 8, [0x2000, 0x1000 + 4 * index + 1]);
        let control = |cpu| event(CONTROL, cpu, 0, [0x30c5_083a, 0]);
        let end = |inside_count| event(END, 0, 0, [inside_count, 0]);
        let cases = [
            // The last execution in a sequence may be interrupted.
            (
                vec![run(0, 0, 5), run(0, 4, 5), run(0, 8, 5), end(11)],
                vec![(0x1000, 11, 5, 0)],
            ),
            // A new sequence starts after an interrupted execution, after the payload has run, or
            // when another CPU executes the block.
            (
                vec![
                    run(0, 0, 0),
                    run(0, 3, 0),
                    run(0, 7, 1),
                    run(1, 11, 1),
                    end(15),
                ],
                vec![
                    (0x1000, 3, 0, 0),
                    (0x1000, 4, 3, 0),
                    (0x1000, 4, 8, 0),
                    (0x1000, 4, 12, 0),
                ],
            ),
            // A memory access belongs to the last execution in a sequence.
            (
                vec![run(0, 0, 0), run(0, 4, 0), store(2), run(0, 8, 0), end(12)],
                vec![(0x1000, 8, 0, 1), (0x1000, 4, 8, 0)],
            ),
        ];
        for (events, executions) in cases {
            let events = [vec![block, control(0), control(1)], events].concat();
            assert_eq!(read_events(&events).expect("a valid record"), executions);
        }
    }

    #[test]
    fn record_that_lacks_something_is_refused() {
        let block = event(BLOCK, 0, 0, [0x1000, 4]);
        let run = |inside_count| event(EXECUTION, 0, 0, [inside_count, 0]);
        let end = |inside_count| event(END, 0, 0, [inside_count, 0]);
        let control = event(CONTROL, 0, 0, [0, 0]);
        let access = |pc| event(ACCESS, 0, 8, [0x2000, pc]);
        let cases = [
            (vec![block, run(0), run(4)], CUT_OFF),
            (vec![block, run(0), run(8), end(12)], LACKS_BLOCK),
            (vec![block, run(4), end(8)], LACKS_BLOCK),
            (vec![block, run(0), run(4), end(3)], "inconsistent counts"),
            (vec![run(0), end(4)], "damaged: unknown block"),
            (vec![block, access(0x1000)], NO_BLOCK),
            (
                vec![block, run(0), access(0x1010)],
                "impossible memory access",
            ),
        ];
        for (events, expected) in cases {
            let events = [vec![control], events].concat();
            let error = read_events(&events)
                .expect_err("no valid record")
                .to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
