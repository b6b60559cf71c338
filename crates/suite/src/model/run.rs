//! A run: the machine, the plan, the CPUs, and the results of each scenario.

use alloc::string::String;
use alloc::vec::Vec;

use hardware::board::{CpuIndex, LabelSource};
use hardware::spec::ticks::Clock;
use serde::{Deserialize, Serialize};

use super::cell::Cell;
use super::cpu::{Cpu, Label};
use super::left_out_state::LeftOutState;
use super::run_id::RunId;
use super::scenario::{Scenario, ScenarioKey};
use super::totals::Totals;
use crate::measure::Facts;
use crate::model::Verdict;
use crate::plan::{Method, Plan};

/// A run of the payload, or of TFTF, whose logs have no records. The payload fills in every field;
/// a log may lack some.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The identity; None in a log without records, and in JSON, where every record contains it.
    #[serde(skip)]
    pub id: Option<RunId>,
    /// The payload and the board; None in a log without that record.
    pub head: Option<Head>,
    /// The machine; None in a log without that record.
    pub facts: Option<Facts>,
    /// The boot arguments; None in a log without that record.
    pub plan: Option<Plan>,
    /// The CPUs in board order, that is, in MPIDR order.
    pub cpus: Vec<Cpu>,
    /// The idle states in the device tree that are not used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutState>,
    /// The scenarios in chronological order, one for each method and helper placement.
    pub scenarios: Vec<Scenario>,
    /// How the run ended; None until it ends.
    pub end: Option<End>,
}

/// The payload and the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The version of the record format.
    pub format: u32,
    /// The payload's version.
    pub version: String,
    /// The board name, from the device tree's `model`.
    pub model: String,
    /// The source of the CPUs' labels.
    pub labels: LabelSource,
    /// The number of CPUs.
    pub cpus: u16,
}

/// The end of a completed run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The number of records, including this one.
    pub records: u32,
    /// Whether the run passed, as the payload computed it.
    pub verdict: Verdict,
    /// Counts across all scenarios.
    pub totals: Totals,
}

impl Run {
    /// Returns false for a run without records: a table, or a TFTF log.
    pub fn has_records(&self) -> bool {
        let is_of_line = |cell: &Cell| {
            let has_parts = cell.shown.is_some() || !cell.samples.is_empty();
            let has_samples = cell.series.iter().any(|series| series.summary.n > 0);
            cell.lacks_own_record() && !has_parts && !has_samples
        };
        let is_of_records = |scenario: &Scenario| {
            scenario.conditions.is_some() || !scenario.cells.iter().all(is_of_line)
        };
        let has_head = self.head.is_some() || self.facts.is_some() || self.plan.is_some();
        has_head || self.end.is_some() || self.scenarios.iter().any(is_of_records)
    }

    /// Returns true if an emulator without an instruction clock runs more CPUs than the host has, so
    /// that a CPU's times depend on what the others do.
    pub fn shares_host_cpus(&self) -> bool {
        let host_cpus = self.plan.and_then(|plan| plan.host_cpus);
        host_cpus.is_some_and(|count| count > 0 && self.cpus.len() > count as usize)
    }

    /// Returns the counter as a clock. Its frequency is unknown if the machine record is lost.
    /// In a run without records, the frequency is 1 GHz, because TFTF prints nanoseconds.
    pub fn clock(&self) -> Clock {
        let hz = match &self.facts {
            Some(facts) => facts.frequency,
            None if self.has_records() => 0,
            None => 1_000_000_000,
        };
        Clock { hz }
    }

    /// Returns a scenario's results.
    pub fn scenario(&self, key: ScenarioKey) -> Option<&Scenario> {
        self.scenarios.iter().find(|scenario| scenario.key() == key)
    }

    /// Returns true if TFTF's first and last lines enclose the run's output.
    pub fn has_tftf_lines(&self) -> bool {
        self.plan.is_some_and(|plan| {
            let suite = plan.scenarios.suite();
            !suite.is_empty() && plan.methods.iter().any(|method| method == Method::Tftf)
        })
    }

    /// Returns the index of the lead CPU; None if the machine record is lost.
    pub fn lead(&self) -> Option<CpuIndex> {
        self.facts.as_ref().map(|facts| facts.lead)
    }

    /// Returns the CPU at `index`, or a CPU without an MPIDR if there is none.
    pub fn cpu(&self, index: CpuIndex) -> Cpu {
        let cpu = self.cpus.get(index.index());
        cpu.copied().unwrap_or_default()
    }

    /// Returns the name of the CPU at `index`.
    pub fn label(&self, index: CpuIndex) -> Label {
        Label::for_cpu(&self.cpus, index)
    }

    /// Returns the largest number of threads in a core.
    pub fn threads(&self) -> u64 {
        let highest = self.cpus.iter().map(|cpu| cpu.thread).max();
        u64::from(highest.unwrap_or(0)) + 1
    }

    /// Returns the indices of all CPUs, in board order.
    pub fn cpu_indices(&self) -> impl Iterator<Item = CpuIndex> + Clone + use<> {
        let indices = (0..=u16::MAX).map(CpuIndex::from);
        indices.take(self.cpus.len())
    }

    /// Returns the first CPU in each cluster, by index in board order.
    pub fn cluster_heads(&self) -> impl Iterator<Item = CpuIndex> {
        let is_first = |index: &CpuIndex| {
            let cluster = self.cpu(*index).cluster;
            let first = self.cpus.iter().position(|cpu| cpu.cluster == cluster);
            first == Some(index.index())
        };
        self.cpu_indices().filter(is_first)
    }

    /// Returns the core number for tables that have one column for core and thread. Threads are
    /// numbered consecutively, so no two CPUs in a cluster have the same number.
    pub fn core_number(&self, cpu: &Cpu) -> u64 {
        u64::from(cpu.core) * self.threads() + u64::from(cpu.thread)
    }
}
