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
pub enum RowIs {
    /// The CPU with this MPIDR.
    Mpidr(Mpidr),
    /// The CPU with this cluster and core.
    Label(u16, u16),
}

/// A string that does not identify a CPU.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is neither an MPIDR, such as 0x101, nor a label, such as 1.0")]
pub struct NotACpu(String);

impl std::str::FromStr for RowIs {
    type Err = NotACpu;

    /// Parses `0x101` or `1.0`.
    fn from_str(text: &str) -> Result<Self, NotACpu> {
        // The standard library's parsers would accept a sign.
        let is_plain = !text.contains('+');
        let read = || match text.strip_prefix("0x") {
            Some(digits) => {
                let number = u64::from_str_radix(digits, 16).ok()?;
                Some(Self::Mpidr(Mpidr::try_from(number).ok()?))
            }
            None => {
                let (cluster, core) = text.split_once('.')?;
                Some(Self::Label(cluster.parse().ok()?, core.parse().ok()?))
            }
        };
        let cpu = read().filter(|_| is_plain);
        cpu.ok_or_else(|| NotACpu(text.to_owned()))
    }
}

/// Assigns CPUs to rows, in order, on each side whose labels do not identify them. If the labels of
/// both sides do, assigns the CPUs to the baseline's rows.
pub fn name_rows(runs: &mut [LoggedRun], baseline: &mut LoggedRun, rows: &[RowIs]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let lacks_names = |run: &LoggedRun| is_ambiguous(&run.run) || run.header.has_unknown_clusters;
    let is_named = lacks_names(baseline) || !runs.iter().any(lacks_names);
    for run in runs.iter_mut().filter(|run| lacks_names(run)) {
        name_cpus(run, rows)?;
    }
    if is_named {
        name_cpus(baseline, rows)?;
    }
    let is_mpidr = |it: &RowIs| matches!(it, RowIs::Mpidr(_));
    let lacks = |it: &&LoggedRun| it.run.cpus.iter().any(|cpu| cpu.mpidr.is_none());
    let without = runs.iter().chain([&*baseline]).find(lacks);
    if let Some(run) = without.filter(|_| rows.iter().any(is_mpidr)) {
        let input = &run.source.input;
        bail!("--row-cpus contains MPIDRs, but {input} has none: use labels, such as 0.1");
    }
    Ok(())
}

fn name_cpus(run: &mut LoggedRun, rows: &[RowIs]) -> Result<()> {
    let cpus = &mut run.run.cpus;
    let (named, count, input) = (many(rows.len(), "CPU"), cpus.len(), &run.source.input);
    let has = many(count, "row");
    ensure!(
        rows.len() == count,
        "--row-cpus lists {named}, but {input} has {has}"
    );
    for (place, (cpu, row)) in cpus.iter_mut().zip(rows).enumerate() {
        ensure!(
            !rows[..place].contains(row),
            "--row-cpus lists a CPU twice: entry {} is a duplicate",
            place + 1
        );
        match *row {
            RowIs::Mpidr(mpidr) => cpu.mpidr = Some(mpidr),
            RowIs::Label(cluster, core) => {
                (cpu.cluster, cpu.core, cpu.thread) = (cluster, core, 0);
            }
        }
    }
    run.header.has_unknown_clusters = false;
    Ok(())
}

/// Rejects a page that does not say which CPUs are in which cluster, unless the other side has
/// only one cluster, or does not say so either.
fn check_clusters(side: &LoggedRun, other: &LoggedRun) -> Result<()> {
    let is_unknown = |run: &LoggedRun| run.header.has_unknown_clusters;
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

/// The two runs, their CPU pairs, and the thresholds for a change.
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
        let has_mpidrs = |it: &LoggedRun| it.run.cpus.iter().all(|cpu| cpu.mpidr.is_some());
        let (row_pairing, name) = match has_mpidrs(new) && has_mpidrs(old) {
            true => (RowPairing::Mpidr, "MPIDR"),
            false if is_ambiguous(&new.run) || is_ambiguous(&old.run) => {
                (RowPairing::Ambiguous, "")
            }
            false => (RowPairing::Labels, "cluster and core"),
        };
        if row_pairing == RowPairing::Labels {
            check_clusters(new, old)?;
            check_clusters(old, new)?;
        }
        let label = |run: &Run, cpu: &Cpu| (cpu.cluster, run.core_number(cpu));
        let is_same = |own: &Cpu, other: &Cpu| match row_pairing {
            RowPairing::Mpidr => own.mpidr == other.mpidr,
            RowPairing::Labels => label(&new.run, own) == label(&old.run, other),
            RowPairing::Ambiguous => false,
        };
        let find = |(cpu, own): (CpuIndex, &Cpu)| {
            let mut olds = old.run.cpu_indices().zip(&old.run.cpus);
            let (found, _) = olds.find(|(_, other)| is_same(own, other))?;
            Some((cpu, found))
        };
        let pairs: Vec<(CpuIndex, CpuIndex)> = new
            .run
            .cpu_indices()
            .zip(&new.run.cpus)
            .filter_map(find)
            .collect();
        let (run, baseline) = (&new.source.input, &old.source.input);
        ensure!(
            !pairs.is_empty() || row_pairing == RowPairing::Ambiguous,
            "{run} and the baseline {baseline} have no CPUs in common (matched by {name}); are \
             they from the same board?"
        );
        let mut old = old.clone();
        // A table whose CPUs are identified by MPIDR takes its labels from the run.
        if row_pairing == RowPairing::Mpidr && old.integrity.tables {
            for (own, at) in &pairs {
                let (cpu, to) = (new.run.cpu(*own), &mut old.run.cpus[at.place()]);
                (to.cluster, to.core, to.thread) = (cpu.cluster, cpu.core, cpu.thread);
            }
        }
        Ok(Self {
            new,
            old,
            row_pairing,
            pairs,
            tolerance,
        })
    }

    /// Returns the baseline's index for one of the run's CPUs.
    pub(super) fn old_cpu(&self, new: CpuIndex) -> Option<CpuIndex> {
        self.pairs.iter().find(|it| it.0 == new).map(|it| it.1)
    }

    /// Returns the run's index for one of the baseline's CPUs.
    pub(super) fn new_cpu(&self, old: CpuIndex) -> Option<CpuIndex> {
        self.pairs.iter().find(|it| it.1 == old).map(|it| it.0)
    }

    /// Returns the run's data and the baseline's.
    pub(in crate::analysis) const fn runs(&self) -> (&Run, &Run) {
        (&self.new.run, &self.old.run)
    }
}
