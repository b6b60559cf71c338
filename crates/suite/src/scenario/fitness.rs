//! The scenario `fitness`: which PSCI functions work. Each function is looked up in the firmware's
//! list, called where that does no harm, and its effect observed. Nothing is measured.
//!
//! CPUs may be lost on the way. The checks therefore go from harmless to dangerous: calls on the
//! lead, CPU_ON and CPU_OFF for each CPU, CPU_SUSPEND to each declared state, shorter and shorter
//! pauses before CPU_ON and, only if requested, wrong arguments. Functions that turn off or reset
//! the system are never called.

mod listings;
mod power;
mod states;
mod wrong_arguments;

use alloc::vec::Vec;
use core::fmt;

use hardware::board::{CpuIndex, Mpidr};
use run::measure::{ActionEnd, Facts, Machine, Outcome, Reason, Rejection, Round};
use run::model::{Check, CheckEnd, Failure, Function, Probe, Scenario, ScenarioKey, Skip, Status};

use super::bench::Setting;
use super::progress::Progress;

/// A return value in the low word of X0.
type Answer = i32;

/// The checks in progress.
struct Fitness<'m> {
    machine: &'m mut dyn Machine,
    progress: &'m mut dyn Progress,
    setting: Setting<'m>,
    /// The outcomes of the last round, one for each CPU.
    outcomes: Vec<Outcome>,
    checks: Vec<Check>,
}

/// Checks all functions.
///
/// # Errors
/// Returns an error if the output fails.
pub(crate) fn check(
    machine: &mut dyn Machine,
    setting: Setting<'_>,
    key: ScenarioKey,
    progress: &mut dyn Progress,
) -> Result<Scenario, fmt::Error> {
    let cpus = setting.cpus.len();
    let states = setting.states.accepted.len() + setting.states.foreign.len();
    let mut fitness = Fitness {
        machine,
        progress,
        setting,
        outcomes: alloc::vec![Outcome::default(); cpus],
        checks: Vec::with_capacity(setting.plan.cells(key.id, cpus, states)),
    };
    listings::check(&mut fitness)?;
    power::check(&mut fitness)?;
    states::check(&mut fitness)?;
    power::check_pauses(&mut fitness)?;
    if setting.plan.destructive {
        wrong_arguments::check(&mut fitness)?;
    }
    Ok(fitness.finish(key))
}

impl Fitness<'_> {
    fn finish(self, key: ScenarioKey) -> Scenario {
        let mut failed = self.checks.iter().filter(|check| check.has_failed());
        let status = match failed.next() {
            None => Status::Passed,
            Some(first) => Status::Failed(Failure::CheckFailed {
                function: first.function,
                probe: first.probe,
                failed: 1 + failed.count() as u32,
            }),
        };
        Scenario {
            status,
            checks: self.checks,
            ..Scenario::new(key)
        }
    }

    fn facts(&self) -> &Facts {
        self.machine.facts()
    }

    fn lead(&self) -> CpuIndex {
        self.facts().lead
    }

    /// Returns the CPUs other than the lead, in board order, including lost ones.
    fn others(&self) -> impl Iterator<Item = CpuIndex> + use<> {
        let lead = self.lead();
        CpuIndex::all(self.setting.cpus.len()).filter(move |cpu| *cpu != lead)
    }

    /// Returns the last CPU that is neither the lead nor lost.
    fn last_other(&self) -> Option<CpuIndex> {
        let lead = self.lead();
        let mut all = CpuIndex::all(self.setting.cpus.len()).rev();
        all.find(|cpu| *cpu != lead && !self.machine.is_lost(*cpu))
    }

    fn mpidr(&self, cpu: CpuIndex) -> Mpidr {
        let cpu = &self.setting.cpus[cpu.place()];
        cpu.mpidr.expect("a CPU of the board has an MPIDR")
    }

    /// Runs one round, and returns the CPU's outcome.
    fn run(&mut self, cpu: CpuIndex, round: &Round) -> Outcome {
        self.machine.run(round, &mut self.outcomes);
        self.outcomes[cpu.place()]
    }

    /// Calls a function on the lead.
    fn call(&mut self, function: Function, arguments: [u64; 3]) -> Answer {
        self.machine.call_firmware(function.id(), arguments) as Answer
    }

    /// Returns whether the firmware lists the function; None if it has no list.
    fn promised(&mut self, function: Function) -> Option<bool> {
        Some(self.listing(function)? >= 0)
    }

    /// Adds a check that concerns no CPU in particular.
    fn add(&mut self, check: Check) {
        let promised = check.promised.or_else(|| self.promised(check.function));
        self.checks.push(Check { promised, ..check });
    }

    /// Adds one CPU's result. CPUs with the same result share a check.
    fn add_for(&mut self, cpu: CpuIndex, check: Check) {
        let promised = self.promised(check.function);
        let mut check = Check { promised, ..check };
        let mut known = self.checks.iter_mut();
        match known.find(|known| !known.cpus.is_empty() && known.is_alike(&check)) {
            Some(known) => known.insert(cpu),
            None => {
                check.insert(cpu);
                self.checks.push(check);
            }
        }
    }

    /// Adds a check of a return value, for a CPU or for none in particular.
    fn add_answer(
        &mut self,
        (function, probe): (Function, Probe),
        (x, cpu): (Option<u32>, Option<CpuIndex>),
        answer: Answer,
        permitted: &[Answer],
    ) {
        let check = Check {
            x,
            answer: Some(answer),
            ..Check::new(function, probe, end_of(permitted.contains(&answer)))
        };
        match cpu {
            Some(cpu) => self.add_for(cpu, check),
            None => self.add(check),
        }
    }

    fn not_tried(&mut self, function: Function, probe: Probe, x: Option<u32>, why: Skip) {
        let why = self.setting.states.explain(why);
        self.add(Check {
            x,
            ..Check::new(function, probe, CheckEnd::NotTried(why))
        });
    }
}

fn end_of(is_permitted: bool) -> CheckEnd {
    match is_permitted {
        true => CheckEnd::Works,
        false => CheckEnd::WrongAnswer,
    }
}

/// Returns the result of a call whose CPU did not do its part.
fn no_effect(outcome: &Outcome) -> CheckEnd {
    let lost = Rejection::plain(Reason::Lost);
    CheckEnd::NoEffect(match outcome.end {
        ActionEnd::NotRun => lost,
        _ => outcome.judge(false).err().unwrap_or(lost),
    })
}
