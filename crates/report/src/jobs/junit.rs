//! Reads labgrid results from the XML that pytest writes.

use anyhow::{Context, Result, ensure};
use memchr::memmem;
use run::plan::TAG_PREFIX;
use serde::Deserialize;

use super::agreed;
use super::results::{CaseStatus, Results};
use crate::log::untrusted_text::message;

/// The maximum number of suites, including nested ones. pytest writes one.
const SUITES_MAX: usize = 100;

/// A suite or a list of suites, with its declared test case counts.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Suite {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "@tests")]
    tests: u64,
    #[serde(rename = "@failures")]
    failures: u64,
    #[serde(rename = "@errors")]
    errors: u64,
    testsuite: Vec<Suite>,
    testcase: Vec<Case>,
    failure: Vec<Reason>,
    error: Vec<Reason>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Case {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "@classname")]
    class: Option<String>,
    failure: Vec<Reason>,
    error: Vec<Reason>,
    skipped: Vec<Reason>,
    properties: Vec<Properties>,
}

/// The reason for a failure, an error or a skip.
#[derive(Deserialize)]
struct Reason {
    #[serde(rename = "@message")]
    message: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Properties {
    property: Vec<Property>,
}

#[derive(Deserialize)]
struct Property {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "@value")]
    value: String,
}

pub(super) fn read(text: &[u8], results: &mut Results) -> Result<()> {
    // A custom entity could hide a failure.
    let has_type = memmem::find(text, b"<!DOCTYPE").is_some();
    ensure!(
        !has_type,
        "this XML has a DOCTYPE, which JUnit XML never has"
    );
    let suites = memmem::find_iter(text, b"<testsuite").count();
    ensure!(suites <= SUITES_MAX, "more than {SUITES_MAX} suites");
    let no_xml = "not XML from pytest";
    let text = str::from_utf8(text).context(no_xml)?;
    let root: Suite = quick_xml::de::from_str(text).context(no_xml)?;
    let mut failure = None;
    let (cases, _) = root.read(results, &mut failure);
    ensure!(cases > 0, "no test cases");
    results.ended = true;
    // If no board is available, there are no tests, and the first failure explains why.
    if results.failure.is_none() && results.count(CaseStatus::Failed) == results.cases.len() {
        results.failure = failure;
    }
    Ok(())
}

impl Suite {
    /// Adds the suite to `results` and stores the first failed test case's message in `first`.
    /// Returns the number of test cases and the number of failed ones.
    fn read(self, results: &mut Results, first: &mut Option<String>) -> (u64, u64) {
        let (tests, errors) = (self.tests, self.errors);
        let name = message(&self.name);
        for reason in self.failure.into_iter().chain(self.error) {
            let why = reason.message.unwrap_or("no reason given".to_owned());
            let fault = format!("suite {name} failed: {}", message(&why));
            results.faults.push(fault);
        }
        let (mut cases, mut failed) = (0, 0);
        for suite in self.testsuite {
            let (own, own_failed) = suite.read(results, first);
            cases += own;
            failed += own_failed;
        }
        for case in self.testcase {
            cases += 1;
            failed += u64::from(case.read(results, first) == CaseStatus::Failed);
        }
        let counted = self.failures.saturating_add(errors);
        if counted > failed {
            let counts = format!("{counted} failures and errors, but contains {failed}");
            results
                .faults
                .push(format!("suite {name} declares {counts}"));
        }
        // An error after a test has passed counts as a separate test.
        if tests.saturating_sub(errors) > cases {
            let text = format!("suite {name} declares {tests} test cases, but contains {cases}");
            results.lacks.push(text);
        }
        (cases, failed)
    }
}

impl Case {
    fn read(self, results: &mut Results, first: &mut Option<String>) -> CaseStatus {
        let mut bad = self.failure.iter().chain(&self.error).peekable();
        let status = match bad.peek() {
            Some(_) => CaseStatus::Failed,
            None if !self.skipped.is_empty() => CaseStatus::Skipped,
            None => CaseStatus::Passed,
        };
        let why = bad.find_map(|it| it.message.as_deref());
        *first = first.take().or(why.map(message));
        for property in self.properties.iter().flat_map(|it| &it.property) {
            if let Some(name) = self.measurement(&property.name) {
                let value = property.value.parse().unwrap_or(f64::NAN);
                results.measured.entry(name).or_default().push(value);
            }
        }
        let class = self.class.map_or_else(String::new, |class| class + "/");
        results.add(message(&(class + &self.name)), status);
        status
    }

    /// Returns the name of the figure in a property. The generated tests name each property after
    /// its CPU, metric and unit. The scenario's tag is the test's parameter.
    fn measurement(&self, property: &str) -> Option<String> {
        let tag = self.name.rsplit_once('[')?.1.strip_suffix(']')?;
        let (cpu, metric) = property.strip_suffix(" ns")?.split_once(' ')?;
        let (metric, cpu) = (metric.replace('_', "-"), cpu.replace('.', "_"));
        Some(agreed::name(&metric, tag.strip_prefix(TAG_PREFIX)?, &cpu))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Results> {
        let mut results = Results::default();
        super::read(text.as_bytes(), &mut results).map(|()| results)
    }

    fn results(cases: &str) -> Result<Results> {
        let head = "<?xml version=\"1.0\"?><testsuites><testsuite>";
        read(&format!("{head}{cases}</testsuite></testsuites>"))
    }

    #[test]
    fn cases() {
        let found = results(
            "<testcase classname='t' name='a[x]'><properties><property name='n' value='1'/>\
             </properties></testcase><testcase classname='t' name='b'><skipped message='s'/>\
             </testcase><testcase classname='t' name='c'><failure message='it &lt; that&#10;more'>x\
             </failure></testcase><testcase name='d'/>",
        )
        .expect("cases");
        let expected = [
            ("d", CaseStatus::Passed),
            ("t/a[x]", CaseStatus::Passed),
            ("t/b", CaseStatus::Skipped),
            ("t/c", CaseStatus::Failed),
        ];
        let expected = expected.map(|(name, status)| (name.to_owned(), status));
        assert_eq!(found.cases, expected.into());
        assert!(found.ended && found.failure.is_none());
        let none = results("<testcase name='a'><error message='no board'/></testcase>");
        assert_eq!(none.expect("a case").failure.as_deref(), Some("no board"));
        let plain = results(
            "<testcase name='a&#27;[31m&#10;b'><failure message='&#27;]0;title&#7;m&#10;> two'/>\
             </testcase>",
        );
        let plain = plain.expect("a case");
        assert!(plain.cases.contains_key("a.[31m b"), "{plain:?}");
        assert_eq!(plain.failure.as_deref(), Some(".]0;title.m > two"));
        let entity = "<!DOCTYPE x [<!ENTITY f '<failure/>'>]><testcase name='a'>&f;</testcase>";
        for (bad, why) in [
            ("", "not XML"),
            ("<a/>", "no test cases"),
            ("<testsuite><testcase name='a'></testsuite>", "not XML"),
            ("<testsuite><testcase name=c></testsuite>", "not XML"),
            ("<testsuite tests='many'/>", "invalid type"),
            (&"<testsuite>".repeat(101), "more than 100 suites"),
            (entity, "DOCTYPE"),
        ] {
            let error = format!("{:#}", read(bad).expect_err(bad));
            assert!(error.contains(why), "{bad}: {error}");
        }
    }

    #[test]
    fn a_suite_that_counts_more_is_named() {
        let case = "<testcase name='a'/>";
        let bad = "<testcase name='b'><error/></testcase>";
        let two = format!(
            "<testsuite failures='0'>{case}</testsuite><testsuite name='s' tests='1'>{bad}</testsuite>"
        );
        for (counts, cases, faults, lacks) in [
            ("errors='3' failures='2' tests='1'", case, 1, 0),
            ("errors='0' failures='0' tests='1' skipped='0'", case, 0, 0),
            ("errors='1' failures='0' tests='2'", bad, 0, 0),
            ("errors='1' tests='2'", case, 1, 0),
            ("tests='9'", case, 0, 1),
            ("", "<error message='x'/><testcase name='a'/>", 1, 0),
            ("failures='1' tests='2'", &two, 0, 0),
        ] {
            let text = format!("<testsuites><testsuite {counts}>{cases}</testsuite></testsuites>");
            let found = read(&text).expect("cases");
            let found = (found.faults.len(), found.lacks.len());
            assert_eq!(found, (faults, lacks), "{text}");
        }
    }
}
