//! The two runs in a comparison, and how their CPUs are paired.

use anyhow::{Result, bail, ensure};
use hardware::board::{CpuIndex, Mpidr};
use hardware::text::plural::many;
use serde::Serialize;
use suite::model::{Cpu, Run};
use thiserror::Error;

use crate::analysis::conditions::is_ambiguous;
use crate::log::LoggedRun;

/// How rows are paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowPairing {
    /// Paired by MPIDR, which both runs have.
    Mpidr,
    /// Paired by cluster and core.
    Labels,
    /// Not paired, because several rows on one side have the same label. Figures are compared by
    /// size rank.
    Ambiguous,
}

/// A row's CPU, as specified by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowCpu {
    /// The CPU with this MPIDR.
    Mpidr(Mpidr),
    /// The CPU with this cluster and core.
    Label(u16, u16),
}

/// A string that does not identify a CPU.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is neither an MPIDR, such as 0x101, nor a label, such as 1.0")]
pub struct NotACpu(String);

impl std::str::FromStr for RowCpu {
    type Err = NotACpu;

    /// Parses `0x101` or `1.0`.
    fn from_str(text: &str) -> Result<Self, NotACpu> {
        // The standard library's parsers would accept a sign.
        let is_plain = !text.contains('+');
        let parse = || match text.strip_prefix("0x") {
            Some(digits) => {
                let number = u64::from_str_radix(digits, 16).ok()?;
                Some(Self::Mpidr(Mpidr::try_from(number).ok()?))
            }
            None => {
                let (cluster, core) = text.split_once('.')?;
                Some(Self::Label(cluster.parse().ok()?, core.parse().ok()?))
            }
        };
        parse()
            .filter(|_| is_plain)
            .ok_or_else(|| NotACpu(text.to_owned()))
    }
}

/// Assigns CPUs to rows, in order, on each side whose labels do not identify them. If the labels of
/// both sides do, assigns the CPUs to the baseline's rows.
pub fn name_rows(runs: &mut [LoggedRun], baseline: &mut LoggedRun, rows: &[RowCpu]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let lacks_names =
        |logged: &LoggedRun| is_ambiguous(&logged.run) || logged.header.has_unknown_clusters;
    let names_baseline = lacks_names(baseline) || !runs.iter().any(lacks_names);
    for logged in runs.iter_mut().filter(|logged| lacks_names(logged)) {
        name_cpus(logged, rows)?;
    }
    if names_baseline {
        name_cpus(baseline, rows)?;
    }
    let has_mpidr = rows.iter().any(|row| matches!(row, RowCpu::Mpidr(_)));
    let lacks_mpidr = |logged: &&LoggedRun| logged.run.cpus.iter().any(|cpu| cpu.mpidr.is_none());
    let mut sides = runs.iter().chain([&*baseline]);
    if has_mpidr && let Some(logged) = sides.find(lacks_mpidr) {
        let input = &logged.source.input;
        bail!("--row-cpus contains MPIDRs, but {input} has none: use labels, such as 0.1");
    }
    Ok(())
}

/// Assigns one CPU to each of a run's rows.
fn name_cpus(logged: &mut LoggedRun, rows: &[RowCpu]) -> Result<()> {
    let cpus = &mut logged.run.cpus;
    let input = &logged.source.input;
    ensure!(
        rows.len() == cpus.len(),
        "--row-cpus lists {}, but {input} has {}",
        many(rows.len(), "CPU"),
        many(cpus.len(), "row")
    );
    for (index, (cpu, row)) in cpus.iter_mut().zip(rows).enumerate() {
        ensure!(
            !rows[..index].contains(row),
            "--row-cpus lists a CPU twice: entry {} is a duplicate",
            index + 1
        );
        match *row {
            RowCpu::Mpidr(mpidr) => cpu.mpidr = Some(mpidr),
            RowCpu::Label(cluster, core) => {
                (cpu.cluster, cpu.core, cpu.thread) = (cluster, core, 0);
            }
        }
    }
    logged.header.has_unknown_clusters = false;
    Ok(())
}

/// Rejects a page that does not say which CPUs are in which cluster, unless the other side has
/// only one cluster, or does not say so either.
fn check_clusters(side: &LoggedRun, other: &LoggedRun) -> Result<()> {
    let is_unknown = |logged: &LoggedRun| logged.header.has_unknown_clusters;
    let first = other.run.cpus.first().map(|cpu| cpu.cluster);
    let has_one = other.run.cpus.iter().all(|cpu| Some(cpu.cluster) == first);
    ensure!(
        !is_unknown(side) || is_unknown(other) || has_one,
        "{} does not say in which cluster each CPU is, so its rows cannot be matched; name the \
         CPUs with --row-cpus",
        side.source.input
    );
    Ok(())
}

/// The two runs, their CPU pairs, and the tolerance.
///
/// Holding one proves that rows can be paired: the two runs have a CPU in common, or all figures
/// are compared by rank. It does not prove that the runs, or any two of their scenarios, were
/// measured under the same conditions.
pub(in crate::analysis) struct Sides<'r> {
    pub(in crate::analysis) new: &'r LoggedRun,
    pub(in crate::analysis) old: LoggedRun,
    pub(in crate::analysis) row_pairing: RowPairing,
    /// Indices of CPUs in the run and in the baseline.
    pairs: Vec<(CpuIndex, CpuIndex)>,
    /// The relative tolerance, in parts per million.
    pub(in crate::analysis) tolerance: u32,
}

impl<'r> Sides<'r> {
    /// Pairs the CPUs of `new` and `old`.
    pub(in crate::analysis) fn of(
        new: &'r LoggedRun,
        old: &LoggedRun,
        tolerance: u32,
    ) -> Result<Self> {
        let has_mpidrs = |logged: &LoggedRun| logged.run.cpus.iter().all(|cpu| cpu.mpidr.is_some());
        let (row_pairing, name) = if has_mpidrs(new) && has_mpidrs(old) {
            (RowPairing::Mpidr, "MPIDR")
        } else if is_ambiguous(&new.run) || is_ambiguous(&old.run) {
            (RowPairing::Ambiguous, "")
        } else {
            (RowPairing::Labels, "cluster and core")
        };
        if row_pairing == RowPairing::Labels {
            check_clusters(new, old)?;
            check_clusters(old, new)?;
        }
        let label = |run: &Run, cpu: &Cpu| (cpu.cluster, run.core_number(cpu));
        let is_same = |new_cpu: &Cpu, old_cpu: &Cpu| match row_pairing {
            RowPairing::Mpidr => new_cpu.mpidr == old_cpu.mpidr,
            RowPairing::Labels => label(&new.run, new_cpu) == label(&old.run, old_cpu),
            RowPairing::Ambiguous => false,
        };
        let news = new.run.cpu_indices().zip(&new.run.cpus);
        let pairs: Vec<(CpuIndex, CpuIndex)> = news
            .filter_map(|(new_index, new_cpu)| {
                let mut olds = old.run.cpu_indices().zip(&old.run.cpus);
                let (old_index, _) = olds.find(|(_, old_cpu)| is_same(new_cpu, old_cpu))?;
                Some((new_index, old_index))
            })
            .collect();
        let run = &new.source.input;
        let baseline = &old.source.input;
        ensure!(
            !pairs.is_empty() || row_pairing == RowPairing::Ambiguous,
            "{run} and the baseline {baseline} have no CPUs in common (matched by {name}); are \
             they from the same board?"
        );
        let mut labeled = old.clone();
        // A table whose CPUs are identified by MPIDR takes its labels from the run.
        if row_pairing == RowPairing::Mpidr && old.integrity.tables {
            for (new_index, old_index) in &pairs {
                let cpu = new.run.cpu(*new_index);
                let relabeled = &mut labeled.run.cpus[old_index.index()];
                relabeled.cluster = cpu.cluster;
                relabeled.core = cpu.core;
                relabeled.thread = cpu.thread;
            }
        }
        Ok(Self {
            new,
            old: labeled,
            row_pairing,
            pairs,
            tolerance,
        })
    }

    /// Returns the baseline's index for one of the run's CPUs.
    pub(super) fn old_cpu(&self, new: CpuIndex) -> Option<CpuIndex> {
        let pair = self.pairs.iter().find(|(new_cpu, _)| *new_cpu == new);
        pair.map(|(_, old_cpu)| *old_cpu)
    }

    /// Returns the run's index for one of the baseline's CPUs.
    pub(super) fn new_cpu(&self, old: CpuIndex) -> Option<CpuIndex> {
        let pair = self.pairs.iter().find(|(_, old_cpu)| *old_cpu == old);
        pair.map(|(new_cpu, _)| *new_cpu)
    }

    /// Returns the run's data and the baseline's.
    pub(in crate::analysis) const fn runs(&self) -> (&Run, &Run) {
        (&self.new.run, &self.old.run)
    }
}
