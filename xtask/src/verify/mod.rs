//! Checks cache maintenance, which QEMU cannot check by itself. The plugin in
//! `crates/plugins/coherence` checks complete runs, and must detect mutations of the payload.

pub mod findings;
pub mod mutations;
pub mod run;
