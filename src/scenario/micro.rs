//! Micro-benchmarks: an operation in a loop, so often that its cost stands out
//! of the counter's ticks.
//!
//! A sample is a batch of operations, timed as a whole by one round; the
//! distribution is that of batches. Each is taken on one CPU alone, and on all
//! at once. What the loop itself costs is measured the same way and stands
//! beside the others as the variant `loop`; nothing is subtracted.

use smccc::arch::SMCCC_VERSION;
use smccc::psci::{PSCI_VERSION, error};

use super::cpu_on::{NONE, without_none};
use super::stage::{Room, Stage};
use crate::measure::{Action, After, End, Facts, Machine, Operation, Outcome, Round, Summary, Who};
use crate::model::{Failure, How, LOOP, Measure, Point, Skip, Status};
use crate::plan::{LOOPS_LIMIT_S, Plan, ScenarioId};

/// Batches that are taken even when the time is up: enough for a percentile.
const LEAST: u32 = crate::measure::P99_MIN;

/// One kind of operation.
#[derive(Clone, Copy)]
struct Kind {
    variant: &'static str,
    operation: Operation,
    answer: Answer,
}

/// What the last operation of a loop has to come back with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// 0.
    Nothing,
    /// A number that is no error.
    Number,
    /// The same, or that the function is not implemented: then it is left out.
    NumberIfAny,
    /// NOT_SUPPORTED.
    NotSupported,
}

/// A fast call to an owner that SMCCC reserves (DEN0028, table 6-1: 47): no
/// firmware has a service there, and none prints a warning.
const NOBODYS: u32 = 0xaf00_0000;

const NULL_CALL: [Kind; 3] = [
    call("psci_version", PSCI_VERSION, Answer::Number),
    call("smccc_version", SMCCC_VERSION, Answer::NumberIfAny),
    call("unknown", NOBODYS, Answer::NotSupported),
];
const SELF_SGI: [Kind; 1] = [plain("sgi", Operation::SelfSgi)];
const SYSREG_TRAP: [Kind; 1] = [plain("pmselr", Operation::SysregRead)];
const PMF_READ: [Kind; 1] = [plain("get_timestamp", Operation::ReadStamp)];
const EMPTY: [Kind; 1] = [plain(LOOP, Operation::Nothing)];

const fn call(variant: &'static str, function: u32, answer: Answer) -> Kind {
    Kind {
        variant,
        operation: Operation::Call(function),
        answer,
    }
}

const fn plain(variant: &'static str, operation: Operation) -> Kind {
    Kind {
        variant,
        operation,
        answer: Answer::Nothing,
    }
}

/// The kinds of operation that a scenario has.
const fn kinds(scenario: ScenarioId) -> &'static [Kind] {
    match scenario {
        ScenarioId::NullCall => &NULL_CALL,
        ScenarioId::SelfSgi => &SELF_SGI,
        ScenarioId::SysregTrap => &SYSREG_TRAP,
        ScenarioId::PmfRead => &PMF_READ,
        _ => &EMPTY,
    }
}

/// What a scenario needs; None when the numbers do not fit a machine word.
#[must_use]
pub fn room(scenario: ScenarioId, plan: &Plan, cpus: usize) -> Option<Room> {
    let asked = match scenario {
        ScenarioId::CpuOn => plan.iterations,
        _ => plan.batches().1,
    };
    // In ticks and in cycles, of each kind on each CPU alone and of all at
    // once, and of the loop on the lead.
    let points = 2 * (2 * kinds(scenario).len() * cpus + 1);
    Some(Room {
        points,

        column: (asked as usize).checked_mul(2)?.checked_mul(cpus)?,
        ..Room::default()
    })
}

/// Measures one scenario.
pub fn measure<M: Machine>(stage: &mut Stage<'_, M>, scenario: ScenarioId) -> Status {
    if let Some(skip) = skip(scenario, stage.machine.facts(), stage.cpus.len()) {
        return Status::Skipped(skip);
    }
    if scenario == ScenarioId::CpuOn {
        return super::cpu_on::measure(stage);
    }
    match Micro::new(stage).run(kinds(scenario)) {
        Ok(()) => Status::Passed,
        Err(failure) => Status::Failed(failure),
    }
}

/// What the scenario needs that the machine does not have.
fn skip(scenario: ScenarioId, facts: &Facts, cpus: usize) -> Option<Skip> {
    match scenario {
        ScenarioId::SelfSgi if facts.gic == 0 => Some(Skip::NoSgi),
        ScenarioId::SysregTrap if !facts.pmu => Some(Skip::NoPmu),
        ScenarioId::CpuOn if cpus < 2 => Some(Skip::OneCpu),
        ScenarioId::PmfRead if facts.pmf.is_err() => Some(Skip::NoPmf),
        _ => None,
    }
}

struct Micro<'s, 'b, M> {
    stage: &'s mut Stage<'b, M>,
    /// Operations in a batch.
    batch: u32,
    /// Batches of each kind.
    asked: u32,
    /// Ticks that each series of batches may take.
    limit: Option<u64>,
}

impl<'s, 'b, M: Machine> Micro<'s, 'b, M> {
    fn new(stage: &'s mut Stage<'b, M>) -> Self {
        let (batch, asked) = stage.plan.batches();
        stage.asked = asked;
        Self {
            stage,
            batch,
            asked,
            limit: None,
        }
    }

    fn run(&mut self, kinds: &[Kind]) -> Result<(), Failure> {
        let cpus = self.stage.cpus.len();
        let facts = self.stage.machine.facts();
        let lead = facts.lead;
        let series = (kinds.len() * (cpus + 1) + 1) as u64;
        if self.stage.plan.loops.is_none() {
            self.limit = Some(facts.ticks(u64::from(LOOPS_LIMIT_S) * 1_000_000) / series);
        }
        for kind in kinds {
            if !self.probe(kind)? {
                continue;
            }
            for cpu in 0..cpus {
                self.series(kind, Who::Only(cpu))?;
            }
            // Of a lone CPU that would be the same again.
            if cpus > 1 {
                self.series(kind, Who::All)?;
            }
        }
        if kinds.iter().all(|kind| kind.variant != LOOP) {
            self.asked = self.asked.min(LEAST);
            self.series(&EMPTY[0], Who::Only(lead))?;
        }
        Ok(())
    }

    fn round(&mut self, who: Who, operation: Operation, count: u32) -> Result<(), Failure> {
        let stage = &mut *self.stage;
        let participants = match who {
            Who::Only(_) => 1,
            _ => stage.cpus.len() as u64,
        };
        let lead_in = stage.machine.facts().ticks(200 + 10 * participants);
        let round = Round {
            after: After::Stay,
            ..Round::new(who, Action::Repeat { operation, count }, lead_in)
        };
        stage.machine.run(&round, stage.outcomes);
        stage.lost().map_or(Ok(()), Err)
    }

    /// Has every CPU do the operation once: false where the firmware does not
    /// have what may be missing.
    fn probe(&mut self, kind: &Kind) -> Result<bool, Failure> {
        self.stage.trials += 1;
        self.round(Who::All, kind.operation, 1)?;
        for (cpu, outcome) in self.stage.outcomes.iter().enumerate() {
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

    /// Does batches that do not count, in a tenth of the time at most.
    fn warm_up(&mut self, kind: &Kind, who: Who, began: &mut Option<u64>) -> Result<(), Failure> {
        let mut spent = 0;
        for done in 0..self.stage.plan.warmup {
            if self.limit.is_some_and(|limit| spent > limit / 10) {
                let least = self.stage.warmed.unwrap_or(done);
                self.stage.warmed = Some(least.min(done));
                break;
            }
            self.stage.trials += 1;
            self.round(who, kind.operation, self.batch)?;
            spent = self.spent(began);
        }
        Ok(())
    }

    /// Ticks from the beginning of a series' first batch, which is kept in
    /// `began`, to the end of the last one.
    fn spent(&self, began: &mut Option<u64>) -> u64 {
        let mut now = 0;
        for outcome in self.stage.outcomes.iter().filter(|o| o.took_part()) {
            now = now.max(outcome.after);
            began.get_or_insert(outcome.before);
        }
        now.saturating_sub(began.unwrap_or(now))
    }

    /// Takes batches until there are enough, or the time is up.
    fn series(&mut self, kind: &Kind, who: Who) -> Result<(), Failure> {
        let places = self.asked as usize;
        let (mut taken, mut began, mut lost) = (0, None, 0);
        self.warm_up(kind, who, &mut began)?;
        // A batch that is given up may have taken seconds.
        while taken < self.asked && lost <= self.asked / 10 {
            self.stage.attempts += 1;
            self.round(who, kind.operation, self.batch)?;
            let place = taken as usize;
            taken += 1;
            for (cpu, outcome) in self.stage.outcomes.iter().enumerate() {
                if !outcome.took_part() {
                    continue;
                }
                let figures = kind.is_good(outcome).then_some([
                    outcome.after.saturating_sub(outcome.before),
                    outcome.cycles.unwrap_or(NONE),
                ]);
                lost += u32::from(figures.is_none());
                let column = &mut *self.stage.column;
                for (which, figure) in figures.unwrap_or([NONE; 2]).into_iter().enumerate() {
                    if let Some(at) = column.get_mut((2 * cpu + which) * places + place) {
                        *at = figure;
                    }
                }
            }
            let spent = self.spent(&mut began);
            if taken >= LEAST && self.limit.is_some_and(|limit| spent > limit) {
                break;
            }
        }
        self.sum_up(kind, who, taken)
    }

    /// Makes points of what was taken.
    fn sum_up(&mut self, kind: &Kind, who: Who, taken: u32) -> Result<(), Failure> {
        let places = self.asked as usize;
        let mut result = Ok(());
        for cpu in 0..self.stage.cpus.len() {
            if who != Who::All && who != Who::Only(cpu) {
                continue;
            }
            for (which, measure) in [Measure::Ticks, Measure::Cycles].into_iter().enumerate() {
                let from = (2 * cpu + which) * places;
                let column = self.stage.column.get_mut(from..from + taken as usize);
                let figures = Summary::of(without_none(column.unwrap_or_default()));
                let valid = figures.n;
                if measure == Measure::Cycles && valid == 0 {
                    // No cycle counter, or none that counts.
                    continue;
                }
                self.stage.points.push(Point {
                    cpu: cpu as u16,
                    how: match who {
                        Who::Only(_) => How::Alone,
                        _ => How::All,
                    },
                    variant: kind.variant,
                    x: None,
                    measure,
                    per: self.batch,
                    figures,
                    lost: u64::from(taken - valid),
                    ..Point::default()
                });
                if measure == Measure::Ticks && u64::from(valid) * 10 < u64::from(taken) * 9 {
                    result = Err(Failure::TooFewSamples {
                        cpu: cpu as u16,
                        valid,
                        asked: taken,
                    });
                }
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
