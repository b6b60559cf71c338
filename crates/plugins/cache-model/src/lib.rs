//! A model of data caches that do whatever the architecture permits: a line that a cache may
//! hold is held, is filled at any time, and is evicted at any time. A [`CacheModel`] takes accesses
//! and maintenance, and returns a [`CacheFinding`] for a load that may return another value than the
//! last one stored (Arm ARM, B2.7 "Caches", B2.8 "Mismatched memory attributes").
//!
//! Not modelled: instruction caches, barriers between CPUs, dirty lines that move to another
//! CPU's cache without a load, and the loss of a cluster's cache.

mod cache_line;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use cache_line::{CacheLine, Owner};

/// The bytes of a line.
pub const LINE: u64 = 64;

/// The way of an access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Way {
    /// Through the caches.
    Cached,
    /// Past the caches: with SCTLR_ELx.C or M clear, or to Device or Non-cacheable memory.
    Uncached,
}

/// An instruction that accesses memory, on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CacheActor {
    /// The CPU's number, below 64.
    pub cpu: u32,
    /// The instruction's address.
    pub pc: u64,
    /// The way of its access.
    pub way: Way,
}

/// The reason why a load may return another value than the last one stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CacheFault {
    /// A load past the caches of bytes that may be in a cache alone: a clean to the point of
    /// coherency is missing.
    NotCleaned,
    /// A load through the caches of bytes of which they may hold an old copy: an invalidate is
    /// missing.
    NotInvalidated,
    /// A load of bytes that a write-back of an older line may have overwritten: an invalidate
    /// before the store is missing.
    Overwritten,
    /// A load of bytes whose line was invalidated before it was cleaned.
    Discarded,
    /// A load of bytes whose line was in the cache of a CPU that lost its power.
    PoweredOff,
}

/// A load that may return another value than the last one stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CacheFinding {
    /// The reason.
    pub fault: CacheFault,
    /// The address of the first such byte.
    pub address: u64,
    /// The load.
    pub reader: CacheActor,
    /// The last store; None for one before the model began, by an earlier stage.
    pub writer: Option<CacheActor>,
}

/// Maintenance of a line by its address (`DC`), to the point of coherency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maintenance {
    /// `DC CVAC`, `CVAP`.
    Clean,
    /// `DC IVAC`.
    Invalidate,
    /// `DC CIVAC`.
    CleanInvalidate,
}

#[derive(Clone, Debug, Default)]
struct CpuCaches {
    is_on: bool,
    /// The last instant with the caches on.
    last_on: u64,
    /// The last instant at which its cluster's cache was flushed with its own caches off.
    flushed: u64,
    /// Maintenance that has not been followed by a DSB, with its instant.
    pending: Vec<(Maintenance, u64, u64)>,
    /// Lines that it has stored to past the caches since its last DMB or DSB. Maintenance is in
    /// no order with such stores (Arm ARM, D7.5.9).
    unordered: BTreeSet<u64>,
}

/// The caches of a machine, and its memory.
#[derive(Debug, Default)]
pub struct CacheModel {
    lines: HashMap<u64, CacheLine>,
    /// The lines that may be dirty.
    dirty: BTreeSet<u64>,
    cpus: HashMap<u32, CpuCaches>,
    writers: Vec<CacheActor>,
    known: HashMap<CacheActor, u32>,
    /// Memory whose lines an earlier stage may have left dirty, until they are accessed.
    soiled: Vec<(Range<u64>, bool)>,
    clock: u64,
    /// The number of CPUs that share a second-level cache.
    cluster: u32,
}

impl CacheModel {
    /// Returns a machine in which so many CPUs, by their order, share a second-level cache.
    pub fn new(cluster: u32) -> Self {
        Self {
            cluster,
            ..Self::default()
        }
    }

    /// Turns a CPU's caches on or off.
    pub fn set_caches(&mut self, cpu: u32, is_on: bool) {
        let cpu = self.cpus.entry(cpu).or_default();
        if cpu.is_on || is_on {
            cpu.last_on = self.clock;
        }
        cpu.is_on = is_on;
    }

    /// Assumes that an earlier stage left all lines of `memory` dirty: with data that it loaded,
    /// or with what it no longer needs.
    pub fn soil(&mut self, memory: Range<u64>, is_data: bool) {
        self.lines.retain(|line, _| !memory.contains(line));
        self.soiled.push((memory, is_data));
    }

    fn line(&mut self, line: u64) -> &mut CacheLine {
        self.lines.entry(line).or_insert_with(|| {
            let soiled = self.soiled.iter().find(|it| it.0.contains(&line));
            if let Some((_, is_data)) = soiled {
                self.dirty.insert(line);
                return CacheLine::soiled(*is_data);
            }
            CacheLine::default()
        })
    }

    /// Returns true if a cache may hold a copy of a line that was invalidated last at this
    /// instant.
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

    /// Splits an access by lines: each with the mask of its bytes.
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

    /// Takes a store of `size` bytes.
    pub fn store(&mut self, actor: CacheActor, address: u64, size: u64) {
        self.clock += 1;
        let (writer, now) = (self.writer(actor), self.clock);
        for (line, bytes) in Self::parts(address, size) {
            match actor.way {
                Way::Cached => {
                    let owner = self.owner(actor.cpu);
                    self.line(line).store_cached(bytes, writer, owner, now);
                    self.dirty.insert(line);
                }
                Way::Uncached => {
                    let invalidated = self.line(line).invalidated;
                    let may_hold = self.may_hold(invalidated);
                    self.line(line).store_uncached(bytes, writer, may_hold, now);
                    let cpu = self.cpus.entry(actor.cpu).or_default();
                    cpu.unordered.insert(line);
                }
            }
        }
    }

    /// Takes a load of `size` bytes. Returns the first byte that may be wrong.
    pub fn load(&mut self, actor: CacheActor, address: u64, size: u64) -> Option<CacheFinding> {
        self.clock += 1;
        let mut found = None;
        for (line, bytes) in Self::parts(address, size) {
            let owner = self.owner(actor.cpu);
            let loaded = self.line(line).load(bytes, actor.way, owner);
            let Some((fault, byte, writer)) = loaded else {
                continue;
            };
            let writer = (writer as usize).checked_sub(1);
            let writer = writer.and_then(|it| self.writers.get(it).copied());
            found = found.or(Some(CacheFinding {
                fault,
                address: line + byte,
                reader: actor,
                writer,
            }));
        }
        found
    }

    /// Takes maintenance by address. It is done with the CPU's next [`Self::barrier`].
    pub fn maintain(&mut self, cpu: u32, operation: Maintenance, address: u64) {
        self.clock += 1;
        let (line, now) = (address & !(LINE - 1), self.clock);
        if operation == Maintenance::Invalidate {
            self.line(line).discard();
        }
        let cpu = self.cpus.entry(cpu).or_default();
        if !cpu.unordered.contains(&line) {
            cpu.pending.push((operation, line, now));
        }
    }

    /// Takes a DMB of a CPU.
    pub fn order(&mut self, cpu: u32) {
        self.cpus.entry(cpu).or_default().unordered.clear();
    }

    /// Takes a DSB of a CPU.
    pub fn barrier(&mut self, cpu: u32) {
        self.clock += 1;
        self.order(cpu);
        let now = self.clock;
        let cpu = self.cpus.entry(cpu).or_default();
        for (operation, line, begun) in std::mem::take(&mut cpu.pending) {
            self.line(line).maintain(operation, begun, now);
            self.settle(line);
        }
    }

    /// Takes the end of a loop of `DC CISW` or `CSW` over a CPU's cache of a level: 1, its own,
    /// or 2, its cluster's.
    pub fn flush(&mut self, cpu: u32, level: u32) {
        self.clock += 1;
        let (now, owner) = (self.clock, self.owner(cpu));
        for line in self.dirty.iter().copied().collect::<Vec<_>>() {
            self.line(line).flush(owner, level);
            self.settle(line);
        }
        let cluster = self.cluster.max(1);
        let others = self
            .cpus
            .iter_mut()
            .filter(|it| it.0 / cluster == cpu / cluster);
        if level == 2 {
            others
                .filter(|it| !it.1.is_on)
                .for_each(|it| it.1.flushed = now);
        }
    }

    /// Takes a reset of a CPU: what its own cache may have held alone is lost.
    pub fn reset(&mut self, cpu: u32) {
        let owner = self.owner(cpu);
        for line in self.dirty.iter().copied().collect::<Vec<_>>() {
            self.line(line).power_off(owner);
            self.settle(line);
        }
        self.set_caches(cpu, false);
    }

    fn owner(&self, cpu: u32) -> Owner {
        let cluster = cpu / self.cluster.max(1);
        let [cpu, cluster] = [cpu, cluster].map(|it| 1 << (it % 64));
        Owner { cpu, cluster }
    }

    fn settle(&mut self, line: u64) {
        if self
            .lines
            .get(&line)
            .is_some_and(|it| !it.may_be_written_back())
        {
            self.dirty.remove(&line);
        }
    }
}
