//! The only program in the minimal Linux system that runs psci-bench as a KVM guest.
//!
//! As PID 1, it checks that KVM is available, starts the virtual machine monitor (VMM) specified in
//! `/vmm`, prints how the VMM ended, and powers off the machine. When called as `/init vmm …`, it
//! acts as a VMM that uses the kvmtool layout ([`vmm`]).
//!
//! It promises that the machine always powers off, and that the last line tells whether the guest
//! was run.
//!
//! The program's own messages start with `kvm-host: `. The last message is `kvm-host: the VMM ended
//! with exit code N`. `cargo xtask` reads these lines.

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
