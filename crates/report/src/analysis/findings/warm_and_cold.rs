//! How much longer a cold call takes than a warm call.

use hardware::board::CpuIndex;
use itertools::Itertools as _;
use suite::findings::Subject;
use suite::measure::Metric;
use suite::model::{CellSeries, Evidence, Finding, FindingKind, Run, Scenario};
use suite::plan::{ScenarioId, Variant};
use suite::scenarios::ColdVariants;

use super::net_of_loop::lower_median;
use crate::analysis::cpu_names;
use crate::analysis::figure::{FigureKey, axis_text};
use crate::analysis::value_text::{cpus_text, time};
use crate::log::grouped::grouped;

/// A comparison of a cold call with a warm call.
pub(crate) const COLD_CALL: FindingKind = FindingKind::new("cold-call");

/// One CPU's cold-call and warm-call medians, as returned by [`FigureKey::per_operation`].
struct Pair {
    cpu: CpuIndex,
    cold: f64,
    warm: f64,
}

/// Compares cold and warm calls to each function, separately for each CPU type.
pub(super) fn warm_and_cold(&Subject { run, scenario, .. }: &Subject<'_>) -> Vec<Finding> {
    let functions = scenario.id.descriptor().cold_calls;
    functions
        .iter()
        .flat_map(|function| function_findings(run, scenario, function))
        .collect()
}

/// Returns the findings about one function, one for each CPU type.
fn function_findings(run: &Run, scenario: &Scenario, function: &ColdVariants) -> Vec<Finding> {
    let measured = |variant: Variant, metric: Metric| {
        scenario
            .step_series()
            .filter(move |CellSeries { cell, series }| {
                cell.step.variant == variant && series.metric == metric && series.summary.n > 0
            })
    };
    let metric = [Metric::Latency, Metric::Call]
        .into_iter()
        .find(|metric| measured(function.warm, *metric).next().is_some());
    let Some(metric) = metric else {
        return Vec::new();
    };
    let median = |cell_series: CellSeries<'_>| {
        FigureKey::of(cell_series).per_operation(run.clock(), cell_series.series.summary.median)
    };
    let pairs = measured(function.evicted, metric)
        .chain(measured(function.woken, metric))
        .filter_map(|cold_series| {
            let cpu = cold_series.cell.cpu;
            let warm =
                measured(function.warm, metric).find(|warm_series| warm_series.cell.cpu == cpu)?;
            let pair = Pair {
                cpu,
                cold: median(cold_series),
                warm: median(warm),
            };
            // CPUs of the same type have the same MIDR_EL1 value.
            let midr = run.cpu(cpu).identity.map(|identity| identity.midr);
            Some((midr, (cold_series.cell.step.value, pair)))
        });
    let what = format!("{} ({})", function.function, metric.heading());
    grouped(pairs)
        .into_iter()
        .map(|(midr, pairs)| finding(run, scenario.id, (&what, midr), pairs))
        .collect()
}

/// Returns the finding for one CPU type.
fn finding(
    run: &Run,
    id: ScenarioId,
    (what, midr): (&str, Option<u64>),
    pairs: Vec<(Option<u64>, Pair)>,
) -> Finding {
    let cpus: Vec<CpuIndex> = pairs.iter().map(|(_, pair)| pair.cpu).unique().collect();
    let labels = cpus_text(run, cpus.iter().copied());
    let cpus_name = match midr.and_then(cpu_names::type_of) {
        Some(name) => format!("{name} ({labels})"),
        None => labels,
    };
    let overall_warm = lower_median(pairs.iter().map(|(_, pair)| pair.warm));
    let by_state = grouped(pairs.into_iter());
    let mut phrases = by_state.iter().map(|(state, pairs)| {
        let condition = match state {
            Some(state) => {
                let text = axis_text(id, *state);
                format!("on the first call after a wake-up from {text}")
            }
            None => "without the caller's cache lines".to_owned(),
        };
        let warm = lower_median(pairs.iter().map(|pair| pair.warm));
        let cold = lower_median(pairs.iter().map(|pair| pair.cold));
        let more = cold - warm;
        if more == 0.0 {
            return format!("the same {condition}");
        }
        let word = if more > 0.0 { "longer" } else { "shorter" };
        let difference = time(run, more.abs());
        let total = time(run, cold);
        format!("{difference} {word} {condition} ({total})")
    });
    Finding {
        kind: COLD_CALL,
        sentence: format!(
            "{what} on {cpus_name}: {} warm; {}.",
            time(run, overall_warm),
            phrases.join("; ")
        ),
        cpus: cpus.into_iter().collect(),
        metrics: Vec::new(),
        evidence: Evidence::Figures,
    }
}
