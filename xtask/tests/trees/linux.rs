//! The device trees of the thousand or so boards that Linux supports.

use std::collections::BTreeMap;
use std::fs;

use dtoolkit::fdt::Fdt;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::{Node as _, Property as _};
use expect_test::expect_file;
use runner::setup::linux_trees;
use suite::crc::CRC_32;

use crate::described::{JudgedTree, judge};
use crate::{here, workspace};

/// The maximum number of repairs per tree: one for the console and one for memory.
const MENDS: usize = 2;

#[test]
#[ignore = "fetches 90 MB: cargo xtask test trees"]
fn trees_of_linux() {
    let workspace = workspace();
    let trees = linux_trees::fetch(&workspace).expect("the Debian arm64 kernel");
    let (mut list, mut as_is, mut mended) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for file in &trees.files {
        let name = file.strip_prefix(&trees.dir).unwrap_or(file).display();
        let mut blob = fs::read(file).expect("a tree");
        let first = judge(&name.to_string(), &blob).expect("read or rejected");
        let mut last = first.clone();
        for _ in 0..MENDS {
            if let Some(better) = mend(&blob, &last) {
                blob = better;
                last = judge(&format!("{name}, mended"), &blob).expect("read or rejected");
            }
        }
        let (before, after, digest) = (first.class, last.class, last.digest);
        list.push(format!("{name}\t{before}\t{after}\t{digest:08x}\n"));
        *as_is.entry(before).or_default() += 1;
        *mended.entry(after).or_default() += 1;
    }
    list.sort();
    let list = list.concat();
    let list_at = workspace.state().join("linux-trees.txt");
    fs::write(&list_at, &list).expect("the list is written");
    println!("the class of each tree: {}", list_at.display());

    // The checksum changes if any board is parsed differently.
    let text = format!(
        "# {}\n{} trees\n\nunmodified\n{}\nwith the console and memory repaired\n{}\nchecksum of \
         all descriptions: {:08x}\n",
        trees.package,
        trees.files.len(),
        table(&as_is),
        table(&mended),
        CRC_32.checksum(list.as_bytes())
    );
    println!("{text}");
    // The counts depend on the kernel version, so they are compared only if the package is the
    // same.
    let path = here().join("linux.txt");
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let package = expected.lines().next();
    if package == text.lines().next() || std::env::var_os("UPDATE_EXPECT").is_some() {
        expect_file![path].assert_eq(&text);
    } else {
        println!("the expected counts are for a different package: {package:?}");
    }
}

fn table(counts: &BTreeMap<String, usize>) -> String {
    let line = |(class, count)| format!("{count:5} {class}\n");
    counts.iter().map(line).collect()
}

/// Adds what a boot loader or an extra driver would provide, so that the parser also reads the rest
/// of the tree. Returns None if there is nothing to repair.
fn mend(blob: &[u8], judged: &JudgedTree) -> Option<Vec<u8>> {
    const STAND_IN: &str = "stand-in-for-the-console";
    let mut tree = DeviceTree::from_fdt(&Fdt::new_unchecked(blob));
    let (name, kind, base, size) = match judged.class.split(' ').next()? {
        "console:" if judged.class.contains("no driver") => {
            let node = tree
                .find_node_mut(&judged.path)
                .expect("the path is in this tree");
            node.add_property(texts("compatible", "ns16550a"));
            return Some(tree.to_dtb());
        }
        "console:" => {
            let kind = texts("compatible", "arm,pl011");
            (STAND_IN, kind, 0x0900_0000, 0x1000)
        }
        "memory:" => {
            let kind = texts("device_type", "memory");
            ("memory@80000000", kind, 0x8000_0000, 0x4000_0000)
        }
        _ => return None,
    };
    let mut node = DeviceTreeNode::new_unchecked(name);
    node.add_property(kind);
    node.add_property(region(&tree, base, size));
    tree.root.add_child(node);
    if name == STAND_IN {
        if tree.find_node_mut("/chosen").is_none() {
            tree.root.add_child(DeviceTreeNode::new_unchecked("chosen"));
        }
        let chosen = tree.find_node_mut("/chosen").expect("it was added");
        chosen.add_property(texts("stdout-path", &format!("/{STAND_IN}")));
    }
    Some(tree.to_dtb())
}

fn texts(name: &str, value: &str) -> DeviceTreeProperty {
    DeviceTreeProperty::new_unchecked(name, format!("{value}\0").into_bytes())
}

/// Returns a `reg` property for a child of the root.
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
