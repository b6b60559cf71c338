//! Walks through a device tree that keep each node's parents at hand.

use alloc::vec::Vec;

use super::error::Result;
use super::fdt::{Fdt, Token};
use super::node::{Node, is_available};

/// A node with all its parents.
pub(crate) struct Chain<'t> {
    /// The root first; empty if the node is the root.
    pub parents: Vec<Node<'t>>,
    pub node: Node<'t>,
}

impl<'t> Chain<'t> {
    fn root(fdt: Fdt<'t>) -> Self {
        Self {
            parents: Vec::new(),
            node: Node::root(fdt),
        }
    }

    /// Returns the chain down to `node`.
    pub fn to(node: Node<'t>) -> Self {
        let mut chain = Self::root(node.fdt());
        node.way().for_each(|next| chain.enter(next));
        chain
    }

    /// Goes down to `child` of the node.
    pub fn enter(&mut self, child: Node<'t>) {
        self.parents.push(self.node);
        self.node = child;
    }

    /// Goes up to the parent.
    pub fn leave(&mut self) {
        if let Some(parent) = self.parents.pop() {
            self.node = parent;
        }
    }
}

/// The properties by which visitors choose nodes.
pub(crate) struct Facts<'t> {
    /// The `compatible` strings; empty if there are none.
    pub compatible: &'t [u8],
    /// True if `device_type` is "memory".
    pub is_memory: bool,
}

type Visit<'v, 't> = dyn FnMut(&Chain<'t>, &Facts<'t>) -> Result<()> + 'v;

/// Visits every node below the root in the tree's order, without the subtrees
/// whose `status` forbids their use.
///
/// # Errors
/// Those of `visit`.
pub(crate) fn walk<'t>(tree: Fdt<'t>, visit: &mut Visit<'_, 't>) -> Result<()> {
    let mut chain = Chain::root(tree);
    let mut cursor = chain.node.cursor();
    // Number of the nodes around the cursor that are not in the chain.
    let mut skipped = 0usize;
    // The root, which is in the chain already.
    cursor.next();
    loop {
        let node = Node::at_cursor(&cursor);
        match cursor.next() {
            None => return Ok(()),
            Some(Token::Property(..)) => {}
            Some(Token::End) if skipped > 0 => skipped -= 1,
            Some(Token::End) => chain.leave(),
            Some(Token::Begin) if skipped > 0 => skipped += 1,
            Some(Token::Begin) => match facts(node) {
                Some(facts) => {
                    chain.enter(node);
                    visit(&chain, &facts)?;
                }
                None => skipped = 1,
            },
        }
    }
}

/// Returns the facts of a node that can be used. Each property is looked at once,
/// as a node may have thousands.
fn facts<'t>(node: Node<'t>) -> Option<Facts<'t>> {
    let mut facts = Facts {
        compatible: &[],
        is_memory: false,
    };
    let mut usable = true;
    for (name, value) in node.properties() {
        match name {
            b"compatible" => facts.compatible = value,
            b"device_type" => facts.is_memory = value == b"memory\0",
            b"status" => usable = is_available(Some(value)),
            _ => {}
        }
    }
    usable.then_some(facts)
}
