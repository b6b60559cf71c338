//! Device tree nodes for building trees.

use alloc::vec::Vec;

use dtoolkit::ToPropertyValue;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use hardware::board::Region;

/// A builder for a node with its properties and children.
#[derive(Clone, Debug)]
pub struct TreeNode(pub(crate) DeviceTreeNode);

impl TreeNode {
    /// Creates an empty node. The root has an empty name.
    pub fn new(name: &str) -> Self {
        Self(DeviceTreeNode::new_unchecked(name))
    }

    /// Returns the name, including the unit address.
    pub fn name(&self) -> &str {
        dtoolkit::Node::name(&self.0)
    }

    /// Adds a property with these bytes as its value.
    #[must_use]
    pub fn bytes(self, name: &str, value: &[u8]) -> Self {
        self.property(name, value)
    }

    /// Adds a property with these cells as its value.
    #[must_use]
    pub fn cells(self, name: &str, cells: &[u32]) -> Self {
        self.property(name, cells)
    }

    /// Adds a property with these strings as its value.
    #[must_use]
    pub fn texts(self, name: &str, strings: &[&str]) -> Self {
        self.property(name, strings)
    }

    /// Adds `reg`, with two address cells and two size cells.
    #[must_use]
    pub fn reg(self, regions: &[Region]) -> Self {
        let numbers = regions.iter().flat_map(|region| [region.base, region.size]);
        let bytes: Vec<u8> = numbers.flat_map(u64::to_be_bytes).collect();
        self.bytes("reg", &bytes)
    }

    /// Adds a property.
    #[must_use]
    pub(crate) fn property(mut self, name: &str, value: impl ToPropertyValue) -> Self {
        let property = DeviceTreeProperty::new_unchecked(name, value);
        self.0.add_property(property);
        self
    }

    /// Adds a child after the existing ones.
    #[must_use]
    pub fn with(mut self, child: Self) -> Self {
        self.0.add_child(child.0);
        self
    }

    /// Returns a flattened tree with this node as its root.
    pub fn flatten(self) -> Vec<u8> {
        let mut tree = DeviceTree::new();
        tree.root = self.0;
        tree.to_dtb()
    }
}
