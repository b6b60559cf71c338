//! The memory that plans need.

use super::*;
use crate::board::{Region, free_memory};
use crate::scenario::Needs;

fn needs(args: &str, cpus: usize) -> Needs {
    Needs::of(&Plan::parse(args).expect("a plan"), cpus, STATES.len())
}

#[test]
fn needs_follow_from_the_plan() {
    for (args, tallies, buffer) in [
        ("", 0, 0),
        ("only=timer_latency stress=idle timers=all", 4, 0),
        ("only=timer_latency stress=write footprint=16M", 4, 16 << 20),
    ] {
        let needs = needs(args, 4);
        assert_eq!((needs.tallies, needs.buffer), (tallies, buffer), "{args}");
    }
    let heap = needs("", 8).heap;
    // With a 16 KiB stack step the whole stays below 32 KiB a CPU.
    assert!(heap < 8 * (15 << 10), "{heap}");
}

#[test]
fn a_plan_without_room_is_refused_with_the_bytes_that_lack() {
    let (base, size) = (0x4000_0000, 1 << 30);
    let needs = needs("iterations=100000", 64).heap as u64;
    let found = free_memory::find(&[Region { base, size }], &[], 0, needs);
    let missing = (needs.next_multiple_of(4096) - size) / 1024;
    let said = std::format!("largest free one has 1048576 KiB, {missing} KiB are missing;");
    let error = std::format!("{}", found.expect_err("no room"));
    assert!(error.contains(&said), "{error}");
}
