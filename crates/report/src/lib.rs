//! Reports: runs in UART logs, in the format that is asked for. The program `psci-report` is a thin
//! layer over this library, and `cargo xtask` has the same verbs.
//!
//! The crate builds and starts nothing, and needs no checkout: board files are embedded in the
//! crate boards.
//!
//! | folder | task |
//! |---|---|
//! | [`log`] | logs and published tables to [`log::LoggedRun`] |
//! | [`analysis`] | figures, findings; comparisons, merged runs, overhead, audits of pages |
//! | [`jobs`] | results and logs of lab engines; runs side by side |
//! | [`export`] | a report in each format, one file for each |
//! | [`profile`] | profiles, their differences and their formats |
//! | [`follow`] | a run in progress: its UART's bytes, and how far it got |
//! | [`cli`] | the command line |
//!
//! A folder imports only from those above it.
//!
//! A format writes the same bytes for the same report; durations become time by
//! [`log::LoggedRun::ns`] alone. A part of the baseline without a change that counts goes to
//! `Comparison::lacks`, or a gate would let it pass.

#![forbid(unsafe_code)]

#[cfg(feature = "documents")]
pub mod analysis;
#[cfg(feature = "documents")]
pub mod cli;
#[cfg(feature = "documents")]
pub mod export;
pub mod follow;
#[cfg(feature = "documents")]
pub mod jobs;
#[cfg(feature = "documents")]
pub mod log;
#[cfg(any(test, feature = "testing"))]
pub mod made_up_run;
#[cfg(feature = "documents")]
pub mod profile;

#[cfg(feature = "documents")]
pub use self::log::read;
