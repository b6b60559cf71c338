//! The size of the second-level cache (Devicetree Specification v0.4, section 3.9),
//! for CPUs whose own registers do not have it.

use super::fdt::number;
use super::node::{Node, compatible_with};

/// Returns the bytes of a second-level cache; `None` for another node, and for a size
/// that makes no sense: the size is only a hint.
pub(crate) fn second_level(node: Node<'_>, compatible: &[u8]) -> Option<u64> {
    compatible_with(compatible, "cache")?;
    let cell = |name| {
        node.value(name)
            .filter(|value| value.len() == 4)
            .map(number)
    };
    let is_second = cell("cache-level")? == 2;
    cell("cache-size").filter(|bytes| is_second && *bytes != 0)
}
