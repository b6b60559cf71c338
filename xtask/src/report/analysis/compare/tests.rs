//! Comparisons of published figures and of made-up runs.

use psci_bench::measure::{Metric, Summary};
use psci_bench::model::new::{
    Conditions, Confidence, Cpu, How, Kind, Measure, Point, Variant, WakeSource,
};
use psci_bench::plan::{Method, ScenarioId, WakePattern};

use super::*;
use crate::report::analysis::basis::{ComparisonFinding, basis_text};
use crate::report::analysis::conditions::Across;
use crate::report::analysis::figure::FigureKey;
use crate::report::analysis::made_up::{point, published, set_summary, suite, table, with_points};
use crate::report::log::logged_run::LoggedRun;
use crate::report::model::Stage;

use Outcome::{Better, Moved, Noise, Same, Worse};
use ScenarioId::{
    CpuOffSerial, CpuSuspendParallel, CpuSuspendSerial, PsciVersionParallel, SuspendDeepParallel,
};

fn with_across(across: &[Across]) -> Options {
    Options {
        across: across.to_vec(),
        ..Options::default()
    }
}

fn compared(new: &LoggedRun, old: &LoggedRun, across: &[Across]) -> Comparison {
    let all = compare(std::slice::from_ref(new), old, &with_across(across));
    all.expect("comparable").remove(0)
}

fn juno(new: &str, old: &str) -> Comparison {
    let [new, old] = [new, old].map(|it| published(&format!("juno/{it}")));
    compared(&new, &old, &[])
}

fn of(comparison: &Comparison, id: ScenarioId) -> &ComparedScenario {
    let mut all = comparison.scenarios.iter();
    all.find(|it| it.key.id == id).expect("both have it")
}

/// The changes of a metric by order, or by CPU.
fn changes(all: &[Change], metric: Metric) -> Vec<&Change> {
    let all = all.iter();
    all.filter(|it| it.key == FigureKey::Row { metric })
        .collect()
}

fn outcomes(all: &[Change], metric: Metric) -> Vec<Outcome> {
    let all = changes(all, metric).into_iter();
    all.map(|it| it.outcome).collect()
}

fn sentences(comparison: &Comparison, kind: Kind) -> Vec<&str> {
    let all = comparison.findings.iter().map(|it| &it.finding);
    let all = all.filter(|it| it.kind == kind);
    all.map(|it| it.sentence.as_str()).collect()
}

fn found<'c>(comparison: &'c Comparison, kind: Kind, parts: &[&str]) -> &'c ComparisonFinding {
    let has_all = |it: &&ComparisonFinding| {
        let sentence = &it.finding.sentence;
        it.finding.kind == kind && parts.iter().all(|part| sentence.contains(part))
    };
    let found = comparison.findings.iter().find(has_all);
    found.unwrap_or_else(|| panic!("no {kind:?} with {parts:?} in {:#?}", comparison.findings))
}

#[test]
fn published_releases_have_these_findings() {
    let rows: [(&str, &str, Kind, &[&str]); 8] = [
        (
            "v2.10",
            "v2.9",
            Kind::Reordered,
            &[
                "CPU suspend on all cores in parallel",
                "unchanged by order of arrival",
                "6 of 6 places within 0.61 %",
                "-72.51 % (CPU 1.0)",
                "+261.32 % (CPU 1.1)",
                "lock was taken in another order",
                "then 1.1, 1.3, 1.0, 1.2, 0.0, 0.1, now 1.0, 1.3, 1.1, 1.2, 0.1, 0.0",
            ],
        ),
        ("v2.10", "v2.9", Kind::Reordered, &["place 4 differs"]),
        ("v2.9", "v2.10", Kind::Reordered, &["place 4 differs"]),
        (
            "v2.10",
            "v2.9",
            Kind::Changed,
            &[
                "CPU suspend on all cores in sequence: Wakeup takes more in 6 of 6 rows, by 2.92 us \
                 to 4.62 us",
            ],
        ),
        (
            "v2.10",
            "v2.9",
            Kind::Unchanged,
            &["CPU suspend on all cores in sequence: Powerdown"],
        ),
        (
            "v2.13",
            "v2.12",
            Kind::FlushOfCluster,
            &[
                "CPUs that are not last man now pay a cluster-size cache flush",
                "2 of 2 in cluster 0 (before: 1) and 4 of 4 in cluster 1 (before: 1)",
                "CPU 1.1, 1.2, 1.3 flushed for 4.38 us to 4.42 us before, and for 76.76 us to \
                 77.12 us now",
                "costs each of them 78.70 us to 79.64 us of Powerdown",
            ],
        ),
        ("v2.12", "v2.13", Kind::FlushOfCluster, &["no longer pay"]),
        (
            "v2.10",
            "v2.9",
            Kind::NotTold,
            &["Of the run and the baseline there are figures alone"],
        ),
    ];
    for (new, old, kind, parts) in rows {
        found(&juno(new, old), kind, parts);
    }
    for (new, old, kind) in [
        ("v2.10", "v2.9", Kind::FlushOfCluster),
        ("v2.12", "v2.10", Kind::FlushOfCluster),
        ("v2.10", "v2.10", Kind::Changed),
        ("v2.10", "v2.10", Kind::Reordered),
    ] {
        let comparison = juno(new, old);
        assert!(sentences(&comparison, kind).is_empty(), "{new} {kind:?}");
    }
}

#[test]
fn findings_rest_on_rows_of_both_sides() {
    let comparison = juno("v2.10", "v2.9");
    let runs = (&published("juno/v2.10").run, &comparison.baseline.run);
    let parts = ["CPU suspend on all cores", "unchanged by order"];
    let reordered = found(&comparison, Kind::Reordered, &parts);
    assert_eq!(reordered.finding.confidence, Confidence::Figures);
    let cpus = reordered.basis.iter().map(|it| it.cpus.len());
    assert_eq!(cpus.collect::<Vec<_>>(), [6, 6]);
    assert_eq!(
        basis_text(runs, &reordered.basis),
        "Powerdown in test_rt_instr_cpu_susp_parallel on both sides: CPU 1.0, 1.3, 1.1, 1.2, 0.1, \
         0.0"
    );
    let comparison = juno("v2.13", "v2.12");
    let flush = found(&comparison, Kind::FlushOfCluster, &[]);
    let text = basis_text(runs, &flush.basis);
    for part in [
        "Cache Flush in test_rt_instr_susp_deep_parallel on both sides: CPU",
        "; Cache Flush, Powerdown in test_rt_instr_susp_deep_serial on both sides: CPU 1.1, 1.2, \
         1.3",
    ] {
        assert!(text.contains(part), "{text}");
    }
    // Of many CPUs the first and the last.
    let mut many = published("juno/v2.10").run;
    many.cpus = (0..12)
        .map(|core| Cpu {
            core,
            ..Default::default()
        })
        .collect();
    let mut basis = flush.basis[..1].to_vec();
    basis[0].cpus = (0..12).collect();
    let text = basis_text((&many, &many), &basis);
    assert!(text.ends_with("_parallel: 12 CPUs, 0.0 to 0.11"), "{text}");
}

#[test]
fn queue_is_compared_by_order_and_sequence_by_cpu() {
    let comparison = juno("v2.10", "v2.9");
    assert_eq!(comparison.keyed, Keyed::Labels);
    let parallel = of(&comparison, CpuSuspendParallel);
    assert_eq!(parallel.judged, Judged::Order);
    let order = changes(&parallel.by_order, Metric::Powerdown);
    let is_close = |it: &&Change| it.percent().is_some_and(|it| it.abs() < 1.0);
    assert!(order.len() == 6 && order.iter().all(is_close), "{order:?}");
    for (new, old) in [("v2.10", "v2.9"), ("v2.9", "v2.10")] {
        let comparison = juno(new, old);
        let deep = of(&comparison, SuspendDeepParallel);
        let order = outcomes(&deep.by_order, Metric::Powerdown);
        assert_eq!(order, [Same, Same, Same, Moved, Same, Same], "{new}");
    }
    for id in [CpuSuspendSerial, CpuSuspendParallel, CpuOffSerial] {
        let outcomes = outcomes(of(&comparison, id).changes(), Metric::Wakeup);
        assert_eq!(outcomes, [Worse; 6], "{id}");
    }
    assert!(comparison.regressions().count() > 12);
    assert_eq!(juno("v2.10", "v2.10").regressions().count(), 0);
    // With all samples, each place has an interval of its own.
    let own = compared(&suite(), &suite(), &[]);
    let parallel = of(&own, CpuSuspendParallel);
    let has_interval = |it: &Change| it.new.interval.is_some();
    assert!(parallel.by_order.iter().all(has_interval));
    assert_eq!((own.keyed, own.regressions().count()), (Keyed::Mpidr, 0));
}

/// The tables of a board whose labels come of the wrong affinity fields.
fn with_equal_labels(mut run: LoggedRun) -> LoggedRun {
    for cpu in &mut run.run.cpus {
        (cpu.core, cpu.thread) = (0, cpu.core);
    }
    run
}

#[test]
fn rows_of_equal_labels_are_sorted_or_named() {
    let new = published("n1sdp/v2.9");
    let old = with_equal_labels(new.clone());
    let sorted = compared(&new, &old, &[]);
    assert_eq!(sorted.keyed, Keyed::Ambiguous);
    let is_sorted = |it: &ComparedScenario| it.judged == Judged::Order && it.by_cpu.is_empty();
    assert!(sorted.scenarios.iter().all(is_sorted));
    assert_eq!(
        (sorted.scenarios.len(), sorted.regressions().count()),
        (6, 0)
    );
    found(&sorted, Kind::NotTold, &["--rows-are"]);

    let named = |text: &str| {
        let rows_are = text.split(',').map(|it| it.parse().expect(it)).collect();
        let options = Options {
            rows_are,
            ..Options::default()
        };
        compare(std::slice::from_ref(&new), &old, &options)
    };
    let mapped = named("0.0,0.1,1.0,1.1").expect("named").remove(0);
    assert_eq!(
        (mapped.keyed, mapped.scenarios[1].judged),
        (Keyed::Labels, Judged::Cpu)
    );
    assert_eq!(mapped.regressions().count(), 0);
    let other = named("1.1,1.0,0.1,0.0").expect("named").remove(0);
    assert!(other.regressions().count() > 0);
    for (text, part) in [
        ("0.0", "names 1 CPUs"),
        ("0.0,0.0,1.0,1.1", "twice"),
        ("0x0,0x100,0x200,0x300", "has none"),
        ("7.0,7.1,7.2,7.3", "no CPU in common"),
    ] {
        let error = format!("{:#}", named(text).expect_err(text));
        assert!(error.contains(part), "{error}");
    }
    for text in ["0x", "1", "0x+1", "1.+1"] {
        assert!(text.parse::<RowIs>().is_err(), "{text}");
    }
}

#[test]
fn rows_named_by_mpidr_have_the_runs_labels() {
    let mut old = with_equal_labels(published("n1sdp/v2.9"));
    old.run.scenarios.retain(|it| !it.id.is_parallel());
    let options = Options {
        rows_are: [3, 2, 1, 0].map(RowIs::Mpidr).to_vec(),
        ..Options::default()
    };
    let comparison = &compare(&[suite()], &old, &options).expect("comparable")[0];
    assert_eq!(comparison.keyed, Keyed::Mpidr);
    let labels = (0..4).map(|cpu| comparison.baseline.run.label(cpu).to_string());
    assert_eq!(labels.collect::<Vec<_>>(), ["0.3", "0.2", "0.1", "0.0"]);
    let first = &comparison.scenarios[0].by_cpu[0];
    assert_eq!((first.cpu, first.old_cpu, first.old.figure), (0, 3, 2220.0));
}

fn first(run: &mut LoggedRun) -> &mut Conditions {
    run.run.scenarios[0].conditions.as_mut().expect("a record")
}

fn add_helper(run: &mut LoggedRun) {
    first(run).wake_source = WakeSource::Helper;
    let scenario = &mut run.run.scenarios[0];
    scenario.helper = scenario.rows.pop().map(|row| row.cpu);
}

#[test]
fn another_question_is_refused_unless_an_option_passes_over_it() {
    type Edit = fn(&mut LoggedRun);
    let wake: Edit = |run| {
        run.run.plan.as_mut().expect("a plan").wake = Some(WakePattern::Staggered);
    };
    let rows: [(Edit, Option<Across>, &str); 12] = [
        (|_| {}, None, ""),
        (
            |run| run.run.scenarios[1].method = Method::Warm,
            Some(Across::Methods),
            "the method is tftf, and warm in the baseline: --across methods",
        ),
        (
            |run| first(run).power_state = Some(7),
            Some(Across::States),
            "power_state is 0x00000002, and 0x00000007 in the baseline: --across states",
        ),
        (
            wake,
            Some(Across::Wakes),
            "the wake-up pattern is chain, and staggered in the baseline: --across wakes",
        ),
        (
            |run| first(run).wake_source = WakeSource::Helper,
            Some(Across::Wakes),
            "the wake-up source is timer, and helper in the baseline: --across wakes",
        ),
        (
            add_helper,
            None,
            "helper 0.3 in the baseline: no option compares them, as they have 4 rows against 3",
        ),
        (
            |run| run.run.head.as_mut().expect("a record").model = "Juno".into(),
            Some(Across::Boards),
            "the board of a.log is \"QEMU\", and that of the baseline a.log \"Juno\": --across \
             boards",
        ),
        (
            |run| first(run).pmf = false,
            None,
            "the source of the figures is PMF, and the caller in the baseline",
        ),
        (
            |run| drop(run.run.scenarios[0].rows.pop()),
            None,
            "4 rows against 3: CPUs that go down together wait",
        ),
        (
            |run| run.run.facts.as_mut().expect("a record").frequency = 0,
            None,
            "frequency is known",
        ),
        (
            |run| run.run.scenarios.clear(),
            None,
            "nothing of a.log can be compared",
        ),
        (
            |run| run.run.cpus.iter_mut().for_each(|cpu| cpu.mpidr = Some(9)),
            None,
            "no CPU in common, by MPIDR",
        ),
    ];
    for (edit, across, expected) in rows {
        let mut old = suite();
        edit(&mut old);
        let refused = |across: &[Across]| match compare(&[suite()], &old, &with_across(across)) {
            Ok(all) => {
                let refused = all[0].refused.iter().map(|it| it.why.clone());
                refused.collect::<Vec<_>>().join("|")
            }
            Err(error) => format!("{error:#}"),
        };
        let text = refused(&[]);
        assert!(
            text.contains(expected) && text.is_empty() == expected.is_empty(),
            "{text}"
        );
        if let Some(across) = across {
            assert_eq!(refused(&[across]), "", "{expected}");
        }
    }
    // The option does not make the numbers of rows equal.
    let mut fewer = suite();
    add_helper(&mut fewer);
    let refused = &compared(&suite(), &fewer, &[Across::Wakes]).refused;
    assert!(refused[0].why.starts_with("4 rows against 3"));
}

#[test]
fn differences_that_are_passed_over_are_named() {
    let mut old = suite();
    old.run.head.as_mut().expect("a record").model = "Juno".into();
    old.run.scenarios[1].method = Method::Warm;
    old.run.plan.as_mut().expect("a plan").iterations = 7;
    old.firmware = vec![Stage {
        version: Some("v2.1.1(release):x".into()),
        ..Stage::default()
    }];
    let mut new = suite();
    new.firmware = vec![Stage {
        version: Some("v2.2".into()),
        ..Stage::default()
    }];
    let comparison = compared(&new, &old, &[Across::Boards, Across::Methods]);
    let all = sentences(&comparison, Kind::Conditions);
    assert_eq!(
        all,
        [
            "By its own lines, which have no checksum, the firmware is v2.2, and was \
             v2.1.1(release):x.",
            "Besides figures: the board is QEMU, and was Juno; the count of samples asked for is \
             20, and was 7.",
            "Suspend to deepest power level on all cores in sequence, method tftf: method tftf is \
             compared with warm, as was asked for: a change may be the method's.",
            "Two boards are compared, as was asked for: no change is the firmware's alone.",
        ]
    );
    let first = found(&comparison, Kind::Conditions, &["By its own lines"]);
    assert_eq!(first.finding.confidence, Confidence::Lines);
}

#[test]
fn change_within_the_noise_of_both_sides_is_none() {
    let with = |samples: &[u64]| {
        let mut run = suite();
        let scenario = &mut run.run.scenarios[3];
        assert_eq!(scenario.id, CpuSuspendSerial);
        let median = Summary::of(&mut samples.to_vec()).median;
        set_summary(&mut scenario.rows[0], Metric::Powerdown, median, samples);
        run
    };
    let quiet = [1000u64, 1001, 1002, 1003, 1004, 1005, 1006, 1007];
    let wide = [700u64, 800, 900, 1000, 1100, 1200, 1300, 1400];
    let shifted = |by: u64, of: &[u64]| -> Vec<u64> { of.iter().map(|it| it + by).collect() };
    for (new, old, expected) in [
        (shifted(100, &quiet), quiet.to_vec(), Worse),
        (quiet.to_vec(), shifted(100, &quiet), Better),
        (shifted(100, &wide), wide.to_vec(), Noise),
        (shifted(1000, &wide), wide.to_vec(), Worse),
    ] {
        let comparison = compared(&with(&new), &with(&old), &[]);
        let own = outcomes(&of(&comparison, CpuSuspendSerial).by_cpu, Metric::Powerdown);
        assert_eq!(own[0], expected, "{new:?}");
    }
}

/// The latencies of PSCI_VERSION that one round shows, and the samples of each CPU.
fn of_one_round(shown: &[u64; 4], samples: &[u64]) -> LoggedRun {
    let mut run = suite();
    run.run.scenarios.retain(|it| it.id == PsciVersionParallel);
    for (row, shown) in run.run.scenarios[0].rows.iter_mut().zip(shown) {
        set_summary(row, Metric::Latency, *shown, samples);
    }
    run
}

#[test]
fn one_round_is_weighed_against_the_noise_of_its_cpus() {
    let samples: Vec<u64> = (0..20).map(|k| 300 + k * 20).collect();
    let shifted = |by: i64| -> Vec<u64> {
        let all = samples.iter().map(|it| it.saturating_add_signed(by));
        all.collect()
    };
    let old = of_one_round(&[500, 501, 502, 503], &samples);
    let rows = [
        // An unlucky last CPU.
        (of_one_round(&[500, 501, 502, 1000], &samples), 0),
        (of_one_round(&[1000, 1001, 1002, 1003], &shifted(500)), 4),
        // The round is slower, and the samples are faster.
        (of_one_round(&[1000, 1001, 1002, 1003], &shifted(-290)), 0),
    ];
    for (new, expected) in &rows {
        let comparison = compared(new, &old, &[]);
        assert_eq!(comparison.regressions().count(), *expected);
        found(
            &comparison,
            Kind::NotTold,
            &["one round of each side", "samples=all"],
        );
    }
    let unlucky = compared(&rows[0].0, &old, &[]);
    let last = unlucky.scenarios[0].by_order.last().expect("four places");
    assert_eq!((last.outcome, last.new.figure), (Noise, 16_000.0));
    assert!(
        last.new.interval.is_some_and(|it| it.1 < 16_000.0),
        "{last:?}"
    );
    let slow = compared(&rows[1].0, &old, &[]);
    let changed = found(&slow, Kind::Changed, &["takes more in 4 of 4 rows"]);
    assert_eq!(changed.finding.confidence, Confidence::Intervals);

    let mut bare = old.clone();
    let rows_of_old = &mut bare.run.scenarios[0].rows;
    rows_of_old
        .iter_mut()
        .for_each(|row| row.statistics.clear());
    let comparison = compared(&rows[1].0, &bare, &[]);
    assert_eq!(comparison.regressions().count(), 4);
    let part = "4 of 4 in test_rt_instr_psci_version_parallel";
    found(&comparison, Kind::NotTold, &["no noise", part]);
}

/// Tables of Powerdown and Cache Flush of CPUs that suspend to the deepest level
/// together.
fn queue(rows: &[(u64, u64)]) -> LoggedRun {
    let rows = (0u64..).zip(rows);
    let rows = rows.map(|(core, (powerdown, flush))| vec![0, core, *powerdown, 20_000, *flush]);
    table(&[(SuspendDeepParallel, rows.collect())])
}

#[test]
fn change_that_a_moved_flush_does_not_explain_is_judged() {
    let old = queue(&[
        (100_000, 5000),
        (240_000, 80_000),
        (455_000, 5000),
        (600_000, 5000),
    ]);
    let with = |powerdown| {
        queue(&[
            (100_000, 5000),
            (240_000, 5000),
            (powerdown, 80_000),
            (600_000, 5000),
        ])
    };
    let third = |comparison: &Comparison| {
        let all = changes(&comparison.scenarios[0].by_order, Metric::Powerdown);
        all[2].clone()
    };
    // The flush makes -75 us of it, and 18 us are left: 4 %.
    let comparison = compared(&with(398_000), &old, &[]);
    let change = third(&comparison);
    assert_eq!(
        (change.outcome, change.by_flushes),
        (Worse, Some(-75_000.0))
    );
    assert_eq!(
        (change.delta(), comparison.regressions().count()),
        (18_000.0, 1)
    );
    found(
        &comparison,
        Kind::Reordered,
        &["make -75.00 us of it, -57.00 us is seen, and +18.00 us is left"],
    );
    found(
        &comparison,
        Kind::Changed,
        &["takes more in 1 of 4 rows, by 18.00 us (+3.96 %) by order of size (place 3)"],
    );

    let moved = compared(&with(382_000), &old, &[]);
    assert_eq!(third(&moved).outcome, Moved);
    let part = "place 3 differs (-16.04 %) as the cache flushes";
    found(&moved, Kind::Reordered, &[part]);
    for comparison in [&comparison, &moved] {
        let all = sentences(comparison, Kind::Reordered).join("\n");
        assert!(!all.contains("another order"), "{all}");
    }
    let strict = Options {
        tolerance_ppm: 1000,
        ..Options::default()
    };
    let strict = &compare(&[with(382_000)], &old, &strict).expect("comparable")[0];
    assert_eq!(third(strict).outcome, Worse);
    // With sound timestamps a last man's own flush is in its Powerdown.
    let old = queue(&[(50_000, 5000), (2_200_000, 2_100_000), (2_250_000, 5000)]);
    let new = queue(&[(50_000, 5000), (100_000, 5000), (2_250_000, 2_100_000)]);
    let own = compared(&new, &old, &[]);
    let order = outcomes(&own.scenarios[0].by_order, Metric::Powerdown);
    assert_eq!(order, [Same, Moved, Same]);
}

fn warm_copy(run: &mut LoggedRun) {
    let mut warm = run.run.scenarios[1].clone();
    warm.method = Method::Warm;
    run.run.scenarios.push(warm);
}

#[test]
fn parts_of_the_baseline_that_are_not_compared_are_named() {
    type Edit = fn(&mut LoggedRun);
    let none: Edit = |_| {};
    let two_cpus: Edit = |run| {
        run.run.cpus.truncate(2);
        for scenario in &mut run.run.scenarios {
            scenario.rows.truncate(2);
        }
    };
    let three: Edit = |run| run.run.scenarios.truncate(3);
    let no_rows: Edit = |run| run.run.scenarios[1].rows.clear();
    let no_powerdown: Edit = |run| run.run.scenarios[1].rows[3].figures.powerdown = None;
    let fewer_points: Edit = |run| drop(run.run.scenarios[0].points.pop());
    let serial = "test_rt_instr_susp_deep_serial, test_rt_instr_cpu_susp_serial, \
                  test_rt_instr_cpu_off_serial.";
    let lost_rows = format!(
        "Not compared: CPU 0.2, 0.3 of the baseline, as the run has no row of it, in {serial}"
    );
    let added_rows = format!(
        "Not compared: CPU 0.2, 0.3 of the run, as the baseline has no row of it, in {serial}"
    );
    let lost_figure = "Not compared: Powerdown of CPU 0.3 of the baseline, as the run does not \
                       have it, in test_rt_instr_susp_deep_serial.";
    // Edits of both sides, then the clauses that lack, the options that pass over
    // them, and the sentences on rows.
    let rows: [(Edit, Edit, &[&str], &[Across], &str); 8] = [
        (none, none, &[], &[], ""),
        (
            three,
            none,
            &["3 scenarios of the baseline"],
            &[Across::Scenarios],
            "",
        ),
        (none, three, &[], &[], ""),
        (
            no_rows,
            none,
            &["1 scenario of the baseline"],
            &[Across::Scenarios],
            "",
        ),
        (
            none,
            warm_copy,
            &["1 scenario of the baseline"],
            &[Across::Scenarios],
            "",
        ),
        (
            two_cpus,
            none,
            &["3 scenarios", "18 figures of 2 CPUs of the baseline"],
            &[Across::Scenarios, Across::Cpus],
            &lost_rows,
        ),
        (
            none,
            two_cpus,
            &["3 scenarios"],
            &[Across::Scenarios],
            &added_rows,
        ),
        (
            no_powerdown,
            none,
            &["1 figure of 1 CPU"],
            &[Across::Cpus],
            lost_figure,
        ),
    ];
    for (edit_new, edit_old, lacks, across, lone) in rows {
        let (mut new, mut old) = (suite(), suite());
        edit_new(&mut new);
        edit_old(&mut old);
        let comparison = compared(&new, &old, &[]);
        let found = comparison.lacks();
        assert_eq!(found.len(), lacks.len(), "{found:?}");
        assert!(
            found.iter().zip(lacks).all(|it| it.0.starts_with(it.1)),
            "{found:?}"
        );
        assert!(compared(&new, &old, across).is_complete(), "{lacks:?}");
        assert_eq!(comparison.lone_rows(&new.run).join("|"), lone);
        assert_eq!(comparison.regressions().count(), 0);
    }
    let refused = |edit: Edit| {
        let mut old = suite();
        edit(&mut old);
        let mut new = suite();
        new.run.scenarios.truncate(6);
        compared(&new, &old, &[]).refused[0].why.clone()
    };
    assert_eq!(
        refused(warm_copy),
        "the run does not have it by this method"
    );
    // Points, which have no rows.
    let new = || {
        let points = (0..4).map(|cpu| point(cpu, Variant::PsciVersion, None, &[5, 6]));
        with_points(ScenarioId::NullCall, points.collect())
    };
    let mut fewer = new();
    fewer_points(&mut fewer);
    let comparison = compared(&fewer, &new(), &[]);
    assert!(comparison.lacks()[0].starts_with("1 point of the baseline"));
    assert!(compared(&fewer, &new(), &[Across::Cpus]).is_complete());
    assert!(compared(&new(), &fewer, &[]).is_complete());
    assert_eq!(compared(&new(), &fewer, &[]).scenarios[0].added_points, 1);
}

#[test]
fn baseline_row_of_another_cpu_is_named() {
    let mut old = suite();
    old.run.cpus.iter_mut().for_each(|cpu| cpu.mpidr = None);
    let options = Options {
        rows_are: ["0.0", "0.1", "0.2", "9.9"]
            .map(|it| it.parse().expect("a label"))
            .to_vec(),
        ..Options::default()
    };
    let comparison = &compare(&[suite()], &old, &options).expect("comparable")[0];
    assert!(!comparison.is_complete());
    let lone = comparison.lone_rows(&suite().run).join("\n");
    for part in [
        "Not compared: CPU 9.9 of the baseline",
        "Compared by order alone: CPU 9.9 of the baseline",
    ] {
        assert!(lone.contains(part), "{lone}");
    }
}

#[test]
fn figure_of_a_line_is_marked_on_either_side() {
    let mut new = suite();
    let row = &mut new.run.scenarios[1].rows[2];
    (row.attempts, row.figures.powerdown) = (None, Some(1));
    let comparison = compared(&new, &suite(), &[]);
    let marked = comparison.scenarios[1].by_cpu.iter();
    let marked: Vec<u16> = marked
        .filter(|it| it.new.is_doubtful)
        .map(|it| it.cpu)
        .collect();
    assert_eq!(marked, [2, 2, 2]);
    let end = "a line without a checksum of CPU 0.2.";
    assert!(
        found(&comparison, Kind::Changed, &[])
            .finding
            .sentence
            .ends_with(end)
    );
    let back = compared(&suite(), &new, &[]);
    found(
        &back,
        Kind::Changed,
        &["a checksum of the baseline's CPU 0.2."],
    );
    // Of a run of such lines alone it is said once.
    new.integrity.records = None;
    let comparison = compared(&new, &suite(), &[]);
    assert!(!sentences(&comparison, Kind::Changed)[0].contains("checksum"));
    found(
        &comparison,
        Kind::NotTold,
        &["Of the run there are figures alone"],
    );
}

#[test]
fn methods_are_named_if_there_are_several() {
    let mut old = suite();
    warm_copy(&mut old);
    let mut new = old.clone();
    for row in &mut new.run.scenarios[6].rows {
        row.figures.powerdown = row.figures.powerdown.map(|it| it * 2);
    }
    let comparison = compared(&new, &old, &[]);
    let name = "Suspend to deepest power level on all cores in sequence, method warm: Powerdown";
    let changed = found(&comparison, Kind::Changed, &[name]);
    let text = basis_text((&new.run, &old.run), &changed.basis);
    assert!(
        text.contains("in test_rt_instr_susp_deep_serial, method warm on both"),
        "{text}"
    );
    let unchanged = sentences(&comparison, Kind::Unchanged);
    assert!(unchanged.iter().all(|it| it.contains(", method ")));
}

#[test]
fn log_is_compared_with_published_tables() {
    let mut old = published("juno/v2.9");
    old.run.cpus.truncate(2);
    for scenario in &mut old.run.scenarios {
        scenario.rows.truncate(2);
    }
    let comparison = compared(&suite(), &old, &[]);
    assert_eq!(comparison.keyed, Keyed::Labels);
    // Two CPUs in a queue are not four.
    assert_eq!(comparison.refused.len(), 3);
    assert_eq!(comparison.scenarios[0].unpaired.0, [2, 3]);
    found(
        &comparison,
        Kind::NotTold,
        &["Of the baseline there are figures alone"],
    );
}

#[test]
fn points_are_compared_per_operation() {
    let loops = |per: u32, samples: &[u64]| {
        let mut points: Vec<_> = (0..2)
            .map(|cpu| point(cpu, Variant::PsciVersion, None, samples))
            .collect();
        points.iter_mut().for_each(|it| it.per = per);
        with_points(ScenarioId::NullCall, points)
    };
    let many = [1000u64, 1001, 1002, 1003, 1004, 1005];
    let slow = many.map(|it| it * 2);
    let comparison = compared(&loops(256, &slow), &loops(256, &many), &[]);
    assert_eq!(comparison.regressions().count(), 2);
    let text = "Calls to the firmware that do nothing: 2 of 2 points take more, by up to +100.00 \
                %: alone.psci_version.ticks.";
    let changed = found(&comparison, Kind::Changed, &[text]);
    assert_eq!(changed.finding.confidence, Confidence::Intervals);
    let change = &comparison.scenarios[0].changes()[0];
    assert_eq!((change.old.figure, change.new.figure), (62.625, 125.25));
    let same = compared(&loops(256, &many), &loops(256, &many), &[]);
    found(&same, Kind::Unchanged, &["2 points unchanged."]);
    // A single sample has no noise.
    let single = compared(&loops(256, &many), &loops(256, &[500]), &[]);
    assert_eq!(single.scenarios[0].changes()[0].outcome, Worse);
    found(
        &single,
        Kind::NotTold,
        &["2 of 2 points were weighed against no noise"],
    );
    let changed = found(&single, Kind::Changed, &["take more"]);
    assert_eq!(changed.finding.confidence, Confidence::Figures);
    // A sample of another batch is another question, of one point alone, too.
    let error = compare(
        &[loops(256, &many)],
        &loops(512, &many),
        &Options::default(),
    );
    let error = error.expect_err("another question").to_string();
    let part = "batch= is 256 operations, and 512 operations in the baseline";
    assert!(error.contains(part), "{error}");
    let mut one = loops(256, &many);
    one.run.scenarios[0].points[1].per = 512;
    let comparison = compared(&loops(256, &many), &one, &[]);
    let own = &comparison.scenarios[0];
    assert_eq!((own.added_points, own.lacks.len()), (1, 1));
    found(
        &comparison,
        Kind::NotTold,
        &["1 point of the run and 1 point of the baseline are of"],
    );
}

#[test]
fn points_of_a_queue_are_compared_by_order() {
    let sweep = |medians: &[u64]| {
        let points = (0u16..).zip(medians).map(|(cpu, median)| Point {
            how: How::All,
            measure: Measure::Powerdown,
            ..point(cpu, Variant::Core, Some(4), &[*median; 6])
        });
        with_points(ScenarioId::ContendSweep, points.collect())
    };
    let old = sweep(&[1000, 2000, 3000, 4000]);
    let order = compared(&sweep(&[4000, 1000, 2000, 3000]), &old, &[]);
    let own = &order.scenarios[0];
    assert_eq!(
        (own.judged, own.by_cpu.len(), own.by_order.len()),
        (Judged::Order, 0, 4)
    );
    assert!(own.by_order.iter().all(|it| it.outcome == Same));
    let cpus: Vec<(u16, u16)> = own.by_order.iter().map(|it| (it.cpu, it.old_cpu)).collect();
    assert_eq!(cpus, [(1, 0), (2, 1), (3, 2), (0, 3)]);
    // Three CPUs in the queue are another question.
    let error = compare(&[sweep(&[1000, 2000, 3000])], &old, &Options::default());
    let error = error.expect_err("nothing in common").to_string();
    assert!(error.contains("the two have no point in common"), "{error}");
}

#[test]
fn counts_of_the_firmware_have_no_noise() {
    let states = |measure, median: u64| {
        let point = Point {
            measure,
            ..point(0, Variant::Serial, Some(2), &[median])
        };
        with_points(ScenarioId::IdleStates, vec![point])
    };
    for (measure, new, old, expected) in [
        (Measure::Count, 0, 1, Worse),
        (Measure::Count, 2, 1, Same),
        (Measure::Residency, 900, 100, Same),
    ] {
        let comparison = compared(&states(measure, new), &states(measure, old), &[]);
        assert_eq!(comparison.scenarios[0].changes()[0].outcome, expected);
        assert!(sentences(&comparison, Kind::NotTold).is_empty());
    }
}

#[test]
fn timers_are_compared_by_period_and_footprint() {
    let with = |period, footprint, duration| {
        let points = vec![point(0, Variant::Idle, None, &[5, 6])];
        let mut run = with_points(ScenarioId::TimerLatency, points);
        let timer = &mut run.run.plan.as_mut().expect("a plan").timer;
        (timer.period, timer.footprint, timer.duration) = (period, footprint, duration);
        run
    };
    let new = with(1000, 4096, 1);
    for (old, part) in [
        (with(1000, 4096, 60), ""),
        (
            with(100, 4096, 1),
            "period= is 1000 us, and 100 us in the baseline",
        ),
        (
            with(1000, 8192, 1),
            "footprint= is 4096 bytes, and 8192 bytes in",
        ),
    ] {
        let error = compare(std::slice::from_ref(&new), &old, &Options::default());
        let error = error.err().map_or(String::new(), |it| it.to_string());
        assert!(
            error.contains(part) && error.is_empty() == part.is_empty(),
            "{error}"
        );
    }
}
