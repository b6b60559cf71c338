//! Records: lines of JSON, each with a checksum. A host reconstructs the [`Run`](crate::model::Run)
//! from them.
//!
//! ```text
//! @PB 1c291ca3 0003 {"cpus":[0,[["0x0",0,0,0],["0x1",0,1,0]]]} a3174c64
//! ```
//!
//! A line is `@PB RUN SEQ JSON CRC`, in ASCII, with single spaces as separators and at most
//! [`LINE_MAX`] bytes.
//! * RUN is the identity of the run ([`RunId`](crate::model::RunId)), in eight hexadecimal digits:
//!   records with a different identity never belong to this run, even if their numbers match.
//! * SEQ counts the records of a run from 0, in decimal, with at least four digits.
//! * JSON is one [`Record`]. It contains no `@`. Numbers are integers, durations are in ticks, and
//!   masks and MPIDRs are hexadecimal strings.
//! * CRC is the CRC-32 ([`crate::crc`]) of all bytes before the space that precedes it, in eight
//!   hexadecimal digits.
//!
//! A scenario's records follow its tables, so a run that is cut short still provides the results of
//! all completed scenarios. The scenario's own record comes last and contains the number of
//! records, which shows a reader whether any are missing. Findings are not sent: readers compute
//! them from the other records.

use alloc::vec::Vec;

use hardware::board::CpuIndex;
use serde::{Deserialize, Serialize};

use super::packed;
use crate::measure::{Facts, Identity, Metric};
use crate::model::{
    BinCounts, Cell, Check, Conditions, Cpu, CpuSet, End, Head, LeftOutState, Sample, ScenarioKey,
    Status,
};
use crate::plan::Plan;

/// The version of the format, as in [`Head::format`]. It must change when [`Plan`] or [`Facts`]
/// gains a field without a serde default, or when the meaning of any field changes; otherwise,
/// older records would be rejected or misread.
pub const FORMAT: u32 = 6;

/// The prefix of every record.
pub const MARK: &str = "@PB ";

/// The length of the longest line in bytes, without its line ending.
pub const LINE_MAX: usize = 1_000;

/// The number of checksum digits.
pub const CRC_DIGITS: usize = 8;

/// A part of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// The payload and the board.
    Run(Head),
    /// What the payload detected on the machine.
    Facts(Facts),
    /// The boot arguments. If they are too long for one line, further records have the rest.
    Plan(Plan),
    /// CPUs without their identities, in board order, starting at this index.
    Cpus(CpuIndex, #[serde(with = "cpu_list")] Vec<Cpu>),
    /// An idle state in the device tree that is not used.
    LeftOut(LeftOutState),
    /// A scenario, written after its other records: status, conditions, and number of records,
    /// including this one.
    Scenario(ScenarioKey, Status, Option<Conditions>, u32),
    /// The short form of a cell, with its index in the scenario but without samples or histograms.
    /// If it is too long for one line, further cells that contain only series and instants follow
    /// it.
    Cell(#[serde(with = "packed")] (ScenarioKey, u32, Cell)),
    /// A sample in a cell, with the cell's index in the scenario.
    Sample(ScenarioKey, u32, Sample),
    /// Part of a metric's histogram, with the cell's index in the scenario.
    Histogram(ScenarioKey, u32, Metric, BinCounts),
    /// One check of the `fitness` scenario.
    Check(ScenarioKey, Check),
    /// The identity that these CPUs share, and the clock of each one in MHz. Neither is known
    /// for a CPU that has never run.
    Identity(CpuSet, Identity, Vec<Option<u64>>),
    /// The end of the run.
    End(End),
}

/// CPUs as a list of MPIDR, cluster, core and thread values. For serde's `with`.
mod cpu_list {
    use hardware::board::Mpidr;
    use serde::{Deserializer, Serializer};

    use super::{Cpu, Deserialize, Serialize, Vec};
    use crate::hex;

    #[derive(Serialize, Deserialize)]
    struct PackedCpu(#[serde(with = "hex::option")] Option<Mpidr>, u16, u16, u16);

    pub(super) fn serialize<S: Serializer>(cpus: &[Cpu], to: S) -> Result<S::Ok, S::Error> {
        let pack_cpu = |cpu: &Cpu| PackedCpu(cpu.mpidr, cpu.cluster, cpu.core, cpu.thread);
        to.collect_seq(cpus.iter().map(pack_cpu))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Cpu>, D::Error> {
        let unpack_cpu = |PackedCpu(mpidr, cluster, core, thread)| Cpu {
            mpidr,
            cluster,
            core,
            thread,
            identity: None,
        };
        let list = Vec::deserialize(from)?;
        Ok(list.into_iter().map(unpack_cpu).collect())
    }
}
