//! Trees from someone who means harm: no panic, and an end in good time.

use std::time::{Duration, Instant};
use std::vec;
use std::vec::Vec;

use super::trees::{Model, be, juno, qemu};
use crate::board::board::Board;
use crate::board::console::Console;
use crate::board::cpu::Cpu;

/// Everything that is ever done with a tree, errors printed.
fn use_all(tree: &[u8]) -> bool {
    use std::string::ToString;
    if let Ok(console) = Console::find(tree) {
        let _ = console.uart.map_err(|error| error.to_string());
        let _ = console.conduit.map_err(|error| error.to_string());
    }
    let board = match Board::read(tree) {
        Ok(board) => board,
        Err(error) => {
            let text = error.to_string();
            assert!(text.is_ascii() && text.len() < 250, "{text}");
            return false;
        }
    };
    let mut cpus = vec![Cpu::default(); board.cpu_count];
    [false, true].into_iter().all(|mt| {
        let result = board.cpus(mt, &mut cpus);
        result.map_err(|error| error.to_string()).is_ok()
    })
}

fn with_size(mut blob: Vec<u8>) -> Vec<u8> {
    let size = blob.len() as u32;
    if let Some(field) = blob.get_mut(4..8) {
        field.copy_from_slice(&be(&[size]));
    }
    blob
}

#[test]
fn cut_at_every_byte() {
    for tree in [qemu(8), juno()] {
        let blob = tree.blob_reserving(&[(0x1000, 0x1000)]);
        assert!(use_all(&blob));
        for cut in 0..blob.len() {
            // Once as it is, once with a header that agrees with the cut.
            assert!(!use_all(&blob[..cut]), "cut at {cut}");
            assert!(!use_all(&with_size(blob[..cut].to_vec())), "cut at {cut}");
        }
    }
}

/// xorshift64*: the same mutants in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }
}

#[test]
fn every_byte_changed() {
    for tree in [qemu(2), juno()] {
        let mut blob = tree.blob_reserving(&[(0x1000, 0x1000)]);
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
fn mutants() {
    const WORDS: [u32; 16] = [
        0,
        1,
        2,
        3,
        4,
        9,
        0x7f,
        0xff,
        0x100,
        0xffff,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_fff0,
        0xffff_ffff,
        0xd00d_feed,
        0x20_0000,
    ];
    let started = Instant::now();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for tree in [qemu(4), juno()] {
        let good = tree.blob_reserving(&[(0x1000, 0x1000)]);
        for _ in 0..10_000 {
            let mut blob = good.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(blob.len());
                match random.below(5) {
                    0 => blob[at] = random.below(256) as u8,
                    1 => blob[at] ^= 1 << random.below(8),
                    2 => {
                        let word = be(&[WORDS[random.below(WORDS.len())]]);
                        let at = at / 4 * 4;
                        if let Some(bytes) = blob.get_mut(at..at + 4) {
                            bytes.copy_from_slice(&word);
                        }
                    }
                    3 => {
                        let from = random.below(blob.len()) / 4 * 4;
                        let length = random.below(64).min(blob.len() - from.max(at / 4 * 4));
                        blob.copy_within(from..from + length, at / 4 * 4);
                    }
                    _ => {
                        let length = random.below(32).min(blob.len() - at);
                        blob.drain(at..at + length);
                        blob = with_size(blob);
                    }
                }
                if blob.len() < 64 {
                    break;
                }
            }
            use_all(&blob);
        }
    }
    assert!(started.elapsed() < Duration::from_secs(60));
}

/// A minute is ample for an unoptimised build on a busy machine.
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
    std::println!("{name}: {} bytes, {took:?}", blob.len());
    assert!(took < Duration::from_secs(60), "{name}: {took:?}");
}

#[test]
fn nested_too_deeply() {
    let mut deep = Model::new("n");
    for _ in 0..1000 {
        deep = Model::new("n").with(deep);
    }
    let mut tree = qemu(1);
    tree.children.push(deep);
    let blob = tree.blob();
    let error = Board::read(&blob).map(|_| ()).expect_err("1000 levels");
    assert!(error.message.ends_with("nodes are nested too deeply"));
}

#[test]
fn as_deep_as_it_may_be() {
    let mut deep = Model::new("n");
    for _ in 0..13 {
        deep = Model::new("n").with(deep.clone()).with(Model::new("m"));
    }
    let mut wide = Model::new("cluster0");
    for n in 0..10 {
        wide.children.push(Model::new(&std::format!("cluster{n}")));
    }
    for _ in 0..11 {
        wide = Model::new("cluster0").with(wide);
    }
    let mut tree = qemu(1);
    tree.children.push(deep);
    tree.at("/cpus/cpu-map").children.push(wide);
    assert!(use_all(&tree.blob()));
}

#[test]
fn a_great_many_of_everything() {
    // Quadratic work on 2 MiB of any of these would be noticed.
    let mut nodes = qemu(2);
    let many = Model::new("m@0")
        .text("device_type", &["memory"])
        .cells("reg", &[0, 0, 0, 0]);
    nodes.children.extend(vec![many; 20_000]);
    for n in 0..20_000 {
        nodes.set(&std::format!("p{n}"), &[]);
    }
    in_time("empty memory nodes", &nodes);

    let mut reg = qemu(2);
    reg.edit("/memory@40000000:reg", &vec![0; 1 << 20]);
    reg.edit("/timer:interrupts", &be(&vec![1; 3 * 40_000]));
    reg.edit("/timer:interrupt-names", &[0; 100_000]);
    in_time("long properties", &reg);

    let mut ranges = juno();
    ranges.edit("/bus@7f000000:ranges", &be(&vec![1; 5 * 80_000]));
    in_time("long ranges", &ranges);

    let mut map = qemu(2);
    let wide: Vec<_> = (1..1_000)
        .map(|n| Model::new(&std::format!("cluster{n}")))
        .collect();
    map.at("/cpus/cpu-map").children.extend(wide);
    in_time("wide cpu-map", &map);
    map.at("/cpus/cpu-map").children.reverse();
    in_time("wide cpu-map, backwards", &map);
    let wide = map.at("/cpus/cpu-map").clone();
    map.at("/cpus/cpu-map").children.extend(vec![wide; 20]);
    in_time("wider cpu-map", &map);

    let mut states = juno();
    let state = Model::new("s")
        .text("compatible", &["arm,idle-state"])
        .cells("arm,psci-suspend-param", &[0x1_0000]);
    states
        .at("/cpus/idle-states")
        .children
        .extend(vec![state; 20_000]);
    in_time("one idle state many times", &states);

    let mut path = qemu(2);
    let long = "/pl011@9000000".repeat(70_000);
    path.edit("/chosen:stdout-path", std::format!("{long}\0").as_bytes());
    in_time("long path", &path);

    let mut compatible = qemu(2);
    for node in &mut compatible.children {
        node.set("compatible", &vec![b'x'; 200_000]);
    }
    in_time("long compatible", &compatible);
}
