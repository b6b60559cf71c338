//! The memory that plans need.

use super::*;
use crate::board::{Region, free_memory};
use crate::scenario::Needs;

fn needs(args: &str, cpus: usize) -> Needs {
    Needs::of(&Plan::parse(args).expect("a plan"), cpus, STATES.len())
}

#[test]
fn needs_grow_with_the_plan_and_do_not_wrap() {
    let bytes = |args| needs(args, 8).heap;
    let default = bytes("");
    // With a 16 KiB stack step the whole stays below 32 KiB a CPU.
    assert!(default < 8 * (15 << 10), "{default}");
    assert!(bytes("iterations=21") > default);
    assert!(bytes("samples=all") > default);
    assert!(bytes("only=idle_states") > default);
}

#[test]
fn timers_need_tallies_and_loads_need_buffers() {
    for (args, tallies, buffer) in [
        ("", 0, 0),
        ("only=timer_latency stress=idle timers=all", 4, 0),
        ("only=timer_latency stress=write footprint=16M", 4, 16 << 20),
    ] {
        let needs = needs(args, 4);
        assert_eq!((needs.tallies, needs.buffer), (tallies, buffer), "{args}");
    }
}

#[test]
fn a_plan_without_room_is_refused_with_the_bytes_that_lack() {
    let memory = [Region {
        base: 0x4000_0000,
        size: 1 << 30,
    }];
    let needs = needs("iterations=100000", 64).heap as u64;
    let error = free_memory::find(&memory, &[], 0, needs).expect_err("no room");
    let missing = (needs.next_multiple_of(4096) - (1 << 30)) / 1024;
    let said = std::format!("largest free one has 1048576 KiB, {missing} KiB are missing;");
    assert!(std::format!("{error}").contains(&said), "{error}");
}
