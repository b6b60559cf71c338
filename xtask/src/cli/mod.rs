//! The command line.

mod boards;
mod chosen_runs;
mod common;

mod fip;
mod image;
mod image_source;
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
