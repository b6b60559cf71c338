//! Defines what a run is, for the payload that performs it and for programs that read its log.
//!
//! This crate does not take measurements or print tables; that is the suite crate's job, through
//! [`measure::Machine`]. It does not read logs either; that is the report crate's job.
//!
//! ```
//! use run::model::RunId;
//! use run::plan::{Plan, Records, ScenarioId};
//! use run::record::{Claim, Record, Writer};
//!
//! // The payload parses boot arguments and writes records.
//! let plan = Plan::parse("only=susp_deep_serial iterations=100").expect("valid arguments");
//! assert!(plan.scenarios.contains(ScenarioId::SuspendDeepSerial));
//! let mut line = String::new();
//! let mut writer = Writer::new(Records::Once, RunId::default());
//! writer.write(&mut line, Record::Plan(plan)).expect("writing to a String cannot fail");
//!
//! // A log reader accepts a record if its checksum is correct.
//! let claim = Claim::of(line.as_bytes()).expect("a well-formed record");
//! assert!(claim.is_sound());
//! assert_eq!(claim.record(), Some(Record::Plan(plan)));
//! let damaged = line.replace(":100,", ":900,");
//! assert!(!Claim::of(damaged.as_bytes()).expect("still well-formed").is_sound());
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
//!
//! Each folder imports only from the folders above it. The `testing` feature adds a fake machine
//! and an example run for the tests of other crates.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod crc;
pub mod findings;
pub mod hex;
pub mod measure;
pub mod model;
pub mod plan;
pub mod record;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
