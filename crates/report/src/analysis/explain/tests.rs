//! Explanations for the tables that TF-A has published for Juno.

use std::collections::HashMap;

use fastrand::Rng;
use hardware::board::CpuIndex;
use itertools::Itertools as _;
use suite::measure::Metric::{self, CacheFlush, Latency, Powerdown, Wakeup};
use suite::model::Cell;
use suite::plan::ScenarioId;

use super::suite_tables::{even_intervals, exceeds};
use crate::analysis::findings::{BasedFinding, explanations};
use crate::analysis::synthetic::published;
use crate::log::LoggedRun;

const SUSPEND_DEEP_PARALLEL: ScenarioId = ScenarioId::SUSPEND_DEEP_PARALLEL;
const SUSPEND_DEEP_SERIAL: ScenarioId = ScenarioId::SUSPEND_DEEP_SERIAL;
const CPU_SUSPEND_PARALLEL: ScenarioId = ScenarioId::CPU_SUSPEND_PARALLEL;
const CPU_SUSPEND_SERIAL: ScenarioId = ScenarioId::CPU_SUSPEND_SERIAL;
const CPU_OFF_SERIAL: ScenarioId = ScenarioId::CPU_OFF_SERIAL;
const PSCI_VERSION_PARALLEL: ScenarioId = ScenarioId::PSCI_VERSION_PARALLEL;

/// The releases that have all the tables.
const RELEASES: [&str; 6] = ["2017-01-31", "v2.9", "v2.10", "v2.12", "v2.13", "v2.15"];

fn release(name: &str) -> LoggedRun {
    published(&format!("juno/{name}"))
}

fn kinds(explanations: &[BasedFinding]) -> Vec<String> {
    explanations
        .iter()
        .map(|explanation| {
            let word = serde_json::to_value(explanation.finding.kind).expect("a word");
            word.as_str().expect("a word").to_owned()
        })
        .collect()
}

fn contains(kinds: &[String], kind: &str) -> bool {
    kinds.iter().any(|listed_kind| listed_kind == kind)
}

fn sentence(release: &LoggedRun, kind: &str) -> String {
    let explanations = explanations(release);
    let mut kinds = kinds(&explanations).into_iter();
    let index = kinds
        .position(|listed_kind| listed_kind == kind)
        .expect(kind);
    explanations[index].finding.sentence.clone()
}

/// The page from 2017 contains its own explanation of these tables.
#[test]
fn tables_of_2017_are_explained_as_on_their_page() {
    let logged = release("2017-01-31");
    let text = explanations(&logged)
        .iter()
        .map(|explanation| explanation.finding.sentence.as_str())
        .join("\n");
    expect_test::expect![[r#"
        In deep parallel, CPUs queue for PSCI's locks: entries take 20.00 us to 375.00 us, in steps of 85.00 us to 88.00 us. In deep serial, without a queue, they take 21.00 us to 195.00 us.
        At level 0, PSCI's generic code takes no lock, but parallel entries queue: they take 21.00 us to 376.00 us, in steps of 83.00 us to 89.00 us. Serial entries take 17.00 us to 22.00 us, and exits do not queue (13.00 us to 15.00 us). The platform must have a lock, for example around its only channel to a power controller, and holds it until the CPU is off.
        At level 0, parallel exits take no longer than serial ones (13.00 us to 15.00 us compared with 14.00 us to 15.00 us): no CPU waits for a lock on its way up.
        In deep parallel, one CPU in each cluster also flushes the cluster's caches, as the last CPU down must: CPU 0.1 (206.00 us) and 1.3 (94.00 us). The others flush only their own (5.00 us to 6.00 us).
        The caches of cluster 0 (2 MiB) take longer to flush than those of cluster 1 (1 MiB): 206.00 us compared with 94.00 us in deep parallel, 180.00 us compared with 94.00 us in deep serial, 181.00 us compared with 93.00 us in CPU_OFF.
        Cluster 0 stays on in serial scenarios, because the lead, 0.0, stays awake: its other CPUs (CPU 0.1) flush only their own caches, 6.00 us in deep serial, compared with 94.00 us to 180.00 us on the others; 6.00 us in CPU_OFF, compared with 93.00 us to 181.00 us on the others. The lead is inferred: no other CPU fits these tables.
        Level 0 serial is the best case: entries take 17.00 us to 22.00 us, with a flush of only the CPU's own caches (5.00 us to 6.00 us), and no CPU enters faster in any other scenario.
        Exits are shorter if the cluster stays on, because there is less to do at power-on: 14.00 us in level 0 serial, compared with 20.00 us to 22.00 us in deep serial (CPU 0.0, 1.0, 1.1, 1.2, 1.3).
        Exits are longer after CPU_OFF than after a suspend to the same level, because CPU_ON's finisher does more than the suspend finisher: 23.00 us to 28.00 us compared with 17.00 us to 20.00 us in deep serial (CPU 0.1, 1.0, 1.1, 1.2, 1.3).
        Cortex-A57 CPUs are faster than Cortex-A53 CPUs: entry in level 0 serial 17.00 us to 18.00 us compared with 21.00 us to 22.00 us, exit after CPU_OFF 23.00 us compared with 28.00 us, PSCI_VERSION 520 ns to 720 ns compared with 2.94 us to 3.06 us.
        PSCI_VERSION is faster on the lead, 0.0, than on the other CPUs in its cluster: 520 ns compared with 720 ns (CPU 0.1). The tables do not show why. The lead is inferred: no other CPU fits these tables."#]].assert_eq(&text);
}

#[test]
fn later_tables_have_the_explanations_that_they_support() {
    let mut lines = RELEASES[1..].iter().map(|name| {
        let kinds = kinds(&explanations(&release(name)));
        format!("{name}: {}", kinds.join(" "))
    });
    expect_test::expect![[r#"
        v2.9: entry-queue platform-lock uniform-exits last-flush flush-by-size lead-cluster cluster-exit cpu-off-exit cpu-types unlike-twin
        v2.10: entry-queue platform-lock uniform-exits last-flush flush-by-size lead-cluster cluster-exit cpu-off-exit unlike-twin
        v2.12: entry-queue platform-lock uniform-exits last-flush flush-by-size lead-cluster cluster-exit cpu-off-exit cpu-types unlike-twin
        v2.13: entry-queue platform-lock uniform-exits extra-flush flush-by-size lead-cluster cluster-exit unlike-twin
        v2.15: entry-queue platform-lock uniform-exits last-flush flush-by-size lead-cluster cluster-exit cpu-off-exit cpu-types unlike-twin"#]].assert_eq(&lines.join("\n"));
    for name in &RELEASES[1..] {
        let text = sentence(&release(name), "lead-cluster");
        assert!(text.contains("the lead, 1.0,"), "{name}: {text}");
    }
    let text = sentence(&release("v2.13"), "extra-flush");
    expect_test::expect!["CPUs other than the last one down pay for flushing the cluster's caches: in deep parallel, 2 of 2 in cluster 0 and 4 of 4 in cluster 1 do so (76.34 us to 138.88 us), but only one per cluster can be the last; in serial scenarios, CPU 1.1, 1.2, 1.3 do so (76.76 us to 77.12 us), although the lead, 1.0, keeps their cluster on."].assert_eq(&text);
}

/// A helper that stays awake does not take part in any round, and each placement has a different
/// helper.
#[test]
fn parallel_tables_with_helpers_are_not_explained() {
    let mut logged = release("2017-01-31");
    for scenario in &mut logged.run.scenarios {
        scenario.helper = scenario.id.is_parallel().then_some(CpuIndex::from(0));
    }
    let kinds = kinds(&explanations(&logged));
    for kind in [
        "entry-queue",
        "platform-lock",
        "uniform-exits",
        "last-flush",
    ] {
        assert!(!contains(&kinds, kind), "{kind}");
    }
    assert!(contains(&kinds, "lead-cluster"), "{kinds:?}");
}

/// Returns the kinds of explanations for the tables of a release with one figure replaced, in
/// nanoseconds.
fn kinds_with(name: &str, (id, metric, label): (ScenarioId, Metric, &str), ns: u64) -> Vec<String> {
    let logged = release(name);
    let mut figures = raw(&logged);
    let cpu = LABELS
        .iter()
        .position(|listed_label| *listed_label == label);
    figures.get_mut(&(id, metric)).expect("a table")[cpu.expect("a CPU")] = ns;
    kinds(&explanations(&with_figures(&logged, &figures)))
}

/// A figure that fits neither what is known of a CPU's own flush nor what is known of its cluster's
/// is no evidence for either.
#[test]
fn flush_of_unclear_extent_is_not_explained() {
    for (id, label, ns, extra, last, lead) in [
        (SUSPEND_DEEP_PARALLEL, "1.1", 31_000, false, false, true),
        (SUSPEND_DEEP_PARALLEL, "1.1", 60_000, false, false, true),
        (SUSPEND_DEEP_PARALLEL, "1.1", 92_000, true, false, true),
        (SUSPEND_DEEP_PARALLEL, "0.0", 60_000, false, false, true),
        (CPU_OFF_SERIAL, "0.1", 40_000, false, false, false),
        (SUSPEND_DEEP_SERIAL, "1.1", 40_000, false, false, false),
    ] {
        let kinds = kinds_with("2017-01-31", (id, CacheFlush, label), ns);
        for (kind, expected) in [
            ("extra-flush", extra),
            ("last-flush", last),
            ("lead-cluster", lead),
        ] {
            assert_eq!(contains(&kinds, kind), expected, "{kind}: {label} {ns}");
        }
    }
}

#[test]
fn one_contradictory_exit_suppresses_a_comparison_of_exits() {
    for (name, kind, id, label, ns) in [
        ("2017-01-31", "cpu-off-exit", CPU_OFF_SERIAL, "1.0", 19_500),
        ("2017-01-31", "cpu-off-exit", CPU_OFF_SERIAL, "1.0", 20_000),
        ("v2.10", "cpu-off-exit", CPU_OFF_SERIAL, "0.1", 27_200),
        (
            "2017-01-31",
            "uniform-exits",
            CPU_SUSPEND_PARALLEL,
            "1.0",
            17_000,
        ),
        (
            "2017-01-31",
            "platform-lock",
            CPU_SUSPEND_PARALLEL,
            "1.0",
            17_000,
        ),
        (
            "v2.10",
            "uniform-exits",
            CPU_SUSPEND_PARALLEL,
            "0.1",
            19_900,
        ),
        ("v2.13", "cluster-exit", SUSPEND_DEEP_SERIAL, "1.2", 15_000),
    ] {
        assert!(contains(&kinds(&explanations(&release(name))), kind));
        let left = kinds_with(name, (id, Wakeup, label), ns);
        assert!(!contains(&left, kind), "{name} {kind}: {label} {ns}");
    }
    let text = sentence(&release("v2.10"), "uniform-exits");
    assert!(
        text.contains("within the 480 ns by which serial exits"),
        "{text}"
    );
}

/// Gives a figure three samples, two of which differ from it.
fn spread(logged: &mut LoggedRun, (id, metric, cpu): (ScenarioId, Metric, u16), ends: (u64, u64)) {
    let mut scenarios = logged.run.scenarios.iter_mut();
    let scenario = scenarios
        .find(|scenario| scenario.id == id)
        .expect("a scenario");
    let mut cells = scenario.cells.iter_mut();
    let cell = cells
        .find(|cell| cell.cpu == CpuIndex::from(cpu))
        .expect("a cell");
    let mut figures = cell.series.iter_mut();
    let series = figures
        .find(|series| series.metric == metric)
        .expect("a figure");
    let median = series.shown.expect("a figure");
    series.summary.n = 3;
    series.summary.median = median;
    series.summary.min = median.min(ends.0);
    series.summary.max = median.max(ends.1);
}

/// Samples of both sides of a comparison must lie apart.
#[test]
fn sample_that_contradicts_an_explanation_suppresses_it() {
    let whole = release("2017-01-31");
    for (kind, id, metric, ends) in [
        (
            "extra-flush",
            CPU_SUSPEND_SERIAL,
            CacheFlush,
            (5_000, 60_000),
        ),
        (
            "lead-cluster",
            CPU_SUSPEND_SERIAL,
            CacheFlush,
            (5_000, 60_000),
        ),
        (
            "lead-cluster",
            SUSPEND_DEEP_SERIAL,
            CacheFlush,
            (20_000, 94_000),
        ),
        (
            "flush-by-size",
            SUSPEND_DEEP_SERIAL,
            CacheFlush,
            (60_000, 200_000),
        ),
        (
            "cluster-exit",
            SUSPEND_DEEP_SERIAL,
            Wakeup,
            (12_000, 22_000),
        ),
        (
            "cpu-off-exit",
            SUSPEND_DEEP_SERIAL,
            Wakeup,
            (12_000, 30_000),
        ),
        ("cpu-off-exit", CPU_OFF_SERIAL, Wakeup, (12_000, 30_000)),
        ("cpu-types", CPU_OFF_SERIAL, Wakeup, (12_000, 40_000)),
        ("unlike-twin", PSCI_VERSION_PARALLEL, Latency, (100, 9_000)),
        (
            "best-case",
            SUSPEND_DEEP_SERIAL,
            Powerdown,
            (4_000, 300_000),
        ),
    ] {
        let mut logged = whole.clone();
        for cpu in 0..6 {
            spread(&mut logged, (id, metric, cpu), ends);
        }
        let left = kinds(&explanations(&logged));
        assert!(!contains(&left, kind), "{kind}: {id} {metric:?}");
    }
}

/// With samples, parallel exits are compared with the same CPU's.
#[test]
fn exits_that_differ_by_cpu_suppress_uniform_exits() {
    let whole = release("2017-01-31");
    for (most, expected) in [(15_000, true), (15_100, false)] {
        let mut logged = whole.clone();
        for cpu in 0..6 {
            spread(
                &mut logged,
                (CPU_SUSPEND_SERIAL, Wakeup, cpu),
                (14_000, 15_000),
            );
            spread(
                &mut logged,
                (CPU_SUSPEND_PARALLEL, Wakeup, cpu),
                (13_000, most),
            );
        }
        let kinds = kinds(&explanations(&logged));
        assert_eq!(contains(&kinds, "uniform-exits"), expected, "{most}");
    }
}

/// CPUs with the same label cannot be told apart.
#[test]
fn ambiguous_labels_are_not_explained() {
    let mut logged = release("2017-01-31");
    logged.run.cpus[1] = logged.run.cpus[0];
    assert!(explanations(&logged).is_empty());
}

/// N1SDP never flushes a cluster's caches, so its lead and its levels are unknown.
#[test]
fn tables_without_cluster_flushes_are_not_explained() {
    let explained = explanations(&published("n1sdp/v2.9"));
    assert!(explained.is_empty(), "{explained:?}");
}

/// A difference of one tick does not count.
#[test]
fn figures_of_few_ticks_are_alike() {
    assert!(!exceeds(1, 1, 5) && !exceeds(2, 1, 5) && !exceeds(0, 0, 10));
    assert!(exceeds(3, 1, 5) && exceeds(120, 100, 5) && !exceeds(119, 100, 5));
    assert!(exceeds(u64::MAX, 1, 20) && !exceeds(1, u64::MAX, 20));
    // Two similar steps out of three do not count as even, and neither do three steps that cover
    // only a small part of the range.
    assert_eq!(even_intervals([10, 12, 60, 200], 2), None);
    assert_eq!(even_intervals([10, 12, 14, 60], 1), None);
    assert_eq!(even_intervals([10, 20, 30, 40, 400], 1), None);
    assert_eq!(even_intervals([10, 20, 30, 41, 50], 1), Some((9, 11)));
}

/// A run's figures by scenario and metric, for CPUs 0.0, 0.1, and 1.0 to 1.3.
type Raw = HashMap<(ScenarioId, Metric), Vec<u64>>;

const CLUSTERS: [&[usize]; 2] = [&[0, 1], &[2, 3, 4, 5]];

const COLUMNS: [(ScenarioId, &[Metric]); 6] = [
    (SUSPEND_DEEP_PARALLEL, &[Powerdown, Wakeup, CacheFlush]),
    (SUSPEND_DEEP_SERIAL, &[Powerdown, Wakeup, CacheFlush]),
    (CPU_SUSPEND_PARALLEL, &[Powerdown, Wakeup, CacheFlush]),
    (CPU_SUSPEND_SERIAL, &[Powerdown, Wakeup, CacheFlush]),
    (CPU_OFF_SERIAL, &[Powerdown, Wakeup, CacheFlush]),
    (PSCI_VERSION_PARALLEL, &[Latency]),
];

/// The labels, in the column order of [`Raw`].
const LABELS: [&str; 6] = ["0.0", "0.1", "1.0", "1.1", "1.2", "1.3"];

/// Returns the index of a cell's CPU in [`LABELS`].
fn index(logged: &LoggedRun, cell: &Cell) -> usize {
    let label = logged.run.label(cell.cpu).to_string();
    let index = LABELS
        .iter()
        .position(|listed_label| **listed_label == label);
    index.expect("a CPU of Juno")
}

fn raw(logged: &LoggedRun) -> Raw {
    let mut raw = Raw::new();
    for scenario in &logged.run.scenarios {
        for cell in &scenario.cells {
            for metric in [Powerdown, Wakeup, CacheFlush, Latency] {
                if let Some(ticks) = cell.figure(metric) {
                    let column = raw
                        .entry((scenario.id, metric))
                        .or_insert_with(|| vec![0; 6]);
                    column[index(logged, cell)] = ticks;
                }
            }
        }
    }
    raw
}

/// Returns `logged` with its figures replaced.
fn with_figures(logged: &LoggedRun, raw: &Raw) -> LoggedRun {
    let mut changed = logged.clone();
    for scenario in &mut changed.run.scenarios {
        for cell in &mut scenario.cells {
            for ((id, metric), column) in raw {
                if *id == scenario.id {
                    cell.set_figure(*metric, Some(column[index(logged, cell)]));
                }
            }
        }
    }
    changed
}

/// Returns tables, each from a random release, with the rows, the columns or both shuffled.
fn shuffled(random: &mut Rng, releases: &[Raw]) -> Raw {
    let mut shuffled = Raw::new();
    let common = random.usize(..releases.len());
    let is_mixed = random.bool();
    for (id, metrics) in COLUMNS {
        let release = if is_mixed {
            random.usize(..releases.len())
        } else {
            common
        };
        let mut columns: Vec<Vec<u64>> = metrics
            .iter()
            .map(|metric| releases[release][&(id, *metric)].clone())
            .collect();
        if random.u32(..4) == 0 {
            random.shuffle(&mut columns);
        }
        if random.u32(..4) == 0 {
            let mut order: Vec<usize> = (0..6).collect();
            random.shuffle(&mut order);
            for column in &mut columns {
                *column = order.iter().map(|cpu| column[*cpu]).collect();
            }
        }
        for (metric, column) in metrics.iter().zip(columns) {
            shuffled.insert((id, *metric), column);
        }
    }
    shuffled
}

fn figure(raw: &Raw, id: ScenarioId, metric: Metric, cpu: usize) -> u64 {
    raw[&(id, metric)][cpu]
}

fn cluster_of(cpu: usize) -> usize {
    usize::from(cpu > 1)
}

/// Returns true if the CPU's flush takes at least four times as long as the shortest flush in any
/// table for its cluster.
fn flushes_cluster(raw: &Raw, id: ScenarioId, cpu: usize) -> bool {
    let mut least = u64::MAX;
    for ((_, metric), column) in raw {
        if *metric == CacheFlush {
            for other in CLUSTERS[cluster_of(cpu)] {
                least = least.min(column[*other]);
            }
        }
    }
    let flush = figure(raw, id, CacheFlush, cpu);
    flush >= 4 * least && flush >= least + 10_000
}

/// Returns the CPUs that could be the lead in a serial scenario; None if all CPUs flush their
/// clusters.
fn possible_leads(raw: &Raw, id: ScenarioId) -> Option<Vec<usize>> {
    let large: Vec<bool> = (0..6).map(|cpu| flushes_cluster(raw, id, cpu)).collect();
    if large.iter().all(|is_large| *is_large) {
        return None;
    }
    let fits = |lead: &usize| {
        (0..6).all(|cpu| {
            let stays_on = cpu != *lead && cluster_of(cpu) == cluster_of(*lead);
            large[cpu] != stays_on
        })
    };
    Some((0..6).filter(fits).collect())
}

fn lead(raw: &Raw) -> Option<usize> {
    let by_scenario = [SUSPEND_DEEP_SERIAL, CPU_OFF_SERIAL].map(|id| possible_leads(raw, id));
    let known: Vec<&Vec<usize>> = by_scenario.iter().flatten().collect();
    let first = *known.first()?.first()?;
    known
        .iter()
        .all(|leads| **leads == [first])
        .then_some(first)
}

fn exits_are_alike(raw: &Raw) -> bool {
    (0..6).all(|cpu| {
        let [parallel, serial] =
            [CPU_SUSPEND_PARALLEL, CPU_SUSPEND_SERIAL].map(|id| figure(raw, id, Wakeup, cpu));
        4 * parallel < 5 * serial + 8
    })
}

fn queues_at_level_0(raw: &Raw) -> bool {
    let mut entries = raw[&(CPU_SUSPEND_PARALLEL, Powerdown)].clone();
    entries.sort_unstable();
    let steps: Vec<u64> = (1..6)
        .map(|index| entries[index] - entries[index - 1])
        .collect();
    let mut sorted = steps.clone();
    sorted.sort_unstable();
    let median = sorted[2];
    let odd = steps
        .iter()
        .filter(|step| 4 * step.abs_diff(median) > median)
        .count();
    let serial = raw[&(CPU_SUSPEND_SERIAL, Powerdown)]
        .iter()
        .max()
        .expect("CPUs");
    odd <= 1 && entries[5] >= 2 * serial && exits_are_alike(raw)
}

fn larger_caches_take_longer(raw: &Raw) -> bool {
    [SUSPEND_DEEP_PARALLEL, SUSPEND_DEEP_SERIAL, CPU_OFF_SERIAL]
        .iter()
        .all(|id| {
            let longest = CLUSTERS.map(|cpus| {
                let large = cpus.iter().filter(|cpu| flushes_cluster(raw, *id, **cpu));
                large.map(|cpu| figure(raw, *id, CacheFlush, *cpu)).max()
            });
            matches!(longest, [Some(big), Some(little)] if 5 * big >= 6 * little)
        })
}

fn level_0_serial_is_best(raw: &Raw) -> bool {
    let others = [
        SUSPEND_DEEP_PARALLEL,
        SUSPEND_DEEP_SERIAL,
        CPU_SUSPEND_PARALLEL,
        CPU_OFF_SERIAL,
    ];
    let entries = &raw[&(CPU_SUSPEND_SERIAL, Powerdown)];
    let least = entries.iter().min().expect("CPUs");
    let most = entries.iter().max().expect("CPUs");
    let is_least = |cpu: usize| {
        others
            .iter()
            .all(|id| entries[cpu] <= figure(raw, *id, Powerdown, cpu))
    };
    4 * (most - least) <= *most && (0..6).all(is_least)
}

fn one_type_is_quicker(raw: &Raw) -> bool {
    let lead = lead(raw);
    let mut wins = [0, 0];
    for (id, metric) in [
        (CPU_SUSPEND_SERIAL, Powerdown),
        (CPU_OFF_SERIAL, Wakeup),
        (PSCI_VERSION_PARALLEL, Latency),
    ] {
        if id == CPU_OFF_SERIAL && lead.is_none() {
            continue;
        }
        let ends = CLUSTERS.map(|cpus| {
            let is_off = |cpu: &&usize| id != CPU_OFF_SERIAL || Some(**cpu) != lead;
            let figures = cpus
                .iter()
                .filter(is_off)
                .map(|cpu| figure(raw, id, metric, *cpu));
            figures.minmax().into_option().expect("CPUs")
        });
        for winner in [0, 1] {
            if 20 * ends[1 - winner].0 >= 21 * ends[winner].1 {
                wins[winner] += 1;
            }
        }
    }
    wins.iter().max() >= Some(&2) && wins.contains(&0)
}

fn exits_with_the_cluster_are_longer(raw: &Raw) -> bool {
    let down: Vec<usize> = (0..6)
        .filter(|cpu| flushes_cluster(raw, SUSPEND_DEEP_SERIAL, *cpu))
        .collect();
    let is_longer = |cpu: &usize| {
        let shallow = figure(raw, CPU_SUSPEND_SERIAL, Wakeup, *cpu);
        10 * figure(raw, SUSPEND_DEEP_SERIAL, Wakeup, *cpu) >= 10 * shallow + shallow - 9
    };
    !down.is_empty() && down.iter().all(is_longer)
}

fn exits_after_cpu_off_are_longer(raw: &Raw) -> bool {
    let ids = [SUSPEND_DEEP_SERIAL, CPU_OFF_SERIAL];
    let alike = |cpu: &usize| {
        ids.map(|id| flushes_cluster(raw, id, *cpu))
            .iter()
            .all_equal()
    };
    let Some(lead) = lead(raw) else {
        return false;
    };
    let cpus: Vec<usize> = (0..6).filter(|cpu| *cpu != lead && alike(cpu)).collect();
    let exits = |cpu: usize| ids.map(|id| figure(raw, id, Wakeup, cpu) as f64);
    let never_less = cpus.iter().all(|cpu| {
        let [suspend, off] = exits(*cpu);
        off * 1.06 >= suspend
    });
    let more = cpus.iter().filter(|cpu| {
        let [suspend, off] = exits(**cpu);
        off >= suspend * 1.08
    });
    never_less && 2 * more.count() > cpus.len()
}

fn lead_is_unlike_its_twins(raw: &Raw) -> bool {
    let Some(lead) = lead(raw) else {
        return false;
    };
    let latency = |cpu: usize| figure(raw, PSCI_VERSION_PARALLEL, Latency, cpu) as f64;
    let ratios: Vec<f64> = CLUSTERS[cluster_of(lead)]
        .iter()
        .filter(|cpu| **cpu != lead)
        .map(|cpu| latency(*cpu) / latency(lead))
        .collect();
    ratios.iter().all(|ratio| *ratio >= 1.19) || ratios.iter().all(|ratio| *ratio <= 0.84)
}

/// Shuffles the tables a thousand times. The raw figures must support every explanation that
/// remains.
#[test]
fn no_explanation_survives_its_evidence() {
    let runs = RELEASES.map(release);
    let releases: Vec<Raw> = runs.iter().map(raw).collect();
    let mut random = Rng::with_seed(2017);
    let mut counts: HashMap<String, [u32; 2]> = HashMap::new();
    for round in 0..1000 {
        let tables = shuffled(&mut random, &releases);
        let explained = kinds(&explanations(&with_figures(&runs[0], &tables)));
        for (kind, has_evidence) in [
            ("flush-by-size", larger_caches_take_longer(&tables)),
            ("platform-lock", queues_at_level_0(&tables)),
            ("uniform-exits", exits_are_alike(&tables)),
            ("lead-cluster", lead(&tables).is_some()),
            ("best-case", level_0_serial_is_best(&tables)),
            ("cpu-types", one_type_is_quicker(&tables)),
            ("cluster-exit", exits_with_the_cluster_are_longer(&tables)),
            ("cpu-off-exit", exits_after_cpu_off_are_longer(&tables)),
            ("unlike-twin", lead_is_unlike_its_twins(&tables)),
        ] {
            let is_explained = contains(&explained, kind);
            assert!(
                has_evidence || !is_explained,
                "round {round}: {kind}: {tables:?}"
            );
            counts.entry(kind.to_owned()).or_default()[usize::from(is_explained)] += 1;
        }
    }
    // Each rule must have applied in some cases and been suppressed in others.
    for (kind, [silent, spoken]) in counts {
        assert!(silent > 0 && spoken > 0, "{kind}: {silent}, {spoken}");
    }
}

/// A missing or incomplete table is not evidence.
#[test]
fn missing_table_suppresses_what_needs_it() {
    let whole = release("2017-01-31");
    for (id, suppressed) in [
        (
            CPU_SUSPEND_SERIAL,
            "platform-lock uniform-exits best-case cluster-exit",
        ),
        (
            CPU_SUSPEND_PARALLEL,
            "platform-lock uniform-exits best-case",
        ),
        (PSCI_VERSION_PARALLEL, "unlike-twin"),
        (CPU_OFF_SERIAL, "cpu-off-exit best-case"),
        (
            SUSPEND_DEEP_SERIAL,
            "cluster-exit cpu-off-exit entry-queue best-case",
        ),
        (SUSPEND_DEEP_PARALLEL, "entry-queue last-flush best-case"),
    ] {
        let mut without = whole.clone();
        without.run.scenarios.retain(|scenario| scenario.id != id);
        let mut short = whole.clone();
        for scenario in short
            .run
            .scenarios
            .iter_mut()
            .filter(|scenario| scenario.id == id)
        {
            scenario.cells.retain(|cell| cell.cpu != CpuIndex::from(3));
        }
        for logged in [without, short] {
            let left = kinds(&explanations(&logged));
            for kind in suppressed.split(' ') {
                assert!(!contains(&left, kind), "{id}: {kind}");
            }
        }
    }
}
