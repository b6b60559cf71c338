//! Findings of points: the cost of an operation net of its loop, the growth of
//! powerdown with the CPUs that go down together, and that of the flush with the
//! dirty bytes.

use itertools::Itertools as _;
use psci_bench::model::{
    Confidence, Finding, Fit, How, Kind, Measure, Point, Run, Scenario, Variant,
};
use psci_bench::plan::ScenarioId;

use super::figure::FigureKey;
use super::fit::{Bent, Series, Straight, series};
use crate::report::log::grouped::grouped;
use crate::setup::plural::many;

/// Coefficients of determination of an even growth, and of any: as those of the
/// lock queue.
const R2_EVEN: f64 = 0.9;
const R2_SOME: f64 = 0.5;

/// The figures of one CPU, of one operation.
struct Net {
    cpu: u16,
    net: f64,
    of_loop: f64,
}

/// Computes the cost of each operation without the loop around it, which is the
/// scenario's own or that of `empty`.
pub(super) fn net_of_loop(run: &Run, scenario: &Scenario) -> Vec<Finding> {
    if scenario.id == ScenarioId::Empty {
        return Vec::new();
    }
    let empty = run.scenarios.iter().find(|it| it.id == ScenarioId::Empty);
    let empty = empty.map_or(&[][..], |it| it.points.as_slice());
    let is_loop = |it: &&Point| it.variant == Variant::Loop;
    let loops = { scenario.points.iter() }.filter(is_loop).chain(empty);
    let loops: Vec<&Point> = loops.collect();
    // Another CPU's loop has the same few instructions.
    let loop_of = |point: &Point| {
        let mut all = loops.iter().filter(|it| it.measure == point.measure);
        let own = all.clone().filter(|it| it.cpu == point.cpu);
        let same = own.clone().find(|it| it.how == point.how);
        same.or_else(|| own.clone().next()).or_else(|| all.next())
    };
    let figure = |it: &Point| FigureKey::of(it).per_operation(run.clock(), it.figures.median);
    let points = scenario.points.iter();
    let points = points.filter(|it| !is_loop(it) && it.per > 1);
    let nets = points.filter_map(|it| {
        let of_loop = figure(loop_of(it)?);
        let (cpu, net) = (it.cpu, figure(it) - of_loop);
        Some((
            (it.how, it.measure),
            (FigureKey::of(it), Net { cpu, net, of_loop }),
        ))
    });
    let of_kinds = |kinds: Vec<_>| grouped(kinds.into_iter());
    let each = grouped(nets).into_iter();
    each.map(|((how, _), kinds)| net(run, how, &of_kinds(kinds)))
        .collect()
}

fn net(run: &Run, how: How, kinds: &[(FigureKey, Vec<Net>)]) -> Finding {
    let first = kinds.first();
    let unit = first.map_or("", |it| it.0.unit_name(run.clock()));
    let mut each = kinds.iter().map(|(key, figures)| {
        let net = lower_median(figures.iter().map(|it| it.net));
        let variant = match key {
            FigureKey::Point(point) => point.variant.word(),
            FigureKey::Row { .. } => key.word(),
        };
        format!("{variant} {net:.2} {unit}")
    });
    let each = each.join(", ");
    let loops = kinds.iter().flat_map(|it| &it.1).map(|it| it.of_loop);
    let cpus = || kinds.iter().take(1).flat_map(|it| &it.1).map(|it| it.cpu);
    let medians = match cpus().count() {
        0 | 1 => String::new(),
        count => format!("; medians of {count} CPUs"),
    };
    let how = match how {
        How::Alone => "one CPU alone",
        How::All => "all CPUs at once",
    };
    Finding {
        kind: Kind::Net,
        sentence: format!(
            "Net of the loop ({:.2} {unit}), {how}: {each}{medians}.",
            lower_median(loops)
        ),
        cpus: cpus().collect(),
        metrics: Vec::new(),
        confidence: Confidence::Figures,
    }
}

fn lower_median(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.sorted_by(|a, b| a.total_cmp(b)).collect();
    let middle = values.get(values.len().saturating_sub(1) / 2);
    middle.copied().unwrap_or(0.0)
}

/// Describes the growth of powerdown with the CPUs that go down together.
pub(super) fn contention(run: &Run, scenario: &Scenario) -> Vec<Finding> {
    if scenario.id != ScenarioId::ContendSweep {
        return Vec::new();
    }
    let all = series(scenario);
    let own = all.iter().filter(|it| it.measure == Measure::Powerdown);
    own.filter_map(|it| contended(run, it)).collect()
}

fn contended(run: &Run, series: &Series<'_>) -> Option<Finding> {
    let points = series.points(run.clock(), true);
    let line = Straight::through(&points)?;
    let (first, last) = (points.first()?, points.last()?);
    let [from, to] = [first, last].map(|(x, figure)| {
        let cpus = many(*x as usize, "CPU");
        format!("{} with {cpus}", time(run, *figure))
    });
    let of = series.variant.word();
    let sentence = if line.r2 >= R2_SOME && line.slope > 0.0 {
        let evenly = match line.r2 >= R2_EVEN {
            true => "",
            false => ", though not evenly",
        };
        format!(
            "Contention ({of}): the longest Powerdown grows by {} with each CPU that goes down at the \
             same time{evenly} ({from}, {to}).",
            time(run, line.slope)
        )
    } else {
        format!(
            "No contention to be seen ({of}): the longest Powerdown does not grow with the number of \
             CPUs that go down at the same time ({from}, {to})."
        )
    };
    let sentence = format!("{sentence} {}", fit_text(run, &line));
    Some(finding(run, Kind::Contention, sentence, series, &line))
}

/// Describes the growth of the flush with the dirty bytes, and its limit.
pub(super) fn dirty_flush(run: &Run, scenario: &Scenario) -> Vec<Finding> {
    if scenario.id != ScenarioId::DirtySweep {
        return Vec::new();
    }
    let all = series(scenario);
    // Without PMF's flush, the figure that contains it.
    let measures = [Measure::CacheFlush, Measure::Powerdown].into_iter();
    let is_there = |measure: &Measure| all.iter().any(|it| it.measure == *measure);
    let measure = { measures }.find(is_there);
    let own = all.iter().filter(|it| Some(it.measure) == measure);
    own.filter_map(|it| flushed(run, it)).collect()
}

fn flushed(run: &Run, series: &Series<'_>) -> Option<Finding> {
    let points = series.points(run.clock(), false);
    let Bent { line, level } = Bent::through(&points)?;
    let (first, last) = (points.first()?, points.last()?);
    let figures = points.iter().map(|it| it.1);
    let (least, most) = figures.minmax_by(|a, b| a.total_cmp(b)).into_option()?;
    let name = series.measure.heading();
    let of = series.variant.word();
    let sentence = if most - least <= most / 50.0 {
        format!(
            "Dirty lines ({of}): {name} does not depend on how much is dirty: {} with {}, {} with {}.",
            time(run, first.1),
            bytes(first.0),
            time(run, last.1),
            bytes(last.0)
        )
    } else if line.r2 < R2_SOME || line.slope <= 0.0 {
        format!(
            "Dirty lines ({of}): {name} does not grow evenly with what is dirty: {} to {}. {}",
            time(run, least),
            time(run, most),
            fit_text(run, &line)
        )
    } else {
        let level = match level {
            Some((end, level)) => {
                let (end, level) = (bytes(end), time(run, level));
                format!(
                    " up to {end}, and is {level} from there on: no more than that stays dirty in \
                     caches"
                )
            }
            None => format!(" up to {}, the most that was tried", bytes(last.0)),
        };
        format!(
            "Dirty lines ({of}): {name} grows by {} with each KiB that is dirty, from {}{level}. {}",
            time(run, line.slope * 1024.0),
            time(run, line.at_zero.max(0.0)),
            fit_text(run, &line)
        )
    };
    Some(finding(run, Kind::DirtyFlush, sentence, series, &line))
}

fn finding(
    run: &Run,
    kind: Kind,
    sentence: String,
    series: &Series<'_>,
    line: &Straight,
) -> Finding {
    let points = series.at.iter().flat_map(|at| &at.all);
    let residual = line.residual.round() as u64;
    Finding {
        kind,
        sentence,
        cpus: points.map(|it| it.cpu).collect(),
        metrics: Vec::new(),
        confidence: Confidence::Fit(Fit {
            n: u32::try_from(line.n).unwrap_or(u32::MAX),
            r2_percent: percent(line.r2),
            residual_ns: run.clock().is_known().then_some(residual),
            by_stamps: false,
        }),
    }
}

/// Says how well a line fits.
fn fit_text(run: &Run, line: &Straight) -> String {
    format!(
        "Straight line through {}: R² {} %, the farthest is {} off.",
        many(line.n, "point"),
        percent(line.r2),
        time(run, line.residual)
    )
}

fn percent(r2: f64) -> u8 {
    // Rounding may leave a hair less than 1.
    (r2 * 100.0 + 1e-9).floor().clamp(0.0, 100.0) as u8
}

fn bytes(value: f64) -> String {
    match value / 1024.0 {
        kib if kib >= 1.0 || value == 0.0 => format!("{kib:.0} KiB"),
        _ => format!("{value:.0} bytes"),
    }
}

/// Returns a duration of [`FigureKey::per_operation`] with its unit.
fn time(run: &Run, value: f64) -> String {
    if !run.clock().is_known() {
        format!("{value:.2} ticks")
    } else if value.abs() < 1000.0 {
        format!("{value:.2} ns")
    } else {
        format!("{:.2} us", value / 1000.0)
    }
}
