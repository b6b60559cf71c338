//! Made-up results: plausible ones, of any number of CPUs in clusters of four.

use std::string::String;
use std::vec::Vec;

use crate::board::{Cpu, LabelSource, NoFrame, NoWatchdog};
use crate::image::Conduit;
use crate::measure::{
    Action, Cause, Counter, Detail, End, Facts, Identity, Loss, Metric, Outcome, Overheads, Reason,
    Rejection, Step, Summary,
};
use crate::model::{Failure, Figures, Row, Run, Skip, Status, TestReport, Totals, WakeSource};
use crate::plan::{Method, Methods, Plan, ScenarioId, ScenarioSet};
use crate::spec::caches::Caches;
use crate::spec::pmf::{Interface, ReadError, Stamps};
use crate::spec::psci::{self, StateFormat};
use crate::spec::smccc::Service;

/// CPUs, facts and plan that a test may edit before it takes a [`Run`].
pub(crate) struct World {
    pub(crate) cpus: Vec<Cpu>,
    pub(crate) facts: Facts,
    pub(crate) plan: Plan,
    pub(crate) model: String,
    pub(crate) labels: LabelSource,
    pub(crate) identity: fn(usize) -> Option<Identity>,
}

impl World {
    pub(crate) fn of(cpus: u16) -> Self {
        let cpu = |i: u16| Cpu {
            mpidr: u64::from(i / 4) << 8 | u64::from(i % 4),
            cluster: i / 4,
            core: i % 4,
            thread: 0,
        };
        Self {
            cpus: (0..cpus).map(cpu).collect(),
            facts: Facts {
                frequency: FREQUENCY,
                counter: Counter::Physical,
                timer: "CNTP",
                timer_intid: 30,
                frame: Err(NoFrame::NotInTree),
                exception_level: 2,
                e2h: false,
                gic: 3,
                conduit: Conduit::Smc,
                psci_version: 0x1_0001,
                smccc: Some(0x1_0005),
                service: Some(Service {
                    uid: [0x108d_905b, 0x47e8_f863, 0xfbc0_2dae, 0xe2f6_4156],
                    revision: Some([0, 1]),
                }),
                state_format: StateFormat::Original,
                pmf: Ok(Interface::VendorEl3),
                lead: 0,
                own: cortex_a53(0).unwrap_or_default(),
                watchdog: Err(NoWatchdog::NotInTree),
                stat: false,
                pmu: false,
                zero: true,
                kvm: false,
                os_initiated: false,
                system_suspend: false,
                outer_cache: None,
                overheads: Overheads {
                    counter: 1,
                    empty: 1,
                    pmf_read: Some(41),
                },
            },
            plan: Plan {
                scenarios: ScenarioSet::SUITE,
                ..Plan::default()
            },
            model: "linux,dummy-virt".into(),
            labels: LabelSource::CpuMap,
            identity: cortex_a53,
        }
    }

    pub(crate) fn without_pmf(mut self) -> Self {
        self.facts.pmf = Err(ReadError::NotImplemented);
        self.facts.overheads.pmf_read = None;
        self
    }

    pub(crate) fn with_methods(mut self, methods: Methods) -> Self {
        self.plan.methods = methods;
        self
    }

    pub(crate) fn run(&self) -> Run<'_> {
        Run {
            facts: &self.facts,
            plan: &self.plan,
            model: &self.model,
            cpus: &self.cpus,
            labels: self.labels,
            identity: self.identity,
            version: "0.1.0",
        }
    }

    /// A scenario in which all went well.
    pub(crate) fn good(&self, scenario: ScenarioId) -> Made {
        self.made(scenario, Method::Tftf)
    }

    pub(crate) fn made(&self, scenario: ScenarioId, method: Method) -> Made {
        let pmf = self.facts.pmf.is_ok();
        let deep = !matches!(
            scenario,
            ScenarioId::CpuSuspendParallel | ScenarioId::CpuSuspendSerial
        );
        let state = if deep { 0x0102_0022 } else { 0x0001_0002 };
        let suspends = scenario != ScenarioId::PsciVersionParallel;
        let flush_of = |cpu| flush(self, cpu, deep, scenario.is_parallel());
        let flushes: Vec<u64> = (0..self.cpus.len()).map(flush_of).collect();
        Made {
            scenario,
            method,
            status: Status::Passed,
            pmf,
            power_state: suspends.then_some(state),
            wake_source: WakeSource::OwnTimers,
            sleep: if suspends { sleep(self) } else { 0 },
            skew: if scenario.is_parallel() {
                Summary::of(&mut [20, 21, 19, 30, 22])
            } else {
                Summary::default()
            },
            rows: (0..self.cpus.len() as u16)
                .map(|cpu| row(self, scenario, cpu, state, &flushes))
                .collect(),
        }
    }

    /// All six, all well.
    pub(crate) fn all(&self) -> Vec<Made> {
        let methods: Vec<_> = self.plan.methods.iter().collect();
        let each = |id| methods.iter().map(move |m| self.made(id, *m));
        ScenarioId::SUITE.into_iter().flat_map(each).collect()
    }
}

/// Why a row is skipped.
pub(crate) const SGI_DID_NOT_WAKE: Skip = Skip::SgiDidNotWake {
    mpidr: 1,
    power_state: 0x4000_0002,
};

/// Every CPU's CNTFRQ_EL0.
const FREQUENCY: u64 = 62_500_000;

/// A Cortex-A53 with 512 KiB of L2: line, ways and sets are the registers'.
fn cortex_a53(_: usize) -> Option<Identity> {
    let caches = Caches::read(0x0a20_0023, false, &mut |selector| match selector {
        0 => 0x700f_e01a,
        1 => 0x201f_e00a,
        _ => 0x703f_e07a,
    });
    Some(Identity {
        midr: 0x410f_d034,
        caches,
        frequency: FREQUENCY,
        clock_mhz: Some(1400),
    })
}

/// A report that owns its rows.
pub(crate) struct Made {
    pub(crate) scenario: ScenarioId,
    pub(crate) method: Method,
    pub(crate) status: Status,
    pub(crate) pmf: bool,
    pub(crate) power_state: Option<u32>,
    pub(crate) wake_source: WakeSource,
    pub(crate) sleep: u64,
    pub(crate) skew: Summary,
    pub(crate) rows: Vec<Row>,
}

impl Made {
    pub(crate) fn report(&self) -> TestReport<'_> {
        TestReport {
            scenario: self.scenario,
            method: self.method,
            status: self.status,
            pmf: self.pmf,
            power_state: self.power_state,
            wake_source: self.wake_source,
            helper: None,
            asked: 20,
            attempts: 21,
            sleep: self.sleep,
            trials: 1,
            skew: self.skew,
            rows: &self.rows,
            points: &[],
            histograms: &[],
            left_out: [None; 2],
            warmed: None,
            rejected: [0; crate::measure::REASONS],
            samples: &[],
        }
    }

    pub(crate) fn skipped(mut self) -> Self {
        self.status = Status::Skipped(Skip::NoIdleState);
        self.rows.clear();
        self
    }

    /// CPU 3 is lost on the way, and CPU 1 gives up twice.
    pub(crate) fn with_a_lost_cpu(mut self) -> Self {
        let loss = Loss {
            step: Step::Arrive,
            cause: Cause::Timeout,
        };
        self.status = Status::Failed(Failure::CpuLost { cpu: 3, loss });
        self.rows[3] = Row {
            cpu: 3,
            lost: Some(loss),
            ..Row::default()
        };
        reject(&mut self.rows[3], Reason::Lost, Detail::Loss(loss), 1);
        reject(&mut self.rows[1], Reason::Abandoned, Detail::None, 2);
        reject(&mut self.rows[2], Reason::Companion, Detail::None, 2);
        let refused = Detail::Firmware(psci::ReturnCode(-77));
        reject(&mut self.rows[2], Reason::Refused, refused, 1);
        self
    }
}

fn reject(row: &mut Row, reason: Reason, detail: Detail, count: u32) {
    row.rejected[reason as usize] += count;
    row.first_rejection
        .get_or_insert(Rejection { reason, detail });
}

pub(crate) fn totals(tests: &[Made]) -> Totals {
    let mut totals = Totals::default();
    tests.iter().for_each(|t| totals.add(&[t.report()]));
    totals
}

/// Long enough for all to go down.
fn sleep(world: &World) -> u64 {
    (world.cpus.len() as u64 * 6_000).max(312_500)
}

/// Twenty values about `figure`, which is their lower median.
fn spread(figure: u64) -> Summary {
    let mut values: Vec<u64> = (0..20).map(|i| figure - 9 + i).collect();
    values[19] = figure + figure / 4;
    Summary::of(&mut values)
}

/// When a CPU gets the lock in a parallel round: not in its own order.
fn place(world: &World, cpu: usize) -> usize {
    cpu * 5 % world.cpus.len()
}

/// What a CPU's cache flush costs: much for the last man of a cluster, and
/// for every CPU that is alone in its cluster when it goes down.
fn flush(world: &World, cpu: usize, deep: bool, parallel: bool) -> u64 {
    let mine = world.cpus[cpu].cluster;
    let mates = (0..world.cpus.len()).filter(|mate| world.cpus[*mate].cluster == mine);
    let last = mates.max_by_key(|mate| place(world, *mate)) == Some(cpu);
    let pays = if parallel { last } else { mine != 0 };
    if deep && pays { 4_976 } else { 276 }
}

/// One CPU's part. The flush is done with the lock held, so that each CPU's
/// powerdown has in it the flushes of all who came before.
fn row(world: &World, scenario: ScenarioId, cpu: u16, state: u32, flushes: &[u64]) -> Row {
    let pmf = world.facts.pmf.is_ok();
    let parallel = scenario.is_parallel();
    let me = usize::from(cpu);
    let flush = flushes[me];
    let down = if parallel && scenario != ScenarioId::PsciVersionParallel {
        let ahead = (0..world.cpus.len()).filter(|o| place(world, *o) < place(world, me));
        640 + flush + ahead.map(|o| 594 + flushes[o]).sum::<u64>()
    } else {
        640 + flush
    };

    let start = 7_000_000_000;
    let before = start + 4 + u64::from(cpu % 5);
    let due = start + sleep(world);
    let mut outcome = Outcome {
        start,
        before,
        ..Outcome::default()
    };
    let entry = before + 20;
    if scenario == ScenarioId::PsciVersionParallel {
        let latency = 3 + u64::from(cpu % 3);
        outcome.action = Action::Version;
        outcome.end = End::Returned;
        outcome.after = entry + latency + 20;
        outcome.stamps = Stamps([entry, entry + latency, 0, 0, 0, 0]);
    } else if scenario == ScenarioId::CpuOffSerial && cpu != 0 {
        outcome.action = Action::ReadBack;
        outcome.end = End::ReadBack;
        outcome.seen_off = entry + down - 30;
        outcome.turned_on = entry + down + 5_000;
        outcome.entered = outcome.turned_on + 2_400;
        outcome.after = outcome.entered + 100;
        outcome.stamps = stamps(entry, down, flush, outcome.turned_on + 500);
    } else {
        outcome.action = Action::Suspend {
            power_state: state,
            powerdown: true,
        };
        outcome.end = End::Resumed;
        outcome.due = due;
        outcome.after = due + 2_900 + u64::from(cpu);
        outcome.stamps = stamps(entry, down, flush, due + 600);
    }
    if !pmf {
        outcome.stamps = Stamps::default();
    }

    let mut row = Row {
        cpu,
        shown: Some(outcome),
        cold: Some(outcome),
        valid: 20,
        ..Row::default()
    };
    for metric in Metric::ALL {
        if let Some(figure) = outcome.metric(metric, pmf) {
            row.summaries[metric as usize] = spread(figure.max(9));
            if parallel || figure < 9 {
                continue;
            }
            assert_eq!(row.summaries[metric as usize].median, figure);
        }
    }
    if let Some(latencies) = outcome.latencies().filter(|_| pmf) {
        let suspends = scenario != ScenarioId::PsciVersionParallel;
        row.figures = Figures {
            powerdown: Some(latencies.powerdown),
            wakeup: suspends.then_some(latencies.wakeup),
            cache_flush: suspends.then_some(latencies.cache_flush),
        };
    }
    row
}

fn stamps(entry: u64, down: u64, flush: u64, up: u64) -> Stamps {
    let low = entry + down;
    Stamps([entry, up + 1_625, low, up, low - flush - 40, low - 40])
}
