//! Checks of what QEMU cannot show: cache maintenance, by the plugin `crates/plugins/coherence` on whole
//! runs, and by mutations of the payload that it must find.

pub mod findings;
pub mod mutations;
pub mod run;
