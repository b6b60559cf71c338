//! Runs psci-bench under TF-A's `fvp` platform on a machine that gem5 simulates.
//!
//! gem5 is the user's. The crate writes what the machine boots and its configuration, follows its
//! UART, and promises that a run ends: at the payload's last line, when gem5 exits, or at the time
//! limit.
//!
//! | file | task |
//! |---|---|
//! | `clusters` | how many CPUs each cluster has |
//! | `installation` | the user's gem5 |
//! | `machine` | the machine, as arguments of its configuration `machine.py` |
//! | `boot_files` | what the machine boots |
//! | `diagnosis` | why a run has no last line |
//! | `gem5_verb` | the verb `gem5` |
//! | `program` | the `psci-gem5` program |
//!
//! Each file imports only from files listed above it.

#![forbid(unsafe_code)]

mod boot_files;
mod clusters;
mod diagnosis;
mod gem5_verb;
mod installation;
mod machine;
mod program;

pub use self::program::{command, main};
