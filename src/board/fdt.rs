//! Reading a flattened device tree that [`super::check`] has found sound.
//!
//! Devicetree Specification v0.4, sections 5.2 to 5.5. A node is where it
//! begins in the blob, and knows neither its parents nor its path: what is
//! asked for is found by walking the tree again, for there is nowhere to keep
//! it. In a blob that is not sound things are missing, and nothing worse.

use core::fmt;

/// Offsets of the header's fields (section 5.2).
pub(super) const OFF_DT_STRUCT: usize = 8;
pub(super) const OFF_DT_STRINGS: usize = 12;
pub(super) const OFF_MEM_RSVMAP: usize = 16;

/// Size in bytes of an entry of the memory reservation block (section 5.3).
pub(super) const RESERVATION_SIZE: usize = 16;

/// The tokens of the structure block (section 5.4.1).
pub(super) const BEGIN_NODE: u32 = 1;
pub(super) const END_NODE: u32 = 2;
pub(super) const PROP: u32 = 3;
pub(super) const NOP: u32 = 4;
pub(super) const END: u32 = 9;

/// The big-endian word at an offset.
pub(super) fn word(blob: &[u8], at: usize) -> Option<u32> {
    let cell = blob.get(at..)?.get(..4)?;
    Some(number(cell) as u32)
}

/// The number that some cells are.
pub(super) fn number(cells: &[u8]) -> u64 {
    cells.iter().fold(0, |n, byte| (n << 8) | u64::from(*byte))
}

/// What stands before the next NUL.
fn string(blob: &[u8], at: usize) -> Option<&[u8]> {
    blob.get(at..)?.split(|byte| *byte == 0).next()
}

/// A tree that is sound.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Fdt<'t>(&'t [u8]);

impl<'t> Fdt<'t> {
    /// The tree in `blob`, which [`super::check::open`] has checked.
    pub fn checked(blob: &'t [u8]) -> Self {
        Self(blob)
    }

    pub fn root(self) -> Node<'t> {
        Node {
            fdt: self,
            at: self.field(OFF_DT_STRUCT),
        }
    }

    /// The node at `path`, which has no alias and no options.
    pub fn find(self, path: &str) -> Option<Node<'t>> {
        names(path)?.try_fold(self.root(), |node, name| node.child(name))
    }

    /// Address and size of each entry of the memory reservation block.
    pub fn reservations(self) -> impl Iterator<Item = (u64, u64)> {
        let block = self.0.get(self.field(OFF_MEM_RSVMAP)..).unwrap_or_default();
        let entries = block.chunks_exact(RESERVATION_SIZE).map(|entry| {
            let (address, size) = entry.split_at(RESERVATION_SIZE / 2);
            (number(address), number(size))
        });
        entries.take_while(|entry| *entry != (0, 0))
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

/// The names in an absolute path.
pub(super) fn names(path: &str) -> Option<impl Iterator<Item = &str>> {
    path.starts_with('/').then(|| names_below(path))
}

/// The names in a path that need not begin at the root.
pub(super) fn names_below(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

/// A node of a tree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Node<'t> {
    fdt: Fdt<'t>,
    /// Offset of its BEGIN_NODE.
    at: usize,
}

impl<'t> Node<'t> {
    /// Its name with the unit address; empty for the root.
    pub fn name(self) -> &'t str {
        let name = string(self.fdt.0, self.at + 4).unwrap_or_default();
        core::str::from_utf8(name).unwrap_or_default()
    }

    /// Whether `name` is its name; without a unit address, up to that.
    pub fn is_called(self, name: &str) -> bool {
        let own = self.name();
        let (without_address, _) = own.split_once('@').unwrap_or((own, ""));
        name == own || name == without_address
    }

    /// The first child that is called `name`.
    pub fn child(self, name: &str) -> Option<Self> {
        self.children().find(|child| child.is_called(name))
    }

    pub fn children(self) -> Children<'t> {
        Children {
            inside: self.inside(),
            depth: 0,
        }
    }

    /// Its properties with their values.
    pub fn properties(self) -> impl Iterator<Item = (&'t [u8], &'t [u8])> {
        let mut inside = self.inside();
        core::iter::from_fn(move || match inside.next()? {
            Token::Property(name, value) => Some((name, value)),
            Token::Begin | Token::End => None,
        })
    }

    /// The value of a property.
    pub fn value(self, name: &str) -> Option<&'t [u8]> {
        let mut properties = self.properties();
        properties.find_map(|(its, value)| (its == name.as_bytes()).then_some(value))
    }

    /// What is between its BEGIN_NODE and its END_NODE.
    fn inside(self) -> Cursor<'t> {
        let Self { fdt, at } = self;
        let mut cursor = Cursor { fdt, at };
        cursor.next();
        cursor
    }

    /// The names from below the root down to this node's own.
    pub fn path(self) -> impl Iterator<Item = &'t str> {
        let mut node = self.fdt.root();
        core::iter::from_fn(move || {
            // The way leads through the last child that does not begin
            // behind this node.
            let way = node.children().take_while(|child| child.at <= self.at);
            node = way.last()?;
            Some(node.name())
        })
    }
}

/// The children of a node, in the tree's order.
#[derive(Clone)]
pub(super) struct Children<'t> {
    inside: Cursor<'t>,
    /// How far below the node the cursor is.
    depth: usize,
}

impl<'t> Iterator for Children<'t> {
    type Item = Node<'t>;

    fn next(&mut self) -> Option<Node<'t>> {
        loop {
            let Cursor { fdt, at } = self.inside;
            match self.inside.next()? {
                Token::Property(..) => {}
                Token::Begin => {
                    self.depth += 1;
                    if self.depth == 1 {
                        return Some(Node { fdt, at });
                    }
                }
                Token::End if self.depth == 0 => {
                    // Stays here, should it be asked again.
                    self.inside.at = at;
                    return None;
                }
                Token::End => self.depth -= 1,
            }
        }
    }
}

enum Token<'t> {
    Begin,
    Property(&'t [u8], &'t [u8]),
    End,
}

/// A place in the structure block.
#[derive(Clone)]
struct Cursor<'t> {
    fdt: Fdt<'t>,
    at: usize,
}

impl<'t> Cursor<'t> {
    /// The next token; none behind the last one.
    fn next(&mut self) -> Option<Token<'t>> {
        let blob = self.fdt.0;
        loop {
            let (at, token) = (self.at + 4, word(blob, self.at)?);
            let (end, token) = match token {
                BEGIN_NODE => (at + string(blob, at)?.len() + 1, Token::Begin),
                PROP => {
                    let (length, name) = (word(blob, at)? as usize, word(blob, at + 4)? as usize);
                    let name = string(blob, self.fdt.field(OFF_DT_STRINGS) + name)?;
                    let (at, end) = (at + 8, at + 8 + length);
                    (end, Token::Property(name, blob.get(at..end)?))
                }
                END_NODE => (at, Token::End),
                NOP => {
                    self.at = at;
                    continue;
                }
                _ => return None,
            };
            self.at = end.next_multiple_of(4);
            return Some(token);
        }
    }
}
