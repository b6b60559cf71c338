//! Trees made to do harm: no panic, and an end in good time.

use std::string::ToString;
use std::time::{Duration, Instant};
use std::vec;
use std::vec::Vec;
use std::{format, println};

use super::describe::describe;
use super::model::{Model, be};
use crate::board::{Board, Console};

/// Does all that is ever done with a tree; returns true if it is read.
fn use_all(tree: &[u8]) -> bool {
    if let Ok(console) = Console::find(tree) {
        let _ = console.uart.map_err(|error| error.to_string());
        let _ = console.conduit.map_err(|error| error.to_string());
    }
    let text = describe(tree).err().map(|error| error.to_string());
    let is_line = |text: &str| text.is_ascii() && text.len() < 250;
    assert!(text.as_deref().is_none_or(is_line), "{text:?}");
    text.is_none()
}

#[test]
fn a_tree_cut_at_any_byte_is_refused() {
    for name in ["qemu 8", "juno"] {
        let mut tree = Model::tree(name);
        tree.change("memreserve 0x1000 0x1000");
        let blob = tree.blob();
        assert!(use_all(&blob));
        for cut in 0..blob.len() {
            // Once as it is, once with a header that agrees with the cut.
            let mut part = blob[..cut].to_vec();
            assert!(!use_all(&part), "cut at {cut}");
            if let Some(size) = part.get_mut(4..8) {
                size.copy_from_slice(&be(&[cut as u32]));
            }
            assert!(!use_all(&part), "cut at {cut}");
        }
    }
}

#[test]
fn a_tree_has_at_most_16_levels() {
    let deep = |levels: usize| {
        let mut tree = Model::tree("qemu 1");
        let text = "n { ".repeat(levels) + &"}; ".repeat(levels);
        tree.children.push(Model::parse(&text));
        tree
    };
    let error = Board::read(&deep(16).blob()).expect_err("17 levels");
    let error = error.to_string();
    assert!(error.ends_with("nodes are nested too deeply"), "{error}");
    let mut tree = deep(15);
    let clusters: Vec<_> = (0..10).map(|n| format!("cluster{n} {{ }};")).collect();
    let wide = "cluster0 { ".repeat(12) + &clusters.join(" ") + &"};".repeat(12);
    tree.at("/cpus/cpu-map").children.push(Model::parse(&wide));
    assert!(use_all(&tree.blob()));
}

/// Checks that a tree ends in time: quadratic work on 2 MiB would be noticed, and a minute
/// is ample for an unoptimised build on a busy machine.
fn in_time(what: &str, tree: &Model) {
    let blob = tree.blob();
    let size = blob.len();
    assert!(size <= crate::image::TREE_MAX, "{what}: {size}");
    let started = Instant::now();
    use_all(&blob);
    let took = started.elapsed();
    println!("{what}: {size} bytes, {took:?}");
    assert!(took < Duration::from_secs(60), "{what}: {took:?}");
}

#[test]
fn large_trees_end_in_time() {
    let memory = "+20000/ m@0 { device_type = \"memory\"; reg = <0 0 0 0>; }";
    let state = "+20000/cpus/idle-states s { compatible = \"arm,idle-state\"; \
                 arm,psci-suspend-param = <0x10000>; }";
    for (name, change) in [("qemu 2", memory), ("juno", state)] {
        let mut tree = Model::tree(name);
        tree.change(change);
        in_time(change, &tree);
    }
    let mut tree = Model::tree("qemu 2");
    let map = tree.at("/cpus/cpu-map");
    let wide = (1..1_000).map(|n| Model::parse(&format!("cluster{n} {{ }}")));
    map.children.extend(wide);
    map.children.reverse();
    let inner = map.clone();
    map.children.extend(vec![inner; 20]);
    in_time("wide cpu-map, backwards", &tree);
    let mut tree = Model::tree("qemu 2");
    let properties = (0..20_000).map(|n| (format!("p{n}"), Vec::new()));
    tree.properties.extend(properties);
    in_time("many properties", &tree);
    let mut tree = Model::tree("qemu 2");
    for node in &mut tree.children {
        node.set_bytes("compatible", vec![b'x'; 200_000]);
    }
    in_time("long compatible", &tree);
    let path = "/pl011@9000000".repeat(70_000) + "\0";
    for (name, node, property, value) in [
        ("qemu 2", "/memory@40000000", "reg", vec![0; 1 << 20]),
        ("qemu 2", "/timer", "interrupts", be(&[1; 3 * 40_000])),
        ("qemu 2", "/timer", "interrupt-names", vec![0; 100_000]),
        ("juno", "/bus@7f000000", "ranges", be(&[1; 5 * 80_000])),
        ("qemu 2", "/chosen", "stdout-path", path.into()),
    ] {
        let mut tree = Model::tree(name);
        tree.at(node).set_bytes(property, value);
        in_time(property, &tree);
    }
}
