//! Jobs for lab engines: LAVA and labgrid.
//!
//! The crate writes the input for the engines, and the engines run the jobs. It promises that a job
//! is written completely or not at all, that an existing job is never replaced, and that a plan
//! whose result an engine could not read is rejected. `lab.sh` runs both engines on this host and
//! decides whether the jobs passed.
//!
//! | file | task |
//! |---|---|
//! | `monitors` | what a LAVA job looks for in the UART output |
//! | `templates` | the files that engines read |
//! | `job` | a job's folder |
//! | `lab_verb` | `lab lava` and `lab labgrid` |
//! | `program` | the `psci-labs` program |
//!
//! Each file imports only from files listed above it.

#![forbid(unsafe_code)]

mod job;
mod lab_verb;
mod monitors;
mod program;
mod templates;

pub use self::program::{command, main};
