//! Cluster, core and thread numbers: from cpu-map, or else from MPIDR.
//!
//! Linux binding *cpu/cpu-topology.txt*: `cpu-map` holds `socketN` or
//! `clusterN` nodes, clusters may nest, the innermost hold `coreN`, and those
//! either name a CPU or hold `threadN` that do. The numbers, not the order of
//! the nodes, order siblings. Clusters are counted through over the whole
//! map; cores and threads keep the number in their name.

use arrayvec::ArrayVec;
use dtoolkit::Node as _;
use dtoolkit::fdt::FdtNode;

use super::check::DEPTH_MAX;
use super::cpus::{CPU_MAX, Cpu, Handle};
use super::error::{BoardError, Problem};
use super::tree::Place;

/// Most nodes in a map: each CPU may be a thread in a core in a cluster in a
/// socket of its own. It bounds the scans of [`next_child`].
const MAP_NODES_MAX: usize = 4 * CPU_MAX;
/// A thread number that no label has: the CPU has no label yet.
const UNLABELLED: u16 = u16::MAX;

/// The CPU with labels from its affinity fields. With `mt`, as MPIDR_EL1.MT
/// says, Aff0 is the thread, and all else one field further up.
pub(super) fn from_mpidr(mpidr: u64, mt: bool) -> Cpu {
    let field = |shift: u32| (mpidr >> shift & 0xff) as u16;
    let (aff0, aff1, aff2, aff3) = (field(0), field(8), field(16), field(32));
    let (cluster, core, thread) = if mt {
        (aff3 << 8 | aff2, aff1, aff0)
    } else {
        (aff2 << 8 | aff1, aff0, 0)
    };
    Cpu {
        mpidr,
        cluster,
        core,
        thread,
    }
}

pub(super) fn is_labelled(cpu: &Cpu) -> bool {
    cpu.thread != UNLABELLED
}

/// A socket or cluster on the way down, and the children that are done.
struct Level<'t> {
    place: Place<'t>,
    socket: Option<u16>,
    cluster: Option<u16>,
}

/// Labels `cpus` by the map; `handles` are sorted by phandle. A CPU that the
/// map leaves out stays unlabelled.
pub(super) fn from_map<'t>(
    map: &Place<'t>,
    handles: &[Handle],
    cpus: &mut [Cpu],
) -> Result<(), BoardError<'t>> {
    check_size(map)?;
    for cpu in cpus.iter_mut() {
        cpu.thread = UNLABELLED;
    }
    let mut labeller = Labeller {
        handles,
        cpus,
        clusters: 0,
    };
    let mut levels = ArrayVec::<Level<'t>, DEPTH_MAX>::new();
    labeller.cores(map)?;
    levels.push(Level {
        place: *map,
        socket: None,
        cluster: None,
    });
    while let Some(level) = levels.last_mut() {
        let parent = level.place;
        let next = match next_child(&parent, "socket", level.socket)? {
            Some((number, node)) => {
                level.socket = Some(number);
                Some(node)
            }
            None => next_child(&parent, "cluster", level.cluster)?.map(|(number, node)| {
                level.cluster = Some(number);
                node
            }),
        };
        let Some(node) = next else {
            levels.pop();
            continue;
        };
        let place = parent.child(node);
        labeller.cores(&place)?;
        // Deeper than this is refused when the tree is opened.
        let _ = levels.try_push(Level {
            place,
            socket: None,
            cluster: None,
        });
    }
    Ok(())
}

fn check_size<'t>(map: &Place<'t>) -> Result<(), BoardError<'t>> {
    let mut pending = ArrayVec::<_, DEPTH_MAX>::new();
    pending.push(map.node.children());
    let mut nodes = 0;
    while let Some(children) = pending.last_mut() {
        let Some(node) = children.next() else {
            pending.pop();
            continue;
        };
        nodes += 1;
        if nodes > MAP_NODES_MAX {
            return Err(map.error("", Problem::TooMany(MAP_NODES_MAX)));
        }
        let _ = pending.try_push(node.children());
    }
    Ok(())
}

struct Labeller<'c> {
    handles: &'c [Handle],
    cpus: &'c mut [Cpu],
    /// Clusters with cores that were met.
    clusters: u16,
}

impl Labeller<'_> {
    /// Labels the cores that `cluster` has itself; with any, it counts.
    fn cores<'t>(&mut self, cluster: &Place<'t>) -> Result<(), BoardError<'t>> {
        let mut last = None;
        while let Some((core, node)) = next_child(cluster, "core", last)? {
            last = Some(core);
            let place = cluster.child(node);
            if place.value("cpu").is_some() {
                self.label(&place, core, 0)?;
            }
            let mut last = None;
            while let Some((thread, node)) = next_child(&place, "thread", last)? {
                last = Some(thread);
                let place = place.child(node);
                self.label(&place, core, thread)?;
            }
        }
        self.clusters += u16::from(last.is_some());
        Ok(())
    }

    fn label<'t>(
        &mut self,
        leaf: &Place<'t>,
        core: u16,
        thread: u16,
    ) -> Result<(), BoardError<'t>> {
        let Some(phandle) = leaf.u32("cpu")? else {
            return Err(leaf.error("cpu", Problem::Missing));
        };
        let found = self
            .handles
            .binary_search_by_key(&phandle, |handle| handle.phandle);
        let Some(handle) = found.ok().and_then(|at| self.handles.get(at)) else {
            return Err(leaf.error("cpu", Problem::NoPhandle(phandle)));
        };
        let Some(cpu) = handle
            .index
            .and_then(|index| self.cpus.get_mut(usize::from(index)))
        else {
            return Ok(());
        };
        if is_labelled(cpu) {
            let value = u64::from(phandle);
            return Err(leaf.error("cpu", Problem::Duplicate(value)));
        }
        cpu.cluster = self.clusters;
        cpu.core = core;
        cpu.thread = thread;
        Ok(())
    }
}

/// The child called `prefix` and the least number above `last`. One scan for
/// each child is what it takes to go by number without memory of them all.
fn next_child<'t>(
    parent: &Place<'t>,
    prefix: &str,
    last: Option<u16>,
) -> Result<Option<(u16, FdtNode<'t>)>, BoardError<'t>> {
    let mut best: Option<(u16, FdtNode<'t>)> = None;
    for node in parent.node.children() {
        let Some(digits) = node.name().strip_prefix(prefix) else {
            continue;
        };
        // Plain numbers only: with leading zeros or a sign two names could
        // mean one number, and one of them would never be met.
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit())
            && (digits == "0" || !digits.starts_with('0'));
        let number = digits.parse().ok().filter(|n| plain && *n != UNLABELLED);
        let Some(number) = number else {
            let problem = Problem::Text {
                value: node.name(),
                expected: "a name of kind and number, such as core0",
            };
            return Err(parent.error("", problem));
        };
        if last.is_none_or(|last| number > last) && best.is_none_or(|(least, _)| number < least) {
            best = Some((number, node));
        }
    }
    Ok(best)
}
