//! Attributes the instructions and events in PSCI calls to firmware functions.
//!
//! ```text
//! crates/plugins/profile ─ QEMU's plugin: executed blocks, memory accesses -> record
//! record ────────── record -> executions
//! code ──────────── bl31.elf -> functions, timestamps
//! decode ────────── instruction -> event, such as a barrier
//! memory_events ─── fetches and accesses -> events that depend on the caches
//! calls ─────────── executions -> calls: stacks between timestamps
//! samples ───────── the calls that are a run's samples
//! attribute ─────── samples -> report's Profile: scenario, phase, CPU, stack
//! ```

#![forbid(unsafe_code)]

mod attribute;
mod calls;
mod code;
mod decode;
mod memory_events;
mod record;
mod samples;

pub use self::attribute::{attribute, of_log};
pub use self::code::Code;
