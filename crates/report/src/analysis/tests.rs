//! Tests findings about synthetic runs.

use suite::findings::WAITED;
use suite::measure::Metric;
use suite::model::{Cell, CellStep, Evidence, Finding, FindingKind};
use suite::plan::{ScenarioId, Variant};

use super::findings::{COLD_CALL, NET, findings};
use super::synthetic::{cell_of, step, suite, with_steps};
use super::value_text::NOT_VERIFIED;
use crate::log::LoggedRun;

/// Returns the findings of one kind about the scenario with this index.
fn findings_of_kind(logged: &LoggedRun, scenario: usize, kind: FindingKind) -> Vec<Finding> {
    findings(logged, &logged.run.scenarios[scenario])
        .into_iter()
        .filter(|finding| finding.kind == kind)
        .collect()
}

#[test]
fn finding_on_lines_is_marked() {
    let mut logged = suite();
    logged.integrity.records = None;
    logged.run.scenarios[0].cells[1].set_figure(Metric::Wakeup, Some(9000));
    let waited = findings_of_kind(&logged, 0, WAITED).remove(0);
    assert!(waited.sentence.ends_with(NOT_VERIFIED), "{waited:?}");
}

/// Returns the findings for a sweep. Each step consists of the varied value and the Cache Flush or
/// Powerdown time in ticks.
fn step_findings(id: ScenarioId, steps: &[(u64, u64)]) -> Vec<Finding> {
    let (metric, unit) = if id == ScenarioId::named("dirty_sweep") {
        (Metric::CacheFlush, 1024)
    } else {
        (Metric::Powerdown, 1)
    };
    let cells = steps.iter().map(|(value, ticks)| {
        let step = step(Variant::new("core"), Some(value * unit));
        cell_of(0, step, metric, &[*ticks])
    });
    let logged = with_steps(id, cells.collect());
    findings(&logged, &logged.run.scenarios[0])
}

/// A sweep, its steps (CPU count or size in KiB, and ticks), and the start of its finding.
type Sweep = (ScenarioId, &'static [(u64, u64)], &'static str);

const SWEEPS: &[Sweep] = &[
    (
        ScenarioId::named("contend_sweep"),
        &[(1, 100), (2, 200), (3, 300)],
        "Contention (core): the longest Powerdown grows by 1.60 us with each CPU that goes \
         down at the same time (1.60 us with 1 CPU, 4.80 us with 3 CPUs). Straight line \
         through 3 points: R² 100 %, maximum deviation 0.00 ns.",
    ),
    (
        ScenarioId::named("contend_sweep"),
        &[(1, 300), (2, 200), (3, 100)],
        "No visible contention (core): the longest Powerdown does not",
    ),
    (
        ScenarioId::named("contend_sweep"),
        &[(1, 100), (2, 400), (3, 390), (4, 420)],
        "Contention (core): the longest Powerdown grows by 1.52 us with each CPU that goes \
         down at the same time (1.60 us with 1 CPU, 6.72 us with 4 CPUs). Straight line \
         through 4 points: R² 64 %",
    ),
    (
        ScenarioId::named("dirty_sweep"),
        &[(0, 10), (1, 20), (2, 30), (4, 50)],
        "Dirty lines (core): Cache Flush starts at 160.00 ns and grows by 160.00 ns per dirty \
         KiB up to 4 KiB, the largest amount tried. Straight line through 4 points",
    ),
    (
        ScenarioId::named("dirty_sweep"),
        &[
            (0, 10),
            (1, 20),
            (2, 30),
            (4, 50),
            (8, 50),
            (16, 50),
            (32, 50),
        ],
        "Dirty lines (core): Cache Flush starts at 160.00 ns and grows by 160.00 ns per dirty \
         KiB up to 4 KiB, and is 800.00 ns beyond that: the caches cannot hold more dirty data",
    ),
    (
        ScenarioId::named("dirty_sweep"),
        &[(0, 1000), (1, 1001), (2, 1002)],
        "Dirty lines (core): Cache Flush does not depend on the amount of dirty data: \
         16.00 us to 16.03 us with up to 2 KiB.",
    ),
    (
        ScenarioId::named("dirty_sweep"),
        &[(0, 1000), (1, 500), (2, 1002)],
        "Dirty lines (core): Cache Flush does not scale linearly with the amount of dirty \
         data: 8.00 us to 16.03 us.",
    ),
];

#[test]
fn sweeps_have_a_line_and_its_limits() {
    for (id, steps, expected) in SWEEPS {
        let findings = step_findings(*id, steps);
        let sentence = findings[0].sentence.as_str();
        assert!(findings.len() == 1 && sentence.starts_with(expected));
        assert!(matches!(findings[0].evidence, Evidence::Fit(fit) if !fit.by_stamps));
    }
    assert!(step_findings(ScenarioId::named("contend_sweep"), &[(1, 1), (2, 2)]).is_empty());
}

#[test]
fn operation_is_net_of_its_loop() {
    let batch_cell = |cpu, variant, ticks| {
        let step = CellStep {
            operations: 100,
            ..CellStep::with_variant(variant)
        };
        cell_of(cpu, step, Metric::Time, &[ticks])
    };
    let batches = vec![
        batch_cell(0, Variant::LOOP, 100),
        batch_cell(0, Variant::new("psci_version"), 1100),
        batch_cell(0, Variant::new("smccc_version"), 1300),
        batch_cell(1, Variant::new("psci_version"), 2100),
    ];
    let mut logged = with_steps(ScenarioId::named("null_call"), batches);
    let text = |logged: &LoggedRun| {
        let findings = findings_of_kind(logged, 0, NET).into_iter();
        findings.map(|finding| finding.sentence).collect::<String>()
    };
    let expected = "Net of the loop (16.00 ns), one CPU alone: psci_version 160.00 ns, \
                    smccc_version 192.00 ns; medians over 2 CPUs.";
    assert_eq!(text(&logged), expected);
    // The loop cost comes from another scenario.
    let loop_cell = logged.run.scenarios[0].cells.remove(0);
    assert_eq!(text(&logged), "");
    let empty = with_steps(ScenarioId::named("empty"), vec![loop_cell]);
    logged.run.scenarios.extend(empty.run.scenarios);
    assert_eq!(text(&logged), expected);
    assert!(findings_of_kind(&logged, 1, NET).is_empty());
}

const CORTEX_A57: u64 = 0x411f_d070;

#[test]
fn cold_call_is_compared_with_a_warm_one_by_type_of_cpu() {
    use Metric::{Call, Latency};
    let cells = |rows: [(Variant, Option<u64>, Metric, [u64; 3]); 6]| {
        let cells = rows
            .into_iter()
            .flat_map(|(variant, value, metric, cpu_ticks)| {
                let step = step(variant, value);
                (0..)
                    .zip(cpu_ticks)
                    .map(move |(cpu, ticks)| cell_of(cpu, step, metric, &[ticks]))
            });
        cells.collect::<Vec<Cell>>()
    };
    let mut logged = with_steps(
        ScenarioId::named("cold_call"),
        cells([
            (Variant::new("version_warm"), None, Latency, [10, 10, 20]),
            // The caller's measurement of a call that PMF also measures.
            (Variant::new("version_warm"), None, Call, [15, 15, 25]),
            (Variant::new("version_evicted"), None, Latency, [10, 10, 19]),
            (
                Variant::new("version_woken"),
                Some(2),
                Latency,
                [60, 70, 20],
            ),
            (Variant::new("stamp_warm"), None, Call, [30, 30, 30]),
            (Variant::new("stamp_woken"), Some(2), Call, [40, 40, 40]),
        ]),
    );
    let identity = |midr| suite::measure::Identity {
        midr,
        ..suite::measure::Identity::default()
    };
    for (cpu, midr) in logged.run.cpus.iter_mut().zip([CORTEX_A57, CORTEX_A57, 0]) {
        cpu.identity = Some(identity(midr));
    }
    let sentences: Vec<String> = findings_of_kind(&logged, 0, COLD_CALL)
        .into_iter()
        .map(|finding| finding.sentence)
        .collect();
    let expected = [
        "PSCI_VERSION (Latency) on Cortex-A57 (CPU 0.0, 0.1): 160.00 ns warm; the same without \
         the caller's cache lines; 800.00 ns longer on the first call after a wake-up from \
         0x00000002 (960.00 ns).",
        "PSCI_VERSION (Latency) on CPU 0.2: 320.00 ns warm; 16.00 ns shorter without the \
         caller's cache lines (304.00 ns); the same on the first call after a wake-up from \
         0x00000002.",
        "Reading a PMF timestamp (Call) on Cortex-A57 (CPU 0.0, 0.1): 480.00 ns warm; 160.00 ns longer \
         on the first call after a wake-up from 0x00000002 (640.00 ns).",
        "Reading a PMF timestamp (Call) on CPU 0.2: 480.00 ns warm; 160.00 ns longer on the \
         first call after a wake-up from 0x00000002 (640.00 ns).",
    ];
    assert_eq!(sentences, expected);
}
