//! The CPUs: which there are, by MPIDR.
//!
//! Devicetree Specification v0.4, section 3.8, and Linux binding
//! *arm/cpus.yaml*: `reg` has the affinity fields of MPIDR_EL1, in two cells
//! with Aff3 in the first, or in one without it.

use arrayvec::ArrayVec;

use super::error::{BoardError, Problem};
use super::fdt::{Fdt, Node, number};
use super::labels;
use crate::sort;

/// The most CPUs.
pub const CPU_MAX: usize = 512;
/// The affinity fields of MPIDR_EL1.
pub const MPIDR_MASK: u64 = 0xff_00ff_ffff;

/// One CPU, by its number in the hardware and its place in the topology.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Affinity fields of MPIDR_EL1, [`MPIDR_MASK`]; every other bit is 0.
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
struct CpuNode<'t> {
    node: Node<'t>,
    mpidr: u64,
    available: bool,
    has_method: bool,
}

/// A phandle of a CPU, and which of the CPUs it is; `None`: one that is
/// disabled, which cpu-map may still name.
#[derive(Clone, Copy)]
pub(super) struct Handle {
    pub phandle: u32,
    pub index: Option<u16>,
}

pub(super) type Handles = ArrayVec<Handle, CPU_MAX>;

fn scan<'t>(
    fdt: Fdt<'t>,
    visit: &mut dyn FnMut(CpuNode<'t>) -> Result<(), BoardError<'t>>,
) -> Result<(), BoardError<'t>> {
    let Some(cpus) = fdt.find("/cpus") else {
        return Err(BoardError::tree(Problem::NoNode("no node /cpus")));
    };
    let cells = match cpus.u32("#address-cells")? {
        // What the specification defaults to is wrong for most, so name it.
        None => return Err(cpus.error("#address-cells", Problem::Missing)),
        Some(cells @ 1..=2) => cells as usize,
        Some(cells) => {
            let (value, expected) = (u64::from(cells), "1 or 2");
            return Err(cpus.wrong_value("#address-cells", value, expected));
        }
    };
    let mut count = 0;
    for node in cpus.children() {
        let is_cpu = match node.value("device_type") {
            Some(kind) => kind == b"cpu\0",
            None => node.is_called("cpu"),
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

fn read<'t>(node: Node<'t>, cells: usize) -> Result<CpuNode<'t>, BoardError<'t>> {
    let reg = node.required("reg")?;
    if reg.len() != cells * 4 {
        return Err(node.length("reg", reg, "as many cells as #address-cells"));
    }
    let mpidr = number(reg);
    if mpidr & !MPIDR_MASK != 0 {
        let (value, expected) = (mpidr, "affinity fields only, 0xff00ffffff");
        return Err(node.wrong_value("reg", value, expected));
    }
    let available = node.available();
    let method = node.text("enable-method")?;
    if let Some(value) = method.filter(|method| available && *method != "psci") {
        let expected = "psci";
        return Err(node.error("enable-method", Problem::Text { value, expected }));
    }
    Ok(CpuNode {
        node,
        mpidr,
        available,
        has_method: method.is_some(),
    })
}

/// How many CPUs can be used.
pub(super) fn count(fdt: Fdt<'_>) -> Result<usize, BoardError<'_>> {
    let mut count = 0;
    let mut no_method = None;
    scan(fdt, &mut |cpu| {
        if cpu.available {
            count += 1;
            if !cpu.has_method {
                no_method = Some(cpu.node);
            }
        }
        Ok(())
    })?;
    match (count, no_method) {
        (0, _) => Err(BoardError::tree(Problem::NoNode(
            "no CPU under /cpus that is not disabled",
        ))),
        // A CPU that is alone is never turned on: QEMU leaves this out.
        (1, _) | (_, None) => Ok(count),
        (_, Some(node)) => Err(node.error("enable-method", Problem::Missing)),
    }
}

/// Fills `out`, which has as many places as there are CPUs, in the order of
/// MPIDR.
pub(super) fn fill<'t>(
    fdt: Fdt<'t>,
    mt: bool,
    out: &mut [Cpu],
) -> Result<LabelSource, BoardError<'t>> {
    let map = fdt.find("/cpus/cpu-map");
    let mut handles = Handles::new();
    let mut filled = 0;
    scan(fdt, &mut |cpu| {
        let mut index = None;
        if cpu.available {
            let Some(slot) = out.get_mut(filled) else {
                return Err(cpu.node.error("", Problem::NoRoom(filled + 1)));
            };
            *slot = match (&map, labels::from_mpidr(cpu.mpidr, mt)) {
                (Some(_), _) => Cpu {
                    mpidr: cpu.mpidr,
                    ..Cpu::default()
                },
                (None, Some(labelled)) => labelled,
                (None, None) => {
                    let value = cpu.mpidr;
                    let expected = "Aff3 of 0 where there is no cpu-map";
                    return Err(cpu.node.wrong_value("reg", value, expected));
                }
            };
            index = u16::try_from(filled).ok();
            filled += 1;
        }
        if let (Some(phandle), Some(_)) = (cpu.node.phandle()?, &map) {
            let handle = Handle { phandle, index };
            if handles.try_push(handle).is_err() {
                return Err(cpu.node.error("", Problem::TooMany(CPU_MAX)));
            }
        }
        Ok(())
    })?;
    sort::by_key(&mut handles, |handle| handle.phandle.into());
    let source = match &map {
        None => LabelSource::Mpidr,
        Some(map) => {
            labels::from_map(*map, &handles, out)?;
            LabelSource::CpuMap
        }
    };
    sort::by_key(out, |cpu| cpu.mpidr);
    let path = fdt.find("/cpus");
    let refuse = |property, problem| match path {
        Some(path) => path.error(property, problem),
        None => BoardError::tree(problem),
    };
    for pair in out.windows(2) {
        if let [one, other] = pair
            && one.mpidr == other.mpidr
        {
            return Err(refuse("reg (of the CPUs)", Problem::Duplicate(one.mpidr)));
        }
    }
    if source == LabelSource::CpuMap
        && let Some(cpu) = out.iter().find(|cpu| !labels::is_labelled(cpu))
    {
        return Err(refuse("cpu-map", Problem::NotInMap(cpu.mpidr)));
    }
    Ok(source)
}
