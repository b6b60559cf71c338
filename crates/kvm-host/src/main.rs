//! The one program of the Linux that runs psci-bench as a guest under KVM.
//!
//! As process 1 it sees to it that there is KVM, starts the virtual machine
//! monitor that the file `/vmm` names, says how that ended, and turns the
//! machine off. Called as `/init vmm …` it is such a monitor itself: one with
//! kvmtool's layout ([`vmm`]).
//!
//! All that it says of itself are lines that begin with `kvm-host: `, the last
//! one `kvm-host: the VMM ended with exit code N`: `cargo xtask` reads them.

mod host;
mod vmm;

use std::env;
use std::process::{self, ExitCode};

fn main() -> ExitCode {
    if process::id() == 1 {
        host::run();
    }
    let arguments: Vec<String> = env::args().skip(1).collect();
    match vmm::run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            host::say(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}
