//! Runs a scenario's rounds and keeps its valid samples.

mod bench;
mod board_states;
pub(crate) mod calibrate;
pub(crate) mod cell_state;
pub(crate) mod loops;
pub(crate) mod memory;
mod off;
mod parallel;
pub(crate) mod reached;
mod request;
mod serial;
pub(crate) mod states;
pub(crate) mod step_rounds;
pub(crate) mod steps;
pub(crate) mod tftf_suite;
pub(crate) mod trials;
mod waits;
pub(crate) mod wake_sources;
pub(crate) mod windows;

pub(crate) use self::bench::{
    AttemptUse, Bench, BenchRoom, FIRST_QUIET_US, LONGEST_QUIET_US, lead_in, too_few,
};
pub use self::memory::{BLOCK, Needs};
pub use self::request::{Request, Setting, measure};
pub use self::states::States;
pub use self::wake_sources::WakeSources;
