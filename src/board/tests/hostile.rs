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
    match describe(tree) {
        Ok(_) => true,
        Err(error) => {
            let text = error.to_string();
            assert!(text.is_ascii() && text.len() < 250, "{text}");
            false
        }
    }
}

/// Returns a tree with a reserved region.
fn blob(name: &str) -> Vec<u8> {
    let mut tree = Model::tree(name);
    tree.change("memreserve 0x1000 0x1000");
    tree.blob()
}

fn with_size(mut blob: Vec<u8>) -> Vec<u8> {
    let size = blob.len() as u32;
    if let Some(field) = blob.get_mut(4..8) {
        field.copy_from_slice(&be(&[size]));
    }
    blob
}

#[test]
fn a_tree_cut_at_any_byte_is_refused() {
    for blob in [blob("qemu 8"), blob("juno")] {
        assert!(use_all(&blob));
        for cut in 0..blob.len() {
            // Once as it is, once with a header that agrees with the cut.
            assert!(!use_all(&blob[..cut]), "cut at {cut}");
            assert!(!use_all(&with_size(blob[..cut].to_vec())), "cut at {cut}");
        }
    }
}

#[test]
fn any_byte_may_change() {
    for mut blob in [blob("qemu 2"), blob("juno")] {
        for at in 0..blob.len() {
            for mask in [1 << (at % 8), 0xff] {
                blob[at] ^= mask;
                use_all(&blob);
                blob[at] ^= mask;
            }
        }
    }
}

#[test]
fn a_tree_that_is_too_deep_is_refused() {
    let deep = "n { ".repeat(1000) + &"}; ".repeat(1000);
    let mut tree = Model::tree("qemu 1");
    tree.children.push(Model::parse(&deep));
    let error = Board::read(&tree.blob())
        .expect_err("1000 levels")
        .to_string();
    assert!(error.ends_with("nodes are nested too deeply"), "{error}");
}

#[test]
fn a_tree_may_be_as_deep_as_the_limit() {
    let mut deep = Model::parse("n { }");
    for _ in 0..13 {
        let mut outer = Model::parse("n { }");
        outer.children = vec![deep.clone(), Model::parse("m { }")];
        deep = outer;
    }
    let mut tree = Model::tree("qemu 1");
    tree.children.push(deep);
    let clusters: Vec<_> = (0..10).map(|n| format!("cluster{n} {{ }};")).collect();
    let wide = "cluster0 { ".repeat(12) + &clusters.join(" ") + &"};".repeat(12);
    tree.at("/cpus/cpu-map").children.push(Model::parse(&wide));
    assert!(use_all(&tree.blob()));
}

/// Checks that a tree ends in time: quadratic work on 2 MiB would be noticed, and a minute
/// is ample for an unoptimised build on a busy machine.
fn in_time(name: &str, tree: &Model) {
    let blob = tree.blob();
    assert!(
        blob.len() <= crate::image::TREE_MAX,
        "{name}: {}",
        blob.len()
    );
    let started = Instant::now();
    use_all(&blob);
    let took = started.elapsed();
    println!("{name}: {} bytes, {took:?}", blob.len());
    assert!(took < Duration::from_secs(60), "{name}: {took:?}");
}

#[test]
fn large_trees_end_in_time() {
    let state = "s { compatible = \"arm,idle-state\"; arm,psci-suspend-param = <0x10000>; }";
    for (name, changes) in [
        (
            "qemu 2",
            "+20000/ m@0 { device_type = \"memory\"; reg = <0 0 0 0>; }".to_string(),
        ),
        ("juno", format!("+20000/cpus/idle-states {state}")),
    ] {
        let mut tree = Model::tree(name);
        tree.change(&changes);
        in_time(&changes, &tree);
    }
    let mut map = Model::tree("qemu 2");
    let wide = (1..1_000).map(|n| Model::parse(&format!("cluster{n} {{ }}")));
    map.at("/cpus/cpu-map").children.extend(wide);
    in_time("wide cpu-map", &map);
    map.at("/cpus/cpu-map").children.reverse();
    let wide = map.at("/cpus/cpu-map").clone();
    map.at("/cpus/cpu-map").children.extend(vec![wide; 20]);
    in_time("wider cpu-map, backwards", &map);
    let mut names = Model::tree("qemu 2");
    let properties = (0..20_000).map(|n| (format!("p{n}"), Vec::new()));
    names.properties.extend(properties);
    in_time("many properties", &names);
    let mut compatible = Model::tree("qemu 2");
    for node in &mut compatible.children {
        node.set_bytes("compatible", vec![b'x'; 200_000]);
    }
    in_time("long compatible", &compatible);
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
