//! The program under test.

pub use test_support::*;

/// The path of `psci-idle-audit`.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_psci-idle-audit");
