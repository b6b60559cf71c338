//! Runs scenarios on a [`run::measure::Machine`] and prints their results.
//!
//! This crate does not access hardware or define result types; those are in [`run::model`].
//!
//! ```
//! use std::sync::atomic::AtomicU64;
//!
//! use hardware::board::IdleStates;
//! use run::model::{Run, Verdict};
//! use run::plan::Plan;
//! use run::testing::{example, fake::Fake};
//! use suite::output::run_all;
//! use sync::Heap;
//!
//! let plan = Plan::parse("only=psci_version_parallel").expect("valid arguments");
//! let run = Run { plan: Some(plan), ..example::run(4) };
//! let mut uart = String::new();
//! let (mut machine, states) = (Fake::new(4), IdleStates::default());
//! let (heap, samples) = (Heap::new(|| true), AtomicU64::new(0));
//! let verdict = run_all(&mut machine, run, &states, &mut uart, &heap, &samples);
//! assert_eq!(verdict, Ok(Verdict::Pass));
//! assert!(uart.contains("<RT_INSTR:"));
//! assert!(uart.contains("psci-bench: PASS (1 passed"));
//! ```
//!
//! | folder | task |
//! |---|---|
//! | [`scenario`] | runs rounds and keeps valid samples |
//! | [`output`] | prints a run for human readers |
//!
//! Each folder imports only from those above it.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod output;
pub mod scenario;
