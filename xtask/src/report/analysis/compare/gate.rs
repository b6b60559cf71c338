//! A comparison as a gate: what it may not let pass, and what it may not stop.

use psci_bench::measure::{Metric, Summary};
use psci_bench::plan::{Method, ScenarioId};

use super::change::Outcome;
use super::compare::compare;
use super::comparison::{Across, Comparison, Options, Refused};
use crate::report::analysis::explain::{Confidence, Kind, explain};
use crate::report::log::{read_bytes, tables};
use crate::report::model::{Run, Term, Test, Why};

const QEMU: &[u8] = include_bytes!("../../../../tests/data/report/qemu-4cpu.log");

fn log() -> Run {
    read_bytes("a.log", QEMU).expect("a run").remove(0)
}

fn compared(new: &Run, old: &Run, across: &[Across]) -> Comparison {
    let options = Options {
        across: across.to_vec(),
        ..Options::default()
    };
    let mut all = compare(std::slice::from_ref(new), old, &options).expect("comparable");
    all.remove(0)
}

fn sentences(comparison: &Comparison, kind: Kind) -> Vec<&str> {
    let all = comparison.findings.iter().filter(|it| it.kind == kind);
    all.map(|it| it.sentence.as_str()).collect()
}

#[test]
fn what_the_baseline_has_is_compared_or_named() {
    let mut fewer = log();
    fewer.tests.truncate(3);
    let comparison = compared(&fewer, &log(), &[]);
    assert_eq!(comparison.regressions().count(), 0);
    let gone: Vec<&Refused> = comparison
        .refused
        .iter()
        .filter(|it| it.in_baseline)
        .collect();
    assert_eq!(gone.len(), 3);
    assert!(gone.iter().all(|it| it.why == "the run does not have it"));
    assert!(comparison.lacks()[0].contains("3 scenarios of the baseline"));
    assert!(compared(&fewer, &log(), &[Across::Scenarios]).is_complete());
    // More than the baseline has is no gap.
    let more = compared(&log(), &fewer, &[]);
    assert!(more.is_complete());
    assert_eq!(more.refused.len(), 3);

    // A scenario without a figure: it was skipped, or failed.
    let mut skipped = log();
    skipped.tests[1].rows.clear();
    let comparison = compared(&skipped, &log(), &[]);
    assert!(comparison.refused[0].in_baseline && !comparison.is_complete());
    assert!(compared(&log(), &skipped, &[]).is_complete());

    // By another method, next to one that is compared.
    let mut both = log();
    let mut warm = both.tests[1].clone();
    warm.method = Term::Known(Method::Warm);
    both.tests.push(warm);
    let comparison = compared(&log(), &both, &[]);
    assert_eq!(
        comparison.refused[0].why,
        "the run does not have it by this method"
    );
    assert!(!comparison.is_complete());
    assert!(compared(&both, &log(), &[]).is_complete());
}

#[test]
fn cpus_and_figures_that_are_gone_are_named() {
    let mut two = log();
    two.cpus.truncate(2);
    for test in &mut two.tests {
        test.rows.truncate(2);
    }
    let comparison = compared(&two, &log(), &[]);
    let lacks = comparison.lacks();
    assert!(lacks[0].contains("3 scenarios"), "{lacks:?}");
    assert!(lacks[1].contains("of 2 CPUs of the baseline"), "{lacks:?}");
    let said = comparison.lone_rows(&two);
    assert_eq!(
        said,
        [
            "Not compared: CPU 0.2, 0.3 of the baseline, as the run has no row of it, in \
          test_rt_instr_susp_deep_serial, test_rt_instr_cpu_susp_serial, \
          test_rt_instr_cpu_off_serial."
        ]
    );
    assert!(compared(&two, &log(), &[Across::Scenarios, Across::Cpus]).is_complete());
    // The other way about, nothing of the baseline is left out but in parallel.
    let more = compared(&log(), &two, &[]);
    assert_eq!(more.lacks().len(), 1);
    assert!(more.lone_rows(&log())[0].contains("CPU 0.2, 0.3 of the run"));

    let mut row = log();
    row.tests[1].rows[3].figures.remove(0);
    let comparison = compared(&row, &log(), &[]);
    assert_eq!(
        comparison.tests[1].lacks,
        [(3, Term::Known(Metric::Powerdown))]
    );
    let said = comparison.lone_rows(&row);
    assert!(
        said[0].contains("Powerdown of CPU 0.3 of the baseline"),
        "{said:?}"
    );

    // A name that no CPU of the run has.
    let rows_are = ["0.0", "0.1", "0.2", "9.9"].map(|it| it.parse().expect("a label"));
    let mut table = log();
    table.cpus.iter_mut().for_each(|cpu| cpu.mpidr = None);
    let options = Options {
        rows_are: rows_are.to_vec(),
        ..Options::default()
    };
    let named = &compare(&[log()], &table, &options).expect("comparable")[0];
    assert!(!named.is_complete());
    let said = named.lone_rows(&log()).join("\n");
    assert!(
        said.contains("Not compared: CPU 9.9 of the baseline"),
        "{said}"
    );
    assert!(
        said.contains("Compared by order alone: CPU 9.9 of the baseline"),
        "{said}"
    );
}

#[test]
fn points_that_are_gone_are_named() {
    let log = include_bytes!("../../../../tests/data/report/qemu-points.log");
    let run = || read_bytes("a.log", log).expect("a run").remove(0);
    assert!(compared(&run(), &run(), &[]).is_complete());
    let mut fewer = run();
    fewer.tests[0].points.pop().expect("it has points");
    let comparison = compared(&fewer, &run(), &[]);
    let lacks = comparison.lacks();
    assert!(lacks[0].contains("1 point of the baseline"), "{lacks:?}");
    assert!(compared(&fewer, &run(), &[Across::Cpus]).is_complete());
}

#[test]
fn what_is_not_verified_is_marked() {
    let mut new = log();
    let row = &mut new.tests[1].rows[2];
    row.verified = false;
    row.figures[0].1 = 1;
    let comparison = compared(&new, &log(), &[]);
    let changes = comparison.tests[1].by_cpu.iter();
    let marked: Vec<usize> = changes
        .filter(|it| it.new.doubtful)
        .map(|it| it.cpu)
        .collect();
    assert_eq!(marked, [2, 2, 2]);
    let changed = sentences(&comparison, Kind::Changed);
    assert!(
        changed[0].ends_with("a line without a checksum of CPU 0.2."),
        "{changed:?}"
    );
    // What rests on a row without a figure rests on its counts.
    let mut lost = log();
    let row = &mut lost.tests[1].rows[2];
    (row.verified, row.lost) = (false, Some(Why::default()));
    row.figures.clear();
    let found = explain(&lost, &lost.tests[1]);
    let told = found.iter().find(|it| it.kind == Kind::Lost);
    let told = told.expect("it is lost");
    assert!(told.sentence.ends_with("do not flush it."), "{told}");
    // Of a run of such lines alone it is said once.
    new.integrity.records = None;
    new.facts.hz = Some(62_500_000);
    let changed = compared(&new, &log(), &[]);
    let changed = sentences(&changed, Kind::Changed);
    assert!(!changed[0].contains("checksum"), "{changed:?}");
}

#[test]
fn methods_are_told_apart() {
    let mut both = log();
    let mut warm = both.tests[1].clone();
    warm.method = Term::Known(Method::Warm);
    both.tests.push(warm);
    let mut slow = both.clone();
    for row in &mut slow.tests[6].rows {
        row.figures[0].1 *= 2;
    }
    let comparison = compared(&slow, &both, &[]);
    let changed = comparison
        .findings
        .iter()
        .find(|it| it.kind == Kind::Changed);
    let changed = changed.expect("it is slower");
    let name = "Suspend to deepest power level on all cores in sequence, method warm: Powerdown";
    assert!(changed.sentence.starts_with(name), "{changed}");
    assert!(changed.basis.iter().all(|it| it.method.is(Method::Warm)));
    assert!(
        changed
            .rows()
            .contains("in test_rt_instr_susp_deep_serial, method warm on"),
        "{}",
        changed.rows()
    );
    for it in sentences(&comparison, Kind::Unchanged) {
        assert!(it.contains(", method "), "{it}");
    }
}

/// Powerdown and flush of each CPU, as published.
fn table(rows: &[(u64, u64)]) -> Run {
    let dir = tempfile::tempdir().expect("a directory");
    let rows = rows.iter().enumerate();
    let rows =
        rows.map(|(core, (powerdown, flush))| format!("0,{core},{powerdown},20000,{flush}\n"));
    let file = dir.path().join("test_rt_instr_susp_deep_parallel.csv");
    std::fs::write(&file, rows.collect::<String>()).expect("written");
    tables::read(&file).expect("a table")
}

#[test]
fn what_a_moved_flush_does_not_explain_is_judged() {
    let old = table(&[
        (100_000, 5000),
        (240_000, 80_000),
        (455_000, 5000),
        (600_000, 5000),
    ]);
    let with = |powerdown| {
        table(&[
            (100_000, 5000),
            (240_000, 5000),
            (powerdown, 80_000),
            (600_000, 5000),
        ])
    };
    let place = |comparison: &Comparison| {
        let changes = comparison.tests[0].by_order.iter();
        let mut own = changes.filter(|it| it.metric.is(Metric::Powerdown));
        own.nth(2).expect("it is there").clone()
    };
    // The flush makes -75 us of it, and 18 us are left: 4 %.
    let comparison = compared(&with(398_000), &old, &[]);
    let change = place(&comparison);
    assert_eq!(
        (change.outcome, change.by_flushes),
        (Outcome::Worse, Some(-75_000))
    );
    assert_eq!(change.delta(), 18_000);
    assert_eq!(comparison.regressions().count(), 1);
    let said = sentences(&comparison, Kind::Reordered).join("\n");
    assert!(
        said.contains("make -75.00 us of it, -57.00 us is seen, and +18.00 us is left"),
        "{said}"
    );
    // Nobody took the lock in another order.
    assert!(!said.contains("another order"), "{said}");
    let said = sentences(&comparison, Kind::Changed).join("\n");
    assert!(
        said.contains("takes more in 1 of 4 rows, by 18.00 us (+3.96 %)"),
        "{said}"
    );

    let comparison = compared(&with(382_000), &old, &[]);
    assert_eq!(place(&comparison).outcome, Outcome::Moved);
    let said = sentences(&comparison, Kind::Reordered).join("\n");
    assert!(
        said.contains("place 3 differs (-16.04 %) as the cache flushes"),
        "{said}"
    );
    assert!(!said.contains("another order"), "{said}");
    // The tolerance is the one that was asked for.
    let strict = Options {
        tolerance_ppm: 1000,
        ..Options::default()
    };
    let strict = &compare(&[with(382_000)], &old, &strict).expect("comparable")[0];
    assert_eq!(place(strict).outcome, Outcome::Worse);
    // A last man's own flush is in his Powerdown, where timestamps are sound.
    let old = table(&[(50_000, 5000), (2_200_000, 2_100_000), (2_250_000, 5000)]);
    let new = table(&[(50_000, 5000), (100_000, 5000), (2_250_000, 2_100_000)]);
    let changes = &compared(&new, &old, &[]).tests[0].by_order;
    let own = changes.iter().filter(|it| it.metric.is(Metric::Powerdown));
    let outcomes: Vec<Outcome> = own.map(|it| it.outcome).collect();
    assert_eq!(outcomes, [Outcome::Same, Outcome::Moved, Outcome::Same]);
}

/// The log as without `samples=all`, with PSCI_VERSION's figures of one round,
/// in ticks, and what each CPU's samples were.
fn of_one_round(shown: &[u64; 4], samples: &[u64]) -> Run {
    let mut run = log();
    let version = |test: &Test| test.scenario.is(ScenarioId::PsciVersionParallel);
    let test = run
        .tests
        .iter_mut()
        .find(|it| version(it))
        .expect("it is there");
    for (row, shown) in test.rows.iter_mut().zip(shown) {
        row.samples.clear();
        row.figures[0].1 = *shown;
        let latency = row
            .summaries
            .iter_mut()
            .filter(|it| it.0.is(Metric::Latency));
        latency.for_each(|it| it.1 = Summary::of(&mut samples.to_vec()));
    }
    run.tests.retain(version);
    run
}

#[test]
fn one_round_is_weighed_against_its_cpus_noise() {
    let samples: Vec<u64> = (0..20).map(|k| 300 + k * 20).collect();
    let old = of_one_round(&[500, 501, 502, 503], &samples);
    let unlucky = of_one_round(&[500, 501, 502, 1000], &samples);
    let comparison = compared(&unlucky, &old, &[]);
    let last = comparison.tests[0].by_order.last().expect("four places");
    assert_eq!(last.outcome, Outcome::Noise);
    assert_eq!(last.new.figure, 16_000);
    assert!(
        last.new.interval.is_some_and(|it| it.1 < 16_000),
        "{last:?}"
    );
    let said = sentences(&comparison, Kind::NotTold);
    assert!(
        said[0].contains("one round of each side is compared"),
        "{said:?}"
    );
    assert!(said[0].contains("samples=all"));

    // All samples are slower, and so is the round.
    let slower: Vec<u64> = samples.iter().map(|it| it + 500).collect();
    let slow = of_one_round(&[1000, 1001, 1002, 1003], &slower);
    let comparison = compared(&slow, &old, &[]);
    assert_eq!(comparison.regressions().count(), 4);
    let changed = comparison
        .findings
        .iter()
        .find(|it| it.kind == Kind::Changed);
    assert_eq!(changed.map(|it| it.confidence), Some(Confidence::Intervals));
    // The round is slower, and the samples are faster: that is no regression.
    let faster: Vec<u64> = samples.iter().map(|it| it - 290).collect();
    let odd = of_one_round(&[1000, 1001, 1002, 1003], &faster);
    assert_eq!(compared(&odd, &old, &[]).regressions().count(), 0);

    // Nothing to weigh it against: it says so.
    let mut bare = old.clone();
    bare.tests[0]
        .rows
        .iter_mut()
        .for_each(|row| row.summaries.clear());
    let comparison = compared(&slow, &bare, &[]);
    assert_eq!(comparison.regressions().count(), 4);
    let said = sentences(&comparison, Kind::NotTold);
    assert!(said[0].contains("no noise"), "{said:?}");
    assert!(
        said[0].contains("4 of 4 in test_rt_instr_psci_version_parallel"),
        "{said:?}"
    );
}

#[test]
fn the_firmware_is_known_by_its_lines_alone() {
    let mut new = log();
    for stage in &mut new.firmware {
        stage.version = Some("v2.1.1(release):x".to_owned());
    }
    let comparison = compared(&new, &log(), &[]);
    let conditions = comparison
        .findings
        .iter()
        .find(|it| it.kind == Kind::Conditions);
    let conditions = conditions.expect("it differs");
    assert_eq!(conditions.confidence, Confidence::Lines);
    assert!(
        conditions
            .sentence
            .starts_with("By its own lines, which have no checksum"),
        "{conditions}"
    );
}
