//! Findings about steps: what an operation costs without its loop, how Powerdown grows with the
//! number of CPUs that go down together, and how the flush grows with the amount of dirty data.

use hardware::text::plural::many;
use itertools::Itertools as _;
use suite::measure::Metric;
use suite::model::{CellSeries, Evidence, Finding, FitQuality, Kind, Run, Scenario};
use suite::plan::Variant;
use suite::plan::{ActiveCpus, Axis, ScenarioId};

use super::figure::FigureKey;
use super::fit::{Bent, Curve, Straight, curves, extent, is_level};
use crate::log::grouped::grouped;

/// The cost of an operation without the loop around it.
pub(super) const NET: Kind = Kind::new("net");
/// How Powerdown grows with the number of CPUs that go down together.
pub(crate) const CONTENTION: Kind = Kind::new("contention");
/// How the flush grows with the amount of dirty data.
pub(crate) const DIRTY_FLUSH: Kind = Kind::new("dirty-flush");

/// Computes the cost of each operation without the loop around it. The loop cost comes from the
/// same scenario, or from `empty`.
pub(super) fn net_of_loop(run: &Run, scenario: &Scenario) -> Vec<Finding> {
    if scenario.id == ScenarioId::named("empty") {
        return Vec::new();
    }
    let is_loop = |it: &CellSeries<'_>| it.cell.step.variant == Variant::LOOP;
    let empty = run
        .scenarios
        .iter()
        .find(|it| it.id == ScenarioId::named("empty"));
    let empty = empty.into_iter().flat_map(Scenario::step_series);
    let own = scenario.step_series().filter(is_loop);
    let loops: Vec<CellSeries<'_>> = own.chain(empty).collect();
    // If the empty loop was not measured on this CPU, use another CPU's loop, which consists of the
    // same few instructions.
    let loop_of = |own: CellSeries<'_>| {
        let all = loops.iter().rev();
        let all = all.filter(|it| it.series.metric == own.series.metric);
        let how = own.cell.step.cpus;
        all.max_by_key(|it| (it.cell.cpu == own.cell.cpu, it.cell.step.cpus == how))
    };
    let figure =
        |it: CellSeries<'_>| FigureKey::of(it).per_operation(run.clock(), it.series.summary.median);
    let batches = scenario.step_series();
    let batches = batches.filter(|it| !is_loop(it) && it.cell.step.operations > 1);
    let nets = batches.filter_map(|it| {
        let of_loop = figure(*loop_of(it)?);
        let net = figure(it) - of_loop;
        Some((
            (it.cell.step.cpus, it.series.metric),
            Net {
                own: it,
                net,
                of_loop,
            },
        ))
    });
    let each = grouped(nets).into_iter();
    each.map(|((how, _), nets)| net(run, how, &nets)).collect()
}

/// A series, with its figures per operation.
struct Net<'r> {
    own: CellSeries<'r>,
    net: f64,
    of_loop: f64,
}

fn net(run: &Run, how: ActiveCpus, nets: &[Net<'_>]) -> Finding {
    let unit = nets.first().map_or_else(Default::default, |it| {
        FigureKey::of(it.own).scale(run.clock()).name()
    });
    let kinds = nets
        .iter()
        .map(|it| ((it.own.cell.step.variant, it.own.cell.step.value), it.net));
    let mut each = grouped(kinds).into_iter().map(|((variant, _), nets)| {
        let net = lower_median(nets.into_iter());
        format!("{} {net:.2} {unit}", variant.word())
    });
    let each = each.join(", ");
    let cpus = nets.iter().map(|it| it.own.cell.cpu);
    let medians = match cpus.clone().unique().count() {
        0 | 1 => String::new(),
        count => format!("; medians over {count} CPUs"),
    };
    let of_loop = lower_median(nets.iter().map(|it| it.of_loop));
    Finding {
        kind: NET,
        sentence: format!(
            "Net of the loop ({of_loop:.2} {unit}), {}: {each}{medians}.",
            how.text()
        ),
        cpus: cpus.collect(),
        metrics: Vec::new(),
        evidence: Evidence::Figures,
    }
}

pub(super) fn lower_median(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.sorted_by(|a, b| a.total_cmp(b)).collect();
    let middle = values.get(values.len().saturating_sub(1) / 2);
    middle.copied().unwrap_or(0.0)
}

/// Describes how Powerdown grows with the number of CPUs that go down together.
pub(super) fn contention(run: &Run, scenario: &Scenario) -> Vec<Finding> {
    if scenario.id.axis() != Some(Axis::Cpus) {
        return Vec::new();
    }
    let all = curves(scenario);
    let own = all.iter().filter(|it| it.metric == Metric::Powerdown);
    own.filter_map(|it| contended(run, it)).collect()
}

fn contended(run: &Run, curve: &Curve<'_>) -> Option<Finding> {
    let points = curve.points(run.clock(), true);
    let line = Straight::through(&points)?;
    let [from, to] = [points.first()?, points.last()?].map(|(x, figure)| {
        let cpus = many(*x as usize, "CPU");
        format!("{} with {cpus}", time(run, *figure))
    });
    let of = curve.variant.word();
    let text = match line.is_growth() {
        true => format!(
            "Contention ({of}): the longest Powerdown grows by {} with each CPU that goes down at \
             the same time",
            time(run, line.slope)
        ),
        false => format!(
            "No visible contention ({of}): the longest Powerdown does not grow with the number \
             of CPUs that go down at the same time"
        ),
    };
    let sentence = format!("{text} ({from}, {to}). {}", fit_text(run, &line));
    Some(finding(run, CONTENTION, sentence, curve, &line))
}

/// Describes how the flush grows with the amount of dirty data, and where it levels off.
pub(super) fn dirty_flush(run: &Run, scenario: &Scenario) -> Vec<Finding> {
    if scenario.id.axis() != Some(Axis::Bytes) {
        return Vec::new();
    }
    let all = curves(scenario);
    // If the PMF flush figure is missing, use the figure that includes the flush.
    let mut metrics = [Metric::CacheFlush, Metric::Powerdown].into_iter();
    let is_there = |metric: &Metric| all.iter().any(|it| it.metric == *metric);
    let metric = metrics.find(is_there);
    let own = all.iter().filter(|it| Some(it.metric) == metric);
    own.filter_map(|it| flushed(run, it)).collect()
}

fn flushed(run: &Run, curve: &Curve<'_>) -> Option<Finding> {
    let points = curve.points(run.clock(), false);
    let Bent { line, level } = Bent::through(&points)?;
    let last = bytes(points.last()?.0);
    let extent = extent(&points)?;
    let [from, to] = [extent.0, extent.1].map(|it| time(run, it));
    let text = if is_level(extent) {
        format!("does not depend on the amount of dirty data: {from} to {to} with up to {last}.")
    } else if !line.is_growth() {
        let fit = fit_text(run, &line);
        format!("does not scale linearly with the amount of dirty data: {from} to {to}. {fit}")
    } else {
        let [slope, zero] = [line.slope * 1024.0, line.at_zero.max(0.0)].map(|it| time(run, it));
        let end = match level {
            Some((end, level)) => {
                let (end, level) = (bytes(end), time(run, level));
                format!("{end}, and is {level} beyond that: the caches cannot hold more dirty data")
            }
            None => format!("{last}, the largest amount tried"),
        };
        let fit = fit_text(run, &line);
        format!("starts at {zero} and grows by {slope} per dirty KiB up to {end}. {fit}")
    };
    let (of, name) = (curve.variant.word(), curve.metric.heading());
    let sentence = format!("Dirty lines ({of}): {name} {text}");
    Some(finding(run, DIRTY_FLUSH, sentence, curve, &line))
}

fn finding(run: &Run, kind: Kind, sentence: String, curve: &Curve<'_>, line: &Straight) -> Finding {
    let points = curve.at.iter().flat_map(|at| &at.all);
    let residual = line.residual.round() as u64;
    Finding {
        kind,
        sentence,
        cpus: points.map(|it| it.cell.cpu).collect(),
        metrics: Vec::new(),
        evidence: Evidence::Fit(FitQuality {
            n: u32::try_from(line.n).unwrap_or(u32::MAX),
            r2_percent: line.r2_percent(),
            residual_ns: run.clock().is_known().then_some(residual),
            by_stamps: false,
        }),
    }
}

/// Returns a sentence about how well a line fits.
fn fit_text(run: &Run, line: &Straight) -> String {
    format!(
        "Straight line through {}: R² {} %, maximum deviation {}.",
        many(line.n, "point"),
        line.r2_percent(),
        time(run, line.residual)
    )
}

fn bytes(value: f64) -> String {
    match value / 1024.0 {
        kib if kib >= 1.0 || value == 0.0 => format!("{kib:.0} KiB"),
        _ => format!("{value:.0} bytes"),
    }
}

/// Formats a duration from [`FigureKey::per_operation`] with its unit.
pub(super) fn time(run: &Run, value: f64) -> String {
    if !run.clock().is_known() {
        format!("{value:.2} ticks")
    } else if value.abs() < 1000.0 {
        format!("{value:.2} ns")
    } else {
        format!("{:.2} us", value / 1000.0)
    }
}
