//! Device trees that the payload reads: their nodes, changes of a tree that exists, and
//! trees that are made of ACPI tables. The host tool and the EFI application use them; the
//! payload contains nothing of it.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod acpi;
mod adapt;
mod node;
pub mod nodes;
mod regions;

pub use self::adapt::{Changes, ITEMS_MAX, adapt, check_bootargs};
pub use self::node::Node;
pub use self::regions::merge;

/// The result of reading bytes from outside.
pub type Result<T, E = hardware::board::FormatError> = core::result::Result<T, E>;
