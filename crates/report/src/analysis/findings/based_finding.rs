//! A finding about several scenarios or about two runs, and the figures on which it is based.

use hardware::board::CpuIndex;
use itertools::Itertools as _;
use serde::Serialize;
use suite::measure::Metric;
use suite::model::{CpuSet, Evidence, Finding, Kind, Run, ScenarioKey};
use suite::plan::Method;

use crate::analysis::compare::Change;
use crate::analysis::explain::TableFigure;
use crate::analysis::words::cpus_text;
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
    pub(in crate::analysis) fn new(kind: Kind, evidence: Evidence, sentence: String) -> Self {
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
        let evidence = match changes.iter().all(|change| change.has_intervals()) {
            true => Evidence::Intervals,
            false => Evidence::Figures,
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
        kind: Kind,
        sentence: String,
        figures: impl IntoIterator<Item = TableFigure>,
    ) -> Self {
        let by_scenario = grouped(figures.into_iter().map(|figure| {
            let scenario = ScenarioKey {
                id: figure.scenario,
                method: Method::Tftf,
                helper: None,
            };
            (scenario, (figure.metric, (figure.cpu, None)))
        }));
        let basis = by_scenario
            .into_iter()
            .flat_map(|(scenario, figures)| bases(scenario, figures));
        Self {
            basis: basis.collect(),
            ..Self::new(kind, Evidence::Figures, sentence)
        }
    }
}

/// Groups metrics for the same CPUs. Each metric has the CPU's index in the run and, if the finding
/// is about a difference, in the baseline.
fn bases(
    scenario: ScenarioKey,
    metrics: impl IntoIterator<Item = (Metric, (CpuIndex, Option<CpuIndex>))>,
) -> Vec<Basis> {
    let by_metric = grouped(metrics.into_iter()).into_iter();
    grouped(by_metric.map(|(metric, cpus)| (cpus, metric)))
        .into_iter()
        .map(|(cpus, metrics)| Basis {
            scenario,
            metrics,
            cpus: cpus.iter().map(|pair| pair.0).collect(),
            baseline_cpus: cpus.iter().filter_map(|pair| pair.1).collect(),
        })
        .collect()
}

/// Lists the figures on which a finding is based: `Powerdown in test_rt_instr_susp_deep_serial,
/// method tftf: CPU 0.0, 0.1`.
pub fn basis_text((new, old): (&Run, &Run), all: &[Basis]) -> String {
    let mut each = all.iter().map(|basis| {
        let ScenarioKey { id, method, .. } = basis.scenario;
        let metrics = basis
            .metrics
            .iter()
            .map(|metric| metric.heading())
            .join(", ");
        let now = cpus_text(new, basis.cpus.iter().copied());
        let then = cpus_text(old, basis.baseline_cpus.iter().copied());
        let was = match now == then {
            true => String::new(),
            false => format!(" (baseline: {then})"),
        };
        format!("{metrics} in {id}, method {}: {now}{was}", method.word())
    });
    each.join("; ")
}
