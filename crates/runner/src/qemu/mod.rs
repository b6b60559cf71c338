//! Runs on QEMU: command line, output, verdict and diagnosis.

pub mod boot;
mod command_line;
pub mod consoles;
pub mod diagnosis;
mod guest_samples;
pub mod host_cpu;
pub mod loader;
mod machine;
pub mod machine_process;
pub mod monitor;
pub mod positions;
pub mod prepare;
pub mod prepared;
pub mod run_arguments;
pub mod run_result;
pub mod run_spec;
pub mod shown_run;
pub mod symbols;
mod tftf_verdict;
pub mod timeout;
pub mod validated_run;

pub use self::command_line::{CommandLine, PROGRAM, command, preload_option};
pub use self::machine::{ICOUNT_NS, QemuMachine};
pub use self::run_spec::Level;
