mod longest;

use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use self::longest::*;
use super::crc::Crc32;
use super::*;
use crate::model::*;
use crate::plan::{Method, Records, ScenarioId};

fn written(run: &Run, records: Records) -> String {
    let mut out = String::new();
    let mut to = Writer::new(records);
    let parts = [
        to.machine(&mut out, run),
        run.scenarios
            .iter()
            .try_for_each(|scenario| to.scenario(&mut out, core::slice::from_ref(scenario))),
        run.end.map_or(Ok(()), |end| to.end(&mut out, run, end)),
    ];
    assert_eq!(parts, [Ok(()); 3]);
    out
}

/// Reads all lines; the numbers must follow each other.
fn read(text: &str) -> Run {
    let mut builder = RunBuilder::default();
    for (seq, line) in (0..).zip(text.lines()) {
        assert!(line.len() <= LINE_MAX && line.is_ascii(), "{line}");
        let numbered = parse(line.as_bytes()).expect(line);
        assert_eq!(numbered.seq, seq, "{line}");
        builder.add(numbered.record);
    }
    builder.run()
}

/// Sets the number of records in the end as the writer does.
fn with_end(mut run: Run, text: &str) -> Run {
    if let Some(end) = &mut run.end {
        end.records = text.lines().count() as u32;
    }
    run
}

fn check(run: Run) -> String {
    let text = written(&run, Records::Once);
    assert_eq!(read(&text), with_end(run, &text));
    text
}

#[test]
fn each_record_at_its_longest_is_read_back() {
    let text = check(longest_run());
    for kind in ["statistics", "shown", "sample", "spread"] {
        assert!(text.contains(&format!("{{\"{kind}\":")), "{kind}");
    }
}

/// A run with two scenarios of which only one part each is known.
fn short_run() -> Run {
    let mut run = example::run(5);
    let key = ScenarioKey {
        id: ScenarioId::CpuSuspendSerial,
        method: Method::Warm,
        helper: None,
    };
    let row = Row {
        cpu: 3,
        attempts: Some(Attempts::default()),
        ..Row::default()
    };
    let skipped = Scenario {
        status: Status::Skipped(Skip::NoGic),
        conditions: Some(Conditions::default()),
        ..Scenario::new(key)
    };
    run.scenarios = vec![
        Scenario {
            rows: vec![row],
            ..skipped.clone()
        },
        Scenario {
            helper: Some(1),
            ..skipped
        },
    ];
    run.end = Some(end());
    run
}

#[test]
fn a_line_is_as_documented() {
    let text = check(short_run());
    let line = text.lines().nth(5).expect("a CPU");
    let json = r#"{"cpu":[2,{"mpidr":"0x2","cluster":0,"core":2,"thread":0}]}"#;
    let body = format!("@PB 0005 {json}");
    assert_eq!(line, format!("{body} {:08x}", Crc32::of(body.as_bytes())));
    assert!(text.contains(r#"{"row":[{"s":"cpu_susp_serial","m":"warm"},{"cpu":3,"#));
    assert!(text.contains(r#"{"scenario":{"id":"cpu_susp_serial","method":"warm","helper":1,"#));
    let first = line_of(&text, 0).replace("0000", "000");
    let body = &first[..first.len() - 9];
    let three_digits = format!("{body} {:08x}", Crc32::of(body.as_bytes()));
    assert_eq!(parse(three_digits.as_bytes()), Err(RecordError::NotJson));
}

fn line_of(text: &str, place: usize) -> &str {
    text.lines().nth(place).expect("there are as many lines")
}

#[test]
fn copies() {
    let run = short_run();
    let once = written(&run, Records::Once);
    let twice = written(&run, Records::Twice);
    assert_eq!(written(&run, Records::None), "");
    let lines: Vec<_> = twice.lines().collect();
    // Head, facts, plan and five CPUs; then a block for each scenario, and the end.
    let blocks = [(0, 8), (16, 2), (20, 1), (22, 6)];
    for (start, len) in blocks {
        assert_eq!(
            lines[start..start + len],
            lines[start + len..start + 2 * len]
        );
    }
    let mut numbers: Vec<_> = lines;
    numbers.sort_unstable();
    numbers.dedup();
    assert!(numbers.iter().copied().eq(once.lines()));
}

/// Each kind of damage on a line's way, and all that is read of the rest.
#[test]
fn damage() {
    let text = check(short_run());
    let line = line_of(&text, 5);
    let sound = parse(line.as_bytes());
    assert!(sound.is_ok());
    for glued in [
        format!("[    1.5] {line}"),
        format!("{line}\r\n"),
        format!("@PB 00{line}psci-bench: PASS"),
        format!("text {line}@PB 0006 {{\"cpu\""),
    ] {
        let found: Vec<_> = pieces(glued.as_bytes()).map(parse).collect();
        assert!(found.contains(&sound), "{glued}");
        let others = found.iter().filter(|it| **it != sound);
        others.for_each(|it| assert_eq!(*it, Err(RecordError::NoChecksum), "{glued}"));
    }
    let both = format!("{line}{line}");
    assert!(
        pieces(both.as_bytes())
            .map(parse)
            .eq([sound.clone(), sound])
    );

    assert_eq!(pieces(b"no record").count(), 0);
    assert_eq!(parse(&line.as_bytes()[1..]), Err(RecordError::NoMark));
    for end in 4..line.len() {
        let cut = parse(&line.as_bytes()[..end]);
        assert_eq!(cut, Err(RecordError::NoChecksum), "{end}");
    }
    for place in 4..line.len() - 10 {
        let mut bytes = line.as_bytes().to_vec();
        bytes[place] ^= 0x20;
        assert_eq!(parse(&bytes), Err(RecordError::Damaged), "{place}");
        bytes.remove(place);
        assert_eq!(parse(&bytes), Err(RecordError::Damaged), "{place}");
    }
    let capitals = line[line.len() - 8..].to_uppercase();
    let capitals = format!("{}{capitals}", &line[..line.len() - 8]);
    assert_eq!(parse(capitals.as_bytes()), Err(RecordError::NoChecksum));
    let later = r#"@PB 0005 {"of-a-later-version":1}"#;
    let later = format!("{later} {:08x}", Crc32::of(later.as_bytes()));
    assert_eq!(parse(later.as_bytes()), Err(RecordError::NotJson));
}

/// A board may call itself anything; `@` or a control character would not be read
/// back from a terminal's log.
#[test]
fn text_is_escaped_and_cut() {
    let mut run = short_run();
    let head = run.head.as_mut().expect("there is a head");
    head.model = "@PB 0001 \"\u{b5}\u{1f600}\\\u{7f}\n{} 00000000".into();
    assert_eq!(check(run.clone()).matches('@').count(), 17);

    let head = run.head.as_mut().expect("there is a head");
    head.model = "\u{b5}".repeat(900);
    run.scenarios[0].findings = vec![Finding {
        sentence: "ten bytes ".repeat(100),
        ..longest_finding()
    }];
    let found = read(&written(&run, Records::Once));
    let model = found.head.expect("there is a head").model;
    let kept = model.strip_suffix(" ...").expect("it was cut");
    assert!(kept.len() > 200 && kept.chars().all(|c| c == '\u{b5}'));
    let sentence = &found.scenarios[0].findings[0].sentence;
    let kept = sentence.strip_suffix(" ...").expect("it was cut");
    assert!(kept.len() > 480 && run.scenarios[0].findings[0].sentence.starts_with(kept));
}

/// Each record lost by itself; records in another order.
#[test]
fn lost_records_lose_nothing_else() {
    let whole = with_end(longest_run(), &written(&longest_run(), Records::Once));
    let text = written(&whole, Records::Once);
    let records: Vec<_> = text.lines().map(|line| parse(line.as_bytes())).collect();
    let records: Vec<_> = records
        .into_iter()
        .map(|it| it.expect("sound").record)
        .collect();
    for lost in 0..records.len() {
        let mut builder = RunBuilder::default();
        let mut rest = records.clone();
        let lost = rest.remove(lost);
        rest.into_iter().for_each(|record| builder.add(record));
        let mut found = builder.run();
        match lost {
            Record::Run(_) => found.head = whole.head.clone(),
            Record::Facts(_) => found.facts = whole.facts,
            Record::Plan(_) => found.plan = whole.plan,
            Record::End(_) => found.end = whole.end,
            Record::Cpu(index, _) => {
                let place = usize::from(index);
                assert_eq!(found.cpus[place].mpidr, None);
                found.cpus[place] = whole.cpus[place];
            }
            Record::Identity(0, _) => {}
            Record::Identity(index, _) => {
                let place = usize::from(index);
                assert_eq!(found.cpus[place].identity, None);
                found.cpus[place] = whole.cpus[place];
            }
            lost => {
                let of_scenario = found.scenarios.iter().zip(&whole.scenarios);
                let differing: Vec<_> = of_scenario.filter(|(is, was)| is != was).collect();
                assert_eq!(differing.len(), 1, "{lost:?}");
                check_without(&lost, differing[0].0, differing[0].1);
                found.scenarios = whole.scenarios.clone();
            }
        }
        assert_eq!(found, whole);
    }
}

fn check_without(lost: &Record, found: &Scenario, whole: &Scenario) {
    let row = |cpu: &u16| {
        (
            &found.rows[usize::from(*cpu)],
            &whole.rows[usize::from(*cpu)],
        )
    };
    match lost {
        Record::Scenario(_) => {
            assert_eq!((found.status, &found.conditions), (Status::Unknown, &None));
            assert_eq!((&found.rows, &found.points), (&whole.rows, &whole.points));
        }
        Record::Row(_, lost) => {
            let (found, whole) = row(&lost.cpu);
            assert_eq!(found.attempts, None);
            assert_eq!(
                (found.shown, &found.statistics),
                (whole.shown, &whole.statistics)
            );
            assert_eq!(found.samples, whole.samples);
        }
        Record::Statistics(_, cpu, list) => {
            let (found, whole) = row(cpu);
            assert_eq!(found.statistics.len() + list.len(), whole.statistics.len());
        }
        Record::Shown(_, cpu, _) => assert_eq!(row(cpu).0.shown, None),
        Record::Sample(_, cpu, sample) => {
            assert!(!row(cpu).0.samples.contains(sample));
            assert_eq!(row(cpu).0.samples.len(), 2);
        }
        Record::Point(_, _, point) => {
            assert_eq!(found.points.len(), 2);
            assert!(found.points.iter().all(|it| it.cpu != point.cpu));
        }
        Record::Spread(_, place, _) => {
            let spread = |of: &Scenario| {
                let spread = of.points[*place as usize].spread.clone();
                spread
                    .expect("other parts are there")
                    .counts
                    .iter()
                    .map(|it| u64::from(*it))
                    .sum::<u64>()
            };
            assert!(spread(found) < spread(whole));
        }
        Record::Finding(..) => assert!(found.findings.is_empty()),
        other => panic!("{other:?}"),
    }
}
