//! Runs for tests: made up, or of published tables.

use std::path::Path;

use hardware::spec::pmf::Stamp;
use run::measure::{Instant, Instants, Metric, Summary};
use run::model::{
    Attempts, Conditions, Cpu, Figures, Point, Row, Sample, Samples, Scenario, ScenarioKey,
    Statistic, Status, Variant,
};
use run::plan::{Method, ScenarioId};

use crate::log::{LoggedRun, Records, tables};
use crate::made_up_run;

/// Makes a run with records of CPUs in one cluster, without scenarios. A tick is
/// 16 ns.
pub(super) fn run(cpus: u16) -> LoggedRun {
    let cpu = |core: u16| Cpu {
        mpidr: Some(core.into()),
        core,
        ..Cpu::default()
    };
    let run = made_up_run::run();
    let mut made = LoggedRun {
        run,
        ..LoggedRun::default()
    };
    made.run.cpus = (0..cpus).map(cpu).collect();
    made.run.scenarios.clear();
    made.run.end = None;
    (made.source.input, made.source.place) = ("a.log".into(), 1);
    let records = made.integrity.records.insert(Records::default());
    records.expected = Some(0);
    made
}

/// Makes a scenario by TFTF's method, with its record.
pub(super) fn scenario(id: ScenarioId, rows: Vec<Row>) -> Scenario {
    use ScenarioId::{PsciVersionParallel, SuspendDeepParallel, SuspendDeepSerial};
    let is_deepest = matches!(id, SuspendDeepParallel | SuspendDeepSerial);
    let is_suspend = id != PsciVersionParallel && id.is_suite();
    let (method, helper) = (Method::Tftf, None);
    let mut scenario = Scenario::new(ScenarioKey { id, method, helper });
    scenario.status = Status::Passed;
    scenario.rows = rows;
    scenario.conditions = Some(Conditions {
        pmf: true,
        power_state: is_suspend.then_some(1 + u32::from(is_deepest)),
        asked: 2,
        ..Conditions::default()
    });
    scenario
}

/// Makes the instants of a suspend: Powerdown, Wakeup and Cache Flush.
fn instants(figures: [u64; 3]) -> Instants {
    let [powerdown, wakeup, flush] = figures.map(|it| it as i64);
    let mut all = Instants::new(1000);
    for (stamp, ticks) in [
        (Stamp::EnterPsci, 0),
        (Stamp::EnterCflush, 0),
        (Stamp::ExitCflush, flush),
        (Stamp::EnterHwLowPwr, powerdown),
        (Stamp::ExitHwLowPwr, 1 << 40),
        (Stamp::ExitPsci, (1 << 40) + wakeup),
    ] {
        all.set(Instant::Stamp(stamp), ticks);
    }
    all
}

/// Makes a row of the samples of suspends in ticks: Powerdown, Wakeup and Cache
/// Flush. The first sample is shown.
pub(super) fn row(cpu: u16, samples: &[[u64; 3]]) -> Row {
    let mut row = Row {
        cpu,
        attempts: Some(Attempts::default()),
        shown: samples.first().map(|it| instants(*it)),
        ..Row::default()
    };
    let metrics = [Metric::Powerdown, Metric::Wakeup, Metric::CacheFlush];
    for (nth, metric) in metrics.into_iter().enumerate() {
        let figures: Vec<u64> = samples.iter().map(|it| it[nth]).collect();
        let median = Summary::of(&mut figures.clone()).median;
        set_summary(&mut row, metric, median, &figures);
    }
    for (figures, place) in samples.iter().zip(0..) {
        let instants = instants(*figures);
        row.samples.push(Sample { place, instants });
    }
    row
}

/// Replaces the samples of a metric, all of which are only in statistics then, and
/// shows a figure.
pub(super) fn set_summary(row: &mut Row, metric: Metric, shown: u64, samples: &[u64]) {
    row.samples = Samples::default();
    row.statistics.retain(|it| it.metric != metric);
    let (summary, cold) = (Summary::of(&mut samples.to_vec()), None);
    let statistic = Statistic {
        metric,
        summary,
        cold,
    };
    row.statistics.push(statistic);
    if let Some(attempts) = &mut row.attempts {
        attempts.valid = samples.len() as u32;
    }
    match metric {
        Metric::Powerdown | Metric::Latency => row.figures.powerdown = Some(shown),
        Metric::Wakeup => row.figures.wakeup = Some(shown),
        Metric::CacheFlush => row.figures.cache_flush = Some(shown),
        _ => {}
    }
}

/// Makes a whole run of the suite on four CPUs, with two samples of each figure.
pub(super) fn suite() -> LoggedRun {
    let mut made = run(4);
    for (nth, id) in (0u64..).zip(ScenarioId::SUITE) {
        let rows = (0..4u16).map(|cpu| {
            let base = 1000 * (nth + 1) + 3000 * u64::from(cpu);
            if id != ScenarioId::PsciVersionParallel {
                return row(cpu, &[[base, 900, 100], [base + 1, 901, 101]]);
            }
            let mut row = row(cpu, &[]);
            (row.figures, row.statistics) = (Figures::default(), Vec::new());
            set_summary(&mut row, Metric::Latency, base, &[base, base + 1]);
            row
        });
        made.run.scenarios.push(scenario(id, rows.collect()));
    }
    made
}

/// Makes a point of ticks.
pub(super) fn point(cpu: u16, variant: Variant, x: Option<u64>, samples: &[u64]) -> Point {
    let mut point = Point::new(cpu, variant, Metric::Time);
    (point.x, point.figures) = (x, Summary::of(&mut samples.to_vec()));
    point
}

/// Makes a run of one scenario of points.
pub(super) fn with_points(id: ScenarioId, points: Vec<Point>) -> LoggedRun {
    let mut made = run(4);
    made.run.scenarios.push(scenario(id, Vec::new()));
    made.run.scenarios[0].points = points;
    made
}

/// Reads the tables of a release, such as `juno/v2.9`.
pub(super) fn published(release: &str) -> LoggedRun {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/published");
    tables::read(&folder.join(release)).expect("tables")
}
