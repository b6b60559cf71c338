//! Tables for scenarios outside TFTF's suite: one for each metric, on a single CPU and on all CPUs
//! at once, with one row for each CPU and step.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::measure::{Metric, Summary, Unit};
use crate::model::{CellSeries, Run, Scenario};
use crate::plan::{ActiveCpus, Axis};
use hardware::spec::ticks::Clock;
use hardware::text::prose::paragraph;

use super::grid::{Column, GridCell, simple};

/// Writes a scenario's tables and their explanation. Writes nothing for a scenario that is in
/// TFTF's suite or has no results.
pub(crate) fn write(out: &mut dyn Write, run: &Run, scenario: &Scenario) -> fmt::Result {
    if scenario.id.is_suite() || scenario.cells.is_empty() {
        return Ok(());
    }
    for metric in Metric::ALL {
        for how in ActiveCpus::ALL {
            let all = scenario.all_series();
            let own = all.filter(|it| it.series.metric == metric && it.cell.step.how == how);
            one_table(out, run, scenario, &own.collect::<Vec<_>>())?;
        }
    }
    let explanation = scenario.id.descriptor().explanation;
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
        columns.push((id.descriptor().not_counted.heading(), counts));
    }
    let (metric, how) = (first.series.metric, first.cell.step.how.text());
    let (name, meaning) = (id.name(), meaning(metric));
    let title = format!("{name}{meaning}, {how} ({})", scale.heading());
    simple(out, &title, &names, &columns)
}

/// Returns the text that follows the scenario name in a title.
fn meaning(metric: Metric) -> &'static str {
    match metric {
        Metric::Time | Metric::Cycles => "",
        Metric::Entry => ": expiry to vector",
        Metric::Handler => ": expiry to handler",
        Metric::Masked => ": longest time masked",
        Metric::LastOffset => ": last offset",
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
