//! Reads LAVA results, from lines in a log or from a results file.
//!
//! In a log, results are entries at the `results` level, one per line, with the data in `msg`.
//! `lava-run` writes the last result to `result.yaml`. A server returns all results as a list, with
//! different key names.

use std::io::Read;

use anyhow::{Context, Result, anyhow, bail};
use hardware::text::plural::many;
use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;

use super::results::{CaseStatus, Results};
use crate::log::lava_log::LavaEntry;
use crate::log::lines::LogLines;
use crate::log::untrusted_text::{message, plain};

const OWN: &str = "lava";
/// The test case for the job itself.
const JOB: &str = "job";

/// A result, with either the keys that logs use or those that servers use.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a result with the keys suite, name and result")]
struct One {
    #[serde(alias = "suite")]
    definition: String,
    #[serde(alias = "name")]
    case: String,
    result: String,
    measurement: Option<Value>,
    error_msg: Option<Value>,
}

impl Results {
    fn take(&mut self, one: One) -> Result<()> {
        let status = match one.result.as_str() {
            "pass" => CaseStatus::Passed,
            "fail" => CaseStatus::Failed,
            "skip" => CaseStatus::Skipped,
            "unknown" => CaseStatus::Unknown,
            other => bail!("{:?} is not a LAVA result", message(other)),
        };
        let text_of = |value: Option<Value>| match value {
            None => String::new(),
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
        };
        if one.definition == OWN {
            // The test case for the job fails only if an essential step fails.
            if one.case == JOB {
                self.ended = true;
                if status != CaseStatus::Passed {
                    let why = message(&text_of(one.error_msg));
                    self.failure.get_or_insert(why);
                }
            }
            return Ok(());
        }
        let measured = Some(text_of(one.measurement)).filter(|text| !text.is_empty());
        let measured = measured.map(|text| text.parse().unwrap_or(f64::NAN));
        let name = plain(&format!("{}/{}", one.definition, one.case));
        match measured.filter(|_| status == CaseStatus::Passed) {
            Some(value) => self.measured.entry(name).or_default().push(value),
            None => self.add(name, status),
        }
        Ok(())
    }
}

/// Returns the results in a log, or None if there are none, for example because the log contains
/// only UART output. Damaged entries are counted, because they may be failed test cases.
pub fn read_log(from: impl Read) -> Result<Option<Results>> {
    let [mark, level] = ["results", "lvl"].map(memmem::Finder::new);
    let mut lines = LogLines::of(from);
    let mut found: Option<Results> = None;
    // The line number of the first damaged entry, and the number of damaged entries.
    let mut damaged: Option<(u64, usize)> = None;
    while let Some(line) = lines.next()? {
        let text = line.bytes.trim_ascii();
        let entry = text.strip_prefix(b"-").unwrap_or(text).trim_ascii_start();
        let number = line.number;
        let is_cut = entry.starts_with(b"{\"dt\"") && !entry.ends_with(b"}");
        if !is_cut && mark.find(entry).is_none() {
            continue;
        }
        // The board may print anything, but an entry always has a level.
        let whole = entry.starts_with(b"{").then_some(entry);
        let Some(one) = whole.and_then(LavaEntry::parse) else {
            if is_cut || level.find(entry).is_some() {
                damaged.get_or_insert((number, 0)).1 += 1;
            }
            continue;
        };
        if one.level != "results" {
            continue;
        }
        let at = || format!("line {number}: invalid LAVA result");
        let one: One = serde_json::from_value(one.message).with_context(at)?;
        found.get_or_insert_default().take(one).with_context(at)?;
    }
    if let Some((first, count)) = damaged {
        found.get_or_insert_default().lacks.push(format!(
            "{} of LAVA's log cannot be read, starting at line {first}: a result may be missing",
            many(count, "line")
        ));
    }
    Ok(found)
}

pub(super) fn read_results(text: &[u8], results: &mut Results) -> Result<()> {
    let all = match serde_saphyr::from_slice::<Vec<One>>(text) {
        Ok(all) if !all.is_empty() => Ok(all),
        // The file that `lava-run` writes contains a single result.
        list => serde_saphyr::from_slice(text)
            .map(|one| vec![one])
            .map_err(|error| list.err().unwrap_or(error)),
    };
    let all = all.map_err(|error| {
        let error = error.to_string();
        let line = message(error.lines().next().unwrap_or(&error));
        let each = "each with the keys suite, name and result";
        anyhow!("expected LAVA results, {each}: {line}")
    })?;
    for (place, one) in all.into_iter().enumerate() {
        let at = || format!("result {}", place + 1);
        results.take(one).with_context(at)?;
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

    fn results(text: &str) -> Result<Results> {
        let mut results = Results::default();
        read_results(text.as_bytes(), &mut results).map(|()| results)
    }

    #[test]
    fn a_log() {
        let results = read_log(LOG.as_bytes()).expect("read").expect("results");
        assert_eq!(results.measurements(), 1);
        assert_eq!(results.failure.as_deref(), Some("timed out"));
        assert!(results.ended);
        let expected = [("a", CaseStatus::Passed), ("b", CaseStatus::Failed)];
        let expected = expected.map(|(name, status)| (format!("psci-bench/{name}"), status));
        assert_eq!(results.cases, expected.into());
        assert_eq!(read_log(&b"plain results\n{}\n"[..]).expect("read"), None);
        let odd = LOG.replace(r#""result": "fail""#, r#""result": "perhaps""#);
        let error = read_log(odd.as_bytes()).expect_err("no result");
        assert!(format!("{error:#}").contains("line 5"), "{error:#}");
    }

    #[test]
    fn result_files() {
        let one = results("case: job\ndefinition: lava\nresult: pass\n").expect("one");
        assert!(one.ended && one.failure.is_none() && one.cases.is_empty());
        let all = "- {job: '7', suite: lava, name: job, result: pass, measurement: ''}\n\
                   - {suite: psci-bench, name: a, result: skip, measurement: ''}\n\
                   - {suite: wakeup, name: a_0_0, result: pass, measurement: '812.00', unit: ns}\n";
        let all = results(all).expect("all");
        assert_eq!((all.measurements(), all.count(CaseStatus::Skipped)), (1, 1));
        // Nested aliases are rejected immediately.
        let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for letter in 'b'..='p' {
            let before = char::from(letter as u8 - 1);
            let many = vec![format!("*{before}"); 9].join(", ");
            bomb.push_str(&format!("{letter}: &{letter} [{many}]\n"));
        }
        let each = "each with the keys suite, name and result";
        for bad in ["", "a: b", "[1, 2]", "&a [*a, *a]", "{", &bomb, "- 7"] {
            let error = results(bad).expect_err(bad);
            assert!(format!("{error:#}").contains(each), "{error:#}");
        }
        let error = results("- {suite: a, name: b, result: won}").expect_err("won");
        assert!(format!("{error:#}").contains("result 1: \"won\" is no"));
    }

    #[test]
    fn an_entry_that_is_damaged_is_missed() {
        let failed = r#"- {"dt": "x", "lvl": "results", "msg": {"case": "b", "definition": "p", "result": "fail"}}"#;
        let broken = failed.replacen(", \"msg\"", ",\n  \"msg\"", 1);
        let twice = failed.replacen("\"lvl\"", "\"lvl\": \"results\", \"lvl\"", 1);
        let block = "- dt: x\n  lvl: results\n  msg:\n    case: b\n";
        let read = |bad: &str| {
            let log = format!("{LOG}{bad}\n");
            read_log(log.as_bytes()).expect("read").expect("results")
        };
        let (cut, late) = (&failed[..failed.len() - 4], format!("2026-01-02 {failed}"));
        for bad in [cut, &failed[10..], &late, &broken, &twice, block] {
            let lacks = read(bad).lacks.join(";");
            let why = "1 line of LAVA's log cannot be read";
            assert!(lacks.contains(why), "{bad}");
            assert!(
                lacks.contains("starting at line 9") || bad == block,
                "{lacks}"
            );
        }
    }

    #[test]
    fn failure_with_a_reason_is_kept() {
        let why = "- {suite: lava, name: job, result: fail, error_msg: \"x\\n\\n> # big\\e[2J\"}";
        let with = results(why).expect("read");
        assert_eq!(with.failure.as_deref(), Some("x > # big.[2J"));
        let without = results("- {suite: lava, name: job, result: fail}").expect("read");
        for (first, second) in [(&with, &without), (&without, &with)] {
            let mut both = first.clone();
            both.merge(second.clone());
            assert_eq!(both.failure, with.failure);
        }
    }
}
