//! A scenario's tables, and the sentence that says how to read them.

use core::fmt::{self, Write};

use super::grid::{COLUMNS_MAX, Cell, Grid};
use crate::measure::{METRICS, Metric};
use crate::model::{Label, Row, Run, TestReport, columns, figure, heading};
use crate::plan::{Method, ScenarioId, WakePattern};
use crate::spec::prose::{Many, Prose, paragraph};
use crate::spec::ticks::Unit;

/// Writes them all; nothing where there is no figure.
pub(crate) fn write(out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>) -> fmt::Result {
    let metrics = columns(test);
    if metrics.is_empty() {
        return Ok(());
    }
    main_table(out, run, test, &metrics)?;
    spread_table(out, run, test, &metrics)?;
    paragraph(out, "", 0, &mut |prose| {
        how_to_read(prose, run, test, &metrics)
    })?;
    out.write_char('\n')
}

/// What tells two tables of one scenario apart.
fn variant(test: &TestReport<'_>) -> &'static str {
    match (test.method, test.pmf) {
        (Method::Tftf, true) => "",
        (Method::Tftf, false) => ", caller's side",
        (Method::Warm, true) => ", CPUs kept on",
        (Method::Warm, false) => ", CPUs kept on, caller's side",
    }
}

/// The CPU that stayed awake, in a table's title.
struct Helper(Option<Label>);

impl fmt::Display for Helper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(label) => write!(f, ", woken by CPU {label}"),
            None => Ok(()),
        }
    }
}

/// The columns that say which CPU a row is.
pub(crate) fn cpu_headings(run: &Run<'_>) -> &'static [&'static str] {
    match run.threads() {
        1 => &["Cluster", "Core"],
        _ => &["Cluster", "Core", "Thread"],
    }
}

pub(crate) fn cpu_cell(run: &Run<'_>, index: u16, column: usize) -> Cell {
    let cpu = run.cpu(index.into());
    let number = [cpu.cluster, cpu.core, cpu.thread];
    Cell::Count(number.get(column).copied().unwrap_or(0).into())
}

/// A table whose first columns say which CPU a row is.
struct CpuTable<'t> {
    /// What it shows of the scenario, for its title.
    shows: &'static str,
    /// How many rows each CPU has; those of the first figure come first.
    figures: usize,
    /// Number of columns behind the CPU's.
    columns: usize,
    /// The heading of one of those.
    heading: &'t dyn Fn(usize) -> &'static str,
    /// The cell in one of those, by the CPU's row and which of its figures.
    cell: &'t dyn Fn(&Row, usize, usize) -> Cell,
}

impl CpuTable<'_> {
    fn write(&self, out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>) -> fmt::Result {
        let which = cpu_headings(run);
        // The helper has no figures.
        let rows = || test.rows.iter().filter(|row| test.helper != Some(row.cpu));
        let cpus = rows().count();
        Grid {
            columns: which.len() + self.columns,
            heading: &|column| match which.get(column) {
                Some(heading) => heading,
                None => (self.heading)(column - which.len()),
            },
            rows: cpus * self.figures,
            cell: &|place, column| {
                let figure = place.checked_div(cpus).unwrap_or(0);
                let Some(row) = rows().nth(place - figure * cpus) else {
                    return Cell::Missing;
                };
                match column.checked_sub(which.len()) {
                    None => cpu_cell(run, row.cpu, column),
                    Some(column) => (self.cell)(row, figure, column),
                }
            },
        }
        .write(
            out,
            format_args!(
                "{}{}{}{} ({})",
                test.scenario.name(),
                variant(test),
                Helper(test.helper.map(|cpu| run.label(cpu.into()))),
                self.shows,
                run.unit().name()
            ),
        )
    }
}

/// One row a CPU, one column a figure.
fn main_table(
    out: &mut dyn Write,
    run: &Run<'_>,
    test: &TestReport<'_>,
    metrics: &[Metric],
) -> fmt::Result {
    let unit = run.unit();
    CpuTable {
        shows: "",
        figures: 1,
        columns: metrics.len(),
        heading: &|column| metrics.get(column).map_or("", |m| heading(*m)),
        cell: &|row, _, column| {
            if row.skipped.is_some() {
                return Cell::Text("Skipped");
            }
            let metric = metrics.get(column);
            Cell::ticks(unit, metric.and_then(|m| figure(test, row, *m)))
        },
    }
    .write(out, run, test)
}

/// One row a figure and CPU, one column a statistic.
fn spread_table(
    out: &mut dyn Write,
    run: &Run<'_>,
    test: &TestReport<'_>,
    metrics: &[Metric],
) -> fmt::Result {
    // A percentile takes many samples: without any its column says nothing.
    let all = || test.rows.iter().flat_map(|row| &row.summaries);
    let columns: &[Column] = if all().any(|s| s.p99.is_some()) {
        &COLUMNS
    } else {
        &COLUMNS_OF_FEW
    };
    let unit = run.unit();
    CpuTable {
        shows: ": spread of the samples",
        figures: metrics.len(),
        columns: columns.len(),
        heading: &|column| columns.get(column).map_or("", |c| c.heading()),
        cell: &|row, figure, column| match (columns.get(column), metrics.get(figure)) {
            (Some(column), Some(metric)) => column.of(unit, row, *metric),
            _ => Cell::Missing,
        },
    }
    .write(out, run, test)
}

/// A column of the spread table.
#[derive(Clone, Copy)]
enum Column {
    Figure,
    Count,
    Min,
    Median,
    P99,
    Max,
    Mad,
}

use Column::{Count, Figure, Mad, Max, Median, Min, P99};
const COLUMNS: [Column; 7] = [Figure, Count, Min, Median, P99, Max, Mad];
const COLUMNS_OF_FEW: [Column; 6] = [Figure, Count, Min, Median, Max, Mad];

impl Column {
    fn heading(self) -> &'static str {
        match self {
            Figure => "Figure",
            Count => "n",
            Min => "Min",
            Median => "Median",
            P99 => "p99",
            Max => "Max",
            Mad => "MAD",
        }
    }

    fn of(self, unit: Unit, row: &Row, metric: Metric) -> Cell {
        let summary = row.summary(metric);
        Cell::ticks(
            unit,
            match self {
                Figure => return Cell::Text(heading(metric)),
                Count => return Cell::Count(summary.map_or(0, |s| s.n.into())),
                Min => summary.map(|s| s.min),
                Median => summary.map(|s| s.median),
                P99 => summary.and_then(|s| s.p99),
                Max => summary.map(|s| s.max),
                Mad => summary.map(|s| s.mad),
            },
        )
    }
}

/// What was run, what a row is, what a column is.
fn how_to_read(
    prose: &mut Prose<'_>,
    run: &Run<'_>,
    test: &TestReport<'_>,
    metrics: &[Metric],
) -> fmt::Result {
    let parallel = test.scenario.is_parallel();
    let unit = run.unit();
    write!(
        prose,
        "Method {}: {} a CPU asked for, {} made{}. ",
        test.method.word(),
        Many(test.asked.into(), "sample"),
        Many(
            test.attempts.into(),
            if parallel { "round" } else { "attempt" }
        ),
        if parallel { "" } else { " on all CPUs" },
    )?;
    if let Some(power_state) = test.power_state {
        write!(prose, "power_state {:#010x}; ", u64::from(power_state))?;
        let how = match run.plan.wake_by(test.method) {
            _ if !parallel => "wake-up",
            WakePattern::Together => "all wake together",
            WakePattern::Staggered => "wake-ups staggered, the first",
            WakePattern::Chain if test.helper.is_some() => {
                "each woken CPU wakes the next by SGI, the first"
            }
            WakePattern::Chain => "the lead wakes all others by SGI, itself",
        };
        write!(prose, "{how} {} after the start. ", unit.span(test.sleep))?;
    }
    prose.write_str(if parallel {
        "The first table is one round, the one whose longest "
    } else {
        "The first table has each CPU's medians. "
    })?;
    if parallel {
        let first = metrics.first().copied().unwrap_or(Metric::Call);
        write!(prose, "{} is the median. ", heading(first))?;
        let skew = &test.skew;
        if skew.n > 0 {
            write!(
                prose,
                "Calls began within {} of each other (median of {}; at most {}). ",
                unit.span(skew.median),
                Many(skew.n.into(), "round"),
                unit.span(skew.max)
            )?;
        }
    }
    for metric in metrics {
        prose.write_str(meaning(*metric, test.scenario))?;
    }
    Ok(())
}

/// What a figure of the caller's side is; PMF's are defined by TF-A.
fn meaning(metric: Metric, scenario: ScenarioId) -> &'static str {
    match metric {
        Metric::Call if scenario == ScenarioId::PsciVersionParallel => {
            "Call is from the call to its return. "
        }
        Metric::Call => "Call is from the call to the resume, the sleep between them included. ",
        Metric::Wake => "Wake is from the due wake-up to the resume. ",
        Metric::TurnOff => "Turn Off is from CPU_OFF to AFFINITY_INFO saying OFF. ",
        Metric::TurnOn => "Turn On is from CPU_ON to the first instruction. ",
        _ => "",
    }
}

// A table has room for the CPU's three columns and every metric beside them.
const _: () = assert!(3 + METRICS <= COLUMNS_MAX);
