//! The PPTT: clusters, cores, threads and the L2 cache (ACPI 6.5, section 5.2.30).

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use hardware::board::FormatError;
use zerocopy::little_endian::U32;

use super::layouts::{Cache, Processor};
use super::madt::MadtCpu;
use super::table::{AcpiTable, HEADER_SIZE};
use crate::nodes::{self, BuildNode as _};
use crate::{DeviceTreeNode, Result};

/// Offset of the first entry.
const ENTRIES: usize = HEADER_SIZE;
/// Entry types.
const PROCESSOR: u8 = 0;
const CACHE: u8 = 1;
/// Offset of the parent field in a processor entry.
const PARENT: usize = core::mem::offset_of!(Processor, parent);
/// Offset of the flags in a processor entry.
const FLAGS: usize = core::mem::offset_of!(Processor, flags);
/// Processor flag: the UID is valid.
const HAS_UID: u32 = 1 << 1;
/// Processor flag: the leaf is a thread.
const IS_THREAD: u32 = 1 << 2;
/// Cache flag: the size is valid.
const HAS_SIZE: u32 = 1;
/// The maximum number of private resources examined per processor.
const RESOURCES_MAX: u32 = 16;
/// The maximum depth of the processor hierarchy. Machines can have threads, cores, clusters, dies
/// and packages.
const LEVELS_MAX: usize = 16;

/// A CPU's position in the hierarchy, as entry offsets. Positions sort in label order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CpuPosition {
    /// The offset of the core's parent, or 0 if it has none.
    cluster: usize,
    core: usize,
    leaf: usize,
    is_thread: bool,
    /// The CPU's index in the MADT.
    cpu: u32,
}

/// The processor hierarchy above the CPUs.
pub struct Topology<'m> {
    pptt: AcpiTable<'m>,
    /// The CPUs' positions, sorted.
    positions: Vec<CpuPosition>,
}

impl<'m> Topology<'m> {
    /// Finds each CPU's position.
    ///
    /// # Errors
    /// Returns an error if an entry is malformed, a CPU is missing or the CPUs are at different
    /// levels.
    pub fn read(pptt: AcpiTable<'m>, cpus: &[MadtCpu]) -> Result<Self> {
        let processors = Processors::read(&pptt)?;
        let leaves = processors.leaves(cpus)?;
        let mut positions: Vec<CpuPosition> = Vec::with_capacity(cpus.len());
        let mut first_level = None;
        for (cpu, number) in cpus.iter().zip(0..) {
            let first = leaves.partition_point(|leaf| leaf.0 < cpu.uid);
            let found = leaves.get(first).filter(|leaf| leaf.0 == cpu.uid);
            let Some((_, leaf)) = found else {
                return Err(processors.why_missing(&pptt, cpu.uid)?);
            };
            let is_thread = leaf.read::<Processor>(0)?.flags.get() & IS_THREAD != 0;
            let core = if is_thread {
                let no_parent = || leaf.error(PARENT, format_args!("the thread has no parent"));
                processors.parent(leaf)?.ok_or_else(no_parent)?
            } else {
                *leaf
            };
            let level = processors.level(&core)?;
            let expected = *first_level.get_or_insert(level);
            if level != expected {
                let message = format_args!(
                    "this core has {level} ancestors, but the first CPU's core has {expected}"
                );
                return Err(core.error(PARENT, message));
            }
            positions.push(CpuPosition {
                cluster: processors.parent(&core)?.map_or(0, |cluster| cluster.at),
                core: core.at,
                leaf: leaf.at,
                is_thread,
                cpu: number,
            });
        }
        positions.sort_unstable();
        let mut pairs = positions.array_windows();
        match pairs.find(|[one, other]| one.leaf == other.leaf) {
            Some([position, _]) => {
                let message = format_args!("two CPUs have this entry's UID");
                Err(pptt.error(position.leaf, message))
            }
            None => Ok(Self { pptt, positions }),
        }
    }

    /// Builds `cpu-map`, a child of `/cpus`.
    pub fn map(&self) -> DeviceTreeNode {
        let mut map = DeviceTreeNode::new_unchecked("cpu-map");
        let is_cluster = |one: &CpuPosition, other: &CpuPosition| one.cluster == other.cluster;
        for (number, cluster) in self.positions.chunk_by(is_cluster).enumerate() {
            let mut node = DeviceTreeNode::new_unchecked(format!("cluster{number}"));
            let cores = cluster.chunk_by(|one, other| one.core == other.core);
            for (number, core) in cores.enumerate() {
                node = node.with_child(core_node(core, number));
            }
            map = map.with_child(node);
        }
        map
    }

    /// Returns the size in bytes of the largest L2 cache. Follows the next-level links of the
    /// cores' private caches. If none has such a link, uses the clusters' private caches.
    pub fn second_level_cache(&self) -> Option<u64> {
        let cpu_reference = |position: &CpuPosition| {
            let first = self.caches(position.leaf).chain(self.caches(position.core));
            let next: Vec<u32> = first
                .filter_map(|cache| cache.read::<Cache>(0).ok())
                .map(|cache| cache.next_level.get())
                .collect();
            let has_first = !next.is_empty();
            let has_next = next.iter().any(|offset| *offset != 0);
            let mut second: Vec<_> = next
                .iter()
                .filter_map(|offset| self.cache(*offset as usize))
                .collect();
            if has_first && !has_next {
                second.extend(self.caches(position.cluster));
            }
            second.iter().filter_map(cache_size).max()
        };
        self.positions.iter().filter_map(cpu_reference).max()
    }

    /// Returns the cache at an offset, or None if the entry there is not a cache.
    fn cache(&self, at: usize) -> Option<AcpiTable<'m>> {
        let entry = self.pptt.entry(at, 1).ok();
        entry.filter(|entry| at >= ENTRIES && entry.kind() == CACHE)
    }

    /// Returns the private caches of the processor at an offset. The iterator is empty if the entry
    /// there is not a processor.
    fn caches(&self, at: usize) -> impl Iterator<Item = AcpiTable<'m>> {
        let entry = self.pptt.entry(at, 1).ok();
        let processor = entry.filter(|entry| at >= ENTRIES && entry.kind() == PROCESSOR);
        let fields = processor.and_then(|entry| entry.read::<Processor>(0).ok());
        let count = fields.map_or(0, |processor| processor.resource_count.get());
        let indices = 0..count.min(RESOURCES_MAX) as usize;
        indices.filter_map(move |index| {
            let at = size_of::<Processor>() + index * size_of::<U32>();
            let cache = processor?.read::<U32>(at).ok()?;
            self.cache(cache.get() as usize)
        })
    }
}

/// The processors in the table, sorted by offset.
struct Processors<'m>(Vec<AcpiTable<'m>>);

impl<'m> Processors<'m> {
    fn read(pptt: &AcpiTable<'m>) -> Result<Self> {
        let mut processors = Vec::new();
        for entry in pptt.entries(ENTRIES, 1) {
            let entry = entry?;
            if entry.kind() == PROCESSOR {
                processors.push(entry);
            }
        }
        Ok(Self(processors))
    }

    /// Returns the processors that have a CPU's UID, marked as valid, and no children, sorted by
    /// UID. Processors with the same UID stay in table order.
    fn leaves(&self, cpus: &[MadtCpu]) -> Result<Vec<(u32, AcpiTable<'m>)>> {
        let mut uids: Vec<u32> = cpus.iter().map(|cpu| cpu.uid).collect();
        uids.sort_unstable();
        let mut leaves = Vec::new();
        let mut parents = Vec::new();
        for processor in &self.0 {
            let fields = processor.read::<Processor>(0)?;
            parents.push(fields.parent.get() as usize);
            let uid = fields.uid.get();
            if has_uid(fields) && uids.binary_search(&uid).is_ok() {
                leaves.push((uid, *processor));
            }
        }
        parents.sort_unstable();
        leaves.retain(|leaf| parents.binary_search(&leaf.1.at).is_err());
        leaves.sort_by_key(|leaf| leaf.0);
        Ok(leaves)
    }

    /// Returns the reason why no leaf has a CPU's UID.
    fn why_missing(&self, pptt: &AcpiTable<'m>, uid: u32) -> Result<FormatError> {
        let mut children = BTreeMap::new();
        let mut with_uid = Vec::new();
        for processor in &self.0 {
            let fields = processor.read::<Processor>(0)?;
            let parent = fields.parent.get() as usize;
            children.entry(parent).or_insert(processor.at);
            if fields.uid.get() == uid {
                with_uid.push((processor, fields));
            }
        }
        let mut leaves = with_uid
            .iter()
            .filter(|(processor, _)| !children.contains_key(&processor.at));
        if let Some((leaf, fields)) = leaves.next() {
            let flags = fields.flags.get();
            let message = format_args!(
                "UID {uid:#x} is a CPU's, but bit 1 of the flags ({flags:#x}) is 0, which means \
                 that the UID is not valid"
            );
            return Ok(leaf.error(FLAGS, message));
        }
        let Some((processor, _)) = with_uid.iter().find(|(_, fields)| has_uid(fields)) else {
            let message = format_args!("the CPU with UID {uid:#x} is missing");
            return Ok(pptt.error(ENTRIES, message));
        };
        // Returns an error if the processor is its own ancestor.
        self.level(processor)?;
        let child = children.get(&processor.at).copied().unwrap_or(0);
        let message = format_args!(
            "UID {uid:#x} is a CPU's, but the processor at offset {child:#x} has this one as its \
             parent"
        );
        Ok(processor.error(0, message))
    }

    /// Returns a processor's parent, or None if it is at the top.
    fn parent(&self, processor: &AcpiTable<'m>) -> Result<Option<AcpiTable<'m>>> {
        let at = processor.read::<Processor>(0)?.parent.get() as usize;
        if at == 0 {
            return Ok(None);
        }
        match self.0.binary_search_by_key(&at, |other| other.at) {
            Ok(index) => Ok(Some(self.0[index])),
            Err(_) => {
                let message = format_args!("the parent, at offset {at:#x}, is not a processor");
                Err(processor.error(PARENT, message))
            }
        }
    }

    /// Returns the number of processors above `processor`.
    fn level(&self, processor: &AcpiTable<'m>) -> Result<usize> {
        let mut way = [processor.at].to_vec();
        let mut top = *processor;
        while let Some(parent) = self.parent(&top)? {
            if parent.at == top.at {
                return Err(top.error(PARENT, format_args!("this processor is its own parent")));
            }
            if way.contains(&parent.at) {
                let message = format_args!("this processor is an ancestor of itself");
                return Err(parent.error(PARENT, message));
            }
            if way.len() > LEVELS_MAX {
                let message = format_args!("this processor has more than {LEVELS_MAX} ancestors");
                return Err(processor.error(PARENT, message));
            }
            way.push(parent.at);
            top = parent;
        }
        Ok(way.len() - 1)
    }
}

/// Returns true if the UID is valid.
fn has_uid(processor: &Processor) -> bool {
    processor.flags.get() & HAS_UID != 0
}

fn cache_size(cache: &AcpiTable<'_>) -> Option<u64> {
    let fields = cache.read::<Cache>(0).ok()?;
    let has_size = fields.flags.get() & HAS_SIZE != 0;
    let size = fields.size.get();
    (has_size && size != 0).then_some(size.into())
}

/// Builds a core node. `cpus` is a single CPU or the core's threads.
fn core_node(cpus: &[CpuPosition], number: usize) -> DeviceTreeNode {
    let mut node = DeviceTreeNode::new_unchecked(format!("core{number}"));
    for (number, position) in cpus.iter().enumerate() {
        let phandle = nodes::CPU_PHANDLES + position.cpu;
        node = if position.is_thread {
            let thread = DeviceTreeNode::new_unchecked(format!("thread{number}"));
            node.with_child(thread.with_property("cpu", phandle))
        } else {
            node.with_property("cpu", phandle)
        };
    }
    node
}
