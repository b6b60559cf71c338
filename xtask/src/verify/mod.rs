//! Checks cache maintenance, which QEMU alone cannot do: the plugin `crates/plugins/coherence`
//! checks whole runs, and it must detect mutations of the payload.

pub mod findings;
pub mod mutations;
pub mod run;
