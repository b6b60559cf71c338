//! Checks cache maintenance, which QEMU cannot do by itself: the plugin `crates/plugins/coherence`
//! checks complete runs, and it must detect mutations of the payload.

pub mod findings;
pub mod mutations;
pub mod run;
