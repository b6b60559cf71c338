//! From the entry code to the scenarios: console, device tree, memory, devices.

#![forbid(unsafe_code)]

mod console_choice;
mod device_tree;
mod memory;
mod run;
mod setup;

pub use self::run::main;
