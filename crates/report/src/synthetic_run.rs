//! A synthetic run, and the log that the payload would print for it.
//!
//! The run has four CPUs in two clusters. Suspends to the deepest state are measured twice, once
//! with CPU 0 as the helper and once with CPU 2. The run also includes two more suite scenarios and
//! a sweep.

use std::sync::LazyLock;

use hardware::board::{CpuIndex, Mpidr};
use hardware::spec::pmf::Stamp;
use suite::measure::{self, Identity, Instant, Instants, Metric, Summary};
use suite::model::{
    BinCounts, Cell, CellStep, Conditions, Counts, Cpu, End, Run, RunId, Sample, Scenario,
    ScenarioKey, Series, Status, Totals, Verdict, WakeSource,
};
use suite::output::{self, ClosingSummary};
use suite::plan::{Method, Plan, Records, ScenarioId, Variant};
use suite::record::Writer;
use suite::testing::synthetic;

/// The firmware's lines, which come before the payload's.
pub const FIRMWARE: &str = "NOTICE:  BL1: v2.12.1(release):v2.12.1\r\n\
    NOTICE:  BL1: Built : 12:00:01, Jan  2 2026\r\n\
    NOTICE:  BL31: v2.12.1(release):v2.12.1\r\n";

/// The boot of firmware that takes timestamps, which is followed by a run if the payload starts.
pub const BOOT: &str = "PMF:cpu 0\ttid 0\tts 100000\r\n\
    NOTICE:  BL1: v2.15.0(release):v2.15.0\r\n\
    PMF:cpu 0\ttid 6\tts 160000\r\n\
    PMF:cpu 0\ttid 7\tts 280000\r\n\
    PMF:cpu 0\ttid 1\tts 300000\r\n\
    PMF:cpu 0\ttid 2\tts 340000\r\n\
    NOTICE:  BL2: v2.15.0(release):v2.15.0\r\n\
    PMF:cpu 0\ttid 8\tts 400000\r\n\
    PMF:cpu 0\ttid 9\tts 1400000\r\n\
    PMF:cpu 0\ttid 3\tts 1420000\r\n\
    NOTICE:  BL31: v2.15.0(release):v2.15.0\r\n\
    PMF:cpu 0\ttid 4\tts 1500000\r\n\
    PMF:cpu 0\ttid 5\tts 1600000\r\n";

/// A TFTF log without records, as stored by LAVA.
pub const TFTF_LOG: &str = r#"- {"dt": "2026-01-02T10:11:12.345678", "lvl": "info", "msg": "boot"}
- {"dt": "2026-01-02T10:11:13.000001", "lvl": "target", "msg": "NOTICE:  BL31: v2.13.0(release):v2.13.0"}
- {"dt": "2026-01-02T10:11:13.000002", "lvl": "target", "msg": "NOTICE:  BL31: Built : 10:00:00, May 20 2025"}
- {"dt": "2026-01-02T10:11:13.000003", "lvl": "target", "msg": "NOTICE:  Booting trusted firmware test framework"}
- {"dt": "2026-01-02T10:11:13.000004", "lvl": "target", "msg": "NOTICE:  Running at NS-EL2"}
- {"dt": "2026-01-02T10:11:13.000005", "lvl": "target", "msg": "> Executing 'CPU suspend on all cores in sequence'"}
- {"dt": "2026-01-02T10:11:13.000006", "lvl": "target", "msg": "<RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t106120\t17100\t5260/>"}
- {"dt": "2026-01-02T10:11:13.000007", "lvl": "target", "msg": "<RT_INSTR:test_rt_instr_cpu_susp_serial\t1\t0\t294360\t15600\t4560/>"}
- {"dt": "2026-01-02T10:11:13.000008", "lvl": "target", "msg": "  TEST COMPLETE                                                 Passed"}
- {"dt": "2026-01-02T10:11:13.000009", "lvl": "target", "msg": "NOTICE:  Exiting tests."}
"#;

/// Returns the synthetic run, which is based on the `suite` crate's synthetic run, but has different
/// clusters, a different plan and different scenarios.
pub fn run() -> Run {
    let mut run = Run {
        id: RunId::parse("1c291ca3"),
        plan: Some(Plan::parse("iterations=2 warmup=1 samples=all").expect("good words")),
        cpus: (0..4).map(cpu).collect(),
        scenarios: vec![
            suspend(ScenarioId::SUSPEND_DEEP_PARALLEL, Some(0), &[1, 2, 3]),
            suspend(ScenarioId::SUSPEND_DEEP_PARALLEL, Some(2), &[0, 1, 3]),
            suspend(ScenarioId::CPU_SUSPEND_SERIAL, None, &[0, 1, 2, 3]),
            suspend(ScenarioId::PSCI_VERSION_PARALLEL, None, &[0, 1, 2, 3]),
            sweep(),
        ],
        ..synthetic::run_with(4, |facts| {
            facts.service = None;
            facts.own = cortex_a53();
        })
    };
    run.head.as_mut().expect("a head").model = "QEMU virt".into();
    run.end = Some(end(&run));
    run
}

/// Returns the `end` record for the run.
pub fn end(run: &Run) -> End {
    let mut totals = Totals::default();
    for group in groups(run) {
        totals.add(group);
    }
    End {
        records: 0,
        verdict: Verdict::from_totals(&totals),
        totals,
    }
}

/// Groups the scenarios that differ only in their helper.
fn groups(run: &Run) -> impl Iterator<Item = &[Scenario]> {
    run.scenarios
        .chunk_by(|one, other| (one.id, one.method) == (other.id, other.method))
}

/// Returns a CPU. Each cluster has two CPUs.
pub fn cpu(index: u16) -> Cpu {
    let (cluster, core) = (index / 2, index % 2);
    Cpu {
        mpidr: Some(Mpidr::new(u64::from(cluster) << 8 | u64::from(core))),
        cluster,
        core,
        thread: 0,
        identity: Some(cortex_a53()),
    }
}

fn cortex_a53() -> Identity {
    Identity {
        midr: 0x410f_d034,
        frequency: 62_500_000,
        ..Identity::default()
    }
}

/// Returns one of the suite's scenarios.
pub fn suspend(id: ScenarioId, helper: Option<u16>, cpus: &[u16]) -> Scenario {
    let mut scenario = Scenario::new(ScenarioKey {
        id,
        method: Method::Tftf,
        helper: helper.map(CpuIndex::from),
    });
    let is_suspend = id != ScenarioId::PSCI_VERSION_PARALLEL;
    let attempts = if id.is_parallel() { 3 } else { 12 };
    scenario.status = Status::Passed;
    scenario.conditions = Some(Conditions {
        pmf: true,
        power_state: is_suspend.then_some(0x0201_0222),
        wake_source: match helper {
            Some(_) => WakeSource::Helper,
            None => WakeSource::OwnTimers,
        },
        requested_samples: 2,
        attempts,
        trials: 1,
        sleep: 62_500,
        ..Conditions::default()
    });
    let base = 1000 * ((id.index() as u64 + 1) + 10 * u64::from(helper.unwrap_or(0)));
    let is_parallel = id.is_parallel();
    scenario.cells = cpus
        .iter()
        .map(|cpu| cell(*cpu, base, is_suspend, is_parallel))
        .collect();
    scenario
}

/// Returns a cell with two samples. Their figures depend on `base` and the CPU.
fn cell(cpu: u16, base: u64, is_suspend: bool, is_parallel: bool) -> Cell {
    use Metric::{CacheFlush, Call, Latency, Powerdown, Wakeup};
    let powerdown = base + 100 * u64::from(cpu);
    let samples = [0, 8].map(|extra_ticks| instants(base, powerdown + extra_ticks, is_suspend));
    let metrics = if is_suspend {
        &[Powerdown, Wakeup, CacheFlush, Call][..]
    } else {
        &[Latency, Call]
    };
    let series = metrics.iter().map(|metric| {
        let mut figures: Vec<u64> = samples
            .iter()
            .filter_map(|instants| instants.metric(*metric))
            .collect();
        Series {
            cold: Some(2 * figures[0]),
            ..Series::with_summary(*metric, measure::Summary::compute(&mut figures))
        }
    });
    let sample = |(sample_index, instants)| Sample {
        index: sample_index,
        instants,
    };
    let mut cell = Cell {
        counts: Some(Counts {
            valid: 2,
            rejected: vec![],
            first: None,
        }),
        series: series.collect(),
        shown: Some(samples[0]),
        samples: (0..).zip(samples).map(sample).collect(),
        ..Cell::new(cpu.into(), CellStep::default())
    };
    cell.choose_figures(is_parallel);
    cell
}

fn instants(base: u64, powerdown_ticks: u64, is_suspend: bool) -> Instants {
    let mut instants = Instants::new(base);
    let powerdown = powerdown_ticks as i64;
    let mut set = |instant, ticks| instants.set(instant, ticks);
    set(Instant::Before, 2);
    set(Instant::Stamp(Stamp::EnterPsci), 10);
    if is_suspend {
        set(Instant::Stamp(Stamp::EnterCflush), 20);
        set(Instant::Stamp(Stamp::ExitCflush), 20 + powerdown / 2);
        set(Instant::Stamp(Stamp::EnterHwLowPwr), 10 + powerdown);
        set(Instant::Stamp(Stamp::ExitHwLowPwr), 70_000);
    }
    let exit = if is_suspend { 70_050 } else { 10 + powerdown };
    set(Instant::Stamp(Stamp::ExitPsci), exit);
    set(Instant::After, exit + 20);
    instants
}

fn sweep() -> Scenario {
    let mut scenario = suspend(ScenarioId::named("dirty_sweep"), None, &[]);
    let cell = |cpu, value| {
        let step = CellStep {
            value: Some(value),
            ..CellStep::with_variant(Variant::new("deepest"))
        };
        let mut series = Series::with_summary(
            Metric::Powerdown,
            measure::Summary::compute(&mut [value + 500, value + 501]),
        );
        series.histogram = Some(BinCounts {
            first: 40,
            counts: vec![1, 0, 1],
        });
        Cell {
            counts: Some(Counts {
                valid: 2,
                ..Counts::default()
            }),
            power_state: Some(0x0201_0222),
            wake_source: Some(WakeSource::OwnTimers),
            series: vec![series],
            ..Cell::new(cpu, step)
        }
    };
    scenario.cells = [(0, 0), (0, 4096), (1, 0), (1, 4096)]
        .map(|(cpu, value)| cell(cpu.into(), value))
        .into();
    scenario
}

/// Changes the Powerdown or Latency figure in each cell of TFTF's suite, both in its statistics and
/// in the sample shown.
pub fn change_first_figures(run: &mut Run, change: impl Fn(u64) -> u64) {
    for scenario in &mut run.scenarios {
        if scenario.id.is_suite() {
            let is_parallel = scenario.id.is_parallel();
            for cell in &mut scenario.cells {
                change_first_figure(cell, is_parallel, &change);
            }
        }
    }
}

/// Changes one cell's Powerdown or Latency figure.
fn change_first_figure(cell: &mut Cell, is_parallel: bool, change: impl Fn(u64) -> u64) {
    for series in &mut cell.series {
        let end = match series.metric {
            Metric::Powerdown => Stamp::EnterHwLowPwr,
            Metric::Latency => Stamp::ExitPsci,
            Metric::Wakeup
            | Metric::CacheFlush
            | Metric::Call
            | Metric::Wake
            | Metric::TurnOn
            | Metric::TurnOff
            | Metric::Time
            | Metric::Cycles
            | Metric::Entry
            | Metric::Handler
            | Metric::Masked
            | Metric::LastOffset
            | Metric::Gap
            | Metric::Stolen
            | Metric::Loop
            | Metric::Count
            | Metric::Residency => continue,
        };
        let summary = &mut series.summary;
        for figure in [&mut summary.min, &mut summary.median, &mut summary.max] {
            *figure = change(*figure);
        }
        if let Some(shown) = &mut cell.shown
            && let Some(begin) = shown.at(Instant::Stamp(Stamp::EnterPsci))
            && let Some(ticks) = shown.metric(series.metric)
        {
            shown.set(Instant::Stamp(end), begin + change(ticks) as i64);
        }
    }
    cell.choose_figures(is_parallel);
}

/// Adds a scenario with cells for each CPU.
fn add_steps(run: &mut Run, id: ScenarioId, make: impl Fn(u16) -> Vec<Cell>) {
    let mut scenario = Scenario::new(ScenarioKey {
        id,
        method: Method::Warm,
        helper: None,
    });
    scenario.status = Status::Passed;
    scenario.conditions = Some(Conditions {
        pmf: true,
        ..Conditions::default()
    });
    scenario.cells = (0..4).flat_map(make).collect();
    run.scenarios.push(scenario);
}

fn step_of(variant: Variant, x: Option<u64>) -> CellStep {
    CellStep {
        value: x,
        ..CellStep::with_variant(variant)
    }
}

fn step_cell(cpu: u16, step: CellStep, series: Vec<Series>) -> Cell {
    Cell {
        counts: Some(Counts {
            valid: 3,
            ..Counts::default()
        }),
        series,
        ..Cell::new(cpu.into(), step)
    }
}

/// Replaces the scenarios with four whose figures are `percent` percent of the usual ones.
pub fn use_steps(run: &mut Run, percent: u64) {
    let series = move |metric, median: u64| {
        let median = median * percent / 100;
        Series::with_summary(metric, Summary::compute(&mut [median, median, median + 1]))
    };
    run.scenarios.clear();
    add_steps(run, ScenarioId::named("null_call"), |cpu| {
        let step = CellStep {
            operations: 1024,
            ..step_of(Variant::new("psci_version"), None)
        };
        vec![step_cell(cpu, step, vec![series(Metric::Time, 214_025)])]
    });
    add_steps(run, ScenarioId::named("contend_sweep"), |cpu| {
        let cell_of_count = |step_value| {
            let ticks = 1000 + 100 * step_value + 700 * u64::from(cpu);
            let own = Series {
                histogram: Some(BinCounts {
                    first: 150,
                    counts: vec![20, 70, 0, 9, 1],
                }),
                ..series(Metric::Powerdown, ticks)
            };
            step_cell(
                cpu,
                step_of(Variant::new("core"), Some(step_value)),
                vec![own],
            )
        };
        [2, 3, 4].map(cell_of_count).into()
    });
    add_steps(run, ScenarioId::named("idle_states"), |cpu| {
        let cell_of_state = |state: u32, source, [powerdown, wakeup]: [u64; 2]| {
            let ticks = [(Metric::Powerdown, powerdown), (Metric::Wakeup, wakeup)];
            let own = ticks.map(|(metric, ticks)| series(metric, ticks + u64::from(cpu)));
            Cell {
                power_state: Some(state),
                wake_source: Some(source),
                ..step_cell(
                    cpu,
                    step_of(Variant::new("idle"), Some(state.into())),
                    own.into(),
                )
            }
        };
        vec![
            cell_of_state(0x0001_0002, WakeSource::OwnTimers, [5000, 700]),
            cell_of_state(0x0101_0022, WakeSource::Frame, [15_000, 3000]),
        ]
    });
    add_steps(run, ScenarioId::named("timer_latency"), |cpu| {
        let own = series(Metric::Handler, 2000);
        vec![step_cell(
            cpu,
            step_of(Variant::new("idle"), None),
            vec![own],
        )]
    });
}

/// Reduces the synthetic run to a sweep and two placements of a helper, without samples.
pub fn shorten(run: &mut Run) {
    run.scenarios.drain(2..4);
    let cells = run
        .scenarios
        .iter_mut()
        .flat_map(|scenario| &mut scenario.cells);
    cells.for_each(|cell| cell.samples = Default::default());
}

/// Returns the log of the synthetic run, which passed.
pub fn passed_log() -> &'static str {
    static LOG: LazyLock<String> = LazyLock::new(|| edited_log(|_| ()));
    &LOG
}

/// Returns the log of the synthetic run after applying `edit`.
pub fn edited_log(edit: impl FnOnce(&mut Run)) -> String {
    let mut run = run();
    edit(&mut run);
    run.end = Some(end(&run));
    log(&run, Records::Once)
}

/// Returns the log of `run`, with each record repeated as specified by `records`.
pub fn log(run: &Run, records: Records) -> String {
    let mut log = FIRMWARE.to_owned();
    let mut writer = Writer::new(records, run.id.expect("the synthetic run has an ID"));
    let mut summary = ClosingSummary::new(&run.plan.expect("the synthetic run has a plan"));
    output::print_header(&mut log, run).expect("written");
    writer.write_machine(&mut log, run).expect("written");
    for group in groups(run) {
        output::print_scenario_name(&mut log, group[0].id, group[0].method).expect("written");
        output::print_scenario(&mut log, run, group).expect("written");
        writer.write_scenario(&mut log, group).expect("written");
        summary.add(run, group);
    }
    if let Some(end) = run.end {
        summary.totals = end.totals;
        output::print_closing(&mut log, run, &summary, &mut writer).expect("written");
    }
    log.replace("\r\n", "\n").replace('\n', "\r\n")
}
