//! Synthetic, realistic results for tests, with any number of CPUs in clusters of four.

use alloc::vec::Vec;

use hardware::board::{CpuIndex, LabelSource};
use hardware::spec::caches::Caches;
use hardware::spec::pmf::{ReadError, Stamp};
use hardware::spec::psci;
use hardware::spec::smccc::Service;

use super::board::board;
use super::fake::Fake;
use crate::measure::{
    Cause, Detail, Facts, Identity, Instant, Instants, Loss, Machine, Metric, Overheads, Reason,
    Rejection, RoundPhase, Summary,
};
use crate::model::{
    Cell, CellStep, Conditions, Counts, Cpu, Failure, Head, Run, Scenario, ScenarioKey, Series,
    Skip, Status,
};
use crate::plan::{Method, Plan, ScenarioId};
use crate::record::FORMAT;

/// CNTFRQ_EL0 on the QEMU virt machine.
pub const FREQUENCY: u64 = 62_500_000;

/// A Cortex-A53 with 512 KiB of L2; line, ways and sets are register values.
fn cortex_a53() -> Identity {
    let caches = Caches::read(0x0a20_0023, false, &mut |selector| match selector {
        0 => 0x700f_e01a,
        1 => 0x201f_e00a,
        _ => 0x703f_e07a,
    });
    Identity {
        midr: 0x410f_d034,
        caches,
        frequency: FREQUENCY,
        clock_mhz: Some(1400),
        power_kept_on: false,
    }
}

/// Returns the fake machine's facts, but with a service and different CPUs.
fn facts() -> Facts {
    Facts {
        smccc: Some(0x1_0005),
        service: Some(Service {
            uid: [0x108d_905b, 0x47e8_f863, 0xfbc0_2dae, 0xe2f6_4156],
            revision: Some([0, 1]),
        }),
        own: cortex_a53(),
        pmu: false,
        outer_cache: None,
        overheads: Overheads {
            counter: 1,
            empty: 1,
            pmf_read: Some(41),
        },
        ..*Fake::new(1).facts()
    }
}

/// Returns a run without scenarios, on a machine with clusters of four CPUs.
pub fn run(cpus: u16) -> Run {
    let identity = Some(cortex_a53());
    let board = board(cpus.into());
    Run {
        head: Some(Head {
            format: FORMAT,
            version: "0.1.0".into(),
            model: "linux,dummy-virt".into(),
            labels: LabelSource::CpuMap,
            cpus,
        }),
        facts: Some(facts()),
        plan: Some(Plan::default()),
        cpus: board
            .into_iter()
            .map(|cpu| Cpu { identity, ..cpu })
            .collect(),
        ..Run::default()
    }
}

/// Returns a run without scenarios, after applying `edit` to its facts.
pub fn run_with(cpus: u16, edit: impl FnOnce(&mut Facts)) -> Run {
    let mut run = run(cpus);
    edit(run.facts.as_mut().expect("facts"));
    run
}

/// Removes PMF from the firmware in `run`.
pub fn remove_pmf(run: &mut Run) {
    let facts = run.facts.as_mut().expect("facts");
    facts.pmf = Err(ReadError::NotImplemented);
    facts.overheads.pmf_read = None;
}

/// Returns the suite's six scenarios, all passed, for each of the plan's methods.
pub fn all(run: &Run) -> Vec<Scenario> {
    let methods = run.plan.expect("a plan").methods;
    let by_method = |id| methods.iter().map(move |method| made(run, id, method));
    ScenarioId::SUITE.into_iter().flat_map(by_method).collect()
}

/// Returns a scenario that passed.
pub fn good(run: &Run, id: ScenarioId) -> Scenario {
    made(run, id, Method::Tftf)
}

/// Returns a scenario that passed with `method`.
pub fn made(run: &Run, id: ScenarioId, method: Method) -> Scenario {
    let pmf = run.facts.expect("facts").pmf.is_ok();

    let deep = !matches!(
        id,
        ScenarioId::CPU_SUSPEND_PARALLEL | ScenarioId::CPU_SUSPEND_SERIAL
    );
    let state = if deep { 0x0102_0022 } else { 0x0001_0002 };
    let suspends = id != ScenarioId::PSCI_VERSION_PARALLEL;
    let parallel = id.is_parallel();
    let flush_of = |cpu| flush(run, cpu, deep, parallel);
    let flushes: Vec<u64> = (0..run.cpus.len()).map(flush_of).collect();
    let cpus = run.cpu_indices();
    Scenario {
        status: Status::Passed,
        conditions: Some(Conditions {
            pmf,
            power_state: suspends.then_some(state),
            requested_samples: 20,
            attempts: 21,
            trials: 1,
            sleep: if suspends { sleep(run) } else { 0 },
            skew: parallel.then(|| Summary::compute(&mut [20, 21, 19, 30, 22])),
            ..Conditions::default()
        }),
        cells: cpus.map(|cpu| cell(run, id, cpu, &flushes)).collect(),
        ..Scenario::new(ScenarioKey {
            id,
            method,
            helper: None,
        })
    }
}

/// Returns a skipped version of `scenario`.
pub fn skipped(mut scenario: Scenario) -> Scenario {
    scenario.status = Status::Skipped(Skip::NoIdleState);
    scenario.cells.clear();
    scenario
}

/// Returns `scenario` with CPU 3 lost on arrival, and two suspends abandoned on CPU 1.
pub fn with_a_lost_cpu(mut scenario: Scenario) -> Scenario {
    let loss = Loss {
        phase: RoundPhase::Arrive,
        cause: Cause::Timeout,
    };
    scenario.status = Status::Failed(Failure::CpuLost {
        cpu: 3.into(),
        loss,
        others: 0,
    });
    let (cpu, lost) = (3.into(), Some(loss));
    scenario.cells[3] = Cell {
        cpu,
        lost,
        ..Cell::default()
    };
    let refused = Detail::Firmware(psci::ReturnCode(-77));
    for (cpu, reason, detail, count) in [
        (1, Reason::Abandoned, Detail::None, 2),
        (2, Reason::Companion, Detail::None, 2),
        (2, Reason::Refused, refused, 1),
        (3, Reason::Lost, Detail::Loss(loss), 1),
    ] {
        let counts = scenario.cells[cpu].counts.get_or_insert_default();
        counts.rejected.push((reason, count));
        counts.first.get_or_insert(Rejection { reason, detail });
    }
    scenario
}

/// Returns a sleep time, in ticks, that is long enough for all CPUs to power down.
fn sleep(run: &Run) -> u64 {
    (run.cpus.len() as u64 * 6_000).max(312_500)
}

/// Returns the statistics of twenty samples around `figure`, which is their lower median.
fn summary_around(figure: u64) -> Summary {
    let mut values: Vec<u64> = (0..20).map(|index| figure - 9 + index).collect();
    values[19] = figure + figure / 4;
    Summary::compute(&mut values)
}

/// Returns a CPU's position in the lock queue, which differs from its index.
fn position(run: &Run, cpu: usize) -> usize {
    cpu * 5 % run.cpus.len()
}

/// Returns how many ticks a CPU's cache flush takes. A cluster's last man takes far longer than its
/// other CPUs.
fn flush(run: &Run, cpu: usize, deep: bool, parallel: bool) -> u64 {
    let mine = run.cpus[cpu].cluster;
    let mates = (0..run.cpus.len()).filter(|mate| run.cpus[*mate].cluster == mine);
    let is_last = mates.max_by_key(|mate| position(run, *mate)) == Some(cpu);
    let flushes_cluster = deep && if parallel { is_last } else { mine != 0 };
    if flushes_cluster { 4_976 } else { 276 }
}

/// Returns a CPU's Powerdown time in ticks. The lock is held during the flush, so the figure
/// includes the flushes of all CPUs ahead in the queue.
fn down(run: &Run, id: ScenarioId, cpu: usize, flushes: &[u64]) -> u64 {
    let alone = 640 + flushes[cpu];
    if !id.is_parallel() {
        return alone;
    }
    let ahead = (0..run.cpus.len()).filter(|other| position(run, *other) < position(run, cpu));
    alone + ahead.map(|other| 594 + flushes[other]).sum::<u64>()
}

/// Returns the instants of one CPU's sample, and the metrics of its call.
fn part(
    run: &Run,
    id: ScenarioId,
    cpu: CpuIndex,
    flushes: &[u64],
) -> (Instants, &'static [Metric]) {
    use Metric::{CacheFlush, Call, Latency, Powerdown, TurnOff, TurnOn, Wake, Wakeup};
    let pmf = run.facts.expect("facts").pmf.is_ok();
    let me = cpu.index();
    let (flush, due) = (flushes[me] as i64, sleep(run) as i64);
    let before = 4 + i64::from(u16::from(cpu) % 5);
    let entry = before + 20;

    let mut shown = Instants::new(7_000_000_000);
    let mut set = |instant, ticks| {
        if pmf || !matches!(instant, Instant::Stamp(_)) {
            shown.set(instant, ticks);
        }
    };
    set(Instant::Before, before);
    set(Instant::Stamp(Stamp::EnterPsci), entry);
    if id == ScenarioId::PSCI_VERSION_PARALLEL {
        let exit = entry + 3 + i64::from(u16::from(cpu) % 3);
        set(Instant::Stamp(Stamp::ExitPsci), exit);
        set(Instant::After, exit + 20);
        return (shown, &[Latency, Call]);
    }
    let low = entry + down(run, id, me, flushes) as i64;
    let (up, metrics): (_, &[Metric]) = if id == ScenarioId::CPU_OFF_SERIAL && cpu.index() != 0 {
        set(Instant::SeenOff, low - 30);
        set(Instant::TurnedOn, low + 5_000);
        set(Instant::Entered, low + 7_400);
        set(Instant::After, low + 7_500);
        let metrics: &[_] = if pmf {
            &[Powerdown, Wakeup, CacheFlush, TurnOn]
        } else {
            &[TurnOn, TurnOff]
        };
        (low + 5_500, metrics)
    } else {
        set(Instant::Due, due);
        set(Instant::After, due + 2_900 + i64::from(u16::from(cpu)));
        let metrics = &[Powerdown, Wakeup, CacheFlush, Call, Wake];
        (due + 600, metrics)
    };
    for (stamp, ticks) in [
        (Stamp::EnterCflush, low - flush - 40),
        (Stamp::ExitCflush, low - 40),
        (Stamp::EnterHwLowPwr, low),
        (Stamp::ExitHwLowPwr, up),
        (Stamp::ExitPsci, up + 1_625),
    ] {
        set(Instant::Stamp(stamp), ticks);
    }
    (shown, metrics)
}

/// Returns one CPU's results.
fn cell(run: &Run, id: ScenarioId, cpu: CpuIndex, flushes: &[u64]) -> Cell {
    let (shown, metrics) = part(run, id, cpu, flushes);
    let series = |metric: &Metric| {
        let figure = shown.metric(*metric)?;
        Some(Series {
            shown: Some(figure),
            cold: Some(figure),
            ..Series::with_summary(*metric, summary_around(figure.max(9)))
        })
    };
    Cell {
        counts: Some(Counts {
            valid: 20,
            ..Counts::default()
        }),
        series: metrics.iter().filter_map(series).collect(),
        shown: Some(shown),
        ..Cell::new(cpu, CellStep::default())
    }
}
