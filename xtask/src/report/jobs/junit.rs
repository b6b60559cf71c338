//! labgrid's results, in the XML that pytest writes.

use anyhow::{Context, Result, bail};
use psci_bench::plan::TAG_PREFIX;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::agreed;
use super::job::{Ending, Results};
use crate::report::log::untrusted_text::message;

/// A test case, or a suite of them, that is not over.
#[derive(Debug, Default)]
struct State {
    case: Option<(String, Ending)>,
    suites: Vec<Suite>,
    /// The number of all test cases.
    cases: usize,
    /// The first message of a test case that failed.
    failure: Option<String>,
}

/// A suite: its own counts of test cases, and the counts of those in it.
#[derive(Debug, Default)]
struct Suite {
    name: String,
    tests: u64,
    failures: u64,
    errors: u64,
    cases: u64,
    failed: u64,
}

/// Adds the test cases in `text`.
pub(super) fn read(text: &[u8], results: &mut Results) -> Result<()> {
    let mut reader = Reader::from_reader(text);
    let mut state = State::default();
    let mut depth = 0_u32;
    loop {
        let at = reader.buffer_position();
        let event = reader.read_event();
        match event.with_context(|| format!("this is no XML, at byte {at}"))? {
            Event::Start(element) => {
                depth += 1;
                state.begin(&element, results)?;
            }
            Event::Empty(element) => {
                state.begin(&element, results)?;
                state.end(element.local_name().as_ref(), results);
            }
            Event::End(element) => {
                depth = depth.saturating_sub(1);
                state.end(element.local_name().as_ref(), results);
            }
            // An entity of its own could be a failure.
            Event::DocType(_) => bail!("this XML has a document type, and JUnit's has none"),
            Event::Eof if depth > 0 => bail!("this XML ends early"),
            Event::Eof => break,
            _ => {}
        }
    }
    if state.cases == 0 {
        bail!("there is no test case in it");
    }
    results.ended = true;
    // Without a board there is no test: the first one says why.
    if results.failure.is_none() && results.count(Ending::Failed) == results.cases.len() {
        results.failure = state.failure;
    }
    Ok(())
}

impl State {
    fn begin(&mut self, element: &BytesStart<'_>, results: &mut Results) -> Result<()> {
        let ending = match element.local_name().as_ref() {
            "testcase" => {
                let name = attribute(element, "name")?.context("a test case has no name")?;
                let class = attribute(element, "classname")?;
                let name = class.map_or(name.clone(), |class| format!("{class}/{name}"));
                self.case = Some((name, Ending::Passed));
                return Ok(());
            }
            "testsuite" | "testsuites" => {
                self.suites.push(Suite {
                    name: attribute(element, "name")?.unwrap_or_else(|| "without a name".into()),
                    tests: number(element, "tests")?,
                    failures: number(element, "failures")?,
                    errors: number(element, "errors")?,
                    ..Suite::default()
                });
                return Ok(());
            }
            "property" => {
                self.property(element, results)?;
                return Ok(());
            }
            "failure" | "error" => Ending::Failed,
            "skipped" => Ending::Skipped,
            _ => return Ok(()),
        };
        let said = attribute(element, "message")?.filter(|_| ending == Ending::Failed);
        if let Some((_, known)) = &mut self.case {
            *known = ending.max(*known);
            self.failure = self.failure.take().or(said);
        } else if ending == Ending::Failed {
            let suite = self.suites.last().map_or("", |suite| &suite.name);
            let said = said.unwrap_or_else(|| "it does not say why".to_owned());
            results.faults.push(format!("suite {suite} failed: {said}"));
        }
        Ok(())
    }

    /// A figure of a scenario: the generated tests call it by CPU, metric and
    /// unit, and the scenario's tag is the parameter of the test.
    fn property(&self, element: &BytesStart<'_>, results: &mut Results) -> Result<()> {
        let (Some((case, _)), Some(name), Some(value)) = (
            &self.case,
            attribute(element, "name")?,
            attribute(element, "value")?,
        ) else {
            return Ok(());
        };
        let tag = case.rsplit_once('[').and_then(|it| it.1.strip_suffix(']'));
        let tag = tag.and_then(|tag| tag.strip_prefix(TAG_PREFIX));
        let mut words = name.split(' ');
        if let (Some(tag), Some(cpu), Some(metric), Some("ns"), None) =
            (tag, words.next(), words.next(), words.next(), words.next())
        {
            let name = agreed::name(&metric.replace('_', "-"), tag, &cpu.replace('.', "_"));
            let value = value.parse().unwrap_or(f64::NAN);
            results.measured.entry(name).or_default().push(value);
        }
        Ok(())
    }

    fn end(&mut self, element: &str, results: &mut Results) {
        match element {
            "testcase" => {
                let Some((name, ending)) = self.case.take() else {
                    return;
                };
                self.cases += 1;
                if let Some(suite) = self.suites.last_mut() {
                    suite.cases += 1;
                    suite.failed += u64::from(ending == Ending::Failed);
                }
                results.add(name, ending);
            }
            "testsuite" | "testsuites" => {
                let Some(suite) = self.suites.pop() else {
                    return;
                };
                suite.check(results);
                if let Some(outer) = self.suites.last_mut() {
                    outer.cases += suite.cases;
                    outer.failed += suite.failed;
                }
            }
            _ => {}
        }
    }
}

impl Suite {
    /// Compares the suite's own counts with those of its cases.
    fn check(&self, results: &mut Results) {
        let Self { name, failed, .. } = self;
        let counted = self.failures.saturating_add(self.errors);
        if counted > *failed {
            results.faults.push(format!(
                "suite {name} counts {counted} failures and errors, and has {failed}"
            ));
        }
        // An error behind a test that passed counts as one more of them.
        if self.tests.saturating_sub(self.errors) > self.cases {
            results.lacks.push(format!(
                "suite {name} counts {} test cases, and has {}",
                self.tests, self.cases
            ));
        }
    }
}

/// Returns a count; 0 without one.
fn number(element: &BytesStart<'_>, name: &str) -> Result<u64> {
    let Some(text) = attribute(element, name)? else {
        return Ok(0);
    };
    let number = text.trim().parse();
    number.with_context(|| format!("{name}={text:?} is no number"))
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>> {
    let found = element
        .try_get_attribute(name)
        .context("a broken attribute")?;
    let Some(found) = found else { return Ok(None) };
    let text = found
        .normalized_value(quick_xml::XmlVersion::Implicit1_0)
        .context("a broken attribute")?;
    Ok(Some(message(&text)))
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
            ("d", Ending::Passed),
            ("t/a[x]", Ending::Passed),
            ("t/b", Ending::Skipped),
            ("t/c", Ending::Failed),
        ];
        let expected = expected.map(|(name, ending)| (name.to_owned(), ending));
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
        for (bad, why) in [
            ("", "no test case in it"),
            ("<testcase/>", "has no name"),
            ("<testcase name='a'>", "this is no XML"),
            ("</x>", "this is no XML"),
            ("<testcase name=c>", "a broken attribute"),
        ] {
            let error = format!("{:#}", results(bad).expect_err(bad));
            assert!(error.contains(why), "{bad}: {error}");
        }
        let entity = "<!DOCTYPE x [<!ENTITY f '<failure/>'>]><testcase name='a'>&f;</testcase>";
        for (bad, why) in [
            ("", "no test case in it"),
            ("<testsuite tests='many'/>", "is no number"),
            (entity, "type"),
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
