//! The `psci` node, which names the conduit: the instruction that calls PSCI.
//!
//! Linux binding *arm/psci.yaml*. The node is known by its `compatible`, as
//! some boards have it at /firmware/psci instead of /psci.

use alloc::boxed::Box;

use super::error::{BoardError, Result};
use super::fdt::Fdt;
use super::node::{Node, compatible_with};
use crate::image::Conduit;

/// Returns true if `compatible` is that of PSCI with the standard's function IDs.
pub(crate) fn is_psci(compatible: &[u8]) -> bool {
    compatible_with(compatible, "arm,psci-1.0 arm,psci-0.2").is_some()
}

/// Returns true if `compatible` is that of PSCI 0.1, with function IDs in the node's
/// properties.
pub(crate) fn is_old_psci(compatible: &[u8]) -> bool {
    compatible_with(compatible, "arm,psci").is_some()
}

/// Reads the conduit that a node of PSCI 0.2 or later names.
pub(crate) fn conduit(node: Node<'_>) -> Result<Conduit> {
    match node.text("method")? {
        None => Err(node.missing("method")),
        Some("smc") => Ok(Conduit::Smc),
        Some("hvc") => Ok(Conduit::Hvc),
        Some(value) => Err(node.wrong_text("method", value, "smc or hvc")),
    }
}

/// Returns the error of a tree whose only PSCI node, `old`, is of PSCI 0.1.
pub(crate) fn refusal_of_old(old: Node<'_>) -> Box<BoardError> {
    old.error(
        "compatible",
        format_args!("PSCI 0.1 with its own function IDs; arm,psci-0.2 or arm,psci-1.0 is needed"),
    )
}

/// Returns the message for a tree without any PSCI node.
pub(crate) fn absence(tree: Fdt<'_>) -> &'static str {
    let by_spin_table = |cpu: Node<'_>| cpu.value("enable-method") == Some(b"spin-table\0");
    let cpus = Node::find(tree, "/cpus");
    if cpus.is_some_and(|cpus| cpus.children().any(by_spin_table)) {
        "no node compatible with arm,psci-1.0, and CPUs with enable-method = \"spin-table\": the \
         firmware has no PSCI"
    } else {
        "no node compatible with arm,psci-1.0 or arm,psci-0.2: the firmware has no PSCI"
    }
}
