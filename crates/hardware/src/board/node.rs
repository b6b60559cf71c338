//! Device tree nodes: their children, typed properties, and errors that name the path and property.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::iter::{from_fn, once};

use super::fdt::{Fdt, Token, number, until};
use crate::text::format_error::{FormatError, Result};
use crate::text::untrusted::Excerpt;

/// The maximum length of a path in an error message, in bytes. Longer paths are truncated at the
/// start.
const PATH_MAX: usize = 60;
/// The maximum length of property text in an error message, in characters.
pub(crate) const VALUE_MAX: usize = 48;

/// A node, identified by its offset in the tree. Its parents and path are found by walking the tree
/// from the root.
#[derive(Clone, Copy)]
pub(crate) struct Node<'t> {
    pub fdt: Fdt<'t>,
    /// The offset of its BEGIN_NODE.
    at: usize,
}

impl<'t> Node<'t> {
    pub fn root(fdt: Fdt<'t>) -> Self {
        let at = fdt.root();
        Self { fdt, at }
    }

    /// Finds the node at `path`, which must start with a slash and must not contain aliases.
    pub fn find(fdt: Fdt<'t>, path: &str) -> Option<Self> {
        Self::root(fdt).below(path.as_bytes().strip_prefix(b"/")?)
    }

    /// Returns the name with the unit address. The root's name is empty.
    pub fn name(self) -> &'t [u8] {
        self.fdt.string(self.at + 4).unwrap_or_default()
    }

    /// Returns the name as a string. All names in a checked tree are valid strings.
    pub fn name_text(self) -> &'t str {
        core::str::from_utf8(self.name()).unwrap_or_default()
    }

    /// Returns true if the node is called `name`, with or without the unit address.
    pub fn is_called(self, name: &[u8]) -> bool {
        let full_name = self.name();
        name == full_name || name == until(full_name, b'@')
    }

    /// Finds the node at a path relative to this node.
    pub fn below(self, path: &[u8]) -> Option<Self> {
        let mut names = path.split(|byte| *byte == b'/');
        names.try_fold(self, |node, name| match name {
            [] => Some(node),
            name => node.children().find(|child| child.is_called(name)),
        })
    }

    /// Returns the node's ancestors, starting with the root. The root has no ancestors.
    pub fn parents(self) -> Vec<Self> {
        let mut nodes: Vec<_> = once(Self::root(self.fdt)).chain(self.way()).collect();
        nodes.pop();
        nodes
    }

    /// Returns the nodes on the path to this node, starting below the root.
    fn way(self) -> impl Iterator<Item = Self> + use<'t> {
        let mut last = Self::root(self.fdt);
        from_fn(move || {
            // The last child that starts at or before this node is this node or its ancestor.
            let children = last.children().take_while(|child| child.at <= self.at);
            last = children.last()?;
            Some(last)
        })
    }

    /// Returns the tokens and their positions, from the node's BEGIN_NODE to the end of the tree.
    fn tokens(self) -> impl Iterator<Item = (Self, Token<'t>)> + use<'t> {
        let Self { fdt, mut at } = self;
        from_fn(move || {
            let here = Self { fdt, at };
            let (token, next) = fdt.token(at)?;
            at = next;
            Some((here, token))
        })
    }

    /// Returns this node and all its descendants with their depths, in tree order.
    pub fn subtree(self) -> impl Iterator<Item = (usize, Self)> + use<'t> {
        let mut tokens = self.tokens();
        let mut depth = 0;
        let next = move || {
            loop {
                match tokens.next()? {
                    (_, Token::Property(..)) => {}
                    (node, Token::Begin) => {
                        depth += 1;
                        return Some((depth - 1, node));
                    }
                    (_, Token::End) if depth <= 1 => return None,
                    (_, Token::End) => depth -= 1,
                }
            }
        };
        from_fn(next).fuse()
    }

    /// Returns the children in tree order.
    pub fn children(self) -> impl Iterator<Item = Self> + use<'t> {
        let nodes = self.subtree().filter(|(depth, _)| *depth == 1);
        nodes.map(|(_, child)| child)
    }

    /// Returns the names and values of the properties.
    pub fn properties(self) -> impl Iterator<Item = (&'t [u8], &'t [u8])> + use<'t> {
        let tokens = self.tokens().skip(1);
        tokens.map_while(|(_, token)| match token {
            Token::Property(name, value) => Some((name, value)),
            Token::Begin | Token::End => None,
        })
    }

    /// Returns a property's value.
    pub fn value(self, name: &str) -> Option<&'t [u8]> {
        let mut properties = self.properties();
        properties.find_map(|(its, value)| (its == name.as_bytes()).then_some(value))
    }

    /// Returns a required property's value.
    pub fn required(self, name: &'static str) -> Result<&'t [u8]> {
        self.value(name).ok_or_else(|| self.missing(name))
    }

    /// Reads a one-cell property.
    pub fn u32(self, name: &'static str) -> Result<Option<u32>> {
        match self.value(name) {
            Some(value) if value.len() != 4 => Err(self.wrong_length(name, value.len(), "4")),
            value => Ok(value.map(|value| number(value) as u32)),
        }
    }

    /// Reads a property that contains any number of cells. It has none if it is missing.
    pub fn cells(self, name: &'static str) -> Result<impl Iterator<Item = u32> + use<'t>> {
        let value = self.value(name).unwrap_or_default();
        if !value.len().is_multiple_of(4) {
            return Err(self.wrong_length(name, value.len(), "a multiple of 4"));
        }
        Ok(value.chunks_exact(4).map(|cell| number(cell) as u32))
    }

    /// Reads a property's first string.
    pub fn text(self, name: &'static str) -> Result<Option<&'t str>> {
        let text = |value| first_text(value).ok_or_else(|| self.not_text(name));
        self.value(name).map(text).transpose()
    }

    /// Reads the phandle (Devicetree Specification v0.4, section 2.3.3).
    pub fn phandle(self) -> Result<Option<u32>> {
        match self.u32("phandle")? {
            None => self.u32("linux,phandle"),
            some => Ok(some),
        }
    }

    /// Finds the first node with a phandle, even if it is disabled.
    pub fn with_phandle(fdt: Fdt<'t>, phandle: u32) -> Option<Self> {
        let mut nodes = Self::root(fdt).subtree().map(|(_, node)| node);
        nodes.find(|node| node.phandle().ok().flatten() == Some(phandle))
    }

    /// Finds the power domain through which PSCI controls this node (Linux binding
    /// *power/power-domain.yaml*): the one named "psci" or, without names, the first one. Returns
    /// its phandle, and its node if there is one.
    pub fn power_domain(self) -> Result<Option<(u32, Option<Self>)>> {
        let list = self.value("power-domain-names").unwrap_or_default();
        let mut names = list.split(|byte| *byte == 0);
        let wanted = names.position(|name| name == b"psci").unwrap_or(0);
        let mut cells = self.cells("power-domains")?;
        for _ in 0..wanted {
            let Some(phandle) = cells.next() else {
                return Ok(None);
            };
            // Without the node, the number of arguments is unknown.
            let Some(domain) = Self::with_phandle(self.fdt, phandle) else {
                return Ok(Some((phandle, None)));
            };
            let arguments = domain.u32("#power-domain-cells")?.unwrap_or(0);
            for _ in 0..arguments.min(8) {
                cells.next();
            }
        }
        let phandle = cells.next();
        Ok(phandle.map(|phandle| (phandle, Self::with_phandle(self.fdt, phandle))))
    }

    /// Returns true unless `status` disables the node (section 2.3.4).
    pub fn is_available(self) -> bool {
        let status = self.value("status");
        status.is_none_or(|status| status == b"okay\0" || status == b"ok\0")
    }

    /// Returns the `compatible` strings, from most specific to most general (section 2.3.1).
    pub fn compatible(self) -> impl Iterator<Item = &'t [u8]> + use<'t> {
        let value = self.value("compatible").unwrap_or(&[]);
        let strings = value.split(|byte| *byte == 0);
        strings.filter(|string| !string.is_empty())
    }

    /// Returns the index of the first `compatible` string that appears in `names`, a
    /// space-separated list.
    pub fn compatible_with(self, names: &str) -> Option<usize> {
        let index_in_names = |string: &[u8]| {
            let mut known = names.split(' ');
            known.position(|name| name.as_bytes() == string)
        };
        self.compatible().find_map(index_in_names)
    }

    /// Returns the path, or "..." and the end of the path if it is longer than [`PATH_MAX`] bytes.
    pub fn path(self) -> String {
        let length: usize = self.way().map(|node| 1 + node.name().len()).sum();
        let mut path = String::with_capacity(PATH_MAX);
        let mut skipped = 0;
        if length > PATH_MAX {
            // Allocate only the end of the path, because a path can be 4 KiB long.
            path.push_str("...");
            skipped = length - (PATH_MAX - 3);
        }
        for node in self.way() {
            let name = once(&b'/').chain(node.name());
            path.extend(name.skip(skipped).map(|byte| char::from(*byte)));
            skipped = skipped.saturating_sub(1 + node.name().len());
        }
        path
    }

    /// Builds an error for the node or one of its properties.
    #[cold]
    pub fn error(self, property: &'static str, message: fmt::Arguments<'_>) -> FormatError {
        let blank = if property.is_empty() { "" } else { " " };
        let mut path = self.path();
        if path.is_empty() {
            path.push('/');
        }
        FormatError::new(format_args!("{path}{blank}{property}: {message}"))
    }

    pub fn missing(self, name: &'static str) -> FormatError {
        self.error(name, format_args!("missing"))
    }

    pub fn not_text(self, name: &'static str) -> FormatError {
        let message = format_args!("not a string of printable ASCII characters");
        self.error(name, message)
    }

    pub fn too_many(self, name: &'static str, limit: usize) -> FormatError {
        self.error(name, format_args!("more than {limit} entries"))
    }

    pub fn wrong_length(self, name: &'static str, bytes: usize, expected: &str) -> FormatError {
        self.error(name, format_args!("{bytes} bytes, expected {expected}"))
    }

    pub fn wrong_value(self, name: &'static str, value: u64, expected: &str) -> FormatError {
        self.error(name, format_args!("{value:#x}, expected {expected}"))
    }

    pub fn wrong_text(self, name: &'static str, value: &str, expected: &str) -> FormatError {
        let shown = Excerpt(value, VALUE_MAX);
        self.error(name, format_args!("\"{shown}\", expected {expected}"))
    }
}

/// Returns all nodes below the root in tree order, excluding subtrees disabled by `status`.
pub(crate) fn usable_nodes<'t>(tree: Fdt<'t>) -> impl Iterator<Item = Node<'t>> {
    // The depth of the disabled node that the walk is currently inside, if any.
    let mut hidden = usize::MAX;
    let nodes = Node::root(tree).subtree().skip(1);
    nodes.filter_map(move |(depth, node)| {
        if depth <= hidden {
            hidden = if node.is_available() {
                usize::MAX
            } else {
                depth
            };
        }
        (hidden == usize::MAX).then_some(node)
    })
}

/// Returns the first usable node that is compatible with one of the space-separated `names`.
pub(crate) fn find_compatible<'t>(tree: Fdt<'t>, names: &str) -> Option<Node<'t>> {
    usable_nodes(tree).find(|node| node.compatible_with(names).is_some())
}

/// Returns a property's first string if it is ASCII text.
pub(crate) fn first_text(value: &[u8]) -> Option<&str> {
    let end = value.iter().position(|byte| *byte == 0)?;
    let text = value.get(..end)?;
    let is_plain = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    if text.iter().all(is_plain) {
        core::str::from_utf8(text).ok()
    } else {
        None
    }
}
