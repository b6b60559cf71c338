//! Vocabulary of the specifications: PSCI, SMCCC, PMF, PSCI_STAT, caches, counters; checksums.

pub mod bump;
pub mod caches;
pub mod counter;
pub mod crc;
pub mod format_error;
pub mod hex;
pub mod pmf;
pub mod prose;
pub mod psci;
pub mod region;
pub mod smccc;
pub mod stat;
pub mod ticks;
pub mod timer;
pub mod words;
