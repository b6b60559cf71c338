//! The interrupt controller: wake-up SGIs and the interrupts of timers.

pub mod controller;
pub mod target;
pub mod v2;
pub mod v3;
