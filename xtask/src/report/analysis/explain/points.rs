//! What points show: how much of a figure is the loop's own, how powerdown
//! grows with the CPUs that go down together, and the flush with what is dirty.

use psci_bench::model::Measure;

use super::finding::{self, Basis, Confidence, Finding, Fit, Kind, Side};
use crate::report::analysis::fit::{Bent, Series, Straight, series};
use crate::report::model::{CONTEND_SWEEP, DIRTY_SWEEP, LOOP, Measured, Run, Term, Test};
use crate::setup::plural::many;

/// The scenario whose points are the others' loop.
const EMPTY: &str = "empty";
/// Limits for an even growth, and for one at all: as those of the lock queue.
const R2_EVEN: f64 = 0.9;
const R2_SOME: f64 = 0.5;

/// What an operation costs without the loop, the loop, and the CPU.
type Net = (f64, f64, usize);

/// What an operation costs without the loop round it, which is the scenario's
/// own, or that of `empty`.
pub(super) fn net(run: &Run, test: &Test) -> Vec<Finding> {
    if test.scenario.word() == EMPTY {
        return Vec::new();
    }
    let empty = run.tests.iter().find(|it| it.scenario.word() == EMPTY);
    let empty = empty.map_or(&[][..], |it| it.points.as_slice());
    let own = || test.points.iter().filter(|it| it.variant == LOOP);
    // Of the CPU itself where it has one; else of another, which has the same
    // few instructions.
    let round = |point: &Measured| {
        let all = || own().chain(empty).filter(|it| it.metric == point.metric);
        let same = |it: &&Measured| (it.cpu, &it.how) == (point.cpu, &point.how);
        let found = all().find(same);
        found
            .or_else(|| all().find(|it| it.cpu == point.cpu))
            .or_else(|| all().next())
    };
    let mut kinds: Vec<(&Measured, Vec<Net>)> = Vec::new();
    for point in test
        .points
        .iter()
        .filter(|it| it.variant != LOOP && it.per > 1)
    {
        let Some(round) = round(point) else { continue };
        let each = |it: &Measured| it.each(run, it.summary.median);
        let figures = (each(point) - each(round), each(round), point.cpu);
        match kinds.iter_mut().find(|it| it.0.is_of_kind(point)) {
            Some(it) => it.1.push(figures),
            None => kinds.push((point, vec![figures])),
        }
    }
    let mut all: Vec<Finding> = Vec::new();
    let mut done: Vec<&Measured> = Vec::new();
    for (first, _) in &kinds {
        let alike = |it: &Measured| (&it.how, &it.metric) == (&first.how, &first.metric);
        if done.iter().any(|it| alike(it)) {
            continue;
        }
        done.push(first);
        let own: Vec<_> = kinds.iter().filter(|it| alike(it.0)).collect();
        let unit = first.unit_name(run);
        let middle = |of: Vec<f64>| {
            let mut of = of;
            of.sort_by(f64::total_cmp);
            of.get(of.len().saturating_sub(1) / 2)
                .copied()
                .unwrap_or(0.0)
        };
        let each = own.iter().map(|(point, figures)| {
            let net = middle(figures.iter().map(|it| it.0).collect());
            format!("{} {net:.2} {unit}", point.variant)
        });
        let each: Vec<String> = each.collect();
        let loops = own.iter().flat_map(|it| &it.1).map(|it| it.1).collect();
        let cpus = own.first().map_or(0, |it| it.1.len());
        let basis = own.first().map_or(&[][..], |it| it.1.as_slice());
        all.push(Finding {
            kind: Kind::Net,
            sentence: format!(
                "Net of the loop ({:.2} {unit}), {}: {}{}.",
                middle(loops),
                how(first),
                each.join(", "),
                if cpus > 1 {
                    format!("; medians of {cpus} CPUs")
                } else {
                    String::new()
                }
            ),
            basis: basis
                .iter()
                .map(|it| finding::basis(Side::Run, run, test, it.2, None))
                .collect(),
            confidence: Confidence::Figures,
        });
    }
    all
}

/// How powerdown grows with the number of CPUs that go down together.
pub(super) fn contention(run: &Run, test: &Test) -> Vec<Finding> {
    if test.scenario.word() != CONTEND_SWEEP {
        return Vec::new();
    }
    let all = series(test);
    let own = all
        .iter()
        .filter(|it| *it.metric == Term::Known(Measure::Powerdown));
    own.filter_map(|it| contended(run, test, it)).collect()
}

fn contended(run: &Run, test: &Test, series: &Series<'_>) -> Option<Finding> {
    let points = series.points(run, true);
    let line = Straight::through(&points)?;
    let (first, last) = (points.first()?, points.last()?);
    let from_to = format!(
        "{} with {}, {} with {}",
        time(run, first.1),
        many(first.0 as usize, "CPU"),
        time(run, last.1),
        many(last.0 as usize, "CPU")
    );
    let of = of_variant(series.variant);
    let sentence = if line.r2 >= R2_SOME && line.slope > 0.0 {
        let evenly = match line.r2 >= R2_EVEN {
            true => "",
            false => ", though not evenly",
        };
        format!(
            "Contention{of}: the longest Powerdown grows by {} with each CPU that goes down at the \
             same time{evenly} ({from_to}).",
            time(run, line.slope)
        )
    } else {
        format!(
            "No contention to be seen{of}: the longest Powerdown does not grow with the number of \
             CPUs that go down at the same time ({from_to})."
        )
    };
    Some(Finding {
        kind: Kind::Contention,
        sentence: format!("{sentence} {}", fitted(run, &line)),
        basis: basis(run, test, series),
        confidence: confidence(run, &line),
    })
}

/// How the flush grows with what is dirty, and where it is all there can be.
pub(super) fn dirty(run: &Run, test: &Test) -> Vec<Finding> {
    if test.scenario.word() != DIRTY_SWEEP {
        return Vec::new();
    }
    let all = series(test);
    // Without PMF, what has the flush in it.
    let metrics = [Measure::CacheFlush, Measure::Powerdown];
    let metric = metrics
        .into_iter()
        .map(Term::Known)
        .find(|metric| all.iter().any(|it| it.metric == metric));
    let own = all.iter().filter(|it| metric.as_ref() == Some(it.metric));
    own.filter_map(|it| flushed(run, test, it)).collect()
}

fn flushed(run: &Run, test: &Test, series: &Series<'_>) -> Option<Finding> {
    let points = series.points(run, false);
    let bent = Bent::through(&points)?;
    let (first, last) = (points.first()?, points.last()?);
    let figures = points.iter().map(|it| it.1);
    let (least, most) = (
        figures.clone().fold(f64::MAX, f64::min),
        figures.fold(0.0, f64::max),
    );
    let name = crate::report::model::measure_heading(series.metric);
    let of = of_variant(series.variant);
    let line = bent.line;
    let sentence = if most - least <= most / 50.0 {
        format!(
            "Dirty lines{of}: {name} does not depend on how much is dirty: {} with {}, {} with {}.",
            time(run, first.1),
            bytes(first.0),
            time(run, last.1),
            bytes(last.0)
        )
    } else if line.r2 < R2_SOME || line.slope <= 0.0 {
        format!(
            "Dirty lines{of}: {name} does not grow evenly with what is dirty: {} to {}. {}",
            time(run, least),
            time(run, most),
            fitted(run, &line)
        )
    } else {
        let level = match bent.level {
            Some((end, level)) => format!(
                " up to {}, and is {} from there on: no more than that stays dirty in caches",
                bytes(end),
                time(run, level)
            ),
            None => format!(" up to {}, the most that was tried", bytes(last.0)),
        };
        format!(
            "Dirty lines{of}: {name} grows by {} with each KiB that is dirty, from {}{level}. {}",
            time(run, line.slope * 1024.0),
            time(run, line.at_zero.max(0.0)),
            fitted(run, &line)
        )
    };
    Some(Finding {
        kind: Kind::DirtyFlush,
        sentence,
        basis: basis(run, test, series),
        confidence: confidence(run, &line),
    })
}

/// How well a line fits, as a sentence.
fn fitted(run: &Run, line: &Straight) -> String {
    format!(
        "Straight line through {}: R² {} %, the farthest is {} off.",
        many(line.n, "point"),
        percent(line.r2),
        time(run, line.residual)
    )
}

fn percent(r2: f64) -> u8 {
    // A whole one may be a hair less.
    (r2 * 100.0 + 1e-9).floor().clamp(0.0, 100.0) as u8
}

fn confidence(run: &Run, line: &Straight) -> Confidence {
    Confidence::Fit(Fit {
        n: u32::try_from(line.n).unwrap_or(u32::MAX),
        r2_percent: percent(line.r2),
        residual_ns: run
            .clock()
            .is_known()
            .then_some(line.residual.round() as u64),
        by_stamps: false,
    })
}

/// The CPUs of a series.
fn basis(run: &Run, test: &Test, series: &Series<'_>) -> Vec<Basis> {
    let points = series.at.iter().flat_map(|at| &at.all);
    let mut cpus: Vec<usize> = points.map(|it| it.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let each = cpus.into_iter();
    each.map(|cpu| finding::basis(Side::Run, run, test, cpu, None))
        .collect()
}

fn of_variant(variant: &str) -> String {
    match variant {
        "" => String::new(),
        variant => format!(" ({variant})"),
    }
}

fn how(point: &Measured) -> &str {
    match point.how.word() {
        "alone" => "one CPU alone",
        "all" => "all CPUs at once",
        word => word,
    }
}

fn bytes(value: f64) -> String {
    match value / 1024.0 {
        kib if kib >= 1.0 || value == 0.0 => format!("{kib:.0} KiB"),
        _ => format!("{value:.0} bytes"),
    }
}

/// A duration in what [`Measured::each`] tells.
fn time(run: &Run, value: f64) -> String {
    if !run.clock().is_known() {
        format!("{value:.2} ticks")
    } else if value.abs() < 1000.0 {
        format!("{value:.2} ns")
    } else {
        format!("{:.2} us", value / 1000.0)
    }
}
