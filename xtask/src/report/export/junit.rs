//! `junit`: a test suite a run, a test case a scenario, for CI servers.
//!
//! Nothing but what the schema of Jenkins' xUnit plugin has, which is the
//! strictest of the many: so figures are properties of the suite, by scenario,
//! method, metric and CPU. That a run is there to its end is a test case of its
//! own, so that half a log is not green.

use std::io::{self, Write};

use anyhow::Result;
use psci_bench::model::Verdict;
use psci_bench::model::{Scenario, Status};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::escape::xml_characters;
use super::method::method;
use super::report_data::Report;
use super::report_document::warnings;
use super::scenario_document::{conditions_text, remarks, status_reason, status_word};
use crate::report::analysis::compare::{Change, Comparison, Outcome};
use crate::report::analysis::figure::figures;
use crate::report::log::{LoggedRun, reason_word};

type Out<'o> = Writer<&'o mut dyn Write>;

/// A run.
struct Suite {
    name: String,
    properties: Vec<(String, String)>,
    cases: Vec<Case>,
}

/// A scenario, or the verdict.
struct Case {
    name: String,
    class: String,
    trouble: Option<Trouble>,
    said: String,
}

/// A failure, an error or a skip.
struct Trouble {
    element: &'static str,
    word: String,
    message: String,
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
    let cases: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    let mut out = Writer::new_with_indent(out, b' ', 2);
    out.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    out.create_element("testsuites")
        .with_attribute(("name", "psci-bench"))
        .with_attribute(("tests", cases.len().to_string().as_str()))
        .with_attribute(("failures", count(&cases, FAILURE).as_str()))
        .with_attribute(("errors", count(&cases, ERROR).as_str()))
        .write_inner_content(|out| suites.iter().try_for_each(|suite| suite.write(out)))?;
    writeln!(out.into_inner())?;
    Ok(())
}

/// Returns the number of cases that have this trouble.
fn count(cases: &[&Case], element: &str) -> String {
    let has = |case: &&&Case| {
        case.trouble
            .as_ref()
            .is_some_and(|it| it.element == element)
    };
    cases.iter().filter(has).count().to_string()
}

impl Suite {
    fn write(&self, out: &mut Out<'_>) -> io::Result<()> {
        let cases: Vec<&Case> = self.cases.iter().collect();
        out.create_element("testsuite")
            .with_attribute(("name", xml_characters(&self.name).as_str()))
            .with_attribute(("tests", cases.len().to_string().as_str()))
            .with_attribute(("failures", count(&cases, FAILURE).as_str()))
            .with_attribute(("errors", count(&cases, ERROR).as_str()))
            .with_attribute(("skipped", count(&cases, SKIPPED).as_str()))
            .write_inner_content(|out| {
                out.create_element("properties")
                    .write_inner_content(|out| {
                        self.properties.iter().try_for_each(|(name, value)| {
                            out.create_element("property")
                                .with_attribute(("name", xml_characters(name).as_str()))
                                .with_attribute(("value", xml_characters(value).as_str()))
                                .write_empty()
                                .map(drop)
                        })
                    })?;
                self.cases.iter().try_for_each(|case| case.write(out))
            })
            .map(drop)
    }
}

impl Case {
    fn write(&self, out: &mut Out<'_>) -> io::Result<()> {
        out.create_element("testcase")
            .with_attribute(("name", xml_characters(&self.name).as_str()))
            .with_attribute(("classname", xml_characters(&self.class).as_str()))
            .write_inner_content(|out| {
                if let Some(trouble) = &self.trouble {
                    out.create_element(trouble.element)
                        .with_attribute(("type", xml_characters(&trouble.word).as_str()))
                        .with_attribute(("message", xml_characters(&trouble.message).as_str()))
                        .write_empty()?;
                }
                out.create_element("system-out")
                    .write_text_content(BytesText::new(&xml_characters(&self.said)))
                    .map(drop)
            })
            .map(drop)
    }
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
            add(
                figure.cpu,
                &format!("{name}.median_{unit}"),
                each(summary.median),
            );
            add(figure.cpu, &format!("{name}.max_{unit}"), each(summary.max));
        }
    }
    for row in &scenario.rows {
        if let Some(reason) = &row.skipped {
            add(row.cpu, "skipped", reason.to_string());
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
    let remarks = remarks(run, scenario).into_iter();
    said.extend(remarks.map(|it| it.text));
    Case {
        name: format!("{}{}", scenario.id.name(), woken_by(run, scenario.helper)),
        class: format!("psci-bench.{}", scenario.method.word()),
        trouble: trouble(run, scenario.status),
        said: said.join("\n"),
    }
}

/// Returns the helper, by which two cases of one scenario differ.
fn woken_by(run: &LoggedRun, helper: Option<u16>) -> String {
    helper.map_or_else(String::new, |cpu| {
        format!(" woken by CPU {}", run.run.label(cpu))
    })
}

fn trouble(run: &LoggedRun, status: Status) -> Option<Trouble> {
    let none = "no reason is given";
    let (element, word, default) = match status {
        Status::Passed => return None,
        Status::Skipped(reason) => (SKIPPED, reason_word(&reason), none),
        Status::Failed(reason) => (FAILURE, reason_word(&reason), none),
        Status::Crashed => (ERROR, String::new(), "it ended in a reset"),
        Status::Unknown => (ERROR, String::new(), "the log does not say how it ended"),
    };
    let reason = status_reason(run, status);
    Some(Trouble {
        element,
        word: match reason {
            Some(_) => word,
            None => status_word(status).to_owned(),
        },
        message: reason.unwrap_or_else(|| default.to_owned()),
    })
}

/// Returns the scenarios that were compared with a baseline: a regression is a
/// failure.
fn compared(run: &LoggedRun, comparison: &Comparison) -> Vec<Case> {
    let class = format!("psci-bench.baseline.{}", comparison.baseline.source.input);
    let cases = comparison.scenarios.iter().map(|scenario| {
        let key = scenario.key;
        let changes = scenario.changes();
        let worse = changes.iter().filter(|it| it.outcome == Outcome::Worse);
        let worse: Vec<String> = worse.map(|it| change_text(run, it)).collect();
        Case {
            name: format!("{}{}", key.id, woken_by(run, key.helper)),
            class: format!("{class}.{}", key.method.word()),
            trouble: (!worse.is_empty()).then(|| Trouble {
                element: FAILURE,
                word: "regression".to_owned(),
                message: worse.join("; "),
            }),
            said: format!("{} figures were compared", changes.len()),
        }
    });
    cases.collect()
}

/// Returns the case that fails if a part of the baseline was not compared.
fn whole(run: &LoggedRun, comparison: &Comparison) -> Case {
    let lacks = comparison.lacks();
    let said = comparison
        .refused
        .iter()
        .map(|it| format!("{}, method {}: {}.", it.id, it.method.word(), it.why));
    let said: Vec<String> = said.chain(comparison.lone_rows(&run.run)).collect();
    Case {
        name: "Comparison".to_owned(),
        class: format!("psci-bench.baseline.{}", comparison.baseline.source.input),
        trouble: (!lacks.is_empty()).then(|| Trouble {
            element: ERROR,
            word: "incomplete".to_owned(),
            message: lacks.join("; "),
        }),
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
    let line = run.verdict_text();
    let trouble = if !run.is_complete() {
        let mut message = vec![line];
        message.extend(warnings(run));
        Some((ERROR, "incomplete", message.join("; ")))
    } else if run.verdict() == Some(Verdict::Fail) {
        Some((FAILURE, "fail", line))
    } else {
        None
    };
    Case {
        name: "Verdict".to_owned(),
        class: "psci-bench".to_owned(),
        trouble: trouble.map(|(element, word, message)| Trouble {
            element,
            word: word.to_owned(),
            message,
        }),
        said: [vec![run.integrity.to_string()], run.doubts()]
            .concat()
            .join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use psci_bench::plan::Records;

    use super::*;
    use crate::report::log::{made_up_run, read_bytes};

    #[test]
    fn no_two_cases_or_properties_have_one_name() {
        let log = made_up_run::log(&made_up_run::run(), Records::Once);
        let run = read_bytes("a.log", log.as_bytes())
            .expect("a run")
            .remove(0);
        let suite = suite(&run);
        let names: Vec<&str> = suite.cases.iter().map(|it| it.name.as_str()).collect();
        let name = "Suspend to deepest power level on all cores in parallel woken by CPU 0.0";
        assert!(names.contains(&name), "{names:?}");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());

        let figures = run.run.scenarios.iter();
        let figures = figures.flat_map(|it| scenario_properties(&run, it));
        let figures: Vec<String> = figures.map(|it| it.0).collect();
        assert_eq!(figures.iter().collect::<BTreeSet<_>>().len(), figures.len());
    }
}
