//! Tables of points: one for each measure, on one CPU alone and on all at once; one row
//! for each CPU and variant.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::output::prose::paragraph;
use hardware::spec::ticks::Clock;
use hardware::text::plural::Many;
use run::measure::{Metric, Summary, Unit};
use run::model::{How, Point, Run, Scenario, Status, Variant};
use run::plan::{Axis, LOOPS_LIMIT_S, Procedure, ScenarioId};

use super::grid::{Column, GridCell, grid};

/// Writes the tables of a scenario and their explanation; nothing for a scenario without
/// points.
pub(crate) fn write(out: &mut dyn Write, run: &Run, scenario: &Scenario) -> fmt::Result {
    for measure in Metric::ALL {
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

fn one_table(
    out: &mut dyn Write,
    run: &Run,
    scenario: &Scenario,
    points: &[&Point],
) -> fmt::Result {
    let Some(first) = points.first() else {
        return Ok(());
    };
    let id = scenario.id;
    let scale = PointScale::of(run.clock(), first);
    let cell_of_x: fn(u64) -> GridCell = match id.axis() {
        Some(Axis::PowerState) => GridCell::Hex,
        Some(Axis::Bytes | Axis::Cpus) | None => GridCell::Count,
    };
    let cells =
        |value: &dyn Fn(&Point) -> GridCell| points.iter().map(|it| value(it)).collect::<Vec<_>>();
    let figures = |of: fn(&Summary) -> Option<u64>| {
        cells(&|point| {
            let figure = of(&point.figures).filter(|_| point.figures.n > 0);
            figure.map_or(GridCell::Missing, |it| scale.cell(it))
        })
    };
    // A column that would be empty is left out.
    let any = |test: fn(&Point) -> bool| points.iter().any(|it| test(it));
    let x = || cells(&|it| it.x.map_or(GridCell::Missing, cell_of_x));
    let lost = || cells(&|it| GridCell::Count(it.lost));
    let columns: [Option<Column>; 8] = [
        id.axis().map(|axis| (axis.heading(), x())),
        Some(("Variant", cells(&|it| GridCell::Text(it.variant.word())))),
        Some(("n", cells(&|it| GridCell::Count(it.figures.n.into())))),
        Some(("Min", figures(|it| Some(it.min)))),
        Some(("Median", figures(|it| Some(it.median)))),
        any(|it| it.figures.p99.is_some()).then(|| ("p99", figures(|it| it.p99))),
        Some(("Max", figures(|it| Some(it.max)))),
        any(|it| it.lost > 0).then(|| (not_counted(id), lost())),
    ];
    let (name, meaning, how) = (id.name(), meaning(first.measure), first.how.text());
    let title = format!("{name}{meaning}, {how} ({})", scale.heading());
    let cpus = points.iter().map(|it| it.cpu);
    grid(out, run, &title, cpus, columns.into_iter().flatten())
}

/// Returns the heading of the samples that were taken and do not count.
pub const fn not_counted(id: ScenarioId) -> &'static str {
    match id.procedure() {
        Procedure::Timers => "Overruns",
        _ => "Not Counted",
    }
}

/// Returns the words after the scenario's name in a title.
fn meaning(measure: Metric) -> &'static str {
    match measure {
        Metric::Time | Metric::Cycles => "",
        Metric::Entry => ": expiry to vector",
        Metric::Handler => ": expiry to handler",
        Metric::Powerdown => ": powerdown",
        Metric::Wakeup => ": wakeup",
        Metric::CacheFlush => ": cache flush",
        Metric::Latency => ": latency",
        Metric::Call => ": call to return",
        Metric::Wake => ": due wake-up to resume",
        Metric::TurnOff => ": CPU_OFF to OFF",
        Metric::TurnOn => ": CPU_ON to first instruction",
        Metric::Count => ": PSCI_STAT_COUNT",
        Metric::Residency => ": PSCI_STAT_RESIDENCY",
    }
}

/// The unit of the figures of one table, which are those of one operation.
#[derive(Clone, Copy)]
pub struct PointScale {
    pub(crate) unit: Unit,
    pub(crate) clock: Clock,
    /// Operations in a sample; if more than one, figures are in ns instead of us.
    pub(crate) per: u64,
}

impl PointScale {
    /// Returns the unit of a table with this point.
    pub fn of(clock: Clock, point: &Point) -> Self {
        let (unit, per) = (point.measure.unit(), point.per.max(1).into());
        Self { unit, clock, per }
    }

    /// Returns the name of the unit.
    pub fn name(&self) -> &'static str {
        match self.unit {
            Unit::Cycles => "cycles",
            Unit::Microseconds => "us",
            Unit::Count => "times",
            Unit::Ticks if !self.clock.is_known() => "ticks",
            Unit::Ticks if self.per > 1 => "ns",
            Unit::Ticks => "us",
        }
    }

    /// Returns the unit as the heading of a table has it.
    pub fn heading(&self) -> String {
        let per = if self.per > 1 { " per operation" } else { "" };
        format!("{}{per}", self.name())
    }

    /// Returns the figure of a sample as that of one operation.
    pub fn text(&self, figure: u64) -> String {
        self.cell(figure).to_string()
    }

    pub(crate) fn cell(&self, figure: u64) -> GridCell {
        let hundredths = match (self.unit, self.per) {
            (Unit::Microseconds | Unit::Count, _) => return GridCell::Count(figure),
            (Unit::Ticks, per) if self.clock.is_known() => {
                let (factor, divisor) = if per > 1 { (100, per) } else { (1, 10) };
                let ns = self.clock.ns(figure);
                ns.and_then(|ns| part(ns, factor, divisor))
            }
            (_, 1) => return GridCell::Count(figure),
            (_, per) => part(figure, 100, per),
        };
        hundredths.map_or(GridCell::Missing, GridCell::Hundredths)
    }
}

/// Returns `number * factor / divisor`, rounded.
fn part(number: u64, factor: u64, divisor: u64) -> Option<u64> {
    let number = number.checked_mul(factor)?;
    Some(number.checked_add(divisor / 2)? / divisor)
}

fn explanation(run: &Run, scenario: &Scenario) -> String {
    let mut text = String::new();
    let per = scenario.points.first().map_or(1, |point| point.per);
    if per > 1 {
        text += &format!(
            "A sample is a batch of {per} operations, timed as a whole, and the figures are those \
             of one. "
        );
    }
    let asked = scenario.conditions.as_ref().map_or(0, |it| it.asked);
    text += &format!("{} a CPU asked for. ", Many(asked.into(), "sample"));
    if scenario.id.procedure() == Procedure::Timers {
        text += super::latency::HOW_TO_READ;
    } else if scenario.id.is_micro() {
        add_loops(&mut text, run, scenario, asked);
    }
    text
}

fn add_loops(text: &mut String, run: &Run, scenario: &Scenario, asked: u32) {
    let has_limit = run.plan.is_some_and(|plan| plan.loops.is_none());
    let points = scenario.points.iter();
    let own = points.filter(|it| it.variant != Variant::Loop);
    let taken = own.map(|it| u64::from(it.figures.n) + it.lost).min();
    if let Some(taken) = taken.filter(|taken| *taken < asked.into() && has_limit) {
        *text += &format!(
            "The time limit ended the sampling after at least {}: without loops= a scenario has \
             {LOOPS_LIMIT_S} s. ",
            Many(taken, "sample")
        );
    }
    let has = |is: fn(&Point) -> bool| scenario.points.iter().any(is);
    if has(|it| it.variant == Variant::Loop) && has(|it| it.variant != Variant::Loop) {
        *text += "The loop's own cost is in all figures, and beside them as loop. ";
    }
    if has(|it| it.measure == Metric::Cycles) {
        *text += "Cycles are PMCCNTR_EL0's, which firmware and hypervisors may stop while they \
                  run: then the ticks alone have their part. ";
    }
    let is_null_call = scenario.status == Status::Passed && scenario.id == ScenarioId::NullCall;
    if is_null_call && !has(|it| it.variant == Variant::SmcccVersion) {
        *text += "The firmware does not implement SMCCC_VERSION. ";
    }
}
