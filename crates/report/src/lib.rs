//! Reports: runs of UART logs, in the format that is asked for.
//!
//! ```text
//! log ────── logs -> LoggedRun: clean, then records, TFTF's and firmware's lines;
//!            tables: published tables -> LoggedRun
//! analysis ─ figures of rows and points; findings; compare: a run beside a
//!            baseline; merge: several runs of one board -> one table; overhead:
//!            a run beside one under firmware without PMF; worst cases
//! jobs ───── results and logs of lab engines; matrix: runs side by side, by board and
//!            firmware; outcome of jobs
//! export ─── Report -> bytes, a file a format; document: the blocks that text, md,
//!            rst and html draw
//! ```
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
