//! The CPUs: which there are, by MPIDR.
//!
//! Devicetree Specification v0.4, section 3.8, and Linux binding
//! *arm/cpus.yaml*: `reg` has the affinity fields of MPIDR_EL1, in two cells
//! with Aff3 in the first, or in one without it.

use arrayvec::ArrayVec;

use super::error::{BoardError, Problem};
use super::fdt::{Node, Read, Tree, number};
use super::labels;
use super::tree::compatible_with;

/// The most CPUs.
pub const CPU_MAX: usize = 512;
/// The affinity fields of MPIDR_EL1.
pub const MPIDR_MASK: u64 = 0xff_00ff_ffff;

/// One CPU, by its number in the hardware and its place in the topology.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Affinity fields of MPIDR_EL1, `MPIDR_MASK`; every other bit is 0.
    pub mpidr: u64,
    /// Which cluster, as tables label it.
    pub cluster: u16,
    /// Which core of the cluster.
    pub core: u16,
    /// Which thread of the core.
    pub thread: u16,
}

/// Where cluster, core and thread numbers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelSource {
    /// The cpu-map node.
    CpuMap,
    /// The affinity fields, for want of a cpu-map.
    Mpidr,
}

/// One CPU's node.
struct CpuNode<'c, 't> {
    node: Node<'c, 't>,
    mpidr: u64,
    available: bool,
}

/// A phandle of a CPU, and which of the CPUs it is; `None`: one that is
/// disabled, which cpu-map may still name.
#[derive(Clone, Copy)]
pub(crate) struct Handle {
    pub phandle: u32,
    pub index: Option<u16>,
}

pub(crate) type Handles = ArrayVec<Handle, CPU_MAX>;

type Visit<'v, 'c, 't> = dyn FnMut(CpuNode<'c, 't>) -> Read<()> + 'v;

fn scan<'c, 't>(tree: &'c Tree<'t>, visit: &mut Visit<'_, 'c, 't>) -> Read<()> {
    const CELLS: &str = "#address-cells";
    let Some(cpus) = tree.find("/cpus") else {
        return Err(tree.no_node("no node /cpus"));
    };
    let cells = match cpus.u32(CELLS)? {
        // What the specification defaults to is wrong for most, so name it.
        None => return Err(cpus.missing(CELLS)),
        Some(cells @ 1..=2) => cells as usize,
        Some(cells) => return Err(cpus.wrong_value(CELLS, cells.into(), "1 or 2")),
    };
    let mut count = 0;
    for node in cpus.children() {
        let is_cpu = match node.value("device_type") {
            Some(kind) => kind == b"cpu\0",
            None => node.is_called(b"cpu"),
        };
        if !is_cpu {
            continue;
        }
        count += 1;
        if count > CPU_MAX {
            return Err(cpus.error("", Problem::TooMany(CPU_MAX)));
        }
        visit(read(node, cells)?)?;
    }
    Ok(())
}

fn read<'c, 't>(node: Node<'c, 't>, cells: usize) -> Read<CpuNode<'c, 't>> {
    let reg = node.required("reg")?;
    if reg.len() != cells * 4 {
        let expected = "as many cells as #address-cells";
        return Err(node.length("reg", reg.len(), expected));
    }
    let mpidr = number(reg);
    if mpidr & !MPIDR_MASK != 0 {
        let expected = "affinity fields only, 0xff00ffffff";
        return Err(node.wrong_value("reg", mpidr, expected));
    }
    let available = node.available();
    // Without one there is still the psci node, which has been seen: some
    // trees leave it to the boot loader, some leave it out of the first CPU,
    // and QEMU of a CPU that is alone.
    let method = node.text("enable-method")?;
    if let Some(value) = method.filter(|method| available && *method != "psci") {
        return Err(node.wrong_text("enable-method", value, "psci"));
    }
    Ok(CpuNode {
        node,
        mpidr,
        available,
    })
}

/// How many CPUs can be used, and whether a Cortex-A73 is one of them.
pub(crate) fn count(tree: &Tree<'_>) -> Read<(usize, bool)> {
    let (mut count, mut has_a73) = (0, false);
    scan(tree, &mut |cpu| {
        if cpu.available {
            count += 1;
            let compatible = cpu.node.value("compatible").unwrap_or_default();
            has_a73 |= compatible_with(compatible, "arm,cortex-a73").is_some();
        }
        Ok(())
    })?;
    if count == 0 {
        return Err(tree.no_node("no CPU under /cpus that is not disabled"));
    }
    Ok((count, has_a73))
}

/// Fills `out`, which has as many places as there are CPUs, in the order of
/// MPIDR.
pub(crate) fn fill(tree: &Tree<'_>, mt: bool, out: &mut [Cpu]) -> Read<LabelSource> {
    let map = tree.find("/cpus/cpu-map");
    let mut handles = Handles::new();
    let mut filled = 0;
    scan(tree, &mut |cpu| {
        let mut index = None;
        if cpu.available {
            let Some(slot) = out.get_mut(filled) else {
                return Err(cpu.node.error("", Problem::NoRoom(filled + 1)));
            };
            let labelled = match map {
                Some(_) => Some(labels::none(cpu.mpidr)),
                None => labels::from_mpidr(cpu.mpidr, mt),
            };
            let Some(labelled) = labelled else {
                let expected = "Aff3 of 0 where there is no cpu-map";
                return Err(cpu.node.wrong_value("reg", cpu.mpidr, expected));
            };
            *slot = labelled;
            index = Some(filled as u16);
            filled += 1;
        }
        if let (Some(phandle), Some(_)) = (cpu.node.phandle()?, map) {
            let handle = Handle { phandle, index };
            if handles.try_push(handle).is_err() {
                return Err(cpu.node.error("", Problem::TooMany(CPU_MAX)));
            }
        }
        Ok(())
    })?;
    let source = match map {
        None => LabelSource::Mpidr,
        Some(map) => {
            labels::from_map(map, &handles, out)?;
            LabelSource::CpuMap
        }
    };
    out.sort_unstable_by_key(|cpu| cpu.mpidr);
    let twice = out.windows(2).find_map(|pair| match pair {
        [one, other] if one.mpidr == other.mpidr => Some(one.mpidr),
        _ => None,
    });
    let (property, problem) = if let Some(mpidr) = twice {
        ("reg (of the CPUs)", Problem::Duplicate(mpidr))
    } else if let Some(cpu) = out.iter().find(|cpu| !labels::is_labelled(cpu)) {
        ("cpu-map", Problem::NotInMap(cpu.mpidr))
    } else {
        return Ok(source);
    };
    let node = tree.find("/cpus").map(Node::place).unwrap_or_default();
    Err(tree.report(BoardError {
        node,
        property,
        problem,
    }))
}
