//! Definitions from the specifications: PSCI, SMCCC, PMF, PSCI_STAT, caches, counters, timers,
//! interrupt IDs and affinities.

pub mod caches;
pub mod counter;
pub mod counter_value;
pub mod gic_version;
pub mod int_id;
pub mod mpidr;
pub mod pmf;
pub mod psci;
pub mod region;
pub mod smccc;
pub mod stat;
pub mod ticks;
