//! The payload's output and verdicts under QEMU. Each module covers one topic. All modules form a
//! single program, which is linked only once.

#[path = "../common/mod.rs"]
mod common;

mod contract;
mod explanations;
mod faults;
mod figures;
mod first_boot;
mod first_run;
mod fitness;
mod gaps;
mod hostile;
mod identity;
mod ipi_wake;
mod lead_watchdog;
mod masked_time;
mod matrix;
mod secure_payload;
mod settling;
mod stress;
mod sweeps;
mod timer;
mod wake;
mod wake_race;
