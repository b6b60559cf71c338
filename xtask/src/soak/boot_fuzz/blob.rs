//! A device tree as a list of tokens, which may be changed to an unsound tree.

use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::{Node as _, Property as _};

/// A token of the structure block (Devicetree Specification v0.4, section 5.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A node begins; its name.
    Begin(String),
    /// A property; its name and value.
    Property(String, Vec<u8>),
    /// A node ends.
    End,
}

/// A tree whose tokens can be changed.
#[derive(Clone, Debug, Default)]
pub struct Blob {
    /// The structure block.
    pub tokens: Vec<Token>,
    /// Base and size of each memory reservation.
    pub reservations: Vec<(u64, u64)>,
}

impl Blob {
    /// Reads a tree that is sound and reserves no memory.
    pub fn read(blob: &[u8]) -> Self {
        let mut tree = Self::default();
        tree.add(&Fdt::new_unchecked(blob).root());
        tree
    }

    fn add(&mut self, node: &FdtNode<'_>) {
        self.tokens.push(Token::Begin(node.name().to_owned()));
        for property in node.properties() {
            let (name, value) = (property.name().to_owned(), property.value().to_vec());
            self.tokens.push(Token::Property(name, value));
        }
        for child in node.children() {
            self.add(&child);
        }
        self.tokens.push(Token::End);
    }

    /// Returns the index after the last token of the node that begins at `begin`.
    pub fn end(&self, begin: usize) -> usize {
        let mut depth = 0usize;
        for (at, token) in self.tokens.iter().enumerate().skip(begin) {
            match token {
                Token::Begin(_) => depth += 1,
                Token::End => depth = depth.saturating_sub(1),
                Token::Property(..) => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
        self.tokens.len()
    }

    /// Returns the value of the first property `name` after the first node called `node`.
    pub fn value(&mut self, node: &str, name: &str) -> Option<&mut Vec<u8>> {
        let is_node = |token: &Token| matches!(token, Token::Begin(it) if it == node);
        let begin = self.tokens.iter().position(is_node)?;
        let properties = self.tokens.iter_mut().skip(begin);
        properties
            .filter_map(|token| match token {
                Token::Property(it, value) if it == name => Some(value),
                _ => None,
            })
            .next()
    }

    /// Adds a node as the root's last child.
    pub fn append(&mut self, name: &str, properties: &[(&str, Vec<u8>)]) {
        let root_end = self.tokens.pop();
        self.tokens.push(Token::Begin(name.to_owned()));
        for (name, value) in properties {
            let property = Token::Property((*name).to_owned(), value.clone());
            self.tokens.push(property);
        }
        self.tokens.push(Token::End);
        self.tokens.extend(root_end);
    }

    /// Returns the flattened tree (section 5).
    pub fn write(&self) -> Vec<u8> {
        let (mut structure, mut strings) = (Vec::new(), Vec::new());
        for token in &self.tokens {
            match token {
                Token::Begin(name) => {
                    structure.extend(cells(&[1]));
                    structure.extend(name.bytes().chain([0]));
                }
                Token::Property(name, value) => {
                    structure.extend(cells(&[3, value.len() as u32, strings.len() as u32]));
                    structure.extend(value);
                    strings.extend(name.bytes().chain([0]));
                }
                Token::End => structure.extend(cells(&[2])),
            }
            structure.resize(structure.len().next_multiple_of(4), 0);
        }
        structure.extend(cells(&[9]));
        let reservations = self.reservations.iter().chain([&(0, 0)]);
        let map: Vec<u8> = reservations
            .flat_map(|(base, size)| [base.to_be_bytes(), size.to_be_bytes()].concat())
            .collect();
        let structure_at = 40 + map.len() as u32;
        let strings_at = structure_at + structure.len() as u32;
        let (structure_size, strings_size) = (structure.len() as u32, strings.len() as u32);
        let total = strings_at + strings_size;
        let mut blob = cells(&[0xd00d_feed, total, structure_at, strings_at, 40, 17, 16, 0]);
        blob.extend(cells(&[strings_size, structure_size]));
        [blob, map, structure, strings].concat()
    }
}

/// Returns the bytes of cells, which are big-endian.
pub fn cells(cells: &[u32]) -> Vec<u8> {
    cells.iter().flat_map(|cell| cell.to_be_bytes()).collect()
}
