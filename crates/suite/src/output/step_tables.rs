//! Tables for scenarios outside TFTF's suite: one for each metric, on a single CPU and on all CPUs
//! at once, with one row for each CPU and step.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::measure::{Metric, Summary, Unit};
use crate::model::{Cell, CellSeries, Run, Scenario, Status, Variant};
use crate::plan::{Axis, How, LOOPS_LIMIT_S, Procedure, ScenarioId};
use hardware::spec::ticks::Clock;
use hardware::text::plural::Many;
use hardware::text::prose::paragraph;

use super::grid::{Column, GridCell, simple};

/// Writes a scenario's tables and their explanation. Writes nothing for a scenario that is in
/// TFTF's suite or has no results.
pub(crate) fn write(out: &mut dyn Write, run: &Run, scenario: &Scenario) -> fmt::Result {
    if scenario.id.is_suite() || scenario.cells.is_empty() {
        return Ok(());
    }
    for metric in Metric::ALL {
        for how in How::ALL {
            let all = scenario.all_series();
            let own = all.filter(|it| it.series.metric == metric && it.cell.step.how == how);
            one_table(out, run, scenario, &own.collect::<Vec<_>>())?;
        }
    }
    paragraph(out, "", 0, &explanation(run, scenario))?;
    out.write_char('\n')
}

fn one_table(
    out: &mut dyn Write,
    run: &Run,
    scenario: &Scenario,
    rows: &[CellSeries<'_>],
) -> fmt::Result {
    let Some(first) = rows.first() else {
        return Ok(());
    };
    let id = scenario.id;
    let scale = MetricScale::of(run.clock(), *first);
    let cell_of_x: fn(u64) -> GridCell = match id.axis().is_some_and(Axis::has_names) {
        true => GridCell::Hex,
        false => GridCell::Count,
    };
    let cells = |value: &dyn Fn(&CellSeries<'_>) -> GridCell| rows.iter().map(value).collect();
    let figures = |of: fn(&Summary) -> Option<u64>| -> Vec<GridCell> {
        cells(&|row| {
            let summary = &row.series.summary;
            let figure = of(summary).filter(|_| summary.n > 0);
            figure.map_or(GridCell::Missing, |it| scale.cell(it))
        })
    };
    let not_counted = |it: &CellSeries<'_>| it.cell.not_counted(it.series.metric);
    let of_x = |it: &CellSeries<'_>| it.cell.step.x.map_or(GridCell::Missing, cell_of_x);
    // Omit a column that would be empty.
    let has_p99 = rows.iter().any(|it| it.series.summary.p99.is_some());
    let has_not_counted = rows.iter().any(|it| not_counted(it) > 0);
    let variants = cells(&|it| GridCell::Text(it.cell.variant_word()));
    let mut names: Vec<Column> = vec![
        ("CPU", cells(&|it| GridCell::Cpu(run.label(it.cell.cpu)))),
        ("Variant", variants),
    ];
    names.extend(id.axis().map(|axis| (axis.heading(), cells(&of_x))));
    let counts = cells(&|it| GridCell::Count(it.series.summary.n.into()));
    let mut columns: Vec<Column> = vec![
        ("n", counts),
        ("Min", figures(|it| Some(it.min))),
        ("Median", figures(|it| Some(it.median))),
    ];
    if has_p99 {
        columns.push(("p99", figures(|it| it.p99)));
    }
    columns.push(("Max", figures(|it| Some(it.max))));
    if has_not_counted {
        let counts = cells(&|it| GridCell::Count(not_counted(it).into()));
        columns.push((not_counted_heading(id), counts));
    }
    let (metric, how) = (first.series.metric, first.cell.step.how.text());
    let (name, meaning) = (id.name(), meaning(metric));
    let title = format!("{name}{meaning}, {how} ({})", scale.heading());
    simple(out, &title, &names, &columns)
}

/// Returns the heading for samples that were measured but not counted.
pub const fn not_counted_heading(id: ScenarioId) -> &'static str {
    match id.procedure() {
        Procedure::Timers => "Overruns",
        Procedure::Suspend(..)
        | Procedure::CpuOff
        | Procedure::Version
        | Procedure::Loop
        | Procedure::CpuOn
        | Procedure::Steps
        | Procedure::Interrupts
        | Procedure::Checks => "Not Counted",
    }
}

/// Returns the text that follows the scenario name in a title.
fn meaning(metric: Metric) -> &'static str {
    match metric {
        Metric::Time | Metric::Cycles => "",
        Metric::Entry => ": expiry to vector",
        Metric::Handler => ": expiry to handler",
        Metric::Masked => ": longest time masked",
        Metric::Until => ": last offset",
        Metric::Powerdown => ": powerdown",
        Metric::Wakeup => ": wakeup",
        Metric::CacheFlush => ": cache flush",
        Metric::Latency => ": latency",
        Metric::Call => ": call to return",
        Metric::Wake => ": scheduled wake-up to resume",
        Metric::TurnOff => ": CPU_OFF to OFF",
        Metric::TurnOn => ": CPU_ON to first instruction",
        Metric::Count => ": PSCI_STAT_COUNT",
        Metric::Residency => ": PSCI_STAT_RESIDENCY",
    }
}

/// The unit used in one table. The table's values are per operation.
#[derive(Clone, Copy)]
pub struct MetricScale {
    pub(crate) unit: Unit,
    pub(crate) clock: Clock,
    /// The number of operations in a sample. If it is more than 1, values are in ns instead of us.
    pub(crate) per: u64,
}

impl MetricScale {
    /// Returns the unit for a table with this series.
    pub fn of(clock: Clock, it: CellSeries<'_>) -> Self {
        let unit = it.series.metric.unit();
        let per = it.cell.step.per.max(1).into();
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

    /// Returns the unit as shown in a table heading.
    pub fn heading(&self) -> String {
        let per = if self.per > 1 { " per operation" } else { "" };
        format!("{}{per}", self.name())
    }

    /// Returns a sample's value per operation.
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
    let per = scenario.cells.first().map_or(1, |cell| cell.step.per);
    if per > 1 {
        text += &format!(
            "A sample is a batch of {per} operations, timed as a whole; figures are per \
             operation. "
        );
    }
    let asked = scenario.conditions.as_ref().map_or(0, |it| it.asked);
    // A map has as many samples as it needs.
    if scenario.id != ScenarioId::WakeRace {
        text += &format!("{} per CPU requested. ", Many(asked.into(), "sample"));
    }
    if scenario.id.procedure() == Procedure::Timers {
        text += HOW_TO_READ_TIMERS;
    } else if scenario.id.is_micro() {
        add_loops(&mut text, run, scenario, asked);
    } else if scenario.id == ScenarioId::MaskedTime {
        text += HOW_TO_READ_MASKED;
    } else if scenario.id == ScenarioId::WakeRace {
        text += HOW_TO_READ_RACE;
    } else if scenario.id == ScenarioId::ColdCall && !scenario.has_pmf() {
        text += "Without PMF, the timestamp call is not measured. ";
    }
    text
}

const HOW_TO_READ_TIMERS: &str = "Timers run in windows of at most a second, between which a \
    line is printed. The median and p99 may be up to 1/16 too low, \
    because they are the lower bounds of histogram bins. Overruns are expiries that had already \
    passed when the handler ran. If one CPU is measured alone, the other CPUs are on and run the \
    variant's load. ";

const HOW_TO_READ_MASKED: &str = "Masked is the time from the instant at which an interrupt falls due, early in the call, to its \
     handler, less the baseline. ";

const HOW_TO_READ_RACE: &str = "returned, abandoned: the call returned, before or after the power-down began. woken, slept: the \
     interrupt came before or after the CPU was down. lost: only an SGI woke the CPU. Without PMF, \
     returned includes abandoned, and slept includes woken. ";

fn add_loops(text: &mut String, run: &Run, scenario: &Scenario, asked: u32) {
    let has_limit = run.plan.is_some_and(|plan| plan.loops.is_none());
    let is_loop = |it: &CellSeries<'_>| it.cell.step.variant == Variant::Loop;
    let own = scenario.all_series().filter(|it| !is_loop(it));
    let taken = own.map(|it| {
        let not_counted = it.cell.not_counted(it.series.metric);
        u64::from(it.series.summary.n) + u64::from(not_counted)
    });
    let taken = taken.min();
    if let Some(taken) = taken.filter(|taken| *taken < asked.into() && has_limit) {
        *text += &format!(
            "The time limit ended the sampling after at least {}: without loops=, a scenario is \
             limited to {LOOPS_LIMIT_S} s. ",
            Many(taken, "sample")
        );
    }
    let has = |is: fn(&Cell) -> bool| scenario.cells.iter().any(is);
    let is_loop = |it: &Cell| it.step.variant == Variant::Loop;
    if has(is_loop) && has(|it| it.step.variant != Variant::Loop) {
        *text += "All figures include the loop's own cost, which is also shown as loop. ";
    }
    if has(|it| it.series_of(Metric::Cycles).is_some()) {
        *text += "Cycles come from PMCCNTR_EL0, which firmware and hypervisors may stop while \
                  they run; in that case, only the ticks include their time. ";
    }
    let is_null_call = scenario.status == Status::Passed && scenario.id == ScenarioId::NullCall;
    if is_null_call && !has(|it| it.step.variant == Variant::SmcccVersion) {
        *text += "The firmware does not implement SMCCC_VERSION. ";
    }
}
