//! The portable half of psci-bench: everything that needs no hardware.
//!
//! A device tree becomes a [`crate::board::Board`], the boot arguments a
//! [`crate::plan::Plan`]; [`scenario`] runs rounds on whatever implements
//! [`crate::measure::Machine`], [`sample`] decides which outcomes count, [`stats`]
//! sums them up, and [`output`] writes tables, lines and records. The
//! bare-metal half lives in the binary, beside this crate; the host tool
//! uses this crate to read what the payload wrote.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod board;
pub mod devices;
pub mod findings;
pub mod image;
pub mod measure;
pub mod model;
pub mod output;
pub mod plan;
pub mod record;
pub mod scenario;
pub mod spec;
