//! The account of one run's attempts, by the records in its log. An attempt is one CPU's part
//! in a round that shall give a sample: trials and warm-ups are no attempts, and scenarios
//! outside suite and sweeps have none.

use std::collections::{BTreeMap, BTreeSet};

use report::log::{LoggedRun, read_bytes};
use run::measure::Metric;
use run::model::{How, Scenario, Totals, Variant};
use run::plan::{Plan, Procedure, ScenarioId};

/// The account of the attempts of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SoakAccount {
    /// Attempts of CPU_SUSPENDs.
    pub suspends: u64,
    /// Attempts of any call that are no sample, by the reason's key.
    pub(crate) rejected: BTreeMap<String, u64>,
    pub(crate) lost: u64,
    /// The counts of the `end` record, else of the last line; None if the run did
    /// not reach its end.
    pub(crate) totals: Option<Totals>,
    pub(crate) records: FoundRecords,
}

/// The part of a run's records that its log contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FoundRecords {
    All,
    Some,
    #[default]
    None,
}

/// The key for attempts that a sweep lost: records do not have their reasons.
const IN_SWEEPS: &str = "in a sweep";

/// The largest count that is believed, so that sums of counts do not overflow.
const COUNT_MAX: u64 = 1 << 40;

/// Returns true if a run of `plan` attempts CPU_SUSPENDs that are counted.
pub fn has_suspends(plan: &Plan) -> bool {
    let is_suspend = |id: ScenarioId| match id.procedure() {
        Procedure::Suspend(..) | Procedure::CpuOff | Procedure::Steps => true,
        Procedure::Version | Procedure::Loop | Procedure::CpuOn | Procedure::Timers => false,
    };
    !plan.list && plan.scenarios.iter().any(is_suspend)
}

/// A CPU's step of a sweep.
type Step = (u16, How, Variant, Option<u64>);

impl SoakAccount {
    /// Returns the account of the run that left `log`.
    pub fn of(log: &[u8]) -> Self {
        let runs = read_bytes("log", log).ok();
        let last = runs.and_then(|mut runs| runs.pop());
        last.map_or_else(Self::default, |run| Self::of_run(&run))
    }

    fn of_run(run: &LoggedRun) -> Self {
        let scenarios = &run.run.scenarios;
        let rows = || scenarios.iter().flat_map(|scenario| &scenario.rows);
        let end = run.run.end.as_ref().map(|end| end.totals);
        let closing = run.closing.as_ref();
        let mut account = Self {
            totals: end.or_else(|| closing?.totals()),
            records: match run.integrity.is_whole() {
                true => FoundRecords::All,
                false if rows().any(|row| !row.lacks_own_record()) => FoundRecords::Some,
                false => FoundRecords::None,
            },
            ..Self::default()
        };
        for scenario in scenarios {
            if scenario.id.is_suite() {
                account.add_suite(run, scenario);
            } else if scenario.id.is_sweep() {
                account.add_sweep(scenario);
            }
        }
        let lost = rows().filter(|row| row.lost.is_some());
        let lost: BTreeSet<u16> = lost.map(|row| row.cpu).collect();
        let counted = account.totals.map_or(0, |totals| totals.lost.into());
        account.lost = counted.max(lost.len() as u64);
        account
    }

    /// Adds a scenario of the suite by its rows.
    fn add_suite(&mut self, run: &LoggedRun, scenario: &Scenario) {
        for row in scenario.rows.iter().filter(|row| !row.lacks_own_record()) {
            let mut attempts = u64::from(row.valid());
            for (reason, count) in row.attempts.iter().flat_map(|it| &it.rejected) {
                attempts += u64::from(*count);
                self.reject(reason.key(), u64::from(*count));
            }
            let is_suspend = match scenario.id.procedure() {
                Procedure::Version => false,
                // The other CPUs are turned off.
                Procedure::CpuOff => run.run.lead() == Some(row.cpu.into()),
                _ => true,
            };
            self.suspends += if is_suspend { attempts } else { 0 };
        }
    }

    /// Adds a sweep by its points: a CPU's figures in a step are of the same
    /// attempts.
    fn add_sweep(&mut self, scenario: &Scenario) {
        let mut steps: BTreeMap<Step, (u64, u64)> = BTreeMap::new();
        for point in &scenario.points {
            // These two are counts by the firmware, and no samples.
            if matches!(point.measure, Metric::Count | Metric::Residency) {
                continue;
            }
            let step = (point.cpu, point.how, point.variant, point.x);
            let (samples, lost) = steps.entry(step).or_default();
            *samples = u64::from(point.figures.n).max(*samples);
            *lost = point.lost.min(COUNT_MAX).max(*lost);
        }
        for ((_, _, variant, _), (samples, lost)) in steps {
            let is_suspend = variant != Variant::Off;
            self.suspends += if is_suspend { samples + lost } else { 0 };
            self.reject(IN_SWEEPS, lost);
        }
    }

    /// Adds attempts that are no sample.
    pub(crate) fn reject(&mut self, reason: &str, count: u64) {
        if count > 0 {
            *self.rejected.entry(reason.to_owned()).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests;
