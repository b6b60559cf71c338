//! The memory that plans need.

use super::*;
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
