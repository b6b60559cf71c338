//! Reconstructs firmware calls from executed blocks: each CPU's stack of functions, and the number
//! of instructions in each stack between timestamps.

use std::collections::HashMap;
use std::mem;
use std::ops::Range;

use hardware::spec::pmf::Stamp;

use crate::attribution::code::Code;
use crate::attribution::memory_events::{MemoryEvents, has_instruction_cache, is_split};
use crate::attribution::record::Execution;
use crate::profile::event::{Event, EventCounts};
use crate::profile::profile::Cost;

/// The costs of the current part of a call, by stack.
#[derive(Debug, Default)]
struct CostTally {
    /// Indexed by stack number in [`Stacks`].
    costs: Vec<Cost>,
    /// The stacks that have a cost.
    stacks: Vec<u32>,
}

impl CostTally {
    fn add(&mut self, stack: u32, cost: Cost) {
        let stack_index = stack as usize;
        if stack_index >= self.costs.len() {
            self.costs.resize(stack_index + 1, Cost::default());
        }
        let sum = &mut self.costs[stack_index];
        if sum.is_empty() {
            self.stacks.push(stack);
        }
        sum.add(cost);
    }

    /// Returns the costs and resets them.
    fn take(&mut self) -> Vec<(u32, Cost)> {
        let mut taken = Vec::with_capacity(self.stacks.len());
        for stack in self.stacks.drain(..) {
            taken.push((stack, mem::take(&mut self.costs[stack as usize])));
        }
        taken
    }
}

/// A firmware call from entry to return, including any power-down in between.
#[derive(Debug)]
pub(crate) struct Call {
    /// The CPU, as identified by the plugin.
    pub cpu: u32,
    parts: Vec<CallPart>,
}

/// What a part of a call starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartStart {
    /// The entry into the firmware, or a read of the counter that was not stored as a timestamp.
    Unnamed,
    /// A read of the counter that was stored as this timestamp.
    Stamp(Stamp),
    /// The warm entry point, after a power-down.
    WarmEntry,
}

/// The part of a call between two starts.
#[derive(Debug)]
struct CallPart {
    start: PartStart,
    /// The number of instructions executed across all CPUs when this part started.
    at: u64,
    /// The costs by stack. Empty until the part ends.
    costs: Vec<(u32, Cost)>,
}

impl Call {
    fn new(cpu: u32, at: u64) -> Self {
        let mut call = Self {
            cpu,
            parts: Vec::new(),
        };
        call.begin_part(PartStart::Unnamed, at);
        call
    }

    fn begin_part(&mut self, start: PartStart, at: u64) {
        let costs = Vec::new();
        self.parts.push(CallPart { start, at, costs });
    }

    fn end_part(&mut self, costs: Vec<(u32, Cost)>) {
        if let Some(part) = self.parts.last_mut() {
            part.costs = costs;
        }
    }

    /// Sets the timestamp for the part whose counter value was stored when `at` instructions had
    /// been executed across all CPUs.
    fn name_part(&mut self, at: u64, stamp: Option<Stamp>) {
        let Some(stamp) = stamp else {
            return;
        };
        for part in self.parts.iter_mut().skip(1).rev() {
            if part.at < at && part.start != PartStart::WarmEntry {
                part.start = PartStart::Stamp(stamp);
                return;
            }
        }
    }

    fn has_timestamps(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| matches!(part.start, PartStart::Stamp(_)))
    }

    fn part_index(&self, stamp: Stamp) -> Option<usize> {
        let start = PartStart::Stamp(stamp);
        self.parts.iter().rposition(|part| part.start == start)
    }

    /// Returns the number of instructions that all CPUs had executed by the time of `stamp`.
    pub fn at(&self, stamp: Stamp) -> Option<u64> {
        self.part_index(stamp).map(|index| self.parts[index].at)
    }

    /// Returns the instructions from the entry to the return. None for a call with a power-down.
    pub fn instructions(&self) -> Option<u64> {
        let mut instructions = 0;
        for part in &self.parts {
            if part.start == PartStart::WarmEntry {
                return None;
            }
            for (_, cost) in &part.costs {
                instructions += cost.instructions;
            }
        }
        Some(instructions)
    }

    /// Returns the costs between two timestamps.
    pub fn costs(&self, from: Stamp, to: Stamp) -> impl Iterator<Item = (u32, Cost)> {
        let parts = match (self.part_index(from), self.part_index(to)) {
            (Some(start), Some(end)) => self.parts.get(start..end).unwrap_or_default(),
            _ => &[],
        };
        costs_of(parts)
    }

    /// Returns the instructions that all CPUs executed between the warm entry point and the first
    /// timestamp after it, and the costs of this CPU. None for a call without a power-down.
    pub fn reset(&self) -> Option<(u64, impl Iterator<Item = (u32, Cost)>)> {
        let end = self.part_index(Stamp::ExitHwLowPwr)?;
        let mut before = self.parts[..end].iter();
        let start = before.rposition(|part| part.start == PartStart::WarmEntry)?;
        let parts = &self.parts[start..end];
        Some((self.parts[end].at - parts[0].at, costs_of(parts)))
    }
}

fn costs_of(parts: &[CallPart]) -> impl Iterator<Item = (u32, Cost)> {
    let costs = parts.iter().flat_map(|part| &part.costs);
    costs.copied()
}

/// Stacks, each stored as the number of the stack below it and its innermost function.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    all: Vec<(Option<u32>, u32)>,
    known: HashMap<(Option<u32>, u32), u32>,
}

impl Stacks {
    fn number(&mut self, below: Option<u32>, function: u32) -> u32 {
        *self.known.entry((below, function)).or_insert_with(|| {
            self.all.push((below, function));
            self.all.len() as u32 - 1
        })
    }

    /// Returns the names of a stack's functions, outermost first, separated by semicolons.
    pub fn name(&self, code: &Code, stack: u32) -> String {
        let (below, function) = self.all[stack as usize];
        let own = code.name(function);
        match below {
            Some(below) => self.name(code, below) + ";" + own,
            None => own.to_owned(),
        }
    }
}

/// A function that has not returned, and its return address.
struct CallFrame {
    function: u32,
    stack: u32,
    return_address: Option<u64>,
}

#[derive(Default)]
struct CpuCalls {
    call: Option<Call>,
    /// The costs of the current part of the call.
    tally: CostTally,
    frames: Vec<CallFrame>,
    /// The return address of the call at the end of the last block.
    called_from: Option<u64>,
    /// The end of the last block, if the CPU fetched it past the instruction cache.
    fetched_to: Option<u64>,
}

impl CpuCalls {
    /// Enters a function that will return to `back`.
    fn push(&mut self, function: u32, return_address: Option<u64>, stacks: &mut Stacks) -> u32 {
        let below = self.frames.last().map(|frame| frame.stack);
        let stack = stacks.number(below, function);
        self.frames.push(CallFrame {
            function,
            stack,
            return_address,
        });
        let entered = Cost {
            calls: 1,
            ..Cost::default()
        };
        self.tally.add(stack, entered);
        stack
    }

    /// Returns the stack with `function` as its innermost function. A function that is entered by a
    /// jump or by falling through replaces the innermost function, and returns to that function's
    /// caller.
    fn enter(&mut self, function: u32, stacks: &mut Stacks) -> u32 {
        if let Some(top) = self.frames.last()
            && top.function == function
        {
            return top.stack;
        }
        let return_address = self.frames.pop().and_then(|frame| frame.return_address);
        self.push(function, return_address, stacks)
    }
}

/// Reconstructs calls from executions.
pub(crate) struct Builder<'c> {
    code: &'c Code,
    memory: MemoryEvents,
    cpus: Vec<(u32, CpuCalls)>,
    /// The index of the CPU that executed the last block, which usually also executes the next one.
    last: usize,
    pub stacks: Stacks,
    /// Calls with timestamps, in order of completion.
    pub calls: Vec<Call>,
}

impl<'c> Builder<'c> {
    /// `memory` contains the CPUs' caches.
    pub fn new(code: &'c Code, memory: MemoryEvents) -> Self {
        Self {
            code,
            memory,
            cpus: Vec::new(),
            last: 0,
            stacks: Stacks::default(),
            calls: Vec::new(),
        }
    }

    fn select_cpu(&mut self, id: u32) {
        if let Some((last_id, _)) = self.cpus.get(self.last)
            && *last_id == id
        {
            return;
        }
        self.last = match self.cpus.iter().position(|(cpu_id, _)| *cpu_id == id) {
            Some(index) => index,
            None => {
                self.cpus.push((id, CpuCalls::default()));
                self.cpus.len() - 1
            }
        };
    }

    /// Adds executions of a block.
    pub fn add_execution(&mut self, block: &Execution) {
        self.select_cpu(block.cpu);
        let mut executed_count = 0;
        while executed_count < block.ran {
            let is_last = block.ran - executed_count <= block.len;
            let is_round =
                executed_count > 0 && !is_last && self.code.is_plain(block.address, block.len);
            executed_count += if is_round {
                self.repeat(block, executed_count)
            } else {
                self.execute(block, executed_count)
            };
        }
    }

    /// Adds the executions of a plain block after the first `executed_count` instructions, except
    /// the last execution, and returns their instruction count. These instructions belong to the
    /// function that the block has already entered.
    fn repeat(&mut self, block: &Execution, executed_count: u64) -> u64 {
        let rounds = (block.ran - executed_count - 1) / block.len;
        let addresses = block.address..block.address + 4 * block.len;
        let mut once = self.cost(block, &addresses);
        once.events += self.branch_events(block);
        let cpu = &mut self.cpus[self.last].1;
        if let Some(top) = cpu.frames.last() {
            let cost = Cost {
                instructions: once.instructions * rounds,
                calls: 0,
                events: once.events.repeated(rounds),
            };
            cpu.tally.add(top.stack, cost);
        }
        rounds * block.len
    }

    /// Returns the cost of executing the instructions at these addresses once.
    fn cost(&mut self, block: &Execution, addresses: &Range<u64>) -> Cost {
        let mut events = self.code.events(addresses.clone());
        events += self.memory.fetch(block.cpu, block.control, addresses);
        Cost {
            instructions: (addresses.end - addresses.start) / 4,
            calls: 0,
            events,
        }
    }

    /// Returns the events of the branch that leads to `block`, if there is one.
    fn branch_events(&self, block: &Execution) -> EventCounts {
        let mut counts = EventCounts::default();
        if let Some(from) = self.cpus[self.last].1.fetched_to
            && from != block.address
        {
            counts.count(Event::FetchBranch);
            let is_loop = block.address < from
                && self.code.function(from - 4).number == self.code.function(block.address).number;
            if is_loop && is_split(&(block.address..from)) {
                counts.count(Event::SplitLoop);
            }
        }
        counts
    }

    /// Adds the part of the execution after the first `executed_count` instructions, and returns
    /// its instruction count.
    fn execute(&mut self, block: &Execution, executed_count: u64) -> u64 {
        let ran = block.len.min(block.ran - executed_count);
        let at = block.at + executed_count;
        let end = block.address + 4 * ran;
        let is_last = executed_count + ran == block.ran;
        let branch = self.branch_events(block);
        let mut call = self.continue_call(block, at, branch);
        let mut waits = false;
        let mut address = block.address;
        while address < end {
            let function = self.code.function(address);
            let mut run_end = end.min(function.end);
            let cpu = &mut self.cpus[self.last].1;
            let stack = cpu.enter(function.number, &mut self.stacks);
            match self.code.counter_read_from(address) {
                Some(read) if read == address => {
                    call.end_part(cpu.tally.take());
                    call.begin_part(PartStart::Unnamed, at + (address - block.address) / 4);
                    run_end = run_end.min(address + 4);
                }
                Some(read) => run_end = run_end.min(read),
                None => {}
            }
            let addresses = address..run_end;
            let mut cost = self.cost(block, &addresses);
            waits |= cost.events[Event::Wfi] + cost.events[Event::Wfe] > 0;
            if address == function.start
                && !has_instruction_cache(block.control)
                && is_split(&(function.start..function.end))
            {
                cost.events.count(Event::SplitFunction);
            }
            if is_last {
                cost.events += self.access_events(block, &addresses);
            }
            self.cpus[self.last].1.tally.add(stack, cost);
            address = run_end;
        }
        if is_last {
            self.end_execution(block, at, &mut call);
        }
        self.end_block(block, end, call);
        if waits {
            self.memory.wait(block.cpu);
        }
        ran
    }

    /// Returns the events of the accesses by the instructions at these addresses.
    fn access_events(&mut self, block: &Execution, addresses: &Range<u64>) -> EventCounts {
        let mut counts = EventCounts::default();
        for access in &block.accesses {
            if addresses.contains(&access.pc) {
                counts += self.memory.access(block.cpu, block.control, access);
            }
        }
        counts
    }

    /// Returns the call that the block belongs to, and updates the CPU's frames. `at` is the number
    /// of instructions that all CPUs have executed, and `branch` contains the events of the branch
    /// that leads to the block.
    fn continue_call(&mut self, block: &Execution, at: u64, branch: EventCounts) -> Call {
        let (_, cpu) = &mut self.cpus[self.last];
        if cpu.call.is_some()
            && let Some(top) = cpu.frames.last()
        {
            let cost = Cost {
                events: branch,
                ..Cost::default()
            };
            cpu.tally.add(top.stack, cost);
        }
        let is_warm_entry = block.address == self.code.warm_entry;
        if cpu.call.is_none() || is_warm_entry {
            cpu.frames.clear();
            cpu.called_from = None;
        }
        let call = match cpu.call.take() {
            Some(mut call) if is_warm_entry => {
                call.end_part(cpu.tally.take());
                call.begin_part(PartStart::WarmEntry, at);
                call
            }
            Some(call) => call,
            None => Call::new(block.cpu, at),
        };
        self.update_frames(block);
        call
    }

    /// Adds the frame of a callee that starts with the block, or removes the frames of functions
    /// that have returned to the block.
    fn update_frames(&mut self, block: &Execution) {
        let (_, cpu) = &mut self.cpus[self.last];
        let called_from = cpu.called_from.take();
        if let Some(return_address) = called_from
            && return_address != block.address
        {
            // The callee may be outside the BL31 code.
            let function = self.code.function(block.address);
            cpu.push(function.number, Some(return_address), &mut self.stacks);
            return;
        }
        // Most blocks do not follow a call, so there is no need to search the frames for them.
        if !self.code.is_call(block.address.wrapping_sub(4)) {
            return;
        }
        for (frame_index, frame) in cpu.frames.iter().enumerate().rev() {
            if frame.return_address == Some(block.address) {
                cpu.frames.truncate(frame_index);
                return;
            }
        }
    }

    /// Names the parts of the call whose timestamps the last execution of the block stores, and
    /// follows the CPU's power-down. `at` is the number of instructions that all CPUs had executed
    /// before the last execution.
    fn end_execution(&mut self, block: &Execution, at: u64, call: &mut Call) {
        for access in &block.accesses {
            if access.is_store {
                let stored_at = at + (access.pc - block.address) / 4;
                call.name_part(stored_at, self.code.stamp(access.address));
            }
        }
        if let Some(level) = block.power_level {
            self.memory.start_power_down(block.cpu, level);
        }
    }

    /// Ends the block at `end`, which may also end its call.
    fn end_block(&mut self, block: &Execution, end: u64, mut call: Call) {
        let cpu = &mut self.cpus[self.last].1;
        cpu.fetched_to = None;
        if self.code.is_exit(end - 4) {
            call.end_part(cpu.tally.take());
            if call.has_timestamps() {
                self.calls.push(call);
            }
            return;
        }
        if !has_instruction_cache(block.control) {
            cpu.fetched_to = Some(end);
        }
        cpu.called_from = self.code.is_call(end - 4).then_some(end);
        cpu.call = Some(call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::record::MemoryAccess;

    const MRS_CNTPCT: u32 = 0xd53b_e021;
    const STR: u32 = 0xf900_0001;
    const NOP: u32 = 0xd503_201f;
    const B_NE: u32 = 0x54ff_ffe1;
    const WFI: u32 = 0xd503_207f;
    const ERET: u32 = 0xd69f_03e0;

    /// Returns an execution of `ran` instructions from the block at `address` with the caches off.
    fn execution(address: u64, len: u64, ran: u64) -> Execution {
        Execution {
            cpu: 0,
            address,
            len,
            ran,
            at: 100,
            control: 0,
            accesses: Vec::new(),
            power_level: None,
        }
    }

    /// Returns the events in all parts of a call.
    fn events(call: &Call) -> Vec<(Event, u64)> {
        let mut sum = EventCounts::default();
        for (_, cost) in costs_of(&call.parts) {
            sum += cost.events;
        }
        sum.iter().filter(|(_, count)| *count > 0).collect()
    }

    /// A function with a loop of two instructions, which lies in two lines, as the function does.
    #[test]
    fn loop_with_the_instruction_cache_off_fetches_two_lines_in_each_iteration() {
        let words = [MRS_CNTPCT, STR, NOP, NOP, B_NE, ERET];
        let functions = [(0x1030, "f"), (0x1048, "next")];
        let code = Code::synthetic(0x1030, &words, &functions, 0x2000..0x2030);
        let mut builder = Builder::new(&code, MemoryEvents::default());
        let mut first = execution(0x1030, 5, 5);
        first.accesses.push(MemoryAccess {
            pc: 0x1034,
            address: 0x2000,
            size: 8,
            is_store: true,
            is_cacheable: false,
        });
        builder.add_execution(&first);
        // Three more iterations, and the rest.
        builder.add_execution(&execution(0x103c, 2, 6));
        builder.add_execution(&execution(0x1044, 1, 1));
        let [call] = &builder.calls[..] else {
            panic!("one call");
        };
        let expected = [
            (Event::Mrs, 1),
            (Event::Fetch, 5 + 3 * 2 + 1),
            (Event::FetchLine, 2 + 3 * 2),
            (Event::FetchJump, 1 + 3),
            (Event::FetchBranch, 3),
            (Event::SplitLoop, 3),
            (Event::SplitFunction, 1),
            (Event::Uncached, 1),
        ];
        assert_eq!(events(call), expected);
        assert_eq!(call.at(Stamp::EnterPsci), Some(100));
    }

    /// A call that powers down and continues at the warm entry point.
    #[test]
    fn reset_ends_at_the_first_timestamp_after_the_warm_entry_point() {
        let words = [WFI, NOP, NOP, MRS_CNTPCT, STR, ERET];
        let functions = [(0x1000, "down"), (0x1004, "warm")];
        let mut code = Code::synthetic(0x1000, &words, &functions, 0x2000..0x2030);
        code.warm_entry = 0x1004;
        let mut builder = Builder::new(&code, MemoryEvents::default());
        builder.add_execution(&execution(0x1000, 1, 1));
        let mut warm = execution(0x1004, 5, 5);
        warm.at = 200;
        warm.accesses.push(MemoryAccess {
            pc: 0x1010,
            address: 0x2000 + 8 * Stamp::ExitHwLowPwr as u64,
            size: 8,
            is_store: true,
            is_cacheable: false,
        });
        builder.add_execution(&warm);
        let [call] = &builder.calls[..] else {
            panic!("one call");
        };
        let (elapsed, costs) = call.reset().expect("a power-down");
        let named: Vec<(String, u64)> = costs
            .map(|(stack, cost)| (builder.stacks.name(&code, stack), cost.instructions))
            .collect();
        assert_eq!((elapsed, named), (2, vec![("warm".to_owned(), 2)]));
    }
}
