//! Histories of made-up and published releases.

use hardware::board::Mpidr;
use itertools::Itertools as _;
use suite::measure::Metric;
use suite::plan::ScenarioId;

use super::release_names::{board_names, release_names};
use super::{FigureHistory, History, HistoryPoint, HistoryRow, history};
use crate::analysis::compare::{ChangeList, ChangeOutcome, RowPairing};
use crate::analysis::synthetic::{cell, published, scenario, without_scenarios};
use crate::log::{LoggedRun, Stage};

const TOLERANCE_PPM: u32 = 20_000;

/// Returns a release with one scenario. Each row is a CPU and its Powerdown in ticks.
fn release(input: &str, id: ScenarioId, rows: &[(u16, u64)]) -> LoggedRun {
    let cells = rows
        .iter()
        .map(|(cpu, ticks)| cell(*cpu, &[[*ticks, 900, 100]]));
    let mut made = without_scenarios(4);
    input.clone_into(&mut made.source.input);
    made.run.scenarios.push(scenario(id, cells.collect()));
    made
}

fn made(runs: &[LoggedRun]) -> History {
    history(runs, TOLERANCE_PPM).expect("releases of one board")
}

fn figure(history: &History, id: ScenarioId, metric: Metric) -> &FigureHistory {
    let mut scenarios = history.scenarios.iter();
    let scenario = scenarios.find(|scenario| scenario.key.id == id);
    let mut figures = scenario.expect("a scenario").figures.iter();
    figures
        .find(|figure| figure.key.metric == metric)
        .expect("a figure")
}

fn powerdown(history: &History) -> &[HistoryRow] {
    let id = history.scenarios[0].key.id;
    &figure(history, id, Metric::Powerdown).rows
}

/// Returns a row's figures in ns, with None for a gap.
fn figures(row: &HistoryRow) -> Vec<Option<f64>> {
    let figure = |point: &HistoryPoint| point.value.figure;
    row.points
        .iter()
        .map(|point| point.as_ref().map(figure))
        .collect()
}

/// Returns, for each significant change in a row, the two releases and their figures.
fn significant_changes(row: &HistoryRow) -> Vec<([usize; 2], [f64; 2])> {
    row.significant_changes()
        .map(|change| (change.releases, [change.old.figure, change.new.figure]))
        .collect()
}

#[test]
fn change_after_a_gap_is_since_the_release_before_it() {
    let id = ScenarioId::CPU_SUSPEND_SERIAL;
    let history = made(&[
        release("v1.0.log", id, &[(0, 1000), (1, 1000)]),
        release("v1.1.log", id, &[(1, 1010)]),
        release("v1.2.log", id, &[(0, 2000), (1, 1020)]),
    ]);
    assert_eq!(history.releases, ["v1.0", "v1.1", "v1.2"]);
    assert_eq!(history.scenarios[0].judged_by, ChangeList::Cpu);
    let rows = powerdown(&history);
    assert_eq!(figures(&rows[0]), [Some(16e3), None, Some(32e3)]);
    assert_eq!(significant_changes(&rows[0]), [([0, 2], [16e3, 32e3])]);
    let change = rows[0].significant_changes().next().expect("a change");
    assert_eq!(change.outcome, ChangeOutcome::Worse);
    assert_eq!((change.percent(), change.ratio()), (Some(100.0), 2.0));
    // Two changes of 1 % are not significant, although together they exceed the tolerance.
    assert_eq!(significant_changes(&rows[1]), []);
}

#[test]
fn scenario_that_a_release_lacks_is_a_gap() {
    let serial = ScenarioId::CPU_SUSPEND_SERIAL;
    let parallel = ScenarioId::CPU_SUSPEND_PARALLEL;
    let mut first = release("v1.0.log", serial, &[(0, 1000)]);
    let second = release("v1.1.log", serial, &[(0, 1000)]);
    let other = release("", parallel, &[(0, 1000)]);
    first.run.scenarios.extend(other.run.scenarios);
    let history = made(&[first, second]);
    let row = &figure(&history, parallel, Metric::Powerdown).rows[0];
    assert_eq!(figures(row), [Some(16e3), None]);
    assert!(
        history
            .scenarios
            .iter()
            .all(|scenario| scenario.notes.is_empty())
    );
}

#[test]
fn queue_in_another_order_is_unchanged() {
    let id = ScenarioId::CPU_SUSPEND_PARALLEL;
    let history = made(&[
        release("v1.0.log", id, &[(0, 1000), (1, 3000)]),
        release("v1.1.log", id, &[(0, 3000), (1, 1000)]),
    ]);
    assert_eq!(history.scenarios[0].judged_by, ChangeList::Order);
    let rows = powerdown(&history);
    assert_eq!(rows.len(), 2);
    for (rank, row) in rows.iter().enumerate() {
        assert_eq!((row.rank, significant_changes(row)), (Some(rank), vec![]));
    }
}

#[test]
fn releases_that_are_not_comparable_have_a_note_and_no_change() {
    let id = ScenarioId::CPU_SUSPEND_PARALLEL;
    let mut other = release("v1.1.log", id, &[(0, 2000), (1, 6000)]);
    let conditions = other.run.scenarios[0].conditions.as_mut();
    conditions.expect("conditions").power_state = Some(7);
    let third = release("v1.2.log", id, &[(0, 9000)]);
    let history = made(&[
        release("v1.0.log", id, &[(0, 1000), (1, 3000)]),
        other,
        third,
    ]);
    assert!(
        powerdown(&history)
            .iter()
            .all(|row| significant_changes(row).is_empty())
    );
    assert_eq!(
        history.scenarios[0].notes,
        [
            "v1.0 and v1.1 are not compared: power_state changed from 0x00000001 to 0x00000007.",
            "v1.1 and v1.2 are not compared: power_state changed from 0x00000007 to 0x00000001.",
        ]
    );
    let fewer = made(&[
        release("v1.0.log", id, &[(0, 1000), (1, 3000)]),
        release("v1.1.log", id, &[(0, 9000)]),
    ]);
    let rows = powerdown(&fewer);
    assert!(rows.iter().all(|row| significant_changes(row).is_empty()));
    assert_eq!(figures(&rows[1]), [Some(48e3), None]);
    let note = "they have 2 and 1 figures, but comparing by rank requires the same number.";
    assert!(fewer.scenarios[0].notes[0].ends_with(note));
}

/// Returns releases with these inputs, firmware versions and titles. An empty string means that the
/// release has no firmware version or no title.
fn named(releases: &[(&str, &str, &str)]) -> Vec<LoggedRun> {
    let to_value = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let runs = releases.iter().map(|(input, firmware, title)| {
        let mut logged = release(input, ScenarioId::CPU_SUSPEND_SERIAL, &[(0, 1000)]);
        logged.header.release = to_value(title);
        logged.firmware = vec![Stage {
            name: "BL31".to_owned(),
            version: to_value(firmware),
            built: None,
        }];
        logged
    });
    runs.collect()
}

#[test]
fn release_is_named_by_its_input_or_else_by_its_path() {
    let page = "perf/psci-performance-juno.rst";
    let pages = ["a", "b"].map(|folder| format!("/tf-a/{folder}/{page}"));
    for (all, expected) in [
        (vec![("a/x.log", "", ""), ("b/x.log", "", "")], "a b"),
        (vec![("old.log", "", ""), ("new.log", "", "")], "old new"),
        (vec![(&pages[0], "", ""), (&pages[1], "", "")], "a b"),
        (vec![(&pages[0], "", "v2.9"), (&pages[1], "", "")], "v2.9 b"),
        (
            vec![("juno/2017-01-31", "", ""), ("juno/v2.9", "", "")],
            "2017-01-31 v2.9",
        ),
        (
            vec![("v1.0/juno-v2.9.log", "", ""), ("v1.0/v2.14.0", "", "")],
            "v2.9 v2.14.0",
        ),
        (
            vec![
                ("a.log", "v2.12.0(release):v2.12.0", ""),
                ("b.log", "v2.12.0(debug):v2.12.0-7-g1a2b3c4", ""),
            ],
            "v2.12.0 v2.12.0-7-g1a2b3c4",
        ),
    ] {
        let names = release_names(&named(&all)).expect("names");
        assert_eq!(names.join(" "), expected);
    }
}

#[test]
fn names_that_are_alike_or_out_of_order_are_refused() {
    for (all, expected) in [
        (
            vec![("a.log", "", "")],
            "a.log: a history needs at least two releases",
        ),
        (
            vec![("v2.12.log", "", ""), ("v2.10.log", "", "")],
            "v2.10 (v2.10.log) is older than v2.12 (v2.12.log): specify the oldest release first",
        ),
        (
            vec![("v2.12.log", "", ""), ("b", "", ""), ("c", "", "v2.9")],
            "v2.9 (c) is older than v2.12 (v2.12.log)",
        ),
        (
            vec![("a.rst", "", "v2.12"), ("b.log", "v2.12.0(release):x", "")],
            "v2.12 (a.rst) and v2.12.0 (b.log) are the same release: specify each release once",
        ),
        (
            vec![("v2.12/a.rst", "", "v2.12"), ("juno/v2.12", "", "")],
            "v2.12 (v2.12/a.rst) and v2.12 (juno/v2.12) are the same release",
        ),
        (
            vec![("a.log", "", ""), ("./a.log", "", "")],
            "a (a.log) and a (./a.log) are the same release",
        ),
    ] {
        let error = release_names(&named(&all)).expect_err(expected);
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

/// Returns two releases, with the second one edited.
fn second(edit: impl FnOnce(&mut LoggedRun)) -> Vec<LoggedRun> {
    let mut runs = named(&[("a.log", "", ""), ("b.log", "", "")]);
    edit(&mut runs[1]);
    runs
}

#[test]
fn releases_with_nothing_in_common_are_refused() {
    let other = |logged: &mut LoggedRun| {
        logged.run.scenarios = release("", ScenarioId::SUSPEND_DEEP_SERIAL, &[(0, 1)])
            .run
            .scenarios;
    };
    let cpus = |logged: &mut LoggedRun| {
        for cpu in &mut logged.run.cpus {
            (cpu.mpidr, cpu.cluster) = (None, 7);
        }
    };
    for (runs, expected) in [
        (
            second(other),
            "a.log has no scenarios in common with the other runs",
        ),
        (
            second(cpus),
            "a.log has no CPUs in common with the other runs",
        ),
        (
            second(|logged| logged.run.facts.as_mut().expect("facts").frequency = 0),
            "only one of a.log and b.log has a known counter frequency",
        ),
    ] {
        let error = history(&runs, TOLERANCE_PPM).expect_err(expected);
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

/// Returns the run of another board, whose CPUs have other MPIDRs.
fn with_board(mut logged: LoggedRun, board: &str) -> LoggedRun {
    logged.run.head.as_mut().expect("a head").model = board.to_owned();
    for (cpu, mpidr) in logged.run.cpus.iter_mut().zip(0x100..) {
        cpu.mpidr = Some(Mpidr::new(mpidr));
    }
    logged
}

#[test]
fn several_boards_are_side_by_side_without_changes() {
    let id = ScenarioId::CPU_SUSPEND_SERIAL;
    let [first, second] = [1000, 3000].map(|ticks| release("x.log", id, &[(0, ticks), (1, 900)]));
    let history = made(&[first, with_board(second, "Other")]);
    assert!(history.has_several_boards);
    assert_eq!(history.releases, ["QEMU virt", "Other"]);
    let rows = powerdown(&history);
    assert_eq!(figures(&rows[0]), [Some(16e3), Some(48e3)]);
    assert_eq!(rows.len(), 2);
    assert!(history.scenarios[0].notes.is_empty());
    assert_eq!(
        history
            .rows()
            .flat_map(HistoryRow::significant_changes)
            .count(),
        0
    );
}

#[test]
fn board_that_occurs_twice_is_named_with_its_release() {
    let mut runs = named(&[
        ("a.log", "v2.12.0(release):v2.12.0", ""),
        ("b.log", "v2.12.0(release):v2.12.0", ""),
        ("c.log", "v2.9.0(release):v2.9.0", ""),
    ]);
    runs[1] = with_board(runs[1].clone(), "Other");
    let names = board_names(&runs).expect("names");
    assert_eq!(names, ["QEMU virt v2.12.0", "Other", "QEMU virt v2.9.0"]);
    runs[2].firmware = runs[0].firmware.clone();
    let error = board_names(&runs).expect_err("the same release");
    let expected = "a.log and c.log are both from QEMU virt v2.12.0: specify each release";
    assert!(error.to_string().starts_with(expected), "{error}");
}

#[test]
fn flush_of_a_cluster_is_a_change_in_published_tables() {
    let releases = ["v2.9", "v2.10", "v2.12", "v2.13"];
    let runs = releases.map(|release| published(&format!("juno/{release}")));
    let history = made(&runs);
    assert_eq!(
        (history.row_pairing, history.scenarios.len()),
        (RowPairing::Labels, 6)
    );
    assert_eq!(history.releases, releases);
    let rows = &figure(
        &history,
        ScenarioId::SUSPEND_DEEP_SERIAL,
        Metric::CacheFlush,
    )
    .rows;
    let mut labels = rows.iter().map(|row| {
        let cpu = row.points[0].as_ref().expect("no gap").cpu;
        runs[0].run.label(cpu)
    });
    assert_eq!(labels.join(" "), "0.0 0.1 1.0 1.1 1.2 1.3");
    let changes = significant_changes(&rows[3]);
    let expected = ([2, 3], [4420.0, 77_120.0]);
    assert_eq!(changes.last(), Some(&expected), "{changes:?}");
}

#[test]
fn repeated_labels_of_one_release_sort_all() {
    let first = published("n1sdp/v2.9");
    let mut second = first.clone();
    "v2.10".clone_into(&mut second.source.input);
    for cpu in &mut second.run.cpus {
        cpu.core = 0;
    }
    let history = made(&[first, second]);
    assert_eq!(history.row_pairing, RowPairing::Ambiguous);
    let mut scenarios = history.scenarios.iter();
    assert!(scenarios.all(|scenario| scenario.judged_by == ChangeList::Order));
    assert_eq!(
        history
            .rows()
            .flat_map(HistoryRow::significant_changes)
            .count(),
        0
    );
}
