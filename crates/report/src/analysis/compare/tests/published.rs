//! Comparisons of published releases.

use suite::measure::Metric;
use suite::model::FindingKind;
use suite::plan::ScenarioId;

use super::support::{
    compared, found, juno, outcomes, scenario, sentences, try_compare, with_rows,
};
use crate::analysis::compare::ChangeOutcome::{Better, Same, Worse};
use crate::analysis::compare::{CHANGED, ChangeList, ComparedScenario, RowCpu, RowPairing};
use crate::analysis::findings::{FLUSH_OF_CLUSTER, REORDERED, UNCHANGED};
use crate::analysis::synthetic::{published, suite};
use crate::log::LoggedRun;

/// A release, its baseline, the kind of finding, and parts of the finding's text. If the list of
/// parts is empty, that finding must not exist.
const PUBLISHED: &[(&str, &str, FindingKind, &[&str])] = &[
    (
        "v2.10",
        "v2.9",
        REORDERED,
        &[
            "CPU suspend on all cores in parallel",
            "Compared by order of arrival, Powerdown is unchanged",
            "6 of 6 positions within 0.61 %",
            "-72.51 % to +261.32 %",
            "took the lock in a different order",
        ],
    ),
    (
        "v2.10",
        "v2.9",
        CHANGED,
        &[
            "CPU suspend on all cores in sequence: Wakeup takes longer in 6 of 6 rows",
            "by 2.92 us to 4.62 us",
        ],
    ),
    (
        "v2.10",
        "v2.9",
        UNCHANGED,
        &["CPU suspend on all cores in sequence: Powerdown"],
    ),
    (
        "v2.10",
        "v2.9",
        FindingKind::NOT_TOLD,
        &["Only figures are available for the run and the baseline"],
    ),
    (
        "v2.13",
        "v2.12",
        FLUSH_OF_CLUSTER,
        &[
            "CPUs other than the last man now pay for flushing the whole cluster's cache",
            "2 of 2 in cluster 0 (was 1) and 4 of 4 in cluster 1 (was 1)",
        ],
    ),
    ("v2.12", "v2.13", FLUSH_OF_CLUSTER, &["no longer pay"]),
    ("v2.10", "v2.9", FLUSH_OF_CLUSTER, &[]),
    ("v2.12", "v2.10", FLUSH_OF_CLUSTER, &[]),
    ("v2.10", "v2.10", CHANGED, &[]),
    ("v2.10", "v2.10", REORDERED, &[]),
];

#[test]
fn published_releases_have_these_findings() {
    for (new, old, kind, parts) in PUBLISHED {
        let comparison = juno(new, old);
        if parts.is_empty() {
            let sentences = sentences(&comparison, *kind);
            assert!(sentences.is_empty(), "{new} {old}: {sentences:?}");
        } else {
            found(&comparison, *kind, parts);
        }
    }
}

#[test]
fn queue_is_compared_by_order_and_sequence_by_cpu() {
    let comparison = juno("v2.10", "v2.9");
    assert_eq!(comparison.row_pairing, RowPairing::Labels);
    assert_eq!(
        scenario(&comparison, ScenarioId::CPU_SUSPEND_PARALLEL).judged_by,
        ChangeList::Order
    );
    for (new, old, fourth) in [("v2.10", "v2.9", Better), ("v2.9", "v2.10", Worse)] {
        let comparison = juno(new, old);
        let deep = scenario(&comparison, ScenarioId::SUSPEND_DEEP_PARALLEL);
        let order = outcomes(&deep.by_order, Metric::Powerdown);
        assert_eq!(order, [Same, Same, Same, fourth, Same, Same], "{new}");
    }
    for id in [
        ScenarioId::CPU_SUSPEND_SERIAL,
        ScenarioId::CPU_SUSPEND_PARALLEL,
        ScenarioId::CPU_OFF_SERIAL,
    ] {
        let outcomes = outcomes(scenario(&comparison, id).changes(), Metric::Wakeup);
        assert_eq!(outcomes, [Worse; 6], "{id}");
    }
    // If all samples are known, each position has its own interval.
    let with_itself = compared(&suite(), &suite());
    let order = &scenario(&with_itself, ScenarioId::CPU_SUSPEND_PARALLEL).by_order;
    assert!(order.iter().all(|change| change.new.interval.is_some()));
    assert_eq!(
        (with_itself.row_pairing, with_itself.regressions().count()),
        (RowPairing::Mpidr, 0)
    );
}

/// Returns tables from a board whose labels come from the wrong affinity fields.
fn with_equal_labels(mut logged: LoggedRun) -> LoggedRun {
    for cpu in &mut logged.run.cpus {
        cpu.core = 0;
    }
    logged
}

#[test]
fn rows_of_equal_labels_are_sorted_or_named() {
    let new = published("n1sdp/v2.9");
    let old = with_equal_labels(new.clone());
    let sorted = compared(&new, &old);
    assert_eq!(sorted.row_pairing, RowPairing::Ambiguous);
    let is_sorted = |scenario: &ComparedScenario| {
        scenario.judged_by == ChangeList::Order && scenario.by_cpu.is_empty()
    };
    assert!(sorted.scenarios.len() == 6 && sorted.scenarios.iter().all(is_sorted));
    assert_eq!(sorted.regressions().count(), 0);
    found(&sorted, FindingKind::NOT_TOLD, &["--row-cpus"]);

    let mapped = with_rows(&new, &old, "0.0,0.1,1.0,1.1").expect("named");
    assert_eq!(mapped.row_pairing, RowPairing::Labels);
    assert_eq!(mapped.scenarios[1].judged_by, ChangeList::Cpu);
    assert_eq!(mapped.regressions().count(), 0);
    let other = with_rows(&new, &old, "1.1,1.0,0.1,0.0").expect("named");
    assert!(other.regressions().count() > 0);
    for (rows, part) in [
        ("0.0", "lists 1 CPU, but"),
        ("0.0,0.0,1.0,1.1", "twice"),
        ("0x0,0x100,0x200,0x300", "has none"),
        ("7.0,7.1,7.2,7.3", "no CPUs in common"),
    ] {
        let error = format!("{:#}", with_rows(&new, &old, rows).expect_err(rows));
        assert!(error.contains(part), "{error}");
    }
    // If the rows on both sides need CPU names, both sides use the same list.
    for (rows, row_pairing) in [
        ("0.0,0.1,1.0,1.1", RowPairing::Labels),
        ("0x0,0x1,0x2,0x3", RowPairing::Mpidr),
    ] {
        let named = with_rows(&old, &old, rows).expect("named");
        assert_eq!(
            (named.row_pairing, named.scenarios[1].judged_by),
            (row_pairing, ChangeList::Cpu)
        );
        assert!(
            sentences(&named, FindingKind::NOT_TOLD)
                .iter()
                .all(|sentence| !sentence.contains("--row-cpus"))
        );
    }
    let named = with_rows(&old, &new, "0.0,0.1,1.0,1.1").expect("named");
    assert_eq!(
        (named.row_pairing, named.regressions().count()),
        (RowPairing::Labels, 0)
    );
    for text in ["0x", "1", "0x+1", "1.+1"] {
        assert!(text.parse::<RowCpu>().is_err(), "{text}");
    }
}

#[test]
fn rows_named_by_mpidr_have_the_runs_labels() {
    let mut old = with_equal_labels(published("n1sdp/v2.9"));
    old.header.board = Some("qemu".into());
    old.run
        .scenarios
        .retain(|scenario| !scenario.id.is_parallel());
    let comparison = with_rows(&suite(), &old, "0x3,0x2,0x1,0x0").expect("comparable");
    assert_eq!(comparison.row_pairing, RowPairing::Mpidr);
    let labels = (0..4).map(|cpu| comparison.baseline.run.label(cpu.into()).to_string());
    assert_eq!(labels.collect::<Vec<_>>(), ["0.3", "0.2", "0.1", "0.0"]);
    let first = &comparison.scenarios[0].by_cpu[0];
    assert_eq!(
        (first.cpu.index(), first.old_cpu.index(), first.old.figure),
        (0, 3, 2220.0)
    );
}

/// The invented labels of a page that does not say which CPUs are in which cluster are not those of
/// another run.
#[test]
fn page_without_clusters_is_compared_only_with_its_like() {
    let known = published("juno/v2.9");
    let mut unknown = known.clone();
    unknown.header.has_unknown_clusters = true;
    for (new, old) in [(&known, &unknown), (&unknown, &known)] {
        let refusal = try_compare(new, old, "").expect_err("unknown clusters");
        assert!(
            refusal
                .to_string()
                .contains("name the CPUs with --row-cpus"),
            "{refusal}"
        );
    }
    compared(&unknown, &unknown);
    with_rows(&known, &unknown, "0.0,0.1,1.0,1.1,1.2,1.3").expect("named rows");
}
