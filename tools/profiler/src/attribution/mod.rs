//! Builds a profile from a run's log and the record of a QEMU plugin (`plugin/`).
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

mod attribute;
mod calls;
mod code;
mod decode;
mod memory_events;
mod record;
#[path = "../../plugin/src/record_format.rs"]
mod record_format;
mod samples;

pub use self::attribute::{attribute, attribute_log};
pub use self::code::Code;
