//! Reads runs from UART logs and published tables, and writes reports in many formats.
//!
//! The crate promises its users:
//!
//! * **No wrong figure.** A figure from a record is as sent, because every record has a checksum.
//!   A figure from any other line of a log is marked as not verified.
//! * **No silent loss.** [`log::LoggedRun::lacks`] lists everything that is missing from a log.
//!   `Comparison::lacks` lists every part of the baseline that was not compared, so a CI gate never
//!   passes because something is missing.
//! * **Same input, same bytes.** A format always writes the same bytes for the same report.
//! * **No trust in the input.** Text from a log cannot become markup, a script or an escape
//!   sequence, and limits keep damaged or endless input from filling the memory.
//! * **No checkout, no network.** Board files are embedded in the `boards` crate.
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
//! | [`analysis`] | figures, findings; comparisons, histories |
//! | [`export`] | report formats, one file each |
//! | `serial` | a serial port whose run is followed |
//! | [`cli`] | the command line of `psci-report`; `cargo xtask` has the same verbs |
//!
//! Each folder imports only from the ones above it. Printed durations are converted from ticks by
//! [`suite::model::FigureScale`] or, in sentences, by [`hardware::spec::ticks::Clock::span`].
//! [`log::LoggedRun::ns`] truncates, as RT_INSTR lines do.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod cli;
pub mod export;
pub mod log;
mod serial;
#[cfg(any(test, feature = "testing"))]
pub mod synthetic_run;

pub use self::log::read;
