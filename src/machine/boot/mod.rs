//! Entry code: from reset, CPU_ON or wake-up to Rust, with the MMU, caches and vectors enabled.

pub mod entries;
pub mod exception;
pub mod layout;
