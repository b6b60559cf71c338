//! The command line, one verb per file.

mod bisect;
mod boards;
mod boot_arguments;
mod commits;
mod efi;
mod fip;
mod image;
mod image_source;
mod lab;
mod ledger;
mod main;
mod payload;
mod profile;
mod qemu;
mod repeat;
mod stick;
mod test;
#[cfg(test)]
mod tests;
mod tool;
mod tree;
mod verify;

pub use self::main::{command, main};
