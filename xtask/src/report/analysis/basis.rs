//! The figures that a comparison's finding rests on.

use psci_bench::measure::Metric;
use psci_bench::model::new::{Confidence, Finding, Kind, Run, ScenarioKey};
use psci_bench::plan::Method;
use serde::Serialize;

/// The most CPUs that are named one by one.
const NAMED_MAX: usize = 8;

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The run.
    Run,
    /// The baseline.
    Baseline,
}

/// A metric of some CPUs of one side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Basis {
    /// The side.
    pub side: Side,
    /// The scenario, of that side.
    #[serde(flatten)]
    pub scenario: ScenarioKey,
    /// The metric.
    pub metric: Metric,
    /// The CPUs, by that side's indices.
    pub cpus: Vec<u16>,
}

/// A finding of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonFinding {
    /// The finding; its own lists of CPUs and metrics are empty.
    #[serde(flatten)]
    pub finding: Finding,
    /// The figures that it rests on, of both sides.
    pub basis: Vec<Basis>,
}

impl ComparisonFinding {
    /// Returns a finding.
    pub(super) fn new(
        kind: Kind,
        confidence: Confidence,
        sentence: String,
        basis: Vec<Basis>,
    ) -> Self {
        Self {
            finding: Finding {
                kind,
                sentence,
                cpus: [].into_iter().collect(),
                metrics: Vec::new(),
                confidence,
            },
            basis,
        }
    }
}

/// Returns the sentence on figures that are not verified; empty without any.
pub(super) fn doubt_text(cpus: impl Iterator<Item = String>) -> String {
    let mut labels: Vec<String> = Vec::new();
    for label in cpus {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    match labels.is_empty() {
        true => String::new(),
        false => format!(
            " Not verified, as it rests on a line without a checksum of {}.",
            labels.join(", ")
        ),
    }
}

/// Figures of one scenario by one method.
struct Part {
    place: String,
    metrics: Vec<&'static str>,
    /// The CPUs of the run and of the baseline, each with its label.
    cpus: [Vec<(u16, String)>; 2],
}

/// Lists the figures that a finding rests on, by metric and scenario: `Powerdown in
/// test_rt_instr_susp_deep_serial: CPU 0.0, 0.1`. Of more than a few CPUs it has
/// the number, the first and the last.
#[must_use]
pub fn basis_text(sides: (&Run, &Run), basis: &[Basis]) -> String {
    let mut parts: Vec<Part> = Vec::new();
    for it in basis {
        let ScenarioKey { id, method, .. } = it.scenario;
        let place = match method {
            Method::Tftf => id.to_string(),
            _ => format!("{id}, method {}", method.word()),
        };
        let metrics = vec![it.metric.heading()];
        let is_same = |part: &Part| part.place == place && part.metrics == metrics;
        let nth = parts.iter().position(is_same).unwrap_or_else(|| {
            parts.push(Part {
                place: place.clone(),
                metrics: metrics.clone(),
                cpus: [Vec::new(), Vec::new()],
            });
            parts.len() - 1
        });
        let (side, run) = match it.side {
            Side::Run => (0, sides.0),
            Side::Baseline => (1, sides.1),
        };
        let labelled = it
            .cpus
            .iter()
            .map(|cpu| (*cpu, run.label(*cpu).to_string()));
        parts[nth].cpus[side].extend(labelled);
    }
    // Metrics of the same CPUs are named together.
    let mut joined: Vec<Part> = Vec::new();
    for part in parts {
        let is_same = |it: &&mut Part| (&it.place, &it.cpus) == (&part.place, &part.cpus);
        match joined.iter_mut().find(is_same) {
            Some(same) => same.metrics.extend(part.metrics),
            None => joined.push(part),
        }
    }
    let each = joined.iter().flat_map(Part::text);
    each.collect::<Vec<_>>().join("; ")
}

impl Part {
    /// Returns one clause, or one for each side that has other CPUs.
    fn text(&self) -> Vec<String> {
        let figures = format!("{} in {}", self.metrics.join(", "), self.place);
        let [run, baseline] = &self.cpus;
        let sorted = |cpus: &[(u16, String)]| {
            let mut labels: Vec<String> = cpus.iter().map(|it| it.1.clone()).collect();
            labels.sort_unstable();
            labels
        };
        let sides = if sorted(run) == sorted(baseline) {
            vec![(" on both sides", run)]
        } else {
            vec![("", run), (" in the baseline", baseline)]
        };
        let sides = sides.into_iter().filter(|it| !it.1.is_empty());
        let each = sides.map(
            |(side, cpus)| match (cpus.iter().min(), cpus.iter().max()) {
                (Some((_, first)), Some((_, last))) if cpus.len() > NAMED_MAX => {
                    format!("{figures}{side}: {} CPUs, {first} to {last}", cpus.len())
                }
                _ => {
                    let labels: Vec<&str> = cpus.iter().map(|it| it.1.as_str()).collect();
                    format!("{figures}{side}: CPU {}", labels.join(", "))
                }
            },
        );
        each.collect()
    }
}
