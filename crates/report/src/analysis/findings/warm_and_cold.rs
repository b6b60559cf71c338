//! How much longer a cold call takes than a warm call.

use hardware::board::CpuIndex;
use itertools::Itertools as _;
use suite::findings::Subject;
use suite::measure::Metric;
use suite::model::{CellSeries, Evidence, Finding, Kind, Run, Scenario};
use suite::plan::{ScenarioId, Variant};
use suite::scenarios::ColdVariants;

use super::net_of_loop::lower_median;
use crate::analysis::cpu_names;
use crate::analysis::figure::{FigureKey, x_text};
use crate::analysis::words::{cpus_text, time};
use crate::log::grouped::grouped;

/// A comparison of a cold call with a warm call.
pub(crate) const COLD_CALL: Kind = Kind::new("cold-call");

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
        .flat_map(|function| of_function(run, scenario, function))
        .collect()
}

fn of_function(run: &Run, scenario: &Scenario, function: &ColdVariants) -> Vec<Finding> {
    let of_variant = |variant: Variant| {
        let all = scenario.step_series();
        all.filter(move |series| series.cell.step.variant == variant && series.series.summary.n > 0)
    };
    let has =
        |metric: &Metric| of_variant(function.warm).any(|series| series.series.metric == *metric);
    let Some(metric) = [Metric::Latency, Metric::Call].into_iter().find(has) else {
        return Vec::new();
    };
    let median = |series: CellSeries<'_>| {
        FigureKey::of(series).per_operation(run.clock(), series.series.summary.median)
    };
    let pair = |cold: CellSeries<'_>| {
        let cpu = cold.cell.cpu;
        let mut warm = of_variant(function.warm).filter(|series| series.series.metric == metric);
        let pair = Pair {
            cpu,
            cold: median(cold),
            warm: median(warm.find(|series| series.cell.cpu == cpu)?),
        };
        // CPUs of the same type have the same MIDR_EL1 value.
        let midr = run.cpu(cpu).identity.map(|identity| identity.midr);
        Some((midr, (cold.cell.step.value, pair)))
    };
    let cold = of_variant(function.evicted).chain(of_variant(function.woken));
    let pairs = cold
        .filter(|series| series.series.metric == metric)
        .filter_map(pair);
    let what = format!("{} ({})", function.function, metric.heading());
    let by_type = grouped(pairs).into_iter();
    by_type
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
    let own_cpus: Vec<CpuIndex> = pairs.iter().map(|pair| pair.1.cpu).unique().collect();
    let labels = cpus_text(run, own_cpus.iter().copied());
    let cpus = match midr.and_then(cpu_names::type_of) {
        Some(name) => format!("{name} ({labels})"),
        None => labels,
    };
    let warm = lower_median(pairs.iter().map(|pair| pair.1.warm));
    let by_state = grouped(pairs.into_iter());
    let mut each = by_state.iter().map(|(state, pairs)| {
        let condition = match state {
            Some(state) => {
                let state = x_text(id, *state);
                format!("on the first call after a wake-up from {state}")
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
        let (more, cold) = (time(run, more.abs()), time(run, cold));
        format!("{more} {word} {condition} ({cold})")
    });
    Finding {
        kind: COLD_CALL,
        sentence: format!(
            "{what} on {cpus}: {} warm; {}.",
            time(run, warm),
            each.join("; ")
        ),
        cpus: own_cpus.into_iter().collect(),
        metrics: Vec::new(),
        evidence: Evidence::Figures,
    }
}
