//! A finding about several scenarios or about two runs, and the figures on which it is based.

use hardware::board::CpuIndex;
use itertools::Itertools as _;
use serde::Serialize;
use suite::measure::Metric;
use suite::model::{CpuSet, Evidence, Finding, FindingKind, Run, ScenarioKey};
use suite::plan::Method;

use crate::analysis::compare::Change;
use crate::analysis::explain::TableFigure;
use crate::analysis::value_text::cpus_text;
use crate::log::grouped::grouped;

/// The metrics for certain CPUs in one scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Basis {
    /// The scenario in the run.
    #[serde(flatten)]
    pub scenario: ScenarioKey,
    /// The metrics, which all belong to the same CPUs.
    pub metrics: Vec<Metric>,
    /// The CPUs' indices in the run.
    pub cpus: Vec<CpuIndex>,
    /// The same CPUs' indices in the baseline, if the finding is about a difference.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub baseline_cpus: Vec<CpuIndex>,
}

/// A finding that is not about a single scenario of a single run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BasedFinding {
    /// The finding, with empty lists of CPUs and metrics.
    #[serde(flatten)]
    pub finding: Finding,
    /// The figures on which the finding is based; empty if it is not based on particular figures.
    pub basis: Vec<Basis>,
}

impl BasedFinding {
    /// Returns a finding that is not based on particular figures.
    pub(in crate::analysis) fn new(
        kind: FindingKind,
        evidence: Evidence,
        sentence: String,
    ) -> Self {
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
        kind: FindingKind,
        sentence: String,
        scenario: ScenarioKey,
        changes: &[&Change],
    ) -> Self {
        let evidence = if changes.iter().all(|change| change.has_intervals()) {
            Evidence::Intervals
        } else {
            Evidence::Figures
        };
        let metrics = changes.iter().filter_map(|change| {
            let cpus = (change.cpu, Some(change.old_cpu));
            Some((change.key.suite_metric()?, cpus))
        });
        let basis = bases(scenario, metrics);
        Self {
            basis,
            ..Self::new(kind, evidence, sentence)
        }
    }

    /// Returns a finding based on figures in the suite's tables.
    pub(in crate::analysis) fn of_tables(
        kind: FindingKind,
        sentence: String,
        figures: impl IntoIterator<Item = TableFigure>,
    ) -> Self {
        let metrics = figures.into_iter().map(|figure| {
            let scenario = ScenarioKey {
                id: figure.scenario,
                method: Method::Tftf,
                helper: None,
            };
            (scenario, (figure.metric, (figure.cpu, None)))
        });
        let basis = grouped(metrics)
            .into_iter()
            .flat_map(|(scenario, metrics)| bases(scenario, metrics));
        Self {
            basis: basis.collect(),
            ..Self::new(kind, Evidence::Figures, sentence)
        }
    }
}

/// Groups the metrics that belong to the same CPUs. Each metric has the CPU's index in the run and,
/// if the finding is about a difference, in the baseline.
fn bases(
    scenario: ScenarioKey,
    metrics: impl IntoIterator<Item = (Metric, (CpuIndex, Option<CpuIndex>))>,
) -> Vec<Basis> {
    let cpus_by_metric = grouped(metrics.into_iter()).into_iter();
    grouped(cpus_by_metric.map(|(metric, cpus)| (cpus, metric)))
        .into_iter()
        .map(|(cpus, metrics)| Basis {
            scenario,
            metrics,
            cpus: cpus.iter().map(|(cpu, _)| *cpu).collect(),
            baseline_cpus: cpus.iter().filter_map(|(_, old_cpu)| *old_cpu).collect(),
        })
        .collect()
}

/// Lists the figures on which a finding is based: `Powerdown in test_rt_instr_susp_deep_serial,
/// method tftf: CPU 0.0, 0.1`.
pub fn basis_text((new, old): (&Run, &Run), bases: &[Basis]) -> String {
    let mut texts = bases.iter().map(|basis| {
        let ScenarioKey { id, method, .. } = basis.scenario;
        let metrics = basis
            .metrics
            .iter()
            .map(|metric| metric.heading())
            .join(", ");
        let now = cpus_text(new, basis.cpus.iter().copied());
        let then = cpus_text(old, basis.baseline_cpus.iter().copied());
        let baseline = if now == then {
            String::new()
        } else {
            format!(" (baseline: {then})")
        };
        format!(
            "{metrics} in {id}, method {}: {now}{baseline}",
            method.word()
        )
    });
    texts.join("; ")
}
