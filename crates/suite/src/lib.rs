//! Defines what a run is, performs it, and prints its results.
//!
//! The payload performs a run on a [`measure::Machine`]; programs that read its log use the same
//! plan, model and tables. The crate promises:
//!
//! * A run ends: each round takes a bounded time, and each step a bounded number of attempts.
//! * Medians and percentiles are samples, or the lower bounds of histogram bins.
//! * Every attempt after warm-up is a sample or is counted under one [`measure::Reason`].
//! * An idle state that powers down or stops timers is tried before it is measured. After a loss,
//!   no scenario measures it or a deeper one. A lost CPU takes no part in later rounds.
//! * [`bench::Needs`] is enough memory for the whole run, and no round allocates any.
//! * [`record::RunBuilder`] returns the run that was given to [`record::Writer`], except that an
//!   overlong board name is cut. If records are lost, only what they contained is missing.
//! * Nothing is random: an emulator that counts instructions gives the same text every time.
//!
//! The crate does not access hardware, read log files, or decide whether a figure is good.
//!
//! ```
//! use std::sync::atomic::AtomicU64;
//!
//! use hardware::board::IdleStates;
//! use suite::model::{Run, Verdict};
//! use suite::run_all;
//! use suite::plan::Plan;
//! use suite::testing::{fake::Fake, synthetic};
//! use sync::Heap;
//!
//! let plan = Plan::parse("only=psci_version_parallel").expect("valid arguments");
//! let run = Run { plan: Some(plan), ..synthetic::run(4) };
//! let mut uart = String::new();
//! let (mut machine, states) = (Fake::new(4), IdleStates::default());
//! let (heap, samples) = (Heap::new(|| true), AtomicU64::new(0));
//! let verdict = run_all(&mut machine, run, &states, &mut uart, &heap, &samples);
//! assert_eq!(verdict, Ok(Verdict::Pass));
//! assert!(uart.contains("psci-bench: PASS (1 passed"));
//! ```
//!
//! | folder | task |
//! |---|---|
//! | [`crc`], [`hex`] | the checksum of records, and the numbers in them |
//! | [`plan`] | reads boot arguments |
//! | [`measure`] | rounds, outcomes, samples and their statistics |
//! | [`model`] | scenarios, cells and their series, the verdict |
//! | [`findings`] | sentences based on the figures |
//! | [`record`] | machine-readable lines, each with a checksum |
//! | [`bench`](mod@bench) | runs a scenario's rounds and keeps valid samples |
//! | [`scenarios`] | the scenarios, one file each, and the list of them |
//! | [`output`] | prints a run for human readers |
//! | [`run_all`](fn@run_all) | performs a run: measures, prints and records each scenario |
//!
//! Each folder imports only from those above it. `testing` has a fake machine and a synthetic run.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod bench;
pub mod crc;
pub mod findings;
pub mod hex;
pub mod measure;
pub mod model;
pub mod output;
pub mod plan;
pub mod record;
mod run_all;
pub mod scenarios;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use self::run_all::run_all;
