//! Checks cache maintenance, which QEMU cannot check by itself.
//!
//! A QEMU plugin passes the memory accesses of complete runs to a cache model that may do whatever
//! the architecture permits. The crate promises that each load in a run that may return a stale
//! value on hardware is reported, within the limits that README.md lists, and that a check counts
//! only if it also detects mutations of the payload.
//!
//! | file | task |
//! |---|---|
//! | `findings` | the plugin's findings, with function names |
//! | `mutations` | mutations of the payload image |
//! | `run` | runs under the plugin |
//! | `verify` | the `verify` verb |
//! | `program` | the `psci-coherence` program |
//!
//! Each file imports only from files listed above it. The packages in `plugin` and `cache-model`
//! are the QEMU plugin and the model.

#![forbid(unsafe_code)]

mod findings;
mod mutations;
mod program;
mod run;
mod verify;

pub use self::program::{command, main};
