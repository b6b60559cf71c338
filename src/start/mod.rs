//! Everything between the entry code and the scenarios: the console, device tree, memory and
//! devices.

#![forbid(unsafe_code)]

mod console_choice;
mod device_tree;
mod firmware_answers;
mod run;
mod setup;
mod working_memory;

pub use self::run::main;
