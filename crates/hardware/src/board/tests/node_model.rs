//! Editable models of device trees, parsed from source and written as blobs.

use std::format;
use std::string::String;
use std::vec::Vec;

use fdt_blob::{Blob, BlobToken};

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
            Self::Cells(cells) => fdt_blob::cells(cells),
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

/// A node with properties and children.
#[derive(Clone, Default)]
pub struct NodeModel {
    pub name: String,
    pub properties: Vec<(String, Vec<u8>)>,
    pub children: Vec<NodeModel>,
    /// The memory reservation block. Used only in the root.
    pub reserved: Vec<(u64, u64)>,
}

impl NodeModel {
    /// Parses a node from device tree source. Only plain properties and children are supported.
    /// Comments are supported only before the node.
    pub fn parse(source: &str) -> Self {
        let text = source.lines().filter(|line| !line.starts_with("//"));
        Self::node(&mut text.collect::<Vec<_>>().join(" ").as_str())
    }

    /// Builds the model of `tree` from its source.
    pub fn read(tree: Tree) -> Self {
        let (count, has_devices) = match tree {
            Tree::Juno => return Self::parse(include_str!("juno.dts")),
            Tree::Qemu(count) => (count, false),
            Tree::Devices(count) => (count, true),
        };
        let mut model = Self::parse(include_str!("qemu.dts"));
        model.children.push(Self::cpus(count));
        if has_devices {
            let devices = Self::parse(include_str!("devices.dts"));
            model.children.extend(devices.children);
        }
        model
    }

    /// Builds `count` CPUs in clusters of four, with the same MPIDRs as in QEMU.
    fn cpus(count: u32) -> Self {
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
        Self::parse(&(text + &map + "}; }; };"))
    }

    /// Parses the node at the start of `text` and advances `text` past it.
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
                let property = &text[..end];
                let (key, value) = property.split_once('=').unwrap_or((property, ""));
                node.set(key.trim(), bytes(value));
                *text = &text[end + 1..];
            }
            *text = text.trim_start();
        }
        *text = text[1..].trim_start_matches([' ', ';']);
        node
    }

    fn set(&mut self, name: &str, value: Vec<u8>) {
        self.properties.retain(|(its, _)| its != name);
        self.properties.push((name.into(), value));
    }

    fn at(&mut self, path: &str) -> &mut Self {
        let names = path.split('/').filter(|name| !name.is_empty());
        names.fold(self, |node, name| {
            let mut children = node.children.iter_mut();
            children.find(|child| child.name == name).expect(path)
        })
    }

    /// Applies one change, which must have an effect.
    pub fn edit(&mut self, edit: Edit<'_>) {
        let before = self.blob();
        match edit {
            Edit::Set(path, name, value) => self.at(path).set(name, value.bytes()),
            Edit::Unset(path, name) => self.at(path).properties.retain(|(its, _)| its != name),
            Edit::Add(path, source) => self.at(path).children.push(Self::parse(source)),
            Edit::AddEach(count, path, source) => {
                let nodes = (0..count).map(|index| Self::parse(&source(index)));
                self.at(path).children.extend(nodes);
            }
            Edit::Remove(path) => {
                let (parent, name) = path.rsplit_once('/').expect(path);
                self.at(parent).children.retain(|child| child.name != name);
            }
            Edit::Reserve(address, size) => self.reserved.push((address, size)),
        }
        assert_ne!(self.blob(), before, "{edit:?}");
    }

    /// Writes the flattened tree without validating it.
    pub fn blob(&self) -> Vec<u8> {
        let mut blob = Blob::default();
        blob.reservations.clone_from(&self.reserved);
        self.add_to(&mut blob.tokens);
        blob.write()
    }

    fn add_to(&self, tokens: &mut Vec<BlobToken>) {
        tokens.push(BlobToken::Begin(self.name.clone()));
        let properties = self.properties.iter().cloned();
        tokens.extend(properties.map(|(name, value)| BlobToken::Property(name, value)));
        self.children.iter().for_each(|child| child.add_to(tokens));
        tokens.push(BlobToken::End);
    }
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
