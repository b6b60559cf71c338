//! Reports: what one or many UART logs say, in the format that is asked for.
//!
//! ```text
//! model ──── Run, Test, Row: what all of the below take
//! log ────── logs -> runs: clean, then records, TFTF's and firmware's lines;
//!            tables: published tables -> Run
//! analysis ─ figures of rows and points; findings; compare: a run beside a
//!            baseline; merge: several runs of one board -> one table; overhead:
//!            a run beside one under firmware without PMF; worst cases
//! jobs ───── what lab engines give: results, and logs; matrix: runs side by
//!            side, by board and firmware; outcome: what jobs come to
//! export ─── Report -> bytes, by an Exporter each
//! ```
//!
//! # To add an exporter
//! A file in `export/` with a type that implements [`export::Exporter`], and
//! its place in [`export::ALL`]. It takes a [`Report`] and nothing else, has
//! no state, and writes the same bytes for the same report. Durations become
//! time by [`model::Run::ns`] alone. A golden file of it in
//! `xtask/tests/data/report/expected` is a test of a few lines in
//! `xtask/tests/report/formats.rs`.
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
//!
//! # To read a new record
//! A later payload's types, keys and words come through as [`model::Term`]s
//! and `others` without a change here. To give one a field of its own:
//! `log/fields.rs`.

pub mod analysis;
pub mod export;
pub mod jobs;
pub mod log;

pub use self::log::read;
