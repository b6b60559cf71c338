//! Tests that malicious trees do not cause panics and are processed in bounded time.

use std::format;
use std::string::{String, ToString};
use std::time::{Duration, Instant};

use super::describe::describe;
use super::edited_tree::Edit::{Add, AddEach, Set};
use super::edited_tree::Tree::{Juno, Qemu};
use super::edited_tree::Value::{Cells, Text};
use super::edited_tree::parse_node;
use crate::board::TreeConsole;

/// Runs all the code that reads a tree. Returns the error, if any.
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
        let mut tree = Qemu(1).parse();
        let text = "n { ".repeat(levels) + &"}; ".repeat(levels);
        tree.root.add_child(parse_node(&text));
        let text = use_all(&tree.to_dtb());
        let is_refused = text
            .as_ref()
            .is_some_and(|text| text.ends_with("nodes are nested too deeply"));
        assert_eq!((text.is_none(), is_refused), (is_read, !is_read));
    }
}

/// Quadratic algorithms on 2 MiB would exceed this limit. One minute is plenty for an unoptimized
/// build on a busy machine.
#[test]
fn large_trees_end_in_time() {
    let clusters = (0..2_000)
        .rev()
        .map(|number| format!("cluster{number} {{ }};"));
    let clusters = format!("cluster1 {{ {} }}", clusters.collect::<String>());
    let memory = |_| "m@0 { device_type = \"memory\"; reg = <0 0 0 0>; }".into();
    let state =
        |_| "s { compatible = \"arm,idle-state\"; arm,psci-suspend-param = <0x10000>; }".into();
    let path = "/pl011@9000000".repeat(70_000);
    let long = "x".repeat(200_000);
    for (tree, edit) in [
        (Qemu(2), AddEach(20_000, "/", memory)),
        (Juno, AddEach(20_000, "/cpus/idle-states", state)),
        (Qemu(2), Add("/cpus/cpu-map", &clusters)),
        (
            Qemu(2),
            Set("/memory@40000000", "reg", Cells(&[0; 1 << 18])),
        ),
        (Qemu(2), Set("/timer", "interrupts", Cells(&[1; 120_000]))),
        (
            Qemu(2),
            Set("/timer", "interrupt-names", Cells(&[0; 25_000])),
        ),
        (Juno, Set("/bus@7f000000", "ranges", Cells(&[1; 400_000]))),
        (Qemu(2), Set("/chosen", "stdout-path", Text(&path))),
        (Qemu(2), Set("/pl011@9000000", "compatible", Text(&long))),
    ] {
        let mut model = tree.parse();
        edit.apply(&mut model);
        let blob = model.to_dtb();
        assert!(blob.len() <= crate::image::TREE_MAX);
        let started = Instant::now();
        use_all(&blob);
        assert!(started.elapsed() < Duration::from_secs(60));
    }
}
