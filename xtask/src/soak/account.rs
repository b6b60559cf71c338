//! Accounts for the attempts in one run, based on the records in its log. An attempt is one CPU's
//! part in a round that should produce a sample. Trials and warm-up rounds are not attempts, and
//! only scenarios in the suite and sweeps have attempts.

use std::collections::{BTreeMap, BTreeSet};

use hardware::board::CpuIndex;
use report::log::{LoggedRun, read_bytes};
use run::model::{Scenario, Totals, Variant};
use run::plan::{Plan, Procedure, ScenarioId};

/// An account of the attempts in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SoakAccount {
    /// Attempted CPU_SUSPENDs.
    pub suspends: u64,
    /// For each reason key, the number of attempts that produced no sample, across all calls.
    pub(crate) rejected: BTreeMap<String, u64>,
    pub(crate) lost: u64,
    /// The counts from the `end` record or, if there is none, from the last line. None if the run
    /// did not finish.
    pub(crate) totals: Option<Totals>,
    pub(crate) records: FoundRecords,
}

/// How many of the run's records the log contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FoundRecords {
    All,
    Some,
    #[default]
    None,
}

/// Returns true if a run of `plan` makes CPU_SUSPEND calls that are counted.
pub fn has_suspends(plan: &Plan) -> bool {
    let is_suspend = |id: ScenarioId| match id.procedure() {
        Procedure::Suspend(..) | Procedure::CpuOff | Procedure::Steps => true,
        Procedure::Version
        | Procedure::Loop
        | Procedure::CpuOn
        | Procedure::Timers
        | Procedure::Interrupts
        | Procedure::Checks => false,
    };
    !plan.list && plan.scenarios.iter().any(is_suspend)
}

impl SoakAccount {
    /// Returns the account of the last run in `log`.
    pub fn of(log: &[u8]) -> Self {
        let runs = read_bytes("log", log).ok();
        let last = runs.and_then(|mut runs| runs.pop());
        last.map_or_else(Self::default, |run| Self::of_run(&run))
    }

    fn of_run(run: &LoggedRun) -> Self {
        let scenarios = &run.run.scenarios;
        let cells = || scenarios.iter().flat_map(|scenario| &scenario.cells);
        let end = run.run.end.as_ref().map(|end| end.totals);
        let closing = run.closing.as_ref();
        let mut account = Self {
            totals: end.or_else(|| closing?.totals()),
            records: match run.integrity.is_whole() {
                true => FoundRecords::All,
                false if cells().any(|cell| !cell.lacks_own_record()) => FoundRecords::Some,
                false => FoundRecords::None,
            },
            ..Self::default()
        };
        for scenario in scenarios {
            if scenario.id.is_suite() || scenario.id.is_sweep() {
                account.add_scenario(run, scenario);
            }
        }
        let lost = cells().filter(|cell| cell.lost.is_some());
        let lost: BTreeSet<CpuIndex> = lost.map(|cell| cell.cpu).collect();
        let counted = account.totals.map_or(0, |totals| totals.lost.into());
        account.lost = counted.max(lost.len() as u64);
        account
    }

    /// Adds the attempts in a suite scenario or a sweep, as counted in its cells.
    fn add_scenario(&mut self, run: &LoggedRun, scenario: &Scenario) {
        for cell in scenario.cells.iter().filter(|it| !it.lacks_own_record()) {
            let mut attempts = u64::from(cell.valid());
            for (reason, count) in cell.counts.iter().flat_map(|it| &it.rejected) {
                attempts += u64::from(*count);
                self.reject(reason.key(), u64::from(*count));
            }
            let is_suspend = match scenario.id.procedure() {
                Procedure::Version => false,
                // Only the lead suspends, because the other CPUs are off.
                Procedure::CpuOff => run.run.lead() == Some(cell.cpu),
                _ => !matches!(
                    cell.step.variant,
                    Variant::Off
                        | Variant::VersionWarm
                        | Variant::VersionEvicted
                        | Variant::StampWarm
                        | Variant::StampEvicted
                ),
            };
            self.suspends += if is_suspend { attempts } else { 0 };
        }
    }

    /// Adds attempts that produced no sample.
    pub(crate) fn reject(&mut self, reason: &str, count: u64) {
        if count > 0 {
            *self.rejected.entry(reason.to_owned()).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests;
