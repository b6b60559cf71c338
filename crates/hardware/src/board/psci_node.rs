//! The PSCI node (Linux binding *arm/psci.yaml*). Some boards have /firmware/psci instead of /psci.
//!
//! `compatible` names the version: `arm,psci-0.2` or `arm,psci-1.0`. Trees from Zephyr and lopper
//! may name only a later version. Since 0.2, all versions have the same function IDs and the same
//! properties. `arm,psci` is PSCI 0.1, whose function IDs are properties of the node.

use alloc::string::{String, ToString as _};

use super::fdt::{Fdt, until};
use super::node::{Node, VALUE_MAX, usable_nodes};
use crate::image::Conduit;
use crate::text::format_error::{FormatError, Result};
use crate::text::untrusted::{Excerpt, parse_number};

/// The `compatible` string of PSCI 0.1. Later versions append a hyphen and a number.
const NAME: &str = "arm,psci";
/// The first version with fixed function IDs.
const FIRST_VERSION: (u32, u32) = (0, 2);
/// The function IDs of PSCI 0.1 as properties, and the values that 0.2 fixed, for 32-bit and 64-bit
/// callers.
const FUNCTIONS: [(&str, [u32; 2]); 4] = [
    ("cpu_suspend", [0x8400_0001, 0xc400_0001]),
    ("cpu_off", [0x8400_0002, 0x8400_0002]),
    ("cpu_on", [0x8400_0003, 0xc400_0003]),
    ("migrate", [0x8400_0005, 0xc400_0005]),
];

/// Returns true if the tree indicates that CPUs do not come back after CPU_OFF. The property is
/// specific to this project.
pub(crate) fn forbids_cpu_off(tree: Fdt<'_>) -> bool {
    let node = find(tree);
    node.is_some_and(|node| node.value("psci-bench,no-cpu-off").is_some())
}

/// The longest sleep that the tree or a boot argument can ask for, in microseconds.
pub const SHORTEST_SLEEP_MAX_US: u32 = 1_000_000;

/// Returns how long a suspend must at least last, in microseconds, for the board's power controller
/// to finish a power-down; None if the tree does not say. The property is specific to this project.
pub(crate) fn shortest_sleep_us(tree: Fdt<'_>) -> Result<Option<u32>> {
    let name = "psci-bench,shortest-sleep-us";
    let Some(node) = find(tree) else {
        return Ok(None);
    };
    match node.u32(name)? {
        Some(us) if us > SHORTEST_SLEEP_MAX_US => Err(node.error(
            name,
            format_args!("{us}, expected 0 to {SHORTEST_SLEEP_MAX_US}"),
        )),
        found => Ok(found),
    }
}

/// Returns the PSCI conduit.
pub(crate) fn conduit(tree: Fdt<'_>) -> Result<Conduit> {
    let Some(node) = find(tree) else {
        return Err(lack_of_psci(tree));
    };
    match node.text("method")? {
        None => Err(node.missing("method")),
        Some("smc") => Ok(Conduit::Smc),
        Some("hvc") => Ok(Conduit::Hvc),
        Some(value) => Err(node.wrong_text("method", value, "smc or hvc")),
    }
}

/// Returns the node of a PSCI version that can be measured.
fn find(tree: Fdt<'_>) -> Option<Node<'_>> {
    let mut nodes = usable_nodes(tree);
    nodes.find(|node| node.compatible().any(is_measurable))
}

/// Returns true for the `compatible` string of PSCI 0.2 or later.
fn is_measurable(name: &[u8]) -> bool {
    version(name).is_some_and(|version| version >= FIRST_VERSION)
}

/// Returns the major and minor number in the `compatible` string of PSCI 0.2 or later.
fn version(name: &[u8]) -> Option<(u32, u32)> {
    let numbers = name.strip_prefix(NAME.as_bytes())?.strip_prefix(b"-")?;
    let major = until(numbers, b'.');
    let minor = numbers.strip_prefix(major)?.strip_prefix(b".")?;
    Some((parse_number(major, 10)?, parse_number(minor, 10)?))
}

fn lack_of_psci<'t>(tree: Fdt<'t>) -> FormatError {
    let is_old = |name: &[u8]| {
        name == NAME.as_bytes() || version(name).is_some_and(|version| version < FIRST_VERSION)
    };
    let is_similar = |name: &[u8]| {
        name.windows(4)
            .any(|part| part.eq_ignore_ascii_case(b"psci"))
    };
    let names_of = |node: Node<'t>| node.compatible().map(move |name| (node, name));
    let names = || usable_nodes(tree).flat_map(names_of);
    if let Some((old, _)) = names().find(|(_, name)| is_old(name)) {
        return old_psci(old);
    }
    let needed = "arm,psci-0.2 or later";
    if let Some((node, name)) = names().find(|(_, name)| is_similar(name)) {
        let shown = Excerpt(&String::from_utf8_lossy(name), VALUE_MAX).to_string();
        return node.wrong_text("compatible", &shown, needed);
    }
    let uses_spin_table = |cpu: Node<'_>| cpu.value("enable-method") == Some(b"spin-table\0");
    let cpus = Node::find(tree, "/cpus");
    let cpus_clause = if cpus.is_some_and(|cpus| cpus.children().any(uses_spin_table)) {
        ", and CPUs with enable-method = \"spin-table\""
    } else {
        ""
    };
    FormatError::new(format_args!(
        "no enabled node compatible with {needed}{cpus_clause}: use the running board's tree if \
         the boot loader adds the node"
    ))
}

/// Builds the error for a PSCI 0.1 node. Firmware with the function IDs of 0.2 most likely
/// implements 0.2, so that only `compatible` has to be corrected.
fn old_psci(node: Node<'_>) -> FormatError {
    let mut has_any = false;
    let mut are_standard = true;
    for (name, ids) in FUNCTIONS {
        if node.value(name).is_some() {
            has_any = true;
            are_standard &= matches!(node.u32(name), Ok(Some(id)) if ids.contains(&id));
        }
    }
    if has_any && are_standard {
        let path = node.path();
        return node.error(
            "compatible",
            format_args!(
                "PSCI 0.1 with the function IDs of 0.2; if the firmware implements 0.2: \
                 fdtput -t s TREE {path} compatible {NAME}-0.2"
            ),
        );
    }
    let own = "PSCI 0.1 with its own function IDs";
    node.error(
        "compatible",
        format_args!("{own}; {NAME}-0.2 or later is needed"),
    )
}
