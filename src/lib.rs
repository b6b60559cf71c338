//! The portable half of psci-bench: everything that needs no hardware.
//!
//! A device tree becomes a [`board::Board`], the boot arguments a
//! [`plan::Plan`]; [`scenario`] runs rounds on whatever implements
//! [`round::Machine`], [`sample`] decides which outcomes count, [`stats`]
//! sums them up, and [`output`] writes tables, lines and records. The
//! bare-metal half lives in the binary, beside this crate; the host tool
//! uses this crate to read what the payload wrote.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod board;
pub mod caches;
pub mod devices;
pub mod handoff;
pub mod image;
pub mod latency;
mod micro;
mod number;
pub mod output;
pub mod plan;
pub mod pmf;
pub mod point;
pub mod psci;
pub mod report;
pub mod room;
pub mod round;
pub mod sample;
pub mod scenario;
pub mod smccc;
mod sort;
mod stage;
pub mod stat;
pub mod stats;
pub mod verdict;
