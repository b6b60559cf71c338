//! The cost of an operation without the loop around it.

use itertools::Itertools as _;
use suite::findings::Subject;
use suite::measure::lower_median_by;
use suite::model::{CellSeries, Evidence, Finding, FindingKind, Run, Scenario};
use suite::plan::{ActiveCpus, Variant};

use crate::analysis::figure::FigureKey;
use crate::log::grouped::grouped;

/// The cost of an operation without the loop around it.
pub(crate) const NET: FindingKind = FindingKind::new("net");

/// A series, with its figures per operation.
struct NetCost<'r> {
    series: CellSeries<'r>,
    /// The cost without the loop.
    net: f64,
    /// The cost of the loop.
    loop_cost: f64,
}

/// Computes the cost of each operation without the loop around it. The cost of the loop comes from
/// the same scenario, or from one that measures nothing but loops.
pub(super) fn net_of_loop(&Subject { run, scenario, .. }: &Subject<'_>) -> Vec<Finding> {
    let loops = loops(run, scenario);
    let figure = |series: CellSeries<'_>| {
        FigureKey::of(series).per_operation(run.clock(), series.series.summary.median)
    };
    let nets = scenario
        .step_series()
        .filter(|series| !is_loop(series) && series.cell.step.operations > 1)
        .filter_map(|series| {
            let loop_cost = figure(loop_of(&loops, series)?);
            let net = figure(series) - loop_cost;
            let key = (series.cell.step.cpus, series.series.metric);
            Some((
                key,
                NetCost {
                    series,
                    net,
                    loop_cost,
                },
            ))
        });
    grouped(nets)
        .into_iter()
        .map(|((cpus, _), nets)| finding(run, cpus, &nets))
        .collect()
}

fn is_loop(series: &CellSeries<'_>) -> bool {
    series.cell.step.variant == Variant::LOOP
}

/// Returns the scenario's loops, followed by those of scenarios that measure nothing else.
fn loops<'r>(run: &'r Run, scenario: &'r Scenario) -> Vec<CellSeries<'r>> {
    let empty = run
        .scenarios
        .iter()
        .filter(|other| other.step_series().all(|series| is_loop(&series)))
        .flat_map(Scenario::step_series);
    scenario
        .step_series()
        .filter(is_loop)
        .chain(empty)
        .collect()
}

/// Returns the loop for a series. If it was not measured on the same CPU, returns another CPU's,
/// which consists of the same few instructions.
fn loop_of<'r>(loops: &[CellSeries<'r>], series: CellSeries<'_>) -> Option<CellSeries<'r>> {
    let cpu = series.cell.cpu;
    let cpus = series.cell.step.cpus;
    loops
        .iter()
        .rev()
        .filter(|loop_series| loop_series.series.metric == series.series.metric)
        .max_by_key(|loop_series| {
            (
                loop_series.cell.cpu == cpu,
                loop_series.cell.step.cpus == cpus,
            )
        })
        .copied()
}

/// Returns the finding about one metric with this set of active CPUs.
fn finding(run: &Run, active: ActiveCpus, nets: &[NetCost<'_>]) -> Finding {
    let unit = nets.first().map_or_else(Default::default, |net| {
        FigureKey::of(net.series).scale(run.clock()).name()
    });
    let by_variant = nets.iter().map(|net| {
        let step = net.series.cell.step;
        ((step.variant, step.value), net.net)
    });
    let costs = grouped(by_variant)
        .into_iter()
        .map(|((variant, _), nets)| {
            let net = lower_median(nets.into_iter());
            format!("{} {net:.2} {unit}", variant.word())
        })
        .join(", ");
    let cpus = nets.iter().map(|net| net.series.cell.cpu);
    let medians = match cpus.clone().unique().count() {
        0 | 1 => String::new(),
        count => format!("; medians over {count} CPUs"),
    };
    let loop_cost = lower_median(nets.iter().map(|net| net.loop_cost));
    Finding {
        kind: NET,
        sentence: format!(
            "Net of the loop ({loop_cost:.2} {unit}), {}: {costs}{medians}.",
            active.text()
        ),
        cpus: cpus.collect(),
        metrics: Vec::new(),
        evidence: Evidence::Figures,
    }
}

/// Returns the lower median; 0 if there are no values.
pub(super) fn lower_median(values: impl Iterator<Item = f64>) -> f64 {
    lower_median_by(&mut values.collect_vec(), f64::total_cmp)
}
