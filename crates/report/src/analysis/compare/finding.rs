//! A finding from a comparison, and the figures on which it is based.

use hardware::board::CpuIndex;
use itertools::Itertools as _;
use serde::Serialize;
use suite::measure::Metric;
use suite::model::{CpuSet, Evidence, Finding, Kind, Run, ScenarioKey};

use super::change::Change;
use crate::analysis::words::cpus_text;
use crate::log::grouped::grouped;

/// The metrics for certain CPUs in one scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Basis {
    /// The scenario in the run.
    #[serde(flatten)]
    pub scenario: ScenarioKey,
    pub metrics: Vec<Metric>,
    /// The CPUs' indices in the run and in the baseline.
    pub cpus: [Vec<CpuIndex>; 2],
}

/// A finding from a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonFinding {
    /// The finding, with empty lists of CPUs and metrics.
    #[serde(flatten)]
    pub finding: Finding,
    pub basis: Vec<Basis>,
}

impl ComparisonFinding {
    /// Returns a finding that is not based on particular figures.
    pub(super) fn new(kind: Kind, evidence: Evidence, sentence: String) -> Self {
        let finding = Finding {
            kind,
            sentence,
            cpus: CpuSet::default(),
            metrics: Vec::new(),
            evidence,
        };
        let basis = Vec::new();
        Self { finding, basis }
    }

    /// Returns a finding based on changes in one scenario.
    pub(super) fn of_changes(
        kind: Kind,
        sentence: String,
        scenario: ScenarioKey,
        changes: &[&Change],
    ) -> Self {
        let evidence = match changes.iter().all(|it| it.has_intervals()) {
            true => Evidence::Intervals,
            false => Evidence::Figures,
        };
        let basis = bases(scenario, changes);
        Self {
            basis,
            ..Self::new(kind, evidence, sentence)
        }
    }
}

/// Returns the rows on both sides to which `changes` belong. Metrics for the same CPUs are grouped.
fn bases(scenario: ScenarioKey, changes: &[&Change]) -> Vec<Basis> {
    let metrics = changes.iter();
    let metrics = metrics.filter_map(|it| Some((it.key.suite_metric()?, (it.cpu, it.old_cpu))));
    let by_cpus = grouped(metrics).into_iter().map(|(metric, cpus)| {
        let (new, old): (Vec<CpuIndex>, Vec<CpuIndex>) = cpus.into_iter().unzip();
        ([new, old], metric)
    });
    let all = grouped(by_cpus).into_iter().map(|(cpus, metrics)| Basis {
        scenario,
        metrics,
        cpus,
    });
    all.collect()
}

/// Lists the figures on which a finding is based: `Powerdown in test_rt_instr_susp_deep_serial,
/// method tftf: CPU 0.0, 0.1`.
pub fn basis_text((new, old): (&Run, &Run), all: &[Basis]) -> String {
    let mut each = all.iter().map(|basis| {
        let ScenarioKey { id, method, .. } = basis.scenario;
        let metrics = basis.metrics.iter().map(|it| it.heading()).join(", ");
        let [now, then] = &basis.cpus;
        let now = cpus_text(new, now.iter().copied());
        let then = cpus_text(old, then.iter().copied());
        let was = match now == then {
            true => String::new(),
            false => format!(" (baseline: {then})"),
        };
        format!("{metrics} in {id}, method {}: {now}{was}", method.word())
    });
    each.join("; ")
}
