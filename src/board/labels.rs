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
use super::error::Problem;
use super::fdt::{Children, Node, Read, Token};
use super::text;

/// Most nodes in a map: each CPU may be a thread in a core in a cluster in a
/// socket of its own. It bounds the scans of [`Siblings`].
const MAP_NODES_MAX: usize = 4 * CPU_MAX;
/// A thread number that no label has: the CPU has no label yet.
const UNLABELLED: u16 = u16::MAX;

/// The CPU with labels from its affinity fields. With `mt`, as MPIDR_EL1.MT
/// says, Aff0 is the thread, and all else one field further up. `None`: they
/// do not fit, and without Aff3 two CPUs would share a label.
pub(crate) fn from_mpidr(mpidr: u64, mt: bool) -> Option<Cpu> {
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

/// The CPU without labels, for a map to give.
pub(crate) fn none(mpidr: u64) -> Cpu {
    Cpu {
        mpidr,
        cluster: 0,
        core: 0,
        thread: UNLABELLED,
    }
}

pub(crate) fn is_labelled(cpu: &Cpu) -> bool {
    cpu.thread != UNLABELLED
}

/// A socket or cluster on the way down: its children that are not done.
struct Level<'c, 't> {
    sockets: Siblings<'c, 't>,
    clusters: Siblings<'c, 't>,
}

impl<'c, 't> Level<'c, 't> {
    fn new(node: Node<'c, 't>) -> Self {
        Self {
            sockets: Siblings::new(node, "socket"),
            clusters: Siblings::new(node, "cluster"),
        }
    }

    fn next(&mut self) -> Read<Option<Node<'c, 't>>> {
        let next = match self.sockets.next()? {
            None => self.clusters.next()?,
            some => some,
        };
        Ok(next.map(|(_, node)| node))
    }
}

/// Labels `cpus`, which have none, by the map. A CPU that the map leaves out
/// stays unlabelled.
pub(crate) fn from_map(map: Node<'_, '_>, handles: &[Handle], cpus: &mut [Cpu]) -> Read<()> {
    check_size(map)?;
    let mut labeller = Labeller {
        handles,
        cpus,
        clusters: 0,
    };
    let mut levels = ArrayVec::<Level<'_, '_>, DEPTH_MAX>::new();
    let mut next = Some(map);
    loop {
        if let Some(node) = next {
            labeller.cores(node)?;
            // Deeper than this is refused when the tree is opened.
            let _ = levels.try_push(Level::new(node));
        } else {
            levels.pop();
        }
        let Some(level) = levels.last_mut() else {
            return Ok(());
        };
        next = level.next()?;
    }
}

fn check_size(map: Node<'_, '_>) -> Read<()> {
    let mut cursor = map.cursor();
    let (mut nodes, mut depth) = (0, 0);
    loop {
        match cursor.next() {
            Some(Token::Begin) => {
                nodes += 1;
                depth += 1;
            }
            Some(Token::End) => depth -= 1,
            Some(Token::Property(..)) => {}
            None => return Ok(()),
        }
        if depth == 0 {
            return Ok(());
        }
        // One of them is the map itself.
        if nodes > MAP_NODES_MAX + 1 {
            return Err(map.error("", Problem::TooMany(MAP_NODES_MAX)));
        }
    }
}

struct Labeller<'c> {
    handles: &'c [Handle],
    cpus: &'c mut [Cpu],
    /// Clusters with cores that were met.
    clusters: u16,
}

impl Labeller<'_> {
    /// Labels the cores that `cluster` has itself; with any, it counts.
    fn cores(&mut self, cluster: Node<'_, '_>) -> Read<()> {
        let mut cores = Siblings::new(cluster, "core");
        while let Some((core, node)) = cores.next()? {
            if node.value("cpu").is_some() {
                self.label(node, core, 0)?;
            }
            let mut threads = Siblings::new(node, "thread");
            while let Some((thread, node)) = threads.next()? {
                self.label(node, core, thread)?;
            }
        }
        self.clusters += u16::from(cores.successor > 0);
        Ok(())
    }

    fn label(&mut self, leaf: Node<'_, '_>, core: u16, thread: u16) -> Read<()> {
        let Some(phandle) = leaf.u32("cpu")? else {
            return Err(leaf.missing("cpu"));
        };
        let mut handles = self.handles.iter();
        let Some(handle) = handles.find(|handle| handle.phandle == phandle) else {
            return Err(leaf.error("cpu", Problem::NoPhandle(phandle)));
        };
        let cpu = handle.index.and_then(|i| self.cpus.get_mut(usize::from(i)));
        let Some(cpu) = cpu else {
            return Ok(());
        };
        if is_labelled(cpu) {
            return Err(leaf.error("cpu", Problem::Duplicate(phandle.into())));
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
struct Siblings<'c, 't> {
    parent: Node<'c, 't>,
    prefix: &'static str,
    /// The least number that was not met.
    successor: u16,
    done: bool,
    ahead: Children<'c, 't>,
}

impl<'c, 't> Siblings<'c, 't> {
    fn new(parent: Node<'c, 't>, prefix: &'static str) -> Self {
        Self {
            parent,
            prefix,
            successor: 0,
            done: false,
            ahead: parent.children(),
        }
    }

    fn next(&mut self) -> Read<Option<(u16, Node<'c, 't>)>> {
        if self.done {
            return Ok(None);
        }
        let mut found = None;
        while let Some(node) = self.ahead.next() {
            let Some(number) = self.number(node)?.filter(|n| *n >= self.successor) else {
                continue;
            };
            if number == self.successor {
                found = Some((number, node));
            }
            break;
        }
        if found.is_none() {
            for node in self.parent.children() {
                let Some(number) = self.number(node)?.filter(|n| *n >= self.successor) else {
                    continue;
                };
                if found.is_none_or(|(least, _)| number < least) {
                    found = Some((number, node));
                }
            }
        }
        match found {
            Some((number, _)) => self.successor = number + 1,
            None => self.done = true,
        }
        Ok(found)
    }

    /// The number in the name of `node`, if it is one of the kind.
    ///
    /// Plain numbers only: with leading zeros or a sign two names could mean
    /// one number, and one of them would never be met.
    fn number(&self, node: Node<'c, 't>) -> Read<Option<u16>> {
        let Some(digits) = node.name().strip_prefix(self.prefix.as_bytes()) else {
            return Ok(None);
        };
        let number = match digits {
            [b'0', _, ..] => None,
            digits => text::number(digits, 10),
        };
        let number = number.filter(|number| *number < UNLABELLED.into());
        let Some(number) = number else {
            let expected = "a name of kind and number, such as core0";
            return Err(self.parent.wrong_text("", node.name_text(), expected));
        };
        Ok(Some(number as u16))
    }
}
