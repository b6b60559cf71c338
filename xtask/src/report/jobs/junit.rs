//! labgrid's results, in the XML that pytest writes.

use anyhow::{Context, Result, bail};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{Ending, Results};

/// The longest message that is kept of a failure.
const MESSAGE_MAX: usize = 200;

/// Adds the test cases in `text`.
///
/// # Errors
/// When it is no XML, or has no test case.
pub(super) fn read(text: &[u8], results: &mut Results) -> Result<()> {
    let mut reader = Reader::from_reader(text);
    let mut case: Option<(String, Ending)> = None;
    let mut depth = 0_u32;
    let mut cases = 0;
    let mut failure = None;
    loop {
        let at = reader.buffer_position();
        let event = reader.read_event();
        match event.with_context(|| format!("this is no XML, at byte {at}"))? {
            Event::Start(element) => {
                depth += 1;
                begin(&element, &mut case, &mut failure)?;
            }
            Event::Empty(element) => {
                begin(&element, &mut case, &mut failure)?;
                if element.local_name().as_ref() == "testcase" {
                    cases += usize::from(end(&mut case, results));
                }
            }
            Event::End(element) => {
                depth = depth.saturating_sub(1);
                if element.local_name().as_ref() == "testcase" {
                    cases += usize::from(end(&mut case, results));
                }
            }
            Event::Eof if depth > 0 => bail!("this XML ends early"),
            Event::Eof => break,
            _ => {}
        }
    }
    if cases == 0 {
        bail!("there is no test case in it");
    }
    results.ended = true;
    // Without a board there is no test: the first one says why.
    if results.failure.is_none() && results.count(Ending::Failed) == results.cases.len() {
        results.failure = failure;
    }
    Ok(())
}

fn begin(
    element: &BytesStart<'_>,
    case: &mut Option<(String, Ending)>,
    failure: &mut Option<String>,
) -> Result<()> {
    let ending = match element.local_name().as_ref() {
        "testcase" => {
            let name = attribute(element, "name")?.context("a test case has no name")?;
            let class = attribute(element, "classname")?;
            let name = class.map_or(name.clone(), |class| format!("{class}/{name}"));
            *case = Some((name, Ending::Passed));
            return Ok(());
        }
        "failure" | "error" => Ending::Failed,
        "skipped" => Ending::Skipped,
        _ => return Ok(()),
    };
    if let Some((_, known)) = case {
        *known = ending.max(*known);
        let message = attribute(element, "message")?.filter(|_| ending == Ending::Failed);
        *failure = failure.take().or(message);
    }
    Ok(())
}

/// Whether there was a test case to end.
fn end(case: &mut Option<(String, Ending)>, results: &mut Results) -> bool {
    let ended = case.take();
    let there = ended.is_some();
    if let Some((name, ending)) = ended {
        results.add(name, ending);
    }
    there
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>> {
    let found = element
        .try_get_attribute(name)
        .context("a broken attribute")?;
    let Some(found) = found else { return Ok(None) };
    let text = found
        .normalized_value(quick_xml::XmlVersion::Implicit1_0)
        .context("a broken attribute")?;
    let line = text.lines().next().unwrap_or_default();
    Ok(Some(line.chars().take(MESSAGE_MAX).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(cases: &str) -> Result<Results> {
        let mut results = Results::default();
        let text = format!(
            "<?xml version=\"1.0\"?><testsuites><testsuite>{cases}</testsuite></testsuites>"
        );
        read(text.as_bytes(), &mut results).map(|()| results)
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
        let named: Vec<_> = found
            .cases
            .iter()
            .map(|(name, it)| (name.as_str(), *it))
            .collect();
        let expected = [
            ("d", Ending::Passed),
            ("t/a[x]", Ending::Passed),
            ("t/b", Ending::Skipped),
            ("t/c", Ending::Failed),
        ];
        assert_eq!(named, expected);
        assert!(found.ended && found.failure.is_none());
        let none = results("<testcase name='a'><error message='no board'/></testcase>");
        assert_eq!(none.expect("a case").failure.as_deref(), Some("no board"));
        for bad in ["", "<testcase/>", "<testcase name='a'>", "</x>", "<a b=c>"] {
            results(bad).expect_err(bad);
        }
        assert!(read(b"", &mut Results::default()).is_err());
    }
}
