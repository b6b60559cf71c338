//! Attributes the instructions and events in PSCI calls to firmware functions.
//!
//! The crate promises that a profile contains every instruction that the firmware executed between
//! a sample's timestamps, exactly once. A record that is damaged or incomplete, or that does not
//! match the log, is an error, never a profile with gaps.
//!
//! The record is written by a QEMU plugin (`crates/plugins/profile`).
//!
//! | file | task |
//! |---|---|
//! | `record_format` | the record's events, as the plugin defines them |
//! | `record` | reads a record: executed blocks and their memory accesses |
//! | `decode` | finds the event that an instruction causes, such as a barrier |
//! | `code` | reads `bl31.elf`: functions and the addresses of timestamps |
//! | `memory_events` | finds the events that depend on the caches |
//! | `calls` | divides executions into calls, with stacks between timestamps |
//! | `samples` | finds the calls that are a run's samples |
//! | `attribute` | builds the report's profile: scenario, phase, CPU, stack |
//!
//! Each file imports only from the files above it.

#![forbid(unsafe_code)]

mod attribute;
mod calls;
mod code;
mod decode;
mod memory_events;
mod record;
#[path = "../../plugins/profile/src/record_format.rs"]
mod record_format;
mod samples;

pub use self::attribute::{attribute, attribute_log};
pub use self::code::Code;
