//! Attributes the instructions and events of PSCI calls to firmware functions, and finds the commits
//! of TF-A that change them.
//!
//! The crate promises that a profile contains every instruction that the firmware executed between
//! a sample's timestamps, exactly once. A record that is damaged or incomplete, or that does not
//! match the log, is an error, never a profile with gaps. A ledger names each commit that could not
//! be built or run.
//!
//! | folder | task |
//! |---|---|
//! | [`profile`] | profiles, their differences and formats |
//! | [`attribution`] | a profile from a run's log and a QEMU plugin's record |
//! | [`profiled_run`] | a run under the plugin |
//! | [`commits`] | profiles and checks across a range of commits |
//! | [`cli`] | the verbs `profile`, `ledger` and `bisect` |
//!
//! Each folder imports only from the folders above it. The plugin is in `plugin/`.

#![forbid(unsafe_code)]

pub mod attribution;
pub mod cli;
pub mod commits;
#[cfg(test)]
mod page_tests;
pub mod profile;
pub mod profiled_run;
