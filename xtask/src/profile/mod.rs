//! Profiles, which show how the instructions in PSCI calls are distributed across firmware
//! functions.
//!
//! ```text
//! crates/plugins/profile ─ QEMU's plugin: executed blocks, timestamp stores -> record
//! record ────────── record -> executions
//! code ──────────── bl31.elf -> functions, timestamps
//! decode ────────── instruction -> event, such as a barrier
//! calls ─────────── executions -> calls: stacks between timestamps
//! samples ───────── the calls that are a run's samples
//! attribute ─────── samples -> report's Profile: scenario, phase, CPU, stack
//! run ───────────── a run with the plugin -> Profile
//! ```

mod attribute;
mod calls;
mod code;
mod decode;
mod record;
pub mod run;
mod samples;

pub use self::attribute::{attribute, of_log};
