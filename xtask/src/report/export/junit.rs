//! `junit`: a test suite a run, a test case a scenario, for CI servers.
//!
//! Nothing but what the schema of Jenkins' xUnit plugin has, which is the
//! strictest of the many: so figures are properties of the suite, by scenario,
//! method, metric and CPU. That a run is there to its end is a test case of its
//! own, so that half a log is not green.

use std::io::Write;

use anyhow::Result;
use minijinja::context;
use minijinja::value::Serde;
use psci_bench::model::{Scenario, Status, Verdict};
use quick_xml::escape::escape;
use serde::Serialize;

use super::escape::xml_characters;
use super::method::method;
use super::report_data::Report;
use super::report_document::warnings;
use super::scenario_document::{conditions_text, remarks, status_reason, status_word};
use super::template::environment;
use crate::report::analysis::compare::{Change, Comparison, Outcome};
use crate::report::analysis::figure::figures;
use crate::report::log::{LoggedRun, reason_text, reason_word};

/// A run.
#[derive(Clone, Serialize)]
struct Suite {
    name: String,
    properties: Vec<(String, String)>,
    cases: Vec<Case>,
}

/// A scenario, or the verdict.
#[derive(Clone, Default, Serialize)]
struct Case {
    name: String,
    class: String,
    /// The element of a failure, an error or a skip; empty without any.
    element: &'static str,
    word: String,
    message: String,
    said: String,
}

const FAILURE: &str = "failure";
const ERROR: &str = "error";
const SKIPPED: &str = "skipped";

pub(super) fn write(report: &Report, out: &mut dyn Write) -> Result<()> {
    let mut suites: Vec<Suite> = report.runs.iter().map(suite).collect();
    for comparison in &report.comparisons {
        let at = comparison.run;
        if let (Some(run), Some(suite)) = (report.runs.get(at), suites.get_mut(at)) {
            suite.cases.extend(compared(run, comparison));
            suite.cases.push(whole(run, comparison));
        }
    }
    let cases: Vec<Case> = suites.iter().flat_map(|it| it.cases.clone()).collect();
    let mut templates = environment()?;
    templates.add_filter("text", |text: &str| {
        escape(xml_characters(text)).into_owned()
    });
    templates.add_filter("value", |text: &str| {
        let text = escape(xml_characters(text)).replace('\t', "&#9;");
        text.replace('\n', "&#10;")
    });
    let context = context! { suites => Serde(suites), cases => Serde(cases) };
    let text = templates.render_str(include_str!("junit.xml"), context)?;
    out.write_all(text.as_bytes())?;
    Ok(())
}

fn suite(run: &LoggedRun) -> Suite {
    let board = run.board().unwrap_or("unknown board");
    let scenarios = &run.run.scenarios;
    let lines = method(run).into_iter();
    let mut properties: Vec<(String, String)> =
        lines.map(|(name, text)| (name.to_owned(), text)).collect();
    properties.extend(scenarios.iter().flat_map(|it| scenario_properties(run, it)));
    let mut cases: Vec<Case> = scenarios.iter().map(|it| case(run, it)).collect();
    cases.push(verdict(run));
    let source = &run.source;
    Suite {
        name: format!("{board}, {}, run {}", source.input, source.place),
        properties,
        cases,
    }
}

/// Returns the figures of a scenario, those of one operation, with names separated
/// by dots.
fn scenario_properties(run: &LoggedRun, scenario: &Scenario) -> Vec<(String, String)> {
    let cpu = |cpu: u16| {
        let cpu = run.run.cpu(cpu);
        format!("cluster{}.core{}", cpu.cluster, run.run.core_number(&cpu))
    };
    let helper = scenario
        .helper
        .map_or_else(String::new, |it| format!("woken_by.{}.", cpu(it)));
    let prefix = format!("{}.{}.{helper}", scenario.id, scenario.method.word());
    let mut all = Vec::new();
    let mut add = |of: u16, what: &str, value: String| {
        all.push((format!("{prefix}{}.{what}", cpu(of)), value));
    };
    for figure in figures(run, scenario) {
        let (key, name) = (figure.key, figure.key.name());
        let unit = key.unit_name(run.clock());
        let each = |figure| plain(key.per_operation(run.clock(), figure));
        if let Some(shown) = figure.shown.filter(|_| !key.is_point()) {
            add(figure.cpu, &format!("{name}.{unit}"), each(shown));
        }
        if let Some(summary) = figure.summary {
            add(figure.cpu, &format!("{name}.n"), summary.n.to_string());
            let median = each(summary.median);
            add(figure.cpu, &format!("{name}.median_{unit}"), median);
            add(figure.cpu, &format!("{name}.max_{unit}"), each(summary.max));
        }
    }
    for row in &scenario.rows {
        if let Some(reason) = &row.skipped {
            add(row.cpu, "skipped", reason_text(reason));
        } else if row.is_from_line() {
            add(row.cpu, "verified", "no".to_owned());
        }
    }
    all
}

/// Returns a whole number as it is, another one with three decimals.
fn plain(value: f64) -> String {
    let digits = if value.fract() == 0.0 { 0 } else { 3 };
    format!("{value:.digits$}")
}

fn case(run: &LoggedRun, scenario: &Scenario) -> Case {
    let mut said = vec![conditions_text(run, scenario)];
    said.extend(remarks(run, scenario).into_iter().map(|it| it.text));
    let none = "no reason is given";
    let (element, word, default) = match scenario.status {
        Status::Passed => ("", String::new(), ""),
        Status::Skipped(reason) => (SKIPPED, reason_word(&reason), none),
        Status::Failed(reason) => (FAILURE, reason_word(&reason), none),
        Status::Crashed => (ERROR, String::new(), "it ended in a reset"),
        Status::Unknown => (ERROR, String::new(), "the log does not say how it ended"),
    };
    let reason = status_reason(run, scenario.status);
    let status = status_word(scenario.status).to_owned();
    Case {
        name: format!("{}{}", scenario.id.name(), woken_by(run, scenario.helper)),
        class: format!("psci-bench.{}", scenario.method.word()),
        element,
        word: if reason.is_some() { word } else { status },
        message: reason.unwrap_or_else(|| default.to_owned()),
        said: said.join("\n"),
    }
}

/// Returns the helper, by which two cases of one scenario differ.
fn woken_by(run: &LoggedRun, helper: Option<u16>) -> String {
    helper.map_or_else(String::new, |cpu| {
        format!(" woken by CPU {}", run.run.label(cpu))
    })
}

/// Returns the scenarios that were compared with a baseline: a regression is a
/// failure.
fn compared(run: &LoggedRun, comparison: &Comparison) -> Vec<Case> {
    let baseline = &comparison.baseline.source.input;
    let cases = comparison.scenarios.iter().map(|scenario| {
        let key = scenario.key;
        let changes = scenario.changes();
        let worse = changes.iter().filter(|it| it.outcome == Outcome::Worse);
        let worse: Vec<String> = worse.map(|it| change_text(run, it)).collect();
        Case {
            name: format!("{}{}", key.id, woken_by(run, key.helper)),
            class: format!("psci-bench.baseline.{baseline}.{}", key.method.word()),
            element: if worse.is_empty() { "" } else { FAILURE },
            word: "regression".to_owned(),
            message: worse.join("; "),
            said: format!("{} figures were compared", changes.len()),
        }
    });
    cases.collect()
}

/// Returns the case that fails if a part of the baseline was not compared.
fn whole(run: &LoggedRun, comparison: &Comparison) -> Case {
    let lacks = comparison.lacks();
    let refused = comparison.refused.iter();
    let refused = refused.map(|it| format!("{}, method {}: {}.", it.id, it.method.word(), it.why));
    let said: Vec<String> = refused.chain(comparison.lone_rows(&run.run)).collect();
    Case {
        name: "Comparison".to_owned(),
        class: format!("psci-bench.baseline.{}", comparison.baseline.source.input),
        element: if lacks.is_empty() { "" } else { ERROR },
        word: "incomplete".to_owned(),
        message: lacks.join("; "),
        said: said.join("\n"),
    }
}

fn change_text(run: &LoggedRun, change: &Change) -> String {
    let net = change
        .by_flushes
        .map_or("", |_| ", net of cache flushes at other places");
    let percent = change.percent();
    let percent = percent.map_or_else(String::new, |it| format!(" ({it:+.2} %{net})"));
    format!(
        "{} of CPU {}: {} {} after {}{percent}",
        change.key.in_sentence(),
        run.run.label(change.cpu),
        plain(change.new.figure),
        change.key.unit_name(run.clock()),
        plain(change.old.figure)
    )
}

/// Returns the case of the run's end and verdict.
fn verdict(run: &LoggedRun) -> Case {
    let mut message = vec![run.verdict_text()];
    let (element, word) = if !run.is_complete() {
        message.extend(warnings(run));
        (ERROR, "incomplete")
    } else if run.verdict() == Some(Verdict::Fail) {
        (FAILURE, "fail")
    } else {
        ("", "")
    };
    let said = [vec![run.integrity.to_string()], run.doubts()].concat();
    Case {
        name: "Verdict".to_owned(),
        class: "psci-bench".to_owned(),
        element,
        word: word.to_owned(),
        message: message.join("; "),
        said: said.join("\n"),
    }
}
