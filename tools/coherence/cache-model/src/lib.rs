//! A data cache model that exhibits all behavior that the architecture permits. A cache may contain
//! any line that it is allowed to contain, and may fill or evict it at any time. [`CacheModel`]
//! processes accesses and maintenance operations. It returns a [`CacheFinding`] for a load that may
//! not return the last value stored (Arm ARM, B2.7 "Caches", B2.8 "Mismatched memory attributes").
//!
//! Instruction caches, barriers between CPUs, dirty lines that move to another CPU's cache without
//! a load, and power loss in a cluster's cache are not modeled.
//!
//! ```
//! use cache_model::{CacheActor, CacheFault, CacheModel, Maintenance, AccessKind};
//!
//! // CPU 0 stores with its caches on. CPU 1 loads with its caches off.
//! let store = CacheActor { cpu: 0, pc: 0x1000, access: AccessKind::Cached };
//! let load = CacheActor { cpu: 1, pc: 0x2000, access: AccessKind::Uncached };
//! let mut model = CacheModel::new(4);
//! model.set_caches(0, true);
//! model.store(store, 0x8000, 8);
//! let finding = model.load(load, 0x8000, 8).expect("the line may be only in a cache");
//! assert_eq!(finding.fault, CacheFault::NotCleaned);
//!
//! model.maintain(0, Maintenance::Clean, 0x8000);
//! model.barrier(0);
//! assert_eq!(model.load(load, 0x8000, 8), None);
//! ```

mod access;
mod cache_line;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

pub use access::{AccessKind, CacheFault, LINE, Maintenance};
use cache_line::{CacheLine, Owner};

/// An instruction that accesses memory, along with the CPU that executes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CacheActor {
    /// The CPU number, below 64.
    pub cpu: u32,
    /// The instruction address.
    pub pc: u64,
    /// How the instruction accesses memory.
    pub access: AccessKind,
}

/// A load that may not return the last value stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CacheFinding {
    /// The reason.
    pub fault: CacheFault,
    /// The address of the first affected byte.
    pub address: u64,
    /// The load.
    pub reader: CacheActor,
    /// The last store, or None if an earlier stage made it before the model started.
    pub writer: Option<CacheActor>,
}

#[derive(Clone, Debug, Default)]
struct CpuCaches {
    is_on: bool,
    /// The last time the caches were on.
    last_on: u64,
    /// The last time the cluster's cache was flushed while this CPU's caches were off.
    flushed: u64,
    /// Maintenance operations not yet completed by a DSB, with their lines and times.
    pending: Vec<(Maintenance, u64, u64)>,
    /// Lines that the CPU has stored to, bypassing the caches, since its last DMB or DSB.
    /// Maintenance is not ordered with respect to such stores (Arm ARM, D7.5.9).
    unordered: BTreeSet<u64>,
}

/// The caches and memory of a modeled machine.
#[derive(Debug, Default)]
pub struct CacheModel {
    lines: HashMap<u64, CacheLine>,
    /// The lines that may be dirty.
    dirty: BTreeSet<u64>,
    cpus: HashMap<u32, CpuCaches>,
    writers: Vec<CacheActor>,
    known: HashMap<CacheActor, u32>,
    /// Memory that has not been accessed yet and whose lines an earlier stage may have left dirty.
    left_dirty: Vec<(Range<u64>, bool)>,
    clock: u64,
    /// The number of CPUs that share an L2 cache.
    cluster: u32,
}

impl CacheModel {
    /// Creates a machine in which each group of `cluster` consecutive CPUs shares an L2 cache.
    pub fn new(cluster: u32) -> Self {
        Self {
            cluster,
            ..Self::default()
        }
    }

    /// Turns a CPU's caches on or off.
    pub fn set_caches(&mut self, cpu: u32, is_on: bool) {
        let state = self.cpus.entry(cpu).or_default();
        if state.is_on || is_on {
            state.last_on = self.clock;
        }
        state.is_on = is_on;
    }

    /// Marks all lines in `memory` as left dirty by an earlier stage. `is_data` is true if they
    /// contain data loaded by that stage, and false if their contents are no longer needed.
    pub fn mark_left_dirty(&mut self, memory: Range<u64>, is_data: bool) {
        self.lines.retain(|line, _| !memory.contains(line));
        self.left_dirty.push((memory, is_data));
    }

    fn line(&mut self, line: u64) -> &mut CacheLine {
        self.lines.entry(line).or_insert_with(|| {
            let mut left_dirty = self.left_dirty.iter();
            if let Some((_, is_data)) = left_dirty.find(|(range, _)| range.contains(&line)) {
                self.dirty.insert(line);
                return CacheLine::left_dirty(*is_data);
            }
            CacheLine::default()
        })
    }

    /// Returns true if a cache may contain a copy of a line that was last invalidated at this time.
    fn may_hold(&self, invalidated: u64) -> bool {
        let may = |cpu: &CpuCaches| cpu.is_on || cpu.last_on > invalidated.max(cpu.flushed);
        self.cpus.values().any(may)
    }

    fn writer(&mut self, actor: CacheActor) -> u32 {
        *self.known.entry(actor).or_insert_with(|| {
            self.writers.push(actor);
            self.writers.len() as u32
        })
    }

    /// Splits an access into lines, each with a mask of the accessed bytes.
    fn parts(address: u64, size: u64) -> impl Iterator<Item = (u64, u64)> {
        let first = address & !(LINE - 1);
        (first..address + size)
            .step_by(LINE as usize)
            .map(move |line| {
                let from = address.max(line) - line;
                let to = (address + size).min(line + LINE) - line;
                (line, u64::MAX >> (LINE - (to - from)) << from)
            })
    }

    /// Records a store of `size` bytes.
    pub fn store(&mut self, actor: CacheActor, address: u64, size: u64) {
        self.clock += 1;
        let writer = self.writer(actor);
        let now = self.clock;
        for (line, bytes) in Self::parts(address, size) {
            match actor.access {
                AccessKind::Cached => {
                    let owner = self.owner(actor.cpu);
                    self.line(line).store_cached(bytes, writer, owner, now);
                    self.dirty.insert(line);
                }
                AccessKind::Uncached => {
                    let invalidated = self.line(line).invalidated;
                    let may_hold = self.may_hold(invalidated);
                    self.line(line).store_uncached(bytes, writer, may_hold, now);
                    let cpu = self.cpus.entry(actor.cpu).or_default();
                    cpu.unordered.insert(line);
                }
            }
        }
    }

    /// Records a load of `size` bytes. Returns the first byte that may be wrong.
    pub fn load(&mut self, actor: CacheActor, address: u64, size: u64) -> Option<CacheFinding> {
        self.clock += 1;
        let mut found = None;
        for (line, bytes) in Self::parts(address, size) {
            let owner = self.owner(actor.cpu);
            let loaded = self.line(line).load(bytes, actor.access, owner);
            let Some((fault, byte, writer)) = loaded else {
                continue;
            };
            // Writers are numbered from 1; 0 means that the byte was never written.
            let place = (writer as usize).checked_sub(1);
            found = found.or(Some(CacheFinding {
                fault,
                address: line + byte,
                reader: actor,
                writer: place.and_then(|place| self.writers.get(place).copied()),
            }));
        }
        found
    }

    /// Records a maintenance operation by address, which completes at the CPU's next
    /// [`Self::barrier`].
    pub fn maintain(&mut self, cpu: u32, operation: Maintenance, address: u64) {
        self.clock += 1;
        let line = address & !(LINE - 1);
        let now = self.clock;
        if operation == Maintenance::Invalidate {
            self.line(line).discard();
        }
        let state = self.cpus.entry(cpu).or_default();
        if !state.unordered.contains(&line) {
            state.pending.push((operation, line, now));
        }
    }

    /// Records a DMB on a CPU.
    pub fn order(&mut self, cpu: u32) {
        self.cpus.entry(cpu).or_default().unordered.clear();
    }

    /// Records a DSB on a CPU.
    pub fn barrier(&mut self, cpu: u32) {
        self.clock += 1;
        self.order(cpu);
        let now = self.clock;
        let state = self.cpus.entry(cpu).or_default();
        for (operation, line, started) in std::mem::take(&mut state.pending) {
            self.line(line).maintain(operation, started, now);
            self.settle(line);
        }
    }

    /// Records the end of a `DC CISW` or `CSW` loop over a CPU's own cache (level 1) or its
    /// cluster's cache (level 2).
    pub fn flush(&mut self, cpu: u32, level: u32) {
        self.clock += 1;
        let now = self.clock;
        let owner = self.owner(cpu);
        for line in self.dirty.iter().copied().collect::<Vec<_>>() {
            self.line(line).flush(owner, level);
            self.settle(line);
        }
        if level == 2 {
            let cluster = self.cluster.max(1);
            for (other, state) in &mut self.cpus {
                if other / cluster == cpu / cluster && !state.is_on {
                    state.flushed = now;
                }
            }
        }
    }

    /// Records a CPU reset. Data that was only in the CPU's own cache is lost.
    pub fn reset(&mut self, cpu: u32) {
        let owner = self.owner(cpu);
        for line in self.dirty.iter().copied().collect::<Vec<_>>() {
            self.line(line).power_off(owner);
            self.settle(line);
        }
        self.set_caches(cpu, false);
    }

    fn owner(&self, cpu: u32) -> Owner {
        let bit = |number: u32| 1 << (number % 64);
        Owner {
            cpu: bit(cpu),
            cluster: bit(cpu / self.cluster.max(1)),
        }
    }

    fn settle(&mut self, line: u64) {
        if self
            .lines
            .get(&line)
            .is_some_and(|line| !line.may_be_written_back())
        {
            self.dirty.remove(&line);
        }
    }
}
