//! The user's device tree with other boot arguments.

use anyhow::{Context, Result, bail};
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::{Node as _, Property as _};
use itertools::Itertools as _;
use psci_bench::board as payload;

use crate::board::device_tree::check_bootargs;

/// Returns the user's tree `blob`, with `bootargs` instead of its own if there are any.
/// Otherwise not a byte of it is changed.
pub fn adapt(blob: &[u8], bootargs: Option<&str>) -> Result<Vec<u8>> {
    // The payload's own reader refuses here what it would refuse there, so that only sound
    // trees reach dtoolkit.
    payload::Board::read(blob)?;
    let blob = blob
        .get(..payload::total_size(blob)?)
        .context("it is truncated")?;
    let Some(bootargs) = bootargs else {
        return Ok(blob.to_vec());
    };
    check_bootargs(bootargs)?;
    let fdt = Fdt::new_unchecked(blob);
    check_names(&fdt.root(), "")?;
    let mut tree = DeviceTree::from_fdt(&fdt);
    if tree.find_node_mut("/chosen").is_none() {
        tree.root.add_child(DeviceTreeNode::new_unchecked("chosen"));
    }
    let chosen = tree.find_node_mut("/chosen").context("no /chosen")?;
    let value = [bootargs.as_bytes(), &[0]].concat();
    chosen.add_property(DeviceTreeProperty::new_unchecked("bootargs", value));
    let changed = tree.to_dtb();
    if payload::Board::read(&changed)?.bootargs != bootargs {
        bail!("its boot arguments cannot be changed: it has a second /chosen");
    }
    Ok(changed)
}

/// Refuses a tree with two nodes or properties of one name in one place: dtoolkit would keep
/// the last of them.
fn check_names(node: &FdtNode<'_>, path: &str) -> Result<()> {
    let properties = node.properties().map(|it| it.name().to_owned());
    if let Some(name) = properties.duplicates().next() {
        bail!("{path}/: it has two properties {name}");
    }
    let children = node.children().map(|it| it.name().to_owned());
    if let Some(name) = children.duplicates().next() {
        bail!("{path}/{name}: there are two nodes of this name");
    }
    let mut children = node.children();
    children.try_for_each(|child| check_names(&child, &format!("{path}/{}", child.name())))
}

#[cfg(test)]
mod tests;
