//! Counts events that depend on the state of the caches: fetches and accesses past them, and first
//! accesses to lines after a power-down.
//!
//! The model has no timing, no evictions and no sizes. A line is resident in a CPU's L1 cache from
//! its first cached access until the CPU powers down, and in the L2 cache of its cluster until a
//! power-down of the cluster.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::attribution::record::MemoryAccess;
use crate::profile::event::{Event, EventCounts};

/// The size of a line in bytes.
const LINE: u64 = 64;

/// The size of an instruction in bytes.
const INSTRUCTION: u64 = 4;

/// SCTLR_EL3.M, C and I.
const MMU: u64 = 1;
const DATA_CACHE: u64 = 1 << 2;
const INSTRUCTION_CACHE: u64 = 1 << 12;

/// Returns true if the instruction cache is on, according to SCTLR_EL3.
pub(crate) const fn has_instruction_cache(control: u64) -> bool {
    control & INSTRUCTION_CACHE != 0
}

const fn has_data_cache(control: u64) -> bool {
    control & (MMU | DATA_CACHE) == MMU | DATA_CACHE
}

/// Returns the numbers of the lines that contain a range of addresses.
fn lines(addresses: &Range<u64>) -> Range<u64> {
    addresses.start / LINE..addresses.end.div_ceil(LINE)
}

/// Returns true if a piece of code would fit in a line, but lies in two.
pub(crate) fn is_split(addresses: &Range<u64>) -> bool {
    let fits = addresses.end - addresses.start <= LINE;
    fits && lines(addresses).count() > 1
}

/// A CPU's caches and the last line that it fetched from.
#[derive(Debug, Default)]
struct CpuCaches {
    cluster: usize,
    instructions: HashSet<u64>,
    data: HashSet<u64>,
    /// The line of the last fetch past the instruction cache. None if the cache has been on since.
    fetched: Option<u64>,
    /// For each line, the number of the last store by another CPU that this CPU has seen.
    seen: HashMap<u64, u64>,
    /// The power level of the power-down that the CPU has started.
    level: Option<u64>,
}

/// A store to a line.
#[derive(Clone, Copy, Debug)]
struct LineStore {
    cpu: u32,
    number: u64,
}

/// The caches of all CPUs.
#[derive(Debug, Default)]
pub(crate) struct MemoryEvents {
    cpus: HashMap<u32, CpuCaches>,
    /// The lines in the L2 cache of each cluster.
    clusters: Vec<HashSet<u64>>,
    /// The last store to each line.
    stores: HashMap<u64, LineStore>,
    stored: u64,
}

impl MemoryEvents {
    /// Returns empty caches. `clusters` contains the cluster number of each CPU, by the CPU's
    /// affinity. Other CPUs are treated as clusters of their own.
    pub fn new(clusters: impl IntoIterator<Item = (u32, u16)>) -> Self {
        let mut events = Self::default();
        for (cpu, cluster) in clusters {
            let cluster = usize::from(cluster);
            let count = events.clusters.len().max(cluster + 1);
            events.clusters.resize_with(count, HashSet::new);
            let caches = CpuCaches {
                cluster,
                ..CpuCaches::default()
            };
            events.cpus.insert(cpu, caches);
        }
        events
    }

    fn caches(&mut self, cpu: u32) -> (&mut CpuCaches, &mut [HashSet<u64>]) {
        let clusters = &mut self.clusters;
        let caches = self.cpus.entry(cpu).or_insert_with(|| {
            clusters.push(HashSet::new());
            CpuCaches {
                cluster: clusters.len() - 1,
                ..CpuCaches::default()
            }
        });
        (caches, clusters)
    }

    /// Counts the events of fetching the instructions at `addresses` in order.
    pub fn fetch(&mut self, cpu: u32, control: u64, addresses: &Range<u64>) -> EventCounts {
        let mut counts = EventCounts::default();
        if !has_instruction_cache(control) {
            counts[Event::Fetch] += (addresses.end - addresses.start) / INSTRUCTION;
        }
        let (caches, clusters) = self.caches(cpu);
        for line in lines(addresses) {
            if !has_instruction_cache(control) {
                if caches.fetched != Some(line) {
                    counts.count(Event::FetchLine);
                    if caches
                        .fetched
                        .is_none_or(|fetched_line| fetched_line + 1 != line)
                    {
                        counts.count(Event::FetchJump);
                    }
                }
                caches.fetched = Some(line);
                continue;
            }
            caches.fetched = None;
            if caches.instructions.insert(line) {
                counts.count(Event::L1Fetch);
                if clusters[caches.cluster].insert(line) {
                    counts.count(Event::L2Fetch);
                }
            }
        }
        counts
    }

    /// Counts the events of a data access.
    pub fn access(&mut self, cpu: u32, control: u64, access: &MemoryAccess) -> EventCounts {
        let mut counts = EventCounts::default();
        let is_cached = has_data_cache(control) && access.is_cacheable;
        if !has_data_cache(control) {
            counts.count(Event::Uncached);
        } else if !access.is_cacheable {
            counts.count(Event::Device);
        }
        for line in lines(&(access.address..access.address + access.size)) {
            if is_cached {
                self.access_line(cpu, line, &mut counts);
            }
            if access.is_store {
                self.stored += 1;
                let number = self.stored;
                self.stores.insert(line, LineStore { cpu, number });
            }
        }
        counts
    }

    fn access_line(&mut self, cpu: u32, line: u64, counts: &mut EventCounts) {
        let last_store = self.stores.get(&line).copied();
        let (caches, clusters) = self.caches(cpu);
        if let Some(store) = last_store
            && store.cpu != cpu
            && caches.seen.insert(line, store.number) != Some(store.number)
        {
            counts.count(Event::Shared);
        }
        if caches.data.insert(line) {
            counts.count(Event::L1Data);
            if clusters[caches.cluster].insert(line) {
                counts.count(Event::L2Data);
            }
        }
    }

    /// Notes that a CPU starts a power-down of all levels up to `level`.
    pub fn start_power_down(&mut self, cpu: u32, level: u64) {
        self.caches(cpu).0.level = Some(level);
    }

    /// Empties the caches that lose power when the CPU waits for the end of its power-down. Does
    /// nothing if the CPU has not started a power-down.
    pub fn wait(&mut self, cpu: u32) {
        let (caches, clusters) = self.caches(cpu);
        let Some(level) = caches.level.take() else {
            return;
        };
        caches.instructions.clear();
        caches.data.clear();
        caches.fetched = None;
        if level > 0 {
            clusters[caches.cluster].clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: u64 = MMU | DATA_CACHE | INSTRUCTION_CACHE;

    /// Returns the events that occurred, with their counts.
    fn occurred(counts: EventCounts) -> Vec<(Event, u64)> {
        counts.iter().filter(|(_, count)| *count > 0).collect()
    }

    fn access(address: u64, size: u64, is_store: bool) -> MemoryAccess {
        MemoryAccess {
            pc: 0,
            address,
            size,
            is_store,
            is_cacheable: true,
        }
    }

    #[test]
    fn uncached_fetches_are_counted_by_line() {
        let mut events = MemoryEvents::new([(0, 0)]);
        let mut fetch = |addresses: Range<u64>| occurred(events.fetch(0, 0, &addresses));
        let lines = |fetches, lines, jumps| {
            vec![
                (Event::Fetch, fetches),
                (Event::FetchLine, lines),
                (Event::FetchJump, jumps),
            ]
        };
        // The first line is a jump, and the line after it is not.
        assert_eq!(fetch(0x1030..0x1048), lines(6, 2, 1));
        // The same line.
        assert_eq!(fetch(0x1048..0x1080), [(Event::Fetch, 14)]);
        assert_eq!(
            fetch(0x1080..0x1084),
            [(Event::Fetch, 1), (Event::FetchLine, 1)]
        );
        // Backwards.
        assert_eq!(fetch(0x1040..0x1044), lines(1, 1, 1));
        // The line after the next one.
        assert_eq!(fetch(0x10c0..0x1184), lines(49, 4, 1));
    }

    #[test]
    fn first_fetches_are_counted_again_after_a_power_down_of_their_level() {
        use Event::{L1Fetch, L2Fetch};
        let mut events = MemoryEvents::new([(0, 0), (1, 0), (0x100, 1)]);
        let code = 0x1000..0x1080;
        let fetch = |events: &mut MemoryEvents, cpu| occurred(events.fetch(cpu, ON, &code));
        let both = [(L1Fetch, 2), (L2Fetch, 2)];
        assert_eq!(fetch(&mut events, 0), both);
        assert_eq!(fetch(&mut events, 0), []);
        // The CPUs of a cluster share the L2 cache.
        assert_eq!(fetch(&mut events, 1), [(L1Fetch, 2)]);
        assert_eq!(fetch(&mut events, 0x100), both);
        // A wait without a power-down.
        events.wait(0);
        assert_eq!(fetch(&mut events, 0), []);
        events.start_power_down(0, 0);
        events.wait(0);
        assert_eq!(fetch(&mut events, 0), [(L1Fetch, 2)]);
        events.start_power_down(0, 2);
        events.wait(0);
        assert_eq!(fetch(&mut events, 0), both);
        assert_eq!(fetch(&mut events, 1), []);
        assert_eq!(fetch(&mut events, 0x100), []);
    }

    #[test]
    fn data_accesses_are_counted_by_what_serves_them() {
        use Event::{Device, L1Data, L2Data, Shared, Uncached};
        let mut events = MemoryEvents::new([(0, 0), (1, 0)]);
        let mut count = |cpu, control, access| occurred(events.access(cpu, control, &access));
        let device = MemoryAccess {
            is_cacheable: false,
            ..access(0x900_0000, 4, true)
        };
        assert_eq!(count(0, ON, device), [(Device, 1)]);
        for control in [0, MMU, MMU | INSTRUCTION_CACHE, DATA_CACHE] {
            assert_eq!(count(0, control, access(0x2000, 8, false)), [(Uncached, 1)]);
        }
        // An access to two lines, and another one to the second of them.
        let two = access(0x2038, 16, true);
        assert_eq!(count(0, ON, two), [(L1Data, 2), (L2Data, 2)]);
        assert_eq!(count(0, ON, access(0x2040, 8, false)), []);
        // Another CPU sees the store once, and the first CPU sees none but its own.
        let load = access(0x2040, 8, false);
        assert_eq!(count(1, ON, load), [(L1Data, 1), (Shared, 1)]);
        assert_eq!(count(1, ON, load), []);
        assert_eq!(count(0, ON, load), []);
        assert_eq!(count(1, ON, access(0x2040, 8, true)), []);
        assert_eq!(count(0, ON, load), [(Shared, 1)]);
    }

    #[test]
    fn code_that_would_fit_in_a_line_is_split_by_a_border() {
        for (addresses, expected) in [
            (0x1000..0x1040, false),
            (0x103c..0x1040, false),
            (0x103c..0x1044, true),
            (0x1020..0x1060, true),
            // Longer than a line.
            (0x1020..0x1064, false),
        ] {
            assert_eq!(is_split(&addresses), expected, "{addresses:x?}");
        }
    }
}
