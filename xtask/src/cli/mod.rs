//! The command line.

mod boards;
mod common;
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
mod test;
#[cfg(test)]
mod tests;
mod verify;

pub use self::main::main;
