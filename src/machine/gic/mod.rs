//! The interrupt controller: wake-up SGIs and timer interrupts.

pub mod controller;
pub mod its;
pub mod secure_interrupt;
pub mod target;
pub mod v2;
pub mod v3;
