//! Device drivers, written as sequences of register accesses over a [`Bus`]. On a machine, the bus
//! uses single loads and stores. In tests, the bus is a model based on the device manual.

pub mod bus;
pub mod gicv2;
pub mod gicv3;
pub mod its;
pub mod private_interrupts;
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
