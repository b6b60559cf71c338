//! The command line.

mod boards;
mod common;
mod efi;
mod fip;
mod image;
mod lab;
mod ledger;
mod main;
mod overhead;
mod profile;
mod qemu;
mod report;
mod report_verdict;
mod soak;
mod stick;
mod test;
#[cfg(test)]
mod tests;
mod tree;
mod verify;

pub use self::main::main;
