//! The PSCI node (Linux binding *arm/psci.yaml*). Some boards have /firmware/psci instead of /psci.

use super::fdt::Fdt;
use super::node::{Node, find_compatible};
use crate::image::Conduit;
use crate::text::format_error::{FormatError, Result};

const COMPATIBLE: &str = "arm,psci-1.0 arm,psci-0.2";

/// Returns true if the tree indicates that CPUs do not come back after CPU_OFF. The property is
/// specific to this project.
pub(crate) fn forbids_cpu_off(tree: Fdt<'_>) -> bool {
    let node = find_compatible(tree, COMPATIBLE);
    node.is_some_and(|node| node.value("psci-bench,no-cpu-off").is_some())
}

/// Returns the PSCI conduit.
pub(crate) fn conduit(tree: Fdt<'_>) -> Result<Conduit> {
    let Some(node) = find_compatible(tree, COMPATIBLE) else {
        return Err(lack_of_psci(tree));
    };
    match node.text("method")? {
        None => Err(node.missing("method")),
        Some("smc") => Ok(Conduit::Smc),
        Some("hvc") => Ok(Conduit::Hvc),
        Some(value) => Err(node.wrong_text("method", value, "smc or hvc")),
    }
}

fn lack_of_psci(tree: Fdt<'_>) -> FormatError {
    if let Some(old) = find_compatible(tree, "arm,psci") {
        let own = "PSCI 0.1 with its own function IDs";
        let message = format_args!("{own}; arm,psci-0.2 or arm,psci-1.0 is needed");
        return old.error("compatible", message);
    }
    let by_spin_table = |cpu: Node<'_>| cpu.value("enable-method") == Some(b"spin-table\0");
    let cpus = Node::find(tree, "/cpus");
    let lack = match cpus.is_some_and(|cpus| cpus.children().any(by_spin_table)) {
        true => ", and CPUs with enable-method = \"spin-table\"",
        false => " or arm,psci-0.2",
    };
    FormatError::new(format_args!(
        "no node compatible with arm,psci-1.0{lack}: the firmware has no PSCI"
    ))
}
