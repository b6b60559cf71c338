//! Checks for all code that reads untrusted input. Each check accepts arbitrary bytes, and panics
//! if the code under test panics or if the result violates an invariant.
//!
//! This crate's tests run the checks with mutated seeds. cargo-fuzz runs them under libFuzzer
//! (`fuzz/fuzz_targets`).

#![forbid(unsafe_code)]

pub mod acpi;
pub mod board_toml;
pub mod device_tree;
pub mod fip;
pub mod image;
pub mod uart_log;
pub mod user_tree;

/// A function that checks one input.
pub type Check = fn(&[u8]);

/// All checks, by name.
pub const TARGETS: [(&str, Check); 7] = [
    ("fip", fip::check),
    ("device_tree", device_tree::check),
    ("user_tree", user_tree::check),
    ("acpi", acpi::check),
    ("uart_log", uart_log::check),
    ("board_toml", board_toml::check),
    ("image", image::check),
];
