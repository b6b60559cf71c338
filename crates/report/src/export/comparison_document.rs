//! Converts a comparison to blocks, in reading order.

use hardware::text::plural::many;
use suite::output::Table;

use super::compared_text::{percent_text, tolerance_text, value_text};
use super::document::{Block, LabeledLine};
use super::scenario_document::mark;
use super::table::{key_columns, key_entries};
use crate::analysis::compare::{
    Change, ChangeList, ChangeOutcome, ComparedScenario, ComparedValue, Comparison, RowPairing,
    scenario_title,
};
use crate::analysis::figure::HISTOGRAM_BOUND_NOTE;
use crate::analysis::findings::{BasedFinding, basis_text, explanations};
use crate::log::LoggedRun;

pub(super) fn comparison<'r>(logged: &LoggedRun, comparison: &Comparison) -> Vec<Block<'r>> {
    let mut blocks = vec![
        Block::Definitions(definitions(logged, comparison)),
        Block::Heading("What changed".to_owned()),
        Block::Remarks(remarks(logged, comparison)),
    ];
    blocks.extend(Block::explanations(explained(logged, comparison)));
    blocks.push(Block::Heading("Changes".to_owned()));
    let tables = comparison.scenarios.iter().flat_map(|scenario| {
        [ChangeList::Cpu, ChangeList::Order].map(|list| table(logged, comparison, scenario, list))
    });
    blocks.extend(tables.flatten().map(Block::Table));
    blocks
}

fn definitions(logged: &LoggedRun, comparison: &Comparison) -> Vec<LabeledLine> {
    let scenarios = comparison.scenarios.iter();
    let count = scenarios.map(|scenario| scenario.changes().len()).sum();
    let figures = many(count, "figure");
    let mut outcome = match comparison.regressions().count() {
        _ if comparison.is_pmf_cost => format!("the cost of PMF in {figures}; no verdict"),
        0 => format!("no regression in {figures}"),
        worse => format!("{} in {figures}", many(worse, "regression")),
    };
    for lack in comparison.lacks() {
        outcome += &format!("; incomplete: {lack}");
    }
    let rows = match comparison.row_pairing {
        RowPairing::Mpidr => "by MPIDR",
        RowPairing::Labels => "by cluster and core",
        RowPairing::Ambiguous => "sorted, because labels are ambiguous",
    };
    vec![
        ("Run", logged.source.text()),
        ("Baseline", comparison.baseline.source.text()),
        ("Rows", rows.to_owned()),
        ("Tolerance", tolerance_text(comparison.tolerance_ppm)),
        ("Outcome", outcome),
    ]
}

fn remarks(logged: &LoggedRun, comparison: &Comparison) -> Vec<String> {
    let runs = (&logged.run, &comparison.baseline.run);
    let findings = comparison.findings.iter().map(|compared_finding| {
        let sentence = &compared_finding.finding.sentence;
        let basis = basis_text(runs, &compared_finding.basis);
        if basis.is_empty() {
            sentence.clone()
        } else {
            format!("{sentence} Based on {basis}.")
        }
    });
    let refused = comparison.refused.iter().map(|refusal| {
        let method = refusal.method.word();
        format!(
            "Not compared: {}, method {method}: {}.",
            refusal.id, refusal.why
        )
    });
    findings
        .chain(refused)
        .chain(comparison.lone_rows(&logged.run))
        .collect()
}

/// Returns the run's explanations, followed by those that only the baseline supports. Explanations
/// that the baseline does not support are marked. Without PMF, a run supports none of those on its
/// figures, so the cost of PMF has no explanations.
fn explained(logged: &LoggedRun, comparison: &Comparison) -> Vec<String> {
    if comparison.is_pmf_cost {
        return Vec::new();
    }
    let [new, old] = [logged, &comparison.baseline].map(explanations);
    let supports = |side: &[BasedFinding], explanation: &BasedFinding| {
        let mut kinds = side.iter().map(|other| &other.finding.kind);
        kinds.any(|kind| *kind == explanation.finding.kind)
    };
    let in_run = new.iter().map(|explanation| {
        let sentence = &explanation.finding.sentence;
        if supports(&old, explanation) {
            sentence.clone()
        } else {
            format!("New: {sentence}")
        }
    });
    let only_in_baseline = old
        .iter()
        .filter(|explanation| !supports(&new, explanation))
        .map(|explanation| format!("Only in the baseline: {}", explanation.finding.sentence));
    in_run.chain(only_in_baseline).collect()
}

/// Returns the table of changes by CPU or by order, or None if nothing changed.
fn table(
    logged: &LoggedRun,
    comparison: &Comparison,
    scenario: &ComparedScenario,
    judged_by: ChangeList,
) -> Option<Table> {
    let (changes, how) = match (judged_by, scenario.judged_by) {
        (ChangeList::Cpu, ChangeList::Cpu) => (&scenario.by_cpu, "by CPU"),
        (ChangeList::Cpu, ChangeList::Order) => (&scenario.by_cpu, "by CPU, not judged"),
        (ChangeList::Order, _) => (&scenario.by_order, "by order"),
    };
    let is_of_steps = changes.iter().any(|change| change.key.is_of_step());
    let is_histogram_bound = changes.iter().any(|change| change.key.is_histogram_bound());
    let classes = if is_histogram_bound {
        HISTOGRAM_BOUND_NOTE
    } else {
        ""
    };
    let name = scenario_title((&logged.run, &comparison.baseline.run), scenario.key);
    let unit = if is_of_steps {
        "of one operation"
    } else {
        logged.unit()
    };
    let title = format!("{name}: change {how} ({unit}{classes})");
    let mut table = match judged_by {
        ChangeList::Cpu => Table::of_cpus(title),
        ChangeList::Order => Table::titled(title),
    };
    if judged_by == ChangeList::Order {
        table.numbers(["Place", "CPU", "Was CPU"]);
    }
    key_columns(&mut table, scenario.key.id);
    table.end_names();
    table.numbers(["Old", "New", "Change"]);
    table.optional_words(["Unit"]);
    // Only changes that determine the result have an outcome.
    table.optional_words(["Outcome"]);
    for change in changes {
        let mut entries = key_entries(scenario.key.id, change.key);
        entries.extend(change_entries(logged, change, is_of_steps));
        let outcome = comparison.outcome(scenario, judged_by, change);
        entries.push(outcome.map_or("", ChangeOutcome::word).to_owned());
        match change.rank {
            None => table.cpu_row(&logged.run, change.cpu, entries),
            Some(rank) => {
                let old_label = comparison.baseline.run.label(change.old_cpu).to_string();
                let cpu = logged.run.label(change.cpu).to_string();
                entries.splice(..0, [(rank + 1).to_string(), cpu, old_label]);
                table.rows.push(entries);
            }
        }
    }
    table.finished()
}

fn change_entries(logged: &LoggedRun, change: &Change, is_of_steps: bool) -> [String; 4] {
    let clock = logged.clock();
    let text = |value: f64| value_text(clock, is_of_steps, value);
    let side = |value: &ComparedValue| {
        let figure = text(value.figure) + mark(value.is_doubtful);
        match value.interval {
            Some((low, high)) => format!("{figure} [{}, {}]", text(low), text(high)),
            None => figure,
        }
    };
    let percent = if change.delta() == 0.0 {
        "0".to_owned()
    } else {
        percent_text(change.percent())
    };
    let unit = if is_of_steps {
        change.key.scale(clock).name()
    } else {
        ""
    };
    [
        side(&change.old),
        side(&change.new),
        percent,
        unit.to_owned(),
    ]
}
