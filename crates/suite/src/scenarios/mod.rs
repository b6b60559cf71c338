//! The scenarios: what each one is, which rounds it runs, and which samples it counts.

mod cold_call;
mod contend_sweep;
mod cpu_on;
mod descriptor;
mod dirty_sweep;
mod fitness;
mod gaps;
mod idle_states;
mod ipi_wake;
mod list;
mod loops;
mod masked_time;
mod stress;
mod system_suspend;
#[cfg(test)]
pub(crate) mod tests;
mod tftf_scenarios;
mod timer_latency;
mod timer_lines;
mod wake_race;

pub use self::descriptor::{ColdVariants, Descriptor};
pub use self::fitness::rules;
pub use self::list::SCENARIOS;
pub use self::wake_race::RaceEnding;
