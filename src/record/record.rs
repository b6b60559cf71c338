//! Records: lines of JSON, each with a checksum, from which a host reads the
//! [`Run`](crate::model::Run) back.
//!
//! ```text
//! @PB 0002 {"cpu":[0,{"mpidr":"0x0","cluster":0,"core":0,"thread":0}]} a3174c64
//! ```
//!
//! A line is `@PB SEQ JSON CRC`, separated by single blanks, in ASCII, of at most
//! [`LINE_MAX`] bytes.
//! * SEQ counts the records of a run from 0, in decimal, with at least four digits.
//! * JSON is one [`Record`]. It contains no `@`, and numbers are integers:
//!   durations are in ticks, masks and MPIDRs are strings in hexadecimal.
//! * CRC is the CRC-32 ([`super::crc`]) of all bytes before the blank in front
//!   of it, in eight hexadecimal digits.
//!
//! A scenario's records follow its tables, so that a run that is cut short keeps
//! what it had.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::packed;
use crate::measure::{Facts, Identity};
use crate::model::{
    Cpu, CpuSet, End, Finding, Head, Instants, Point, Row, Sample, Scenario, ScenarioKey, Spread,
    Statistic,
};
use crate::plan::Plan;

/// Version of the format, as [`Head::format`] gives it. The version must change when
/// [`Plan`] or [`Facts`] gains a field without a serde default, or when the meaning
/// of any field changes: older records would be refused or misread.
pub const FORMAT: u32 = 3;

/// The beginning of a record.
pub const MARK: &str = "@PB ";

/// Bytes of the longest line, without its end.
pub const LINE_MAX: usize = 1_000;

/// Digits of the checksum.
pub(crate) const CRC_DIGITS: usize = 8;

/// A part of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// The payload and the board.
    Run(Head),
    /// The machine.
    Facts(Facts),
    /// The boot arguments.
    Plan(Plan),
    /// A CPU by its index in the board's order; the lead with its identity.
    Cpu(u16, Cpu),
    /// A scenario without its rows, points and findings.
    Scenario(Scenario),
    /// A row without samples, in a short form; parts that do not fit follow by themselves.
    Row(ScenarioKey, #[serde(with = "packed")] Row),
    /// Statistics of a row, by the index of its CPU.
    Statistics(ScenarioKey, u16, Vec<Statistic>),
    /// The sample that a row shows, by the index of its CPU.
    Shown(ScenarioKey, u16, Instants),
    /// A sample of a row, by the index of its CPU.
    Sample(ScenarioKey, u16, Sample),
    /// A point without its spread, by its place in the scenario.
    Point(ScenarioKey, u32, Point),
    /// A part of the spread of a point, by its place in the scenario.
    Spread(ScenarioKey, u32, Spread),
    /// A finding.
    Finding(ScenarioKey, Finding),
    /// The identity of these CPUs: known only once a CPU was up.
    Identity(CpuSet, Identity),
    /// The end of the run.
    End(End),
}

impl Record {
    /// Reads a record; None if it is of another version of the format.
    // The release profile compiles this package for size, as the payload needs it; the
    // caller's copy is compiled for speed.
    #[cfg_attr(not(debug_assertions), inline)]
    pub fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }
}

/// A record with its place in the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbered {
    /// The place, from 0.
    pub seq: u32,
    /// The record.
    pub record: Record,
}
