//! Moving through a checked device tree: nodes with their path and parents.

use arrayvec::ArrayVec;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::{Node as _, Property as _};

use super::check::DEPTH_MAX;
use super::error::{BoardError, NodePath, Problem};

/// A node and its path: what is needed to read properties and name them.
#[derive(Clone, Copy)]
pub(super) struct Place<'t> {
    pub node: FdtNode<'t>,
    pub path: NodePath,
}

impl<'t> Place<'t> {
    /// The node at `path`, which has no alias and no options.
    pub fn find(fdt: Fdt<'t>, path: &str) -> Option<Self> {
        Chain::find(fdt, path).map(|chain| chain.place())
    }

    pub fn child(&self, node: FdtNode<'t>) -> Self {
        Self {
            node,
            path: self.path.child(node.name()),
        }
    }

    pub fn error(&self, property: &'static str, problem: Problem<'t>) -> BoardError<'t> {
        BoardError {
            node: self.path,
            property,
            problem,
        }
    }

    pub fn value(&self, name: &str) -> Option<&'t [u8]> {
        value(self.node, name)
    }

    /// A property of one cell.
    pub fn u32(&self, name: &'static str) -> Result<Option<u32>, BoardError<'t>> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        match value.try_into() {
            Ok(bytes) => Ok(Some(u32::from_be_bytes(bytes))),
            Err(_) => Err(self.length(name, value, "4")),
        }
    }

    /// The first string of a property.
    pub fn text(&self, name: &'static str) -> Result<Option<&'t str>, BoardError<'t>> {
        match self.value(name) {
            None => Ok(None),
            Some(value) => first_text(value)
                .map(Some)
                .ok_or_else(|| self.error(name, Problem::NotText)),
        }
    }

    pub fn length(
        &self,
        name: &'static str,
        value: &[u8],
        expected: &'static str,
    ) -> BoardError<'t> {
        let bytes = value.len();
        self.error(name, Problem::Length { bytes, expected })
    }

    /// The node's phandle (Devicetree Specification v0.4, section 2.3.3).
    pub fn phandle(&self) -> Result<Option<u32>, BoardError<'t>> {
        match self.u32("phandle")? {
            None => self.u32("linux,phandle"),
            some => Ok(some),
        }
    }

    pub fn available(&self) -> bool {
        is_available(self.value("status"))
    }
}

fn value<'t>(node: FdtNode<'t>, name: &str) -> Option<&'t [u8]> {
    // The lifetime of `Property::value` is that of the property; the
    // underlying bytes live as long as the tree.
    node.property(name)?.value_as::<&'t [u8]>().ok()
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
#[derive(Clone)]
pub(super) struct Chain<'t>(ArrayVec<FdtNode<'t>, DEPTH_MAX>);

impl<'t> Chain<'t> {
    fn root(fdt: Fdt<'t>) -> Self {
        let mut nodes = ArrayVec::new();
        nodes.push(fdt.root());
        Self(nodes)
    }

    pub fn find(fdt: Fdt<'t>, path: &str) -> Option<Self> {
        if !path.starts_with('/') {
            return None;
        }
        Self::root(fdt).descend(path)
    }

    /// Goes down by a path that is relative to this node.
    pub fn descend(mut self, path: &str) -> Option<Self> {
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let child = self.node().child(name)?;
            self.0.try_push(child).ok()?;
        }
        Some(self)
    }

    /// The child `node` with all its parents.
    pub fn child(&self, node: FdtNode<'t>) -> Option<Self> {
        let mut chain = self.clone();
        chain.0.try_push(node).ok()?;
        Some(chain)
    }

    pub fn nodes(&self) -> &[FdtNode<'t>] {
        &self.0
    }

    fn node(&self) -> FdtNode<'t> {
        // A chain is never empty: each begins with the root.
        self.0[self.0.len() - 1]
    }

    pub fn place(&self) -> Place<'t> {
        self.place_at(self.0.len() - 1)
    }

    /// The parent `index` steps below the root.
    pub fn place_at(&self, index: usize) -> Place<'t> {
        let mut path = NodePath::default();
        for node in self.0.iter().take(index + 1).skip(1) {
            path = path.child(node.name());
        }
        Place {
            node: self.0[index],
            path,
        }
    }
}

/// What a walk tells of each node.
#[derive(Default)]
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
    pending.push(fdt.root().children());
    while let Some(children) = pending.last_mut() {
        let Some(node) = children.next() else {
            pending.pop();
            chain.0.pop();
            continue;
        };
        let mut facts = Facts::default();
        let mut status = None;
        // One look at each property, as a node may have thousands.
        for property in node.properties() {
            let Ok(value) = property.value_as::<&'t [u8]>() else {
                continue;
            };
            match property.name() {
                "compatible" => facts.compatible = value,
                "device_type" => facts.is_memory = value == b"memory\0",
                "status" => status = Some(value),
                _ => {}
            }
        }
        // Deeper than this is refused when the tree is opened.
        if !is_available(status) || chain.0.try_push(node).is_err() {
            continue;
        }
        visit(&chain, &facts)?;
        if pending.try_push(node.children()).is_err() {
            chain.0.pop();
        }
    }
    Ok(())
}
