//! Runs on QEMU: the command line, the stream, the verdict and its diagnosis.

pub mod diagnosis;
pub mod host_cpu;
pub mod kvm_host;
mod machine;
pub mod monitor;
pub mod positions;
pub mod run;
pub mod stream;
pub mod symbols;
pub mod timeout;

pub use self::machine::{Firmware, ICOUNT_NS, Level, Machine, PROGRAM, command, preload};
