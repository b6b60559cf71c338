//! What comparing says of the published figures.

use std::path::{Path, PathBuf};

use psci_bench::measure::{Metric, Summary};
use psci_bench::model::WakeSource;
use psci_bench::plan::{Method, ScenarioId, WakePattern};

use super::change::{Change, Outcome};
use super::compare::compare;
use super::comparison::{Across, ComparedTest, Comparison, Judged, Options};
use super::pair::{Keyed, RowIs};
use super::*;
use crate::report::analysis::explain::{Confidence, Finding, Kind, explain};
use crate::report::log::{read_bytes, tables};
use crate::report::model::{Run, Term};

const QEMU: &[u8] = include_bytes!("../../../../tests/data/report/qemu-4cpu.log");

fn published(version: &str) -> Run {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/published");
    tables::read(&root.join(version)).expect("tables")
}

fn log() -> Run {
    read_bytes("a.log", QEMU).expect("a run").remove(0)
}

fn compared(new: &Run, old: &Run, options: &Options) -> Comparison {
    let mut all = compare(std::slice::from_ref(new), old, options).expect("comparable");
    all.remove(0)
}

fn juno(new: &str, old: &str) -> Comparison {
    let (new, old) = (
        published(&format!("juno/{new}")),
        published(&format!("juno/{old}")),
    );
    compared(&new, &old, &Options::default())
}

fn of(comparison: &Comparison, scenario: ScenarioId) -> &ComparedTest {
    let mut tests = comparison.tests.iter();
    tests
        .find(|test| test.scenario.is(scenario))
        .expect("both have it")
}

fn found<'f>(findings: &'f [Finding], kind: Kind, part: &str) -> &'f Finding {
    let mut all = findings.iter();
    let found = all.find(|it| it.kind == kind && it.sentence.contains(part));
    found.unwrap_or_else(|| panic!("no {kind:?} with {part:?} in {findings:#?}"))
}

#[test]
fn another_lock_order_is_no_change() {
    let comparison = juno("v2.10", "v2.9");
    let parallel = of(&comparison, ScenarioId::CpuSuspendParallel);
    assert_eq!(
        (comparison.keyed, parallel.judged),
        (Keyed::Labels, Judged::Order)
    );
    let powerdown = |it: &&Change| it.metric.is(Metric::Powerdown);
    let order: Vec<&Change> = parallel.by_order.iter().filter(powerdown).collect();
    assert_eq!(order.len(), 6);
    for change in &order {
        assert!(
            change.percent().expect("not from zero").abs() < 1.0,
            "{change:?}"
        );
        assert_eq!(change.outcome, Outcome::Same);
    }
    let by_cpu: Vec<String> = parallel
        .by_cpu
        .iter()
        .filter(powerdown)
        .map(|it| tell::percent(it.percent().expect("not from zero")))
        .collect();
    assert_eq!(by_cpu[2], "-72.51 %");
    assert_eq!(by_cpu[3], "+261.32 %");

    let reordered = found(
        &comparison.findings,
        Kind::Reordered,
        "CPU suspend on all cores in parallel",
    );
    for part in [
        "unchanged by order of arrival",
        "6 of 6 places within 0.61 %",
        "-72.51 % (CPU 1.0)",
        "+261.32 % (CPU 1.1)",
        "lock was taken in another order",
        "then 1.1, 1.3, 1.0, 1.2, 0.0, 0.1, now 1.0, 1.3, 1.1, 1.2, 0.1, 0.0",
    ] {
        assert!(reordered.sentence.contains(part), "{}", reordered.sentence);
    }
    assert_eq!(
        (reordered.basis.len(), reordered.confidence),
        (12, Confidence::Figures)
    );
}

#[test]
fn a_flush_at_another_place_in_the_queue_is_no_change() {
    for (new, old) in [("v2.10", "v2.9"), ("v2.9", "v2.10")] {
        let comparison = juno(new, old);
        let deep = of(&comparison, ScenarioId::SuspendDeepParallel);
        let powerdown = |it: &&Change| it.metric.is(Metric::Powerdown);
        let order: Vec<Outcome> = deep
            .by_order
            .iter()
            .filter(powerdown)
            .map(|it| it.outcome)
            .collect();
        use Outcome::{Moved, Same};
        assert_eq!(order, [Same, Same, Same, Moved, Same, Same], "{new}");
        found(&comparison.findings, Kind::Reordered, "place 4 differs");
    }
}

#[test]
fn the_real_changes_are_found() {
    let comparison = juno("v2.10", "v2.9");
    for scenario in [
        ScenarioId::CpuSuspendSerial,
        ScenarioId::CpuSuspendParallel,
        ScenarioId::CpuOffSerial,
    ] {
        let worse = |it: &&Change| it.metric.is(Metric::Wakeup) && it.outcome == Outcome::Worse;
        let changes = of(&comparison, scenario).changes();
        assert_eq!(changes.iter().filter(worse).count(), 6, "{scenario:?}");
    }
    let wakeup = found(
        &comparison.findings,
        Kind::Changed,
        "CPU suspend on all cores in sequence: Wakeup",
    );
    assert!(
        wakeup
            .sentence
            .contains("takes more in 6 of 6 rows, by 2.92 us to 4.62 us"),
        "{}",
        wakeup.sentence
    );
    found(
        &comparison.findings,
        Kind::Unchanged,
        "CPU suspend on all cores in sequence: Powerdown",
    );
    assert!(comparison.regressions().count() > 12);
    // And of two releases with the same figures there is none.
    let same = juno("v2.10", "v2.10");
    assert_eq!(same.regressions().count(), 0);
    assert!(
        same.findings
            .iter()
            .all(|it| matches!(it.kind, Kind::Unchanged | Kind::NotTold))
    );
}

#[test]
fn cpus_that_are_not_last_flush_the_cluster() {
    let comparison = juno("v2.13", "v2.12");
    let flush = found(&comparison.findings, Kind::FlushOfCluster, "");
    for part in [
        "CPUs that are not last man now pay a cluster-size cache flush",
        "2 of 2 in cluster 0 (before: 1) and 4 of 4 in cluster 1 (before: 1)",
        "CPU 1.1, 1.2, 1.3 flushed for 4.38 us to 4.42 us before, and for 76.76 us to 77.12 us now",
        "costs each of them 78.70 us to 79.64 us of Powerdown",
    ] {
        assert!(flush.sentence.contains(part), "{}", flush.sentence);
    }
    assert_eq!(flush.confidence, Confidence::Figures);
    assert!(
        flush
            .rows()
            .contains("Powerdown in test_rt_instr_susp_deep_serial"),
        "{}",
        flush.rows()
    );
    let back = juno("v2.12", "v2.13");
    found(&back.findings, Kind::FlushOfCluster, "no longer pay");
    for (new, old) in [("v2.10", "v2.9"), ("v2.12", "v2.10")] {
        let none = juno(new, old);
        assert!(
            none.findings
                .iter()
                .all(|it| it.kind != Kind::FlushOfCluster),
            "{new}"
        );
    }
}

#[test]
fn power_down_in_parallel_is_serialised() {
    for version in ["v2.9", "v2.10", "v2.12"] {
        let run = published(&format!("juno/{version}"));
        let test = run
            .test(ScenarioId::CpuSuspendParallel, Method::Tftf)
            .expect("it is there");
        let findings = explain(&run, test);
        let queue = found(&findings, Kind::LockQueue, "powerdown grows by 139.");
        assert!(
            queue.sentence.contains("(6 CPUs, R2 99 %)"),
            "{}",
            queue.sentence
        );
        assert!(
            queue.sentence.contains("one after another"),
            "{}",
            queue.sentence
        );
        let Confidence::Fit(fit) = queue.confidence else {
            panic!("{queue:?}")
        };
        assert!(
            fit.residual_ns.expect("a clock") < 1000 && !fit.by_stamps,
            "{fit:?}"
        );
        assert_eq!(queue.basis.len(), 6);

        let deep = run
            .test(ScenarioId::SuspendDeepParallel, Method::Tftf)
            .expect("it is there");
        let findings = explain(&run, deep);
        let last = found(
            &findings,
            Kind::NotTold,
            "can not be told from figures alone",
        );
        assert_eq!(last.confidence, Confidence::Unknown);
        assert!(findings.iter().all(|it| it.kind != Kind::LastMan));
        found(&findings, Kind::Waited, "For whom, can not be told");
    }
    // Sorted figures always rise: not every rise is a queue.
    let run = published("n1sdp/v2.9");
    for test in &run.tests {
        assert!(
            explain(&run, test)
                .iter()
                .all(|it| it.kind != Kind::LockQueue)
        );
    }
    let version = run
        .test(ScenarioId::PsciVersionParallel, Method::Tftf)
        .expect("it is there");
    let found = found(
        &explain(&run, version),
        Kind::Resolution,
        "4 to 14 ticks of 20 ns",
    )
    .clone();
    assert!(
        found.sentence.contains("One call is too short"),
        "{}",
        found.sentence
    );
}

/// As the tables of a board whose labels come of the wrong affinity fields.
fn with_equal_labels(mut run: Run) -> Run {
    for cpu in &mut run.cpus {
        (cpu.core, cpu.thread) = (0, cpu.core);
    }
    run
}

#[test]
fn equal_labels_are_ambiguous() {
    let new = published("n1sdp/v2.9");
    let old = with_equal_labels(new.clone());
    let sorted = compared(&new, &old, &Options::default());
    assert_eq!(sorted.keyed, Keyed::Ambiguous);
    assert!(
        sorted
            .tests
            .iter()
            .all(|test| test.judged == Judged::Order && test.by_cpu.is_empty())
    );
    assert_eq!((sorted.tests.len(), sorted.regressions().count()), (6, 0));
    found(&sorted.findings, Kind::NotTold, "--rows-are");

    let rows =
        |text: &str| -> Vec<RowIs> { text.split(',').map(|it| it.parse().expect(it)).collect() };
    let named = |text| {
        compare(
            std::slice::from_ref(&new),
            &old,
            &Options {
                rows_are: rows(text),
                ..Options::default()
            },
        )
    };
    let mapped = named("0.0,0.1,1.0,1.1").expect("named").remove(0);
    assert_eq!(
        (mapped.keyed, mapped.tests[1].judged),
        (Keyed::Labels, Judged::Cpu)
    );
    assert_eq!(mapped.regressions().count(), 0);
    // In another order the rows are other CPUs.
    let other = named("1.1,1.0,0.1,0.0").expect("named").remove(0);
    assert!(other.regressions().count() > 0);
    for (text, part) in [
        ("0.0", "names 1 CPUs"),
        ("0.0,0.0,1.0,1.1", "twice"),
        ("0x0,0x100,0x200,0x300", "has none"),
        ("7.0,7.1,7.2,7.3", "no CPU in common"),
    ] {
        let said = format!("{:#}", named(text).expect_err(text));
        assert!(said.contains(part), "{said}");
    }
    assert!("0x".parse::<RowIs>().is_err() && "1".parse::<RowIs>().is_err());
}

#[test]
fn rows_are_named_by_mpidr() {
    let new = log();
    let mut old = with_equal_labels(published("n1sdp/v2.9"));
    old.tests.retain(|test| !test.is_parallel());
    let rows_are = vec![
        RowIs::Mpidr(3),
        RowIs::Mpidr(2),
        RowIs::Mpidr(1),
        RowIs::Mpidr(0),
    ];
    let options = Options {
        rows_are,
        ..Options::default()
    };
    let comparison = compared(&new, &old, &options);
    assert_eq!(comparison.keyed, Keyed::Mpidr);
    let labels: Vec<String> = (0..4).map(|cpu| comparison.baseline.label(cpu)).collect();
    assert_eq!(labels, ["0.3", "0.2", "0.1", "0.0"]);
    let first = &comparison.tests[0].by_cpu[0];
    assert_eq!((first.cpu, first.old_cpu, first.old.figure), (0, 3, 2220));
}

#[test]
fn what_is_not_one_question_is_refused() {
    let refused = |edit: fn(&mut Run), across: &[Across]| {
        let mut old = log();
        edit(&mut old);
        let options = Options {
            across: across.to_vec(),
            ..Options::default()
        };
        match compare(&[log()], &old, &options) {
            Ok(all) => all[0]
                .refused
                .iter()
                .map(|it| it.why.clone())
                .collect::<Vec<_>>()
                .join("|"),
            Err(error) => format!("{error:#}"),
        }
    };
    assert_eq!(refused(|_| {}, &[]), "");
    let warm: fn(&mut Run) = |run| run.tests[0].method = Term::Known(Method::Warm);
    assert!(refused(warm, &[]).contains("--across methods"));
    assert_eq!(refused(warm, &[Across::Methods]), "");
    let state: fn(&mut Run) = |run| run.tests[1].power_state = Some(2);
    assert!(refused(state, &[]).contains("--across states"));
    assert_eq!(refused(state, &[Across::States]), "");
    let wake: fn(&mut Run) = |run| run.plan.wake = Some(Term::Known(WakePattern::Chain));
    assert!(refused(wake, &[]).contains("--across wakes"));
    assert_eq!(refused(wake, &[Across::Wakes]), "");
    let helper: fn(&mut Run) = |run| {
        run.tests[0].wake_source = WakeSource::Helper;
    };
    assert!(refused(helper, &[]).contains("--across wakes"));
    assert_eq!(refused(helper, &[Across::Wakes]), "");
    // A helper has no row.
    let fewer: fn(&mut Run) = |run| {
        run.tests[0].wake_source = WakeSource::Helper;
        run.tests[0].helper = run.tests[0].rows.pop().map(|row| row.cpu);
    };
    let said = refused(fewer, &[]);
    assert!(
        said.contains("no option compares them, as they have 4 rows against 3"),
        "{said}"
    );
    assert!(!said.contains("--across wakes"), "{said}");
    assert!(refused(fewer, &[Across::Wakes]).contains("4 rows against 3"));
    let board: fn(&mut Run) = |run| run.model = Some("Juno".into());
    assert!(refused(board, &[]).contains("--across boards"));
    assert_eq!(refused(board, &[Across::Boards]), "");
    let pmf: fn(&mut Run) = |run| run.tests[2].pmf = Some(false);
    assert!(refused(pmf, &[Across::Methods]).contains("measured by PMF, and by the caller"));
    let fewer: fn(&mut Run) = |run| {
        run.tests[0].rows.pop();
    };
    assert!(refused(fewer, &[]).contains("4 rows against 3"));
    assert!(refused(|run| run.facts.hz = Some(0), &[]).contains("frequency is known"));
    assert!(refused(|run| run.tests.clear(), &[]).contains("nothing of a.log"));
}

#[test]
fn noise_is_weighed_where_both_sides_tell_it() {
    let scenario = ScenarioId::CpuSuspendSerial;
    let metric = Term::Known(Metric::Powerdown);
    let with = |values: &[u64]| {
        let mut run = log();
        let test = run
            .tests
            .iter_mut()
            .find(|it| it.scenario.is(scenario))
            .expect("there");
        let row = &mut test.rows[0];
        let summary = Summary::of(&mut values.to_vec());
        row.figures
            .iter_mut()
            .filter(|it| it.0 == metric)
            .for_each(|it| it.1 = summary.median);
        row.summaries
            .iter_mut()
            .filter(|it| it.0 == metric)
            .for_each(|it| it.1 = summary);
        run
    };
    let outcome = |new: &[u64], old: &[u64]| {
        let comparison = compared(&with(new), &with(old), &Options::default());
        of(&comparison, scenario).by_cpu[0].outcome
    };
    let quiet = [1000u64, 1001, 1002, 1003, 1004, 1005, 1006, 1007];
    let wide = [700u64, 800, 900, 1000, 1100, 1200, 1300, 1400];
    let shifted = |by: u64, of: &[u64]| -> Vec<u64> { of.iter().map(|it| it + by).collect() };
    assert_eq!(outcome(&shifted(100, &quiet), &quiet), Outcome::Worse);
    assert_eq!(outcome(&quiet, &shifted(100, &quiet)), Outcome::Better);
    assert_eq!(outcome(&shifted(100, &wide), &wide), Outcome::Noise);
    assert_eq!(outcome(&shifted(1000, &wide), &wide), Outcome::Worse);
}

#[test]
fn every_sample_of_a_queue_is_used() {
    let comparison = compared(&log(), &log(), &Options::default());
    assert_eq!(
        (comparison.keyed, comparison.regressions().count()),
        (Keyed::Mpidr, 0)
    );
    let parallel = of(&comparison, ScenarioId::CpuSuspendParallel);
    assert!(parallel.by_order.iter().all(|it| it.new.interval.is_some()));
}

#[test]
fn a_log_beside_published_tables() {
    let mut old = published("juno/v2.9");
    old.cpus.truncate(2);
    for test in &mut old.tests {
        test.rows.truncate(2);
    }
    let comparison = compared(&log(), &old, &Options::default());
    assert_eq!(comparison.keyed, Keyed::Labels);
    // Two CPUs in a queue are not four.
    assert_eq!(comparison.refused.len(), 3);
    assert_eq!(comparison.tests[0].unpaired.0, [2, 3]);
    found(
        &comparison.findings,
        Kind::NotTold,
        "Of the baseline there are figures alone",
    );
}

#[test]
fn folders_and_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/published");
    let said = format!(
        "{:#}",
        tables::read(&root.join("juno")).expect_err("folders")
    );
    assert!(
        said.contains("it has the folders v2.10, v2.12, v2.13, v2.9"),
        "{said}"
    );
    let file = root.join("juno/v2.9/test_rt_instr_cpu_susp_serial.csv");
    let run = tables::read(&file).expect("a table");
    assert_eq!((run.tests.len(), run.cpus.len()), (1, 6));
    assert!(run.is_complete());
    let run = published("juno/v2.9");
    let tags: Vec<&str> = run.tests.iter().map(|test| test.scenario.word()).collect();
    assert_eq!(tags, ScenarioId::SUITE.map(ScenarioId::tag));
}
