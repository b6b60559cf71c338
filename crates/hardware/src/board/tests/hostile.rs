//! Trees made to do harm: no panic, and an end in good time.

use std::format;
use std::string::{String, ToString};
use std::time::{Duration, Instant};

use super::describe::describe;
use super::node_model::NodeModel;
use crate::board::TreeConsole;

/// Does all that is ever done with a tree; returns the error.
fn use_all(tree: &[u8]) -> Option<String> {
    if let Ok(console) = TreeConsole::find(tree) {
        let _ = console.uart.map_err(|error| error.to_string());
        let _ = console.conduit.map_err(|error| error.to_string());
    }
    let text = describe(tree).err()?.to_string();
    assert!(text.is_ascii() && text.len() < 250, "{text}");
    Some(text)
}

#[test]
fn a_tree_has_at_most_16_levels() {
    for (levels, is_read) in [(15, true), (16, false)] {
        let mut tree = NodeModel::tree("qemu 1");
        let text = "n { ".repeat(levels) + &"}; ".repeat(levels);
        tree.children.push(NodeModel::parse(&text));
        let text = use_all(&tree.blob()).unwrap_or_default();
        let is_refused = text.ends_with("nodes are nested too deeply");
        assert_eq!((text.is_empty(), is_refused), (is_read, !is_read));
    }
}

/// Quadratic work on 2 MiB would be noticed, and a minute is ample for an unoptimised
/// build on a busy machine.
#[test]
fn large_trees_end_in_time() {
    let clusters = (0..2_000).rev().map(|n| format!("cluster{n} {{ }};"));
    let clusters: String = clusters.collect();
    let memory = "m@0 { device_type = \"memory\"; reg = <0 0 0 0>; }";
    let state = "s { compatible = \"arm,idle-state\"; arm,psci-suspend-param = <0x10000>; }";
    for (name, begin, middle, count, end) in [
        ("qemu 2", "+20000/ ", memory, 1, ""),
        ("juno", "+20000/cpus/idle-states ", state, 1, ""),
        ("qemu 2", "+/cpus/cpu-map cluster1 {", &clusters, 1, "}"),
        ("qemu 2", "/memory@40000000:reg = <0", " 0", 1 << 18, ">"),
        ("qemu 2", "/timer:interrupts = <1", " 1", 120_000, ">"),
        ("qemu 2", "/timer:interrupt-names = <0", " 0", 25_000, ">"),
        ("juno", "/bus@7f000000:ranges = <1", " 1", 400_000, ">"),
        (
            "qemu 2",
            "/chosen:stdout-path = \"",
            "/pl011@9000000",
            70_000,
            "\"",
        ),
        (
            "qemu 2",
            "/pl011@9000000:compatible = \"",
            "x",
            200_000,
            "\"",
        ),
    ] {
        let change = format!("{begin}{}{end}", middle.repeat(count));
        let mut tree = NodeModel::tree(name);
        tree.change(&change);
        let blob = tree.blob();
        assert!(blob.len() <= crate::image::TREE_MAX);
        let started = Instant::now();
        use_all(&blob);
        assert!(started.elapsed() < Duration::from_secs(60));
    }
}
