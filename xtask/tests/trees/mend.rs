//! What a boot loader, or a driver more, would make of a tree.
//!
//! A tree is refused for the first thing that is wrong with it, and in most
//! that is the console or the memory. So that all the rest of it is read and
//! compared as well, these two are put right.

use dtoolkit::fdt::Fdt;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::{Node as _, Property as _};

use crate::facts::{Console, Facts};
use crate::node::Tree;

/// The node that stands in for a console.
const STAND_IN: &str = "stand-in-for-the-console";

/// `blob` with what the class of its refusal says put right; `None` where it
/// is for nobody to put right.
pub fn mend(blob: &[u8], class: &str) -> Option<Vec<u8>> {
    let mut tree = DeviceTree::from_fdt(&Fdt::new_unchecked(blob));
    match class.split(':').next()? {
        "console" => console(&mut tree, &Facts::of(&Tree::read(blob)).console),
        "memory" => memory(&mut tree),
        _ => return None,
    }
    Some(tree.to_dtb())
}

/// The console becomes a 16550 where it is; where there is none, a PL011.
fn console(tree: &mut DeviceTree, console: &Console) {
    if let Console::At { path, .. } = console {
        let node = tree.find_node_mut(path).expect("a path out of this tree");
        node.add_property(texts("compatible", "ns16550a"));
        return;
    }
    let mut node = DeviceTreeNode::new_unchecked(STAND_IN);
    node.add_property(texts("compatible", "arm,pl011"));
    node.add_property(region(tree, 0x0900_0000, 0x1000));
    tree.root.add_child(node);
    if tree.find_node_mut("/chosen").is_none() {
        tree.root.add_child(DeviceTreeNode::new_unchecked("chosen"));
    }
    let chosen = tree.find_node_mut("/chosen").expect("it was added");
    chosen.add_property(texts("stdout-path", &format!("/{STAND_IN}")));
}

/// A node of its own: it is all one, as the memory that is there is empty.
fn memory(tree: &mut DeviceTree) {
    let mut node = DeviceTreeNode::new_unchecked("memory@80000000");
    node.add_property(texts("device_type", "memory"));
    node.add_property(region(tree, 0x8000_0000, 0x4000_0000));
    tree.root.add_child(node);
}

fn texts(name: &str, value: &str) -> DeviceTreeProperty {
    DeviceTreeProperty::new_unchecked(name, format!("{value}\0").into_bytes())
}

/// `reg` of a child of the root.
fn region(tree: &DeviceTree, base: u32, size: u32) -> DeviceTreeProperty {
    let cells = |name, default: u8| {
        let property = tree.root.property(name);
        let last = property.and_then(|property| property.value().last().copied());
        usize::from(last.unwrap_or(default)) - 1
    };
    let mut reg = vec![0; 4 * cells("#address-cells", 2)];
    reg.extend(base.to_be_bytes());
    reg.resize(reg.len() + 4 * cells("#size-cells", 1), 0);
    reg.extend(size.to_be_bytes());
    DeviceTreeProperty::new_unchecked("reg", reg)
}
