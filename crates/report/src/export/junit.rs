//! `junit`: one test suite per run and one test case per scenario, for CI servers.
//!
//! The output conforms to the schema of the Jenkins xUnit plugin, the strictest of the many JUnit
//! schemas. Figures are therefore properties of the suite, named by scenario, method, metric and
//! CPU. A separate test case checks that the run is complete, so a truncated log does not pass.

use std::io::Write;

use anyhow::Result;
use hardware::board::CpuIndex;
use hardware::text::plural::many;
use itertools::Itertools as _;
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;
use suite::model::{Check, CheckEnd, Scenario, Status, Verdict};

use super::escape::xml;
use super::method::method;
use super::report_data::Report;
use super::scenario_document::{conditions_text, remarks, status_reason, woken_by};
use super::template::render;
use super::warnings::warnings;
use crate::analysis::compare::{Change, Comparison};
use crate::analysis::figure::figures;
use crate::log::{LoggedRun, reason_text, reason_word};

#[derive(Serialize)]
struct Suite {
    name: String,
    properties: Vec<(String, String)>,
    cases: Vec<Case>,
}

/// A test case for a scenario or for the verdict.
#[derive(Clone, Serialize)]
struct Case {
    name: String,
    class: String,
    /// The element for a failure, an error or a skip. Empty if the case passed.
    element: &'static str,
    word: String,
    message: String,
    description: String,
}

impl Case {
    /// Returns a test case with the given element, type and message.
    fn new(
        name: String,
        class: String,
        description: &[String],
        (element, word, message): (&'static str, &str, String),
    ) -> Self {
        Self {
            name,
            class,
            element,
            word: word.to_owned(),
            message,
            description: description.join("\n"),
        }
    }
}

const FAILURE: &str = "failure";
const ERROR: &str = "error";
const SKIPPED: &str = "skipped";

pub(super) fn write(report: &Report, out: &mut dyn Write) -> Result<()> {
    let mut suites: Vec<Suite> = report.runs.iter().map(suite).collect();
    for comparison in &report.comparisons {
        let index = comparison.run;
        if let (Some(logged), Some(suite)) = (report.runs.get(index), suites.get_mut(index)) {
            suite.cases.extend(compared(logged, comparison));
        }
    }
    let cases: Vec<Case> = suites
        .iter()
        .flat_map(|suite| suite.cases.clone())
        .collect();
    let context = context! { suites => Serde(suites), cases => Serde(cases) };
    let text = render(include_str!("junit.xml"), context, xml)?;
    out.write_all(text.as_bytes())?;
    Ok(())
}

fn suite(logged: &LoggedRun) -> Suite {
    let board = logged.board();
    let prefix = board.map_or_else(String::new, |board| format!("{board}, "));
    let scenarios = &logged.run.scenarios;
    let method_properties = method(logged)
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text));
    let figure_properties = scenarios
        .iter()
        .flat_map(|scenario| scenario_properties(logged, scenario));
    let mut cases: Vec<Case> = scenarios
        .iter()
        .map(|scenario| scenario_case(logged, scenario))
        .collect();
    for scenario in scenarios {
        let checks = scenario.checks.iter();
        cases.extend(checks.map(|check| check_case(logged, scenario, check)));
    }
    if !logged.integrity.tables {
        cases.push(verdict_case(logged));
    }
    Suite {
        name: prefix + &logged.source.text(),
        properties: method_properties.chain(figure_properties).collect(),
        cases,
    }
}

/// Returns a scenario's figures per operation. The parts of a name are separated by dots.
fn scenario_properties(logged: &LoggedRun, scenario: &Scenario) -> Vec<(String, String)> {
    let cpu_name = |index: CpuIndex| {
        let cpu = logged.run.cpu(index);
        format!(
            "cluster{}.core{}",
            cpu.cluster,
            logged.run.core_number(&cpu)
        )
    };
    let woken_by = scenario.helper.map_or_else(String::new, |helper| {
        format!("woken_by.{}.", cpu_name(helper))
    });
    let prefix = format!("{}.{}.{woken_by}", scenario.id, scenario.method.word());
    let mut properties = Vec::new();
    let mut add = |cpu: CpuIndex, property: &str, value: String| {
        properties.push((format!("{prefix}{}.{property}", cpu_name(cpu)), value));
    };
    for figure in figures(logged, scenario) {
        let key = figure.key;
        let name = figure.key.name();
        let cpu = figure.cpu;
        let unit = key.scale(logged.clock()).name();
        let value_text = |value| plain(key.per_operation(logged.clock(), value));
        if let Some(shown) = figure.shown.filter(|_| !key.is_of_step()) {
            add(cpu, &format!("{name}.{unit}"), value_text(shown));
        }
        if let Some(summary) = figure.summary.filter(|summary| summary.n > 0) {
            let [median, max] = [summary.median, summary.max].map(value_text);
            add(cpu, &format!("{name}.n"), summary.n.to_string());
            add(cpu, &format!("{name}.median_{unit}"), median);
            add(cpu, &format!("{name}.max_{unit}"), max);
        }
    }
    for cell in scenario.suite_cells() {
        if let Some(reason) = &cell.skipped {
            add(cell.cpu, "skipped", reason_text(reason));
        } else if logged.integrity.tables || logged.is_doubtful(cell) {
            add(cell.cpu, "verified", "no".to_owned());
        }
    }
    properties
}

/// Formats an integer unchanged, and any other number with three decimal places.
fn plain(value: f64) -> String {
    let digits = if value.fract() == 0.0 { 0 } else { 3 };
    format!("{value:.digits$}")
}

/// Returns the test case for a scenario.
fn scenario_case(logged: &LoggedRun, scenario: &Scenario) -> Case {
    let mut description = vec![conditions_text(logged, scenario)];
    description.extend(remarks(logged, scenario));
    let reason = status_reason(logged, scenario.status);
    let mut word = reason_word(&scenario.status);
    let (element, default) = match scenario.status {
        Status::Skipped(_) => (SKIPPED, "no reason given"),
        Status::Failed(_) => (FAILURE, "no reason given"),
        Status::Crashed => (ERROR, "the scenario ended in a reset"),
        Status::Unknown if !logged.integrity.tables => {
            (ERROR, "the log does not show how the scenario ended")
        }
        Status::Passed | Status::Unknown => ("", ""),
    };
    match scenario.status {
        Status::Skipped(why) if reason.is_some() => word = reason_word(&why),
        Status::Failed(why) if reason.is_some() => word = reason_word(&why),
        Status::Passed
        | Status::Skipped(_)
        | Status::Failed(_)
        | Status::Crashed
        | Status::Unknown => {}
    }
    let helper = woken_by(logged, scenario.helper, "");
    let name = scenario.id.name().to_owned() + &helper;
    let class = format!("psci-bench.{}", scenario.method.word());
    let message = reason.unwrap_or_else(|| default.to_owned());
    Case::new(name, class, &description, (element, &word, message))
}

/// Returns the test case for one check.
fn check_case(logged: &LoggedRun, scenario: &Scenario, check: &Check) -> Case {
    let name = check.subject(&logged.run.cpus);
    let class = format!("psci-bench.{}", scenario.id);
    let element = match check.end {
        _ if check.has_failed() => FAILURE,
        CheckEnd::NotTried(_) | CheckEnd::NotCalled => SKIPPED,
        _ => "",
    };
    let answer = check.shown_answer();
    let description = answer.map_or_else(String::new, |answer| format!("returned {answer}"));
    let word = reason_word(&check.end);
    let message = reason_text(&check.end);
    Case::new(name, class, &[description], (element, &word, message))
}

/// Returns the test cases of a comparison: one for each scenario, which fails on a regression, and
/// one that fails if part of the baseline was not compared.
fn compared(logged: &LoggedRun, comparison: &Comparison) -> Vec<Case> {
    let class = format!("psci-bench.baseline.{}", comparison.baseline.source.input);
    let why_not_judged = comparison.why_not_judged(&logged.run);
    let cases = comparison.scenarios.iter().map(|scenario| {
        let key = scenario.key;
        let changes = scenario.changes();
        let regressions = comparison.regressions_in(scenario);
        let regression_texts = regressions
            .map(|change| change_text(logged, change))
            .join("; ");
        let (element, word, message) = match &why_not_judged {
            _ if !regression_texts.is_empty() => (FAILURE, "regression", regression_texts),
            Some(why) => (SKIPPED, "not judged", why.clone()),
            None => ("", "", String::new()),
        };
        let name = format!("{}{}", key.id, woken_by(logged, key.helper, ""));
        let class = format!("{class}.{}", key.method.word());
        let description = format!("{} compared", many(changes.len(), "figure"));
        Case::new(name, class, &[description], (element, word, message))
    });
    let mut description = Vec::new();
    if comparison.is_pmf_cost {
        let costs = comparison.findings.iter();
        description.extend(costs.map(|cost| cost.finding.sentence.clone()));
    }
    description.extend(comparison.refused.iter().map(|refusal| {
        let method = refusal.method.word();
        format!("{}, method {method}: {}.", refusal.id, refusal.why)
    }));
    description.extend(comparison.lone_rows(&logged.run));
    let of_baseline = comparison.baseline.lacks();
    let of_baseline = of_baseline
        .iter()
        .map(|lack| format!("the baseline: {lack}"));
    let lacks: Vec<String> = comparison.lacks().into_iter().chain(of_baseline).collect();
    let element = if lacks.is_empty() { "" } else { ERROR };
    let end = (element, "incomplete", lacks.join("; "));
    let whole = Case::new("Comparison".to_owned(), class.clone(), &description, end);
    cases.chain([whole]).collect()
}

fn change_text(logged: &LoggedRun, change: &Change) -> String {
    let name = change.key.in_sentence();
    let cpu = logged.run.label(change.cpu);
    let [new, old] = [&change.new, &change.old].map(|value| plain(value.figure));
    let unit = change.key.scale(logged.clock()).name();
    let by = change
        .percent()
        .map_or_else(String::new, |percent| format!(" ({percent:+.2} %)"));
    format!("{name} on CPU {cpu}: {new} {unit}, previously {old}{by}")
}

/// Returns the test case that fails if the run failed or is incomplete.
fn verdict_case(logged: &LoggedRun) -> Case {
    let mut message = vec![logged.verdict_text()];
    let (element, word) = if !logged.is_complete() {
        message.extend(warnings(logged));
        (ERROR, "incomplete")
    } else if logged.verdict() == Some(Verdict::Fail) {
        (FAILURE, "fail")
    } else {
        ("", "")
    };
    let description = [vec![logged.integrity.to_string()], logged.doubts()].concat();
    let [name, class] = ["Verdict", "psci-bench"].map(str::to_owned);
    Case::new(
        name,
        class,
        &description,
        (element, word, message.join("; ")),
    )
}
