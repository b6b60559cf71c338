//! Micro-benchmarks that repeat an operation in a loop. A sample is a batch of operations, timed
//! together in one round, on a single CPU or on all CPUs at once. The `loop` variant shows the cost
//! of the loop itself; nothing is subtracted.

use crate::measure::Operation::{
    Call, CallWith, DistributorRead, Eoi, Lpi, ReadStamp, RoundTrip, SelfSgi, SysregRead, UartRead,
};
use crate::measure::{
    Action, ActionEnd, After, Machine, Metric, Operation, Outcome, Reason, Rejection, Round, Who,
};
use crate::model::{CellStep, Failure, Scenario, ScenarioKey, Skip, Status, Variant};
use crate::plan::{How, LOOPS_LIMIT_S};
use core::fmt::Write;
use hardware::board::CpuIndex;
use hardware::spec::counter_value::{CounterValue, ticks_between};
use smccc::arch::{
    SMCCC_ARCH_WORKAROUND_1, SMCCC_ARCH_WORKAROUND_2, SMCCC_ARCH_WORKAROUND_3, SMCCC_VERSION,
};
use smccc::psci::{PSCI_VERSION, error};

use super::bench::{Bench, BenchRoom, LONGEST_QUIET_US, Setting, lead_in};
use super::trials::neighbor_of;

/// The number of batches that are run regardless of the time limit; enough to compute the p99.
const LEAST: u32 = crate::measure::P99_MIN;

#[derive(Clone, Copy)]
struct OperationKind {
    variant: Variant,
    operation: Operation,
    /// The range of valid return values for a loop's last call; None for an operation whose return
    /// value is not checked here.
    answers: Option<(i32, i32)>,
    /// True if the firmware or the machine need not support the operation.
    is_optional: bool,
}

/// Any value that is not an error code.
const NUMBER: Option<(i32, i32)> = Some((0, i32::MAX));
const NOT_SUPPORTED: Option<(i32, i32)> = Some((error::NOT_SUPPORTED, error::NOT_SUPPORTED));

/// A fast call to an owner reserved by SMCCC (DEN0028, table 6-1: 47). Firmware never implements a
/// service there and therefore does not print a warning for this call.
const RESERVED_CALL: u32 = 0xaf00_0000;

/// Call UID Query for Standard Secure services (SMCCC, DEN0028, section 6.2).
const STD_SVC_UID: u32 = 0x8400_ff01;

const LOOP: OperationKind = kind(Variant::Loop, Operation::Nothing, None);

const fn kind(
    variant: Variant,
    operation: Operation,
    answers: Option<(i32, i32)>,
) -> OperationKind {
    OperationKind {
        variant,
        operation,
        answers,
        is_optional: false,
    }
}

/// Returns the kind for a call that firmware need not implement.
const fn optional(variant: Variant, function: u32) -> OperationKind {
    OperationKind {
        is_optional: true,
        ..kind(variant, Call(function), None)
    }
}

/// The CPUs that run a loop.
enum Placement {
    /// Each CPU alone, then all CPUs together.
    EachAndAll,
    /// Each CPU with one other CPU in the same cluster, and with one in another cluster.
    Pairs,
    Lead,
}

/// A scenario that consists of loops.
pub(crate) struct Loops {
    operations: &'static [OperationKind],
    placement: Placement,
    /// Prepares the machine. Returns the reason why it cannot run the loops; None if it can.
    prepare: fn(&mut dyn Machine) -> Option<Skip>,
}

impl Loops {
    const DEFAULT: Self = Self {
        operations: &[],
        placement: Placement::EachAndAll,
        prepare: |_| None,
    };
}

fn skip_without_gic(machine: &mut dyn Machine) -> Option<Skip> {
    machine.facts().gic.is_none().then_some(Skip::NoSgi)
}

pub(crate) const NULL_CALL: Loops = Loops {
    operations: &[
        kind(Variant::PsciVersion, Call(PSCI_VERSION), NUMBER),
        OperationKind {
            answers: NUMBER,
            ..optional(Variant::SmcccVersion, SMCCC_VERSION)
        },
        kind(Variant::Unknown, Call(RESERVED_CALL), NOT_SUPPORTED),
    ],
    ..Loops::DEFAULT
};

pub(crate) const SERVICE_CALL: Loops = Loops {
    operations: &[
        optional(Variant::StdSvcUid, STD_SVC_UID),
        optional(Variant::Workaround1, SMCCC_ARCH_WORKAROUND_1),
        OperationKind {
            // The argument enables the mitigation, as firmware does by default.
            operation: CallWith(SMCCC_ARCH_WORKAROUND_2, 1),
            ..optional(Variant::Workaround2, SMCCC_ARCH_WORKAROUND_2)
        },
        optional(Variant::Workaround3, SMCCC_ARCH_WORKAROUND_3),
    ],
    ..Loops::DEFAULT
};

pub(crate) const SELF_SGI: Loops = Loops {
    operations: &[kind(Variant::Sgi, SelfSgi, None)],
    prepare: skip_without_gic,
    ..Loops::DEFAULT
};

pub(crate) const IPI: Loops = Loops {
    operations: &[kind(Variant::RoundTrip, RoundTrip, None)],
    placement: Placement::Pairs,
    prepare: skip_without_gic,
};

pub(crate) const EOI: Loops = Loops {
    operations: &[kind(Variant::Eoi, Eoi, None)],
    prepare: skip_without_gic,
    ..Loops::DEFAULT
};

pub(crate) const LPI: Loops = Loops {
    operations: &[kind(Variant::Lpi, Lpi, None)],
    placement: Placement::Lead,
    prepare: |machine| machine.enable_lpi().err().map(Skip::NoLpi),
};

pub(crate) const MMIO_READ: Loops = Loops {
    operations: &[
        OperationKind {
            is_optional: true,
            ..kind(Variant::Distributor, DistributorRead, None)
        },
        OperationKind {
            is_optional: true,
            ..kind(Variant::Uart, UartRead, None)
        },
    ],
    ..Loops::DEFAULT
};

pub(crate) const SYSREG_TRAP: Loops = Loops {
    operations: &[kind(Variant::Pmselr, SysregRead, None)],
    prepare: |machine| (!machine.facts().pmu).then_some(Skip::NoPmu),
    ..Loops::DEFAULT
};

pub(crate) const PMF_READ: Loops = Loops {
    operations: &[kind(Variant::GetTimestamp, ReadStamp, None)],
    prepare: |machine| machine.facts().pmf.is_err().then_some(Skip::NoPmf),
    ..Loops::DEFAULT
};

pub(crate) const EMPTY: Loops = Loops {
    operations: &[LOOP],
    ..Loops::DEFAULT
};

pub(crate) fn measure(
    machine: &mut dyn Machine,
    setting: Setting<'_>,
    key: ScenarioKey,
    out: &mut dyn Write,
    loops: &Loops,
) -> Scenario {
    let skip = (loops.prepare)(machine);
    let (batch, asked) = setting.plan.batches();
    let room = BenchRoom {
        outcomes: 0,
        figures: asked as usize,
        cells: setting.plan.cells(key.id, setting.cpus.len(), 0),
    };
    let mut bench = Bench::new(machine, setting, key.method, out, room);
    if let Some(skip) = skip {
        return bench.finish(key, Status::Skipped(skip));
    }
    bench.asked = asked;
    let mut micro = Micro {
        bench: &mut bench,
        batch,
        asked,
        limit: None,
        quiet: 0,
    };
    let measured = micro.run(loops);
    let status = match measured {
        Err(failure) => Status::Failed(failure),
        Ok(()) if bench.results.is_empty() => {
            Status::Skipped(match loops.operations[0].operation {
                Call(function) => Skip::NotSupported(function),
                _ => Skip::NoNeighbor,
            })
        }
        Ok(()) => Status::Passed,
    };
    bench.finish(key, status)
}

/// A running micro-benchmark. A CPU's columns hold ticks and cycles.
struct Micro<'s, 'm> {
    bench: &'s mut Bench<'m>,
    batch: u32,
    asked: u32,
    /// How many ticks each series of batches may take.
    limit: Option<u64>,
    /// How many ticks the last batch took, from the start to the last CPU's return. In the next
    /// batch, the lead and CPUs that finish early stay quiet for that long.
    quiet: u64,
}

impl Micro<'_, '_> {
    fn run(&mut self, loops: &Loops) -> Result<(), Failure> {
        let cpus = self.bench.cells.len();
        let facts = self.bench.machine.facts();
        let lead = facts.lead;
        let each = match loops.placement {
            Placement::EachAndAll => cpus + 1,
            Placement::Pairs => 2 * cpus,
            Placement::Lead => 1,
        };
        let series = (loops.operations.len() * each + 1) as u64;
        if self.bench.setting.plan.loops.is_none() {
            self.limit = Some(facts.ticks(u64::from(LOOPS_LIMIT_S) * 1_000_000) / series);
        }
        let mut is_measured = false;
        for kind in loops.operations {
            is_measured |= match loops.placement {
                Placement::EachAndAll => self.each_and_all(kind)?,
                Placement::Pairs => self.pairs(kind)?,
                Placement::Lead => self.lead_alone(kind)?,
            };
        }
        let mut kinds = loops.operations.iter();
        if is_measured && kinds.all(|kind| kind.variant != Variant::Loop) {
            self.asked = self.asked.min(LEAST);
            self.series(&LOOP, Who::Only(lead), How::Alone)?;
        }
        Ok(())
    }

    /// Measures each CPU alone and all CPUs together. Returns false if the operation is not
    /// implemented.
    fn each_and_all(&mut self, kind: &OperationKind) -> Result<bool, Failure> {
        if !self.probe(kind, Who::All)? {
            return Ok(false);
        }
        let cpus = self.bench.cells.len();
        for cpu in CpuIndex::all(cpus) {
            self.series(kind, Who::Only(cpu), How::Alone)?;
        }
        // With one CPU, measuring all CPUs at once is the same as measuring a single CPU.
        if cpus > 1 {
            self.series(kind, Who::All, How::All)?;
        }
        Ok(true)
    }

    /// Measures the lead. Returns false if the operation is not implemented.
    fn lead_alone(&mut self, kind: &OperationKind) -> Result<bool, Failure> {
        let lead = Who::Only(self.bench.lead());
        let is_implemented = self.probe(kind, lead)?;
        if is_implemented {
            self.series(kind, lead, How::Alone)?;
        }
        Ok(is_implemented)
    }

    /// Measures each CPU with one other CPU in the same cluster, and with one in another cluster.
    /// Returns false if there is no such pair.
    fn pairs(&mut self, kind: &OperationKind) -> Result<bool, Failure> {
        let mut is_measured = false;
        for how in [How::Near, How::Far] {
            for cpu in CpuIndex::all(self.bench.cells.len()) {
                let (machine, cpus) = (&*self.bench.machine, self.bench.setting.cpus);
                if let Some(other) = neighbor_of(machine, cpus, cpu, how, None) {
                    self.series(kind, Who::Pair(cpu, other), how)?;
                    is_measured = true;
                }
            }
        }
        Ok(is_measured)
    }

    fn round(&mut self, who: Who, operation: Operation, count: u32) -> Result<(), Failure> {
        let cpus = self.bench.cells.len();
        let lead_in = lead_in(self.bench.machine.facts(), who, cpus);
        self.bench.run_round(&Round {
            after: After::Stay,
            quiet: self.quiet,
            ..Round::new(who, Action::Repeat { operation, count }, lead_in)
        })?;
        let longest = self.bench.machine.facts().ticks(LONGEST_QUIET_US);
        let parts = self.bench.outcomes.iter().filter(|it| it.took_part());
        let took = parts.map(|it| ticks_between(it.start, it.after)).max();
        self.quiet = took.unwrap_or(0).min(longest);
        Ok(())
    }

    /// Runs the operation once on these CPUs; returns false if the operation is optional and not
    /// implemented.
    fn probe(&mut self, kind: &OperationKind, who: Who) -> Result<bool, Failure> {
        self.bench.trials += 1;
        self.round(who, kind.operation, 1)?;
        let lead = self.bench.lead();
        let outcomes = &self.bench.outcomes;
        let all = CpuIndex::all(outcomes.len()).zip(outcomes);
        for (cpu, outcome) in all.filter(|(cpu, _)| who.includes(*cpu, lead)) {
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
    fn series(&mut self, kind: &OperationKind, who: Who, how: How) -> Result<(), Failure> {
        let (mut taken, mut lost, mut began) = (0, 0, None);
        self.bench.clear_cells();
        for _ in 0..self.bench.setting.plan.warmup {
            self.bench.trials += 1;
            self.round(who, kind.operation, self.batch)?;
            self.spent(&mut began);
        }
        // Stop after too many discarded batches, because each may have run for seconds.
        while taken < self.asked && lost <= self.asked / 10 {
            self.bench.attempts += 1;
            self.round(who, kind.operation, self.batch)?;
            taken += 1;
            let bench = &mut *self.bench;
            for (outcome, state) in bench.outcomes.iter().zip(&mut bench.cells) {
                if kind.is_good(outcome) {
                    let [ticks, cycles] = &mut state.columns;
                    ticks.extend(outcome.metric(Metric::Time, false));
                    cycles.extend(outcome.metric(Metric::Cycles, false));
                } else if outcome.took_part() {
                    state.reject(Rejection::plain(Reason::WrongAnswer));
                    lost += 1;
                }
            }
            let spent = self.spent(&mut began);
            if taken >= LEAST && self.limit.is_some_and(|limit| spent > limit) {
                break;
            }
        }
        self.sum_up(kind, who, how, taken)
    }

    /// Returns the ticks from the start of the first batch in a series, which is stored in `began`,
    /// to the end of the last one.
    fn spent(&self, began: &mut Option<CounterValue>) -> u64 {
        let mut now = None;
        for outcome in self.bench.outcomes.iter().filter(|o| o.took_part()) {
            now = now.max(outcome.after);
            *began = began.or(outcome.before);
        }
        ticks_between(*began, now)
    }

    fn sum_up(
        &mut self,
        kind: &OperationKind,
        who: Who,
        how: How,
        taken: u32,
    ) -> Result<(), Failure> {
        let mut result = Ok(());
        let lead = self.bench.lead();
        let cpus = CpuIndex::all(self.bench.cells.len());
        let step = CellStep {
            how,
            per: self.batch,
            ..CellStep::of(kind.variant)
        };
        for cpu in cpus.filter(|cpu| who.includes(*cpu, lead) && !who.replies(*cpu)) {
            // The cycle counter does not work on every CPU.
            let metrics = &[Metric::Time, Metric::Cycles];
            let measured = self.bench.add_cell(cpu, step, metrics, taken);
            result = measured.and(result);
        }
        result
    }
}

impl OperationKind {
    fn is_good(&self, outcome: &Outcome) -> bool {
        let is_answer = |code: i32| {
            let answers = self.answers;
            answers.is_none_or(|(least, most)| (least..=most).contains(&code))
        };
        outcome.end == ActionEnd::Returned && outcome.code.is_none_or(is_answer)
    }
}
