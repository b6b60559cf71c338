//! Comparisons of published figures and of made-up runs.

use psci_bench::measure::{Metric, Summary};
use psci_bench::model::new::{Confidence, Cpu, How, Kind, Measure, Point, Variant};
use psci_bench::plan::ScenarioId::{
    self, CpuOffSerial, CpuSuspendParallel, CpuSuspendSerial, PsciVersionParallel,
    SuspendDeepParallel,
};
use psci_bench::spec::words::Word;

use super::*;
use crate::report::analysis::basis::{ComparisonFinding, basis_text};
use crate::report::analysis::made_up::{
    cells, edit, edited, point, published, set_summary, suite, table, with_points,
};
use crate::report::log::logged_run::LoggedRun;

use Outcome::{Better, Moved, Noise, Same, Worse};

/// Compares with options by their words.
fn try_compare(new: &LoggedRun, old: &LoggedRun, across: &str) -> anyhow::Result<Comparison> {
    let of_word = |word| Across::ALL.iter().find(|it| it.1 == word);
    let options = Options {
        across: across
            .split(',')
            .filter_map(of_word)
            .map(|it| it.0)
            .collect(),
        ..Options::default()
    };
    Ok(compare(std::slice::from_ref(new), old, &options)?.remove(0))
}

fn compared(new: &LoggedRun, old: &LoggedRun) -> Comparison {
    try_compare(new, old, "").expect("comparable")
}

/// Compares with options for rows of the baseline.
fn with_rows(new: &LoggedRun, old: &LoggedRun, rows: &str) -> anyhow::Result<Comparison> {
    let options = Options {
        rows_are: rows.split(',').map(|it| it.parse().expect(it)).collect(),
        ..Options::default()
    };
    Ok(compare(std::slice::from_ref(new), old, &options)?.remove(0))
}

fn juno(new: &str, old: &str) -> Comparison {
    let [new, old] = [new, old].map(|it| published(&format!("juno/{it}")));
    compared(&new, &old)
}

fn of(comparison: &Comparison, id: ScenarioId) -> &ComparedScenario {
    let mut all = comparison.scenarios.iter();
    all.find(|it| it.key.id == id).expect("both have it")
}

fn of_metric(all: &[Change], metric: Metric) -> Vec<&Change> {
    let all = all.iter();
    all.filter(|it| it.key.metric() == Some(metric)).collect()
}

fn outcomes(all: &[Change], metric: Metric) -> Vec<Outcome> {
    let all = of_metric(all, metric).into_iter();
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

/// A release, its baseline, the kind of a finding, and parts of its sentence; none if
/// there is no such finding.
const PUBLISHED: &str = "
    v2.10|v2.9|reordered|CPU suspend on all cores in parallel|unchanged by order of arrival\
        |6 of 6 places within 0.61 %|-72.51 % (CPU 1.0)|+261.32 % (CPU 1.1)\
        |lock was taken in another order\
        |then 1.1, 1.3, 1.0, 1.2, 0.0, 0.1, now 1.0, 1.3, 1.1, 1.2, 0.1, 0.0
    v2.10|v2.9|reordered|place 4 differs
    v2.9|v2.10|reordered|place 4 differs
    v2.10|v2.9|changed|CPU suspend on all cores in sequence: Wakeup takes more in 6 of 6 rows\
        |by 2.92 us to 4.62 us
    v2.10|v2.9|unchanged|CPU suspend on all cores in sequence: Powerdown
    v2.10|v2.9|not-told|Of the run and the baseline there are figures alone
    v2.13|v2.12|flush-of-cluster|CPUs that are not last man now pay a cluster-size cache flush\
        |2 of 2 in cluster 0 (before: 1) and 4 of 4 in cluster 1 (before: 1)\
        |CPU 1.1, 1.2, 1.3 flushed for 4.38 us to 4.42 us before, and for 76.76 us to 77.12 us now\
        |costs each of them 78.70 us to 79.64 us of Powerdown
    v2.12|v2.13|flush-of-cluster|no longer pay
    v2.10|v2.9|flush-of-cluster
    v2.12|v2.10|flush-of-cluster
    v2.10|v2.10|changed
    v2.10|v2.10|reordered";

#[test]
fn published_releases_have_these_findings() {
    for row in cells(PUBLISHED) {
        let comparison = juno(row[0], row[1]);
        let kind = Kind::from_word(row[2]).expect("a kind");
        match &row[3..] {
            [] => assert!(sentences(&comparison, kind).is_empty(), "{row:?}"),
            parts => drop(found(&comparison, kind, parts)),
        }
    }
}

#[test]
fn findings_rest_on_rows_of_both_sides() {
    let comparison = juno("v2.10", "v2.9");
    let new = published("juno/v2.10").run;
    let parts = ["CPU suspend on all cores", "unchanged by order"];
    let reordered = found(&comparison, Kind::Reordered, &parts);
    assert_eq!(reordered.finding.confidence, Confidence::Figures);
    let text = basis_text((&new, &comparison.baseline.run), &reordered.basis);
    let of = "Powerdown in test_rt_instr_cpu_susp_parallel";
    assert_eq!(
        text,
        format!("{of} on both sides: CPU 1.0, 1.3, 1.1, 1.2, 0.1, 0.0")
    );
    let comparison = juno("v2.13", "v2.12");
    let flush = found(&comparison, Kind::FlushOfCluster, &[]);
    let text = basis_text((&new, &new), &flush.basis);
    let of = "Cache Flush, Powerdown in test_rt_instr_susp_deep_serial";
    assert!(
        text.ends_with(&format!("; {of} on both sides: CPU 1.1, 1.2, 1.3")),
        "{text}"
    );
    let mut many = new.clone();
    many.cpus = (0..12)
        .map(|core| Cpu {
            core,
            ..Cpu::default()
        })
        .collect();
    let mut basis = reordered.basis.clone();
    basis[0].cpus = [(0..12).collect(), vec![0]];
    let text = basis_text((&many, &new), &basis);
    let end = "_parallel: 12 CPUs, 0.0 to 0.11; Powerdown in test_rt_instr_cpu_susp_parallel in \
               the baseline: CPU 0.0";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn queue_is_compared_by_order_and_sequence_by_cpu() {
    let comparison = juno("v2.10", "v2.9");
    assert_eq!(comparison.keyed, Keyed::Labels);
    let parallel = of(&comparison, CpuSuspendParallel);
    assert_eq!(parallel.judged, Judged::Order);
    let order = of_metric(&parallel.by_order, Metric::Powerdown);
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
    let own = compared(&suite(), &suite());
    let has_interval = |it: &Change| it.new.interval.is_some();
    assert!(
        of(&own, CpuSuspendParallel)
            .by_order
            .iter()
            .all(has_interval)
    );
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
    let sorted = compared(&new, &old);
    assert_eq!(sorted.keyed, Keyed::Ambiguous);
    let is_sorted = |it: &ComparedScenario| it.judged == Judged::Order && it.by_cpu.is_empty();
    assert!(sorted.scenarios.len() == 6 && sorted.scenarios.iter().all(is_sorted));
    assert_eq!(sorted.regressions().count(), 0);
    found(&sorted, Kind::NotTold, &["--rows-are"]);

    let mapped = with_rows(&new, &old, "0.0,0.1,1.0,1.1").expect("named");
    assert_eq!(
        (mapped.keyed, mapped.scenarios[1].judged),
        (Keyed::Labels, Judged::Cpu)
    );
    assert_eq!(mapped.regressions().count(), 0);
    let other = with_rows(&new, &old, "1.1,1.0,0.1,0.0").expect("named");
    assert!(other.regressions().count() > 0);
    for (rows, part) in [
        ("0.0", "names 1 CPUs"),
        ("0.0,0.0,1.0,1.1", "twice"),
        ("0x0,0x100,0x200,0x300", "has none"),
        ("7.0,7.1,7.2,7.3", "no CPU in common"),
    ] {
        let error = format!("{:#}", with_rows(&new, &old, rows).expect_err(rows));
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
    let comparison = with_rows(&suite(), &old, "0x3,0x2,0x1,0x0").expect("comparable");
    assert_eq!(comparison.keyed, Keyed::Mpidr);
    let labels = (0..4).map(|cpu| comparison.baseline.run.label(cpu).to_string());
    assert_eq!(labels.collect::<Vec<_>>(), ["0.3", "0.2", "0.1", "0.0"]);
    let first = &comparison.scenarios[0].by_cpu[0];
    assert_eq!((first.cpu, first.old_cpu, first.old.figure), (0, 3, 2220.0));
}

/// Edits of the baseline, the option that passes over them, and the refusal.
const REFUSED: &str = "
    nothing||
    warm|methods|the method is tftf, and warm in the baseline: --across methods
    state|states|power_state is 0x00000002, and 0x00000007 in the baseline: --across states
    pattern|wakes|wake-up pattern is chain, and staggered in the baseline: --across wakes
    source|wakes|the wake-up source is timer, and helper in the baseline: --across wakes
    helper||helper 0.3 in the baseline: no option compares them, as they have 4 rows against 3
    board|boards|of a.log is \"QEMU\", and that of the baseline a.log \"Juno\": --across boards
    caller||the source of the figures is PMF, and the caller in the baseline
    lost row||4 rows against 3: CPUs that go down together wait
    no clock||frequency is known
    no scenarios||nothing of a.log can be compared
    MPIDRs||no CPU in common, by MPIDR";

#[test]
fn another_question_is_refused_unless_an_option_passes_over_it() {
    for row in cells(REFUSED) {
        let [what, across, expected] = row[..] else {
            panic!("{row:?}")
        };
        let refused = |across| match try_compare(&suite(), &edited(what), across) {
            Ok(it) => it.refused.iter().map(|it| it.why.clone()).collect(),
            Err(error) => format!("{error:#}"),
        };
        let text: String = refused("");
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.is_empty(), expected.is_empty(), "{text}");
        assert!(across.is_empty() || refused(across).is_empty(), "{what}");
    }
    // The option does not make the numbers of rows equal.
    let refused = try_compare(&suite(), &edited("helper"), "wakes").expect("the others");
    assert!(refused.refused[0].why.starts_with("4 rows against 3"));
}

#[test]
fn differences_that_are_passed_over_are_named() {
    let mut old = edited("board");
    for what in ["warm", "iterations", "firmware"] {
        edit(&mut old, what);
    }
    let mut new = edited("firmware");
    new.firmware[0].version = Some("v2.2".into());
    let comparison = try_compare(&new, &old, "boards,methods").expect("comparable");
    let expected = [
        "By its own lines, which have no checksum, the firmware is v2.2, and was \
         v2.1.1(release):x.",
        "Besides figures: the board is QEMU, and was Juno; the count of samples asked for is 20, \
         and was 7.",
        "Suspend to deepest power level on all cores in sequence, method tftf: method tftf is \
         compared with warm, as was asked for: a change may be the method's.",
        "Two boards are compared, as was asked for: no change is the firmware's alone.",
    ];
    assert_eq!(sentences(&comparison, Kind::Conditions), expected);
    let first = found(&comparison, Kind::Conditions, &["By its own lines"]);
    assert_eq!(first.finding.confidence, Confidence::Lines);
}

fn shifted(by: i64, of: &[u64]) -> Vec<u64> {
    of.iter().map(|it| it.saturating_add_signed(by)).collect()
}

#[test]
fn change_within_the_noise_of_both_sides_is_none() {
    let with = |samples: &[u64]| {
        let mut run = suite();
        let row = &mut run.run.scenarios[3].rows[0];
        let median = Summary::of(&mut samples.to_vec()).median;
        set_summary(row, Metric::Powerdown, median, samples);
        run
    };
    let quiet = [1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007];
    let wide = [700, 800, 900, 1000, 1100, 1200, 1300, 1400];
    for (new, old, expected) in [
        (shifted(100, &quiet), quiet.to_vec(), Worse),
        (quiet.to_vec(), shifted(100, &quiet), Better),
        (shifted(100, &wide), wide.to_vec(), Noise),
        (shifted(1000, &wide), wide.to_vec(), Worse),
    ] {
        let comparison = compared(&with(&new), &with(&old));
        let own = outcomes(&of(&comparison, CpuSuspendSerial).by_cpu, Metric::Powerdown);
        assert_eq!(own[0], expected, "{new:?}");
    }
}

/// The latencies of PSCI_VERSION that one round shows, and the samples of each CPU.
fn of_one_round(shown: [u64; 4], samples: &[u64]) -> LoggedRun {
    let mut run = suite();
    run.run.scenarios.retain(|it| it.id == PsciVersionParallel);
    for (row, shown) in run.run.scenarios[0].rows.iter_mut().zip(shown) {
        set_summary(row, Metric::Latency, shown, samples);
    }
    run
}

#[test]
fn one_round_is_weighed_against_the_noise_of_its_cpus() {
    let samples: Vec<u64> = (0..20).map(|k| 300 + k * 20).collect();
    let old = of_one_round([500, 501, 502, 503], &samples);
    let unlucky = of_one_round([500, 501, 502, 1000], &samples);
    let slow = of_one_round([1000, 1001, 1002, 1003], &shifted(500, &samples));
    // The round is slower, and the samples are faster.
    let odd = of_one_round([1000, 1001, 1002, 1003], &shifted(-290, &samples));
    for (new, expected) in [(&unlucky, 0), (&slow, 4), (&odd, 0)] {
        let comparison = compared(new, &old);
        assert_eq!(comparison.regressions().count(), expected);
        found(
            &comparison,
            Kind::NotTold,
            &["one round of each side", "samples=all"],
        );
    }
    let unlucky = compared(&unlucky, &old);
    let last = unlucky.scenarios[0].by_order.last().expect("four places");
    assert_eq!((last.outcome, last.new.figure), (Noise, 16_000.0));
    assert!(
        last.new.interval.is_some_and(|it| it.1 < 16_000.0),
        "{last:?}"
    );
    let comparison = compared(&slow, &old);
    let changed = found(&comparison, Kind::Changed, &["takes more in 4 of 4 rows"]);
    assert_eq!(changed.finding.confidence, Confidence::Intervals);

    let mut bare = old.clone();
    let rows = bare.run.scenarios[0].rows.iter_mut();
    rows.for_each(|row| row.statistics.clear());
    let comparison = compared(&slow, &bare);
    assert_eq!(comparison.regressions().count(), 4);
    let part = "4 of 4 in test_rt_instr_psci_version_parallel";
    found(&comparison, Kind::NotTold, &["no noise", part]);
}

/// Tables of Powerdown and Cache Flush, in us, of CPUs that suspend together.
fn queue(rows: &[(u64, u64)]) -> LoggedRun {
    let rows = (0u64..).zip(rows).map(|(core, (powerdown, flush))| {
        vec![0, core, powerdown * 1000, 20_000, flush * 1000]
    });
    table(&[(SuspendDeepParallel, rows.collect())])
}

#[test]
fn change_that_a_moved_flush_does_not_explain_is_judged() {
    let old = queue(&[(100, 5), (240, 80), (455, 5), (600, 5)]);
    let with = |powerdown| queue(&[(100, 5), (240, 5), (powerdown, 80), (600, 5)]);
    let third = |it: &Comparison| {
        let all = of_metric(&it.scenarios[0].by_order, Metric::Powerdown);
        all[2].clone()
    };
    // The flush makes -75 us of it, and 18 us are left: 4 %.
    let judged = compared(&with(398), &old);
    let change = third(&judged);
    assert_eq!(
        (change.outcome, change.by_flushes),
        (Worse, Some(-75_000.0))
    );
    assert_eq!(
        (change.delta(), judged.regressions().count()),
        (18_000.0, 1)
    );
    let part = "make -75.00 us of it, -57.00 us is seen, and +18.00 us is left";
    found(&judged, Kind::Reordered, &[part]);
    let part = "takes more in 1 of 4 rows, by 18.00 us (+3.96 %) by order of size (place 3).";
    found(&judged, Kind::Changed, &[part]);

    let moved = compared(&with(382), &old);
    assert_eq!(third(&moved).outcome, Moved);
    let part = "place 3 differs (-16.04 %) as the cache flushes";
    found(&moved, Kind::Reordered, &[part]);
    for comparison in [&judged, &moved] {
        let all = sentences(comparison, Kind::Reordered).join(" ");
        assert!(!all.contains("another order"), "{all}");
    }
    let strict = Options {
        tolerance_ppm: 1000,
        ..Options::default()
    };
    let strict = &compare(&[with(382)], &old, &strict).expect("comparable")[0];
    assert_eq!(third(strict).outcome, Worse);
    // With sound timestamps a last man's own flush is in its Powerdown.
    let old = queue(&[(50, 5), (2200, 2100), (2250, 5)]);
    let own = compared(&queue(&[(50, 5), (100, 5), (2250, 2100)]), &old);
    let order = outcomes(&own.scenarios[0].by_order, Metric::Powerdown);
    assert_eq!(order, [Same, Moved, Same]);
}

/// Edits of the run and of the baseline, clauses on gaps, the options that pass over
/// them, and the sentence on rows up to its scenarios.
const GAPS: &str = "
    nothing|nothing|||
    three scenarios|nothing|3 scenarios of the baseline|scenarios|
    nothing|three scenarios|||
    no rows|nothing|1 scenario of the baseline|scenarios|
    nothing|warm, too|1 scenario of the baseline|scenarios|
    two CPUs|nothing|3 scenarios; 18 figures of 2 CPUs of the baseline|scenarios,cpus\
        |Not compared: CPU 0.2, 0.3 of the baseline, as the run has no row of it
    nothing|two CPUs|3 scenarios|scenarios\
        |Not compared: CPU 0.2, 0.3 of the run, as the baseline has no row of it
    no powerdown|nothing|1 figure of 1 CPU|cpus\
        |Not compared: Powerdown of CPU 0.3 of the baseline, as the run does not have it";

#[test]
fn parts_of_the_baseline_that_are_not_compared_are_named() {
    for row in cells(GAPS) {
        let [new, old, gaps, across, lone] = row[..] else {
            panic!("{row:?}")
        };
        let (new, old) = (edited(new), edited(old));
        let comparison = compared(&new, &old);
        let lacks = comparison.lacks();
        let gaps: Vec<&str> = gaps.split("; ").filter(|it| !it.is_empty()).collect();
        assert_eq!(lacks.len(), gaps.len(), "{lacks:?}");
        assert!(
            lacks.iter().zip(gaps).all(|it| it.0.starts_with(it.1)),
            "{lacks:?}"
        );
        assert!(
            try_compare(&new, &old, across).is_ok_and(|it| it.is_complete()),
            "{row:?}"
        );
        let text = comparison.lone_rows(&new.run).join("");
        assert!(
            text.starts_with(lone) && text.is_empty() == lone.is_empty(),
            "{text}"
        );
        assert_eq!(comparison.regressions().count(), 0);
    }
    let lone = compared(&edited("two CPUs"), &suite()).lone_rows(&suite().run);
    let tags = "in test_rt_instr_susp_deep_serial, test_rt_instr_cpu_susp_serial, \
                test_rt_instr_cpu_off_serial.";
    assert!(lone[0].ends_with(tags), "{lone:?}");
    for (what, why) in [
        ("three scenarios", "the run does not have it"),
        ("warm, too", "the run does not have it by this method"),
    ] {
        let (new, old) = match what {
            "warm, too" => (suite(), edited(what)),
            _ => (edited(what), suite()),
        };
        assert_eq!(compared(&new, &old).refused[0].why, why);
    }
    // A name that no CPU of the run has.
    let named = with_rows(&suite(), &edited("no MPIDR"), "0.0,0.1,0.2,9.9").expect("comparable");
    let lone = named.lone_rows(&suite().run).join(" ");
    for part in [
        "Not compared: CPU 9.9 of",
        "Compared by order alone: CPU 9.9 of the baseline",
    ] {
        assert!(lone.contains(part) && !named.is_complete(), "{lone}");
    }
}

#[test]
fn figure_of_a_line_is_marked_on_either_side() {
    let mut new = edited("line");
    let comparison = compared(&new, &suite());
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
    let back = compared(&suite(), &new);
    found(
        &back,
        Kind::Changed,
        &["a checksum of the baseline's CPU 0.2."],
    );
    // Of a run of such lines alone it is said once.
    new.integrity.records = None;
    let comparison = compared(&new, &suite());
    assert!(!sentences(&comparison, Kind::Changed)[0].contains("checksum"));
    found(
        &comparison,
        Kind::NotTold,
        &["Of the run there are figures alone"],
    );
}

#[test]
fn methods_are_named_if_there_are_several() {
    let old = edited("warm, too");
    let mut new = old.clone();
    for row in &mut new.run.scenarios[6].rows {
        row.figures.powerdown = row.figures.powerdown.map(|it| it * 2);
    }
    let comparison = compared(&new, &old);
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

/// Loops of two CPUs.
fn loops(per: [u32; 2], samples: &[u64]) -> LoggedRun {
    let point = |(cpu, per)| Point {
        per,
        ..point(cpu, Variant::PsciVersion, None, samples)
    };
    let points = (0..).zip(per).map(point).collect();
    with_points(ScenarioId::NullCall, points)
}

const LOOPS: [u64; 6] = [1000, 1001, 1002, 1003, 1004, 1005];

#[test]
fn points_are_compared_per_operation() {
    let old = loops([256, 256], &LOOPS);
    let slow = compared(&loops([256, 256], &LOOPS.map(|it| it * 2)), &old);
    let text = "Calls to the firmware that do nothing: 2 of 2 points take more, by up to +100.00 \
                %: alone.psci_version.ticks.";
    let changed = found(&slow, Kind::Changed, &[text]);
    assert_eq!(changed.finding.confidence, Confidence::Intervals);
    let change = &slow.scenarios[0].changes()[0];
    assert_eq!((change.old.figure, change.new.figure), (62.625, 125.25));
    assert_eq!(slow.regressions().count(), 2);
    found(
        &compared(&old, &old),
        Kind::Unchanged,
        &["2 points unchanged."],
    );
    let single = compared(&old, &loops([256, 256], &[500]));
    assert_eq!(single.scenarios[0].changes()[0].outcome, Worse);
    found(
        &single,
        Kind::NotTold,
        &["2 of 2 points were weighed against no noise"],
    );
    let changed = found(&single, Kind::Changed, &["take more"]);
    assert_eq!(changed.finding.confidence, Confidence::Figures);
}

#[test]
fn points_of_another_question_are_not_compared() {
    let new = loops([256, 256], &LOOPS);
    let error = try_compare(&new, &loops([512, 512], &LOOPS), "").expect_err("another batch");
    let part = "batch= is 256 operations, and 512 operations in the baseline";
    assert!(error.to_string().contains(part), "{error}");
    // Of one point alone.
    let comparison = compared(&new, &loops([256, 512], &LOOPS));
    let own = &comparison.scenarios[0];
    assert_eq!((own.added_points, own.lacks.len()), (1, 1));
    found(
        &comparison,
        Kind::NotTold,
        &["1 point of the run and 1 point of the baseline are of"],
    );
    assert!(comparison.lacks()[0].starts_with("1 point of the baseline"));
    let with = try_compare(&new, &loops([256, 512], &LOOPS), "cpus").expect("comparable");
    assert!(with.is_complete());

    let timers = |period, footprint, duration| {
        let points = vec![point(0, Variant::Idle, None, &[5, 6])];
        let mut run = with_points(ScenarioId::TimerLatency, points);
        let timer = &mut run.run.plan.as_mut().expect("a plan").timer;
        (timer.period, timer.footprint, timer.duration) = (period, footprint, duration);
        run
    };
    for (old, part) in [
        (timers(1000, 4096, 60), ""),
        (
            timers(100, 4096, 1),
            "period= is 1000 us, and 100 us in the baseline",
        ),
        (
            timers(1000, 8192, 1),
            "footprint= is 4096 bytes, and 8192 bytes in",
        ),
    ] {
        let error = try_compare(&timers(1000, 4096, 1), &old, "").err();
        let error = error.map_or(String::new(), |it| it.to_string());
        assert!(
            error.contains(part) && error.is_empty() == part.is_empty(),
            "{error}"
        );
    }
}

#[test]
fn points_of_a_queue_are_compared_by_order() {
    let sweep = |medians: &[u64]| {
        let point = |(cpu, median): (u16, &u64)| Point {
            how: How::All,
            measure: Measure::Powerdown,
            ..point(cpu, Variant::Core, Some(4), &[*median; 6])
        };
        let points = (0..).zip(medians).map(point).collect();
        with_points(ScenarioId::ContendSweep, points)
    };
    let old = sweep(&[1000, 2000, 3000, 4000]);
    let order = compared(&sweep(&[4000, 1000, 2000, 3000]), &old);
    let own = &order.scenarios[0];
    assert_eq!((own.judged, own.by_cpu.len()), (Judged::Order, 0));
    let all = own
        .by_order
        .iter()
        .map(|it| (it.cpu, it.old_cpu, it.outcome));
    let expected = [(1, 0, Same), (2, 1, Same), (3, 2, Same), (0, 3, Same)];
    assert_eq!(all.collect::<Vec<_>>(), expected);
    // Three CPUs in the queue are another question.
    let error = try_compare(&sweep(&[1000, 2000, 3000]), &old, "").expect_err("no pair");
    assert!(
        error
            .to_string()
            .contains("the two have no point in common"),
        "{error}"
    );
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
        let comparison = compared(&states(measure, new), &states(measure, old));
        assert_eq!(comparison.scenarios[0].changes()[0].outcome, expected);
        assert!(sentences(&comparison, Kind::NotTold).is_empty());
    }
}
