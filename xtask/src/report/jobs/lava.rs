//! LAVA's results: lines of its log, or a file of them.
//!
//! In a log they are entries of level `results`, a line each, with `msg` as
//! below. `lava-run` writes the last of these to `result.yaml`; a server gives
//! a list of all, in its own words for the keys.

use std::io::Read;

use anyhow::{Context, Result, anyhow, bail};
use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;

use super::{Ending, Results};
use crate::report::read::lines::Lines;

/// The test suite of LAVA's own steps.
const OWN: &str = "lava";
/// The test case of the job itself there.
const JOB: &str = "job";

/// A result, in the words of a log or in those of a server.
#[derive(Debug, Deserialize)]
struct One {
    #[serde(alias = "suite")]
    definition: String,
    #[serde(alias = "name")]
    case: String,
    result: String,
    measurement: Option<Value>,
    error_msg: Option<Value>,
}

/// An entry of a log.
#[derive(Debug, Deserialize)]
struct Entry {
    lvl: String,
    msg: Value,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrAll {
    All(Vec<One>),
    One(One),
}

impl Results {
    fn take(&mut self, one: One) -> Result<()> {
        let ending = match one.result.as_str() {
            "pass" => Ending::Passed,
            "fail" => Ending::Failed,
            "skip" => Ending::Skipped,
            "unknown" => Ending::Unknown,
            other => bail!("{:?} is no result of LAVA's", short(other)),
        };
        if one.definition == OWN {
            // Of its own steps, the job fails with those that matter.
            if one.case == JOB {
                self.ended = true;
                let said = || match &one.error_msg {
                    Some(Value::String(text)) => text.trim().to_owned(),
                    _ => "LAVA does not say why".to_owned(),
                };
                if ending != Ending::Passed {
                    self.failure.get_or_insert_with(said);
                }
            }
            return Ok(());
        }
        let measured = match &one.measurement {
            None | Some(Value::Null) => false,
            Some(Value::String(text)) => !text.is_empty(),
            Some(_) => true,
        };
        if measured && ending == Ending::Passed {
            self.measurements += 1;
            return Ok(());
        }
        self.add(format!("{}/{}", one.definition, one.case), ending);
        Ok(())
    }
}

fn short(text: &str) -> &str {
    text.get(..40).unwrap_or(text)
}

/// The results in a log; None where it has none, as a log of the UART alone.
///
/// # Errors
/// When the log cannot be read, or a line of results cannot.
pub fn read_log(from: impl Read) -> Result<Option<Results>> {
    let mark = memmem::Finder::new(b"results");
    let mut lines = Lines::of(from);
    let mut found: Option<Results> = None;
    while let Some(line) = lines.next()? {
        let text = line.bytes.trim_ascii();
        let entry = text.strip_prefix(b"-").unwrap_or(text).trim_ascii_start();
        if !entry.starts_with(b"{") || mark.find(entry).is_none() {
            continue;
        }
        let number = line.number;
        // The board may say what it likes: an entry has a level.
        let Ok(entry) = serde_saphyr::from_slice::<Entry>(entry) else {
            continue;
        };
        if entry.lvl != "results" {
            continue;
        }
        let at = || format!("line {number}: a result of LAVA's that is none");
        let one: One = serde_json::from_value(entry.msg).with_context(at)?;
        found.get_or_insert_default().take(one).with_context(at)?;
    }
    Ok(found)
}

/// Adds those in the file `text`.
///
/// # Errors
/// When it is no list of results, and no result.
pub(super) fn read_results(text: &[u8], results: &mut Results) -> Result<()> {
    let read: OneOrAll = serde_saphyr::from_slice(text).map_err(|error| {
        let error = error.to_string();
        anyhow!(
            "these are no results of LAVA's: {}",
            error.lines().next().unwrap_or_default()
        )
    })?;
    // Beside a log, which has the same: nothing is counted twice.
    let measurements = results.measurements;
    let all = match read {
        OneOrAll::All(all) => all,
        OneOrAll::One(one) => vec![one],
    };
    for one in all {
        results.take(one)?;
    }
    if measurements > 0 {
        results.measurements = measurements;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"
{"dt": "2026-01-02T10:11:12", "lvl": "target", "msg": "results: none"}
- {"dt": "2026-01-02T10:11:12", "lvl": "results", "msg": {"case": "validate", "definition": "lava", "result": "pass"}}
{"dt": "x", "lvl": "results", "msg": {"case": "a", "definition": "psci-bench", "extra": {"test_case_id": "A\t1"}, "level": "3.1", "result": "pass"}}
{"dt": "x", "lvl": "results", "msg": {"case": "b", "definition": "psci-bench", "level": "3.1", "result": "fail"}}
{"dt": "x", "lvl": "results", "msg": {"case": "c_0_0", "definition": "wakeup", "measurement": ! "49536.0", "result": "pass", "units": "ns"}}
{"case": "results", "this": "is what the board says"}
{"dt": "x", "lvl": "results", "msg": {"case": "job", "definition": "lava", "error_msg": "timed out", "result": "fail"}}
"#;

    #[test]
    fn a_log() {
        let results = read_log(LOG.as_bytes()).expect("read").expect("results");
        assert_eq!(results.measurements, 1);
        assert_eq!(results.failure.as_deref(), Some("timed out"));
        assert!(results.ended);
        let cases: Vec<_> = results
            .cases
            .iter()
            .map(|(name, it)| (name.as_str(), *it))
            .collect();
        let expected = [
            ("psci-bench/a", Ending::Passed),
            ("psci-bench/b", Ending::Failed),
        ];
        assert_eq!(cases, expected);
        assert_eq!(read_log(&b"plain results\n{}\n"[..]).expect("read"), None);
        let odd = LOG.replace(r#""result": "fail""#, r#""result": "perhaps""#);
        let error = read_log(odd.as_bytes()).expect_err("no result");
        assert!(format!("{error:#}").contains("line 5"), "{error:#}");
    }

    #[test]
    fn result_files() {
        let read = |text: &str| {
            let mut results = Results::default();
            read_results(text.as_bytes(), &mut results).map(|()| results)
        };
        let one = read("case: job\ndefinition: lava\nresult: pass\n").expect("one");
        assert!(one.ended && one.failure.is_none() && one.cases.is_empty());
        let all = "- {job: '7', suite: lava, name: job, result: pass, measurement: ''}\n\
                   - {suite: psci-bench, name: a, result: skip, measurement: ''}\n\
                   - {suite: wakeup, name: a_0_0, result: pass, measurement: '812.0000000000', unit: ns}\n";
        let all = read(all).expect("all");
        assert_eq!((all.measurements, all.count(Ending::Skipped)), (1, 1));
        for bad in [
            "",
            "a: b",
            "[1, 2]",
            "&a [*a, *a]",
            "- {suite: a, name: b, result: won}",
            "{",
        ] {
            read(bad).expect_err(bad);
        }
        // Aliases of aliases: refused, and at once.
        let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for letter in 'b'..='p' {
            let before = char::from(letter as u8 - 1);
            let many = vec![format!("*{before}"); 9].join(", ");
            bomb.push_str(&format!("{letter}: &{letter} [{many}]\n"));
        }
        read(&bomb).expect_err("a bomb");
    }
}
