//! Reads runs from UART logs and writes reports in many formats. The `psci-report` program is a
//! thin layer over this library, and `cargo xtask` has the same verbs.
//!
//! The crate builds nothing and needs no checkout: board files are embedded in the `boards` crate.
//! [`follow`] needs no feature, because the first build of `cargo xtask`, which runs machines, has
//! none.
//!
//! ```
//! use std::fs::File;
//! use report::export::{Report, by_name};
//!
//! let log = File::open("../../docs/samples/kvm-guest-gicv3.log")?;
//! let runs = report::read("kvm-guest-gicv3.log", log)?;
//! assert_eq!(runs.len(), 1);
//!
//! let mut page = Vec::new();
//! let markdown = by_name("md").expect("a format");
//! markdown.write(&Report::from(runs), &mut page)?;
//! assert!(String::from_utf8(page)?.contains("QEMU virt"));
//! # anyhow::Ok(())
//! ```
//!
//! | folder | task |
//! |---|---|
//! | [`log`] | reads logs and published tables into [`log::LoggedRun`] |
//! | [`analysis`] | figures, findings; comparisons, audits of pages, histories |
//! | [`export`] | report formats, one file each |
//! | [`profile`] | profiles, their differences and formats |
//! | [`follow`] | a run in progress: its UART output and how far it got |
//! | [`cli`] | the command line |
//!
//! Each folder imports only from the ones above it.
//!
//! A format always writes the same bytes for the same report. Only [`log::LoggedRun::ns`] converts
//! ticks to time. `Comparison::lacks` must list every part of the baseline that was not compared,
//! because a CI gate would otherwise ignore it.

#![forbid(unsafe_code)]

#[cfg(feature = "documents")]
pub mod analysis;
#[cfg(feature = "documents")]
pub mod cli;
#[cfg(feature = "documents")]
pub mod export;
pub mod follow;
#[cfg(feature = "documents")]
pub mod log;
#[cfg(any(test, feature = "testing"))]
pub mod made_up_run;
#[cfg(feature = "documents")]
pub mod profile;

#[cfg(feature = "documents")]
pub use self::log::read;
