//! Tables of points: one for each figure and number of CPUs, one row for each
//! CPU and variant.

use core::fmt::{self, Write};

use arrayvec::ArrayVec;

use super::grid::{Cell, Grid};
use super::tables::{cpu_cell, cpu_headings};
use crate::model::{How, LOOP, Measure, Point, Run, Status, TestReport, Unit};
use crate::plan::{LOOPS_LIMIT_S, ScenarioId};
use crate::spec::prose::{Many, Prose, paragraph};
use crate::spec::ticks::Clock;

/// Writes them all; nothing where there is no point.
pub(crate) fn write(out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>) -> fmt::Result {
    for measure in Measure::ALL {
        for how in How::ALL {
            table(out, run, test, measure, how)?;
        }
    }
    if test.points.is_empty() {
        return Ok(());
    }
    paragraph(out, "", 0, &mut |prose| how_to_read(prose, run, test))?;
    out.write_char('\n')
}

fn table(
    out: &mut dyn Write,
    run: &Run<'_>,
    test: &TestReport<'_>,
    measure: Measure,
    how: How,
) -> fmt::Result {
    let points = || {
        let points = test.points.iter();
        points.filter(move |point| point.measure == measure && point.how == how)
    };
    let Some(first) = points().next() else {
        return Ok(());
    };
    let clock = run.unit().0;
    let scale = Scale::of(first, clock);
    let which = cpu_headings(run);
    // What nothing is said in is no column.
    let says = |column: &Column| match column {
        Column::X => points().any(|point| point.x.is_some()),
        Column::P99 => points().any(|point| point.figures.p99.is_some()),
        Column::Lost => points().any(|point| point.lost > 0),
        _ => true,
    };
    let hex = test.scenario == ScenarioId::IdleStates;
    let columns: ArrayVec<Column, { Column::ALL.len() }> =
        Column::ALL.into_iter().filter(says).collect();
    let column = |place: usize| columns.get(place).copied();
    // A table asks row by row: the search goes on where it ended.
    let last = core::cell::Cell::new((0, 0));
    let find = |row: usize| {
        let (mut seen, mut at) = Some(last.get())
            .filter(|seen| seen.0 <= row)
            .unwrap_or_default();
        loop {
            let point = test.points.get(at)?;
            if point.measure == measure && point.how == how {
                if seen == row {
                    last.set((seen, at));
                    return Some(point);
                }
                seen += 1;
            }
            at += 1;
        }
    };
    Grid {
        columns: which.len() + columns.len(),
        heading: &|place| match which.get(place) {
            Some(heading) => heading,
            None => column(place - which.len()).map_or("", |c| c.heading(test.scenario)),
        },
        rows: points().count(),
        cell: &|row, place| {
            let Some(point) = find(row) else {
                return Cell::Missing;
            };
            match place.checked_sub(which.len()) {
                None => cpu_cell(run, point.cpu, place),
                Some(place) => column(place).map_or(Cell::Missing, |c| c.cell(point, scale, hex)),
            }
        },
    }
    .write(
        out,
        format_args!(
            "{}{}, {} ({}{})",
            test.scenario.name(),
            meaning(measure),
            match how {
                How::Alone => "one CPU alone",
                How::All => "all CPUs at once",
            },
            scale.name(),
            if first.per > 1 { " per operation" } else { "" },
        ),
    )
}

/// What a figure is, behind the scenario's name.
fn meaning(measure: Measure) -> &'static str {
    match measure {
        Measure::Ticks | Measure::Cycles => "",
        Measure::Entry => ": expiry to vector",
        Measure::Handler => ": expiry to handler",
        Measure::Powerdown => ": powerdown",
        Measure::Wakeup => ": wakeup",
        Measure::CacheFlush => ": cache flush",
        Measure::Call => ": call to return",
        Measure::Wake => ": due to resume",
        Measure::TurnOff => ": CPU_OFF to OFF",
        Measure::TurnOn => ": CPU_ON to first instruction",
        Measure::Count => ": PSCI_STAT_COUNT",
        Measure::Residency => ": PSCI_STAT_RESIDENCY",
    }
}

/// How the figure of one operation is told.
#[derive(Clone, Copy)]
enum Scale {
    Nanoseconds(Clock),
    Microseconds(Clock),
    Ticks,
    Cycles,
    /// By itself, in this unit.
    Plain(&'static str),
}

impl Scale {
    /// What is done in a batch is quick; what is done by itself is not.
    fn of(point: &Point, clock: Clock) -> Self {
        match point.measure.unit() {
            Unit::Cycles => Self::Cycles,
            Unit::Microseconds => Self::Plain("us"),
            Unit::Count => Self::Plain("times"),
            Unit::Ticks if !clock.is_known() => Self::Ticks,
            Unit::Ticks if point.per > 1 => Self::Nanoseconds(clock),
            Unit::Ticks => Self::Microseconds(clock),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds(_) => "ns",
            Self::Microseconds(_) => "us",
            Self::Ticks => "ticks",
            Self::Cycles => "cycles",
            Self::Plain(unit) => unit,
        }
    }

    /// A figure of `per` operations, as that of one in hundredths.
    fn cell(self, figure: u64, per: u32) -> Cell {
        let per = u64::from(per).max(1);
        let hundredths = match self {
            Self::Nanoseconds(clock) => clock.ns(figure).and_then(|ns| part(ns, 100, per)),
            Self::Microseconds(clock) => clock.ns(figure).and_then(|ns| part(ns, 1, 10 * per)),
            Self::Plain(_) => return Cell::Count(figure),
            Self::Ticks | Self::Cycles if per == 1 => return Cell::Count(figure),
            Self::Ticks | Self::Cycles => part(figure, 100, per),
        };
        hundredths.map_or(Cell::Missing, Cell::Hundredths)
    }
}

/// `number * factor / divisor`, rounded.
fn part(number: u64, factor: u64, divisor: u64) -> Option<u64> {
    let number = number.checked_mul(factor)?;
    Some(number.checked_add(divisor / 2)? / divisor)
}

/// A column behind those that say which CPU a row is.
#[derive(Clone, Copy)]
enum Column {
    X,
    Variant,
    Count,
    Min,
    Median,
    P99,
    Max,
    Lost,
}

impl Column {
    const ALL: [Self; 8] = [
        Self::X,
        Self::Variant,
        Self::Count,
        Self::Min,
        Self::Median,
        Self::P99,
        Self::Max,
        Self::Lost,
    ];

    fn heading(self, scenario: ScenarioId) -> &'static str {
        match self {
            Self::X => match scenario {
                ScenarioId::DirtySweep => "Bytes",
                ScenarioId::ContendSweep => "CPUs",
                ScenarioId::IdleStates => "power_state",
                _ => "x",
            },
            Self::Variant => "Variant",
            Self::Count => "n",
            Self::Min => "Min",
            Self::Median => "Median",
            Self::P99 => "p99",
            Self::Max => "Max",
            Self::Lost => "Lost",
        }
    }

    fn cell(self, point: &Point, scale: Scale, hex: bool) -> Cell {
        let figures = &point.figures;
        let figure = match self {
            Self::X if hex => return point.x.map_or(Cell::Missing, Cell::Hex),
            Self::X => return point.x.map_or(Cell::Missing, Cell::Count),
            Self::Variant => return Cell::Text(point.variant),
            Self::Count => return Cell::Count(figures.n.into()),
            Self::Lost => return Cell::Count(point.lost),
            Self::Min => Some(figures.min),
            Self::Median => Some(figures.median),
            Self::P99 => figures.p99,
            Self::Max => Some(figures.max),
        };
        let figure = figure.filter(|_| figures.n > 0);
        figure.map_or(Cell::Missing, |figure| scale.cell(figure, point.per))
    }
}

/// What was run.
fn how_to_read(prose: &mut Prose<'_>, run: &Run<'_>, test: &TestReport<'_>) -> fmt::Result {
    let per = test.points.first().map_or(1, |point| point.per);
    if per > 1 {
        write!(
            prose,
            "A sample is a batch of {} operations, timed as a whole, and the figures are those of \
             one. ",
            u64::from(per)
        )?;
    }
    write!(
        prose,
        "{} a CPU asked for. ",
        Many(test.asked.into(), "sample")
    )?;
    if test.scenario == ScenarioId::TimerLatency {
        return super::latency::how_to_read(prose);
    }
    if !test.scenario.is_micro() {
        return Ok(());
    }
    let own = test.points.iter().filter(|p| p.variant != LOOP);
    let taken = own.map(|p| u64::from(p.figures.n) + p.lost).min();
    if let Some(taken) =
        taken.filter(|taken| *taken < test.asked.into() && run.plan.loops.is_none())
    {
        write!(
            prose,
            "As few as {taken} taken, as the time was up: without loops= a scenario has {} s. ",
            u64::from(LOOPS_LIMIT_S)
        )?;
    }
    if let Some(warmed) = test.warmed {
        write!(
            prose,
            "Of {} batches for warm-up as few as {} were done, as a tenth of the time was up. ",
            u64::from(run.plan.warmup),
            u64::from(warmed)
        )?;
    }
    let has = |is: fn(&Point) -> bool| test.points.iter().any(is);
    if has(|p| p.variant == LOOP) && has(|p| p.variant != LOOP) {
        prose.write_str("The loop's own cost is in all figures, and beside them as loop. ")?;
    }
    if has(|p| p.measure == Measure::Cycles) {
        prose.write_str(
            "Cycles are PMCCNTR_EL0's, which firmware and hypervisors may stop while they run: \
             then the ticks alone have their part. ",
        )?;
    }
    let lacks = |variant: &str| test.points.iter().all(|p| p.variant != variant);
    if test.status == Status::Passed
        && test.scenario == ScenarioId::NullCall
        && lacks("smccc_version")
    {
        prose.write_str("The firmware does not implement SMCCC_VERSION. ")?;
    }
    Ok(())
}
