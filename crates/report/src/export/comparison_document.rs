//! Converts a comparison to blocks, in reading order.

use hardware::text::plural::many;

use super::compared_text::{percent_text, value_text};
use super::document::{Block, LabeledLine};
use super::scenario_document::mark;
use super::table::{key_cells, key_columns};
use crate::analysis::compare::{
    Change, ChangeList, ChangeOutcome, ComparedScenario, ComparedValue, Comparison, RowPairing,
    scenario_title,
};
use crate::analysis::figure::OF_CLASSES;
use crate::analysis::findings::{BasedFinding, basis_text, explanations};
use crate::log::LoggedRun;
use suite::output::Table;

pub(super) fn comparison<'r>(run: &LoggedRun, comparison: &Comparison) -> Vec<Block<'r>> {
    let mut all = vec![
        Block::Definitions(definitions(run, comparison)),
        Block::Heading("What changed".to_owned()),
        Block::Remarks(remarks(run, comparison)),
    ];
    all.extend(Block::explanations(explained(run, comparison)));
    all.push(Block::Heading("Changes".to_owned()));
    let tables = comparison.scenarios.iter().flat_map(|it| {
        [ChangeList::Cpu, ChangeList::Order].map(|judged_by| table(run, comparison, it, judged_by))
    });
    all.extend(tables.flatten().map(Block::Table));
    all
}

fn definitions(run: &LoggedRun, comparison: &Comparison) -> Vec<LabeledLine> {
    let source = |run: &LoggedRun| format!("{}, run {}", run.source.input, run.source.place);
    let all = comparison.scenarios.iter().map(|it| it.changes().len());
    let all = many(all.sum(), "figure");
    let mut outcome = match comparison.regressions().count() {
        _ if comparison.is_pmf_cost => format!("the cost of PMF in {all}; no verdict"),
        0 => format!("no regression in {all}"),
        worse => format!("{} in {all}", many(worse, "regression")),
    };
    for lack in comparison.lacks() {
        outcome += &format!("; incomplete: {lack}");
    }
    let rows = match comparison.row_pairing {
        RowPairing::Mpidr => "by MPIDR",
        RowPairing::Labels => "by cluster and core",
        RowPairing::Ambiguous => "sorted, because labels are ambiguous",
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

fn remarks(run: &LoggedRun, comparison: &Comparison) -> Vec<String> {
    let runs = (&run.run, &comparison.baseline.run);
    let findings = comparison.findings.iter().map(|it| {
        let (sentence, basis) = (&it.finding.sentence, basis_text(runs, &it.basis));
        match basis.is_empty() {
            true => sentence.clone(),
            false => format!("{sentence} Based on {basis}."),
        }
    });
    let refused = comparison.refused.iter().map(|it| {
        let method = it.method.word();
        format!("Not compared: {}, method {method}: {}.", it.id, it.why)
    });
    let others = refused.chain(comparison.lone_rows(&run.run));
    findings.chain(others).collect()
}

/// Returns the run's explanations, followed by those that only the baseline supports. Explanations
/// that the baseline does not support are marked. Without PMF, a run supports none of those on its
/// figures, so the cost of PMF has no explanations.
fn explained(run: &LoggedRun, comparison: &Comparison) -> Vec<String> {
    if comparison.is_pmf_cost {
        return Vec::new();
    }
    let [new, old] = [run, &comparison.baseline].map(explanations);
    let has = |all: &[BasedFinding], kind| all.iter().any(|it| it.finding.kind == kind);
    let mine = new.iter().map(|it| match has(&old, it.finding.kind) {
        true => it.finding.sentence.clone(),
        false => format!("New: {}", it.finding.sentence),
    });
    let gone = old.iter().filter(|it| !has(&new, it.finding.kind));
    let gone = gone.map(|it| format!("Only in the baseline: {}", it.finding.sentence));
    mine.chain(gone).collect()
}

/// Returns the table of changes by CPU or by order, or None if nothing changed.
fn table(
    run: &LoggedRun,
    comparison: &Comparison,
    scenario: &ComparedScenario,
    judged_by: ChangeList,
) -> Option<Table> {
    let (changes, how) = match (judged_by, scenario.judged_by) {
        (ChangeList::Cpu, ChangeList::Cpu) => (&scenario.by_cpu, "by CPU"),
        (ChangeList::Cpu, ChangeList::Order) => (&scenario.by_cpu, "by CPU, not judged"),
        (ChangeList::Order, _) => (&scenario.by_order, "by order"),
    };
    let is_of_steps = changes.iter().any(|it| it.key.is_of_step());
    let is_histogram_bound = changes.iter().any(|it| it.key.is_histogram_bound());
    let classes = if is_histogram_bound { OF_CLASSES } else { "" };
    let name = scenario_title((&run.run, &comparison.baseline.run), scenario.key);
    let (each, of_run) = ("of one operation", run.unit());
    let unit = if is_of_steps { each } else { of_run };
    let title = format!("{name}: change {how} ({unit}{classes})");
    let mut table = match judged_by {
        ChangeList::Cpu => Table::of_cpus(title),
        ChangeList::Order => Table::titled(title),
    };
    table.numbers(
        (judged_by == ChangeList::Order)
            .then_some(["Place", "CPU", "Was CPU"])
            .into_iter()
            .flatten(),
    );
    key_columns(&mut table, scenario.key.id);
    table.end_names();
    table.numbers(["Old", "New", "Change"]);
    table.optional_words(["Unit"]);
    // Only changes that determine the result have an outcome.
    table.optional_words(["Outcome"]);
    for change in changes {
        let mut cells = key_cells(scenario.key.id, change.key);
        cells.extend(change_cells(run, change, is_of_steps));
        let outcome = comparison.outcome(scenario, judged_by, change);
        cells.push(outcome.map_or("", ChangeOutcome::word).to_owned());
        match change.place {
            None => table.cpu_row(&run.run, change.cpu, cells),
            Some(place) => {
                let was = comparison.baseline.run.label(change.old_cpu).to_string();
                let cpu = run.run.label(change.cpu).to_string();
                cells.splice(..0, [(place + 1).to_string(), cpu, was]);
                table.rows.push(cells);
            }
        }
    }
    table.finished()
}

fn change_cells(run: &LoggedRun, change: &Change, is_of_steps: bool) -> [String; 4] {
    let clock = run.clock();
    let text = |value: f64| value_text(clock, is_of_steps, value);
    let side = |value: &ComparedValue| {
        let figure = text(value.figure) + mark(value.is_doubtful);
        match value.interval {
            Some((low, high)) => format!("{figure} [{}, {}]", text(low), text(high)),
            None => figure,
        }
    };
    let percent = match change.delta() == 0.0 {
        true => "0".to_owned(),
        false => percent_text(change.percent()),
    };
    let unit = change.key.scale(clock).name();
    let unit = if is_of_steps { unit } else { "" };
    let [old, new] = [&change.old, &change.new].map(side);
    [old, new, percent, unit.to_owned()]
}
