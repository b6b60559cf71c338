use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use super::crc::Crc32;
use super::*;
use crate::board::TimerFrame;
use crate::measure::{Cause, Detail, Loss, Metric, Reason, Rejection, Step, Summary, Waker};
use crate::model::Verdict;
use crate::model::*;
use crate::plan::steps::Steps;
use crate::plan::{Method, Plan, Records, ScenarioId, ScenarioSet};
use crate::spec::caches::Caches;
use crate::spec::pmf::Stamp;
use crate::spec::psci;
use crate::spec::stat::Reached;

const MOST: u64 = u64::MAX;

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

fn end() -> End {
    End {
        records: 0,
        verdict: Verdict::Incomplete,
        totals: Totals {
            passed: u32::MAX,
            skipped: u32::MAX,
            failed: u32::MAX,
            caller_side: u32::MAX,
            samples: MOST,
            rejected: MOST,
            rows_skipped: MOST,
            lost: u32::MAX,
        },
    }
}

fn instants(ticks: i64) -> Instants {
    let mut instants = Instants::new(MOST);
    for instant in Instant::ALL {
        instants.set(instant, ticks);
    }
    instants
}

fn summary(ticks: u64) -> Summary {
    Summary {
        n: u32::MAX,
        min: ticks,
        median: ticks,
        p99: Some(ticks),
        max: ticks,
        mad: ticks,
    }
}

fn rejected() -> Vec<(Reason, u32)> {
    Reason::ALL.map(|reason| (reason, u32::MAX)).to_vec()
}

fn longest<T: serde::Serialize + Copy>(all: &[T]) -> T {
    let len = |it: &&T| serde_json::to_string(it).expect("a String takes all").len();
    *all.iter().max_by_key(len).expect("not empty")
}

const LOSS: Loss = Loss {
    step: Step::TurnOff,
    cause: Cause::Firmware(psci::ReturnCode(i32::MIN)),
};

/// A row with all parts, of so many digits as numbers have.
fn longest_row(cpu: u16) -> Row {
    Row {
        cpu,
        figures: Figures {
            powerdown: Some(MOST),
            wakeup: Some(MOST),
            cache_flush: Some(MOST),
        },
        attempts: Some(Attempts {
            valid: u32::MAX,
            rejected: rejected(),
            first: Some(Rejection {
                reason: longest(&Reason::ALL),
                detail: Detail::Loss(LOSS),
            }),
        }),
        skipped: None,
        helper: Some(u16::MAX),
        reached: Some(Reached {
            state: Some(u32::MAX),
            due: u32::MAX,
            times: u8::MAX,
            residency_us: u32::MAX,
            most_us: Some(MOST),
        }),
        lost: Some(LOSS),
        statistics: Metric::ALL
            .map(|metric| Statistic {
                metric,
                summary: summary(MOST),
                cold: Some(MOST),
            })
            .to_vec(),
        shown: Some(instants(i64::MIN)),
        samples: (0..3)
            .map(|place| Sample {
                place,
                instants: instants(i64::MIN + i64::from(place)),
            })
            .collect(),
    }
}

fn longest_point(cpu: u16) -> Point {
    Point {
        cpu,
        how: longest(&How::ALL),
        variant: longest(&Variant::ALL),
        x: Some(MOST),
        measure: longest(&Measure::ALL),
        per: u32::MAX,
        figures: summary(MOST),
        lost: MOST,
        waker: Waker::FrameTrial(usize::MAX),
        spread: Some(Spread {
            first: 0,
            counts: (0..337).map(|bin| u32::MAX - bin).collect(),
        }),
    }
}

fn longest_conditions() -> Conditions {
    Conditions {
        pmf: false,
        power_state: Some(u32::MAX),
        wake_source: longest(&WakeSource::ALL),
        asked: u32::MAX,
        attempts: u32::MAX,
        trials: u32::MAX,
        sleep: MOST,
        warmed: Some(u32::MAX),
        ..Conditions::default()
    }
}

fn longest_finding() -> Finding {
    Finding {
        kind: longest(&Kind::ALL),
        sentence: "x".repeat(500),
        cpus: (0..512).collect(),
        metrics: Metric::ALL.to_vec(),
        confidence: Confidence::Fit(Fit {
            n: u32::MAX,
            r2_percent: u8::MAX,
            residual_ns: Some(MOST),
            by_stamps: false,
        }),
    }
}

/// Each record as long as it can be: every list full, every number of most digits.
fn longest_run() -> Run {
    let mut run = example::run(3);
    let mut dirty = Steps::EMPTY;
    while dirty.add(64 << 20 | dirty.as_slice().len() as u32) {}
    let mut contend = Steps::EMPTY;
    while contend.add(488 + contend.as_slice().len() as u32) {}
    let mut all = ScenarioSet::EMPTY;
    for word in ["all", "system_suspend"] {
        all.insert(ScenarioSet::of_word(word).expect("a good word"));
    }
    run.plan = Some(Plan {
        scenarios: all,
        dirty: Some(dirty),
        contend: Some(contend),
        deepest: Some(u32::MAX),
        core: Some(u32::MAX),
        loops: Some(u32::MAX),
        ..Plan::default()
    });
    if let Some(facts) = &mut run.facts {
        facts.frequency = MOST;
        facts.frame = Ok(TimerFrame {
            control: MOST,
            number: 7,
            base: MOST,
            intid: 1019,
        });
        facts.outer_cache = Some(MOST);
        facts.service = facts.service.map(|mut service| {
            service.revision = Some([u32::MAX; 2]);
            service.uid = [u32::MAX; 4];
            service
        });
        facts.own.caches = Caches::read(0o3_333_333, true, &mut |_| MOST);
        (facts.own.midr, facts.own.frequency) = (MOST, MOST);
        facts.own.clock_mhz = Some(MOST);
    }
    for cpu in &mut run.cpus {
        cpu.mpidr = Some(0xff_00ff_ffff);
        if let Some(identity) = &mut cpu.identity {
            identity.caches = Caches::read(0o3_333_333, true, &mut |_| MOST);
            (identity.midr, identity.frequency) = (MOST, MOST);
            identity.clock_mhz = Some(MOST);
        }
    }
    let key = ScenarioKey {
        id: longest(&ScenarioId::ALL),
        method: Method::Tftf,
        helper: Some(u16::MAX),
    };
    let skip = Skip::NotTried {
        mpidr: MOST,
        power_state: u32::MAX,
    };
    let suite = Scenario {
        status: Status::Failed(Failure::NotCalibrated {
            sleep: MOST,
            last: Rejection {
                reason: longest(&Reason::ALL),
                detail: Detail::Stamp(Stamp::EnterHwLowPwr),
            },
            cpu: u16::MAX,
        }),
        conditions: Some(Conditions {
            skew: Some(summary(MOST)),
            ..longest_conditions()
        }),
        rows: (0..3).map(longest_row).collect(),
        ..Scenario::new(key)
    };
    let sweep = Scenario {
        status: Status::Failed(Failure::CpuLost {
            cpu: u16::MAX,
            loss: LOSS,
        }),
        conditions: Some(Conditions {
            states_left_out: Some(skip),
            mode_left_out: Some(skip),
            sleep: 0,
            ..longest_conditions()
        }),
        rejected: rejected(),
        points: (0..3).map(longest_point).collect(),
        findings: vec![longest_finding()],
        ..Scenario::new(ScenarioKey {
            id: ScenarioId::ContendSweep,
            ..key
        })
    };
    run.scenarios = vec![suite, sweep];
    run.end = Some(end());
    run
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

/// What a line may have become on its way, and what is read of it.
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
