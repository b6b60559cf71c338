//! What a report tells people: the page that says what was run, a scenario's
//! tables, and the sentences around them. How it is drawn is the exporter's.

use psci_bench::stats::Summary;

use super::super::explain::{Confidence, Finding, Kind, explain};
use super::super::midr;
use super::super::model::{Run, Stage, Status, Term, Test, heading};
use super::super::words::{many, span};
use super::points;
use super::table::Table;

/// A name and what is to be said of it.
pub(super) type Line = (&'static str, String);

/// What was run: all that makes figures comparable.
pub(super) fn method(run: &Run) -> Vec<Line> {
    let mut lines: Vec<Line> = vec![("Log", source(run))];
    let mut add = |name, text: Option<String>| lines.extend(text.map(|text| (name, text)));
    add(
        "Payload",
        Some(match &run.version {
            Some(version) => format!("psci-bench {version}"),
            None if run.integrity.tables => "not told by tables".to_owned(),
            None => "TFTF, or one that prints as it does".to_owned(),
        }),
    );
    add("Board", run.model.clone());
    add("CPUs", cpus(run));
    for stages in run.firmware.chunk_by(is_of_one_build) {
        // Of its own lines, and in no record.
        let said = format!("{} (not verified)", firmware(stages));
        add("Firmware", Some(said));
    }
    add("PSCI", psci(run));
    for (key, value) in &run.facts.others {
        add("", Some(format!("{key}: {value}")));
    }
    add("Timestamps", timestamps(run));
    add("Counter", counter(run));
    add("Wake-up", wake(run));
    add(
        "Watchdog",
        run.facts.watchdog.map(|base| format!("at {base:#x}")),
    );
    add("Overheads", overheads(run));
    add("Plan", plan(run));
    add("States", states(run));
    for (key, value) in run.plan.others.iter().chain(&run.others) {
        add("", Some(format!("{key}: {value}")));
    }
    add("Integrity", Some(run.integrity.to_string()));
    add(
        "Verdict",
        Some(run.verdict_said()).filter(|_| !run.integrity.tables),
    );
    lines
}

fn source(run: &Run) -> String {
    let source = &run.source;
    if run.integrity.tables {
        return source.input.clone();
    }
    format!(
        "{}, run {}, lines {} to {}",
        source.input, source.place, source.lines.0, source.lines.1
    )
}

fn cpus(run: &Run) -> Option<String> {
    if run.cpus.is_empty() {
        return None;
    }
    let mut clusters: Vec<u32> = run.cpus.iter().map(|cpu| cpu.cluster).collect();
    clusters.sort_unstable();
    clusters.dedup();
    let mut text = format!("{} in {}", run.cpus.len(), many(clusters.len(), "cluster"));
    if let Some(labels) = &run.labels {
        text.push_str(&format!(", labels by {labels}"));
    }
    if let Some(lead) = run.facts.lead {
        text.push_str(&format!("; the lead is {}", run.label(lead)));
        if let Some(mpidr) = run.cpus.get(lead).and_then(|cpu| cpu.mpidr) {
            text.push_str(&format!(" (MPIDR {mpidr:#x})"));
        }
    }
    if let Some(midr) = run.facts.midr {
        text.push_str(&format!(", {}", part(midr)));
    }
    let mut others: Vec<u64> = run.cpus.iter().filter_map(|cpu| cpu.midr).collect();
    others.sort_unstable();
    others.dedup();
    for midr in others {
        let count = run.cpus.iter().filter(|cpu| cpu.midr == Some(midr)).count();
        text.push_str(&format!("; {count} of {}", part(midr)));
    }
    Some(text)
}

/// A CPU's name with its MIDR.
fn part(midr: u64) -> String {
    match midr::name(midr) {
        Some(name) => format!("{name} (MIDR {midr:#x})"),
        None => format!("MIDR {midr:#x}"),
    }
}

fn is_of_one_build(a: &Stage, b: &Stage) -> bool {
    (&a.version, &a.built) == (&b.version, &b.built)
}

/// Stages of one build.
fn firmware(stages: &[Stage]) -> String {
    let names: Vec<&str> = stages.iter().map(|stage| stage.name.as_str()).collect();
    let names = names.join(", ");
    let stage = stages.first();
    let version = stage.and_then(|stage| stage.version.as_deref());
    let version = version.unwrap_or("of no version");
    match stage.and_then(|stage| stage.built.as_deref()) {
        Some(built) => format!("{names} {version}, built {built}"),
        None => format!("{names} {version}"),
    }
}

fn psci(run: &Run) -> Option<String> {
    let facts = &run.facts;
    let version = facts.psci?;
    let mut text = format!("{}.{}", version >> 16 & 0x7fff, version & 0xffff);
    if let Some(conduit) = &facts.conduit {
        text.push_str(&format!(" by {}", conduit.word().to_uppercase()));
    }
    if let Some(el) = facts.el {
        text.push_str(&format!(" from EL{el}"));
    }
    if let Some(format) = &facts.state_format {
        text.push_str(&format!(", power_state in the {format} format"));
    }
    Some(text)
}

fn timestamps(run: &Run) -> Option<String> {
    match (run.facts.pmf, &run.facts.pmf_error) {
        (Some(function), _) => Some(format!("PMF's, by function {function:#010x}")),
        (None, Some(error)) => Some(format!(
            "the caller's only; PMF's can not be read: {}",
            error.replace('_', " ")
        )),
        (None, None) => None,
    }
}

fn counter(run: &Run) -> Option<String> {
    let hz = run.facts.hz?;
    let counter = run.facts.counter.as_deref().unwrap_or("counter");
    Some(match run.clock().tick_ps() {
        Some(ps) => format!(
            "{counter} at {hz} Hz, a tick is {}.{:02} ns",
            ps / 1000,
            ps % 1000 / 10
        ),
        None => format!("{counter}; {hz} Hz can not be right: all figures are in ticks"),
    })
}

fn wake(run: &Run) -> Option<String> {
    let facts = &run.facts;
    let mut text = facts.timer.clone()?;
    if let Some(intid) = facts.timer_intid {
        text.push_str(&format!(", interrupt {intid}"));
    }
    if let Some(gic) = facts.gic {
        text.push_str(&format!(", GICv{gic}"));
    }
    if let Some(frame) = facts.frame {
        text.push_str(&format!(
            "; where that stops, the timer frame at {frame:#x}"
        ));
    }
    Some(text)
}

fn overheads(run: &Run) -> Option<String> {
    let facts = &run.facts;
    let costs = [
        ("counter read", facts.cost_counter),
        ("empty timed region", facts.cost_empty),
        ("PMF read", facts.cost_pmf),
    ];
    let costs = costs.into_iter().filter_map(|(what, cost)| {
        let cost = span(run, cost?);
        Some(format!("{what} {cost}"))
    });
    let text = costs.collect::<Vec<_>>().join(", ");
    Some(text).filter(|text| !text.is_empty())
}

fn plan(run: &Run) -> Option<String> {
    let plan = &run.plan;
    let mut text = format!("{} samples a CPU", plan.iterations?);
    if let Some(warmup) = plan.warmup {
        text.push_str(&format!(" after {warmup} for warm-up"));
    }
    let methods: Vec<&str> = plan.methods.iter().map(Term::word).collect();
    text.push_str(&format!("; method {}", methods.join(", ")));
    if let Some(wake) = &plan.wake {
        text.push_str(&format!("; wake {wake}"));
    }
    for (key, state) in [("deepest", plan.deepest), ("core", plan.core)] {
        if let Some(state) = state {
            text.push_str(&format!("; {key}={state:#010x}"));
        }
    }
    Some(text)
}

/// The `power_state`s that were asked for, each with its scenarios.
fn states(run: &Run) -> Option<String> {
    let mut all: Vec<(u32, Vec<&str>)> = Vec::new();
    for test in &run.tests {
        let Some(state) = test.power_state else {
            continue;
        };
        let tag = test.scenario.word();
        match all.iter_mut().find(|it| it.0 == state) {
            Some(it) if it.1.contains(&tag) => {}
            Some(it) => it.1.push(tag),
            None => all.push((state, vec![tag])),
        }
    }
    let each = all.iter();
    let each = each.map(|(state, tags)| format!("{state:#010x} in {}", tags.join(", ")));
    let text = each.collect::<Vec<_>>().join("; ");
    Some(text).filter(|text| !text.is_empty())
}

/// What a reader has to know before he believes a figure.
pub(super) fn warnings(run: &Run) -> Vec<String> {
    let integrity = &run.integrity;
    let mut all = Vec::new();
    if let Some(records) = &integrity.records {
        let shown = records.missing.iter().take(8);
        all.extend(shown.map(|missing| format!("in neither copy: {missing}")));
        if records.missing.len() > 8 {
            all.push(format!("and {} more gaps", records.missing.len() - 8));
        }
        if records.expected.is_none() {
            all.push("the end record is in neither copy: there may be more".to_owned());
        }
    }
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
    if let Some(state) = test.power_state {
        text.push_str(&format!("; power_state {state:#010x}"));
    }
    if test.timers_stop {
        text.push_str(", in which timers stop: the timer frame and SGIs wake");
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
    let mut main = Table::titled(format!("{} ({})", title(test), run.unit()));
    cpu_columns(run, &mut main);
    for metric in &columns {
        main.numbers(heading(metric));
    }
    for row in &test.rows {
        let mut cells = cpu_cells(run, row.cpu);
        for metric in &columns {
            let mark = mark(run.is_doubtful(row));
            let figure = row.figure(metric);
            cells.push(figure.map_or("n/a".into(), |it| format!("{}{mark}", run.shown(it))));
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
fn spread(run: &Run, test: &Test, columns: &[Term<psci_bench::sample::Metric>]) -> Option<Table> {
    let mut table = Table::titled(format!("{}: spread ({})", title(test), run.unit()));
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

/// Sentences on a scenario: what its records show, and what the payload found
/// besides.
pub(super) fn remarks(run: &Run, test: &Test) -> Vec<String> {
    let findings = explain(run, test);
    // What the payload says of these is there already, by records.
    let is_told = |text: &&String| {
        let kind = OWN.iter().find(|own| text.starts_with(own.0));
        kind.is_some_and(|(_, kind)| {
            let known = |it: &&Finding| it.confidence != Confidence::Unknown;
            findings.iter().filter(known).any(|it| it.kind == *kind)
        })
    };
    // And what it saw is told, though no record of it came through.
    let saw = test.findings.iter().any(|text| text.starts_with("Last m"));
    let own = test.findings.iter().filter(|text| !is_told(text)).cloned();
    let told = findings
        .iter()
        .filter(|it| it.kind != Kind::NotTold || !saw);
    let all = told.map(|finding| finding.sentence.clone());
    all.chain(own).collect()
}

/// How the payload's own findings begin that are told of records, too.
const OWN: [(&str, Kind); 6] = [
    ("Last m", Kind::LastMan),
    ("Lock queue", Kind::LockQueue),
    ("No lock queue", Kind::LockQueue),
    ("Resolution: ", Kind::Resolution),
    ("Not counted: ", Kind::NotCounted),
    ("Lost: ", Kind::Lost),
];

/// What tells two tables of a scenario apart.
fn title(test: &Test) -> String {
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
    format!("{}{method}{side}", test.name())
}

/// Columns that say which CPU a row is.
pub(super) fn cpu_columns(run: &Run, table: &mut Table) {
    table.numbers("Cluster");
    table.numbers("Core");
    if run.threads() > 1 {
        table.numbers("Thread");
    }
}

pub(super) fn cpu_cells(run: &Run, cpu: usize) -> Vec<String> {
    let cpu = run.cpus.get(cpu).cloned().unwrap_or_default();
    let mut cells = vec![cpu.cluster.to_string(), cpu.core.to_string()];
    if run.threads() > 1 {
        cells.push(cpu.thread.to_string());
    }
    cells
}
