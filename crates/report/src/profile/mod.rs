//! Profiles: instructions per PSCI call by firmware function, as recorded by `cargo xtask profile`.

mod call_tree;
pub mod difference;
pub mod document;
pub mod event;
pub mod export;
mod flame;
pub mod profile;
pub mod profile_of_log;
mod shade;
