//! The command line.

mod boot_arguments;
mod first_verb;
#[cfg(feature = "full")]
mod full;
#[cfg(not(feature = "full"))]
mod full_program;
mod main;
mod qemu;
mod repeat;
mod test;

pub use self::main::{command, main};
