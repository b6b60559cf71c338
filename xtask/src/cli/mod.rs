//! The command line.

mod boards;
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
mod soak;
mod stick;
mod test;
#[cfg(test)]
mod tests;
mod tree;
mod verify;

pub use self::main::main;
