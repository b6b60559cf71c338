//! Why a device tree is not accepted, told so that its author can mend it.

use core::fmt::{self, Write};

use super::fdt::{Fdt, Tree};
use super::text::Shown;

/// Longest node path that is kept whole, in bytes; of a longer one the end is.
const PATH_SHOWN: usize = 60;
/// Longest piece of a value that is shown, in characters.
const VALUE_SHOWN: usize = 48;

/// Which node, told by its path; the end of it when it is too long.
///
/// The path is looked for in the tree only when it is printed: there is no
/// room to keep it in.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct NodePath<'t>(Option<(Fdt<'t>, usize)>);

impl<'t> NodePath<'t> {
    /// The path of the node that begins at an offset of the tree.
    pub(crate) fn new(fdt: Fdt<'t>, at: usize) -> Self {
        Self(Some((fdt, at)))
    }

    /// Visits the names on the way; none for the root and for the tree as a
    /// whole.
    fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> fmt::Result) -> fmt::Result {
        let Some((fdt, at)) = self.0 else {
            return Ok(());
        };
        let tree = Tree::new(fdt);
        tree.node(at).way().try_for_each(|node| visit(node.name()))
    }

    /// Bytes in the path as a whole.
    fn length(&self) -> usize {
        let mut length = 0;
        let _ = self.visit(&mut |name| {
            length += 1 + name.len();
            Ok(())
        });
        length
    }
}

impl fmt::Display for NodePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.length();
        let mut skip = 0;
        if length > PATH_SHOWN {
            f.write_str("...")?;
            skip = length - (PATH_SHOWN - 3);
        }
        self.visit(&mut |name| {
            for byte in core::iter::once(&b'/').chain(name) {
                if skip == 0 {
                    f.write_char(char::from(*byte))?;
                } else {
                    skip -= 1;
                }
            }
            Ok(())
        })
    }
}

impl fmt::Debug for NodePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodePath({self})")
    }
}

/// A device tree, or the part of it named here, cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardError<'t> {
    /// The node; empty for the root and for the tree as a whole.
    pub node: NodePath<'t>,
    /// The property; empty when the node itself is the matter.
    pub property: &'static str,
    /// What is wrong.
    pub problem: Problem<'t>,
}

/// What is wrong with a device tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem<'t> {
    /// Fewer bytes than a header.
    TooShort(usize),
    /// Another number than 0xd00dfeed at its beginning.
    NotATree(u32),
    /// `totalsize` exceeds [`crate::image::TREE_MAX`].
    TooLarge(u32),
    /// Fewer bytes than `totalsize`.
    Truncated {
        /// Bytes there are.
        have: usize,
        /// Bytes the header promises.
        size: usize,
    },
    /// A format that is not compatible with version 17.
    Version(u32),
    /// The encoding is broken.
    Malformed {
        /// Offset in bytes from the tree's beginning.
        offset: usize,
        /// What is broken there.
        what: &'static str,
    },
    /// A node that must be there is not.
    NoNode(&'static str),
    /// The property must be there and is not.
    Missing,
    /// What the property says is not supported.
    NotSupported,
    /// The property's value has a wrong length.
    Length {
        /// Its length in bytes.
        bytes: usize,
        /// What is expected.
        expected: &'static str,
    },
    /// The number is not acceptable.
    Value {
        /// The number.
        value: u64,
        /// What is expected.
        expected: &'static str,
    },
    /// The value is not a NUL-terminated string of ASCII characters.
    NotText,
    /// The string is not one of those that are understood.
    Text {
        /// The string.
        value: &'t str,
        /// What is expected.
        expected: &'static str,
    },
    /// No node has this path or alias.
    NoPath(&'t str),
    /// No CPU has this phandle.
    NoPhandle(u32),
    /// The bus has no `ranges`: the CPUs cannot reach what is on it.
    Unreachable,
    /// No entry of the bus's `ranges` holds all of the region.
    OutsideRanges {
        /// First address on the bus.
        address: u64,
        /// Size in bytes.
        size: u64,
    },
    /// The region has no size.
    Empty(u64),
    /// The region ends beyond the 64-bit address space.
    Wraps {
        /// First address.
        base: u64,
        /// Size in bytes.
        size: u64,
    },
    /// More of them than there is room for.
    TooMany(usize),
    /// The value was seen before and must be unique.
    Duplicate(u64),
    /// cpu-map exists and leaves out the CPU with this MPIDR.
    NotInMap(u64),
    /// PSCI 0.1, with function IDs of the firmware's own choice.
    OldPsci,
    /// A device's registers are where something else is.
    Overlap {
        /// The device.
        name: &'static str,
        /// First address of its registers.
        base: u64,
        /// The other device, or "memory".
        other: &'static str,
        /// The other's first address.
        there: u64,
    },
    /// Text follows the NUL at this offset, with which the value's text ends.
    EmbeddedNul(usize),
    /// The caller's slice has no room for this many CPUs.
    NoRoom(usize),
}

impl<'t> BoardError<'t> {
    /// An error of the tree as a whole.
    pub(crate) fn tree(problem: Problem<'t>) -> Self {
        Self {
            node: NodePath::default(),
            property: "",
            problem,
        }
    }
}

impl fmt::Display for BoardError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, property) = (self.node, self.property);
        if path.length() > 0 {
            write!(f, "{path}")?;
        } else if !property.is_empty() {
            f.write_char('/')?;
        }
        if !property.is_empty() {
            write!(f, " {property}")?;
        }
        if path.length() > 0 || !property.is_empty() {
            f.write_str(": ")?;
        }
        match self.problem {
            Problem::TooShort(n) => write!(f, "{n} bytes are less than a header"),
            Problem::NotATree(magic) => {
                write!(f, "magic {:#010x}, expected 0xd00dfeed", u64::from(magic))
            }
            Problem::TooLarge(size) => {
                let most = crate::image::TREE_MAX;
                write!(f, "totalsize {} exceeds {most} bytes", u64::from(size))
            }
            Problem::Truncated { have, size } => {
                write!(f, "truncated: {have} of {size} bytes")
            }
            Problem::Version(version) => {
                write!(f, "format version {}, expected 17", u64::from(version))
            }
            Problem::Malformed { offset, what } => write!(f, "offset {offset:#x}: {what}"),
            Problem::NoNode(what) => f.write_str(what),
            Problem::Missing => f.write_str("missing"),
            Problem::NotSupported => f.write_str("not supported"),
            Problem::Length { bytes, expected } => {
                write!(f, "{bytes} bytes, expected {expected}")
            }
            Problem::Value { value, expected } => write!(f, "{value:#x}, expected {expected}"),
            Problem::NotText => f.write_str("not a string of printable ASCII characters"),
            Problem::Text { value, expected } => {
                write!(f, "\"{}\", expected {expected}", Shown(value, VALUE_SHOWN))
            }
            Problem::NoPath(path) => {
                write!(f, "no node has the path \"{}\"", Shown(path, VALUE_SHOWN))
            }
            Problem::NoPhandle(phandle) => {
                write!(f, "no CPU has the phandle {:#x}", u64::from(phandle))
            }
            Problem::Unreachable => {
                f.write_str("missing, so what is on this bus has no address for the CPUs")
            }
            Problem::OutsideRanges { address, size } => {
                write!(f, "no entry holds {size:#x} bytes at {address:#x}")
            }
            Problem::Empty(base) => write!(f, "the region at {base:#x} has no size"),
            Problem::Wraps { base, size } => {
                write!(f, "{size:#x} bytes at {base:#x} exceed 64-bit addresses")
            }
            Problem::TooMany(limit) => write!(f, "more than {limit} of them"),
            Problem::Duplicate(value) => write!(f, "{value:#x} is there twice"),
            Problem::NotInMap(mpidr) => write!(f, "the CPU with MPIDR {mpidr:#x} is left out"),
            Problem::OldPsci => f.write_str(
                "PSCI 0.1 with its own function IDs; arm,psci-0.2 or arm,psci-1.0 is needed",
            ),
            Problem::Overlap {
                name,
                base,
                other,
                there,
            } => {
                let (the, hint) = match other {
                    "memory" => ("", ": mend the memory node, or reserve that part"),
                    _ => ("the ", ""),
                };
                write!(
                    f,
                    "the {name} at {base:#x} overlaps {the}{other} at {there:#x}{hint}"
                )
            }
            Problem::EmbeddedNul(at) => write!(f, "text follows the NUL at offset {at}"),
            Problem::NoRoom(count) => write!(f, "no room for {count} CPUs"),
        }
    }
}

impl core::error::Error for BoardError<'_> {}
