//! Profiles, which show how the instructions in PSCI calls are distributed across firmware
//! functions.
//!
//! ```text
//! crates/plugins/profile ─ QEMU's plugin: executed blocks, timestamp stores -> record
//! record ────────── record -> executions
//! code ──────────── bl31.elf -> functions, timestamps
//! calls ─────────── executions -> calls: stacks between timestamps
//! samples ───────── the calls that are a run's samples
//! attribute ─────── samples -> report's Profile: scenario, phase, CPU, stack
//! run ───────────── a run with the plugin -> Profile
//! bisect ────────── bisects a range to find the steps in a figure
//! ledger ────────── commits of a checkout -> profiles -> steps; ledger_export
//! ```

mod attribute;
mod bisect;
mod calls;
mod code;
pub mod ledger;
pub mod ledger_bench;
pub mod ledger_export;
mod record;
pub mod run;
mod samples;

pub use self::attribute::{attribute, of_log};
