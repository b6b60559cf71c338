//! The command line.

mod arguments;
mod boards;
mod files;
pub mod fip;
mod image;
mod lab;
mod main;
mod overhead;
mod qemu;
mod report;
mod soak;
pub mod test;

pub use self::main::main;
