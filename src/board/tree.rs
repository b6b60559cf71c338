//! Moving through a checked device tree: nodes with their path and parents.

use arrayvec::ArrayVec;

use super::check::DEPTH_MAX;
use super::error::{BoardError, NodePath, Problem};
use super::fdt::{Fdt, Node, names, names_below};

impl<'t> Node<'t> {
    pub fn error(self, property: &'static str, problem: Problem<'t>) -> BoardError<'t> {
        BoardError {
            node: NodePath::of(self),
            property,
            problem,
        }
    }

    /// A property of one cell.
    pub fn u32(self, name: &'static str) -> Result<Option<u32>, BoardError<'t>> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        match value.try_into() {
            Ok(bytes) => Ok(Some(u32::from_be_bytes(bytes))),
            Err(_) => Err(self.length(name, value, "4")),
        }
    }

    /// The first string of a property.
    pub fn text(self, name: &'static str) -> Result<Option<&'t str>, BoardError<'t>> {
        match self.value(name) {
            None => Ok(None),
            Some(value) => first_text(value)
                .map(Some)
                .ok_or_else(|| self.error(name, Problem::NotText)),
        }
    }

    pub fn length(
        self,
        name: &'static str,
        value: &[u8],
        expected: &'static str,
    ) -> BoardError<'t> {
        let bytes = value.len();
        self.error(name, Problem::Length { bytes, expected })
    }

    pub fn wrong_value(
        self,
        name: &'static str,
        value: u64,
        expected: &'static str,
    ) -> BoardError<'t> {
        self.error(name, Problem::Value { value, expected })
    }

    /// A property that must be there.
    pub fn required(self, name: &'static str) -> Result<&'t [u8], BoardError<'t>> {
        self.value(name)
            .ok_or_else(|| self.error(name, Problem::Missing))
    }

    /// The node's phandle (Devicetree Specification v0.4, section 2.3.3).
    pub fn phandle(self) -> Result<Option<u32>, BoardError<'t>> {
        match self.u32("phandle")? {
            None => self.u32("linux,phandle"),
            some => Ok(some),
        }
    }

    pub fn available(self) -> bool {
        is_available(self.value("status"))
    }
}

/// Whether `status` lets a device be used (section 2.3.4).
fn is_available(status: Option<&[u8]>) -> bool {
    matches!(status, None | Some(b"okay\0" | b"ok\0"))
}

/// The first of a property's strings, when it is ASCII text.
pub(super) fn first_text(value: &[u8]) -> Option<&str> {
    let end = value.iter().position(|byte| *byte == 0)?;
    let text = core::str::from_utf8(value.get(..end)?).ok()?;
    let plain = |b: u8| matches!(b, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    text.bytes().all(plain).then_some(text)
}

/// Index in `names` of the first string of a `compatible` value that is among
/// them: the list goes from the most specific to the most general (2.3.1).
pub(super) fn compatible_with(value: &[u8], names: &[&str]) -> Option<usize> {
    value
        .split(|byte| *byte == 0)
        .find_map(|string| names.iter().position(|name| name.as_bytes() == string))
}

/// A node with all its parents, the root first.
pub(super) struct Chain<'t>(ArrayVec<Node<'t>, DEPTH_MAX>);

impl<'t> Chain<'t> {
    fn root(fdt: Fdt<'t>) -> Self {
        let mut nodes = ArrayVec::new();
        let _ = nodes.try_push(fdt.root());
        Self(nodes)
    }

    pub fn find(fdt: Fdt<'t>, path: &str) -> Option<Self> {
        names(path)?.try_fold(Self::root(fdt), Self::descend)
    }

    /// Goes down by a path that is relative to the last node.
    pub fn find_below(self, path: &str) -> Option<Self> {
        names_below(path).try_fold(self, Self::descend)
    }

    fn descend(mut self, name: &str) -> Option<Self> {
        self.0.try_push(self.node().child(name)?).ok()?;
        Some(self)
    }

    /// Goes down to `node`, a child of the last node; tells whether it did:
    /// deeper than this is refused when the tree is opened.
    pub fn enter(&mut self, node: Node<'t>) -> bool {
        self.0.try_push(node).is_ok()
    }

    /// Goes up again.
    pub fn leave(&mut self) {
        self.0.pop();
    }

    pub fn nodes(&self) -> &[Node<'t>] {
        &self.0
    }

    /// The last node.
    pub fn node(&self) -> Node<'t> {
        // A chain is never empty: each begins with the root.
        self.0[self.0.len() - 1]
    }
}

/// What a walk tells of each node.
pub(super) struct Facts<'t> {
    /// The `compatible` strings, or nothing.
    pub compatible: &'t [u8],
    /// Whether `device_type` is "memory".
    pub is_memory: bool,
}

type Visit<'v, 't> = dyn FnMut(&Chain<'t>, &Facts<'t>) -> Result<(), BoardError<'t>> + 'v;

/// Visits every node below the root in the tree's order, without the
/// subtrees whose `status` says that they cannot be used.
///
/// # Errors
/// Those of `visit`.
pub(super) fn walk<'t>(fdt: Fdt<'t>, visit: &mut Visit<'_, 't>) -> Result<(), BoardError<'t>> {
    let mut chain = Chain::root(fdt);
    let mut pending = ArrayVec::<_, DEPTH_MAX>::new();
    let _ = pending.try_push(fdt.root().children());
    while let Some(children) = pending.last_mut() {
        let Some(node) = children.next() else {
            pending.pop();
            chain.leave();
            continue;
        };
        // One look at each property, as a node may have thousands.
        let mut values = [None; 3];
        for (name, value) in node.properties() {
            for (known, slot) in ["compatible", "device_type", "status"]
                .iter()
                .zip(&mut values)
            {
                if known.as_bytes() == name {
                    *slot = Some(value);
                }
            }
        }
        let [compatible, device_type, status] = values;
        if !is_available(status) || !chain.enter(node) {
            continue;
        }
        let facts = Facts {
            compatible: compatible.unwrap_or_default(),
            is_memory: device_type == Some(b"memory\0"),
        };
        visit(&chain, &facts)?;
        if pending.try_push(node.children()).is_err() {
            chain.leave();
        }
    }
    Ok(())
}
