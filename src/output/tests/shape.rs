//! ASCII in lines of 120 columns, however many CPUs and whatever goes wrong.

use std::string::String;
use std::vec::Vec;

use super::fixture::{Made, World, totals};
use crate::model::{Verdict, parse_line};
use crate::output::run as output;
use crate::plan::{Methods, ScenarioId};

fn holds(world: &World, tests: &[Made]) -> String {
    let mut out = String::new();
    let (run, reports) = (
        world.run(),
        tests.iter().map(Made::report).collect::<Vec<_>>(),
    );
    output::header(&mut out, &run).expect("a String takes all");
    for report in &reports {
        output::begin_test(&mut out, report.scenario, report.method).expect("a String takes all");
        output::test(&mut out, &run, core::slice::from_ref(report)).expect("a String takes all");
    }
    output::closing(&mut out, &run, &reports, &totals(tests)).expect("a String takes all");
    for line in out.lines() {
        let tab = |b| if b == b'\t' { 8 } else { 1 };
        let columns: usize = line.bytes().map(tab).sum();
        assert!(columns <= crate::spec::prose::COLUMNS, "{line}");
        assert!(
            line.bytes().all(|b| matches!(b, b' '..=b'~' | b'\t')),
            "{line}"
        );
        assert!(!line.ends_with(' '), "{line:?}");
    }
    out
}

#[test]
fn five_hundred_and_twelve_cpus() {
    let mut world = World::of(512).with_methods(Methods::Both);
    world.model = "\u{1f980}\x1b[2J ".repeat(100);
    for cpu in &mut world.cpus {
        cpu.mpidr |= 0xff_0000_0000;
    }
    let log = holds(&world, &world.all());
    assert!(log.contains("Last men down in 128 clusters, "));
}

#[test]
fn everything_goes_wrong() {
    let mut world = World::of(512);
    world.facts.frequency = u64::MAX;
    let mut tests = Vec::new();
    for id in ScenarioId::SUITE {
        let mut made = world.good(id).with_a_lost_cpu();
        let loss = made.rows[3].lost;
        for row in &mut made.rows {
            row.rejected = [u32::MAX / 16; crate::measure::REASONS];
            row.lost = loss;
        }
        tests.push(made);
    }
    let log = holds(&world, &tests);
    let last = log.lines().last().unwrap_or_default();
    assert_eq!(parse_line(last.as_bytes()), Some(Verdict::Fail), "{last}");
    let world = world.without_pmf();
    holds(&world, &world.all());
    holds(&world, &[]);
}

#[test]
fn no_wrong_figure_of_huge_numbers() {
    let mut world = World::of(2);
    world.facts.frequency = 1_000;
    let mut made = world.good(ScenarioId::SuspendDeepSerial);
    made.rows[0].figures.powerdown = Some(u64::MAX);
    made.rows[1].summaries[0].max = u64::MAX;
    // A time that 64 bits of nanoseconds can not hold is no figure at all.
    let log = holds(&world, &[made]);
    assert!(
        log.contains("|       0 |    0 |       n/a | 1625000.00 |"),
        "{log}"
    );
    assert_eq!(log.matches("<RT_INSTR:").count(), 1);
}
