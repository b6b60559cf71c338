//! The figures that a comparison's finding rests on.

use std::collections::BTreeSet;

use itertools::Itertools as _;
use psci_bench::measure::Metric;
use psci_bench::model::{Confidence, CpuSet, Finding, Kind, Run, ScenarioKey, heading};
use psci_bench::plan::Method;
use serde::Serialize;

/// The most CPUs that are named one by one.
const NAMED_MAX: usize = 8;

/// Metrics of some CPUs in one scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Basis {
    /// The scenario in the run.
    #[serde(flatten)]
    pub scenario: ScenarioKey,
    pub metrics: Vec<Metric>,
    /// The CPUs of the run and of the baseline, each by its own indices.
    pub cpus: [Vec<u16>; 2],
}

/// A finding of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonFinding {
    /// The finding; its own lists of CPUs and metrics are empty.
    #[serde(flatten)]
    pub finding: Finding,
    pub basis: Vec<Basis>,
}

impl ComparisonFinding {
    pub(super) fn new(
        kind: Kind,
        confidence: Confidence,
        sentence: String,
        basis: Vec<Basis>,
    ) -> Self {
        let finding = Finding {
            kind,
            sentence,
            cpus: CpuSet::default(),
            metrics: Vec::new(),
            confidence,
        };
        Self { finding, basis }
    }
}

/// Returns the sentence on figures that are not verified; empty without any.
pub(super) fn doubt_text(cpus: impl Iterator<Item = String>) -> String {
    match cpus.unique().join(", ") {
        labels if labels.is_empty() => labels,
        labels => {
            format!(" Not verified, as it rests on a line without a checksum of {labels}.")
        }
    }
}

/// Lists the figures that a finding rests on: `Powerdown in
/// test_rt_instr_susp_deep_serial: CPU 0.0, 0.1`.
pub fn basis_text(runs: (&Run, &Run), all: &[Basis]) -> String {
    let each = all.iter().flat_map(|basis| {
        let ScenarioKey { id, method, .. } = basis.scenario;
        let metrics = basis.metrics.iter().map(|it| heading(*it)).join(", ");
        let mut figures = format!("{metrics} in {id}");
        if method != Method::Tftf {
            figures += &format!(", method {}", method.word());
        }
        let text = |side: &str, run: &Run, cpus: &[u16]| {
            let label = |cpu: &u16| run.label(*cpu);
            match cpus.iter().minmax().into_option() {
                Some((first, last)) if cpus.len() > NAMED_MAX => {
                    let (first, last, count) = (label(first), label(last), cpus.len());
                    format!("{figures}{side}: {count} CPUs, {first} to {last}")
                }
                _ => format!(
                    "{figures}{side}: CPU {}",
                    cpus.iter().map(label).format(", ")
                ),
            }
        };
        let [new, old] = &basis.cpus;
        let set = |run: &Run, cpus: &[u16]| -> BTreeSet<String> {
            cpus.iter().map(|cpu| run.label(*cpu).to_string()).collect()
        };
        match set(runs.0, new) == set(runs.1, old) {
            true => vec![text(" on both sides", runs.0, new)],
            false => vec![text("", runs.0, new), text(" in the baseline", runs.1, old)],
        }
    });
    { each }.join("; ")
}
