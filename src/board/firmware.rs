//! The `psci` node: is there PSCI, and by which instruction is it called?
//!
//! Linux binding *arm/psci.yaml*. The node is known by its `compatible`, as
//! some boards have it at /firmware/psci instead of /psci.

use super::error::Problem;
use super::fdt::{Node, Read, Tree};
use super::tree::compatible_with;
use crate::image::Conduit;

/// Whether `compatible` is that of PSCI with the standard's function IDs.
pub(crate) fn is_psci(compatible: &[u8]) -> bool {
    compatible_with(compatible, "arm,psci-1.0 arm,psci-0.2").is_some()
}

/// Whether `compatible` is that of PSCI 0.1, whose function IDs are
/// properties of the node.
pub(crate) fn is_old_psci(compatible: &[u8]) -> bool {
    compatible_with(compatible, "arm,psci").is_some()
}

/// How `node`, a standard one, says that PSCI is called.
pub(crate) fn conduit(node: Node<'_, '_>) -> Read<Conduit> {
    match node.text("method")? {
        None => Err(node.missing("method")),
        Some("smc") => Ok(Conduit::Smc),
        Some("hvc") => Ok(Conduit::Hvc),
        Some(value) => Err(node.wrong_text("method", value, "smc or hvc")),
    }
}

/// Reports that there is but `old`.
pub(crate) fn refuse_old(old: Node<'_, '_>) -> Read<Conduit> {
    Err(old.error("compatible", Problem::OldPsci))
}

/// What to say where there is no node at all.
pub(crate) fn absence(tree: &Tree<'_>) -> &'static str {
    let by_spin_table = |cpu: Node<'_, '_>| cpu.value("enable-method") == Some(b"spin-table\0");
    let cpus = tree.find("/cpus");
    if cpus.is_some_and(|cpus| cpus.children().any(by_spin_table)) {
        "no node compatible with arm,psci-1.0, and CPUs with enable-method = \"spin-table\": the \
         firmware has no PSCI"
    } else {
        "no node compatible with arm,psci-1.0 or arm,psci-0.2: the firmware has no PSCI"
    }
}
