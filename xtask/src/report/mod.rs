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
//! # To add a format
//! A file in `export/` with a function of the type in [`export::Writer`], and its line in
//! [`export::ALL`]. It takes a [`export::Report`] and nothing else, has no state, and
//! writes the same bytes for the same report. Durations become time by
//! [`log::LoggedRun::ns`] alone. Its golden file is a line in
//! `xtask/tests/command/report/formats.rs`.
//!
//! # To add to a comparison
//! [`analysis::compare`] pairs scenarios by ID, method and helper, and CPUs by MPIDR
//! or by labels, never by position. `analysis/conditions.rs` lists what two runs must
//! share. A part of the baseline without a change that counts goes to
//! `Comparison::lacks`, or a gate would let it pass.
//!
//! # To add a finding
//! [`psci_bench::findings`] has those that the payload prints, too. One that needs
//! more than a board's integers is a function from run and scenario to findings in the
//! list of `analysis/findings.rs`.

pub mod analysis;
pub mod export;
pub mod jobs;
pub mod log;

pub use self::log::read;
