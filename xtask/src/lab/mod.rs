//! Jobs for lab engines: LAVA and labgrid.
//!
//! This tool writes the input for the engines, and the engines run the jobs. `docs/ci/lab.sh` runs
//! both engines on this host, and decides whether the jobs passed.

pub(crate) mod job;
mod monitors;
mod templates;

pub(crate) use self::job::Engine;
