//! A comparison in the order of reading.

use super::document::{Block, Line, Remark};
use super::scenario_document::mark;
use super::table::Table;
use crate::report::analysis::compare::{
    Change, ComparedScenario, Comparison, Judged, Keyed, Value, basis_text, scenario_title,
};
use crate::report::log::LoggedRun;
use crate::setup::plural::many;

/// Returns the blocks of a comparison of `run`.
pub(super) fn comparison<'r>(run: &LoggedRun, comparison: &Comparison) -> Vec<Block<'r>> {
    let mut all = vec![
        Block::Title("Comparison".to_owned()),
        Block::Definitions(definitions(run, comparison)),
        Block::Heading("What changed".to_owned()),
        Block::Remarks(remarks(run, comparison)),
        Block::Heading("Changes".to_owned()),
    ];
    for scenario in &comparison.scenarios {
        let lists = [
            (&scenario.by_cpu, Judged::Cpu),
            (&scenario.by_order, Judged::Order),
        ];
        for (changes, judged) in lists.into_iter().filter(|it| !it.0.is_empty()) {
            let table = table(run, comparison, scenario, (changes, judged));
            all.push(Block::Table(table));
        }
    }
    all
}

fn definitions(run: &LoggedRun, comparison: &Comparison) -> Vec<Line> {
    let source = |run: &LoggedRun| format!("{}, run {}", run.source.input, run.source.place);
    let worse = comparison.regressions().count();
    let all = comparison.scenarios.iter().map(|it| it.changes().len());
    let all = many(all.sum(), "figure");
    let mut outcome = match worse {
        0 => format!("no regression in {all}"),
        worse => format!("{} in {all}", many(worse, "regression")),
    };
    for lack in comparison.lacks() {
        outcome += &format!("; incomplete: {lack}");
    }
    let rows = match comparison.keyed {
        Keyed::Mpidr => "by MPIDR",
        Keyed::Labels => "by cluster and core",
        Keyed::Ambiguous => "sorted, as labels are ambiguous",
    };
    let tolerance = f64::from(comparison.tolerance_ppm) / 10_000.0;
    vec![
        ("Run", source(run)),
        ("Baseline", source(&comparison.baseline)),
        ("Rows", rows.to_owned()),
        ("Tolerance", format!("{tolerance} %")),
        ("Outcome", outcome),
    ]
}

fn remarks(run: &LoggedRun, comparison: &Comparison) -> Vec<Remark> {
    let findings = comparison.findings.iter().map(|it| Remark {
        basis: basis_text((&run.run, &comparison.baseline.run), &it.basis),
        ..it.finding.sentence.clone().into()
    });
    let refused = comparison.refused.iter().map(|it| {
        let method = it.method.word();
        format!("Not compared: {}, method {method}: {}.", it.id, it.why)
    });
    let lone = comparison.lone_rows(&run.run);
    let others = refused.chain(lone).map(Remark::from);
    findings.chain(others).collect()
}

fn table(
    run: &LoggedRun,
    comparison: &Comparison,
    scenario: &ComparedScenario,
    (changes, judged): (&[Change], Judged),
) -> Table {
    let is_of_points = changes.iter().any(|it| it.key.is_point());
    let name = scenario_title((&run.run, &comparison.baseline.run), scenario.key);
    let how = match (judged, scenario.judged) {
        (Judged::Cpu, Judged::Cpu) => "by CPU",
        (Judged::Cpu, Judged::Order) => "by CPU, not judged",
        (Judged::Order, _) => "by order",
    };
    let unit = if is_of_points {
        "of one operation"
    } else {
        run.unit()
    };
    let title = format!("{name}: change {how} ({unit})");
    let mut table = match judged {
        Judged::Cpu => Table::of_cpus(title, &run.run),
        Judged::Order => {
            let mut table = Table::titled(title);
            table.numbers(["Place", "CPU", "Was CPU"]);
            table
        }
    };
    let keys = changes.iter().map(|it| it.key);
    let cells_of = is_of_points.then(|| table.of_keys(scenario.key.id, keys));
    table.words((!is_of_points).then_some("Figure"));
    table.numbers(["Old", "New", "Change"]);
    table.words(is_of_points.then_some("Unit"));
    table.words(["Outcome"]);
    for change in changes {
        let mut cells = match &cells_of {
            Some(cells_of) => cells_of(change.key),
            None => vec![change.key.heading().to_owned()],
        };
        cells.extend(change_cells(run, change, is_of_points));
        match change.place {
            None => table.cpu_row(&run.run, change.cpu, cells),
            Some(place) => {
                let was = comparison.baseline.run.label(change.old_cpu);
                let cpu = run.run.label(change.cpu);
                let mut row = vec![(place + 1).to_string(), cpu.to_string(), was.to_string()];
                row.extend(cells);
                table.rows.push(row);
            }
        }
    }
    table
}

fn change_cells(run: &LoggedRun, change: &Change, is_of_points: bool) -> Vec<String> {
    let clock = run.clock();
    let text = |value: f64| match (is_of_points, clock.is_known()) {
        (true, _) => format!("{value:.2}"),
        (false, false) => value.to_string(),
        // Halves are rounded up, as in other tables.
        (false, true) => format!("{:.2}", (value / 10.0 + 0.5).floor() / 100.0),
    };
    let side = |value: &Value| {
        let figure = format!("{}{}", text(value.figure), mark(value.is_doubtful));
        match value.interval {
            Some((low, high)) => format!("{figure} [{}, {}]", text(low), text(high)),
            None => figure,
        }
    };
    let net = change.by_flushes.map_or("", |_| " net");
    let percent = match change.percent() {
        _ if change.delta() == 0.0 => "0".to_owned(),
        Some(percent) => format!("{percent:+.2} %{net}"),
        None => "from zero".to_owned(),
    };
    let mut cells = vec![side(&change.old), side(&change.new), percent];
    cells.extend(is_of_points.then(|| change.key.unit_name(clock).to_owned()));
    cells.push(change.outcome.word().to_owned());
    cells
}
