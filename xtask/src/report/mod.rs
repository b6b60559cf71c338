//! Reports: what one or many UART logs say, in the format that is asked for.
//!
//! ```text
//! model ──── Run, Test, Row: what all of the below take
//! log ────── logs -> runs: clean, then records, TFTF's and firmware's lines;
//!            tables: published tables -> Run
//! analysis ─ explain: what figures show, in findings; compare: a run beside a
//!            baseline; merge: several runs of one board -> one table; overhead:
//!            a run beside one under firmware without PMF; fit: points over what
//!            was varied, and lines through them
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
//! `xtask/tests/report.rs`.
//!
//! # To add to a comparison
//! [`analysis::compare`] pairs a run with a baseline: tests by scenario and method, rows
//! by [`model::Cpu::mpidr`] or by labels, and never by position. An exporter
//! finds it in [`Report::comparisons`], and the run in question by its index;
//! without a baseline there is none. Whether a change counts is
//! [`Outcome`](analysis::compare::Outcome), and
//! [`ComparedTest::changes`](analysis::compare::ComparedTest::changes) are those
//! that a verdict is made of. Whatever the baseline has and no such change is of
//! goes to [`Comparison::lacks`](analysis::compare::Comparison::lacks), or a gate would let it pass.
//!
//! # To add a finding
//! A function from [`model::Run`] and [`model::Test`] to
//! [`Finding`](analysis::explain::Finding)s, in a module of
//! [`analysis::explain`]; exporters get all of them by its `explain`. [`model::Row::event`] has the instants: who
//! was last man is told by the order of `Point::Stamp(EnterHwLowPwr)` in
//! [`model::Instants::counter`], never by the size of a figure. Findings that
//! the payload printed are in [`model::Test::findings`].
//!
//! # To read a new record
//! A later payload's types, keys and words come through as [`model::Term`]s
//! and `others` without a change here. To give one a field of its own:
//! `log/fields.rs`.

pub mod analysis;
pub mod jobs;
pub mod log;

pub use self::log::read;
