//! Reconstructs firmware calls from executed blocks: each CPU's stack of functions, and the number
//! of instructions in each stack between timestamps.

use std::collections::HashMap;
use std::mem;
use std::ops::Range;

use hardware::spec::pmf::Stamp;
use report::profile::profile::Cost;

use super::code::Code;
use super::record::Execution;

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
        let place = stack as usize;
        if place >= self.costs.len() {
            self.costs.resize(place + 1, Cost::default());
        }
        let sum = &mut self.costs[place];
        if sum.instructions == 0 && sum.calls == 0 {
            self.stacks.push(stack);
        }
        sum.add(cost);
    }

    /// Returns the costs and resets them.
    fn take(&mut self) -> Vec<(u32, Cost)> {
        let costs = &mut self.costs;
        let stacks = self.stacks.drain(..);
        stacks
            .map(|it| (it, mem::take(&mut costs[it as usize])))
            .collect()
    }
}

/// A firmware call from entry to return, including any power-down in between.
#[derive(Debug)]
pub(super) struct Call {
    /// The CPU, as identified by the plugin.
    pub cpu: u32,
    parts: Vec<CallPart>,
}

/// The part of a call between two reads of the counter.
#[derive(Debug)]
struct CallPart {
    /// The timestamp for which the counter was read at the start of this part. None if the counter
    /// value was not stored as a timestamp.
    stamp: Option<Stamp>,
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
        call.begin_part(at);
        call
    }

    fn begin_part(&mut self, at: u64) {
        let (stamp, costs) = (None, Vec::new());
        self.parts.push(CallPart { stamp, at, costs });
    }

    fn end_part(&mut self, costs: Vec<(u32, Cost)>) {
        if let Some(part) = self.parts.last_mut() {
            part.costs = costs;
        }
    }

    /// Sets the timestamp for the part whose counter value was stored when `at` instructions had
    /// been executed across all CPUs.
    fn name_part(&mut self, at: u64, stamp: Option<Stamp>) {
        let part = self.parts.iter_mut().skip(1).rfind(|it| it.at < at);
        if let (Some(part), Some(stamp)) = (part, stamp) {
            part.stamp = Some(stamp);
        }
    }

    fn place(&self, stamp: Stamp) -> Option<usize> {
        self.parts.iter().rposition(|it| it.stamp == Some(stamp))
    }

    /// Returns the number of instructions that all CPUs had executed by the time of `stamp`.
    pub fn at(&self, stamp: Stamp) -> Option<u64> {
        self.place(stamp).map(|place| self.parts[place].at)
    }

    /// Returns the costs between two timestamps.
    pub fn costs(&self, from: Stamp, to: Stamp) -> impl Iterator<Item = (u32, Cost)> {
        let places = self.place(from).zip(self.place(to));
        let parts = places.and_then(|(from, to)| self.parts.get(from..to));
        let parts = parts.unwrap_or(&[]).iter();
        parts.flat_map(|part| part.costs.iter().copied())
    }
}

/// Stacks, each stored as the number of the stack below it and its innermost function.
#[derive(Debug, Default)]
pub(super) struct Stacks {
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
        let below = below.map_or_else(String::new, |it| self.name(code, it) + ";");
        below + code.name(function)
    }
}

/// A function that has not returned, and its return address.
struct CallFrame {
    function: u32,
    stack: u32,
    back: Option<u64>,
}

#[derive(Default)]
struct CpuCalls {
    call: Option<Call>,
    /// The costs of the current part of the call.
    tally: CostTally,
    frames: Vec<CallFrame>,
    /// The return address of the call at the end of the last block.
    called_from: Option<u64>,
}

impl CpuCalls {
    /// Enters a function that will return to `back`.
    fn push(&mut self, function: u32, back: Option<u64>, stacks: &mut Stacks) -> u32 {
        let stack = stacks.number(self.frames.last().map(|it| it.stack), function);
        self.frames.push(CallFrame {
            function,
            stack,
            back,
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
        let back = self.frames.pop().and_then(|it| it.back);
        self.push(function, back, stacks)
    }
}

/// Returns the cost of executing the instructions at these addresses once.
fn cost_of(code: &Code, addresses: Range<u64>) -> Cost {
    Cost {
        instructions: (addresses.end - addresses.start) / 4,
        calls: 0,
        events: code.events(addresses),
    }
}

/// Reconstructs calls from executions.
pub(super) struct Builder<'c> {
    code: &'c Code,
    cpus: Vec<(u32, CpuCalls)>,
    /// The index of the CPU that executed the last block, which usually also executes the next one.
    last: usize,
    pub stacks: Stacks,
    /// Calls with timestamps, in order of completion.
    pub calls: Vec<Call>,
}

impl<'c> Builder<'c> {
    pub fn new(code: &'c Code) -> Self {
        Self {
            code,
            cpus: Vec::new(),
            last: 0,
            stacks: Stacks::default(),
            calls: Vec::new(),
        }
    }

    fn select_cpu(&mut self, id: u32) {
        if self.cpus.get(self.last).is_some_and(|cpu| cpu.0 == id) {
            return;
        }
        let found = self.cpus.iter().position(|cpu| cpu.0 == id);
        self.last = found.unwrap_or_else(|| {
            self.cpus.push((id, CpuCalls::default()));
            self.cpus.len() - 1
        });
    }

    /// Adds executions of a block.
    pub fn take(&mut self, block: &Execution) {
        self.select_cpu(block.cpu);
        let mut done = 0;
        while done < block.ran {
            let is_last = block.ran - done <= block.len;
            let is_round = done > 0 && !is_last && self.code.is_plain(block.address, block.len);
            done += if is_round {
                self.repeat(block, done)
            } else {
                self.execute(block, done)
            };
        }
    }

    /// Adds the executions of a plain block after the first `done` instructions, except the last
    /// execution, and returns their instruction count. These instructions belong to the function
    /// that the block has already entered.
    fn repeat(&mut self, block: &Execution, done: u64) -> u64 {
        let rounds = (block.ran - done - 1) / block.len;
        let cpu = &mut self.cpus[self.last].1;
        if let Some(top) = cpu.frames.last() {
            let addresses = block.address..block.address + 4 * block.len;
            let once = cost_of(self.code, addresses);
            let cost = Cost {
                instructions: once.instructions * rounds,
                calls: 0,
                events: once.events.repeated(rounds),
            };
            cpu.tally.add(top.stack, cost);
        }
        rounds * block.len
    }

    /// Adds the part of the execution after the first `done` instructions, and returns its
    /// instruction count.
    fn execute(&mut self, block: &Execution, done: u64) -> u64 {
        let ran = block.len.min(block.ran - done);
        let at = block.at + done;
        let (code, stacks) = (self.code, &mut self.stacks);
        let cpu = &mut self.cpus[self.last].1;
        if cpu.call.is_none() || block.address == code.warm_entry {
            cpu.frames.clear();
            cpu.called_from = None;
        }
        let call = cpu.call.take();
        let mut call = call.unwrap_or_else(|| Call::new(block.cpu, at));
        let called_from = cpu.called_from.take();
        if let Some(back) = called_from
            && back != block.address
        {
            // The callee may be outside the BL31 code.
            let (function, _) = code.function(block.address);
            cpu.push(function, Some(back), stacks);
        } else if code.is_call(block.address.wrapping_sub(4)) {
            // Most blocks do not follow a call, so there is no need to search the frames for them.
            let back = Some(block.address);
            if let Some(place) = cpu.frames.iter().rposition(|it| it.back == back) {
                cpu.frames.truncate(place);
            }
        }
        let end = block.address + 4 * ran;
        let mut address = block.address;
        while address < end {
            let (function, function_end) = code.function(address);
            let stack = cpu.enter(function, stacks);
            let mut run_end = end.min(function_end);
            match code.counter_read_from(address) {
                Some(read) if read == address => {
                    call.end_part(cpu.tally.take());
                    call.begin_part(at + (address - block.address) / 4);
                    run_end = run_end.min(address + 4);
                }
                Some(read) => run_end = run_end.min(read),
                None => {}
            }
            cpu.tally.add(stack, cost_of(code, address..run_end));
            address = run_end;
        }
        if done + ran == block.ran {
            for store in &block.stores {
                call.name_part(store.at, code.stamp(store.offset));
            }
        }
        if code.is_exit(end - 4) {
            call.end_part(cpu.tally.take());
            if call.parts.iter().any(|it| it.stamp.is_some()) {
                self.calls.push(call);
            }
        } else {
            cpu.called_from = code.is_call(end - 4).then_some(end);
            cpu.call = Some(call);
        }
        ran
    }
}
