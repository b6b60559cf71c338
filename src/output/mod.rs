//! What a run prints for people: TFTF's frame, tables, the last line.

mod frame;
mod grid;
mod header;
mod latency;
mod points;
mod run;
// Branch `scen` has it for the new model.
// mod run_all;
mod status;
mod summary;
mod sweeps;
mod tables;
#[cfg(test)]
mod tests;

pub use self::run::{begin_scenario, closing, cut_short, header, list, scenario, wake_trials};
pub use self::summary::Summary;
