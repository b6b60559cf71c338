//! The second level of cache, as trees describe it (Devicetree Specification
//! v0.4, section 3.9): for CPUs whose own registers do not say.

use super::fdt::{Node, number};
use super::tree::compatible_with;

/// Bytes of the cache that the node is, if it is one of the second level. A
/// hint, so that one that makes no sense is as good as none.
pub(crate) fn second_level(node: Node<'_, '_>, compatible: &[u8]) -> Option<u64> {
    compatible_with(compatible, "cache")?;
    let cell = |name| {
        node.value(name)
            .filter(|value| value.len() == 4)
            .map(number)
    };
    let is_second = cell("cache-level")? == 2;
    cell("cache-size").filter(|bytes| is_second && *bytes != 0)
}
