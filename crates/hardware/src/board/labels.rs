//! Assigns cluster, core and thread numbers based on cpu-map or, if it is missing, MPIDR.
//!
//! See the Linux binding *cpu/cpu-topology.txt*. `cpu-map` contains `socketN` or `clusterN` nodes.
//! Clusters can be nested. The innermost clusters contain `coreN` nodes. A core refers to a CPU or
//! contains `threadN` nodes that each refer to a CPU. Siblings are ordered by number, not by their
//! position in the tree. Clusters are numbered consecutively across the entire map. Cores and
//! threads keep the numbers from their names.

use serde::{Deserialize, Serialize};

use super::cpu_index::{CPU_MAX, CpuIndex};
use super::node::Node;
use crate::spec::mpidr::Mpidr;
use crate::text::format_error::Result;
use crate::text::untrusted;
use crate::words;

/// A CPU with its hardware affinity and topology labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The affinity fields of MPIDR_EL1, from `reg` in the CPU node.
    pub mpidr: Mpidr,
    /// The cluster number, counted in the cpu-map, or else an affinity field.
    pub cluster: u16,
    /// The core number within the cluster.
    pub core: u16,
    /// The thread number within the core.
    pub thread: u16,
}

words! {
    /// The source of the cluster, core and thread numbers.
    pub enum LabelSource, word {
        /// The cpu-map node.
        CpuMap = "cpu-map",
        /// The affinity fields, if there is no cpu-map.
        Mpidr = "mpidr",
    }
}

/// A CPU node's phandle.
#[derive(Clone, Copy)]
pub(crate) struct Handle {
    pub phandle: u32,
    /// The index in the list of CPUs. `None` for a disabled CPU, which can still be listed in
    /// cpu-map.
    pub index: Option<CpuIndex>,
}

/// The maximum number of nodes in a map. This is enough even if each CPU is a thread in a separate
/// core, cluster and socket. The limit bounds the scans in [`sibling`].
const MAP_NODES_MAX: usize = 4 * CPU_MAX;
/// The thread number of an unlabeled CPU. No label uses this number.
const UNLABELED: u16 = u16::MAX;

/// Labels all CPUs based on their affinity fields. If `mt` (the MT bit in MPIDR_EL1) is set, Aff0 is
/// the thread, Aff1 the core, and Aff3 and Aff2 are the cluster. Otherwise Aff0 is the core, and Aff2
/// and Aff1 are the cluster, which has only 16 bits: if any CPU has an Aff3, Aff1 is part of the core
/// instead.
pub(crate) fn label_by_mpidr(cpus: &mut [Cpu], mt: bool) {
    let pair = |high_byte: u8, low_byte: u8| u16::from_be_bytes([high_byte, low_byte]);
    let has_aff3 = cpus.iter().any(|cpu| cpu.mpidr.aff3() != 0);
    for cpu in cpus {
        let mpidr = cpu.mpidr;
        let upper = pair(mpidr.aff3(), mpidr.aff2());
        (cpu.cluster, cpu.core, cpu.thread) = if mt {
            (upper, mpidr.aff1().into(), mpidr.aff0().into())
        } else if has_aff3 {
            (upper, pair(mpidr.aff1(), mpidr.aff0()), 0)
        } else {
            (pair(mpidr.aff2(), mpidr.aff1()), mpidr.aff0().into(), 0)
        };
    }
}

/// Returns an unlabeled CPU. [`from_map`] or [`label_by_mpidr`] labels it later.
pub(crate) fn unlabeled(mpidr: Mpidr) -> Cpu {
    Cpu {
        mpidr,
        thread: UNLABELED,
        ..Cpu::default()
    }
}

pub(crate) fn is_labeled(cpu: &Cpu) -> bool {
    cpu.thread != UNLABELED
}

/// Labels the unlabeled CPUs in `cpus` using the map. A CPU that is not in the map stays unlabeled.
pub(crate) fn from_map(map: Node<'_>, handles: &[Handle], cpus: &mut [Cpu]) -> Result<()> {
    // `subtree` includes the map itself.
    if map.subtree().nth(MAP_NODES_MAX + 1).is_some() {
        return Err(map.too_many("", MAP_NODES_MAX));
    }
    let mut labeller = Labeller {
        handles,
        cpus,
        clusters: 0,
    };
    labeller.clusters(map)
}

/// The state needed while reading the map.
struct Labeller<'c> {
    handles: &'c [Handle],
    cpus: &'c mut [Cpu],
    /// The number of clusters with cores found so far.
    clusters: u16,
}

impl Labeller<'_> {
    /// Labels all cores in and below `node`, which is the map itself, a socket or a cluster. A node
    /// without cores does not get a cluster number. The tree depth limits the recursion.
    fn clusters(&mut self, node: Node<'_>) -> Result<()> {
        let mut has_cores = false;
        for_each(node, "core", |core, node| {
            has_cores = true;
            if node.value("cpu").is_some() {
                if sibling(node, "thread", 0)?.is_some() {
                    return Err(node.error("cpu", format_args!("the core also has threads")));
                }
                self.label(node, core, 0)?;
            }
            for_each(node, "thread", |thread, node| {
                self.label(node, core, thread)
            })
        })?;
        self.clusters += u16::from(has_cores);
        for_each(node, "socket", |_, node| self.clusters(node))?;
        for_each(node, "cluster", |_, node| self.clusters(node))
    }

    fn label(&mut self, leaf: Node<'_>, core: u16, thread: u16) -> Result<()> {
        let phandle = leaf.u32("cpu")?.ok_or_else(|| leaf.missing("cpu"))?;
        let mut handles = self.handles.iter();
        let Some(handle) = handles.find(|handle| handle.phandle == phandle) else {
            let message = format_args!("no CPU has the phandle {phandle:#x}");
            return Err(leaf.error("cpu", message));
        };
        let Some(cpu) = handle
            .index
            .and_then(|index| self.cpus.get_mut(index.index()))
        else {
            return Ok(());
        };
        if is_labeled(cpu) {
            let message = format_args!("phandle {phandle:#x} is used twice");
            return Err(leaf.error("cpu", message));
        }
        cpu.cluster = self.clusters;
        cpu.core = core;
        cpu.thread = thread;
        Ok(())
    }
}

/// Visits the children of `parent` whose names are `kind` followed by a number, in numerical order.
fn for_each<'t>(
    parent: Node<'t>,
    kind: &str,
    mut visit: impl FnMut(u16, Node<'t>) -> Result<()>,
) -> Result<()> {
    let mut from = 0;
    while let Some((number, node)) = sibling(parent, kind, from)? {
        visit(number, node)?;
        from = number + 1;
    }
    Ok(())
}

/// Finds the child of `parent` whose name is `kind` followed by the lowest number that is at least
/// `from`. The children are rescanned for each lookup, which avoids allocating memory. The limit on
/// map nodes bounds the run time.
///
/// # Errors
/// Returns an error if two children have that number.
fn sibling<'t>(parent: Node<'t>, kind: &str, from: u16) -> Result<Option<(u16, Node<'t>)>> {
    let mut lowest = None;
    let mut is_twice = false;
    for node in parent.children() {
        let Some(number) = number_in(node, kind, parent)?.filter(|number| *number >= from) else {
            continue;
        };
        match lowest {
            Some((lowest_number, _)) if number > lowest_number => {}
            Some((lowest_number, _)) if number == lowest_number => is_twice = true,
            _ => {
                lowest = Some((number, node));
                is_twice = false;
            }
        }
    }
    match lowest {
        Some((_, node)) if is_twice => {
            let name = node.name_text();
            Err(parent.error("", format_args!("two nodes are named {name}")))
        }
        lowest => Ok(lowest),
    }
}

/// Returns the number after `kind` in the name of `node`. Returns `None` for a different kind of
/// node.
///
/// Leading zeros and signs are rejected. Otherwise two names could have the same number, and
/// [`sibling`] would find only one of them.
fn number_in(node: Node<'_>, kind: &str, parent: Node<'_>) -> Result<Option<u16>> {
    let Some(digits) = node.name().strip_prefix(kind.as_bytes()) else {
        return Ok(None);
    };
    let number = match digits {
        [b'0', _, ..] => None,
        digits => untrusted::parse_number(digits, 10),
    };
    match number {
        Some(number) if number < UNLABELED.into() => Ok(Some(number as u16)),
        _ => {
            let expected = "a kind and a number, such as core0";
            Err(parent.wrong_text("", node.name_text(), expected))
        }
    }
}
