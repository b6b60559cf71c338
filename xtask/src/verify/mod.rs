//! Checks cache maintenance, which QEMU alone cannot: the plugin `crates/plugins/coherence` checks
//! whole runs, and it must find mutations of the payload.

pub mod findings;
pub mod mutations;
pub mod run;
