//! Calls of the firmware, rebuilt from executed blocks: the stack of functions of each CPU, and
//! the instructions of each stack between timestamps.

use std::collections::{BTreeMap, HashMap};

use hardware::spec::pmf::Stamp;
use report::profile::profile::Cost;

use super::code::Code;
use super::record::Execution;

/// The costs of stacks, by their numbers in [`Stacks`].
pub(super) type Costs = BTreeMap<u32, Cost>;

/// A call: from the entry of the firmware to its return, with a power-down in between.
#[derive(Debug)]
pub(super) struct Call {
    /// The CPU, as the plugin identifies it.
    pub cpu: u32,
    parts: Vec<Part>,
}

/// The part of a call from one read of the counter to the next.
#[derive(Debug)]
struct Part {
    /// The timestamp that was read at the beginning; None if the value was stored elsewhere.
    stamp: Option<Stamp>,
    /// The number of instructions of all CPUs at the beginning.
    at: u64,
    costs: Costs,
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
        let (stamp, costs) = (None, Costs::new());
        self.parts.push(Part { stamp, at, costs });
    }

    fn add(&mut self, stack: u32, instructions: u64, calls: u64) {
        if let Some(part) = self.parts.last_mut() {
            let cost = Cost {
                instructions,
                calls,
            };
            part.costs.entry(stack).or_default().add(cost);
        }
    }

    /// Names the part whose counter was stored at `at`, all CPUs' instructions.
    fn name_part(&mut self, at: u64, stamp: Option<Stamp>) {
        let part = self.parts.iter_mut().skip(1).rfind(|it| it.at < at);
        if let (Some(part), Some(stamp)) = (part, stamp) {
            part.stamp = Some(stamp);
        }
    }

    fn place(&self, stamp: Stamp) -> Option<usize> {
        self.parts.iter().rposition(|it| it.stamp == Some(stamp))
    }

    /// Returns the number of instructions of all CPUs at `stamp`.
    pub fn at(&self, stamp: Stamp) -> Option<u64> {
        self.place(stamp).map(|place| self.parts[place].at)
    }

    /// Returns the costs from one timestamp to another.
    pub fn costs(&self, from: Stamp, to: Stamp) -> impl Iterator<Item = (u32, Cost)> {
        let places = self.place(from).zip(self.place(to));
        let parts = places.and_then(|(from, to)| self.parts.get(from..to));
        let parts = parts.unwrap_or_default().iter();
        parts.flat_map(|part| part.costs.iter().map(|(stack, cost)| (*stack, *cost)))
    }
}

/// Stacks, each as the number of the stack below and the innermost function.
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

    /// Returns the names of a stack's functions, outermost first, with semicolons between.
    pub fn name(&self, code: &Code, stack: u32) -> String {
        let (below, function) = self.all[stack as usize];
        let below = below.map(|it| self.name(code, it) + ";");
        below.unwrap_or_default() + code.name(function)
    }
}

/// A function that is not done, and the address to which it returns.
struct Frame {
    stack: u32,
    back: Option<u64>,
}

#[derive(Default)]
struct Cpu {
    call: Option<Call>,
    frames: Vec<Frame>,
    /// The return address of the call at the end of the last block.
    called_from: Option<u64>,
}

impl Cpu {
    /// Returns the stack with `function` as the innermost. Where it follows another function,
    /// or is jumped to, it returns for that one.
    fn enter(&mut self, function: u32, stacks: &mut Stacks, call: &mut Call) -> u32 {
        let top = self.frames.last();
        let innermost = top.map(|it| stacks.all[it.stack as usize]);
        if let (Some(top), Some((_, innermost))) = (top, innermost)
            && innermost == function
        {
            return top.stack;
        }
        let stack = stacks.number(innermost.and_then(|it| it.0), function);
        let back = self.frames.pop().and_then(|it| it.back);
        self.frames.push(Frame { stack, back });
        call.add(stack, 0, 1);
        stack
    }
}

/// Rebuilds calls.
pub(super) struct Builder<'c> {
    code: &'c Code,
    cpus: Vec<(u32, Cpu)>,
    /// The place of the CPU of the last block: the next one is mostly its, too.
    last: usize,
    pub stacks: Stacks,
    /// Calls with timestamps, in the order of their ends.
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
            self.cpus.push((id, Cpu::default()));
            self.cpus.len() - 1
        });
    }

    /// Adds a block.
    pub fn take(&mut self, block: &Execution) {
        if block.ran == 0 {
            return;
        }
        self.select_cpu(block.cpu);
        let (code, stacks) = (self.code, &mut self.stacks);
        let cpu = &mut self.cpus[self.last].1;
        let begins = cpu.call.is_none() || block.address == code.warm_entry;
        let mut call = cpu
            .call
            .take()
            .unwrap_or_else(|| Call::new(block.cpu, block.at));
        if begins {
            cpu.frames.clear();
            cpu.called_from = None;
        }
        // Most blocks follow no call: frames need not be searched for them.
        let follows_call = code.is_call(block.address.wrapping_sub(4));
        let returned = follows_call.then_some(Some(block.address));
        let returned = returned.and_then(|back| cpu.frames.iter().rposition(|it| it.back == back));
        // The callee may be no part of BL31's code.
        let called_from = cpu.called_from.take().filter(|it| *it != block.address);
        if let Some(back) = called_from {
            let (function, _) = code.function(block.address);
            let stack = stacks.number(cpu.frames.last().map(|it| it.stack), function);
            let back = Some(back);
            cpu.frames.push(Frame { stack, back });
            call.add(stack, 0, 1);
        } else if let Some(place) = returned {
            cpu.frames.truncate(place);
        }
        let end = block.address + 4 * block.ran;
        let mut address = block.address;
        while address < end {
            let (function, function_end) = code.function(address);
            let stack = cpu.enter(function, stacks, &mut call);
            let mut run_end = end.min(function_end);
            match code.counter_read_from(address) {
                Some(read) if read == address => {
                    call.begin_part(block.at + (address - block.address) / 4);
                    run_end = run_end.min(address + 4);
                }
                Some(read) => run_end = run_end.min(read),
                None => {}
            }
            call.add(stack, (run_end - address) / 4, 0);
            address = run_end;
        }
        for (instruction, offset) in &block.stores {
            call.name_part(block.at + instruction, code.stamp(*offset));
        }
        if code.is_exit(end - 4) {
            let has_stamps = call.parts.iter().any(|it| it.stamp.is_some());
            self.calls.extend(Some(call).filter(|_| has_stamps));
        } else {
            cpu.called_from = code.is_call(end - 4).then_some(end);
            cpu.call = Some(call);
        }
    }
}
