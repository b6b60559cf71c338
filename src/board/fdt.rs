//! Reading a flattened device tree that `check` has found sound.
//!
//! Devicetree Specification v0.4, sections 5.2 to 5.5. A node is where it
//! begins in the blob, and knows neither its parents nor its path: what is
//! asked for is found by walking the tree again, for there is nowhere to keep
//! it. In a blob that is not sound things are missing, and nothing worse.

use core::cell::Cell;
use core::fmt;

use super::error::{BoardError, NodePath, Problem};

/// Offsets of the header's fields (section 5.2).
pub(crate) const OFF_DT_STRUCT: usize = 8;
pub(crate) const OFF_DT_STRINGS: usize = 12;
pub(crate) const OFF_MEM_RSVMAP: usize = 16;

/// Size in bytes of an entry of the memory reservation block (section 5.3).
pub(crate) const RESERVATION_SIZE: usize = 16;

/// The tokens of the structure block (section 5.4.1).
pub(crate) const BEGIN_NODE: u32 = 1;
pub(crate) const END_NODE: u32 = 2;
pub(crate) const PROP: u32 = 3;
pub(crate) const NOP: u32 = 4;
pub(crate) const END: u32 = 9;

/// The big-endian word at an offset.
pub(crate) fn word(blob: &[u8], at: usize) -> Option<u32> {
    let cell = blob.get(at..)?.get(..4)?;
    Some(number(cell) as u32)
}

/// The number that some cells are.
pub(crate) fn number(cells: &[u8]) -> u64 {
    cells.iter().fold(0, |n, byte| (n << 8) | u64::from(*byte))
}

/// What stands before the first `end`; all where there is none.
pub(crate) fn until(bytes: &[u8], end: u8) -> &[u8] {
    let length = bytes.iter().position(|byte| *byte == end);
    length.and_then(|n| bytes.get(..n)).unwrap_or(bytes)
}

/// What stands before the next NUL.
fn string(blob: &[u8], at: usize) -> Option<&[u8]> {
    Some(until(blob.get(at..)?, 0))
}

/// The bytes of a tree that is sound.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fdt<'t>(&'t [u8]);

impl<'t> Fdt<'t> {
    /// The tree in `blob`, which [`super::check::open`] has checked.
    pub fn checked(blob: &'t [u8]) -> Self {
        Self(blob)
    }

    fn field(self, at: usize) -> usize {
        word(self.0, at).map_or(0, |value| value as usize)
    }
}

impl fmt::Debug for Fdt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fdt({} bytes)", self.0.len())
    }
}

/// Something is wrong, and [`Tree::outcome`] knows what.
#[derive(Clone, Copy)]
pub(crate) struct Reported;

/// What reading a part of a tree comes to.
pub(crate) type Read<T> = Result<T, Reported>;

/// A tree that is being read.
///
/// An error is large, and the way up to whoever prints it is long: it stays
/// here, and what is handed up takes no room.
pub(crate) struct Tree<'t> {
    fdt: Fdt<'t>,
    /// The error that was reported last.
    error: Cell<BoardError<'t>>,
}

impl<'t> Tree<'t> {
    pub fn new(fdt: Fdt<'t>) -> Self {
        Self {
            fdt,
            error: Cell::new(BoardError::tree(Problem::Missing)),
        }
    }

    /// Keeps an error until [`Self::outcome`] is asked.
    #[cold]
    #[inline(never)]
    pub fn report(&self, error: BoardError<'t>) -> Reported {
        self.error.set(error);
        Reported
    }

    /// Reports that a node is missing.
    #[cold]
    #[inline(never)]
    pub fn no_node(&self, what: &'static str) -> Reported {
        self.report(BoardError::tree(Problem::NoNode(what)))
    }

    /// What was read, or else what was reported.
    pub fn outcome<T>(&self, read: Read<T>) -> Result<T, BoardError<'t>> {
        read.map_err(|Reported| self.error.get())
    }

    /// The bytes that this was made of.
    pub fn fdt(&self) -> Fdt<'t> {
        self.fdt
    }

    pub fn root(&self) -> Node<'_, 't> {
        self.node(self.fdt.field(OFF_DT_STRUCT))
    }

    /// The node that begins at an offset.
    pub fn node(&self, at: usize) -> Node<'_, 't> {
        Node { tree: self, at }
    }

    /// The node at `path`, which has no alias and no options.
    pub fn find(&self, path: &str) -> Option<Node<'_, 't>> {
        self.root().below(path.as_bytes().strip_prefix(b"/")?)
    }

    /// Address and size of each entry of the memory reservation block.
    pub fn reservations(&self) -> impl Iterator<Item = (u64, u64)> {
        let block = self.fdt.field(OFF_MEM_RSVMAP);
        let block = self.fdt.0.get(block..).unwrap_or_default();
        let entries = block.chunks_exact(RESERVATION_SIZE).map(|entry| {
            let (address, size) = entry.split_at(RESERVATION_SIZE / 2);
            (number(address), number(size))
        });
        entries.take_while(|entry| *entry != (0, 0))
    }
}

/// A node of a tree.
#[derive(Clone, Copy)]
pub(crate) struct Node<'c, 't> {
    tree: &'c Tree<'t>,
    /// Offset of its BEGIN_NODE.
    at: usize,
}

impl<'c, 't> Node<'c, 't> {
    pub fn tree(self) -> &'c Tree<'t> {
        self.tree
    }

    /// Its name with the unit address; empty for the root.
    pub fn name(self) -> &'t [u8] {
        string(self.tree.fdt.0, self.at + 4).unwrap_or_default()
    }

    /// Where it is, for an error; nothing of the root.
    pub fn place(self) -> NodePath<'t> {
        NodePath::new(self.tree.fdt, self.at)
    }

    /// Whether `name` is its name; without a unit address, up to that.
    pub fn is_called(self, name: &[u8]) -> bool {
        let own = self.name();
        name == own || name == until(own, b'@')
    }

    /// The first child that is called `name`.
    fn child(self, name: &[u8]) -> Option<Self> {
        self.children().find(|child| child.is_called(name))
    }

    /// The node at a path that begins here.
    pub fn below(self, path: &[u8]) -> Option<Self> {
        let mut names = path.split(|byte| *byte == b'/');
        names.try_fold(self, |node, name| match name {
            [] => Some(node),
            name => node.child(name),
        })
    }

    /// The child that the way to `node` leads through: the last one that does
    /// not begin behind it.
    pub fn towards(self, node: Self) -> Option<Self> {
        let mut way = None;
        for child in self.children() {
            if child.at > node.at {
                break;
            }
            way = Some(child);
        }
        way
    }

    pub fn children(self) -> Children<'c, 't> {
        Children {
            inside: self.inside(),
            depth: 0,
        }
    }

    /// Its properties with their values.
    pub fn properties(self) -> impl Iterator<Item = (&'t [u8], &'t [u8])> + use<'c, 't> {
        let mut inside = self.inside();
        core::iter::from_fn(move || match inside.next()? {
            Token::Property(name, value) => Some((name, value)),
            Token::Begin | Token::End => None,
        })
    }

    /// The value of a property.
    pub fn value(self, name: &str) -> Option<&'t [u8]> {
        self.value_of(name.as_bytes())
    }

    pub fn value_of(self, name: &[u8]) -> Option<&'t [u8]> {
        let mut properties = self.properties();
        properties.find_map(|(its, value)| (its == name).then_some(value))
    }

    /// What is between its BEGIN_NODE and its END_NODE.
    fn inside(self) -> Cursor<'c, 't> {
        let mut cursor = self.cursor();
        cursor.next();
        cursor
    }

    /// The tokens from its own BEGIN_NODE on, to the end of the tree.
    pub fn cursor(self) -> Cursor<'c, 't> {
        Cursor { ahead: self }
    }
}

/// The children of a node, in the tree's order.
pub(crate) struct Children<'c, 't> {
    inside: Cursor<'c, 't>,
    /// How far below the node the cursor is.
    depth: usize,
}

impl<'c, 't> Iterator for Children<'c, 't> {
    type Item = Node<'c, 't>;

    fn next(&mut self) -> Option<Node<'c, 't>> {
        loop {
            let here = self.inside.ahead;
            match self.inside.next()? {
                Token::Property(..) => {}
                Token::Begin => {
                    self.depth += 1;
                    if self.depth == 1 {
                        return Some(here);
                    }
                }
                Token::End if self.depth == 0 => {
                    // Stays here, should it be asked again.
                    self.inside.ahead = here;
                    return None;
                }
                Token::End => self.depth -= 1,
            }
        }
    }
}

pub(crate) enum Token<'t> {
    Begin,
    Property(&'t [u8], &'t [u8]),
    End,
}

/// A place in the structure block.
pub(crate) struct Cursor<'c, 't> {
    /// The node that begins here, if one does.
    pub ahead: Node<'c, 't>,
}

impl<'t> Cursor<'_, 't> {
    /// The next token; none behind the last one.
    pub fn next(&mut self) -> Option<Token<'t>> {
        let fdt = self.ahead.tree.fdt;
        let blob = fdt.0;
        let (at, token) = (self.ahead.at + 4, word(blob, self.ahead.at)?);
        let (end, token) = match token {
            BEGIN_NODE => (at + string(blob, at)?.len() + 1, Token::Begin),
            PROP => {
                let (length, name) = (word(blob, at)? as usize, word(blob, at + 4)? as usize);
                let name = string(blob, fdt.field(OFF_DT_STRINGS) + name)?;
                let (at, end) = (at + 8, at + 8 + length);
                (end, Token::Property(name, blob.get(at..end)?))
            }
            END_NODE => (at, Token::End),
            _ => return None,
        };
        self.ahead.at = end.next_multiple_of(4);
        // NOPs stand where something was taken out, and belong to no node.
        while word(blob, self.ahead.at) == Some(NOP) {
            self.ahead.at += 4;
        }
        Some(token)
    }
}
