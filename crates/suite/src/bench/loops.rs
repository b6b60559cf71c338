//! Micro-benchmarks that repeat an operation in a loop. A sample is a batch of operations, timed
//! together in one round, on a single CPU or on all CPUs at once. The `loop` variant shows the cost
//! of the loop itself; nothing is subtracted.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use hardware::board::CpuIndex;
use hardware::spec::counter_value::{CounterValue, ticks_between};
use hardware::text::plural::Many;
use smccc::psci::error;

use crate::measure::{
    Action, ActionEnd, AfterRound, Machine, Metric, Operation, Outcome, Participants, Reason,
    Rejection, Round, Spans,
};
use crate::model::{Cell, CellSeries, CellStep, Failure, Run, Scenario, Skip, Status};
use crate::plan::{ActiveCpus, LOOPS_LIMIT_S, RunSize, Variant, Work};

use super::bench::{Bench, BenchRoom, LONGEST_QUIET_US};
use super::cell_state::COLUMNS;
use super::memory::{bench_bytes, cells_bytes};
use super::request::Request;
use super::trials::neighbor_of;

/// The number of batches that are run regardless of the time limit; enough to compute the p99.
const BATCHES_MIN: u32 = crate::measure::P99_MIN;

/// The metrics of a batch. The cycle counter does not work on every CPU.
const METRICS: [Metric; COLUMNS] = [Metric::Time, Metric::Cycles];

/// An operation and what is known about it.
#[derive(Clone, Copy, Debug)]
pub struct OperationKind {
    /// The operation's word in records and tables.
    pub(crate) variant: Variant,
    /// The instructions, which the machine provides.
    pub(crate) operation: Operation,
    /// The range of valid return values for a loop's last call; None for an operation whose return
    /// value is not checked here.
    pub(crate) answers: Option<(i32, i32)>,
    /// True if the firmware or the machine need not support the operation.
    pub(crate) is_optional: bool,
}

/// Any value that is not an error code.
pub(crate) const ANY_NUMBER: Option<(i32, i32)> = Some((0, i32::MAX));
/// Only NOT_SUPPORTED.
pub(crate) const NOT_SUPPORTED: Option<(i32, i32)> =
    Some((error::NOT_SUPPORTED, error::NOT_SUPPORTED));

const LOOP: OperationKind = operation(Variant::LOOP.word(), Operation::Nothing, None);

/// Returns the kind for an operation that every machine supports.
pub(crate) const fn operation(
    word: &'static str,
    operation: Operation,
    answers: Option<(i32, i32)>,
) -> OperationKind {
    OperationKind {
        variant: Variant::new(word),
        operation,
        answers,
        is_optional: false,
    }
}

/// Returns the kind for a call that firmware need not implement.
pub(crate) const fn optional_call(word: &'static str, function: u32) -> OperationKind {
    OperationKind {
        is_optional: true,
        ..operation(word, Operation::Call(function), None)
    }
}

/// The loops of a scenario.
#[derive(Clone, Copy, Debug)]
pub struct Loops {
    /// The operations, in the order in which they are measured.
    pub(crate) operations: &'static [OperationKind],
    /// The CPUs that are active in each measurement of an operation.
    pub(crate) cpus: &'static [ActiveCpus],
    /// True if only the lead is measured.
    pub(crate) is_of_lead: bool,
    /// Prepares the machine. Returns the reason why it cannot run the loops; None if it can.
    pub(crate) prepare: fn(&mut dyn Machine) -> Option<Skip>,
    /// Why the scenario is skipped if nothing could be measured.
    pub(crate) if_not_measured: Skip,
}

impl Loops {
    pub(crate) const DEFAULT: Self = Self {
        operations: &[],
        cpus: &[ActiveCpus::Alone, ActiveCpus::All],
        is_of_lead: false,
        prepare: |_| None,
        if_not_measured: Skip::NoNeighbor,
    };
}

/// A [`Loops::prepare`] for loops that send SGIs.
pub(crate) fn skip_without_gic(machine: &mut dyn Machine) -> Option<Skip> {
    machine.facts().gic.is_none().then_some(Skip::NoSgi)
}

/// Returns the heap that a scenario of loops needs.
pub(crate) fn heap(size: &RunSize<'_>, cells: usize) -> usize {
    let samples = size.plan.batches().1 as usize;
    bench_bytes(size.cpus, 0, samples) + cells_bytes(cells, COLUMNS)
}

/// Returns how many operations a scenario of loops runs. Without `loops=`, the payload runs batches
/// until a time limit expires, and a few more after that.
pub(crate) fn work(size: &RunSize<'_>, cells: usize) -> Work {
    let (batch, batches) = size.plan.batches();
    let (batches, limit_s) = match size.plan.loops {
        Some(_) => (u64::from(batches), 0),
        None => (200, LOOPS_LIMIT_S.into()),
    };
    let batches = (batches + u64::from(size.plan.warmup)).saturating_mul(cells as u64);
    Work {
        operations: batches.saturating_mul(batch.into()),
        limit_s,
        ..Work::default()
    }
}

/// Measures a scenario of loops.
///
/// # Errors
/// Never returns an error, because nothing is printed.
pub(crate) fn measure(request: Request<'_>) -> Result<Vec<Scenario>, fmt::Error> {
    let key = request.key;
    let loops = key.id.descriptor().loops.expect("a scenario of loops");
    let skip = (loops.prepare)(request.machine);
    let (batch, requested_samples) = request.setting.plan.batches();
    let room = BenchRoom {
        figures: requested_samples as usize,
        ..BenchRoom::for_cells(&request)
    };
    let mut bench = Bench::new(request, room);
    if let Some(skip) = skip {
        return Ok(alloc::vec![bench.finish(key, Status::Skipped(skip))]);
    }
    bench.request_samples(requested_samples);
    let mut running = RunningLoops {
        bench: &mut bench,
        batch,
        requested_samples,
        limit: None,
        quiet: 0,
    };
    let status = match running.measure_loops(loops) {
        Err(failure) => Status::Failed(failure),
        Ok(()) if bench.results().is_empty() => Status::Skipped(loops.if_not_measured),
        Ok(()) => Status::Passed,
    };
    Ok(alloc::vec![bench.finish(key, status)])
}

/// A scenario of loops that is being measured. A CPU's columns hold ticks and cycles.
struct RunningLoops<'s, 'm> {
    bench: &'s mut Bench<'m>,
    batch: u32,
    requested_samples: u32,
    /// How many ticks each series of batches may take.
    limit: Option<u64>,
    /// How many ticks the last batch took, from the start to the last CPU's return. In the next
    /// batch, the lead and CPUs that finish early stay quiet for that long.
    quiet: u64,
}

impl RunningLoops<'_, '_> {
    /// Measures each operation, and the loop itself if nothing else does.
    fn measure_loops(&mut self, loops: &Loops) -> Result<(), Failure> {
        let cpus = self.bench.cpu_count();
        let facts = self.bench.facts();
        let lead = facts.lead;
        let series_per_operation: usize = if loops.is_of_lead {
            1
        } else {
            let series = |active_cpus: &ActiveCpus| match active_cpus {
                ActiveCpus::All => 1,
                _ => cpus,
            };
            loops.cpus.iter().map(series).sum()
        };
        let series = (loops.operations.len() * series_per_operation + 1) as u64;
        if self.bench.plan().loops.is_none() {
            self.limit = Some(facts.ticks(u64::from(LOOPS_LIMIT_S) * 1_000_000) / series);
        }
        for kind in loops.operations {
            self.measure_operation(loops, kind)?;
        }
        let is_measured = !self.bench.results().is_empty();
        let mut kinds = loops.operations.iter();
        if is_measured && kinds.all(|kind| kind.variant != Variant::LOOP) {
            self.requested_samples = self.requested_samples.min(BATCHES_MIN);
            self.measure_series(&LOOP, Participants::Only(lead), ActiveCpus::Alone)?;
        }
        Ok(())
    }

    /// Measures an operation with each of the scenario's sets of CPUs, unless it is not implemented.
    fn measure_operation(&mut self, loops: &Loops, kind: &OperationKind) -> Result<(), Failure> {
        let cpus = self.bench.cpu_count();
        let measured = if loops.is_of_lead {
            Participants::Only(self.bench.lead())
        } else {
            Participants::All
        };
        // A pair's operation needs its second CPU.
        if loops.cpus.contains(&ActiveCpus::Alone) && !self.probe(kind, measured)? {
            return Ok(());
        }
        for active_cpus in loops.cpus {
            match active_cpus {
                // With one CPU, measuring all CPUs at once is the same as measuring a single CPU.
                ActiveCpus::All if cpus == 1 => {}
                ActiveCpus::All => self.measure_series(kind, Participants::All, *active_cpus)?,
                ActiveCpus::Alone | ActiveCpus::Near | ActiveCpus::Far => {
                    self.measure_each_cpu(kind, measured, *active_cpus)?;
                }
            }
        }
        Ok(())
    }

    /// Measures each of the CPUs, alone or with a neighbor. A CPU without a neighbor has no results.
    fn measure_each_cpu(
        &mut self,
        kind: &OperationKind,
        measured: Participants,
        active_cpus: ActiveCpus,
    ) -> Result<(), Failure> {
        let lead = self.bench.lead();
        let cpus = CpuIndex::all(self.bench.cpu_count());
        for cpu in cpus.filter(|cpu| measured.includes(*cpu, lead)) {
            let (machine, board) = (self.bench.machine(), self.bench.setting().cpus);
            let participants = match neighbor_of(machine, board, cpu, active_cpus, None) {
                Some(neighbor) => Participants::Pair(cpu, neighbor),
                None if active_cpus.has_neighbor() => continue,
                None => Participants::Only(cpu),
            };
            self.measure_series(kind, participants, active_cpus)?;
        }
        Ok(())
    }

    /// Runs one round in which each CPU repeats the operation `count` times.
    fn run_round(
        &mut self,
        participants: Participants,
        operation: Operation,
        count: u32,
    ) -> Result<(), Failure> {
        let spans = Spans {
            quiet: self.quiet,
            ..Spans::new(self.bench.lead_in(participants))
        };
        self.bench.try_round(&Round {
            afterwards: AfterRound::Stay,
            ..Round::new(participants, Action::Repeat { operation, count }, spans)
        })?;
        let mut longest = 0;
        for outcome in self.bench.outcomes() {
            if outcome.took_part() {
                longest = longest.max(ticks_between(outcome.start, outcome.returned_at));
            }
        }
        self.quiet = longest.min(self.bench.us(LONGEST_QUIET_US));
        Ok(())
    }

    /// Runs the operation once on these CPUs; returns false if the operation is optional and not
    /// implemented.
    fn probe(&mut self, kind: &OperationKind, participants: Participants) -> Result<bool, Failure> {
        self.bench.count_trial();
        self.run_round(participants, kind.operation, 1)?;
        let lead = self.bench.lead();
        let outcomes = self.bench.outcomes();
        let by_cpu = CpuIndex::all(outcomes.len()).zip(outcomes);
        for (cpu, outcome) in by_cpu.filter(|(cpu, _)| participants.includes(*cpu, lead)) {
            let is_missing =
                outcome.code == Some(error::NOT_SUPPORTED) || outcome.end == ActionEnd::GaveUp;
            if kind.is_optional && is_missing {
                return Ok(false);
            }
            if kind.is_good(outcome) {
                continue;
            }
            let variant = kind.variant;
            return match outcome.code {
                Some(answer) => Err(Failure::WrongAnswer {
                    variant,
                    answer,
                    cpu,
                }),
                None => Err(Failure::GaveUp { variant, cpu }),
            };
        }
        Ok(true)
    }

    /// Runs batches until there are enough or the time limit is reached. The limit includes
    /// warm-up.
    fn measure_series(
        &mut self,
        kind: &OperationKind,
        participants: Participants,
        active_cpus: ActiveCpus,
    ) -> Result<(), Failure> {
        let (mut taken, mut rejected, mut began) = (0, 0, None);
        self.bench.clear_cells();
        for _ in 0..self.bench.plan().warmup {
            self.bench.count_trial();
            self.run_round(participants, kind.operation, self.batch)?;
            self.ticks_since(&mut began);
        }
        // Stop after too many discarded batches, because each may have run for seconds.
        while taken < self.requested_samples && rejected <= self.requested_samples / 10 {
            self.bench.count_attempt();
            self.run_round(participants, kind.operation, self.batch)?;
            taken += 1;
            let wrong_answer = Rejection::plain(Reason::WrongAnswer);
            rejected += self.bench.keep_figures(METRICS, |outcome| {
                kind.is_good(outcome).then_some(()).ok_or(wrong_answer)
            });
            let spent = self.ticks_since(&mut began);
            if taken >= BATCHES_MIN && self.limit.is_some_and(|limit| spent > limit) {
                break;
            }
        }
        self.add_cells(kind, participants, active_cpus, taken)
    }

    /// Returns the ticks from the start of the first batch in a series, which is stored in `began`,
    /// to the end of the last one.
    fn ticks_since(&self, began: &mut Option<CounterValue>) -> u64 {
        let mut now = None;
        for outcome in self
            .bench
            .outcomes()
            .iter()
            .filter(|outcome| outcome.took_part())
        {
            now = now.max(outcome.returned_at);
            *began = began.or(outcome.before);
        }
        ticks_between(*began, now)
    }

    /// Adds a cell for each CPU that was measured.
    fn add_cells(
        &mut self,
        kind: &OperationKind,
        participants: Participants,
        active_cpus: ActiveCpus,
        taken: u32,
    ) -> Result<(), Failure> {
        let mut result = Ok(());
        let lead = self.bench.lead();
        let cpus = CpuIndex::all(self.bench.cpu_count());
        let step = CellStep {
            cpus: active_cpus,
            operations: self.batch,
            ..CellStep::with_variant(kind.variant)
        };
        for cpu in
            cpus.filter(|cpu| participants.includes(*cpu, lead) && !participants.replies(*cpu))
        {
            let measured = self.bench.add_cell(cpu, step, &METRICS, taken);
            result = measured.and(result);
        }
        result
    }
}

impl OperationKind {
    /// Returns true if the loop has returned with a valid return value.
    fn is_good(&self, outcome: &Outcome) -> bool {
        let is_valid = |code: i32| {
            self.answers.is_none_or(|(least_code, greatest_code)| {
                (least_code..=greatest_code).contains(&code)
            })
        };
        outcome.end == ActionEnd::Returned && outcome.code.is_none_or(is_valid)
    }
}

/// Returns the text below the tables.
pub(crate) fn explanation(run: &Run, scenario: &Scenario) -> String {
    let mut text = String::new();
    let requested_samples = scenario.requested_samples();
    let per = scenario
        .cells
        .first()
        .map_or(1, |cell| cell.step.operations);
    if per > 1 {
        text += &format!(
            "A sample is a batch of {per} operations, timed as a whole; figures are per \
             operation. "
        );
    }
    text += &format!(
        "{} per CPU requested. ",
        Many(requested_samples.into(), "sample")
    );
    let has_limit = run.plan.is_some_and(|plan| plan.loops.is_none());
    let is_operation =
        |cell_series: &CellSeries<'_>| cell_series.cell.step.variant != Variant::LOOP;
    let taken = |cell_series: CellSeries<'_>| {
        let not_counted = cell_series.cell.not_counted(cell_series.series.metric);
        u64::from(cell_series.series.summary.n) + u64::from(not_counted)
    };
    let operations = scenario.all_series().filter(is_operation);
    if let Some(taken) = operations.map(taken).min()
        && taken < requested_samples.into()
        && has_limit
    {
        text += &format!(
            "The time limit ended the sampling after at least {}: without loops=, a scenario is \
             limited to {LOOPS_LIMIT_S} s. ",
            Many(taken, "sample")
        );
    }
    let has = |is_meant: fn(&Cell) -> bool| scenario.cells.iter().any(is_meant);
    let is_loop = |cell: &Cell| cell.step.variant == Variant::LOOP;
    if has(is_loop) && has(|cell| cell.step.variant != Variant::LOOP) {
        text += "All figures include the loop's own cost, which is also shown as loop. ";
    }
    if has(|cell| cell.series_of(Metric::Cycles).is_some()) {
        text += "Cycles come from PMCCNTR_EL0, which firmware and hypervisors may stop while they \
                 run; in that case, only the ticks include their time. ";
    }
    text
}
