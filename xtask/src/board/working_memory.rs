//! The memory that the payload works in.

/// Least working memory: so much, and so much again a CPU.
const WORKING_BASE: u64 = 64 << 10;

const WORKING_CPU: u64 = 32 << 10;

/// The least working memory for `cpus` CPUs, in bytes.
#[must_use]
pub fn working_memory(cpus: u32) -> u64 {
    WORKING_BASE + WORKING_CPU * u64::from(cpus)
}
