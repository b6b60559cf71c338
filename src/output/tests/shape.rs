//! ASCII in lines of 120 columns, however many CPUs and whatever goes wrong.

use std::string::String;
use std::vec::Vec;

use super::contract::whole;
use crate::measure::{Metric, Reason};
use crate::model::example::{self, edit_facts, good};
use crate::model::{Run, Scenario};
use crate::model::{Verdict, parse_line};
use crate::plan::{Methods, ScenarioId};

fn check(run: &Run, all: &[Scenario]) -> String {
    let out = whole(run, all);
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
    let mut run = example::with_methods(example::run(512), Methods::Both);
    run.head.as_mut().expect("a head").model = "\u{1f980}\x1b[2J ".repeat(100);
    for cpu in &mut run.cpus {
        cpu.mpidr = cpu.mpidr.map(|mpidr| mpidr | 0xff_0000_0000);
    }
    let log = check(&run, &example::all(&run));
    assert!(log.contains("Last men down in 128 clusters, "));
}

#[test]
fn everything_goes_wrong() {
    let mut run = example::run(512);
    edit_facts(&mut run, |facts| facts.frequency = u64::MAX);
    let mut tests = Vec::new();
    for id in ScenarioId::SUITE {
        let mut made = example::with_a_lost_cpu(good(&run, id));
        let loss = made.rows[3].lost;
        for row in &mut made.rows {
            let attempts = row.attempts.get_or_insert_default();
            attempts.rejected = Reason::ALL.map(|it| (it, u32::MAX / 16)).to_vec();
            row.lost = loss;
        }
        tests.push(made);
    }
    let log = check(&run, &tests);
    let last = log.lines().last().unwrap_or_default();
    assert_eq!(parse_line(last.as_bytes()), Some(Verdict::Fail), "{last}");
    let run = example::without_pmf(run);
    check(&run, &example::all(&run));
    check(&run, &[]);
}

#[test]
fn no_wrong_figure_of_huge_numbers() {
    let mut run = example::run(2);
    edit_facts(&mut run, |facts| facts.frequency = 1_000);
    let mut made = good(&run, ScenarioId::SuspendDeepSerial);
    made.rows[0].figures.powerdown = Some(u64::MAX);
    let statistics = made.rows[1].statistics.iter_mut();
    let of_powerdown = statistics.filter(|it| it.metric == Metric::Powerdown);
    of_powerdown.for_each(|it| it.summary.max = u64::MAX);
    // A time that 64 bits of nanoseconds can not hold is no figure at all.
    let log = check(&run, &[made]);
    assert!(
        log.contains("|       0 |    0 |       n/a | 1625000.00 |"),
        "{log}"
    );
    assert_eq!(log.matches("<RT_INSTR:").count(), 1);
}
