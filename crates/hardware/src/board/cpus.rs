//! The CPUs, in MPIDR order.
//!
//! See Devicetree Specification v0.4, section 3.8, and the Linux binding *arm/cpus.yaml*. `reg`
//! contains the affinity fields of MPIDR_EL1, either as two cells with Aff3 in the first, or as one
//! cell without Aff3.

use alloc::vec::Vec;

use super::cpu_index::{CPU_MAX, CpuIndex};
use super::fdt::{Fdt, number};
use super::labels::{self, Cpu, Handle, LabelSource};
use super::node::{Node, usable_nodes};
use crate::spec::mpidr::Mpidr;
use crate::text::format_error::{FormatError, Result};

/// A child of `/cpus` that describes a CPU.
struct CpuNode<'t> {
    node: Node<'t>,
    mpidr: Mpidr,
    is_available: bool,
}

impl<'t> CpuNode<'t> {
    fn read(node: Node<'t>, cells: usize) -> Result<Self> {
        let reg = node.required("reg")?;
        if reg.len() != cells * 4 {
            let expected = "as many cells as #address-cells";
            return Err(node.wrong_length("reg", reg.len(), expected));
        }
        let affinity = number(reg);
        let mpidr = Mpidr::try_from(affinity)
            .map_err(|_| node.wrong_value("reg", affinity, Mpidr::EXPECTED))?;
        let is_available = node.is_available();
        // Treat a missing enable-method as PSCI, because the caller has already found the psci
        // node. Some trees leave the property to the boot loader or omit it for the first CPU, and
        // QEMU omits it if there is only one CPU.
        let method = node.text("enable-method")?;
        if let Some(value) = method.filter(|method| is_available && *method != "psci") {
            return Err(node.wrong_text("enable-method", value, "psci"));
        }
        Ok(Self {
            node,
            mpidr,
            is_available,
        })
    }
}

/// Reads all CPU nodes, in tree order.
fn cpu_nodes<'t>(tree: Fdt<'t>) -> Result<impl Iterator<Item = Result<CpuNode<'t>>>> {
    const CELLS: &str = "#address-cells";
    let Some(cpus) = Node::find(tree, "/cpus") else {
        return Err(FormatError::new(format_args!("no node /cpus")));
    };
    let cells = match cpus.u32(CELLS)? {
        // Do not use the default of 2 from the specification, which is wrong for most boards.
        None => return Err(cpus.missing(CELLS)),
        Some(cells @ 1..=2) => cells as usize,
        Some(cells) => return Err(cpus.wrong_value(CELLS, cells.into(), "1 or 2")),
    };
    let is_cpu = |node: &Node<'_>| match node.value("device_type") {
        Some(kind) => kind == b"cpu\0",
        None => node.is_called(b"cpu"),
    };
    let nodes = cpus.children().filter(is_cpu).enumerate();
    Ok(nodes.map(move |(index, node)| match index {
        CPU_MAX.. => Err(cpus.too_many("", CPU_MAX)),
        _ => CpuNode::read(node, cells),
    }))
}

/// Returns the nodes of the usable CPUs, in tree order.
pub(crate) fn enabled_nodes<'t>(tree: Fdt<'t>) -> Result<impl Iterator<Item = Result<Node<'t>>>> {
    let nodes = cpu_nodes(tree)?.map(|cpu| cpu.map(|cpu| (cpu.is_available, cpu.node)));
    Ok(nodes.filter_map(|cpu| match cpu {
        Ok((is_available, node)) => is_available.then_some(Ok(node)),
        Err(error) => Some(Err(error)),
    }))
}

/// Counts the usable CPUs. The returned bool is true if any CPU is a Cortex-A73.
pub(crate) fn count(tree: Fdt<'_>) -> Result<(usize, bool)> {
    let mut count = 0;
    let mut has_a73 = false;
    for cpu in cpu_nodes(tree)? {
        let cpu = cpu?;
        if cpu.is_available {
            count += 1;
            has_a73 |= cpu.node.compatible_with("arm,cortex-a73").is_some();
        }
    }
    if count == 0 {
        let message = format_args!("no enabled CPU under /cpus");
        return Err(FormatError::new(message));
    }
    Ok((count, has_a73))
}

/// Reads the `count` usable CPUs, in MPIDR order.
pub(crate) fn read(tree: Fdt<'_>, count: usize, mt: bool) -> Result<(LabelSource, Vec<Cpu>)> {
    let map = Node::find(tree, "/cpus/cpu-map");
    let mut all = Vec::with_capacity(count);
    let mut handles = Vec::with_capacity(count);
    for cpu in cpu_nodes(tree)? {
        let CpuNode {
            node,
            mpidr,
            is_available,
        } = cpu?;
        let index = is_available.then_some(CpuIndex::new(all.len()));
        if is_available {
            all.push(labels::unlabeled(mpidr));
        }
        if let (Some(phandle), Some(_)) = (node.phandle()?, map) {
            if handles
                .iter()
                .any(|handle: &Handle| handle.phandle == phandle)
            {
                let message = format_args!("{phandle:#x} is also the phandle of another CPU");
                return Err(node.error("phandle", message));
            }
            handles.push(Handle { phandle, index });
        }
    }
    let source = match map {
        None => {
            labels::label_by_mpidr(&mut all, mt);
            LabelSource::Mpidr
        }
        Some(map) => {
            labels::from_map(map, &handles, &mut all)?;
            LabelSource::CpuMap
        }
    };
    all.sort_unstable_by_key(|cpu| cpu.mpidr);
    let cpus = Node::find(tree, "/cpus").expect("cpu_nodes found the node");
    let twice = all
        .array_windows()
        .find(|[one, other]| one.mpidr == other.mpidr);
    if let Some([Cpu { mpidr, .. }, _]) = twice {
        let message = format_args!("MPIDR {mpidr} is used twice");
        return Err(cpus.error("reg (of the CPUs)", message));
    }
    if let Some(Cpu { mpidr, .. }) = all.iter().find(|cpu| !labels::is_labeled(cpu)) {
        let message = format_args!("the CPU with MPIDR {mpidr} is missing");
        return Err(cpus.error("cpu-map", message));
    }
    Ok((source, all))
}

/// Returns the size in bytes of the largest L2 cache (Devicetree Specification v0.4, section 3.9),
/// for CPUs whose registers do not describe it. The size is only a hint, so implausible values are
/// ignored.
pub(crate) fn second_level_cache(tree: Fdt<'_>) -> Option<u64> {
    let mut largest = None;
    for node in usable_nodes(tree) {
        let is_cache = node.compatible_with("cache").is_some();
        if is_cache && cell(node, "cache-level") == Some(2) {
            let size = cell(node, "cache-size").filter(|bytes| *bytes != 0);
            largest = largest.max(size);
        }
    }
    largest
}

/// Returns a property's value if it consists of one cell.
fn cell(node: Node<'_>, name: &str) -> Option<u64> {
    let value = node.value(name)?;
    (value.len() == 4).then(|| number(value))
}
