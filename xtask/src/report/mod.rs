//! Reports: what one or many UART logs say, in the format that is asked for.
//!
//! ```text
//! read ──── logs -> Report: clean, then records, TFTF's and firmware's lines
//! model ─── Report, Run, Test, Row: what all of the below take
//! merge ─── several runs of one board -> one table
//! midr ──── names of CPUs
//! format ── Report -> bytes, by an Exporter each
//! ```
//!
//! # To add an exporter
//! A file in `format/` with a type that implements [`format::Exporter`], and
//! its place in [`format::ALL`]. It takes a [`Report`] and nothing else, has
//! no state, and writes the same bytes for the same report. Durations become
//! time by [`model::Run::ns`] alone. A golden file of it in
//! `xtask/tests/data/report/expected` is a test of a few lines in
//! `xtask/tests/report.rs`.
//!
//! # To add a comparison
//! A module beside [`merge`]. Take two [`model::Run`]s; pair tests by
//! scenario, method and `power_state`, rows by [`model::Cpu::mpidr`] (or by
//! labels where one side is a TFTF log), and never by position. What can not
//! be compared is a refusal with a name, as [`merge::Refusal`]. Summaries are
//! `psci_bench::stats::Summary`: integers of ticks.
//!
//! # To add a finding
//! A function from [`model::Run`] and [`model::Test`] to sentences, in a
//! module of its own. [`model::Row::event`] has the instants: who was last man
//! is told by the order of `Point::Stamp(EnterHwLowPwr)` in
//! [`model::Instants::counter`], never by the size of a figure. Findings that
//! the payload printed are in [`model::Test::findings`].
//!
//! # To read a new record
//! A later payload's types, keys and words come through as [`model::Term`]s
//! and `others` without a change here. To give one a field of its own:
//! `read/fields.rs`.

pub mod format;
pub mod merge;
pub mod midr;
pub mod model;
pub mod read;

pub use self::model::Report;
pub use self::read::read;
