//! Records: whole, in order, readable by the definition that writes them,
//! and never readable once damaged.

use std::collections::BTreeMap;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::fixture::{Made, World};
use crate::measure::Metric;
use crate::output::run as output;
use crate::plan::ScenarioId;
use crate::record::crc::Crc32;
use crate::record::line::{Recorder, Type};
use crate::record::parse::{Record, RecordError};
use crate::spec::prose::COLUMNS;

fn copy(world: &World, tests: &[Made]) -> String {
    let mut out = String::new();
    let reports: Vec<_> = tests.iter().map(Made::report).collect();
    crate::record::records::records(&mut out, &world.run(), &reports).expect("a String takes all");
    out
}

/// Records merged as the format says: by type and leading keys.
fn merged<'l>(
    lines: &'l str,
    kind: Type,
    leading: &[&str],
) -> BTreeMap<String, Vec<(&'l str, &'l str)>> {
    let mut all = BTreeMap::<String, Vec<_>>::new();
    for line in lines.lines() {
        let record = Record::parse(line.as_bytes()).expect("it was just written");
        if record.kind == kind {
            let id: Vec<_> = leading.iter().filter_map(|k| record.get(k)).collect();
            let rest = record.fields().filter(|f| !leading.contains(&f.0));
            all.entry(id.join(" ")).or_default().extend(rest);
        }
    }
    all
}

#[test]
fn both_copies_are_the_same_and_complete() {
    let world = World::of(8);
    let made = [
        world
            .good(ScenarioId::SuspendDeepParallel)
            .with_a_lost_cpu(),
        world.good(ScenarioId::CpuOffSerial),
    ];
    let lines = copy(&world, &made);
    let mut closing = String::new();
    let reports: Vec<_> = made.iter().map(Made::report).collect();
    output::closing(&mut closing, &world.run(), &reports, &Default::default())
        .expect("a String takes all");
    assert_eq!(closing.matches(&lines).count(), 2);
    let (first, second) = (closing.find(&lines), closing.rfind(&lines));
    let exit = closing.find("NOTICE:  Exiting tests.");
    assert!(first < exit && exit < second);

    let mut crcs = Crc32::default();
    for (place, line) in lines.lines().enumerate() {
        assert!(line.len() <= COLUMNS);
        let record = Record::parse(line.as_bytes()).expect("it was just written");
        assert_eq!(record.seq as usize, place);
        if record.kind == Type::End {
            assert_eq!(record.unsigned("records"), Some(place as u64));
            assert_eq!(record.unsigned("crcs"), Some(crcs.value().into()));
            assert_eq!(place + 1, lines.lines().count());
        }
        crcs.update(&record.crc.to_be_bytes());
    }
}

#[test]
fn what_was_measured_comes_back() {
    let world = World::of(8);
    let lines = copy(&world, &world.all());
    for made in world.all() {
        let (t, by) = (made.scenario.number(), made.method.word());
        for row in &made.rows {
            let id = format!("{t} {by} {:#x}", world.cpus[usize::from(row.cpu)].mpidr);
            let keys = ["t", "by", "mpidr", "metric"];
            let all = merged(&lines, Type::Summary, &keys);
            for metric in Metric::ALL {
                let found = all.get(&format!("{id} {}", metric.key()));
                let expected = row.summary(metric).map(|s| {
                    [
                        ("n", s.n.into()),
                        ("min", s.min),
                        ("med", s.median),
                        ("max", s.max),
                        ("mad", s.mad),
                    ]
                });
                let found = found.map(|fields| {
                    fields
                        .iter()
                        .map(|(k, v)| (*k, v.parse().expect("an integer")))
                        .collect::<Vec<_>>()
                });
                assert_eq!(found, expected.map(|e| e.to_vec()), "{id} {metric:?}");
            }
            if row.cpu == 0 && made.scenario == ScenarioId::SuspendDeepParallel {
                let events = merged(&lines, Type::Event, &keys[..3]);
                let event: BTreeMap<_, _> = events[&id].iter().copied().collect();
                let shown = row.shown.expect("it is there");
                assert_eq!(event["base"], shown.start.to_string());
                for (name, at) in [
                    ("s0", shown.stamps.0[0]),
                    ("s5", shown.stamps.0[5]),
                    ("after", shown.after),
                ] {
                    assert_eq!(event[name], (at - shown.start).to_string());
                }
            }
        }
    }
    let cpus = merged(&lines, Type::Cpu, &["i"]);
    assert_eq!(cpus.len(), 8);
    assert_eq!(cpus["5"][0], ("mpidr", "0x101"));
}

#[test]
fn what_did_not_work_comes_back() {
    let world = World::of(4);
    let lines = copy(
        &world,
        &[
            world
                .good(ScenarioId::SuspendDeepParallel)
                .with_a_lost_cpu(),
            world.good(ScenarioId::CpuSuspendSerial).skipped(),
        ],
    );
    let has = |what: &str| assert!(lines.contains(what), "{what}\n{lines}");
    has(
        " test t=1 by=tftf tag=test_rt_instr_susp_deep_parallel status=failed why=cpu-lost why_cpu=3 ",
    );
    has(" test t=4 by=tftf tag=test_rt_instr_cpu_susp_serial status=skipped why=no-idle-state ");
    has(" x t=1 by=tftf mpidr=0x1 abandoned=2 ");
    has(" x t=1 by=tftf mpidr=0x2 refused=1 companion=2 ");
    has(" first t=1 by=tftf mpidr=0x3 reason=lost step=arrive cause=timeout ");
    has(" lost t=1 by=tftf mpidr=0x3 step=arrive cause=timeout ");
    assert!(
        !lines.contains(" x t=1 by=tftf mpidr=0x0 "),
        "nothing to say"
    );
}

#[test]
fn every_damage_of_a_byte_is_seen() {
    let world = World::of(1);
    let lines = copy(&world, &[world.good(ScenarioId::SuspendDeepParallel)]);
    for line in lines.lines() {
        let good = line.as_bytes();
        assert!(Record::parse(good).is_ok());
        for place in 0..good.len() {
            let mut dropped = good.to_vec();
            dropped.remove(place);
            assert!(Record::parse(&dropped).is_err(), "{line} without {place}");
            let mut doubled = good.to_vec();
            doubled.insert(place, good[place]);
            assert!(
                Record::parse(&doubled).is_err(),
                "{line} with {place} twice"
            );
            for other in 0..=u8::MAX {
                let mut changed = good.to_vec();
                changed[place] = other;
                if other != good[place] {
                    assert!(
                        Record::parse(&changed).is_err(),
                        "{line} with {other} at {place}"
                    );
                }
            }
        }
    }
}

#[test]
fn records_are_found_behind_other_bytes() {
    let world = World::of(1);
    let lines = copy(&world, &[]);
    let two: Vec<_> = lines.lines().take(2).collect();
    let joined = format!("[00:01.5] {}{}\r\n", two[0], two[1]);
    let found: Vec<_> = Record::all_in(joined.as_bytes()).collect();
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(Result::is_ok));
    assert_eq!(Record::all_in(b"NOTICE:  @PB").count(), 0);
    let torn = format!("{}{}", &two[0][..40], two[1]);
    let found: Vec<_> = Record::all_in(torn.as_bytes()).collect();
    assert!(found[0].is_err() && found[1].is_ok());
}

#[test]
fn why_a_line_is_no_record() {
    let with_crc = |body: &str| format!("{body}{:08x}", Crc32::of(body.as_bytes()));
    for (line, error) in [
        (String::new(), RecordError::NoMark),
        ("@PB ".into(), RecordError::NoMark),
        ("@PB 0000 run".into(), RecordError::NoChecksum),
        ("@PB 0000 run a=1 0000000".into(), RecordError::NoChecksum),
        ("@PB 0000 run a=1 00000000".into(), RecordError::Damaged),
        (with_crc("@PB 0000 run a "), RecordError::Malformed),
        (with_crc("@PB x run a=1 "), RecordError::Malformed),
        (with_crc("@PB 0000 news a=1 "), RecordError::UnknownType),
    ] {
        assert_eq!(Record::parse(line.as_bytes()), Err(error), "{line}");
    }
}

#[test]
fn what_does_not_fit_goes_on() {
    let mut out = String::new();
    let mut to = Recorder::new(&mut out);
    to.begin(Type::Event, &"t=1 mpidr=0x1 ");
    for key in ["s0", "s1", "s2", "s3", "s4", "s5"] {
        to.signed(key, i64::MIN);
    }
    to.word("word", "two words = @PB \u{e9}");
    to.word("long", &"x".repeat(200));
    to.finish();
    to.end().expect("a String takes all");
    assert!(
        out.lines().count() > 2 && out.lines().all(|l| l.len() <= COLUMNS),
        "{out}"
    );
    let all = merged(&out, Type::Event, &["t", "mpidr"]);
    let fields = &all["1 0x1"];
    assert_eq!(fields.len(), 8);
    assert_eq!(fields[5], ("s5", "-9223372036854775808"));
    assert_eq!(fields[6], ("word", "two_words_=__PB__"));
    assert_eq!(fields[7].1.len(), 64);
}
