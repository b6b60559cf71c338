//! What a comparison tells people: as `content` does of a run.

use super::content::{Remark, mark};
use super::method::Line;
use super::table::{Table, cpu_cells, cpu_columns};
use crate::report::analysis::compare::sentences::title;
use crate::report::analysis::compare::{
    Amount, Change, ComparedTest, Comparison, Judged, Keyed, Value, test_of,
};
use crate::report::model::{Run, heading, measure_heading};
use crate::setup::plural::many;

/// What a comparison is of, and how it was made.
pub(super) fn method(run: &Run, comparison: &Comparison) -> Vec<Line> {
    let source = |run: &Run| format!("{}, run {}", run.source.input, run.source.place);
    let (worse, all) = (
        comparison.regressions().count() + comparison.point_regressions().count(),
        comparison
            .tests
            .iter()
            .map(|test| test.changes().len() + test.points.len())
            .sum(),
    );
    let mut outcome = if worse == 0 {
        format!("no regression in {}", many(all, "figure"))
    } else {
        format!("{} in {}", many(worse, "regression"), many(all, "figure"))
    };
    for lack in comparison.lacks() {
        outcome.push_str(&format!("; incomplete: {lack}"));
    }
    vec![
        ("Run", source(run)),
        ("Baseline", source(&comparison.baseline)),
        (
            "Rows",
            match comparison.keyed {
                Keyed::Mpidr => "by MPIDR",
                Keyed::Labels => "by cluster and core",
                Keyed::Ambiguous => "sorted, as labels are ambiguous",
            }
            .to_owned(),
        ),
        (
            "Tolerance",
            format!("{} %", f64::from(comparison.tolerance_ppm) / 10_000.0),
        ),
        ("Outcome", outcome),
    ]
}

/// A comparison's tables: by CPU, and by order where CPUs wait for each other.
pub(super) fn tables(run: &Run, comparison: &Comparison) -> Vec<Table> {
    let mut all = Vec::new();
    for test in &comparison.tests {
        let name = title(run, &comparison.baseline, test);
        let lists = [(&test.by_cpu, Judged::Cpu), (&test.by_order, Judged::Order)];
        for (changes, judged) in lists.into_iter().filter(|it| !it.0.is_empty()) {
            let how = match (judged, test.judged) {
                (Judged::Cpu, Judged::Cpu) => "by CPU",
                (Judged::Cpu, Judged::Order) => "by CPU, not judged",
                (Judged::Order, _) => "by order",
            };
            let mut table = Table::titled(format!("{name}: change {how} ({})", run.unit()));
            match judged {
                Judged::Cpu => cpu_columns(run, &mut table),
                Judged::Order => ["Place", "CPU", "Was CPU"]
                    .into_iter()
                    .for_each(|name| table.numbers(name)),
            }
            table.words("Figure");
            for name in ["Old", "New", "Change"] {
                table.numbers(name);
            }
            table.words("Outcome");
            table.rows = changes
                .iter()
                .map(|change| change_cells(run, comparison, change))
                .collect();
            all.push(table);
        }
        all.extend(points(run, comparison, test, &name));
    }
    all
}

/// The changes of points.
fn points(run: &Run, of: &Comparison, test: &ComparedTest, name: &str) -> Option<Table> {
    let first = test.points.first()?;
    let own = test_of(run, test, true)?;
    let mut table = Table::titled(format!("{name}: change, of one operation"));
    match first.place {
        None => cpu_columns(run, &mut table),
        Some(_) => ["Place", "CPU", "Was CPU"]
            .into_iter()
            .for_each(|name| table.numbers(name)),
    }
    let has_x = test.points.iter().any(|it| it.point.x.is_some());
    if has_x {
        table.numbers(own.x_heading());
    }
    for heading in ["On", "Variant", "Figure"] {
        table.words(heading);
    }
    for heading in ["Old", "New", "Change"] {
        table.numbers(heading);
    }
    table.words("Unit");
    table.words("Outcome");
    for change in &test.points {
        let point = &change.point;
        let mut cells = match change.place {
            None => cpu_cells(run, point.cpu),
            Some(place) => vec![
                (place + 1).to_string(),
                run.label(point.cpu),
                of.baseline.label(change.old_cpu),
            ],
        };
        if has_x {
            cells.push(point.x.map_or("n/a".to_owned(), |x| own.x_shown(x)));
        }
        let (how, variant) = (point.how.word().to_owned(), point.variant.clone());
        cells.extend([how, variant, measure_heading(&point.metric).to_owned()]);
        let shown = |it: &Amount| match it.interval {
            Some((low, high)) => format!("{:.2} [{low:.2}, {high:.2}]", it.figure),
            None => format!("{:.2}", it.figure),
        };
        let percent = change.percent();
        cells.extend([
            shown(&change.old),
            shown(&change.new),
            match change.new.figure == change.old.figure {
                true => "0".to_owned(),
                false => percent.map_or("from zero".into(), |it| format!("{it:+.2} %")),
            },
            change.unit.to_owned(),
            change.outcome.word().to_owned(),
        ]);
        table.rows.push(cells);
    }
    Some(table)
}

fn change_cells(run: &Run, comparison: &Comparison, change: &Change) -> Vec<String> {
    let mut cells = match change.place {
        None => cpu_cells(run, change.cpu),
        Some(place) => vec![
            (place + 1).to_string(),
            run.label(change.cpu),
            comparison.baseline.label(change.old_cpu),
        ],
    };
    let shown = |value: &Value| {
        let time = |value: u64| {
            if !run.clock().is_known() {
                return value.to_string();
            }
            let centi = value / 10 + u64::from(value % 10 >= 5);
            format!("{}.{:02}", centi / 100, centi % 100)
        };
        let figure = format!("{}{}", time(value.figure), mark(value.doubtful));
        match value.interval {
            Some((low, high)) => format!("{figure} [{}, {}]", time(low), time(high)),
            None => figure,
        }
    };
    let net = if change.by_flushes.is_some() {
        " net"
    } else {
        ""
    };
    let percent = change.percent();
    cells.extend([
        heading(&change.metric).to_owned(),
        shown(&change.old),
        shown(&change.new),
        percent.map_or("from zero".into(), |it| format!("{it:+.2} %{net}")),
        change.outcome.word().to_owned(),
    ]);
    if change.delta() == 0 {
        let at = cells.len() - 2;
        cells[at] = "0".to_owned();
    }
    cells
}

/// A comparison in sentences: findings, with the rows that they rest on, and
/// what was not compared.
pub(super) fn remarks(run: &Run, comparison: &Comparison) -> Vec<Remark> {
    let findings = comparison.findings.iter().map(|finding| {
        let rows = Some(finding.rows()).filter(|rows| !rows.is_empty());
        Remark {
            text: finding.sentence.clone(),
            behind: rows.map(|rows| ("Rests on".to_owned(), vec![rows])),
        }
    });
    let refused = comparison.refused.iter().map(|it| {
        let (scenario, method) = (it.scenario.word(), &it.method);
        let text = format!("Not compared: {scenario}, method {method}: {}.", it.why);
        Remark::plain(text)
    });
    let lone = comparison.lone_rows(run).into_iter().map(Remark::plain);
    findings.chain(refused).chain(lone).collect()
}

/// The same in one sentence each.
pub(super) fn sentences(run: &Run, comparison: &Comparison) -> Vec<String> {
    let all = remarks(run, comparison).into_iter();
    all.map(|Remark { text, behind }| match behind {
        Some((title, rows)) => format!("{text} {title} {}.", rows.join("; ")),
        None => text,
    })
    .collect()
}
