//! Vocabulary of the specifications: PSCI, SMCCC, PMF, PSCI_STAT, caches, counters.

pub mod caches;
pub mod counter;
pub mod number;
pub mod pmf;
pub mod psci;
pub mod region;
pub mod smccc;
pub mod sort;
pub mod stat;
