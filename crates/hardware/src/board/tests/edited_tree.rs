//! Device trees parsed from source, and edits to them.

use std::format;
use std::string::String;
use std::vec::Vec;

use dtoolkit::Node as _;
use dtoolkit::memreserve::MemoryReservation;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

/// The tree to edit.
#[derive(Clone, Copy, Debug)]
pub enum Tree {
    Juno,
    /// The QEMU device tree with this number of CPUs.
    Qemu(u32),
    /// The QEMU device tree with this number of CPUs and additional devices.
    Devices(u32),
}

/// A property value.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Empty,
    Cells(&'a [u32]),
    Text(&'a str),
    Texts(&'a [&'a str]),
    Bytes(&'a [u8]),
}

impl Value<'_> {
    fn bytes(self) -> Vec<u8> {
        match self {
            Self::Empty => Vec::new(),
            Self::Cells(numbers) => cells(numbers),
            Self::Text(text) => Value::Texts(&[text]).bytes(),
            Self::Texts(texts) => {
                let texts = texts.iter().map(|text| text.bytes().chain([0]));
                texts.flatten().collect()
            }
            Self::Bytes(bytes) => bytes.to_vec(),
        }
    }
}

/// A change to a tree. Nodes are specified by path.
#[derive(Clone, Copy, Debug)]
pub enum Edit<'a> {
    /// Sets a node's property.
    Set(&'a str, &'a str, Value<'a>),
    /// Removes a node's property.
    Unset(&'a str, &'a str),
    /// Adds a child node, specified as source text.
    Add(&'a str, &'a str),
    /// Adds this many child nodes, each generated from an index.
    AddEach(u32, &'a str, fn(u32) -> String),
    /// Removes a node.
    Remove(&'a str),
    /// Adds an address and a size to the memory reservation block.
    Reserve(u64, u64),
}

impl Tree {
    /// Parses the tree's source.
    pub fn parse(self) -> DeviceTree {
        let (source, count, has_devices) = match self {
            Self::Juno => (include_str!("juno.dts"), None, false),
            Self::Qemu(count) => (include_str!("qemu.dts"), Some(count), false),
            Self::Devices(count) => (include_str!("qemu.dts"), Some(count), true),
        };
        let mut tree = DeviceTree::new();
        tree.root = parse_node(source);
        if let Some(count) = count {
            tree.root.add_child(cpus(count));
        }
        if has_devices {
            let devices = parse_node(include_str!("devices.dts"));
            let children = devices.children().cloned();
            children.for_each(|child| tree.root.add_child(child));
        }
        tree
    }
}

/// Builds `count` CPUs in clusters of four, with the same MPIDRs as in QEMU.
fn cpus(count: u32) -> DeviceTreeNode {
    let mut text = String::from("cpus { #address-cells = <1>; #size-cells = <0>;");
    let mut map = String::from("cpu-map { cluster0 {");
    for index in 0..count {
        let mpidr = ((index / 16) << 8) | (index % 16);
        let cluster = index / 4;
        let core = index % 4;
        let phandle = 0x1000 + mpidr;
        text += &format!(
            "cpu@{mpidr:x} {{ device_type = \"cpu\"; compatible = \"arm,cortex-a57\"; \
             reg = <{mpidr}>; enable-method = \"psci\"; phandle = <{phandle}>; }};"
        );
        if core == 0 && index > 0 {
            map += &format!("}}; cluster{cluster} {{");
        }
        map += &format!("core{core} {{ cpu = <{phandle}>; }};");
    }
    parse_node(&(text + &map + "}; }; };"))
}

/// Parses a node from device tree source. Only plain properties and children are supported.
/// Comments are supported only before the node.
pub fn parse_node(source: &str) -> DeviceTreeNode {
    let text = source.lines().filter(|line| !line.starts_with("//"));
    take_node(&mut text.collect::<Vec<_>>().join(" ").as_str())
}

/// Parses the node at the start of `text` and advances `text` past it.
fn take_node(text: &mut &str) -> DeviceTreeNode {
    let (name, rest) = text.split_once('{').expect("a node");
    *text = rest.trim_start();
    let mut node = DeviceTreeNode::new_unchecked(name.trim().trim_start_matches('/'));
    while !text.starts_with('}') {
        let end = text.find(['{', ';']).expect("a property or a node");
        if text[end..].starts_with('{') {
            add_child(&mut node, take_node(text));
        } else {
            let (name, value) = text[..end].split_once('=').unwrap_or((&text[..end], ""));
            let property = DeviceTreeProperty::new_unchecked(name.trim(), bytes(value));
            node.add_property(property);
            *text = &text[end + 1..];
        }
        *text = text.trim_start();
    }
    *text = text[1..].trim_start_matches([' ', ';']);
    node
}

/// Adds a child, even if another one has the same name. dtoolkit finds the first of them and writes
/// both.
fn add_child(parent: &mut DeviceTreeNode, child: DeviceTreeNode) {
    if parent.child_mut(child.name()).is_none() {
        parent.add_child(child);
        return;
    }
    // dtoolkit compares names only when it adds a child.
    let free_name = format!("{}/", parent.children().count());
    assert!(parent.child_mut(&free_name).is_none());
    *parent.add_child_mut(DeviceTreeNode::new_unchecked(free_name)) = child;
}

fn node_at<'t>(tree: &'t mut DeviceTree, path: &str) -> &'t mut DeviceTreeNode {
    tree.find_node_mut(path).expect(path)
}

impl Edit<'_> {
    /// Changes `tree`. The change must have an effect.
    pub fn apply(self, tree: &mut DeviceTree) {
        let before = tree.to_dtb();
        match self {
            Self::Set(path, name, value) => {
                let property = DeviceTreeProperty::new_unchecked(name, value.bytes());
                node_at(tree, path).add_property(property);
            }
            Self::Unset(path, name) => {
                node_at(tree, path).remove_property(name);
            }
            Self::Add(path, source) => add_child(node_at(tree, path), parse_node(source)),
            Self::AddEach(count, path, source) => {
                let parent = node_at(tree, path);
                for index in 0..count {
                    add_child(parent, parse_node(&source(index)));
                }
            }
            Self::Remove(path) => {
                let (parent, name) = path.rsplit_once('/').expect(path);
                node_at(tree, &format!("{parent}/")).remove_child(name);
            }
            Self::Reserve(address, size) => {
                let reservation = MemoryReservation::new(address, size);
                tree.memory_reservations.push(reservation);
            }
        }
        assert_ne!(tree.to_dtb(), before, "{self:?}");
    }
}

/// Returns the cells as big-endian bytes.
pub fn cells(cells: &[u32]) -> Vec<u8> {
    cells.iter().flat_map(|cell| cell.to_be_bytes()).collect()
}

/// Parses a property value, which consists of comma-separated cells, strings and bytes.
fn bytes(value: &str) -> Vec<u8> {
    let mut rest = value.trim();
    let mut bytes = Vec::new();
    while !rest.is_empty() {
        let (inner, after) = rest[1..].split_once(['>', ']', '"']).expect(value);
        let words = inner.split_whitespace();
        match &rest[..1] {
            "<" => bytes.extend(words.flat_map(|word| (number(word) as u32).to_be_bytes())),
            "[" => bytes.extend(words.map(|word| u8::from_str_radix(word, 16).expect(value))),
            _ => bytes.extend(inner.bytes().chain([0])),
        }
        rest = after.trim_start_matches([' ', ',']);
    }
    bytes
}

fn number(word: &str) -> u64 {
    let parsed = match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => word.parse(),
    };
    parsed.expect(word)
}
