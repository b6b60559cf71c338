//! Profiles, which show how the instructions in PSCI calls are distributed across firmware
//! functions. The `attribution` crate makes a profile from a run that this folder starts.

pub mod run;
