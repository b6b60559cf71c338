//! Creates records that contain every part and have as many digits as possible.

use crate::plan::{ActiveCpus, CheckedCalls, Method, Plan, ScenarioId, ScenarioSet, Variant};
use std::vec::Vec;

use hardware::board::{CPU_MAX, CpuIndex, IntId, LeftOut, Mpidr, TimerFrame};
use hardware::spec::caches::Caches;
use hardware::spec::pmf::Stamp;
use hardware::spec::psci;
use hardware::spec::smccc::Service;
use hardware::spec::stat::Reached;

use crate::measure::{
    Cause, Detail, Gap, Identity, Instant, Instants, LONGEST_GAPS, Loss, Metric, Reason, Rejection,
    RoundPhase, Summary,
};
use crate::model::*;
use crate::plan::sweep_values::SweepValues;
use crate::scenarios::rules;
use crate::testing::synthetic;

const MOST: u64 = u64::MAX;

pub(super) fn end() -> End {
    End {
        records: 0,
        verdict: Verdict::Incomplete,
        totals: Totals {
            passed: u32::MAX,
            skipped: u32::MAX,
            failed: u32::MAX,
            caller_side: u32::MAX,
            samples: MOST,
            rejected: MOST,
            rows_skipped: MOST,
            lost: u32::MAX,
            failed_step: Some(u32::MAX),
        },
    }
}

fn instants(ticks: i64) -> Instants {
    let mut instants = Instants::new(MOST);
    // The differences between instants also have as many digits as possible.
    for (instant, ticks) in Instant::ALL
        .into_iter()
        .zip([ticks, ticks / 3].into_iter().cycle())
    {
        instants.set(instant, ticks);
    }
    instants
}

fn summary(ticks: u64) -> Summary {
    Summary {
        n: u32::MAX,
        min: ticks,
        median: ticks,
        p99: Some(ticks),
        max: ticks,
        mad: ticks,
    }
}

fn rejected() -> Vec<(Reason, u32)> {
    Reason::ALL.map(|reason| (reason, u32::MAX)).to_vec()
}

fn rejection(detail: Detail) -> Rejection {
    let reason = longest(&Reason::ALL);
    Rejection { reason, detail }
}

fn longest<T: serde::Serialize + Copy>(all: &[T]) -> T {
    let len = |value: &&T| {
        serde_json::to_string(value)
            .expect("writing to a String cannot fail")
            .len()
    };
    *all.iter().max_by_key(len).expect("not empty")
}

const LOSS: Loss = Loss {
    phase: RoundPhase::TurnOff,
    cause: Cause::Firmware(psci::ReturnCode(i32::MIN)),
};

fn longest_cell(cpu: CpuIndex) -> Cell {
    Cell {
        kept_power: true,
        cpu,
        step: CellStep::default(),
        counts: Some(Counts {
            valid: u32::MAX,
            rejected: rejected(),
            first: Some(rejection(Detail::Loss(LOSS))),
        }),
        skipped: None,
        helper: Some(u16::MAX.into()),
        wake_source: None,
        power_state: None,
        reached: Some(Reached {
            state: Some(u32::MAX),
            due: u32::MAX,
            times: u8::MAX,
            residency_us: u32::MAX,
            most_us: Some(MOST),
        }),
        lost: Some(LOSS),
        series: Metric::ALL
            .map(|metric| Series {
                cold: Some(MOST),
                ..Series::with_summary(metric, summary(MOST))
            })
            .to_vec(),
        longest_gaps: Vec::new(),
        shown: Some(instants(i64::MIN)),
        samples: (0..3)
            .map(|index| Sample {
                index,
                instants: instants(i64::MIN + i64::from(index)),
            })
            .collect(),
    }
}

/// A cell whose representative figures are chosen in the same way as for scenario `id`.
fn longest_cell_of(id: ScenarioId, cpu: CpuIndex) -> Cell {
    let mut cell = longest_cell(cpu);
    cell.choose_figures(id.is_parallel());
    cell
}

/// A cell with a step. The cell's index differs from its CPU's.
fn longest_cell_of_step(cpu: CpuIndex) -> Cell {
    let mut series = Series::with_summary(Metric::Handler, summary(MOST));
    series.histogram = Some(BinCounts {
        first: 0,
        counts: (0..337).map(|bin| u32::MAX - bin).collect(),
    });
    Cell {
        cpu: CpuIndex::new(cpu.index() + 1),
        step: CellStep {
            cpus: longest(&ActiveCpus::ALL),
            variant: Variant::all()
                .max_by_key(|variant| variant.word().len())
                .expect("a variant"),
            value: Some(MOST),
            operations: u32::MAX,
        },
        wake_source: Some(longest(&WakeSource::ALL)),
        power_state: Some(u32::MAX),
        series: [series].into(),
        shown: None,
        samples: Samples::default(),
        ..longest_cell(cpu)
    }
}

/// A cell with gaps, which has neither rejections nor a state.
fn longest_cell_of_gaps(cpu: CpuIndex) -> Cell {
    let metrics = [Metric::Gap, Metric::Stolen, Metric::Loop];
    let gap = Gap {
        begin: MOST,
        length: MOST,
    };
    Cell {
        series: metrics
            .map(|metric| Series::with_summary(metric, summary(MOST)))
            .to_vec(),
        longest_gaps: [gap; LONGEST_GAPS].to_vec(),
        counts: Some(Counts {
            valid: u32::MAX,
            ..Counts::default()
        }),
        ..Cell::new(cpu, longest_cell_of_step(cpu).step)
    }
}

fn longest_cells_of_steps() -> Vec<Cell> {
    let cells = CpuIndex::all(3).map(longest_cell_of_step);
    cells.chain([longest_cell_of_gaps(2.into())]).collect()
}

fn longest_check() -> Check {
    Check {
        function: longest(&Function::ALL),
        rule: longest(&rules().collect::<Vec<_>>()),
        value: Some(u32::MAX),
        cpus: CpuIndex::all(CPU_MAX).collect(),
        promised: Some(false),
        answer: Some(i32::MIN),
        end: CheckEnd::NoEffect(rejection(Detail::Loss(LOSS))),
    }
}

fn longest_conditions() -> Conditions {
    Conditions {
        pmf: false,
        power_state: Some(u32::MAX),
        wake_source: longest(&WakeSource::ALL),
        requested_samples: u32::MAX,
        attempts: u32::MAX,
        trials: u32::MAX,
        sleep: MOST,
        ..Conditions::default()
    }
}

fn longest_machine() -> Run {
    let widen = |identity: &mut Identity| {
        *identity = Identity {
            power_kept_on: true,
            midr: MOST,
            caches: Caches::read(0o3_333_333, true, &mut |_| MOST),
            frequency: MOST,
            clock_mhz: Some(MOST),
        };
    };
    let mut run = synthetic::run_with(3, |facts| {
        facts.frequency = MOST;
        facts.frame = Ok(TimerFrame {
            control: MOST,
            number: 7,
            base: MOST,
            intid: IntId::new(1019),
        });
        facts.outer_cache = Some(MOST);
        facts.service = Some(Service {
            uid: [u32::MAX; 4],
            revision: Some([u32::MAX; 2]),
        });
        widen(&mut facts.own);
    });
    for cpu in &mut run.cpus {
        cpu.mpidr = Some(Mpidr::new(MOST));
        cpu.identity.iter_mut().for_each(widen);
    }
    let no_node = LeftOut::NoNode(u32::MAX);
    run.left_out
        .push(LeftOutState::new(&"n".repeat(100), no_node));
    let mut dirty = SweepValues::EMPTY;
    while dirty.add((64 << 20) - dirty.as_slice().len() as u32) {}
    let mut contend = SweepValues::EMPTY;
    while contend.add(488 + contend.as_slice().len() as u32) {}
    let mut calls = SweepValues::EMPTY;
    while calls.add(u32::MAX - calls.as_slice().len() as u32) {}
    let mut scenarios = ScenarioSet::EMPTY;
    for id in ScenarioId::ALL {
        scenarios.insert(ScenarioSet::of_word(id.tag()).expect("a good word"));
    }
    run.plan = Some(Plan {
        scenarios,
        dirty: Some(dirty),
        contend: Some(contend),
        deepest: Some(u32::MAX),
        core: Some(u32::MAX),
        loops: Some(1 << 30),
        fitness: CheckedCalls::Destructive,
        calls: Some(calls),
        offsets: 64,
        repeats: 3,
        ..Plan::default()
    });
    run
}

/// Returns a run whose records all have the maximum length: every list is full, and every number
/// has as many digits as possible.
pub(super) fn longest_run() -> Run {
    let key = ScenarioKey {
        id: longest(&ScenarioId::ALL),
        method: Method::Tftf,
        helper: Some(u16::MAX.into()),
    };
    let skip = Skip::NotTried {
        mpidr: Mpidr::new(MOST),
        power_state: u32::MAX,
    };
    let suite = Scenario {
        status: Status::Failed(Failure::NotCalibrated {
            sleep: MOST,
            last: rejection(Detail::Stamp(Stamp::EnterHwLowPwr)),
            cpu: u16::MAX.into(),
        }),
        conditions: Some(Conditions {
            skew: Some(summary(MOST)),
            ..longest_conditions()
        }),
        cells: CpuIndex::all(3)
            .map(|cpu| longest_cell_of(key.id, cpu))
            .collect(),
        ..Scenario::new(key)
    };
    let sweep = Scenario {
        status: Status::Failed(Failure::CpuLost {
            cpu: u16::MAX.into(),
            loss: LOSS,
            others: u16::MAX,
        }),
        conditions: Some(Conditions {
            states_left_out: Some(skip),
            mode_left_out: Some(skip),
            sleep: 0,
            ..longest_conditions()
        }),
        cells: longest_cells_of_steps(),
        ..Scenario::new(ScenarioKey {
            id: ScenarioId::named("contend_sweep"),
            ..key
        })
    };
    let fitness = Scenario {
        status: Status::Failed(Failure::CheckFailed {
            function: longest(&Function::ALL),
            rule: longest(&rules().collect::<Vec<_>>()),
            failed: u32::MAX,
        }),
        checks: [longest_check()].into(),
        ..Scenario::new(ScenarioKey {
            id: ScenarioId::named("fitness"),
            ..key
        })
    };
    Run {
        scenarios: [suite, sweep, fitness].into(),
        end: Some(end()),
        ..longest_machine()
    }
}
