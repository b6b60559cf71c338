//! Device trees as models that can be changed: read from text, written as blobs.

use std::format;
use std::string::String;
use std::vec::Vec;

use fdt_blob::{Blob, Token};

/// A node: its properties, then its children.
#[derive(Clone, Default)]
pub struct NodeModel {
    pub name: String,
    pub properties: Vec<(String, Vec<u8>)>,
    pub children: Vec<NodeModel>,
    /// The memory reservation block; of the root only.
    pub reserved: Vec<(u64, u64)>,
}

impl NodeModel {
    /// Reads a node from a device tree's source: plain properties and children, and
    /// comments only before the node.
    pub fn parse(source: &str) -> Self {
        let text = source.lines().filter(|line| !line.starts_with("//"));
        Self::node(&mut text.collect::<Vec<_>>().join(" ").as_str())
    }

    /// Reads the tree of this name: `juno`, or QEMU's with a number of CPUs after `qemu`
    /// or, with further devices, after `devices`.
    pub fn tree(name: &str) -> Self {
        let Some((kind, cpus)) = name.split_once(' ') else {
            return Self::parse(include_str!("juno.dts"));
        };
        let mut tree = Self::parse(include_str!("qemu.dts"));
        tree.children.push(Self::cpus(cpus.parse().expect("CPUs")));
        if kind == "devices" {
            let devices = Self::parse(include_str!("devices.dts"));
            tree.children.extend(devices.children);
        }
        tree
    }

    /// Makes `count` CPUs in clusters of four, with MPIDRs as QEMU has them.
    fn cpus(count: u32) -> Self {
        let mut text = String::from("cpus { #address-cells = <1>; #size-cells = <0>;");
        let mut map = String::from("cpu-map { cluster0 {");
        for index in 0..count {
            let mpidr = ((index / 16) << 8) | (index % 16);
            let (cluster, core, phandle) = (index / 4, index % 4, 0x1000 + mpidr);
            text += &format!(
                "cpu@{mpidr:x} {{ device_type = \"cpu\"; compatible = \"arm,cortex-a57\"; \
                 reg = <{mpidr}>; enable-method = \"psci\"; phandle = <{phandle}>; }};"
            );
            if core == 0 && index > 0 {
                map += &format!("}}; cluster{cluster} {{");
            }
            map += &format!("core{core} {{ cpu = <{phandle}>; }};");
        }
        Self::parse(&(text + &map + "}; }; };"))
    }

    /// Reads the node that `text` begins with, and moves `text` past it.
    fn node(text: &mut &str) -> Self {
        let (name, rest) = text.split_once('{').expect("a node");
        *text = rest.trim_start();
        let mut node = Self {
            name: name.trim().trim_start_matches('/').into(),
            ..Self::default()
        };
        while !text.starts_with('}') {
            let end = text.find(['{', ';']).expect("a property or a node");
            if text[end..].starts_with('{') {
                node.children.push(Self::node(text));
            } else {
                node.set(&text[..end]);
                *text = &text[end + 1..];
            }
            *text = text.trim_start();
        }
        *text = text[1..].trim_start_matches([' ', ';']);
        node
    }

    /// Sets a property by its text, `name = value`.
    fn set(&mut self, property: &str) {
        let (name, value) = property.split_once('=').unwrap_or((property, ""));
        let name = name.trim();
        self.properties.retain(|(its, _)| its != name);
        self.properties.push((name.into(), bytes(value)));
    }

    fn at(&mut self, path: &str) -> &mut Self {
        let names = path.split('/').filter(|name| !name.is_empty());
        names.fold(self, |node, name| {
            let mut children = node.children.iter_mut();
            children.find(|child| child.name == name).expect(path)
        })
    }

    /// Makes one change: `path:name = value`, `-path:name`, `-path`, or `+path node`, in
    /// which a number after `+` repeats the node, and `%` is the number of the repetition.
    /// `memreserve address size` adds to the memory reservation block.
    pub fn change(&mut self, change: &str) {
        if let Some(words) = change.strip_prefix("memreserve ") {
            let (address, size) = words.split_once(' ').expect("address and size");
            self.reserved.push((number(address), number(size)));
        } else if let Some(at) = change.strip_prefix('-') {
            // The change must remove something.
            let before = self.blob();
            if let Some((path, name)) = at.rsplit_once(':') {
                self.at(path).properties.retain(|(its, _)| its != name);
            } else {
                let (parent, name) = at.rsplit_once('/').expect(change);
                self.at(parent).children.retain(|child| child.name != name);
            }
            assert_ne!(self.blob(), before, "{change}");
        } else if let Some(addition) = change.strip_prefix('+') {
            let (path, node) = addition.split_once(' ').expect(change);
            let (count, path) = path.split_once('/').expect(change);
            for index in 0..count.parse().unwrap_or(1) {
                let node = Self::parse(&node.replace('%', &format!("{index:x}")));
                self.at(path).children.push(node);
            }
        } else {
            let (path, property) = change.split_once(':').expect(change);
            self.at(path).set(property);
        }
    }

    /// Writes the flattened tree, sound or not.
    pub fn blob(&self) -> Vec<u8> {
        let mut blob = Blob::default();
        blob.reservations.clone_from(&self.reserved);
        self.add_to(&mut blob.tokens);
        blob.write()
    }

    fn add_to(&self, tokens: &mut Vec<Token>) {
        tokens.push(Token::Begin(self.name.clone()));
        let properties = self.properties.iter().cloned();
        tokens.extend(properties.map(|(name, value)| Token::Property(name, value)));
        self.children.iter().for_each(|child| child.add_to(tokens));
        tokens.push(Token::End);
    }
}

/// Reads the value of a property: cells, strings and bytes, separated by commas.
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
