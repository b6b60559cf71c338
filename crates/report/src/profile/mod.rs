//! Profiles: the instructions of PSCI calls by firmware function. `cargo xtask profile` makes them.

pub mod beside;
pub mod difference;
pub mod document;
pub mod export;
mod flame;
pub mod profile;
