//! The command line, one verb per file.

mod bisect;
mod boards;
mod commits;
mod efi;
mod fip;
mod image;
mod ledger;
mod main;
mod payload;
mod profile;
mod qemu;
mod repeat;
mod signer_arguments;
mod stick;
mod test;
#[cfg(test)]
mod tests;
mod tool;
mod tree;

pub use self::main::{command, main};
