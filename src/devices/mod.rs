//! Devices as sequences of register accesses.
//!
//! The values that are written to a device, their order and the waits between
//! them need no hardware to be tested. So the drivers are here, over a [`Bus`]:
//! the machine's bus is single loads and stores; the bus of a test is a model of
//! the device that is held against its manual.

pub mod bus;
pub mod gicv2;
pub mod redistributor;
pub mod register;
pub mod sgi;
pub mod spi;
pub mod timer_frame;
pub mod uart;
pub mod watchdog;

#[cfg(test)]
mod fake;

pub use self::bus::{Bus, Width};
