//! Devices as sequences of register accesses over a [`Bus`]: the machine's is single loads and
//! stores; that of a test is a model of the device that is held against its manual.

pub mod bus;
pub mod gicv2;
pub mod gicv3;
mod private_interrupts;
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
