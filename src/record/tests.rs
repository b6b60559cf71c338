mod longest;

use std::collections::BTreeSet;
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use serde_json::Value;

use self::longest::*;
use super::crc::Crc32;
use super::*;
use crate::model::*;
use crate::plan::{Method, Records, ScenarioId};

fn written(run: &Run, records: Records) -> String {
    let mut out = String::new();
    let mut to = Writer::new(records);
    to.machine(&mut out, run).expect("a String takes all");
    for group in run.scenarios.chunks(1) {
        to.scenario(&mut out, group).expect("a String takes all");
    }
    let end = run.end.expect("an end");
    to.end(&mut out, run, end).expect("a String takes all");
    out
}

/// Reads all lines; the numbers must follow each other.
fn records(text: &str) -> Vec<Record> {
    let each = (0..).zip(text.lines()).map(|(seq, line)| {
        assert!(line.len() <= LINE_MAX && line.is_ascii(), "{line}");
        let numbered = parse(line.as_bytes()).expect(line);
        assert_eq!(numbered.seq, seq, "{line}");
        numbered.record
    });
    each.collect()
}

fn joined(records: impl IntoIterator<Item = Record>) -> Run {
    let mut builder = RunBuilder::default();
    records.into_iter().for_each(|record| builder.add(record));
    builder.run()
}

/// Writes a run, which is read back with the number of records in its end.
fn check(mut run: Run) -> (String, Run) {
    let text = written(&run, Records::Once);
    run.end.as_mut().expect("an end").records = text.lines().count() as u32;
    assert_eq!(joined(records(&text)), run);
    (text, run)
}

/// A run with two scenarios of which only one part each is known.
fn short_run() -> Run {
    let skipped = Scenario {
        status: Status::Skipped(Skip::NoGic),
        conditions: Some(Conditions::default()),
        ..Scenario::new(ScenarioKey {
            id: ScenarioId::CpuSuspendSerial,
            method: Method::Warm,
            helper: Some(1),
        })
    };
    let mut first = Scenario {
        helper: None,
        ..skipped.clone()
    };
    first.rows.push(Row {
        cpu: 3,
        attempts: Some(Attempts::default()),
        ..Row::default()
    });
    Run {
        scenarios: vec![first, skipped],
        end: Some(end()),
        ..example::run(5)
    }
}

fn line_of(body: &str) -> String {
    format!("{body} {:08x}", Crc32::of(body.as_bytes()))
}

#[test]
fn a_line_is_as_documented() {
    let (text, _) = check(short_run());
    let json = r#"{"cpu":[2,{"mpidr":"0x2","cluster":0,"core":2,"thread":0}]}"#;
    let line = line_of(&format!("@PB 0005 {json}"));
    assert_eq!(text.lines().nth(5), Some(line.as_str()));
    assert!(text.contains(r#"{"row":[{"s":"cpu_susp_serial","m":"warm"},{"cpu":3,"#));
    assert!(text.contains(r#"{"scenario":{"id":"cpu_susp_serial","method":"warm","helper":1,"#));
    for wrong in [
        format!("@PB 005 {json}"),
        r#"@PB 0005 {"of-a-later-version":1}"#.into(),
    ] {
        let found = parse(line_of(&wrong).as_bytes());
        assert_eq!(found, Err(RecordError::NotJson), "{wrong}");
    }
}

#[test]
fn copies() {
    let run = short_run();
    let once = written(&run, Records::Once);
    let twice = written(&run, Records::Twice);
    assert_eq!(written(&run, Records::None), "");
    let once: Vec<_> = once.lines().collect();
    // Head, facts, plan and five CPUs; then a block for each scenario, and the end.
    let blocks = [0..8, 8..10, 10..11, 11..13];
    let expected = blocks.map(|block| [&once[block.clone()], &once[block]].concat());
    assert!(expected.concat().into_iter().eq(twice.lines()));
}

/// Each kind of damage on a line's way, and all that is read of the rest.
#[test]
fn damage() {
    let (text, _) = check(short_run());
    let line = text.lines().nth(5).expect("a CPU");
    let sound = parse(line.as_bytes());
    assert!(sound.is_ok());
    for (glued, count) in [
        (format!("[    1.5] {line}"), 1),
        (format!("{line}\r\n"), 1),
        (format!("@PB 00{line}psci-bench: PASS"), 1),
        (format!("text {line}@PB 0006 {{\"cpu\""), 1),
        (format!("{line}{line}"), 2),
        ("no record".into(), 0),
    ] {
        let found = pieces(glued.as_bytes()).map(parse);
        let (good, others): (Vec<_>, Vec<_>) = found.partition(|it| *it == sound);
        assert_eq!(good.len(), count, "{glued}");
        let is_cut = |it: &Result<_, _>| *it == Err(RecordError::NoChecksum);
        assert!(others.iter().all(is_cut), "{glued}");
    }
    assert_eq!(parse(&line.as_bytes()[1..]), Err(RecordError::NoMark));
    for end in 4..line.len() {
        let cut = parse(&line.as_bytes()[..end]);
        assert_eq!(cut, Err(RecordError::NoChecksum), "{end}");
    }
    let (body, crc) = line.split_at(line.len() - 8);
    for place in 4..body.len() - 2 {
        let mut bytes = line.as_bytes().to_vec();
        bytes[place] ^= 0x20;
        assert_eq!(parse(&bytes), Err(RecordError::Damaged), "{place}");
        bytes.remove(place);
        assert_eq!(parse(&bytes), Err(RecordError::Damaged), "{place}");
    }
    let capitals = format!("{body}{}", crc.to_uppercase());
    assert_eq!(parse(capitals.as_bytes()), Err(RecordError::NoChecksum));
}

/// A board may call itself anything; `@` or a control character would not be read
/// back from a terminal's log.
#[test]
fn text_is_escaped_and_cut() {
    let mut run = short_run();
    let head = run.head.as_mut().expect("there is a head");
    head.model = "@PB 0001 \"\u{b5}\u{1f600}\\\u{7f}\n{} 00000000".into();
    assert_eq!(check(run.clone()).0.matches('@').count(), 13);

    let model = "\u{b5}".repeat(900);
    run.head.as_mut().expect("there is a head").model = model.clone();
    let mut finding = longest_finding();
    finding.sentence = "ten bytes ".repeat(100);
    run.scenarios[0].findings = vec![finding.clone()];
    let found = joined(records(&written(&run, Records::Once)));
    let found_model = &found.head.expect("there is a head").model;
    let sentence = &found.scenarios[0].findings[0].sentence;
    for (found, whole, least) in [(found_model, model, 200), (sentence, finding.sentence, 480)] {
        let kept = found.strip_suffix(" ...").expect("it was cut");
        assert!(kept.len() > least && whole.starts_with(kept));
    }
}

/// Adds the keys of what differs between two values.
fn add_differing(keys: &mut BTreeSet<String>, key: &str, found: &Value, whole: &Value) {
    match (found, whole) {
        (Value::Object(found), Value::Object(whole)) => {
            for key in found.keys().chain(whole.keys()) {
                let of = |object: &serde_json::Map<_, _>| object.get(key).cloned();
                let [found, whole] = [found, whole].map(|it| of(it).unwrap_or_default());
                add_differing(keys, key, &found, &whole);
            }
        }
        (Value::Array(found), Value::Array(whole)) if found.len() == whole.len() => {
            for (found, whole) in found.iter().zip(whole) {
                add_differing(keys, key, found, whole);
            }
        }
        _ if found != whole => drop(keys.insert(key.into())),
        _ => {}
    }
}

/// Each record is read back at its longest, and lost by itself.
#[test]
fn lost_records_lose_nothing_else() {
    let (text, whole) = check(longest_run());
    let json = |run: &Run| serde_json::to_value(run).expect("no map has other keys");
    let records = records(&text);
    for (place, lost) in records.iter().enumerate() {
        let mut rest = records.clone();
        rest.remove(place);
        let mut keys = BTreeSet::new();
        add_differing(&mut keys, "", &json(&joined(rest)), &json(&whole));
        let expected = match lost {
            Record::Run(_) => "head",
            Record::Facts(_) => "facts",
            Record::Plan(_) => "plan",
            Record::End(_) => "end",
            Record::Cpu(0, _) => "mpidr",
            Record::Cpu(..) => "core mpidr",
            // The lead's is in its first record, too.
            Record::Identity(..) => "identity",
            Record::Scenario(alone) if alone.rejected.is_empty() => "conditions status",
            Record::Scenario(_) => "conditions rejected status",
            Record::Row(..) => "attempts c helper lost p reached w",
            Record::Statistics(..) => "statistics",
            Record::Shown(..) => "shown",
            Record::Sample(..) => "samples",
            Record::Point(..) => "points",
            Record::Spread(_, _, part) if part.first == 0 => "counts first",
            Record::Spread(..) => "counts",
            Record::Finding(..) => "findings",
        };
        let keys: Vec<_> = keys.into_iter().collect();
        assert_eq!(keys.join(" "), expected, "{lost:?}");
    }
}

/// Records of a right checksum and of wrong contents: none is read in part.
#[test]
fn hostile_records() {
    let (text, run) = check(longest_run());
    for (kind, from, to) in [
        ("point", "\"cpu\":", "\"gpu\":"),
        ("point", "\"per\":4294967295", "\"per\":4294967296"),
        ("shown", "\"i\":[", "\"i\":[0,"),
    ] {
        let mut lines = text.lines();
        let line =
            lines.find(|line| line.contains(&format!("{{\"{kind}\":")) && line.contains(from));
        let (body, _) = line.expect(from).rsplit_once(' ').expect("a checksum");
        let line = line_of(&body.replacen(from, to, 1));
        assert_eq!(parse(line.as_bytes()), Err(RecordError::NotJson), "{line}");
    }
    // Places that no run has, and parts of a spread that overlap.
    let (key, point) = (run.scenarios[1].key(), &run.scenarios[1].points[0]);
    let part = point.spread.clone().expect("a spread");
    let found = joined([
        Record::Cpu(u16::MAX, Cpu::default()),
        Record::Point(key, u32::MAX, point.clone()),
        Record::Spread(key, u32::MAX, part.clone()),
        Record::Spread(key, u32::MAX, part.clone()),
        Record::Spread(key, 0, part),
    ]);
    assert!(found.cpus.is_empty());
    assert_eq!(found.scenarios[0].points.len(), 1);
}
