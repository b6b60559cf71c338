//! A device tree as dtoolkit reads it, and the few questions to ask of it.
//!
//! Nothing here knows how the payload reads trees.

use std::collections::BTreeMap;

use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::{Node as _, Property as _};

/// A node with all that is in it.
#[derive(Debug)]
pub struct Node {
    pub name: String,
    pub properties: BTreeMap<String, Vec<u8>>,
    pub children: Vec<Node>,
}

impl Node {
    fn of(node: &FdtNode<'_>) -> Self {
        let properties = node.properties();
        Self {
            name: node.name().to_string(),
            properties: properties
                .map(|p| (p.name().to_owned(), p.value().to_vec()))
                .collect(),
            children: node.children().map(|child| Self::of(&child)).collect(),
        }
    }

    pub fn value(&self, name: &str) -> Option<&[u8]> {
        self.properties.get(name).map(Vec::as_slice)
    }

    pub fn texts(&self, name: &str) -> Vec<String> {
        let value = String::from_utf8_lossy(self.value(name).unwrap_or_default());
        let value = value.strip_suffix('\0').unwrap_or(&value);
        value.split('\0').map(str::to_owned).collect()
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.value(name)?;
        self.texts(name).into_iter().next()
    }

    pub fn cells(&self, name: &str) -> Option<Vec<u32>> {
        let words = self.value(name)?.chunks(4);
        Some(
            words
                .map(|w| u32::from_be_bytes(w.try_into().expect("whole cells")))
                .collect(),
        )
    }

    pub fn cell(&self, name: &str) -> Option<u32> {
        self.cells(name)?.first().copied()
    }

    pub fn is(&self, compatible: &str) -> bool {
        self.texts("compatible").iter().any(|own| own == compatible)
    }

    pub fn enabled(&self) -> bool {
        self.text("status")
            .is_none_or(|status| status == "okay" || status == "ok")
    }
}

/// A node with its parents, the root first.
pub type Way<'n> = Vec<&'n Node>;

/// A whole tree.
pub struct Tree {
    pub root: Node,
    pub reservations: Vec<(u64, u64)>,
}

impl Tree {
    pub fn read(blob: &[u8]) -> Self {
        let fdt = Fdt::new_unchecked(blob);
        let reservations = fdt.memory_reservations();
        Self {
            root: Node::of(&fdt.root()),
            reservations: reservations.map(|r| (r.address(), r.size())).collect(),
        }
    }

    /// Every node, each behind its parent.
    pub fn ways(&self) -> Vec<Way<'_>> {
        fn add<'n>(way: &Way<'n>, all: &mut Vec<Way<'n>>) {
            all.push(way.clone());
            for child in &way[way.len() - 1].children {
                let mut below = way.clone();
                below.push(child);
                add(&below, all);
            }
        }
        let mut all = Vec::new();
        add(&vec![&self.root], &mut all);
        all
    }

    /// The node at an absolute path, whose names may lack the unit address.
    pub fn at(&self, path: &str) -> Option<Way<'_>> {
        let mut way = vec![&self.root];
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let mut children = way[way.len() - 1].children.iter();
            way.push(
                children.find(|child| {
                    child.name == name || child.name.split('@').next() == Some(name)
                })?,
            );
        }
        Some(way)
    }

    pub fn by_phandle(&self, phandle: u32) -> Option<Way<'_>> {
        let found = |way: &Way<'_>| way[way.len() - 1].cell("phandle") == Some(phandle);
        self.ways().into_iter().find(found)
    }
}

/// `/a/b` for the way to b.
pub fn path(way: &[&Node]) -> String {
    way[1..]
        .iter()
        .fold(String::new(), |path, node| path + "/" + &node.name)
}

/// `reg` of the way's last node as the CPUs see it; `None` where a bus on the
/// way does not let them. What has no size is left out.
pub fn regions(way: &[&Node]) -> Option<Vec<(u64, u64)>> {
    let (node, buses) = way.split_last().expect("a node");
    let Some(reg) = node.cells("reg") else {
        return Some(Vec::new());
    };
    let bus = buses.last().expect("a parent");
    let (address, size) = counts(bus);
    let entries = reg.chunks(address + size);
    let entries = entries.map(|entry| (number(&entry[..address]), number(&entry[address..])));
    entries
        .filter(|(_, size)| *size != 0)
        .map(|(base, size)| Some((up(base, size, buses)? as u64, size as u64)))
        .collect()
}

fn number(cells: &[u32]) -> u128 {
    cells
        .iter()
        .fold(0, |n, cell| (n << 32) | u128::from(*cell))
}

/// `#address-cells` and `#size-cells` for children of `bus`.
fn counts(bus: &Node) -> (usize, usize) {
    let cell = |name, default| bus.cell(name).unwrap_or(default) as usize;
    (cell("#address-cells", 2), cell("#size-cells", 1))
}

/// The address on the root's bus of `base` on the last of `buses`.
fn up(base: u128, size: u128, buses: &[&Node]) -> Option<u128> {
    let (bus, above) = buses.split_last()?;
    let Some(parent) = above.last() else {
        return Some(base);
    };
    let ranges = bus.cells("ranges")?;
    if ranges.is_empty() {
        return up(base, size, above);
    }
    let ((child, length), (parent, _)) = (counts(bus), counts(parent));
    let entry = ranges.chunks(child + parent + length).find(|entry| {
        let from = number(&entry[..child]);
        let room = number(&entry[child + parent..]);
        from <= base && base + size <= from + room
    })?;
    let (from, to) = (
        number(&entry[..child]),
        number(&entry[child..child + parent]),
    );
    up(base - from + to, size, above)
}
