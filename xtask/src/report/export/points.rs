//! The tables of points: one for each figure and number of CPUs, as the
//! payload prints them, one row for each CPU, x and variant.

use psci_bench::model::{How, Measure, Unit};

use super::table::{Table, cpu_cells, cpu_columns};
use crate::report::model::{Measured, Run, Term, Test, measure_heading};

/// All tables of a scenario's points.
pub(super) fn tables(run: &Run, test: &Test) -> Vec<Table> {
    let mut kinds: Vec<(&Term<Measure>, &Term<How>)> = Vec::new();
    for point in &test.points {
        let kind = (&point.metric, &point.how);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let own = |(metric, how): &(&Term<Measure>, &Term<How>)| {
        let points = test.points.iter();
        let own: Vec<&Measured> = points
            .filter(|it| (&it.metric, &it.how) == (*metric, *how))
            .collect();
        table(run, test, &own)
    };
    kinds.iter().filter_map(own).collect()
}

fn table(run: &Run, test: &Test, points: &[&Measured]) -> Option<Table> {
    let first = points.first()?;
    let scale = Scale::of(run, points);
    let mut table = Table::titled(format!(
        "{}{}, {} ({}{})",
        test.name(),
        match &first.metric {
            Term::Known(Measure::Ticks | Measure::Cycles) => String::new(),
            metric => format!(": {}", measure_heading(metric)),
        },
        how(&first.how),
        scale.name(),
        if points.iter().any(|it| it.per > 1) {
            " per operation"
        } else {
            ""
        }
    ));
    cpu_columns(run, &mut table);
    let has_x = points.iter().any(|it| it.x.is_some());
    let p99 = points.iter().any(|it| it.summary.p99.is_some());
    let lost = points.iter().any(|it| it.lost > 0);
    if has_x {
        table.numbers(test.x_heading());
    }
    table.words("Variant");
    for name in ["n", "Min", "Median", "p99", "Max", "MAD", "Lost"] {
        if (name != "p99" || p99) && (name != "Lost" || lost) {
            table.numbers(name);
        }
    }
    for point in points {
        let mut cells = cpu_cells(run, point.cpu);
        if has_x {
            cells.push(point.x.map_or("n/a".to_owned(), |x| test.x_shown(x)));
        }
        let summary = &point.summary;
        let shown = |figure: u64| scale.shown(run, point, figure);
        cells.extend([point.variant.clone(), summary.n.to_string()]);
        cells.extend([shown(summary.min), shown(summary.median)]);
        if p99 {
            cells.push(summary.p99.map_or("n/a".to_owned(), shown));
        }
        cells.extend([shown(summary.max), shown(summary.mad)]);
        if lost {
            cells.push(point.lost.to_string());
        }
        table.rows.push(cells);
    }
    Some(table)
}

/// On how many CPUs, in words.
pub(super) fn how(how: &Term<How>) -> &str {
    match how {
        Term::Known(How::Alone) => "one CPU alone",
        Term::Known(How::All) => "all CPUs at once",
        Term::Other(word) => word,
    }
}

/// What the figures of one operation are told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Nanoseconds,
    Microseconds,
    Ticks,
    Cycles,
    /// As they are, in this unit.
    Plain(&'static str),
}

impl Scale {
    /// What is done in a batch is quick; what is done by itself is not.
    pub(super) fn of(run: &Run, points: &[&Measured]) -> Self {
        let batch = points.iter().any(|it| it.per > 1);
        match points.first().map(|it| it.unit()) {
            Some(Unit::Cycles) => Self::Cycles,
            Some(Unit::Microseconds) => Self::Plain("us"),
            Some(Unit::Count) => Self::Plain("times"),
            _ if !run.clock().is_known() => Self::Ticks,
            _ if batch => Self::Nanoseconds,
            _ => Self::Microseconds,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Microseconds => "us",
            Self::Ticks => "ticks",
            Self::Cycles => "cycles",
            Self::Plain(unit) => unit,
        }
    }

    /// A figure of a sample, as that of one operation.
    pub(super) fn value(self, run: &Run, point: &Measured, figure: u64) -> f64 {
        let each = point.each(run, figure);
        match self {
            Self::Microseconds => each / 1000.0,
            _ => each,
        }
    }

    fn shown(self, run: &Run, point: &Measured, figure: u64) -> String {
        let whole = match self {
            Self::Plain(_) => true,
            Self::Ticks | Self::Cycles => point.per == 1,
            _ => false,
        };
        let digits = if whole { 0 } else { 2 };
        format!("{:.digits$}", self.value(run, point, figure))
    }
}
