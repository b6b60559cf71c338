//! Profiles: where the instructions of PSCI calls go, by firmware function.
//!
//! ```text
//! crates/plugins/profile ─ QEMU's plugin: executed blocks, stores of timestamps -> record
//! record ────────── record -> executions
//! code ──────────── bl31.elf -> functions, timestamps
//! calls ─────────── executions -> calls: stacks between timestamps
//! samples ───────── the calls that are a run's samples
//! profile ───────── Profile: scenario, phase, CPU, stack -> instructions
//! run ───────────── a run with the plugin -> Profile
//! difference ────── two profiles -> changes; beside: of two logs, as sentences
//! document, flame ─ Profile -> tables and flame graphs; export: all formats
//! bisect ────────── the steps of a figure over a range, by halves
//! ledger ────────── commits of a checkout -> profiles -> steps; ledger_export
//! ```

pub mod beside;
mod bisect;
mod calls;
mod checkout;
mod code;
pub mod difference;
mod document;
pub mod export;
mod flame;
pub mod ledger;
pub mod ledger_export;
pub mod profile;
mod record;
pub mod run;
mod samples;
