//! Moving through a checked device tree: nodes with their parents.

use arrayvec::ArrayVec;

use super::check::DEPTH_MAX;
use super::error::{BoardError, Problem};
use super::fdt::{Node, Read, Reported, Token, Tree, number};

impl<'c, 't> Node<'c, 't> {
    // What reports errors is never a part of its callers: they are many, and
    // an error is large.

    /// Reports what is wrong with the node, or with a property of it.
    #[cold]
    #[inline(never)]
    pub fn error(self, property: &'static str, problem: Problem<'t>) -> Reported {
        self.tree().report(BoardError {
            node: self.place(),
            property,
            problem,
        })
    }

    #[cold]
    #[inline(never)]
    pub fn length(self, name: &'static str, bytes: usize, expected: &'static str) -> Reported {
        self.error(name, Problem::Length { bytes, expected })
    }

    #[cold]
    #[inline(never)]
    pub fn wrong_value(self, name: &'static str, value: u64, expected: &'static str) -> Reported {
        self.error(name, Problem::Value { value, expected })
    }

    #[cold]
    #[inline(never)]
    pub fn wrong_text(
        self,
        name: &'static str,
        value: &'t str,
        expected: &'static str,
    ) -> Reported {
        self.error(name, Problem::Text { value, expected })
    }

    #[cold]
    #[inline(never)]
    pub fn missing(self, name: &'static str) -> Reported {
        self.error(name, Problem::Missing)
    }

    /// A property of one cell.
    pub fn u32(self, name: &'static str) -> Read<Option<u32>> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        if value.len() != 4 {
            return Err(self.length(name, value.len(), "4"));
        }
        Ok(Some(number(value) as u32))
    }

    /// The first string of a property.
    pub fn text(self, name: &'static str) -> Read<Option<&'t str>> {
        match self.value(name) {
            None => Ok(None),
            Some(value) => match first_text(value) {
                None => Err(self.error(name, Problem::NotText)),
                some => Ok(some),
            },
        }
    }

    /// A property that must be there.
    pub fn required(self, name: &'static str) -> Read<&'t [u8]> {
        self.value(name).ok_or_else(|| self.missing(name))
    }

    /// The node's phandle (Devicetree Specification v0.4, section 2.3.3).
    pub fn phandle(self) -> Read<Option<u32>> {
        match self.u32("phandle")? {
            None => self.u32("linux,phandle"),
            some => Ok(some),
        }
    }

    pub fn available(self) -> bool {
        is_available(self.value("status"))
    }

    /// Its name as text; checked trees have no other.
    pub fn name_text(self) -> &'t str {
        core::str::from_utf8(self.name()).unwrap_or_default()
    }

    /// The nodes on the way from below the root down to this one.
    pub fn way(self) -> impl Iterator<Item = Self> + use<'c, 't> {
        let mut last = self.tree().root();
        core::iter::from_fn(move || {
            last = last.towards(self)?;
            Some(last)
        })
    }
}

/// Whether `status` lets a device be used (section 2.3.4).
#[inline(never)]
fn is_available(status: Option<&[u8]>) -> bool {
    // Not a pattern: those are compared byte by byte, in code for each.
    status.is_none_or(|status| status == b"okay\0" || status == b"ok\0")
}

/// The first of a property's strings, when it is ASCII text.
pub(crate) fn first_text(value: &[u8]) -> Option<&str> {
    let end = value.iter().position(|byte| *byte == 0)?;
    let text = value.get(..end)?;
    let plain = |b: &u8| matches!(b, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    if !text.iter().all(plain) {
        return None;
    }
    core::str::from_utf8(text).ok()
}

/// Place in `names`, which are parted by blanks, of the first string of a
/// `compatible` value that is among them: the list goes from the most specific
/// to the most general (2.3.1).
pub(crate) fn compatible_with(value: &[u8], names: &str) -> Option<usize> {
    value.split(|byte| *byte == 0).find_map(|string| {
        let mut names = names.as_bytes().split(|byte| *byte == b' ');
        names.position(|name| name == string)
    })
}

/// A node with all its parents, the root first.
pub(crate) struct Chain<'c, 't> {
    nodes: ArrayVec<Node<'c, 't>, DEPTH_MAX>,
    root: Node<'c, 't>,
}

impl<'c, 't> Chain<'c, 't> {
    fn root(tree: &'c Tree<'t>) -> Self {
        let mut chain = Self {
            nodes: ArrayVec::new(),
            root: tree.root(),
        };
        chain.enter(chain.root);
        chain
    }

    /// The chain down to `node`.
    pub fn to(node: Node<'c, 't>) -> Self {
        let mut chain = Self::root(node.tree());
        for next in node.way() {
            chain.enter(next);
        }
        chain
    }

    /// Goes down to `node`, a child of the last node; tells whether it did:
    /// deeper than this is refused when the tree is opened.
    pub fn enter(&mut self, node: Node<'c, 't>) -> bool {
        self.nodes.try_push(node).is_ok()
    }

    /// Goes up again.
    pub fn leave(&mut self) {
        self.nodes.pop();
    }

    pub fn nodes(&self) -> &[Node<'c, 't>] {
        &self.nodes
    }

    /// The last node.
    pub fn node(&self) -> Node<'c, 't> {
        self.nodes.last().copied().unwrap_or(self.root)
    }
}

/// What a walk tells of each node.
pub(crate) struct Facts<'t> {
    /// The `compatible` strings, or nothing.
    pub compatible: &'t [u8],
    /// Whether `device_type` is "memory".
    pub is_memory: bool,
}

type Visit<'v, 'c, 't> = dyn FnMut(&Chain<'c, 't>, &Facts<'t>) -> Read<()> + 'v;

/// Visits every node below the root in the tree's order, without the
/// subtrees whose `status` says that they cannot be used.
///
/// # Errors
/// Those of `visit`.
pub(crate) fn walk<'c, 't>(tree: &'c Tree<'t>, visit: &mut Visit<'_, 'c, 't>) -> Read<()> {
    let mut chain = Chain::root(tree);
    let mut cursor = tree.root().cursor();
    // How many of the nodes around the cursor are not in the chain.
    let mut skipped = 0usize;
    // The root, which is in the chain already.
    cursor.next();
    loop {
        let node = cursor.ahead;
        match cursor.next() {
            None => return Ok(()),
            Some(Token::Property(..)) => {}
            Some(Token::End) if skipped > 0 => skipped -= 1,
            Some(Token::End) => chain.leave(),
            Some(Token::Begin) if skipped > 0 => skipped += 1,
            Some(Token::Begin) => match facts(node) {
                Some(facts) if chain.enter(node) => visit(&chain, &facts)?,
                _ => skipped = 1,
            },
        }
    }
}

/// What there is to tell of a node that can be used. One look at each
/// property, as a node may have thousands.
fn facts<'t>(node: Node<'_, 't>) -> Option<Facts<'t>> {
    let mut facts = Facts {
        compatible: &[],
        is_memory: false,
    };
    let mut usable = true;
    for (name, value) in node.properties() {
        if name == b"compatible" {
            facts.compatible = value;
        } else if name == b"device_type" {
            facts.is_memory = value == b"memory\0";
        } else if name == b"status" {
            usable = is_available(Some(value));
        }
    }
    usable.then_some(facts)
}
