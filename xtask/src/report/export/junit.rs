//! `junit`: a test suite a run, a test case a scenario, for CI servers.
//!
//! Nothing but what the schema of Jenkins' xUnit plugin has, which is the
//! strictest of the many: so figures are properties of the suite, by scenario,
//! method, metric and CPU. That a run is there to its end is a test case of its
//! own, so that half a log is not green.

use std::io::{self, Write};

use anyhow::Result;
use psci_bench::model::Verdict;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::exporter::{Exporter, Options, Report, Takes};
use super::xml::characters;
use super::{content, method};
use crate::report::analysis::compare::{Change, Comparison, Outcome, PointChange};
use crate::report::model::{Measured, Run, Status, Test, Why, heading};

/// The exporter.
pub(super) struct Junit;

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

/// What is not success.
struct Trouble {
    element: &'static str,
    word: String,
    message: String,
}

const FAILURE: &str = "failure";
const ERROR: &str = "error";
const SKIPPED: &str = "skipped";

impl Exporter for Junit {
    fn name(&self) -> &'static str {
        "junit"
    }

    fn about(&self) -> &'static str {
        "JUnit's XML: a test case a scenario, figures as properties"
    }

    fn takes(&self) -> Takes {
        Takes {
            comparisons: true,
            ..Takes::default()
        }
    }

    fn write(&self, report: &Report, _: &Options, out: &mut dyn Write) -> Result<()> {
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
}

/// How many cases have this trouble.
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
            .with_attribute(("name", characters(&self.name).as_str()))
            .with_attribute(("tests", cases.len().to_string().as_str()))
            .with_attribute(("failures", count(&cases, FAILURE).as_str()))
            .with_attribute(("errors", count(&cases, ERROR).as_str()))
            .with_attribute(("skipped", count(&cases, SKIPPED).as_str()))
            .write_inner_content(|out| {
                out.create_element("properties")
                    .write_inner_content(|out| {
                        self.properties.iter().try_for_each(|(name, value)| {
                            out.create_element("property")
                                .with_attribute(("name", characters(name).as_str()))
                                .with_attribute(("value", characters(value).as_str()))
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
            .with_attribute(("name", characters(&self.name).as_str()))
            .with_attribute(("classname", characters(&self.class).as_str()))
            .write_inner_content(|out| {
                if let Some(trouble) = &self.trouble {
                    out.create_element(trouble.element)
                        .with_attribute(("type", characters(&trouble.word).as_str()))
                        .with_attribute(("message", characters(&trouble.message).as_str()))
                        .write_empty()?;
                }
                out.create_element("system-out")
                    .write_text_content(BytesText::new(&characters(&self.said)))
                    .map(drop)
            })
            .map(drop)
    }
}

fn suite(run: &Run) -> Suite {
    let board = run.model.as_deref().unwrap_or("unknown board");
    let source = &run.source;
    let mut properties: Vec<(String, String)> = method::method(run)
        .into_iter()
        .map(|(name, text)| {
            if name.is_empty() {
                ("Other", text)
            } else {
                (name, text)
            }
        })
        .map(|(name, text)| (name.to_owned(), text))
        .collect();
    properties.extend(run.tests.iter().flat_map(|test| figures(run, test)));
    let mut cases: Vec<Case> = run.tests.iter().map(|test| case(run, test)).collect();
    cases.push(verdict(run));
    Suite {
        name: format!("{board}, {}, run {}", source.input, source.place),
        properties,
        cases,
    }
}

/// The figures of a scenario, with names that part at dots.
fn figures(run: &Run, test: &Test) -> Vec<(String, String)> {
    let unit = if run.clock().is_known() {
        "ns"
    } else {
        "ticks"
    };
    let shown = |ticks| run.ns(ticks).unwrap_or(ticks).to_string();
    let mut all = Vec::new();
    for (place, row) in test.rows.iter().enumerate() {
        let cpu = run.cpus.get(row.cpu).map_or_else(
            || format!("row{place}"),
            |cpu| format!("cluster{}.core{}", cpu.cluster, run.core_number(cpu)),
        );
        let helper = test.helper.and_then(|cpu| run.cpus.get(cpu));
        let helper = helper.map_or_else(String::new, |cpu| {
            format!(
                "woken_by.cluster{}.core{}.",
                cpu.cluster,
                run.core_number(cpu)
            )
        });
        let test = format!("{}.{}.{helper}{cpu}", test.scenario.word(), test.method);
        let mut add = |what: String, value: String| all.push((format!("{test}.{what}"), value));
        for (metric, ticks) in &row.figures {
            add(format!("{metric}.{unit}"), shown(*ticks));
        }
        for (metric, summary) in &row.summaries {
            add(format!("{metric}.n"), summary.n.to_string());
            add(format!("{metric}.median_{unit}"), shown(summary.median));
            add(format!("{metric}.max_{unit}"), shown(summary.max));
        }
        if let Some(why) = &row.skipped {
            add("skipped".to_owned(), why.to_string());
        } else if !row.verified {
            add("verified".to_owned(), "no".to_owned());
        }
    }
    all.extend(
        test.points
            .iter()
            .flat_map(|point| of_point(run, test, point)),
    );
    all
}

/// The figures of a point, those of one operation.
fn of_point(run: &Run, test: &Test, point: &Measured) -> Vec<(String, String)> {
    let cpu = run.cpus.get(point.cpu).map_or_else(
        || format!("row{}", point.cpu),
        |cpu| format!("cluster{}.core{}", cpu.cluster, run.core_number(cpu)),
    );
    let (scenario, method, key) = (test.scenario.word(), &test.method, point.key());
    let (unit, summary) = (point.unit_name(run), &point.summary);
    let name = |what: String| format!("{scenario}.{method}.{cpu}.{key}.{what}");
    let each = |figure: u64| plain(point.each(run, figure));
    vec![
        (name("n".to_owned()), summary.n.to_string()),
        (name(format!("median_{unit}")), each(summary.median)),
        (name(format!("max_{unit}")), each(summary.max)),
    ]
}

/// A whole number as it is, another one with three decimals.
fn plain(value: f64) -> String {
    let digits = if value.fract() == 0.0 { 0 } else { 3 };
    format!("{value:.digits$}")
}

fn case(run: &Run, test: &Test) -> Case {
    let mut said = vec![content::conditions(run, test)];
    said.extend(content::sentences(run, test));
    Case {
        name: format!("{}{}", test.name(), woken_by(run, test.helper)),
        class: format!("psci-bench.{}", test.method),
        trouble: trouble(test),
        said: said.join("\n"),
    }
}

/// Tells two cases of one scenario apart, by the CPU that stayed awake.
fn woken_by(run: &Run, helper: Option<usize>) -> String {
    helper.map_or_else(String::new, |cpu| {
        format!(" woken by CPU {}", run.label(cpu))
    })
}

fn trouble(test: &Test) -> Option<Trouble> {
    let (element, default) = match test.status {
        Status::Passed => return None,
        Status::Skipped => (SKIPPED, "no reason is given"),
        Status::Failed => (FAILURE, "no reason is given"),
        Status::Crashed => (ERROR, "it ended in a reset"),
        Status::Unknown => (ERROR, "the log does not say how it ended"),
    };
    let why = test.why.as_ref();
    let word = why.map_or(test.status.word(), |why| why.word.as_str());
    Some(Trouble {
        element,
        word: word.to_owned(),
        message: why.map_or_else(|| default.to_owned(), Why::to_string),
    })
}

/// The scenarios that were compared with a baseline: a regression is a failure.
fn compared<'c>(run: &'c Run, comparison: &'c Comparison) -> impl Iterator<Item = Case> + use<'c> {
    let class = format!("psci-bench.baseline.{}", comparison.baseline.source.input);
    comparison.tests.iter().map(move |test| {
        let worse = |it: &&Change| it.outcome == Outcome::Worse;
        let mut worse: Vec<String> = test
            .changes()
            .iter()
            .filter(worse)
            .map(|it| told(run, it))
            .collect();
        let points = test.points.iter();
        let points = points.filter(|it| it.outcome == Outcome::Worse);
        worse.extend(points.map(|it| told_point(run, it)));
        Case {
            name: format!("{}{}", test.scenario.word(), woken_by(run, test.helper)),
            class: format!("{class}.{}", test.method),
            trouble: (!worse.is_empty()).then(|| Trouble {
                element: FAILURE,
                word: "regression".to_owned(),
                message: worse.join("; "),
            }),
            said: format!(
                "{} figures were compared",
                test.changes().len() + test.points.len()
            ),
        }
    })
}

/// Whether all that the baseline has was compared.
fn whole(run: &Run, comparison: &Comparison) -> Case {
    let lacks = comparison.lacks();
    let said = comparison
        .refused
        .iter()
        .map(|it| format!("{}, method {}: {}.", it.scenario.word(), it.method, it.why));
    let said: Vec<String> = said.chain(comparison.lone_rows(run)).collect();
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

/// A change in words.
fn told(run: &Run, change: &Change) -> String {
    let unit = if run.clock().is_known() {
        "ns"
    } else {
        "ticks"
    };
    let cpu = run.cpus.get(change.cpu).map_or_else(String::new, |cpu| {
        format!(" of CPU {}.{}", cpu.cluster, run.core_number(cpu))
    });
    let percent = change
        .percent()
        .map_or_else(String::new, |it| match change.by_flushes {
            Some(_) => format!(" ({it:+.2} %, net of cache flushes at other places)"),
            None => format!(" ({it:+.2} %)"),
        });
    format!(
        "{}{cpu}: {} {unit} after {}{percent}",
        heading(&change.metric),
        change.new.figure,
        change.old.figure
    )
}

/// A change of a point in words.
fn told_point(run: &Run, change: &PointChange) -> String {
    let percent = change
        .percent()
        .map_or_else(String::new, |it| format!(" ({it:+.2} %)"));
    format!(
        "{} of CPU {}: {} {} after {}{percent}",
        change.point.key(),
        run.label(change.point.cpu),
        plain(change.new.figure),
        change.unit,
        plain(change.old.figure)
    )
}

/// Whether the run is there to its end, and what it says of itself.
fn verdict(run: &Run) -> Case {
    let line = run.verdict_said();
    let trouble = if !run.is_complete() {
        let mut message = vec![line];
        message.extend(content::warnings(run));
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

    use super::*;
    use crate::report::log::read_bytes;

    /// Two CPUs on QEMU whose timers stop.
    const HELPER: &[u8] = include_bytes!("../../../tests/data/report/qemu-helper.log");

    #[test]
    fn no_two_cases_or_properties_have_one_name() {
        let run = read_bytes("a.log", HELPER).expect("a run").remove(0);
        let suite = suite(&run);
        let names: Vec<&str> = suite.cases.iter().map(|it| it.name.as_str()).collect();
        let name = "Suspend to deepest power level on all cores in parallel woken by CPU 0.1";
        assert!(names.contains(&name), "{names:?}");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());

        let figures = run.tests.iter().flat_map(|test| figures(&run, test));
        let figures: Vec<String> = figures.map(|it| it.0).collect();
        assert_eq!(figures.iter().collect::<BTreeSet<_>>().len(), figures.len());
    }
}
