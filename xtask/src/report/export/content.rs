//! What a report tells people of a scenario: its tables, and the sentences
//! around them. How it is drawn is the exporter's.

use psci_bench::measure::Summary;
use psci_bench::model::WakeSource;
use psci_bench::plan::ScenarioId;

use super::points;
use super::table::{Table, cpu_cells, cpu_columns};
use crate::report::analysis::explain::{Confidence, Finding, Kind, explain};
use crate::report::model::words::span;
use crate::report::model::{Run, Status, Term, Test, heading};
use crate::setup::plural::many;

/// What a reader has to know before he believes a figure.
pub(super) fn warnings(run: &Run) -> Vec<String> {
    let integrity = &run.integrity;
    let mut all = integrity.shortfalls();
    if integrity.unverified_rows > 0 && integrity.records.is_some() {
        all.push(format!(
            "{} from RT_INSTR lines, which have no checksum; marked with ?",
            many(integrity.unverified_rows as usize, "row")
        ));
    }
    let guessed = run.cpus.iter().filter(|cpu| cpu.guessed).count();
    if guessed > 0 {
        all.push(format!(
            "labels of {} guessed of the MPIDR: the record was lost",
            many(guessed, "CPU")
        ));
    }
    all.extend(run.doubts());
    all
}

/// How a scenario was run, and how it ended.
pub(super) fn conditions(run: &Run, test: &Test) -> String {
    let mut text = format!(
        "{}, method {}, {}",
        test.scenario.word(),
        test.method,
        test.status
    );
    if let Some(why) = &test.why {
        text.push_str(&format!(" ({why})"));
    }
    for (cpus, why) in run.skipped_rows(test) {
        text.push_str(&format!("; {cpus} skipped ({why})"));
    }
    if let Some(state) = test.power_state {
        text.push_str(&format!("; power_state {state:#010x}"));
    }
    let source = match test.wake_source {
        WakeSource::OwnTimers => None,
        WakeSource::Frame if test.scenario.is(ScenarioId::CpuOffSerial) => {
            Some("the timer frame wakes the lead")
        }
        WakeSource::Helper if test.scenario.is(ScenarioId::CpuOffSerial) => {
            Some("a CPU that stays awake wakes the lead by SGI")
        }
        WakeSource::Frame => Some("the timer frame and SGIs wake"),
        WakeSource::Helper => Some("a CPU that stays awake wakes the others by SGI"),
    };
    if let Some(source) = source {
        text.push_str(match test.power_state {
            Some(_) => ", in which timers stop: ",
            None => "; from states in which timers stop: ",
        });
        text.push_str(source);
    }
    if test.pmf == Some(false) && test.status != Status::Skipped {
        text.push_str("; the caller's side");
    }
    if let (Some(asked), Some(attempts)) = (test.asked, test.attempts) {
        let what = if test.is_parallel() {
            "rounds"
        } else {
            "attempts"
        };
        text.push_str(&format!(
            "; {asked} samples a CPU asked for, {attempts} {what}"
        ));
    }
    if let Some(sleep) = test.sleep.filter(|sleep| *sleep > 0) {
        text.push_str(&format!("; first wake-up after {}", span(run, sleep)));
    }
    if let Some(skew) = &test.skew {
        text.push_str(&format!(
            "; calls within {} of each other",
            span(run, skew.median)
        ));
    }
    text
}

/// A scenario's tables: the figures, and how they spread.
pub(super) fn tables(run: &Run, test: &Test) -> Vec<Table> {
    let columns = test.columns();
    if columns.is_empty() {
        return points::tables(run, test);
    }
    let mut main = Table::titled(format!("{} ({})", title(run, test), run.unit()));
    cpu_columns(run, &mut main);
    for metric in &columns {
        main.numbers(heading(metric));
    }
    for row in &test.rows {
        let mut cells = cpu_cells(run, row.cpu);
        for metric in &columns {
            let mark = mark(run.is_doubtful(row));
            let none = if row.skipped.is_some() {
                "skipped"
            } else {
                "n/a"
            };
            let figure = row.figure(metric);
            cells.push(figure.map_or(none.into(), |it| format!("{}{mark}", run.shown(it))));
        }
        main.rows.push(cells);
    }
    let mut all = vec![main];
    all.extend(spread(run, test, &columns));
    all.extend(points::tables(run, test));
    all
}

/// What stands behind a figure that is not verified.
pub(super) fn mark(is_doubtful: bool) -> &'static str {
    if is_doubtful { " ?" } else { "" }
}

/// Minimum to maximum of every metric that has a column.
fn spread(run: &Run, test: &Test, columns: &[Term<psci_bench::measure::Metric>]) -> Option<Table> {
    let mut table = Table::titled(format!("{}: spread ({})", title(run, test), run.unit()));
    cpu_columns(run, &mut table);
    table.words("Figure");
    let has_p99 = |summary: &Summary| summary.p99.is_some();
    let p99 = test
        .rows
        .iter()
        .flat_map(|row| &row.summaries)
        .any(|it| has_p99(&it.1));
    table.numbers("n");
    for name in ["Min", "Median", "p99", "Max", "MAD"] {
        if name != "p99" || p99 {
            table.numbers(name);
        }
    }
    for metric in columns {
        for row in &test.rows {
            let Some(summary) = row.summary(metric) else {
                continue;
            };
            let mut cells = cpu_cells(run, row.cpu);
            cells.extend([heading(metric).to_owned(), summary.n.to_string()]);
            cells.extend(statistics(run, summary, p99));
            table.rows.push(cells);
        }
    }
    Some(table).filter(|table| !table.rows.is_empty())
}

pub(super) fn statistics(run: &Run, summary: &Summary, p99: bool) -> Vec<String> {
    let shown = |ticks| run.shown(ticks);
    let mut cells = vec![shown(summary.min), shown(summary.median)];
    if p99 {
        cells.push(summary.p99.map_or("n/a".into(), shown));
    }
    cells.extend([shown(summary.max), shown(summary.mad)]);
    cells
}

/// A sentence, and what stands behind it for those who ask: a title, and more
/// sentences.
pub(super) struct Remark {
    pub(super) text: String,
    pub(super) behind: Option<(String, Vec<String>)>,
}

impl Remark {
    /// One with nothing behind it.
    pub(super) fn plain(text: String) -> Self {
        Self { text, behind: None }
    }
}

/// The most findings of one kind that are told one by one: a machine of many
/// clusters has a last man in each.
const OF_A_KIND_MAX: usize = 8;

/// What is said of a scenario: what its records show, and what the payload
/// found besides.
pub(super) fn remarks(run: &Run, test: &Test) -> Vec<Remark> {
    let findings = explain(run, test);
    let of = |kind: Kind| findings.iter().filter(move |it| it.kind == kind);
    let sentences = |all: &mut dyn Iterator<Item = &Finding>| -> Vec<String> {
        all.map(|it| it.sentence.clone()).collect()
    };
    let mut all = Vec::new();
    // The payload tells of many last men in one sentence.
    let last_men = test.findings.iter().find(|it| it.starts_with("Last men "));
    let last_men = last_men.filter(|_| of(Kind::LastMan).count() > OF_A_KIND_MAX);
    if let Some(text) = last_men {
        let each = sentences(&mut of(Kind::LastMan));
        let behind = Some(("Each of them".to_owned(), each));
        all.push(Remark {
            text: text.clone(),
            behind,
        });
    }
    // And what it saw is told, though no record of it came through.
    let saw = test.findings.iter().any(|text| text.starts_with("Last m"));
    let mut before: Vec<Kind> = Vec::new();
    for finding in &findings {
        let kind = finding.kind;
        let nth = before.iter().filter(|it| **it == kind).count();
        before.push(kind);
        if kind == Kind::NotTold && saw || kind == Kind::LastMan && last_men.is_some() {
            continue;
        }
        if nth < OF_A_KIND_MAX {
            all.push(Remark::plain(finding.sentence.clone()));
        } else if nth == OF_A_KIND_MAX {
            let rest = sentences(&mut of(kind).skip(nth));
            let text = format!(
                "And {} more of this kind: `--format json` has all.",
                rest.len()
            );
            let behind = Some(("Which they are".to_owned(), rest));
            all.push(Remark { text, behind });
        }
    }
    // What the payload says of these is there already, by records.
    let is_told = |text: &&String| {
        let kind = OWN.iter().find(|own| text.starts_with(own.0));
        kind.is_some_and(|(_, kind)| of(*kind).any(|it| it.confidence != Confidence::Unknown))
    };
    let own = test.findings.iter().filter(|text| !is_told(text)).cloned();
    all.extend(own.map(Remark::plain));
    all
}

/// The same without what stands behind.
pub(super) fn sentences(run: &Run, test: &Test) -> Vec<String> {
    let all = remarks(run, test).into_iter();
    all.map(|remark| remark.text).collect()
}

/// How the payload's own findings begin that are told of records, too.
const OWN: [(&str, Kind); 7] = [
    ("Last m", Kind::LastMan),
    ("Lock queue", Kind::LockQueue),
    ("No lock queue", Kind::LockQueue),
    ("Wake-ups that waited", Kind::Waited),
    ("Resolution: ", Kind::Resolution),
    ("Not counted: ", Kind::NotCounted),
    ("Lost: ", Kind::Lost),
];

/// What tells two tables of a scenario apart.
fn title(run: &Run, test: &Test) -> String {
    let method = if test.method.is(psci_bench::plan::Method::Tftf) {
        String::new()
    } else {
        format!(", method {}", test.method)
    };
    let side = if test.pmf == Some(false) {
        ", caller's side"
    } else {
        ""
    };
    let helper = test
        .helper
        .map(|cpu| format!(", woken by CPU {}", run.label(cpu)));
    format!(
        "{}{method}{side}{}",
        test.name(),
        helper.unwrap_or_default()
    )
}
