//! Converts a comparison to blocks, in reading order.

use std::collections::HashSet;
use std::iter::once;

use hardware::text::plural::many;
use itertools::Itertools as _;
use suite::model::{FindingKind, Verdict};
use suite::output::{ABSENT, Table, text_or_absent};

use super::boot_document::boot_changes;
use super::compared_text::{percent_text, tolerance_text, value_text};
use super::document::{Block, Folded, Headline, Tone};
use super::drawing::changes_chart;
use super::scenario_document::mark;
use super::table::{key_columns, key_entries};
use super::warnings::warnings;
use crate::analysis::compare::{
    CHANGED, Change, ChangeList, ChangeOutcome, ComparedScenario, ComparedValue, Comparison,
    FigureChange, OutcomeCounts, RowPairing, has_one_method, scenario_title,
};
use crate::analysis::figure::HISTOGRAM_BOUND_NOTE;
use crate::analysis::findings::{
    BasedFinding, CONDITIONS, REORDERED, UNCHANGED, basis_text, explanations,
};
use crate::log::LoggedRun;

/// The maximum number of rows in the table of figures, so that it fits on a screen.
const ROWS_MAX: usize = 20;
/// The maximum length of a number with decimal places in that table.
const NUMBER_MAX: usize = 7;
/// The maximum number of findings shown with the result.
const NOTES_MAX: usize = 3;

/// Returns the comparison's blocks: the result first, then what is needed to explain it. If
/// `is_full` is true, the tables contain what did not change, too.
pub(super) fn comparison<'r>(
    logged: &LoggedRun,
    comparison: &Comparison,
    chart_id: String,
    is_full: bool,
) -> Vec<Block<'r>> {
    let mut blocks = vec![Block::Paragraph(sides(logged, comparison))];
    let conditions = conditions(comparison);
    if !conditions.is_empty() {
        blocks.push(Block::Remarks(conditions));
    }
    blocks.push(Block::Headline(headline(logged, comparison)));
    let lacks = comparison.lacks().into_iter();
    blocks.extend(
        lacks
            .chain(run_warnings(logged, comparison))
            .map(Block::Warning),
    );
    let changes = comparison.figure_changes();
    blocks.extend(figure_table(logged, comparison, &changes).map(Block::Table));
    let chart = changes_chart(logged, comparison, chart_id);
    blocks.push(Block::Drawings(chart.into_iter().collect()));
    blocks.extend(boot_changes(logged, &comparison.baseline).map(Block::Table));
    let notes: Vec<String> = notes(comparison)
        .into_iter()
        .chain(not_compared(logged, comparison))
        .collect();
    if !notes.is_empty() {
        blocks.push(Block::Remarks(notes));
    }
    let mut details = vec![
        Block::Heading("What changed".to_owned()),
        Block::Remarks(remarks(logged, comparison)),
    ];
    details.extend(Block::explanations(explained(logged, comparison)));
    let tables = comparison.scenarios.iter().flat_map(|scenario| {
        [ChangeList::Cpu, ChangeList::Order]
            .map(|list| table(logged, comparison, scenario, list, is_full))
    });
    let heading = Block::Heading("Changes by CPU".to_owned());
    details.extend(once(heading).chain(tables.flatten().map(Block::Table)));
    if is_full {
        blocks.extend(details);
    } else {
        let folded = Folded {
            summary: "What changed, what explains it, and the changes by CPU".to_owned(),
            is_essential: false,
        };
        blocks.extend(Block::folded(folded, details));
    }
    blocks
}

/// Says what is compared with what, and how.
fn sides(logged: &LoggedRun, comparison: &Comparison) -> String {
    let rows = match comparison.row_pairing {
        RowPairing::Mpidr => "rows are paired by MPIDR",
        RowPairing::Labels => "rows are paired by cluster and core",
        RowPairing::Ambiguous => "rows are sorted, because labels are ambiguous",
    };
    format!(
        "{}, compared with {}; tolerance {}; {rows}.",
        logged.source.text(),
        comparison.baseline.source.text(),
        tolerance_text(comparison.tolerance_ppm)
    )
}

/// Returns the sentences about conditions that differ.
fn conditions(comparison: &Comparison) -> Vec<String> {
    let findings = comparison.findings.iter().map(|based| &based.finding);
    let conditions = findings.filter(|finding| finding.kind == CONDITIONS);
    conditions.map(|finding| finding.sentence.clone()).collect()
}

fn headline(logged: &LoggedRun, comparison: &Comparison) -> Headline {
    let counts = comparison.counts();
    let figures = many(counts.total(), "figure");
    let why_not_judged = comparison.why_not_judged(&logged.run);
    let OutcomeCounts { worse, better, .. } = counts;
    let unchanged = counts.unchanged();
    let mut text = match &why_not_judged {
        _ if comparison.is_pmf_cost => format!("The cost of PMF in {figures}; no verdict"),
        Some(_) if counts.changed() == 0 => {
            let noise = counts.noise;
            format!("Cannot tell: {noise} of {figures} differ by more than the tolerance")
        }
        _ => format!("{worse} worse, {better} better, {unchanged} unchanged of {figures}"),
    };
    if let Some(why) = &why_not_judged {
        text += &format!(", but {why}");
    }
    let runs = [logged, &comparison.baseline];
    let is_complete = comparison.is_complete() && runs.iter().all(|run| run.is_complete());
    if !is_complete {
        text += "; incomplete";
    }
    let has_no_verdict = comparison.is_pmf_cost || why_not_judged.is_some() || !is_complete;
    let tone = match worse {
        1.. if !comparison.is_pmf_cost => Tone::Bad,
        _ if has_no_verdict => Tone::Neutral,
        _ => Tone::Good,
    };
    Headline { text, tone }
}

/// Returns the reasons to treat the figures of either run with caution, as clauses.
fn run_warnings(logged: &LoggedRun, comparison: &Comparison) -> Vec<String> {
    let runs = [("the run", logged), ("the baseline", &comparison.baseline)];
    let clauses = runs.into_iter().flat_map(|(name, run)| {
        let failed = run.verdict() == Some(Verdict::Fail);
        let verdict = failed.then(|| run.verdict_text());
        let clauses = verdict.into_iter().chain(warnings(run));
        clauses.map(move |clause| format!("{name}: {clause}"))
    });
    clauses.collect()
}

/// Returns the table of the figures of each scenario. If there are too many for a screen, it
/// contains those with the largest changes.
fn figure_table(
    logged: &LoggedRun,
    comparison: &Comparison,
    changes: &[FigureChange],
) -> Option<Table> {
    let size = |change: &FigureChange| {
        let percent = change.percent().map_or(f64::INFINITY, f64::abs);
        // What is not judged, such as a residency, comes last.
        let is_judged = change.counts.changed() + change.counts.noise > 0;
        (change.counts.changed() > 0, is_judged, percent)
    };
    let shown: HashSet<usize> = (0..changes.len())
        .sorted_by(|one, other| {
            let [one, other] = [one, other].map(|index| size(&changes[*index]));
            ((other.0, other.1).cmp(&(one.0, one.1))).then(other.2.total_cmp(&one.2))
        })
        .take(ROWS_MAX)
        .collect();
    let cut = if changes.len() > ROWS_MAX {
        format!(", the {ROWS_MAX} largest changes of {}", changes.len())
    } else {
        String::new()
    };
    let is_of_steps = changes.iter().any(|change| change.key.is_of_step());
    let unit = if is_of_steps {
        "of one operation"
    } else {
        logged.unit()
    };
    let mut table = Table::titled(format!(
        "Median of the CPUs ({unit}; change and noise in %){cut}"
    ));
    table.words(["Scenario", "Figure"]);
    // The number of CPUs with a change follows the result.
    table.optional_words(["Result"]);
    table.end_names();
    table.numbers(["Old", "New", "Change"]);
    table.optional_numbers(&["Noise"], ABSENT);
    table.optional_words(["Unit"]);
    let runs = (&logged.run, &comparison.baseline.run);
    for (_, change) in changes
        .iter()
        .enumerate()
        .filter(|(index, _)| shown.contains(index))
    {
        let id = change.scenario.id;
        let tag = if has_one_method(runs) {
            id.short_tag().to_owned()
        } else {
            format!("{} {}", id.short_tag(), change.scenario.method.word())
        };
        table.rows.push(figure_entries(
            logged,
            comparison,
            change,
            (tag, is_of_steps),
        ));
    }
    table.finished()
}

fn figure_entries(
    logged: &LoggedRun,
    comparison: &Comparison,
    change: &FigureChange,
    (tag, has_units): (String, bool),
) -> Vec<String> {
    let clock = logged.clock();
    let is_of_step = change.key.is_of_step();
    let text = |value: f64| short(value_text(clock, is_of_step, value));
    let percent = |value: f64| short(format!("{value:.2}"));
    let counts = change.counts;
    let unit = if is_of_step {
        change.key.scale(clock).name()
    } else if has_units {
        logged.unit()
    } else {
        ""
    };
    let result = if comparison.is_pmf_cost {
        String::new()
    } else if counts.changed() == 0 {
        counts.word().to_owned()
    } else {
        format!("{} {}/{}", counts.word(), counts.changed(), counts.total())
    };
    vec![
        tag,
        change.key.in_sentence(),
        result,
        text(change.old),
        text(change.new),
        change
            .percent()
            .map_or_else(|| ABSENT.to_owned(), |value| short(format!("{value:+.2}"))),
        text_or_absent(change.noise.map(percent)),
        unit.to_owned(),
    ]
}

/// Returns a decimal number, rounded to an integer if there is no room for its decimal places.
fn short(number: String) -> String {
    let has_room = number.len() <= NUMBER_MAX;
    match number.parse::<f64>() {
        Ok(value) if !has_room && number.starts_with('+') => format!("{value:+.0}"),
        Ok(value) if !has_room => format!("{value:.0}"),
        _ => number,
    }
}

/// Returns the first findings about the figures that are more than a list of changes.
fn notes(comparison: &Comparison) -> Vec<String> {
    let lists = [
        CHANGED,
        UNCHANGED,
        REORDERED,
        CONDITIONS,
        FindingKind::NOT_TOLD,
    ];
    let findings = comparison.findings.iter().map(|based| &based.finding);
    findings
        .filter(|finding| !lists.contains(&finding.kind))
        .take(NOTES_MAX)
        .map(|finding| finding.sentence.clone())
        .collect()
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
    findings.collect()
}

/// Returns a sentence for each scenario and row that was not compared.
fn not_compared(logged: &LoggedRun, comparison: &Comparison) -> Vec<String> {
    let refused = comparison.refused.iter().map(|refusal| {
        let method = refusal.method.word();
        format!(
            "Not compared: {}, method {method}: {}.",
            refusal.id, refusal.why
        )
    });
    refused.chain(comparison.lone_rows(&logged.run)).collect()
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
    is_full: bool,
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
    let is_shown = |change: &&Change| is_full || !change.outcome.is_still();
    for change in changes.iter().filter(is_shown) {
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
        "0 %".to_owned()
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
