//! Tables of points: one for each figure and number of CPUs, one row for each
//! CPU and variant.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use super::grid::{Cell, cpu_headings, push_cpu, table};
use crate::model::{How, Measure, Point, Run, Scenario, Status, Unit, Variant};
use crate::plan::{LOOPS_LIMIT_S, ScenarioId};
use crate::spec::prose::{Many, append, paragraph};
use crate::spec::ticks::Clock;

/// Writes them all; nothing without any point.
pub(crate) fn write(out: &mut dyn Write, run: &Run, scenario: &Scenario) -> fmt::Result {
    for measure in Measure::ALL {
        for how in How::ALL {
            let points = scenario.points.iter();
            let points = points.filter(|it| it.measure == measure && it.how == how);
            one_table(out, run, scenario, &points.collect::<Vec<_>>())?;
        }
    }
    if scenario.points.is_empty() {
        return Ok(());
    }
    paragraph(out, "", 0, &explanation(run, scenario))?;
    out.write_char('\n')
}

/// Writes the table of one measure.
fn one_table(
    out: &mut dyn Write,
    run: &Run,
    scenario: &Scenario,
    points: &[&Point],
) -> fmt::Result {
    let Some(first) = points.first() else {
        return Ok(());
    };
    let scale = Scale::of(first, run.clock());
    // A column that would be empty is left out.
    let is_shown = |column: &Column| match column {
        Column::X => points.iter().any(|point| point.x.is_some()),
        Column::P99 => points.iter().any(|point| point.figures.p99.is_some()),
        Column::Lost => points.iter().any(|point| point.lost > 0),
        _ => true,
    };
    let columns: Vec<_> = Column::ALL.into_iter().filter(is_shown).collect();
    let names = columns.iter().map(|column| column.heading(scenario.id));
    let headings: Vec<_> = cpu_headings(run).iter().copied().chain(names).collect();
    let mut cells = Vec::with_capacity(points.len() * headings.len());
    for point in points {
        push_cpu(&mut cells, run, point.cpu);
        for column in &columns {
            cells.push(column.cell(point, scale, scenario.id));
        }
    }
    let how = match first.how {
        How::Alone => "one CPU alone",
        How::All => "all CPUs at once",
    };
    let per = if first.per > 1 { " per operation" } else { "" };
    let (name, unit) = (scenario.id.name(), scale.name());
    let title = format!("{name}{}, {how} ({unit}{per})", meaning(first.measure));
    table(out, &title, &headings, &cells)
}

/// Returns the meaning of a figure, as it follows the scenario's name.
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

/// The unit of the figure of one operation.
#[derive(Clone, Copy)]
enum Scale {
    Nanoseconds(Clock),
    Microseconds(Clock),
    Ticks,
    Cycles,
    /// The figure by itself, in this unit.
    Plain(&'static str),
}

impl Scale {
    /// Chooses the unit: operations that are measured in batches are short.
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

    /// Converts a figure of `per` operations to that of one in hundredths.
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

/// Returns `number * factor / divisor`, rounded.
fn part(number: u64, factor: u64, divisor: u64) -> Option<u64> {
    let number = number.checked_mul(factor)?;
    Some(number.checked_add(divisor / 2)? / divisor)
}

/// A column after those that name a CPU.
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

    fn heading(self, id: ScenarioId) -> &'static str {
        match self {
            Self::X => match id {
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

    fn cell(self, point: &Point, scale: Scale, id: ScenarioId) -> Cell {
        let figures = &point.figures;
        let figure = match self {
            Self::X if id == ScenarioId::IdleStates => {
                return point.x.map_or(Cell::Missing, Cell::Hex);
            }
            Self::X => return point.x.map_or(Cell::Missing, Cell::Count),
            Self::Variant => return Cell::Text(point.variant.word()),
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

/// Explains how the figures were measured.
fn explanation(run: &Run, scenario: &Scenario) -> String {
    let mut text = String::new();
    let per = scenario.points.first().map_or(1, |point| point.per);
    if per > 1 {
        append(
            &mut text,
            format_args!(
                "A sample is a batch of {per} operations, timed as a whole, and the figures are those \
             of one. "
            ),
        );
    }
    let asked = scenario.conditions.as_ref().map_or(0, |it| it.asked);
    append(
        &mut text,
        format_args!("{} a CPU asked for. ", Many(asked.into(), "sample")),
    );
    if scenario.id == ScenarioId::TimerLatency {
        text += super::latency::HOW_TO_READ;
    } else if scenario.id.is_micro() {
        text += &of_loops(run, scenario, asked);
    }
    text
}

/// Explains loops.
fn of_loops(run: &Run, scenario: &Scenario, asked: u32) -> String {
    let mut text = String::new();
    let (warmup, has_limit) = run
        .plan
        .map_or((0, false), |plan| (plan.warmup, plan.loops.is_none()));
    let own = scenario
        .points
        .iter()
        .filter(|it| it.variant != Variant::Loop);
    let taken = own.map(|it| u64::from(it.figures.n) + it.lost).min();
    if let Some(taken) = taken.filter(|taken| *taken < asked.into() && has_limit) {
        append(
            &mut text,
            format_args!(
                "As few as {taken} taken, as the time was up: without loops= a scenario has \
             {LOOPS_LIMIT_S} s. "
            ),
        );
    }
    if let Some(warmed) = scenario.conditions.as_ref().and_then(|it| it.warmed) {
        append(
            &mut text,
            format_args!(
                "Of {warmup} batches for warm-up as few as {warmed} were done, as a tenth of the time \
             was up. "
            ),
        );
    }
    let has = |is: fn(&Point) -> bool| scenario.points.iter().any(is);
    if has(|it| it.variant == Variant::Loop) && has(|it| it.variant != Variant::Loop) {
        text += "The loop's own cost is in all figures, and beside them as loop. ";
    }
    if has(|it| it.measure == Measure::Cycles) {
        text += "Cycles are PMCCNTR_EL0's, which firmware and hypervisors may stop while they \
                 run: then the ticks alone have their part. ";
    }
    if scenario.status == Status::Passed
        && scenario.id == ScenarioId::NullCall
        && !has(|it| it.variant == Variant::SmcccVersion)
    {
        text += "The firmware does not implement SMCCC_VERSION. ";
    }
    text
}
