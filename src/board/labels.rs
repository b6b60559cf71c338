//! Cluster, core and thread numbers: from cpu-map, or else from MPIDR.
//!
//! Linux binding *cpu/cpu-topology.txt*: `cpu-map` holds `socketN` or
//! `clusterN` nodes, clusters may nest, the innermost hold `coreN`, and those
//! either name a CPU or hold `threadN` that do. The numbers, not the order of
//! the nodes, order siblings. Clusters are counted through over the whole
//! map; cores and threads keep the number in their name.

use arrayvec::ArrayVec;

use super::check::DEPTH_MAX;
use super::cpus::{CPU_MAX, Cpu, Handle};
use super::error::{BoardError, Problem};
use super::fdt::{Children, Node};

/// Most nodes in a map: each CPU may be a thread in a core in a cluster in a
/// socket of its own. It bounds the scans of [`Siblings`].
const MAP_NODES_MAX: usize = 4 * CPU_MAX;
/// A thread number that no label has: the CPU has no label yet.
const UNLABELLED: u16 = u16::MAX;

/// The CPU with labels from its affinity fields. With `mt`, as MPIDR_EL1.MT
/// says, Aff0 is the thread, and all else one field further up. `None`: they
/// do not fit, and without Aff3 two CPUs would share a label.
pub(super) fn from_mpidr(mpidr: u64, mt: bool) -> Option<Cpu> {
    let field = |shift: u32| ((mpidr >> shift) & 0xff) as u16;
    let (aff0, aff1, aff2, aff3) = (field(0), field(8), field(16), field(32));
    let (cluster, core, thread) = if mt {
        ((aff3 << 8) | aff2, aff1, aff0)
    } else if aff3 == 0 {
        ((aff2 << 8) | aff1, aff0, 0)
    } else {
        return None;
    };
    Some(Cpu {
        mpidr,
        cluster,
        core,
        thread,
    })
}

pub(super) fn is_labelled(cpu: &Cpu) -> bool {
    cpu.thread != UNLABELLED
}

/// A socket or cluster on the way down, and the children that are done.
struct Level<'t> {
    node: Node<'t>,
    sockets: Siblings<'t>,
    clusters: Siblings<'t>,
}

impl<'t> Level<'t> {
    fn new(node: Node<'t>) -> Self {
        Self {
            node,
            sockets: Siblings::new(node, "socket"),
            clusters: Siblings::new(node, "cluster"),
        }
    }

    fn next(&mut self) -> Result<Option<Node<'t>>, BoardError<'t>> {
        let next = match self.sockets.next(self.node)? {
            None => self.clusters.next(self.node)?,
            some => some,
        };
        Ok(next.map(|(_, node)| node))
    }
}

/// Labels `cpus` by the map; `handles` are sorted by phandle. A CPU that the
/// map leaves out stays unlabelled.
pub(super) fn from_map<'t>(
    map: Node<'t>,
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
    let _ = levels.try_push(Level::new(map));
    while let Some(level) = levels.last_mut() {
        let Some(node) = level.next()? else {
            levels.pop();
            continue;
        };
        labeller.cores(node)?;
        // Deeper than this is refused when the tree is opened.
        let _ = levels.try_push(Level::new(node));
    }
    Ok(())
}

fn check_size<'t>(map: Node<'t>) -> Result<(), BoardError<'t>> {
    let mut pending = ArrayVec::<_, DEPTH_MAX>::new();
    let _ = pending.try_push(map.children());
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
    fn cores<'t>(&mut self, cluster: Node<'t>) -> Result<(), BoardError<'t>> {
        let mut cores = Siblings::new(cluster, "core");
        while let Some((core, node)) = cores.next(cluster)? {
            if node.value("cpu").is_some() {
                self.label(node, core, 0)?;
            }
            let mut threads = Siblings::new(node, "thread");
            while let Some((thread, node)) = threads.next(node)? {
                self.label(node, core, thread)?;
            }
        }
        self.clusters += u16::from(cores.last.is_some());
        Ok(())
    }

    fn label<'t>(&mut self, leaf: Node<'t>, core: u16, thread: u16) -> Result<(), BoardError<'t>> {
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

/// The children of one kind, by number. Where they are in order, as in all
/// but odd maps, that is one pass; else it is a scan for each, since there is
/// no memory to sort them in.
struct Siblings<'t> {
    prefix: &'static str,
    last: Option<u16>,
    done: bool,
    ahead: Children<'t>,
}

impl<'t> Siblings<'t> {
    fn new(parent: Node<'t>, prefix: &'static str) -> Self {
        Self {
            prefix,
            last: None,
            done: false,
            ahead: parent.children(),
        }
    }

    fn next(&mut self, parent: Node<'t>) -> Result<Option<(u16, Node<'t>)>, BoardError<'t>> {
        if self.done {
            return Ok(None);
        }
        let successor = self.last.map_or(0, |last| last + 1);
        let mut found = None;
        for node in &mut self.ahead {
            if let Some(number) = number(parent, self.prefix, node)?
                && number >= successor
            {
                found = Some((number, node)).filter(|_| number == successor);
                break;
            }
        }
        if found.is_none() {
            for node in parent.children() {
                if let Some(number) = number(parent, self.prefix, node)?
                    && number >= successor
                    && found.is_none_or(|(least, _)| number < least)
                {
                    found = Some((number, node));
                }
            }
        }
        self.last = found.map(|(number, _)| number).or(self.last);
        self.done = found.is_none();
        Ok(found)
    }
}

/// The number in the name of `node`, if it is one of the kind `prefix`.
///
/// Plain numbers only: with leading zeros or a sign two names could mean one
/// number, and one of them would never be met.
fn number<'t>(
    parent: Node<'t>,
    prefix: &str,
    node: Node<'t>,
) -> Result<Option<u16>, BoardError<'t>> {
    let Some(digits) = node.name().strip_prefix(prefix) else {
        return Ok(None);
    };
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    let number = digits.parse().ok().filter(|n| plain && *n != UNLABELLED);
    number.map(Some).ok_or_else(|| {
        let problem = Problem::Text {
            value: node.name(),
            expected: "a name of kind and number, such as core0",
        };
        parent.error("", problem)
    })
}
