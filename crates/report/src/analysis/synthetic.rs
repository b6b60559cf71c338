//! Runs for tests, either synthetic or from published tables.

use std::path::Path;

use hardware::board::Mpidr;
use hardware::spec::pmf::Stamp;
use suite::measure::{Instant, Instants, Metric, Summary};
use suite::model::{
    Cell, CellStep, Conditions, Counts, Cpu, Sample, Samples, Scenario, ScenarioKey, Series, Status,
};
use suite::plan::{Method, ScenarioId, Variant};

use crate::log::{LoggedRun, Records, tables};
use crate::synthetic_run;

/// Returns a run with records and `cpus` CPUs in one cluster, without scenarios. A tick is 16 ns.
pub fn without_scenarios(cpus: u16) -> LoggedRun {
    let cpu = |core: u16| Cpu {
        mpidr: Some(Mpidr::new(core.into())),
        core,
        ..Cpu::default()
    };
    let mut made = LoggedRun {
        run: synthetic_run::run(),
        ..LoggedRun::default()
    };
    made.run.cpus = (0..cpus).map(cpu).collect();
    made.run.scenarios.clear();
    made.run.end = None;
    (made.source.input, made.source.run_number) = ("a.log".into(), 1);
    let records = made.integrity.records.insert(Records::default());
    records.expected = Some(0);
    made
}

/// Returns a scenario measured with the TFTF method, including its record.
pub fn scenario(id: ScenarioId, cells: Vec<Cell>) -> Scenario {
    let is_deepest = matches!(
        id,
        ScenarioId::SUSPEND_DEEP_PARALLEL | ScenarioId::SUSPEND_DEEP_SERIAL
    );
    let is_suspend = id != ScenarioId::PSCI_VERSION_PARALLEL && id.is_suite();
    let method = Method::Tftf;
    let helper = None;
    let mut scenario = Scenario::new(ScenarioKey { id, method, helper });
    scenario.status = Status::Passed;
    scenario.cells = cells;
    scenario.conditions = Some(Conditions {
        pmf: true,
        power_state: is_suspend.then_some(1 + u32::from(is_deepest)),
        requested_samples: 2,
        ..Conditions::default()
    });
    scenario
}

/// Returns the instants of a suspend with these figures: Powerdown, Wakeup and Cache Flush.
fn instants(figures: [u64; 3]) -> Instants {
    let [powerdown, wakeup, flush] = figures.map(|ticks| ticks as i64);
    let mut instants = Instants::new(1000);
    for (stamp, ticks) in [
        (Stamp::EnterPsci, 0),
        (Stamp::EnterCflush, 0),
        (Stamp::ExitCflush, flush),
        (Stamp::EnterHwLowPwr, powerdown),
        (Stamp::ExitHwLowPwr, 1 << 40),
        (Stamp::ExitPsci, (1 << 40) + wakeup),
    ] {
        instants.set(Instant::Stamp(stamp), ticks);
    }
    instants
}

/// Returns a cell with suspend samples in ticks: Powerdown, Wakeup and Cache Flush. The cell
/// shows the first sample.
pub fn cell(cpu: u16, samples: &[[u64; 3]]) -> Cell {
    let mut cell = Cell {
        counts: Some(Counts::default()),
        shown: samples.first().map(|figures| instants(*figures)),
        ..Cell::new(cpu.into(), CellStep::default())
    };
    let metrics = [Metric::Powerdown, Metric::Wakeup, Metric::CacheFlush];
    for (index, metric) in metrics.into_iter().enumerate() {
        let figures: Vec<u64> = samples.iter().map(|sample| sample[index]).collect();
        let median = Summary::compute(&mut figures.clone()).median;
        set_summary(&mut cell, metric, median, &figures);
    }
    for (figures, sample_index) in samples.iter().zip(0..) {
        let instants = instants(*figures);
        cell.samples.push(Sample {
            index: sample_index,
            instants,
        });
    }
    cell
}

/// Replaces a metric's samples with statistics and sets the figure shown.
pub fn set_summary(cell: &mut Cell, metric: Metric, shown: u64, samples: &[u64]) {
    cell.samples = Samples::default();
    cell.series.retain(|series| series.metric != metric);
    let summary = Summary::compute(&mut samples.to_vec());
    cell.series.push(Series {
        shown: Some(shown),
        ..Series::with_summary(metric, summary)
    });
    cell.series.sort_by_key(|series| series.metric);
    if let Some(counts) = &mut cell.counts {
        counts.valid = samples.len() as u32;
    }
}

/// Returns a complete suite run on four CPUs, with two samples for each figure.
pub fn suite() -> LoggedRun {
    let mut made = without_scenarios(4);
    for (number, id) in (1u64..).zip(ScenarioId::SUITE) {
        let cells = (0..4u16).map(|cpu| {
            let base = 1000 * number + 3000 * u64::from(cpu);
            if id != ScenarioId::PSCI_VERSION_PARALLEL {
                return cell(cpu, &[[base, 900, 100], [base + 1, 901, 101]]);
            }
            let mut called = cell(cpu, &[]);
            called.series.clear();
            set_summary(&mut called, Metric::Latency, base, &[base, base + 1]);
            called
        });
        made.run.scenarios.push(scenario(id, cells.collect()));
    }
    made
}

/// Returns a step with one operation, run on one CPU at a time.
pub fn step(variant: Variant, value: Option<u64>) -> CellStep {
    CellStep {
        value,
        ..CellStep::with_variant(variant)
    }
}

/// Returns a cell with one metric.
pub fn cell_of(cpu: u16, step: CellStep, metric: Metric, samples: &[u64]) -> Cell {
    Cell {
        counts: Some(Counts {
            valid: samples.len() as u32,
            ..Counts::default()
        }),
        series: vec![Series::with_summary(
            metric,
            Summary::compute(&mut samples.to_vec()),
        )],
        ..Cell::new(cpu.into(), step)
    }
}

/// Returns a run with one scenario, which consists of steps.
pub fn with_steps(id: ScenarioId, cells: Vec<Cell>) -> LoggedRun {
    let mut made = without_scenarios(4);
    made.run.scenarios.push(scenario(id, cells));
    made
}

/// Reads the tables for a release such as `juno/v2.9`.
pub fn published(release: &str) -> LoggedRun {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/published");
    tables::read(&folder.join(release)).expect("tables")
}
