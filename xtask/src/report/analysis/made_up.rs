//! Runs for tests: made up, or of published tables.

use std::path::Path;

use psci_bench::measure::{Metric, Summary, Waker};
use psci_bench::model::{
    Attempts, Conditions, Cpu, Figures, How, Instant, Instants, Measure, Point, Row, Run, Sample,
    Scenario, ScenarioKey, Statistic, Status, Variant, WakeSource,
};
use psci_bench::plan::{Method, ScenarioId, WakePattern};
use psci_bench::spec::pmf::Stamp;

use crate::report::log::made_up_run;
use crate::report::log::{Integrity, LoggedRun, Records, Source, Stage};

/// Makes a run with records of CPUs in one cluster, without scenarios. A tick is
/// 16 ns.
pub(super) fn run(cpus: u16) -> LoggedRun {
    let cpu = |core: u16| Cpu {
        mpidr: Some(core.into()),
        core,
        ..Cpu::default()
    };
    LoggedRun {
        run: Run {
            cpus: (0..cpus).map(cpu).collect(),
            scenarios: Vec::new(),
            end: None,
            ..made_up_run::run()
        },
        source: Source {
            input: "a.log".into(),
            place: 1,
            ..Source::default()
        },
        integrity: Integrity {
            records: Some(Records::default()),
            ..Integrity::default()
        },
        ..LoggedRun::default()
    }
}

/// Makes a scenario by TFTF's method, with its record.
pub(super) fn scenario(id: ScenarioId, rows: Vec<Row>) -> Scenario {
    let deepest = [
        ScenarioId::SuspendDeepParallel,
        ScenarioId::SuspendDeepSerial,
    ];
    let is_version = id == ScenarioId::PsciVersionParallel;
    let conditions = Conditions {
        pmf: true,
        power_state: (!is_version && id.is_suite()).then_some(1 + u32::from(deepest.contains(&id))),
        asked: 2,
        ..Conditions::default()
    };
    Scenario {
        status: Status::Passed,
        conditions: Some(conditions),
        rows,
        ..Scenario::new(ScenarioKey {
            id,
            method: Method::Tftf,
            helper: None,
        })
    }
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
    let metrics = [Metric::Powerdown, Metric::Wakeup, Metric::CacheFlush];
    let statistics = (0..3).map(|nth| Statistic {
        metric: metrics[nth],
        summary: Summary::of(&mut samples.iter().map(|it| it[nth]).collect::<Vec<u64>>()),
        cold: None,
    });
    let statistics: Vec<Statistic> = statistics.collect();
    let median = |nth: usize| Some(statistics[nth].summary.median);
    Row {
        cpu,
        figures: Figures {
            powerdown: median(0),
            wakeup: median(1),
            cache_flush: median(2),
        },
        attempts: Some(Attempts {
            valid: samples.len() as u32,
            ..Attempts::default()
        }),
        shown: samples.first().map(|it| instants(*it)),
        samples: (0..)
            .zip(samples)
            .map(|(place, it)| Sample {
                place,
                instants: instants(*it),
            })
            .collect(),
        statistics,
        ..Row::default()
    }
}

/// Replaces the samples of a metric, all of which are only in statistics then, and
/// shows a figure.
pub(super) fn set_summary(row: &mut Row, metric: Metric, shown: u64, samples: &[u64]) {
    row.samples.clear();
    row.statistics.retain(|it| it.metric != metric);
    row.statistics.push(Statistic {
        metric,
        summary: Summary::of(&mut samples.to_vec()),
        cold: None,
    });
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
            if id == ScenarioId::PsciVersionParallel {
                let mut row = row(cpu, &[]);
                row.figures = Figures::default();
                row.statistics.clear();
                set_summary(&mut row, Metric::Latency, base, &[base, base + 1]);
                row
            } else {
                row(cpu, &[[base, 900, 100], [base + 1, 901, 101]])
            }
        });
        let scenario = scenario(id, rows.collect());
        made.run.scenarios.push(scenario);
    }
    made
}

/// Makes a point of one sample size.
pub(super) fn point(cpu: u16, variant: Variant, x: Option<u64>, samples: &[u64]) -> Point {
    Point {
        cpu,
        how: How::Alone,
        variant,
        x,
        measure: Measure::Ticks,
        per: 1,
        figures: Summary::of(&mut samples.to_vec()),
        lost: 0,
        waker: Waker::OwnTimers,
        spread: None,
    }
}

/// Makes a run of one scenario of points.
pub(super) fn with_points(id: ScenarioId, points: Vec<Point>) -> LoggedRun {
    let mut made = run(4);
    made.run.scenarios.push(Scenario {
        points,
        ..scenario(id, Vec::new())
    });
    made
}

/// Changes one thing in a run of the suite.
pub(super) fn edit(run: &mut LoggedRun, what: &str) {
    let (made, lost) = (&mut run.run, "a record");
    let head = made.head.as_mut().expect(lost);
    let facts = made.facts.as_mut().expect(lost);
    let plan = made.plan.as_mut().expect(lost);
    let [first, second, ..] = made.scenarios.as_mut_slice() else {
        panic!("it has scenarios");
    };
    let conditions = first.conditions.as_mut().expect(lost);
    match what {
        "nothing" => {}
        "board" => head.model = "Juno".into(),
        "no head" => made.head = None,
        "clock" => facts.frequency = 1_000_000,
        "no clock" => facts.frequency = 0,
        "no facts" => made.facts = None,
        "level" => facts.exception_level = 1,
        "no plan" => made.plan = None,
        "iterations" => plan.iterations = 7,
        "pattern" => plan.wake = Some(WakePattern::Staggered),
        "firmware" => {
            let version = Some("v2.1.1(release):x".into());
            run.firmware = vec![Stage {
                version,
                ..Stage::default()
            }];
        }
        "MPIDR" => made.cpus[3].mpidr = Some(0x103),
        "MPIDRs" => made.cpus.iter_mut().for_each(|cpu| cpu.mpidr = Some(9)),
        "no MPIDR" => made.cpus.iter_mut().for_each(|cpu| cpu.mpidr = None),
        "state" => conditions.power_state = Some(7),
        "source" => conditions.wake_source = WakeSource::Helper,
        "caller" => conditions.pmf = false,
        "helper" => {
            conditions.wake_source = WakeSource::Helper;
            first.helper = first.rows.pop().map(|row| row.cpu);
        }
        "lost row" => drop(first.rows.pop()),
        "line" => {
            let row = &mut second.rows[2];
            (row.attempts, row.figures.powerdown) = (None, Some(1));
        }
        "no rows" => second.rows.clear(),
        "no powerdown" => second.rows[3].figures.powerdown = None,
        "warm" => second.method = Method::Warm,
        "warm, too" => {
            let mut warm = second.clone();
            warm.method = Method::Warm;
            made.scenarios.push(warm);
        }
        "three scenarios" => made.scenarios.truncate(3),
        "no scenarios" => made.scenarios.clear(),
        "two CPUs" => {
            made.cpus.truncate(2);
            made.scenarios.iter_mut().for_each(|it| it.rows.truncate(2));
        }
        what => panic!("no such edit: {what}"),
    }
}

/// Makes the run of the suite with one thing changed.
pub(super) fn edited(what: &str) -> LoggedRun {
    let mut run = suite();
    edit(&mut run, what);
    run
}

/// Returns the cells of a table in text.
pub(super) fn cells(table: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = table.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| line.split('|').map(str::trim).collect())
}

/// Makes the run of published tables: clusters, cores and figures in nanoseconds,
/// and nothing else.
pub(super) fn table(scenarios: &[(ScenarioId, Vec<Vec<u64>>)]) -> LoggedRun {
    let mut made = LoggedRun::default();
    made.integrity.tables = true;
    made.source.input = "a table".into();
    for (id, lines) in scenarios {
        let cpus = lines.iter().map(|line| Cpu {
            cluster: line[0] as u16,
            core: line[1] as u16,
            ..Cpu::default()
        });
        made.run.cpus = cpus.collect();
        let rows = (0..).zip(lines).map(|(cpu, line)| Row {
            cpu,
            figures: Figures {
                powerdown: line.get(2).copied(),
                wakeup: line.get(3).copied(),
                cache_flush: line.get(4).copied(),
            },
            ..Row::default()
        });
        made.run.scenarios.push(Scenario {
            conditions: None,
            ..scenario(*id, rows.collect())
        });
    }
    made
}

/// Reads the tables of a release, such as `juno/v2.9`.
pub(super) fn published(release: &str) -> LoggedRun {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/published");
    let scenarios = ScenarioId::SUITE.map(|id| {
        let file = folder.join(release).join(format!("{id}.csv"));
        let text = std::fs::read_to_string(file).expect("a table");
        let number = |it: &str| it.parse().expect("a number");
        let lines = text.lines().skip(1);
        let lines = lines.map(|line| line.split(',').map(number).collect());
        (id, lines.collect())
    });
    table(&scenarios)
}
