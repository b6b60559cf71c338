mod longest;

use std::collections::BTreeSet;
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use crate::crc::CRC_32;
use serde_json::Value;

use self::longest::*;
use super::*;
use crate::model::*;
use crate::plan::{Method, Records, ScenarioId};
use crate::testing::synthetic;

fn written(run: &Run, records: Records) -> String {
    let mut out = String::new();
    let mut to = Writer::new(records, RunId::default());
    to.write_machine(&mut out, run)
        .expect("writing to a String cannot fail");
    for group in run.scenarios.chunks(1) {
        to.write_scenario(&mut out, group)
            .expect("writing to a String cannot fail");
    }
    let end = run.end.expect("an end");
    to.write_end(&mut out, run, end)
        .expect("writing to a String cannot fail");
    out
}

/// Reads all lines, whose numbers must be consecutive.
fn records(text: &str) -> Vec<Record> {
    let read = |(seq, line): (u32, &str)| {
        assert!(line.len() <= LINE_MAX && line.is_ascii(), "{line}");
        let claim = RecordLine::parse(line.as_bytes()).expect(line);
        assert!(claim.seq == seq && claim.is_sound(), "{line}");
        claim.record().expect(line)
    };
    (0..).zip(text.lines()).map(read).collect()
}

fn joined(records: impl IntoIterator<Item = Record>) -> Run {
    let mut builder = RunBuilder::default();
    records
        .into_iter()
        .for_each(|record| builder.add_record(record));
    builder.finish()
}

/// Writes a run and reads it back; the end record must contain the correct number of records.
fn check(mut run: Run) -> (String, Run) {
    let text = written(&run, Records::Once);
    run.end.as_mut().expect("an end").records = text.lines().count() as u32;
    assert_eq!(joined(records(&text)), run);
    (text, run)
}

/// Returns a run with two scenarios, most of whose values are missing.
fn short_run() -> Run {
    let skipped = Scenario {
        status: Status::Skipped(Skip::NoGic),
        conditions: Some(Conditions::default()),
        ..Scenario::new(ScenarioKey {
            id: ScenarioId::CPU_SUSPEND_SERIAL,
            method: Method::Warm,
            helper: Some(1.into()),
        })
    };
    let mut first = Scenario {
        helper: None,
        ..skipped.clone()
    };
    first.cells.push(Cell {
        cpu: 2.into(),
        counts: Some(Counts::default()),
        ..Cell::default()
    });
    Run {
        scenarios: vec![first, skipped],
        end: Some(end()),
        ..synthetic::run(3)
    }
}

fn line_of(body: &str) -> String {
    format!("{body} {:08x}", CRC_32.checksum(body.as_bytes()))
}

/// A scenario's own record comes last, and each lost record is counted.
#[test]
fn scenario_counts_its_lost_records() {
    let (text, run) = check(longest_run());
    let parts: Vec<Record> = records(&text)
        .into_iter()
        .filter(|record| !is_of_run(record))
        .collect();
    // The number of records up to and including each scenario's own.
    let mut ends = (1..)
        .zip(&parts)
        .filter(|(_, record)| matches!(record, Record::Scenario(..)))
        .map(|(record_end, _)| record_end);
    let [first, second] = [(); 2].map(|()| ends.next().expect("two scenarios"));
    for (from, to, lost) in [
        (0, 0, [0, 0]),
        (0, 3, [3, 0]),
        (first - 1, first, [1, 0]),
        (first - 3, first, [1, 0]),
        (first, second - 1, [0, second as u32 - first as u32 - 1]),
        (first + 1, first + 4, [0, 3]),
    ] {
        let rest = parts[..from].iter().chain(&parts[to..]).cloned();
        let read = joined(rest);
        let counts = [0, 1].map(|index: usize| {
            let scenario = read.scenario(run.scenarios[index].key());
            scenario.expect("a partial scenario").lost_records
        });
        assert_eq!(counts, lost, "{from}..{to}");
    }
}

/// Returns true if a record does not belong to a scenario.
fn is_of_run(record: &Record) -> bool {
    matches!(
        record,
        Record::Run(_)
            | Record::Facts(_)
            | Record::Plan(_)
            | Record::Cpus(..)
            | Record::LeftOut(_)
            | Record::Identity(..)
            | Record::End(_)
    )
}

#[test]
fn a_line_is_as_documented() {
    let (text, _) = check(short_run());
    let json = r#"{"cpus":[0,[["0x0",0,0,0],["0x1",0,1,0],["0x2",0,2,0]]]}"#;
    let line = line_of(&format!("@PB 00000000 0003 {json}"));
    assert_eq!(text.lines().nth(3), Some(line.as_str()));
    assert!(text.contains(r#"{"cell":["cpu_susp_serial",2,0,[[]],[],null,{"m":"warm"}]}"#));
    assert!(text.contains(r#"{"scenario":[{"s":"cpu_susp_serial","m":"warm","h":1},{"skipped":"#));
    for wrong in [
        line.replace("0003", "003"),
        line.replace("00000000", "0000000"),
        line.replace("00000000 ", ""),
        line.to_uppercase(),
    ] {
        assert_eq!(RecordLine::parse(wrong.as_bytes()), None, "{wrong}");
    }
    let unknown = line_of(r#"@PB 00000000 0005 {"of-a-later-version":1}"#);
    let claim = RecordLine::parse(unknown.as_bytes()).expect("a well-formed record");
    assert!(claim.is_sound() && claim.record().is_none());
}

#[test]
fn copies() {
    let run = short_run();
    let text = written(&run, Records::Once);
    let twice = written(&run, Records::Twice);
    assert_eq!(written(&run, Records::None), "");
    let once: Vec<_> = text.lines().collect();
    // The first block contains the head, the facts, the plan, the CPUs and the lead. It is followed
    // by a block for each scenario, and by a final block for the end of the run.
    let blocks = [0..5, 5..7, 7..8, 8..10];
    let expected = blocks.map(|block| [&once[block.clone()], &once[block]].concat());
    assert!(expected.concat().into_iter().eq(twice.lines()));
}

#[test]
fn pieces_of_lines_that_are_joined() {
    for (line, expected) in [
        ("[    1.5] @PB 0001 a", &["@PB 0001 a"][..]),
        ("@PB 00@PB 0001 b", &["@PB 00", "@PB 0001 b"]),
        ("no record", &[]),
    ] {
        let texts = pieces(line.as_bytes()).map(|piece| str::from_utf8(piece).expect("text"));
        assert_eq!(texts.collect::<Vec<_>>(), expected);
    }
}

/// A board may have any name, but a terminal log could not be parsed if it contained `@` or
/// control characters.
#[test]
fn text_is_escaped_and_cut() {
    let mut run = short_run();
    let head = run.head.as_mut().expect("a head");
    head.model = "@PB 0001 \"\u{b5}\u{1f600}\\\u{7f}\n{} 00000000".into();
    assert_eq!(check(run.clone()).0.matches('@').count(), 10);

    let model = "\u{b5}".repeat(900);
    run.head.as_mut().expect("a head").model = model.clone();
    let read = joined(records(&written(&run, Records::Once)));
    let shortened = read.head.expect("a head").model;
    let kept = shortened.strip_suffix(" ...").expect("a truncated name");
    assert!(kept.len() > 200 && model.starts_with(kept));
}

#[test]
fn cpus_take_as_many_lines_as_they_need() {
    let mut run = synthetic::run(512);
    run.scenarios = vec![synthetic::good(&run, ScenarioId::SUSPEND_DEEP_PARALLEL)];
    run.end = Some(end());
    let (text, _) = check(run);
    for (kind, count) in [("cpus", 32), ("identity", 33)] {
        assert_eq!(
            text.matches(&format!("{{\"{kind}\":")).count(),
            count,
            "{kind}"
        );
    }
}

/// Adds the keys whose values differ.
fn add_differing(keys: &mut BTreeSet<String>, key: &str, found: &Value, whole: &Value) {
    match (found, whole) {
        (Value::Object(found), Value::Object(whole)) => {
            for key in found.keys().chain(whole.keys()) {
                let [found, whole] =
                    [found, whole].map(|object| object.get(key).unwrap_or(&Value::Null));
                add_differing(keys, key, found, whole);
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

/// Each record can be read back at its maximum length, and losing one does not affect the others.
#[test]
fn lost_records_lose_nothing_else() {
    let (text, whole) = check(longest_run());
    let json = |run: &Run| serde_json::to_value(run).expect("all map keys are strings");
    let records = records(&text);
    for (index, lost) in records.iter().enumerate() {
        let mut rest = records.clone();
        rest.remove(index);
        let mut keys = BTreeSet::new();
        add_differing(&mut keys, "", &json(&joined(rest)), &json(&whole));
        let expected = match lost {
            Record::Run(_) => "head",
            Record::Facts(_) => "facts",
            Record::Plan(part) => {
                let mut words: Vec<_> = part.known().map(|(key, _)| key.word()).collect();
                words.sort_unstable();
                &words.join(" ")
            }
            Record::End(_) => "end",
            Record::Cpus(..) => "core mpidr",
            // The lead's identity is also among the first records.
            Record::Identity(cpus, ..) if cpus.iter().count() == 1 => "",
            Record::Identity(..) => "identity",
            Record::Scenario(key, ..) if key.id == ScenarioId::named("fitness") => {
                "lost_records status"
            }
            Record::Scenario(..) => "conditions lost_records status",
            Record::Cell((key, _, cell)) => match (key.id.is_suite(), cell.lacks_own_record()) {
                (true, false) => "counts helper kept_power lost lost_records reached",
                (true, true) if cell.shown.is_none() => "lost_records series",
                (true, true) => "lost_records series shown",
                (false, false) => "cells lost_records",
                (false, true) => "lost_records series",
            },
            Record::Check(..) => "checks lost_records",
            Record::LeftOut(_) => "left_out",
            Record::Sample(..) => "lost_records samples",
            Record::Histogram(.., part) if part.first == 0 => "counts first lost_records",
            Record::Histogram(..) => "counts lost_records",
        };
        let differing: Vec<_> = keys.into_iter().collect();
        assert_eq!(differing.join(" "), expected, "{lost:?}");
    }
}

/// A record with a correct checksum but invalid contents is rejected entirely.
#[test]
fn hostile_records() {
    let (text, run) = check(longest_run());
    for (kind, from, to) in [
        ("cell", "\"cpu\":", "\"gpu\":"),
        ("cell", ",4294967295],\"", ",4294967296],\""),
        ("sample", "\"i\":[", "\"i\":[0,"),
    ] {
        let start = format!("{{\"{kind}\":");
        let original = text
            .lines()
            .find(|line| line.contains(&start) && line.contains(from))
            .expect(from);
        let (body, _) = original.rsplit_once(' ').expect("a checksum");
        let hostile = line_of(&body.replacen(from, to, 1));
        let claim = RecordLine::parse(hostile.as_bytes()).expect("a well-formed record");
        assert!(claim.is_sound() && claim.record().is_none(), "{hostile}");
    }
    // Indices that do not exist in a run, and overlapping parts of a histogram.
    let (key, cell) = (run.scenarios[1].key(), &run.scenarios[1].cells[0]);
    let metric = cell.series[0].metric;
    let part = cell.series[0].histogram.clone().expect("a histogram");
    let found = joined([
        Record::Cpus(u16::MAX.into(), vec![Cpu::default(); 2]),
        Record::Cell((key, u32::MAX, cell.without_parts())),
        Record::Histogram(key, u32::MAX, metric, part.clone()),
        Record::Histogram(key, u32::MAX, metric, part.clone()),
        Record::Histogram(key, 0, metric, part),
    ]);
    assert!(found.cpus.is_empty());
    assert_eq!(found.scenarios[0].cells.len(), 1);
}
