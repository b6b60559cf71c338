//! The executing CPU: registers, single instructions, cache lines, cycle counter.

pub mod cache_lines;
pub mod cycle_counter;
pub mod instructions;
pub mod power_mark;
pub mod registers;
pub mod sysreg;
