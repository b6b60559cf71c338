//! Changes the boot arguments or memory in an existing device tree.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use dtoolkit::fdt::FdtNode;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::standard::NodeStandard as _;
use dtoolkit::{Node as _, Property as _};
use hardware::board::{Board, ConsoleSource, FormatError, Region, TreeConsole, whole_tree};

use super::Result;
use super::nodes::{self, BuildNode as _};
use super::readable_tree::ReadableTree;

/// The maximum number of nodes and properties in a tree that can be changed. The largest trees in
/// Linux have about a third as many.
pub const ITEMS_MAX: usize = 30_000;

/// Returns a copy of `blob` with `bootargs` in `/chosen` (after any words that specify the console)
/// and with only `memory` as usable memory.
/// The payload can read the result. If an argument is None, the corresponding part is left
/// unchanged. If both are None, the result is identical to `blob`.
///
/// # Errors
/// Returns an error if the payload cannot use the tree or if a change cannot be made.
pub fn adapt(blob: &[u8], bootargs: Option<&str>, memory: Option<&[Region]>) -> Result<Vec<u8>> {
    let readable = ReadableTree::read(blob)?;
    let blob = whole_tree(blob)?;
    if memory.is_none() {
        Board::read(blob)?;
        if bootargs.is_none() {
            return Ok(blob.to_vec());
        }
    }
    let mut tree = editable(&readable)?;
    let merged_memory = memory.map(|memory| merge_regions(memory.to_vec()));
    if let Some(memory) = &merged_memory {
        replace_memory(&mut tree.root, memory);
    }
    let all_bootargs = bootargs.map(|bootargs| console_words(blob, &tree.root) + bootargs);
    if let Some(bootargs) = &all_bootargs {
        check_bootargs(bootargs)?;
        replace_bootargs(&mut tree.root, bootargs);
    }
    let changed = tree.to_dtb();
    let board = Board::read(&changed)?;
    if all_bootargs.is_some_and(|bootargs| board.bootargs != bootargs) {
        let why = "cannot change the boot arguments: the tree has a second /chosen";
        return Err(error(why.into()));
    }
    let is_other = |region: &&Region| {
        let given = merged_memory.as_ref();
        given.is_some_and(|memory| !memory.contains(region))
    };
    if let Some(other) = board.memory.iter().find(is_other) {
        let base = other.base;
        return Err(error(format!(
            "cannot replace the memory at {base:#x}: its node is not a child of the root"
        )));
    }
    Ok(changed)
}

/// Returns dtoolkit's editable model of a tree.
///
/// # Errors
/// Returns an error if the tree has more than [`ITEMS_MAX`] nodes and properties, or if the model
/// would lose one of them.
fn editable(tree: &ReadableTree) -> Result<DeviceTree> {
    let fdt = tree.fdt();
    let items = count_items(&fdt.root());
    if items > ITEMS_MAX {
        let kinds = "nodes and properties";
        return Err(error(format!(
            "{items} {kinds}, more than the limit of {ITEMS_MAX}"
        )));
    }
    check_names(&fdt.root(), "")?;
    Ok(DeviceTree::from_fdt(&fdt))
}

/// Sorts regions and merges adjacent ones.
pub fn merge_regions(mut regions: Vec<Region>) -> Vec<Region> {
    regions.sort_unstable_by_key(|region| region.base);
    let mut merged: Vec<Region> = Vec::new();
    for region in regions {
        match merged.last_mut() {
            Some(last) if region.base <= last.end() => {
                last.size = last.end().max(region.end()) - last.base;
            }
            _ => merged.push(region),
        }
    }
    merged
}

/// Returns the words that may specify the console in the boot arguments of `blob`, each followed by
/// a space. Without them, the payload would choose another UART. Returns nothing if `stdout-path`
/// specifies the console.
fn console_words(blob: &[u8], root: &DeviceTreeNode) -> String {
    let source = TreeConsole::find(blob).ok().and_then(|console| console.by);
    if source.is_some_and(ConsoleSource::is_stdout_path) {
        return String::new();
    }
    let chosen = root.child("chosen");
    let Some(value) = chosen.and_then(|chosen_node| chosen_node.property("bootargs")) else {
        return String::new();
    };
    let text = core::str::from_utf8(value.value()).unwrap_or("");
    let words = text.split(['\0', ' ', '\t', '\n']);
    let is_console = |word: &&str| word.starts_with("earlycon=") || word.starts_with("console=");
    words
        .filter(is_console)
        .map(|word| format!("{word} "))
        .collect()
}

/// Rejects boot arguments that are not printable ASCII.
///
/// # Errors
/// The error contains the first invalid character.
pub fn check_bootargs(bootargs: &str) -> Result<()> {
    match bootargs
        .chars()
        .find(|character| !(' '..='~').contains(character))
    {
        None => Ok(()),
        Some(bad) => Err(error(format!(
            "the boot arguments contain {bad:?}: only printable ASCII is allowed"
        ))),
    }
}

fn error(message: String) -> FormatError {
    FormatError::new(format_args!("{message}"))
}

/// Replaces the memory nodes. Regions that do not fit in the root's address and size cells are
/// omitted.
fn replace_memory(root: &mut DeviceTreeNode, memory: &[Region]) {
    let is_memory = |node: &&DeviceTreeNode| {
        let kind = node.property("device_type");
        kind.is_some_and(|kind| kind.value_as() == Ok("memory"))
    };
    let old_names: Vec<String> = root
        .children()
        .filter(is_memory)
        .map(|node| node.name().into())
        .collect();
    for name in old_names {
        root.remove_child(&name);
    }
    // The payload rejects trees with other cell counts.
    let bytes = |cells: u32| cells.clamp(1, 2) as usize * 4;
    let address = bytes(root.address_cells().unwrap_or(2));
    let size = bytes(root.size_cells().unwrap_or(1));
    let fits = |number: u64, bytes| bytes == 8 || number <= u64::from(u32::MAX);
    let fitting = memory
        .iter()
        .filter(|region| fits(region.end() - 1, address) && fits(region.size, size));
    for region in fitting {
        let base_bytes = region.base.to_be_bytes();
        let size_bytes = region.size.to_be_bytes();
        let reg = [&base_bytes[8 - address..], &size_bytes[8 - size..]].concat();
        root.add_child(nodes::memory(*region).with_property("reg", reg));
    }
}

fn replace_bootargs(root: &mut DeviceTreeNode, bootargs: &str) {
    if root.child("chosen").is_none() {
        root.add_child(DeviceTreeNode::new_unchecked("chosen"));
    }
    if let Some(chosen) = root.child_mut("chosen") {
        chosen.add_property(DeviceTreeProperty::new_unchecked("bootargs", bootargs));
    }
}

fn count_items(node: &FdtNode<'_>) -> usize {
    let below: usize = node.children().map(|child| count_items(&child)).sum();
    1 + node.properties().count() + below
}

/// Rejects a tree if two siblings or two properties of a node have the same name. dtoolkit would
/// keep only the last one.
fn check_names(node: &FdtNode<'_>, path: &str) -> Result<()> {
    let properties: Vec<_> = node.properties().collect();
    if let Some(name) = find_repeated(properties.iter().map(|property| property.name()).collect()) {
        return Err(error(format!("{path}/: two properties are named {name}")));
    }
    let children: Vec<_> = node.children().collect();
    if let Some(name) = find_repeated(children.iter().map(|child| child.name()).collect()) {
        return Err(error(format!("{path}/{name}: two nodes have this name")));
    }
    for child in &children {
        check_names(child, &format!("{path}/{}", child.name()))?;
    }
    Ok(())
}

/// Returns a name that appears more than once.
fn find_repeated(mut names: Vec<&str>) -> Option<&str> {
    names.sort_unstable();
    let pair = names.array_windows().find(|[one, other]| one == other);
    pair.map(|[name, _]| *name)
}
