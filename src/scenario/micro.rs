//! Micro-benchmarks: an operation in a loop, so often that its cost is far above one
//! tick of the counter.
//!
//! A sample is a batch of operations, timed as a whole by one round; the distribution
//! is that of batches. Each is taken on one CPU alone, and on all at once. The cost of
//! the loop itself is measured in the same way, as the variant `loop`; nothing is
//! subtracted.

use alloc::vec::Vec;

use smccc::arch::SMCCC_VERSION;
use smccc::psci::{PSCI_VERSION, error};

use super::bench::Setting;
use super::point_bench::{PointBench, how};
use crate::measure::{Action, After, End, Facts, Machine, Operation, Outcome, Round, Who};
use crate::model::{Failure, Measure, Point, Scenario, ScenarioKey, Skip, Status, Variant};
use crate::plan::{LOOPS_LIMIT_S, ScenarioId};

/// Batches that are taken even when the time is up: enough for a percentile.
const LEAST: u32 = crate::measure::P99_MIN;

/// One kind of operation.
#[derive(Clone, Copy)]
struct Kind {
    variant: Variant,
    operation: Operation,
    answer: Answer,
}

/// The return value that the last operation of a loop must have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// 0.
    Nothing,
    /// A number that is no error.
    Number,
    /// A number, or NOT_SUPPORTED: then the kind is left out.
    NumberIfAny,
    /// NOT_SUPPORTED.
    NotSupported,
}

/// A fast call to an owner that SMCCC reserves (DEN0028, table 6-1: 47): no firmware
/// has a service there, and none prints a warning.
const RESERVED_CALL: u32 = 0xaf00_0000;

const NULL_CALL: [Kind; 3] = [
    call(Variant::PsciVersion, PSCI_VERSION, Answer::Number),
    call(Variant::SmcccVersion, SMCCC_VERSION, Answer::NumberIfAny),
    call(Variant::Unknown, RESERVED_CALL, Answer::NotSupported),
];
const SELF_SGI: [Kind; 1] = [plain(Variant::Sgi, Operation::SelfSgi)];
const SYSREG_TRAP: [Kind; 1] = [plain(Variant::Pmselr, Operation::SysregRead)];
const PMF_READ: [Kind; 1] = [plain(Variant::GetTimestamp, Operation::ReadStamp)];
const EMPTY: [Kind; 1] = [plain(Variant::Loop, Operation::Nothing)];

const fn call(variant: Variant, function: u32, answer: Answer) -> Kind {
    Kind {
        variant,
        operation: Operation::Call(function),
        answer,
    }
}

const fn plain(variant: Variant, operation: Operation) -> Kind {
    Kind {
        variant,
        operation,
        answer: Answer::Nothing,
    }
}

/// Returns the kinds of operation of a scenario.
const fn kinds(id: ScenarioId) -> &'static [Kind] {
    match id {
        ScenarioId::NullCall => &NULL_CALL,
        ScenarioId::SelfSgi => &SELF_SGI,
        ScenarioId::SysregTrap => &SYSREG_TRAP,
        ScenarioId::PmfRead => &PMF_READ,
        _ => &EMPTY,
    }
}

/// Returns the most points that a scenario has: in ticks and in cycles, of each kind
/// on each CPU alone and of all at once, and of the loop on the lead.
pub(crate) fn points(id: ScenarioId, cpus: usize) -> Option<usize> {
    let of_kinds = cpus.checked_mul(2 * kinds(id).len())?;
    of_kinds.checked_add(1)?.checked_mul(2)
}

/// Measures one scenario.
pub(crate) fn measure<M: Machine>(
    machine: &mut M,
    setting: Setting<'_>,
    key: ScenarioKey,
) -> Scenario {
    let cpus = setting.cpus.len();
    let skip = skip(key.id, machine.facts(), cpus);
    let points = points(key.id, cpus).unwrap_or_default();
    let mut bench = PointBench::new(machine, setting, points);
    let status = match skip {
        Some(skip) => Status::Skipped(skip),
        None => {
            let measured = match key.id {
                ScenarioId::CpuOn => super::cpu_on::measure(&mut bench),
                id => Micro::new(&mut bench).run(kinds(id)),
            };
            measured.map_or_else(Status::Failed, |()| Status::Passed)
        }
    };
    bench.finish(key, status)
}

/// Returns the reason why the machine cannot run the scenario, if any.
fn skip(id: ScenarioId, facts: &Facts, cpus: usize) -> Option<Skip> {
    match id {
        ScenarioId::SelfSgi if facts.gic == 0 => Some(Skip::NoSgi),
        ScenarioId::SysregTrap if !facts.pmu => Some(Skip::NoPmu),
        ScenarioId::CpuOn if cpus < 2 => Some(Skip::OneCpu),
        ScenarioId::PmfRead if facts.pmf.is_err() => Some(Skip::NoPmf),
        _ => None,
    }
}

/// A micro-benchmark under way.
struct Micro<'s, 'm, M> {
    bench: &'s mut PointBench<'m, M>,
    /// Operations in a batch.
    batch: u32,
    /// Batches of each kind.
    asked: u32,
    /// Ticks that each series of batches may take.
    limit: Option<u64>,
    /// The samples of a series by CPU: in ticks and in cycles.
    columns: Vec<[Vec<u64>; 2]>,
}

impl<'s, 'm, M: Machine> Micro<'s, 'm, M> {
    fn new(bench: &'s mut PointBench<'m, M>) -> Self {
        let (batch, asked) = bench.setting.plan.batches();
        let cpus = bench.setting.cpus.len();
        bench.conditions.asked = asked;
        let mut columns = Vec::with_capacity(cpus);
        columns.extend((0..cpus).map(|_| [(); 2].map(|()| Vec::with_capacity(asked as usize))));
        Self {
            bench,
            batch,
            asked,
            limit: None,
            columns,
        }
    }

    fn run(&mut self, kinds: &[Kind]) -> Result<(), Failure> {
        let cpus = self.columns.len();
        let facts = self.bench.machine.facts();
        let lead = facts.lead;
        let series = (kinds.len() * (cpus + 1) + 1) as u64;
        if self.bench.setting.plan.loops.is_none() {
            self.limit = Some(facts.ticks(u64::from(LOOPS_LIMIT_S) * 1_000_000) / series);
        }
        for kind in kinds {
            if !self.probe(kind)? {
                continue;
            }
            for cpu in 0..cpus {
                self.series(kind, Who::Only(cpu))?;
            }
            // With one CPU, all at once is the CPU alone.
            if cpus > 1 {
                self.series(kind, Who::All)?;
            }
        }
        if kinds.iter().all(|kind| kind.variant != Variant::Loop) {
            self.asked = self.asked.min(LEAST);
            self.series(&EMPTY[0], Who::Only(lead))?;
        }
        Ok(())
    }

    fn round(&mut self, who: Who, operation: Operation, count: u32) -> Result<(), Failure> {
        let participants = match who {
            Who::Only(_) => 1,
            _ => self.columns.len() as u64,
        };
        let lead_in = self.bench.machine.facts().ticks(200 + 10 * participants);
        self.bench.run(&Round {
            after: After::Stay,
            ..Round::new(who, Action::Repeat { operation, count }, lead_in)
        })
    }

    /// Runs the operation once on each CPU; returns false if it is one that may be
    /// missing, and is.
    fn probe(&mut self, kind: &Kind) -> Result<bool, Failure> {
        self.bench.conditions.trials += 1;
        self.round(Who::All, kind.operation, 1)?;
        for (cpu, outcome) in self.bench.outcomes.iter().enumerate() {
            if kind.is_good(outcome) {
                continue;
            }
            let missing = outcome.code == error::NOT_SUPPORTED;
            if kind.answer == Answer::NumberIfAny && missing {
                return Ok(false);
            }
            let (variant, cpu) = (kind.variant, cpu as u16);
            return Err(match kind.answer {
                Answer::Nothing => Failure::GaveUp { variant, cpu },
                _ => Failure::WrongAnswer {
                    variant,
                    answer: outcome.code,
                    cpu,
                },
            });
        }
        Ok(true)
    }

    /// Runs batches that do not count, in a tenth of the time at most.
    fn warm_up(&mut self, kind: &Kind, who: Who, began: &mut Option<u64>) -> Result<(), Failure> {
        let mut spent = 0;
        for done in 0..self.bench.setting.plan.warmup {
            let conditions = &mut self.bench.conditions;
            if self.limit.is_some_and(|limit| spent > limit / 10) {
                let least = conditions.warmed.unwrap_or(done);
                conditions.warmed = Some(least.min(done));
                break;
            }
            conditions.trials += 1;
            self.round(who, kind.operation, self.batch)?;
            spent = self.spent(began);
        }
        Ok(())
    }

    /// Returns the ticks from the beginning of a series' first batch, which is kept in
    /// `began`, to the end of the last one.
    fn spent(&self, began: &mut Option<u64>) -> u64 {
        let mut now = 0;
        for outcome in self.bench.outcomes.iter().filter(|o| o.took_part()) {
            now = now.max(outcome.after);
            began.get_or_insert(outcome.before);
        }
        now.saturating_sub(began.unwrap_or(now))
    }

    /// Takes batches until there are enough, or the time is up.
    fn series(&mut self, kind: &Kind, who: Who) -> Result<(), Failure> {
        let (mut taken, mut began, mut lost) = (0, None, 0);
        self.columns.iter_mut().flatten().for_each(Vec::clear);
        self.warm_up(kind, who, &mut began)?;
        // A batch that is given up may have taken seconds.
        while taken < self.asked && lost <= self.asked / 10 {
            self.bench.conditions.attempts += 1;
            self.round(who, kind.operation, self.batch)?;
            taken += 1;
            for (outcome, [ticks, cycles]) in self.bench.outcomes.iter().zip(&mut self.columns) {
                if kind.is_good(outcome) {
                    ticks.push(outcome.after.saturating_sub(outcome.before));
                    cycles.extend(outcome.cycles);
                } else {
                    lost += u32::from(outcome.took_part());
                }
            }
            let spent = self.spent(&mut began);
            if taken >= LEAST && self.limit.is_some_and(|limit| spent > limit) {
                break;
            }
        }
        self.sum_up(kind, who, taken)
    }

    /// Makes points of the samples of a series.
    fn sum_up(&mut self, kind: &Kind, who: Who, taken: u32) -> Result<(), Failure> {
        let mut result = Ok(());
        for (cpu, [ticks, cycles]) in self.columns.iter_mut().enumerate() {
            if who != Who::All && who != Who::Only(cpu) {
                continue;
            }
            let point = |measure| Point {
                how: how(who),
                per: self.batch,
                ..Point::new(cpu as u16, kind.variant, measure)
            };
            let measured = self.bench.add_point(point(Measure::Ticks), ticks, taken);
            result = measured.and(result);
            // A CPU may have no cycle counter, or none that counts.
            if !cycles.is_empty() {
                let _ = self.bench.add_point(point(Measure::Cycles), cycles, taken);
            }
        }
        result
    }
}

impl Kind {
    fn is_good(&self, outcome: &Outcome) -> bool {
        let code = outcome.code;
        outcome.end == End::Returned
            && match self.answer {
                Answer::Nothing => code == 0,
                Answer::Number | Answer::NumberIfAny => code >= 0,
                Answer::NotSupported => code == error::NOT_SUPPORTED,
            }
    }
}
