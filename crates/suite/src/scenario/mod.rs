//! The scenarios: which rounds they run, in what order and how often, and which samples they count.

pub(crate) mod bench;
mod calibrate;
mod cell_state;
mod cold_call;
mod contend_sweep;
mod cpu_on;
mod dirty_sweep;
mod fitness;
mod idle_states;
mod loops;
mod masked_time;
mod measure;
mod memory;
mod off;
mod parallel;
mod reached;
mod serial;
mod states;
mod steps;
mod stretch;
mod suite;
mod system_suspend;
#[cfg(test)]
pub(crate) mod tests;
mod timer_latency;
mod trials;
mod wake_race;
mod wakers;

pub use self::bench::Setting;
pub use self::measure::measure;
pub use self::memory::{BLOCK, Needs};
pub use self::states::States;
pub use self::wakers::Wakers;
